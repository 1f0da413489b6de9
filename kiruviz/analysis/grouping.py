"""How rows are grouped: the methods, their parameters, and what a distance means for each.

Parameters carry the names of the libraries that compute (scikit-learn, EVoC), but for `k`, the number of clusters.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.space import FloatArray

ClusterMethod = Literal["kmeans", "hdbscan", "agglomerative", "evoc"]
ClusterMetric = Literal["euclidean", "cosine"]
Selection = Literal["eom", "leaf"]
Linkage = Literal["ward", "average", "complete", "single"]
Assignment = npt.NDArray[np.int32]

CLUSTER_METRICS: tuple[ClusterMetric, ...] = ("euclidean", "cosine")
SELECTIONS: tuple[Selection, ...] = ("eom", "leaf")
LINKAGES: tuple[Linkage, ...] = ("ward", "average", "complete", "single")
TITLES: dict[ClusterMethod, str] = {
    "kmeans": "k-means",
    "hdbscan": "HDBSCAN",
    "agglomerative": "Agglomerative",
    "evoc": "EVoC",
}
NOISE = -1
_FIND_NOISE = ("hdbscan", "evoc")
# What cosine means to a clusterer, in words for the screen, captions and recipes.
COSINE_MEANS = "rows scaled to unit length, then Euclidean distance"


@dataclass(frozen=True)
class KMeansParams:
    """Of `sklearn.cluster.KMeans(n_clusters=k, n_init=n_init, random_state=seed)`."""

    method: ClassVar[ClusterMethod] = "kmeans"
    main: ClassVar[str] = "k"

    k: int = 8
    n_init: int = 10
    seed: int = 0

    def validate(self, rows: int) -> None:
        _check_k(self.k, rows)
        _whole("n_init, the number of initialisations,", self.n_init, 1)
        _seed(self.seed)

    def fitted(self, rows: int) -> KMeansParams:
        return replace(self, k=max(1, min(self.k, rows)))


@dataclass(frozen=True)
class HdbscanParams:
    """Of `sklearn.cluster.HDBSCAN`; `min_samples` None is as many as `min_cluster_size`."""

    method: ClassVar[ClusterMethod] = "hdbscan"
    main: ClassVar[str] = "min_cluster_size"

    min_cluster_size: int = 5
    min_samples: int | None = None
    cluster_selection_method: Selection = "eom"
    cluster_selection_epsilon: float = 0.0

    def validate(self, rows: int) -> None:
        if rows < 2:
            raise UserError("HDBSCAN needs at least 2 rows, and there is 1; choose more rows, or k-means.")
        _whole("min_cluster_size", self.min_cluster_size, 2)
        if self.min_samples is not None:
            _whole("min_samples", self.min_samples, 1)
        for name, value in (("min_cluster_size", self.min_cluster_size), ("min_samples", self.min_samples or 1)):
            if value > rows:
                raise UserError(f"{name} must be at most the number of rows, {rows}, not {value}.")
        _one_of("cluster_selection_method", self.cluster_selection_method, SELECTIONS)
        _real("cluster_selection_epsilon", self.cluster_selection_epsilon, least=0.0)

    def fitted(self, rows: int) -> HdbscanParams:
        samples = self.min_samples if self.min_samples is None else max(1, min(self.min_samples, rows))
        return replace(self, min_cluster_size=max(2, min(self.min_cluster_size, rows)), min_samples=samples)


@dataclass(frozen=True)
class AgglomerativeParams:
    """Of `sklearn.cluster.AgglomerativeClustering`; with a `distance_threshold` it decides instead of `k`."""

    method: ClassVar[ClusterMethod] = "agglomerative"
    main: ClassVar[str] = "k"

    k: int = 8
    linkage: Linkage = "ward"
    distance_threshold: float | None = None

    def validate(self, rows: int) -> None:
        _one_of("linkage", self.linkage, LINKAGES)
        if self.distance_threshold is None:
            _check_k(self.k, rows)
        else:
            _real("distance_threshold", self.distance_threshold, least=0.0)

    def fitted(self, rows: int) -> AgglomerativeParams:
        return replace(self, k=max(1, min(self.k, rows)))


@dataclass(frozen=True)
class EvocParams:
    """Of `evoc.EVoC`. `layer` is 1 for the coarsest of its layers; None is the one EVoC holds most persistent."""

    method: ClassVar[ClusterMethod] = "evoc"
    main: ClassVar[str] = "layer"

    layer: int | None = None
    base_min_cluster_size: int = 5
    min_samples: int = 5
    n_neighbors: int = 15
    noise_level: float = 0.5
    seed: int = 0

    def validate(self, rows: int) -> None:
        if self.layer is not None:
            _whole("layer", self.layer, 1)
        _whole("base_min_cluster_size", self.base_min_cluster_size, 2)
        _whole("min_samples", self.min_samples, 1)
        _whole("n_neighbors", self.n_neighbors, 4)
        _real("noise_level", self.noise_level, least=0.0)
        if self.noise_level > 1.0:
            raise UserError(f"noise_level must be between 0 and 1, not {self.noise_level:g}.")
        _seed(self.seed)
        needed = max(self.n_neighbors, self.min_samples, self.base_min_cluster_size)
        if rows <= needed:
            raise UserError(
                f"EVoC with these parameters needs more than {needed} rows, and there {_are(rows)}; "
                "choose k-means, or lower them."
            )

    def fitted(self, rows: int) -> EvocParams:  # noqa: ARG002
        """Unchanged: EVoC is for many rows, and says so of few."""
        return self


ClusterParams: TypeAlias = KMeansParams | HdbscanParams | AgglomerativeParams | EvocParams
PARAMS: dict[ClusterMethod, type[ClusterParams]] = {
    params.method: params for params in (KMeansParams, HdbscanParams, AgglomerativeParams, EvocParams)
}
METHODS: tuple[ClusterMethod, ...] = tuple(PARAMS)


@dataclass(frozen=True)
class ClusterSpec:
    """How rows are grouped: a method's parameters, and what distance means.

    metric  `euclidean`, or `cosine`: rows are scaled to unit length first, and Euclidean distance is used
    """

    params: ClusterParams = field(default_factory=KMeansParams)
    metric: ClusterMetric = "euclidean"

    @property
    def method(self) -> ClusterMethod:
        return self.params.method

    @property
    def title(self) -> str:
        return TITLES[self.method]

    @property
    def value(self) -> int | None:
        """The main parameter's: the one whose effect is shown."""
        value: int | None = getattr(self.params, self.params.main)
        return value

    def with_value(self, value: int) -> ClusterSpec:
        """With another value of the main parameter; a distance threshold, which would overrule it, is let go."""
        changed: dict[str, Any] = {self.params.main: value}
        if isinstance(self.params, AgglomerativeParams):
            changed["distance_threshold"] = None
        return replace(self, params=replace(self.params, **changed))

    def without_value(self) -> ClusterSpec:
        """The same for all values of the main parameter: what an effect curve belongs to."""
        changed: dict[str, Any] = {self.params.main: None}
        if isinstance(self.params, AgglomerativeParams):
            changed["distance_threshold"] = None
        return replace(self, params=replace(self.params, **changed))

    def thinned(self, share: float) -> ClusterSpec:
        """The same density where only a share of the rows is there: HDBSCAN counts as many fewer rows."""
        if not isinstance(self.params, HdbscanParams):
            return self
        params, samples = self.params, self.params.min_samples
        size = max(2, round(share * params.min_cluster_size))
        fewer = None if samples is None else max(1, round(share * samples))
        return replace(self, params=replace(params, min_cluster_size=size, min_samples=fewer))

    def fitted(self, rows: int) -> ClusterSpec:
        """With numbers that are larger than the rows brought down to them."""
        return replace(self, params=self.params.fitted(rows))

    def validate(self, rows: int) -> None:
        """Raise UserError naming the parameter that does not fit `rows` rows."""
        if rows == 0:
            raise UserError("There are no rows to cluster; choose at least one.")
        _one_of("metric", self.metric, CLUSTER_METRICS)
        if self.method == "evoc" and self.metric != "cosine":
            raise UserError("EVoC compares rows by cosine only; choose the metric cosine, or HDBSCAN for Euclidean.")
        self.params.validate(rows)

    def stored(self) -> dict[str, Any]:
        """What a session keeps beside the method's name; of Euclidean k-means no metric, as ever."""
        params = asdict(self.params)
        return params if (self.method, self.metric) == ("kmeans", "euclidean") else {"metric": self.metric, **params}

    @classmethod
    def read(cls, method: str, stored: dict[str, Any]) -> ClusterSpec | None:
        """The spec of a session's clusters; None for a method that this program does not know."""
        kind = next((kind for name, kind in PARAMS.items() if name == method), None)
        if kind is None:
            return None
        known = {one.name for one in fields(kind)}
        metric: ClusterMetric = "cosine" if stored.get("metric") == "cosine" else "euclidean"
        return cls(kind(**{name: value for name, value in stored.items() if name in known}), metric)

    def describe(self) -> str:
        """In words, for captions and recipes: `kmeans, k 8, n_init 10, seed 0`."""
        said: list[str] = [self.method]
        if self.metric == "cosine":
            said.append(f"cosine ({COSINE_MEANS})")
        elif self.method != "kmeans":
            said.append(self.metric)
        said += [f"{name} {value}" for name, value in asdict(self.params).items() if value is not None]
        return ", ".join(said)


def cluster_spec(method: ClusterMethod, metric: ClusterMetric | None = None, **params: Any) -> ClusterSpec:
    """A spec from plain values; without a metric EVoC gets the cosine it needs and the others Euclidean.

    Raises UserError for a name that is not a parameter of the method.
    """
    kind = PARAMS[method]
    known = [one.name for one in fields(kind)]
    for name in params:
        if name not in known:
            raise UserError(f"{TITLES[method]} has no parameter “{name}”; it has {', '.join(known)}.")
    return ClusterSpec(kind(**params), metric or ("cosine" if method == "evoc" else "euclidean"))


def rest_title(method: str) -> str:
    """What rows in no cluster are called: noise where the method finds some."""
    return "noise" if method in _FIND_NOISE else "no cluster"


def unit_rows(vectors: npt.ArrayLike) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Rows of unit length, and which of them have a direction.

    Returns
    -------
    (n, d) float32
        A row of zeros stays as it is.
    (n,) bool
        False for rows of zeros: their cosine with any row is undefined.
    """
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    has_direction = lengths > 0
    return (rows / np.where(has_direction, lengths, 1.0)[:, None]).astype(np.float32), has_direction


def as_measured(vectors: npt.ArrayLike, metric: ClusterMetric) -> FloatArray:
    """The rows between which Euclidean distance is what `metric` asks for."""
    return unit_rows(vectors)[0] if metric == "cosine" else np.asarray(vectors, dtype=np.float32)


def _check_k(k: int, rows: int) -> None:
    if int(k) != k or not 1 <= k <= rows:
        raise UserError(f"The number of clusters must be between 1 and the number of rows, {rows}, not {k}.")


def _are(count: int) -> str:
    return "is 1" if count == 1 else f"are {count}"


def _seed(seed: int) -> None:
    if int(seed) != seed or not 0 <= seed < 2**32:
        raise UserError(f"The seed must be a whole number from 0 to 4294967295, not {seed}.")


def _whole(name: str, value: int, least: int) -> None:
    if int(value) != value or value < least:
        raise UserError(f"{name} must be a whole number of at least {least}, not {value}.")


def _real(name: str, value: float, least: float) -> None:
    if not math.isfinite(value) or value < least:
        raise UserError(f"{name} must be a number of at least {least:g}, not {value:g}.")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UserError(f"{name} must be one of {', '.join(known)}, not “{value}”.")
