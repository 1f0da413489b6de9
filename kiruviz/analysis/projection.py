"""PCA, and the parameters of the projections."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.threads import one_thread
from kiruviz.errors import UserError
from kiruviz.space import FloatArray

GraphMetric = Literal["cosine", "euclidean"]
GRAPH_METRICS: tuple[GraphMetric, ...] = ("cosine", "euclidean")

FEW_ROWS = 2000  # a map of so few rows should fill its canvas; denser maps show structure by closeness
_SMALL = 4_000_000  # values up to which PCA is done in float64


@dataclass(frozen=True)
class PcaParams:
    """Parameters of PCA: the number of `components`."""

    components: int = 2

    def validate(self) -> None:
        """Raise `UserError` where a parameter makes no sense."""
        _whole("components", self.components, 1)


@dataclass(frozen=True)
class UmapParams:
    """Parameters of UMAP, named and meant as in `umap.UMAP`, all of them seen and stored.

    `n_epochs` None is umap-learn's rule: 500 up to 10,000 rows, else 200. `init` is the PCA picture.
    """

    n_neighbors: int = 60
    min_dist: float = 0.6
    spread: float = 1.6
    metric: GraphMetric = "cosine"
    n_epochs: int | None = None
    learning_rate: float = 1.0
    negative_sample_rate: int = 5
    repulsion_strength: float = 1.0
    set_op_mix_ratio: float = 1.0
    local_connectivity: float = 1.0
    init: Literal["pca"] = "pca"
    components: int = 2
    seed: int = 0

    def validate(self) -> None:
        """Raise `UserError` where a parameter makes no sense (umap-learn's own limits)."""
        _whole("n_neighbors", self.n_neighbors, 2)
        _whole("components", self.components, 1)
        _whole("negative_sample_rate", self.negative_sample_rate, 1)
        if self.n_epochs is not None:
            _whole("n_epochs", self.n_epochs, 1)
        if not 0 <= self.seed < 2**32:
            raise UserError(f"seed must be a whole number from 0 to 4294967295, not {self.seed}.")
        if self.metric not in GRAPH_METRICS:
            raise UserError(f"metric must be cosine or euclidean for a map, not {self.metric!r}.")
        if self.init != "pca":
            raise UserError(f"init must be pca, not {self.init!r}.")
        _real("spread", self.spread, above=0.0)
        _real("min_dist", self.min_dist, least=0.0)
        if self.min_dist > self.spread:
            raise UserError(f"min_dist must not be larger than spread ({self.spread}), not {self.min_dist}.")
        _real("learning_rate", self.learning_rate, above=0.0)
        _real("repulsion_strength", self.repulsion_strength, least=0.0)
        _real("local_connectivity", self.local_connectivity, least=1.0)
        _real("set_op_mix_ratio", self.set_op_mix_ratio, least=0.0)
        if self.set_op_mix_ratio > 1.0:
            raise UserError(f"set_op_mix_ratio must be between 0 and 1, not {self.set_op_mix_ratio}.")

    def epochs(self, n_rows: int) -> int:
        """The number of epochs for so many rows."""
        if self.n_epochs is not None:
            return self.n_epochs
        return 500 if n_rows <= 10_000 else 200


def default_umap_params(n_rows: int) -> UmapParams:
    """The parameters offered first for a map of `n_rows` rows.

    Few rows get wide neighbourhoods and room between points; whole vocabularies get umap-learn's defaults.
    """
    wished, min_dist, spread = (60, 0.6, 1.6) if n_rows <= FEW_ROWS else (15, 0.1, 1.0)
    return UmapParams(n_neighbors=max(2, min(wished, n_rows - 1)), min_dist=min_dist, spread=spread)


@dataclass(frozen=True, eq=False)
class PcaResult:
    """A PCA picture.

    Attributes
    ----------
    coords : (n, c) float32
    explained : (c,) float64
        Share of the rows' variance along each component; 0 where there is none.
    """

    coords: FloatArray
    explained: npt.NDArray[np.float64]


def pca(vectors: npt.ArrayLike, components: int = 2) -> PcaResult:
    """Project on the principal components, by `sklearn.decomposition.PCA` (its signs are deterministic).

    Parameters
    ----------
    vectors : (n, d) float32, finite
    components : int
        Components that the rows cannot have (more than n or d, or no variance) are all zeros.

    Raises
    ------
    UserError
        No rows, rows that are not finite, or fewer than one component.
    """
    PcaParams(components).validate()
    rows = np.asarray(vectors, dtype=np.float32)
    n, width = rows.shape
    if n == 0:
        raise UserError("There are no rows to draw; choose at least one.")
    if not np.isfinite(rows).all():
        raise UserError("The rows hold values that are not finite; leave those rows out.")
    coords = np.zeros((n, components), dtype=np.float32)
    explained = np.zeros(components)
    if np.array_equal(rows, np.broadcast_to(rows[0], rows.shape)):
        return PcaResult(coords, explained)  # one row, or one and the same: no direction to draw
    from sklearn.decomposition import PCA

    # Centred first, in float64: the covariance solver subtracts n * mean * mean' from X'X, which in
    # float32 loses the small directions of a table whose mean is long.
    mean = rows.mean(axis=0, dtype=np.float64)
    small = rows.size <= _SMALL
    centred = rows - mean if small else rows - mean.astype(np.float32)
    possible = min(components, n, width)
    model = PCA(n_components=possible, svd_solver="covariance_eigh" if n >= width else "full")
    with one_thread():
        coords[:, :possible] = model.fit_transform(centred)
    explained[:possible] = model.explained_variance_ratio_
    return PcaResult(coords, explained)


def _whole(name: str, value: int, least: int) -> None:
    if int(value) != value or value < least:
        raise UserError(f"{name} must be a whole number of at least {least}, not {value}.")


def _real(name: str, value: float, *, least: float | None = None, above: float | None = None) -> None:
    if not math.isfinite(value):
        raise UserError(f"{name} must be a number, not {value}.")
    if least is not None and value < least:
        raise UserError(f"{name} must be at least {least:g}, not {value:g}.")
    if above is not None and value <= above:
        raise UserError(f"{name} must be larger than {above:g}, not {value:g}.")
