"""Groups of rows by any method: k-means, HDBSCAN, agglomerative clustering, EVoC."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.clustering import kmeans
from kiruviz.analysis.grouping import (
    NOISE,
    AgglomerativeParams,
    Assignment,
    ClusterSpec,
    EvocParams,
    HdbscanParams,
    KMeansParams,
    Linkage,
    unit_rows,
)
from kiruviz.errors import UserError
from kiruviz.progress import Progress, Silent
from kiruviz.space import FloatArray

EVOC_COMPILES = "Loading EVoC (its first use on a machine compiles for two to three minutes)"


@dataclass(frozen=True, eq=False)
class Tree:
    """An agglomerative merge tree, as scikit-learn's `ward_tree` and `linkage_tree` give it.

    Attributes
    ----------
    children : (n - 1, 2) int
        The two nodes that each merge joins; below n they are rows.
    heights : (n - 1,) float64
        The distance at each merge.
    """

    children: npt.NDArray[np.intp]
    heights: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Layers:
    """EVoC's hierarchy.

    Attributes
    ----------
    labels : (layers, n) int32
        The coarsest layer first; -1 is noise.
    chosen : int
        Number (from 1) of the layer that EVoC holds most persistent: its own `labels_`.
    """

    labels: Assignment
    chosen: int

    def pick(self, layer: int | None) -> Assignment:
        """The clusters of a layer, 1 for the coarsest; None is EVoC's own choice."""
        count = len(self.labels)
        if layer is not None and layer > count:
            found = "1 layer, so layer must be 1" if count == 1 else f"{count} layers; choose 1 (coarsest) to {count}"
            raise UserError(f"EVoC found {found}, not {layer}.")
        return np.asarray(self.labels[(layer or self.chosen) - 1])


def assign(
    vectors: npt.ArrayLike, spec: ClusterSpec, progress: Progress | None = None, layers: Layers | None = None
) -> Assignment:
    """Cluster of each row.

    Parameters
    ----------
    vectors : (n, d) float32, finite
    spec : ClusterSpec
    progress : Progress, optional
    layers : Layers, optional
        EVoC's layers of these rows, where they are known already.

    Returns
    -------
    (n,) int32
        -1 for noise, and under cosine for rows of zeros, which have no direction.

    Raises
    ------
    UserError
        A parameter that does not fit the rows, a metric the method has not, rows that all are zeros under cosine.
    """
    if layers is not None and isinstance(spec.params, EvocParams):
        return layers.pick(spec.params.layer)
    rows, taken = measured(vectors, spec)
    return spread(_group(rows, spec, progress or Silent()), taken)


def measured(vectors: npt.ArrayLike, spec: ClusterSpec) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """The rows a method is given, after the check of its parameters, and which of all rows they are."""
    rows = np.asarray(vectors, dtype=np.float32)
    spec.validate(len(rows))
    if spec.metric != "cosine":
        return rows, np.ones(len(rows), bool)
    units, has_direction = unit_rows(rows)
    if not has_direction.any():
        raise UserError("All rows are zeros, which have no direction; choose the Euclidean metric.")
    if not has_direction.all():
        units = units[has_direction]
        spec.validate(len(units))
    return units, has_direction


def spread(labels: Assignment, taken: npt.NDArray[np.bool_]) -> Assignment:
    """Labels of the rows that were taken as labels of all; -1 for the others. The last axis is the rows."""
    whole = np.full((*labels.shape[:-1], len(taken)), NOISE, dtype=np.int32)
    whole[..., taken] = labels
    return whole


def _group(rows: FloatArray, spec: ClusterSpec, progress: Progress) -> Assignment:
    params = spec.params
    if isinstance(params, KMeansParams):
        return kmeans(rows, params.k, params.n_init, params.seed, progress).labels
    if isinstance(params, HdbscanParams):
        progress.report(None, f"HDBSCAN: distances of {len(rows):,} rows")
        return density_labels(density_tree(distances(rows), _samples(params)), params)
    if isinstance(params, AgglomerativeParams):
        progress.report(None, f"Merging {len(rows):,} rows")
        return cut(merge_tree(rows, params.linkage), params)
    return _layers(rows, params, progress).pick(params.layer)


# HDBSCAN, by the parts of sklearn.cluster.HDBSCAN(algorithm="brute"), so that the tree serves several cuts.
# In the hundreds of dimensions of an embedding its kd-tree is thirty times slower than all distances at once.


def distances(rows: FloatArray) -> npt.NDArray[np.float64]:
    """Euclidean distances of all pairs, (n, n)."""
    from sklearn.metrics import pairwise_distances

    return np.asarray(pairwise_distances(rows.astype(np.float64)))


def density_tree(between: npt.NDArray[np.float64], min_samples: int) -> Any:
    """HDBSCAN's single-linkage tree of mutual reachability; `between` (all distances) is used up."""
    from sklearn.cluster._hdbscan.hdbscan import _brute_mst, _process_mst, mutual_reachability_graph

    reach = mutual_reachability_graph(between, min_samples=min_samples, max_distance=0.0)
    return _process_mst(_brute_mst(reach, min_samples=min_samples))


def density_labels(tree: Any, params: HdbscanParams) -> Assignment:
    """HDBSCAN's clusters from its tree; -1 is noise."""
    from sklearn.cluster._hdbscan.hdbscan import tree_to_labels

    selection, epsilon = params.cluster_selection_method, float(params.cluster_selection_epsilon)
    try:
        labels, _ = tree_to_labels(tree, params.min_cluster_size, selection, False, epsilon, None)
    except TypeError as error:
        if not epsilon:
            raise
        # scikit-learn issue 33219: merging over several levels of the tree fails with NumPy 2.4.
        raise UserError(
            f"This version of scikit-learn cannot merge these rows by cluster_selection_epsilon {epsilon:g} "
            "(its issue 33219); set it to 0."
        ) from error
    return np.asarray(labels, dtype=np.int32)


def _samples(params: HdbscanParams) -> int:
    return params.min_cluster_size if params.min_samples is None else params.min_samples


# Agglomerative, by the parts of sklearn.cluster.AgglomerativeClustering: one tree serves every cut.


def merge_tree(rows: FloatArray, linkage: Linkage) -> Tree:
    """The merges of all rows into one cluster, with Euclidean distance. At least two rows."""
    from sklearn.cluster import linkage_tree, ward_tree

    if len(rows) < 2:
        return Tree(np.zeros((0, 2), np.intp), np.zeros(0))
    wide = rows.astype(np.float64)
    if linkage == "ward":
        children, _, _, _, heights = ward_tree(wide, return_distance=True)
    else:
        children, _, _, _, heights = linkage_tree(wide, linkage=linkage, affinity="euclidean", return_distance=True)
    return Tree(np.asarray(children, np.intp), np.asarray(heights, np.float64))


def cut(tree: Tree, params: AgglomerativeParams) -> Assignment:
    """The clusters of a tree cut at `k`, or below a distance threshold."""
    from sklearn.cluster._agglomerative import _hc_cut

    rows = len(tree.children) + 1
    if rows == 1:
        return np.zeros(1, np.int32)
    k = params.k
    if params.distance_threshold is not None:
        k = int(np.count_nonzero(tree.heights >= params.distance_threshold)) + 1
    return np.asarray(_hc_cut(k, tree.children, rows), dtype=np.int32)


# EVoC


def evoc_layers(vectors: npt.ArrayLike, spec: ClusterSpec, progress: Progress | None = None) -> Layers:
    """All layers that EVoC finds, whichever `spec` picks (McInnes, EVoC; its `cluster_layers_`).

    Parameters and errors as in `assign`.
    """
    assert isinstance(spec.params, EvocParams)
    rows, taken = measured(vectors, spec)
    found = _layers(rows, spec.params, progress or Silent())
    return Layers(spread(found.labels, taken), found.chosen)


def _layers(rows: FloatArray, params: EvocParams, progress: Progress) -> Layers:
    progress.report(None, EVOC_COMPILES)
    import numba
    from evoc import EVoC

    progress.report(None, f"EVoC on {len(rows):,} rows")
    model = EVoC(
        base_min_cluster_size=params.base_min_cluster_size,
        min_samples=params.min_samples,
        n_neighbors=params.n_neighbors,
        noise_level=params.noise_level,
        random_state=params.seed,
    )
    threads = numba.get_num_threads()
    numba.set_num_threads(1)  # the number of threads shapes its search trees, and so the clusters
    try:
        with warnings.catch_warnings():
            # Of rows that are all alike, and of rows with few others near.
            warnings.simplefilter("ignore")
            model.fit(rows)
    finally:
        numba.set_num_threads(threads)
    layers: Sequence[Any] = model.cluster_layers_
    own = next(i for i, one in enumerate(layers) if one is model.labels_)
    labels = np.stack([np.asarray(one, dtype=np.int32) for one in reversed(layers)])
    return Layers(labels, len(layers) - own)
