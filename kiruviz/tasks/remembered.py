"""The map's jobs as the window runs them: what was computed before is recalled, what is new is kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kiruviz.analysis.clusterers import Layers
from kiruviz.analysis.effect import Effect
from kiruviz.analysis.grouping import ClusterSpec, EvocParams
from kiruviz.progress import Progress
from kiruviz.space import Recipe
from kiruviz.tasks import maps, memory
from kiruviz.tasks.carrying import FormerLabels
from kiruviz.tasks.colors import with_colors
from kiruviz.tasks.maps import ClusterOutcome, Coords, Method, ProjectionOutcome


@dataclass(frozen=True)
class KnownMap:
    """What is remembered of a map; a part is None where it has to be computed."""

    pca: ProjectionOutcome | None
    umap: ProjectionOutcome | None
    clusters: ClusterOutcome | None


def known_map(
    progress: Progress, recipe: Recipe, n_rows: int, umap_params: dict[str, Any], spec: ClusterSpec
) -> KnownMap:
    """What is remembered, without importing anything that computes."""
    progress.check()
    labels = memory.recall(spec.method, recipe, spec.stored())
    pca = _recall_projection(recipe, "pca", maps.default_params("pca", n_rows))
    umap = _recall_projection(recipe, "umap", maps.default_params("umap", n_rows) | umap_params)
    clusters = None if labels is None else ClusterOutcome(labels["assignment"], spec)
    shown = umap or pca
    if clusters is not None and shown is not None:
        clusters = with_colors(progress, clusters, None, lambda: shown.coords)
    return KnownMap(pca, umap, clusters)


def project(
    progress: Progress, recipe: Recipe, method: Method, params: dict[str, Any], init: Coords | None = None
) -> ProjectionOutcome:
    """`maps.project` from the PCA picture, kept for the next time."""
    outcome = maps.project(progress, recipe, method, params, init)
    memory.keep(method, recipe, outcome.params, {"coords": outcome.coords, "note": np.array(outcome.note)})
    return outcome


def cluster(
    progress: Progress,
    recipe: Recipe,
    spec: ClusterSpec,
    former: FormerLabels | None = None,
    coords: Coords | None = None,
) -> ClusterOutcome:
    """`maps.cluster`, kept for the next time, with colours by `coords`, where the rows lie (by PCA without them)."""
    outcome = maps.cluster(progress, recipe, spec, former, _layers(progress, recipe, spec))
    memory.keep(spec.method, recipe, spec.stored(), {"assignment": outcome.assignment})

    def places() -> Coords:
        return coords if coords is not None else maps.project(progress, recipe, "pca", {}).coords

    return with_colors(progress, outcome, former, places)


def cluster_effect(progress: Progress, recipe: Recipe, spec: ClusterSpec) -> Effect:
    """`maps.cluster_effect`; EVoC's layers, which take longest, are kept."""
    return maps.cluster_effect(progress, recipe, spec, _layers(progress, recipe, spec))


def _layers(progress: Progress, recipe: Recipe, spec: ClusterSpec) -> Layers | None:
    """EVoC's layers, once found, serve every choice of one of them."""
    if not isinstance(spec.params, EvocParams):
        return None
    wanted = replace(spec, params=replace(spec.params, layer=None)).stored()
    kept = memory.recall("evoc-layers", recipe, wanted)
    if kept is not None:
        return Layers(kept["labels"], int(kept["chosen"]))
    found = maps.evoc_layers(progress, recipe, spec)
    memory.keep("evoc-layers", recipe, wanted, {"labels": found.labels, "chosen": np.array(found.chosen)})
    return found


def _recall_projection(recipe: Recipe, method: Method, params: dict[str, Any]) -> ProjectionOutcome | None:
    kept = memory.recall(method, recipe, params)
    return None if kept is None else ProjectionOutcome(kept["coords"], method, params, str(kept["note"]))
