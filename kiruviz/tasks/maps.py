"""The jobs behind the map: projections, clusters and the evidence beside them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kiruviz.analysis import clusterers, clustering, evidence, projection, umap_layout
from kiruviz.analysis.clusterers import Layers
from kiruviz.analysis.effect import Effect, effect
from kiruviz.analysis.grouping import (
    ClusterMetric,
    ClusterSpec,
    EvocParams,
    KMeansParams,
    as_measured,
)
from kiruviz.analysis.row_match import RowNames
from kiruviz.analysis.stability import seed_agreement, subset_agreement
from kiruviz.errors import UserError
from kiruviz.models.word_lists import word_lists
from kiruviz.progress import Progress
from kiruviz.space import Recipe
from kiruviz.tasks.carrying import Carriage, FormerLabels, names_onto
from kiruviz.tasks.estimates import refuse_if_too_large
from kiruviz.tasks.spaces import space

Method = Literal["pca", "umap"]
METHODS: tuple[Method, ...] = ("pca", "umap")
Coords = npt.NDArray[np.float32]
Assignment = npt.NDArray[np.int32]

# Beyond this many rows, what needs many runs or all pairs is asked for, not run unasked.
FEW_ROWS = 2000


@dataclass(frozen=True)
class ClusterOutcome:
    """The new groups, what became of the names of the former ones, and colours (cluster id -> the palette's number)
    for the groups that take over none; those that are missing get the first free ones."""

    assignment: Assignment
    spec: ClusterSpec
    carriage: Carriage = field(default_factory=Carriage)
    colors: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ProjectionOutcome:
    """Coordinates (n, 2) float32 and what they were made with."""

    coords: Coords
    method: Method
    params: dict[str, Any]
    note: str = ""


def warm_analysis(progress: Progress) -> None:
    """Import what PCA and k-means need, so that the first map does not wait for it."""
    rows = np.random.default_rng(0).normal(size=(32, 4)).astype(np.float32)
    projection.pca(rows)
    clustering.kmeans(rows, 2, 1, 0, progress)


def warm_layout(progress: Progress) -> None:
    """Import and compile what UMAP needs; the first time on a machine this takes up to a minute."""
    umap_layout.warm_up(progress)


def project(
    progress: Progress, recipe: Recipe, method: Method, params: dict[str, Any], init: Coords | None = None
) -> ProjectionOutcome:
    """Project a Space to two dimensions. `params` are the method's own; missing ones take their defaults."""
    made = space(recipe)
    if method == "pca":
        pca_params = _checked("pca", projection.PcaParams(), params)
        refuse_if_too_large(made, method, params)
        result = projection.pca(made.vectors, pca_params.components)
        shares = " + ".join(f"{100 * share:.1f} %" for share in result.explained)
        return ProjectionOutcome(result.coords, "pca", asdict(pca_params), f"{shares} of the variance")
    umap_params = _checked("umap", projection.default_umap_params(len(made)), params)
    refuse_if_too_large(made, method, asdict(umap_params))
    start = projection.pca(made.vectors).coords if init is None else np.asarray(init, np.float32)
    coords = umap_layout.umap(made.vectors, umap_params, start, progress)
    if not np.isfinite(coords).all():
        raise UserError("The map ran off to infinity with these parameters; choose a smaller learning_rate.")
    return ProjectionOutcome(coords, "umap", asdict(umap_params))


def default_params(method: Method, n_rows: int) -> dict[str, Any]:
    """Every parameter of a method with the value it has for a map of `n_rows`."""
    return asdict(projection.PcaParams() if method == "pca" else projection.default_umap_params(n_rows))


def cluster(
    progress: Progress,
    recipe: Recipe,
    spec: ClusterSpec,
    former: FormerLabels | None = None,
    layers: Layers | None = None,
) -> ClusterOutcome:
    """Group the rows of a Space; the names of a former session are carried over by overlap.

    `layers` are EVoC's of these rows, where they were found before.
    """
    made = space(recipe)
    spec.validate(len(made))
    refuse_if_too_large(made, spec.method, asdict(spec.params))
    found = clusterers.assign(made.vectors, spec, progress, layers)
    if former is None:
        return ClusterOutcome(found, spec)
    rows = RowNames(made.names, made.row_ids, made.columns["kind"].tolist(), made.recipe.identity)
    return ClusterOutcome(found, spec, names_onto(progress, former, rows, found))


def evoc_layers(progress: Progress, recipe: Recipe, spec: ClusterSpec) -> Layers:
    """All layers that EVoC finds in the rows of a Space, whichever `spec` picks."""
    made = space(recipe)
    spec.validate(len(made))
    refuse_if_too_large(made, spec.method, asdict(spec.params))
    return clusterers.evoc_layers(made.vectors, spec, progress)


def cluster_effect(progress: Progress, recipe: Recipe, spec: ClusterSpec, layers: Layers | None = None) -> Effect:
    """What the values of the method's main parameter would give, so that none is chosen blind."""
    made = space(recipe)
    spec = spec.fitted(len(made))
    spec.validate(len(made))
    refuse_if_too_large(made, spec.method, asdict(spec.params), copies=2)
    return effect(made.vectors, spec, progress, layers)


def split_members(
    progress: Progress,
    recipe: Recipe,
    positions: npt.NDArray[np.int64],
    seed: int,
    metric: ClusterMetric = "euclidean",
) -> Assignment:
    """Group the members of one cluster into two by k-means, from their rows alone."""
    return clustering.split(as_measured(space(recipe).vectors[positions], metric), 2, seed, progress)


def describe_clusters(
    progress: Progress, recipe: Recipe, assignment: Assignment, metric: ClusterMetric = "euclidean"
) -> dict[int, evidence.Evidence]:
    """What stands beside each cluster's name: nearest and edge words, shared traits, next clusters, silhouette.

    Distances are those of the clusterer: Euclidean between the rows, under cosine scaled to unit length.
    """
    made = space(recipe)
    columns = made.columns
    return evidence.summary(
        as_measured(made.vectors, metric),
        assignment,
        made.names,
        columns["kind"],
        columns["script"],
        columns["zipf"],
        progress=progress,
        lists=word_lists(),
    )


def cluster_stability(
    progress: Progress, recipe: Recipe, assignment: Assignment, spec: ClusterSpec, draws: int = 5
) -> dict[int, float]:
    """How well each cluster comes back: mean best Jaccard overlap, 0 to 1.

    k-means is run with other seeds. HDBSCAN and agglomerative clustering have none, and are run on random 80 %
    of the rows instead. For EVoC nothing is said: another seed finds other layers, and none of them is “the same”.
    """
    rows = as_measured(space(recipe).vectors, spec.metric)
    if isinstance(spec.params, KMeansParams):
        others = tuple(spec.params.seed + 1 + i for i in range(draws))
        return seed_agreement(rows, assignment, spec.params.k, spec.params.n_init, others, progress)
    if isinstance(spec.params, EvocParams):
        return {}

    def regroup(some: npt.NDArray[np.float32]) -> Assignment:
        return clusterers.assign(some, spec.thinned(len(some) / len(rows)).fitted(len(some)), progress)

    return subset_agreement(rows, assignment, regroup, draws, progress=progress)


def _checked(method: str, defaults: Any, params: dict[str, Any]) -> Any:
    known = asdict(defaults)
    for name in params:
        if name not in known:
            raise UserError(f"{method} has no parameter “{name}”; it has {', '.join(known)}.")
    chosen = replace(defaults, **params)
    chosen.validate()
    if chosen.components != 2:
        raise UserError(f"components must be 2, since a map is drawn in two dimensions, not {chosen.components}.")
    return chosen
