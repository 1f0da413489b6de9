"""k-means, and how well its clusters stand apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.progress import Progress, Silent
from kiruviz.space import FloatArray

Assignment = npt.NDArray[np.int32]

MAX_ITERATIONS = 300  # scikit-learn's defaults
TOLERANCE = 1e-4
SILHOUETTE_ROWS = 5000


@dataclass(frozen=True, eq=False)
class KMeansResult:
    """What k-means found.

    Attributes
    ----------
    labels : (n,) int32
        Cluster of each row, 0 to k-1.
    centroids : (k, d) float32
    inertia : float
        Sum of squared Euclidean distances of the rows to their centroids.
    n_iter : int
        Iterations of the best initialisation.
    distinct : int
        Clusters that have rows: fewer than k where the rows have fewer distinct points.
    """

    labels: Assignment
    centroids: FloatArray
    inertia: float
    n_iter: int
    distinct: int


@dataclass(frozen=True)
class _Run:
    labels: Assignment
    centers: FloatArray
    inertia: float
    n_iter: int


def kmeans(
    vectors: npt.ArrayLike, k: int, n_init: int = 10, seed: int = 0, progress: Progress | None = None
) -> KMeansResult:
    """Cluster rows with k-means, bit for bit as `sklearn.cluster.KMeans(k, n_init=n_init, random_state=seed)`.

    The initialisations (`kmeans_plusplus`) and the compiled Lloyd iteration are scikit-learn's; the loops
    around them follow `KMeans.fit`, so that the work can be followed and cancelled between iterations.

    Parameters
    ----------
    vectors : (n, d) float32, finite
    k : int
        Clusters, 1 to n.
    n_init : int
        Initialisations; the best is kept.
    seed : int
    progress : Progress, optional

    Raises
    ------
    UserError
        k below 1 or above the number of rows, n_init below 1, a seed out of range.
    """
    progress = progress or Silent()
    rows = np.array(vectors, dtype=np.float32, order="C")
    _check(len(rows), k, n_init, seed)
    from sklearn.cluster import kmeans_plusplus
    from sklearn.utils.extmath import row_norms

    random_state = np.random.RandomState(seed)
    tolerance = float(np.mean(np.var(rows, axis=0)) * TOLERANCE)
    mean = rows.mean(axis=0)
    rows -= mean  # as KMeans.fit does, for more accurate distances
    squared = row_norms(rows, squared=True)
    best: _Run | None = None
    for attempt in range(n_init):
        progress.report(attempt / n_init, _message(attempt, n_init))
        centers, _ = kmeans_plusplus(rows, k, x_squared_norms=squared, random_state=random_state)
        run = _lloyd(rows, centers, tolerance, progress, (attempt, n_init))
        if best is None or (run.inertia < best.inertia and not _same_clustering(run.labels, best.labels, k)):
            best = run
    assert best is not None
    distinct = len(np.unique(best.labels))
    return KMeansResult(best.labels, best.centers + mean, best.inertia, best.n_iter, distinct)


def _check(n: int, k: int, n_init: int, seed: int) -> None:
    if n == 0:
        raise UserError("There are no rows to cluster; choose at least one.")
    if not 1 <= k <= n:
        raise UserError(f"The number of clusters must be between 1 and the number of rows, {n}, not {k}.")
    if n_init < 1:
        raise UserError(f"The number of initialisations must be at least 1, not {n_init}.")
    if not 0 <= seed < 2**32:
        raise UserError(f"The seed must be a whole number from 0 to 4294967295, not {seed}.")


def _message(attempt: int, n_init: int) -> str:
    return f"k-means, initialisation {attempt + 1} of {n_init}"


def _lloyd(rows: FloatArray, centers: FloatArray, tolerance: float, progress: Progress, turn: tuple[int, int]) -> _Run:
    """One run of Lloyd's iteration, step for step `sklearn.cluster._kmeans._kmeans_single_lloyd`."""
    from sklearn.cluster._k_means_common import _inertia_dense
    from sklearn.cluster._k_means_lloyd import lloyd_iter_chunked_dense
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    attempt, n_init = turn
    threads = _openmp_effective_n_threads()
    weights = np.ones(len(rows), dtype=rows.dtype)
    new_centers = np.zeros_like(centers)
    in_cluster = np.zeros(len(centers), dtype=rows.dtype)
    shift = np.zeros(len(centers), dtype=rows.dtype)
    labels = np.full(len(rows), -1, dtype=np.int32)
    before = labels.copy()
    settled = False
    n_iter = 0
    # OpenMP threads share the rows out; BLAS inside each of them must not start more.
    with threadpool_limits(limits=1, user_api="blas"):
        while n_iter < MAX_ITERATIONS:
            step: tuple[Any, ...] = (rows, weights, centers, new_centers, in_cluster, labels, shift, threads)
            lloyd_iter_chunked_dense(*step)
            n_iter += 1
            centers, new_centers = new_centers, centers
            if np.array_equal(labels, before):
                settled = True
                break
            if (shift**2).sum() <= tolerance:
                break
            before[:] = labels
            done = (attempt + n_iter / MAX_ITERATIONS) / n_init
            progress.report(done, f"{_message(attempt, n_init)}, iteration {n_iter}")
        if not settled:
            # One more assignment, so that the labels belong to these centroids.
            step = (rows, weights, centers, centers, in_cluster, labels, shift, threads)
            lloyd_iter_chunked_dense(*step, update_centers=False)
        inertia = _inertia_dense(rows, weights, centers, labels, threads)
    return _Run(labels, centers, float(inertia), n_iter)


def _same_clustering(one: Assignment, other: Assignment, k: int) -> bool:
    """Whether each cluster of `one` lies in one cluster of `other` (scikit-learn's `_is_same_clustering`)."""
    image = np.full(k, -1, dtype=np.int32)
    image[one] = other
    return bool(np.array_equal(image[one], other))


def silhouette(
    vectors: npt.ArrayLike, labels: npt.ArrayLike, sample: int = SILHOUETTE_ROWS, seed: int = 0
) -> float | None:
    """Mean silhouette of a clustering, with Euclidean distance (the distance k-means uses).

    Parameters
    ----------
    vectors : (n, d)
        The rows as they were clustered.
    labels : (n,) int
        Noise (-1) is left out.
    sample : int
        At most so many rows, drawn without replacement, are used.
    seed : int
        Seed of that draw.

    Returns
    -------
    float in [-1, 1], or None where it is undefined: fewer than two clusters, or no cluster with two rows.
    """
    rows, groups = sample_rows(vectors, labels, sample, seed)
    clusters = len(np.unique(groups))
    if not 2 <= clusters < len(groups):
        return None
    from sklearn.metrics import silhouette_score

    return float(silhouette_score(rows, groups, metric="euclidean"))


def sample_rows(
    vectors: npt.ArrayLike, labels: npt.ArrayLike, sample: int, seed: int
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Rows that are in a cluster, and their clusters; a seeded sample of them if there are more than `sample`."""
    groups = np.asarray(labels, dtype=np.int64)
    at = np.flatnonzero(groups >= 0)
    if len(at) > sample:
        at = np.sort(np.random.default_rng(seed).choice(at, size=sample, replace=False))
    return np.asarray(vectors)[at], groups[at]


def split(vectors: npt.ArrayLike, parts: int = 2, seed: int = 0, progress: Progress | None = None) -> Assignment:
    """Split the members of one cluster into parts, by k-means (10 initialisations) on them alone.

    Parameters
    ----------
    vectors : (m, d)
        The members' rows.
    parts : int
        2 to the number of distinct members.

    Returns
    -------
    (m,) int32
        Part of each member, 0 to parts-1; part 0 is the largest.

    Raises
    ------
    UserError
        Fewer than two parts, or fewer distinct members than parts.
    """
    if parts < 2:
        raise UserError(f"A cluster is split into at least 2 parts, not {parts}.")
    rows = np.asarray(vectors, dtype=np.float32)
    different = len(np.unique(rows, axis=0)) if len(rows) else 0
    if different < parts:
        raise UserError(f"This cluster has {different} different rows, too few to be split into {parts} parts.")
    labels = kmeans(rows, parts, 10, seed, progress).labels
    by_size = np.argsort(-np.bincount(labels, minlength=parts), kind="stable")
    rank = np.empty(parts, dtype=np.int32)
    rank[by_size] = np.arange(parts, dtype=np.int32)
    return rank[labels]
