"""Do the clusters come back with another seed?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.clustering import kmeans
from kiruviz.analysis.nested import Part
from kiruviz.progress import Progress, Silent


def seed_agreement(
    vectors: npt.ArrayLike,
    labels: npt.ArrayLike,
    k: int,
    n_init: int,
    seeds: Sequence[int],
    progress: Progress | None = None,
) -> dict[int, float]:
    """How well each cluster is found again by k-means with other seeds.

    For each seed the cluster's best Jaccard overlap with any cluster of the new run is taken (cluster-wise
    stability after Hennig 2007, with seeds instead of bootstraps), then the mean over the seeds.

    Parameters
    ----------
    vectors : (n, d) float32
        The rows as they were clustered.
    labels : (n,) int
        The clustering to judge; noise (-1) is in no cluster.
    k, n_init : int
        Of the re-runs.
    seeds : sequence of int
        At least one, none of them the seed of `labels`.
    progress : Progress, optional

    Returns
    -------
    dict cluster -> mean overlap in [0, 1]; 1 is found again exactly each time

    Raises
    ------
    UserError
        As `kmeans` does.
    """
    progress = progress or Silent()
    groups = np.asarray(labels, dtype=np.int64)
    clusters = np.unique(groups[groups >= 0])
    if len(seeds) == 0 or len(clusters) == 0:
        return {}
    total = np.zeros(len(clusters))
    for turn, seed in enumerate(seeds):
        part = Part(progress, turn / len(seeds), (turn + 1) / len(seeds), f"Seed {seed}: ")
        again = kmeans(vectors, k, n_init, seed, part).labels
        total += best_overlaps(groups, again)[clusters]
    return {int(c): float(value) for c, value in zip(clusters, total / len(seeds), strict=True)}


def best_overlaps(labels: npt.ArrayLike, other: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Best Jaccard overlap of each cluster of one clustering with any cluster of another.

    Parameters
    ----------
    labels, other : (n,) int
        Clusters of the same rows, -1 for none.

    Returns
    -------
    (max(labels) + 1,) float64
    """
    one, two = np.asarray(labels, dtype=np.int64), np.asarray(other, dtype=np.int64)
    rows, columns = int(one.max(initial=-1)) + 1, int(two.max(initial=-1)) + 1
    if rows == 0 or columns == 0:
        return np.zeros(rows)
    both = (one >= 0) & (two >= 0)
    shared = np.bincount(one[both] * columns + two[both], minlength=rows * columns).reshape(rows, columns)
    sizes = np.bincount(one[one >= 0], minlength=rows)[:, None]
    other_sizes = np.bincount(two[two >= 0], minlength=columns)[None, :]
    union = np.maximum(sizes + other_sizes - shared, 1)
    return np.asarray((shared / union).max(axis=1), dtype=np.float64)
