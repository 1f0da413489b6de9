"""What each value of a clusterer's main parameter would give, before one is taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kiruviz.analysis import clusterers
from kiruviz.analysis.clusterers import Layers
from kiruviz.analysis.clustering import kmeans, silhouette
from kiruviz.analysis.grouping import (
    AgglomerativeParams,
    Assignment,
    ClusterSpec,
    EvocParams,
    HdbscanParams,
    KMeansParams,
)
from kiruviz.analysis.nested import Part
from kiruviz.progress import Progress, Silent
from kiruviz.space import FloatArray

_SIZES = (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500)
_MOST_K = {"kmeans": 16, "agglomerative": 30}  # another k is a whole run of k-means, and only a cut of a tree


@dataclass(frozen=True)
class EffectPoint:
    """What one value gives: `noise` is a share of the rows, `silhouette` None where it is undefined."""

    value: int
    clusters: int
    noise: float
    silhouette: float | None


@dataclass(frozen=True)
class Effect:
    """What the values of the main parameter of `spec` (which leaves it out) would give, in ascending order.

    `preferred` is the value that is used where none is given: EVoC's own choice of a layer. `complete` is False
    while more points are to come.
    """

    spec: ClusterSpec
    points: tuple[EffectPoint, ...]
    preferred: int | None = None
    complete: bool = False


def effect(
    vectors: npt.ArrayLike, spec: ClusterSpec, progress: Progress | None = None, layers: Layers | None = None
) -> Effect:
    """Number of clusters, noise and silhouette for a range of values of the method's main parameter.

    Each point equals what `clusterers.assign` gives with that value, and the silhouette (Euclidean, between the
    rows as they were clustered, noise left out; a sample of them if they are many) is that of those clusters.
    The curve so far is handed out as it grows.

    Parameters and errors as in `clusterers.assign`.
    """
    progress = progress or Silent()
    if layers is None and isinstance(spec.params, EvocParams):
        layers = clusterers.evoc_layers(vectors, spec, Part(progress, 0.0, 0.5))
    rows, taken = clusterers.measured(vectors, spec.fitted(len(np.asarray(vectors))))
    made = Effect(spec.without_value(), (), None if layers is None else layers.chosen)
    for value, done, labels in _runs(rows, spec, progress, None if layers is None else layers.labels[:, taken]):
        progress.report(done, f"Silhouette of {int(labels.max(initial=-1)) + 1} clusters")
        point = EffectPoint(
            value,
            clusters=len(np.unique(labels[labels >= 0])),
            noise=1.0 - float((labels >= 0).sum()) / len(taken),
            silhouette=silhouette(rows, labels, seed=_seed(spec)),
        )
        made = replace(made, points=(*made.points, point))
        progress.partial(made)
    return replace(made, complete=True)


def values(spec: ClusterSpec, rows: int) -> list[int]:
    """The values that are tried of so many rows."""
    if spec.method == "hdbscan":
        return [size for size in _SIZES if size <= max(2, rows // 2)]
    return [k for k in range(2, _MOST_K[spec.method] + 1) if k < rows]


def _runs(
    rows: FloatArray, spec: ClusterSpec, progress: Progress, layers: Assignment | None
) -> Iterator[tuple[int, float, Assignment]]:
    """Value, share done, and the clusters of `rows` with it."""
    params = spec.params
    if isinstance(params, EvocParams):
        assert layers is not None
        for turn, labels in enumerate(layers):
            yield turn + 1, 0.5 + 0.5 * turn / len(layers), labels
        return
    tried = values(spec, len(rows))
    if isinstance(params, KMeansParams):
        yield from _kmeans_runs(rows, params, tried, progress)
    elif isinstance(params, AgglomerativeParams):
        progress.report(0.0, f"Merging {len(rows):,} rows")
        tree = clusterers.merge_tree(rows, params.linkage)
        for turn, k in enumerate(tried):
            yield k, (turn + 1) / (len(tried) + 1), clusterers.cut(tree, AgglomerativeParams(k))
    else:
        yield from _density_runs(rows, params, tried, progress)


def _kmeans_runs(
    rows: FloatArray, params: KMeansParams, tried: Sequence[int], progress: Progress
) -> Iterator[tuple[int, float, Assignment]]:
    for turn, k in enumerate(tried):
        part = Part(progress, turn / len(tried), (turn + 1) / len(tried), f"{k} clusters: ")
        yield k, (turn + 1) / len(tried), kmeans(rows, k, params.n_init, params.seed, part).labels


def _density_runs(
    rows: FloatArray, params: HdbscanParams, tried: Sequence[int], progress: Progress
) -> Iterator[tuple[int, float, Assignment]]:
    """One set of distances for all; one tree too, unless the samples follow the smallest cluster size."""
    progress.report(0.0, f"HDBSCAN: distances of {len(rows):,} rows")
    between = clusterers.distances(rows)
    tree = None
    for turn, size in enumerate(tried):
        progress.report(turn / len(tried), f"HDBSCAN with smallest cluster size {size}")
        if tree is None or params.min_samples is None:
            tree = clusterers.density_tree(between.copy(), params.min_samples or size)
        yield size, (turn + 0.5) / len(tried), clusterers.density_labels(tree, replace(params, min_cluster_size=size))


def _seed(spec: ClusterSpec) -> int:
    return spec.params.seed if isinstance(spec.params, (KMeansParams, EvocParams)) else 0
