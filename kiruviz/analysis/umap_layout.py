"""UMAP (McInnes, Healy & Melville 2018), driven epoch by epoch.

The numbers are umap-learn's: its fuzzy graph, its curve, its layout kernel. Only the loop around the epochs
is ours, so that a map unfolds on screen, says how far it is and can be cancelled; and the neighbours are
exact. umap-learn does not cache its compiled kernels; here they are, where numba's cache folder is writable.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.knn import Knn, knn_graph
from kiruviz.analysis.nested import Part
from kiruviz.analysis.projection import UmapParams, pca
from kiruviz.errors import UserError
from kiruviz.progress import Progress, Silent
from kiruviz.space import FloatArray

_REPORT_SECONDS = 0.05
_PARTIAL_SECONDS = 0.1
_SLOW_NEIGHBORS = 5000  # rows from which finding neighbours is a good part of the work

_warm = False


@dataclass(frozen=True, eq=False)
class _Edges:
    """The pruned fuzzy graph as edges, and how often each is sampled.

    Attributes
    ----------
    head, tail : (e,) int32
    epochs_per_sample : (e,) float64
    """

    head: npt.NDArray[np.int32]
    tail: npt.NDArray[np.int32]
    epochs_per_sample: npt.NDArray[np.float64]


def umap(
    vectors: npt.ArrayLike,
    params: UmapParams,
    init: npt.ArrayLike | None = None,
    progress: Progress | None = None,
    knn: Knn | None = None,
) -> FloatArray:
    """Lay rows out with UMAP. The same seed gives the same bytes on one machine.

    Parameters
    ----------
    vectors : (n, d) float32, finite
    params : UmapParams
        `n_neighbors` is cut to n - 1, as umap-learn does.
    init : (n, components), optional
        The picture to start from; PCA if not given. It is scaled to 0..10 on each axis.
    progress : Progress, optional
        Gets about ten partial pictures a second, each (n, components) float32.
    knn : Knn, optional
        Neighbours found earlier with `knn_graph`, of these rows and with this metric, at least
        `n_neighbors` wide.

    Returns
    -------
    (n, components) float32. Up to two rows have no graph: they are returned as they start.

    Raises
    ------
    UserError
        A parameter out of range, no rows, or rows that are not finite.
    """
    progress = progress or Silent()
    params.validate()
    rows = np.asarray(vectors, dtype=np.float32)
    n = len(rows)
    if n == 0:
        raise UserError("There are no rows to draw; choose at least one.")
    first = pca(rows, params.components).coords if init is None else np.asarray(init, dtype=np.float32)
    if first.shape != (n, params.components):
        raise ValueError(f"init has shape {first.shape}, not {(n, params.components)}")
    random_state = np.random.RandomState(params.seed)
    if n < 3:
        return _start(first, random_state)
    neighbors = min(params.n_neighbors, n - 1)
    after_knn = 0.4 if n >= _SLOW_NEIGHBORS else 0.02
    if knn is None:
        knn = knn_graph(rows, neighbors, params.metric, Part(progress, 0.0, after_knn))
    knn = Knn(knn.indices[:, :neighbors], knn.distances[:, :neighbors])
    progress.report(after_knn, "Preparing UMAP" if _warm else "Preparing UMAP (compiling, once)")
    _umap_learn()
    progress.report(after_knn, "Weighing the neighbour graph")
    graph = fuzzy_graph(knn, params)
    edges = _edges(graph, params.epochs(n))
    start = _start(first, random_state)
    return _layout(start, edges, params, random_state, Part(progress, after_knn + 0.02, 1.0))


def warm_up(progress: Progress | None = None) -> None:
    """Import umap-learn and compile (or load) its kernels on a tiny problem, so that the next map starts at once.

    Nearly a minute the first time on a machine, a few seconds in a later process if numba's cache is kept.
    """
    global _warm
    if _warm:
        return
    progress = progress or Silent()
    progress.report(None, "Loading UMAP")
    _umap_learn()
    progress.report(None, "Compiling UMAP, once on this machine")
    tiny = np.random.default_rng(0).standard_normal((24, 4)).astype(np.float32)
    umap(tiny, UmapParams(n_neighbors=5, n_epochs=2))
    _warm = True


def is_warm() -> bool:
    """Whether this process can start a map at once."""
    return _warm


def _umap_learn() -> Any:
    """umap-learn's module, with caching switched on for the kernels it compiles anew in each process."""
    with warnings.catch_warnings():
        # It says that TensorFlow is missing, for a kind of UMAP that is not used here.
        warnings.simplefilter("ignore")
        import umap.layouts
        import umap.umap_
    for kernel in (
        umap.umap_.smooth_knn_dist,
        umap.umap_.compute_membership_strengths,
        _epoch_kernel(),
    ):
        if kernel.signatures:
            continue  # compiled already: caching would come too late
        try:
            kernel.enable_caching()
        except RuntimeError:
            break  # numba finds no folder it may write to; then the kernels are compiled in each process
    return umap.umap_


def _epoch_kernel() -> Any:
    """One epoch of umap-learn's layout. The serial kernel: the parallel one gives another map each time."""
    import umap.layouts

    return umap.layouts._get_optimize_layout_euclidean_single_epoch_fn(False)


def fuzzy_graph(knn: Knn, params: UmapParams) -> Any:
    """The fuzzy simplicial set of a neighbour graph, by `umap.umap_.fuzzy_simplicial_set`.

    Parameters
    ----------
    knn : Knn
        The row itself first.
    params : UmapParams
        `set_op_mix_ratio` and `local_connectivity` are used.

    Returns
    -------
    scipy.sparse matrix (n, n) of float32 memberships
    """
    n, neighbors = knn.indices.shape
    graph, _, _ = _umap_learn().fuzzy_simplicial_set(
        np.empty((n, 0), dtype=np.float32),  # only its number of rows is asked for when neighbours are given
        neighbors,
        None,  # no random numbers are drawn then
        params.metric,
        knn_indices=np.ascontiguousarray(knn.indices),
        knn_dists=np.ascontiguousarray(knn.distances),
        set_op_mix_ratio=params.set_op_mix_ratio,
        local_connectivity=params.local_connectivity,
    )
    return graph


def _edges(graph: Any, n_epochs: int) -> _Edges:
    """Edges worth sampling, pruned as `umap.umap_.simplicial_set_embedding` does."""
    graph = graph.tocoo()
    graph.sum_duplicates()
    # Ten epochs or fewer would prune nearly everything, so umap-learn prunes those by its default number.
    pruned_by = n_epochs if n_epochs > 10 else UmapParams().epochs(graph.shape[0])
    graph.data[graph.data < graph.data.max() / float(pruned_by)] = 0.0
    graph.eliminate_zeros()
    return _Edges(graph.row, graph.col, _umap_learn().make_epochs_per_sample(graph.data, n_epochs))


def _start(init: FloatArray, random_state: np.random.RandomState) -> FloatArray:
    """The first picture, as `simplicial_set_embedding` treats an array: equal points parted, scaled to 0..10.

    Where umap-learn would divide by zero (an axis on which all points agree), points are spread at random.
    A single point stays where it is.
    """
    start = init
    if len(init) > 1 and len(np.unique(init, axis=0)) < len(init):
        from sklearn.neighbors import KDTree

        nearest, _ = KDTree(init).query(init, k=2)
        noise = random_state.normal(scale=0.001 * np.mean(nearest[:, 1]), size=init.shape)
        start = init + noise.astype(np.float32)
    low = np.min(start, 0)
    span = np.max(start, 0) - low
    flat = span == 0.0
    scaled = 10.0 * (start - low) / np.where(flat, 1.0, span)
    if flat.any() and len(init) > 2:
        scaled[:, flat] = random_state.uniform(0.0, 10.0, size=(len(init), int(flat.sum())))
    return np.ascontiguousarray(scaled, dtype=np.float32)


def _layout(
    embedding: FloatArray,
    edges: _Edges,
    params: UmapParams,
    random_state: np.random.RandomState,
    progress: Progress,
) -> FloatArray:
    """The epochs of `umap.layouts.optimize_layout_euclidean`, one by one."""
    library = _umap_learn()
    kernel = _epoch_kernel()
    a, b = library.find_ab_params(params.spread, params.min_dist)
    seeds = random_state.randint(library.INT32_MIN, library.INT32_MAX, 3).astype(np.int64)
    # Each point has its own random numbers, told apart by the bits of its first coordinate.
    bits = embedding[:, 0].astype(np.float64).view(np.int64).reshape(-1, 1)
    states = np.full((len(embedding), len(seeds)), seeds, dtype=np.int64) + bits
    per_sample = edges.epochs_per_sample
    per_negative = per_sample / params.negative_sample_rate
    next_negative = per_negative.copy()
    next_sample = per_sample.copy()
    unused = np.zeros(1, dtype=np.float32)  # densMAP's arrays, which the kernel wants to see
    densmap = (False, unused, unused, 0, 0, 0, 0, unused, unused, 0)
    total = params.epochs(len(embedding))
    reported = shown = -1.0
    for epoch in range(total):
        now = time.monotonic()
        if now - reported >= _REPORT_SECONDS:
            reported = now
            progress.report(epoch / total, f"UMAP epoch {epoch} of {total}")
        if now - shown >= _PARTIAL_SECONDS:
            shown = now
            progress.partial(embedding.copy())
        # umap-learn lowers the rate after each epoch by the number of that epoch, so the first two are equal.
        alpha = params.learning_rate * (1.0 - max(epoch - 1, 0) / total)
        kernel(
            *(embedding, embedding, edges.head, edges.tail, len(embedding), per_sample, float(a), float(b)),
            *(states, float(params.repulsion_strength), params.components, True, float(alpha)),
            *(per_negative, next_negative, next_sample, epoch, *densmap),
        )
    progress.report(1.0, f"UMAP epoch {total} of {total}")
    return embedding
