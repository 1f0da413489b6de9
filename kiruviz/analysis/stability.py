"""Do the clusters come back with another seed, or from part of the rows?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

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


def subset_agreement(
    vectors: npt.ArrayLike,
    labels: npt.ArrayLike,
    regroup: Callable[[npt.NDArray[np.float32]], npt.ArrayLike],
    draws: int = 5,
    share: float = 0.8,
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[int, float]:
    """How well each cluster is found again in random subsets of the rows (the subset scheme of Hennig 2007).

    For each draw, a share of the rows is taken without replacement and grouped anew; the cluster, as far as it was
    drawn, is compared with the group of those rows most like it. A cluster of which nothing was drawn is left
    out of that draw.

    Parameters
    ----------
    vectors : (n, d) float32
    labels : (n,) int
        The clustering to judge; noise (-1) is in no cluster.
    regroup : function of (m, d) rows
        Groups a subset; (m,) int, -1 for noise.
    draws, share, seed
        Subsets, the share of the rows in each, and the seed of the draws.
    progress : Progress, optional

    Returns
    -------
    dict cluster -> mean best Jaccard overlap in [0, 1]; without clusters that were never drawn
    """
    progress = progress or Silent()
    rows, groups = np.asarray(vectors, dtype=np.float32), np.asarray(labels, dtype=np.int64)
    rng = np.random.default_rng(seed)
    total = np.zeros(int(groups.max(initial=-1)) + 1)
    drawn = np.zeros(len(total))
    for turn in range(draws):
        progress.report(turn / draws, f"Clustering part of the rows, {turn + 1} of {draws}")
        some = np.sort(rng.choice(len(rows), max(1, round(share * len(rows))), replace=False))
        part = groups[some]
        overlaps = best_overlaps(part, regroup(rows[some]))
        total[: len(overlaps)] += overlaps
        drawn[np.unique(part[part >= 0])] += 1
    return {int(c): float(total[c] / drawn[c]) for c in np.flatnonzero(drawn)}


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
