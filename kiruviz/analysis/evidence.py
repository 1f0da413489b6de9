"""What speaks for the name of a cluster: its words, its neighbours, how well it stands apart.

Distances are Euclidean, the distance k-means used, on the rows as they were clustered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.suggestions import Suggestion, suggestions
from kiruviz.analysis.traits import Trait, Traits, WordList
from kiruviz.progress import Progress, Silent

Float64Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_BLOCK_VALUES = 4_000_000
SILHOUETTE_ROWS = 2000


@dataclass(frozen=True)
class Evidence:
    """What is known about one cluster.

    Attributes
    ----------
    size : int
        Its rows.
    nearest : tuple of int
        Positions of the rows nearest the centroid, nearest first.
    edge : tuple of int
        Positions of the rows most nearly in another cluster, most doubtful first.
    traits : tuple of Trait
        What its members share beyond chance, most telling first.
    next_clusters : tuple of (int, float)
        Nearest other clusters and the Euclidean distance between the centroids.
    silhouette : float or None
        Mean silhouette of (a sample of) its rows; None where undefined.
    suggestions : tuple of Suggestion
        Names it could be given, best first.
    """

    size: int
    nearest: tuple[int, ...]
    edge: tuple[int, ...]
    traits: tuple[Trait, ...]
    next_clusters: tuple[tuple[int, float], ...]
    silhouette: float | None
    suggestions: tuple[Suggestion, ...] = ()


@dataclass(frozen=True, eq=False)
class _Distances:
    """Per row: distance to its own centroid, and by how much the next centroid is farther."""

    own: Float64Array
    margin: Float64Array


def nearest_words(vectors: npt.ArrayLike, labels: npt.ArrayLike, cluster: int, count: int = 10) -> IntArray:
    """Positions of the members nearest their centroid, nearest first.

    Parameters
    ----------
    vectors : (n, d)
    labels : (n,) int
    cluster : int
    count : int
        At most so many.

    Returns
    -------
    (<= count,) int64, equal distances in the order of the rows; empty if the cluster is.
    """
    members = np.flatnonzero(np.asarray(labels) == cluster)
    if len(members) == 0:
        return members
    rows = np.asarray(vectors)[members].astype(np.float64)
    distances = ((rows - rows.mean(axis=0)) ** 2).sum(axis=1)
    return members[np.argsort(distances, kind="stable")[:count]]


def edge_words(vectors: npt.ArrayLike, labels: npt.ArrayLike, cluster: int, count: int = 10) -> IntArray:
    """Positions of the members most nearly in another cluster, most doubtful first.

    Doubt is the distance to the next centroid less the distance to the own one; with a single cluster,
    the members farthest from the centroid are returned.

    Parameters and result as in `nearest_words`.
    """
    groups = np.asarray(labels, dtype=np.int64)
    ids = _cluster_ids(groups)
    distances = _distances(np.asarray(vectors), groups, ids, centroids(vectors, groups, ids), Silent())
    return _edge(distances, np.flatnonzero(groups == cluster), len(ids), count)


def centroids(vectors: npt.ArrayLike, labels: npt.ArrayLike, clusters: Sequence[int]) -> Float64Array:
    """Means of the members of the given (non-empty) clusters, (k, d) float64."""
    rows = np.asarray(vectors)
    groups = np.asarray(labels)
    return np.stack([rows[groups == c].mean(axis=0, dtype=np.float64) for c in clusters])


def nearest_clusters(centers: npt.ArrayLike, cluster: int, count: int = 4) -> list[tuple[int, float]]:
    """Other clusters by the Euclidean distance of their centroids.

    Parameters
    ----------
    centers : (k, d)
    cluster : int
        Row of `centers`.

    Returns
    -------
    list of (row of `centers`, distance), nearest first
    """
    points = np.asarray(centers, dtype=np.float64)
    distances = np.sqrt(((points - points[cluster]) ** 2).sum(axis=1))
    order = [int(i) for i in np.argsort(distances, kind="stable") if i != cluster]
    return [(i, float(distances[i])) for i in order[:count]]


def cluster_silhouettes(
    vectors: npt.ArrayLike, labels: npt.ArrayLike, sample: int = SILHOUETTE_ROWS, seed: int = 0
) -> dict[int, float | None]:
    """Mean silhouette of each cluster (`sklearn.metrics.silhouette_samples`, Euclidean).

    Parameters
    ----------
    vectors : (n, d)
    labels : (n,) int
        Noise (-1) is left out.
    sample : int
        With more rows than this, each cluster is represented by an equal seeded share of its own rows (at
        least two), which leaves mean distances to every cluster unbiased and small clusters represented.
    seed : int

    Returns
    -------
    dict cluster -> mean silhouette; None for a cluster of one row, or where there is one cluster only.
    """
    groups = np.asarray(labels, dtype=np.int64)
    ids = _cluster_ids(groups)
    members = {c: np.flatnonzero(groups == c) for c in ids}
    if sum(map(len, members.values())) > sample:
        rng = np.random.default_rng(seed)
        share = max(2, sample // len(ids))
        members = {c: m if len(m) <= share else rng.choice(m, share, replace=False) for c, m in members.items()}
    chosen = np.sort(np.concatenate(list(members.values()))) if ids else np.zeros(0, dtype=np.int64)
    if not 2 <= len(ids) < len(chosen):
        return dict.fromkeys(ids)
    from sklearn.metrics import silhouette_samples

    values = silhouette_samples(np.asarray(vectors)[chosen], groups[chosen], metric="euclidean")
    return {c: float(values[groups[chosen] == c].mean()) if len(members[c]) > 1 else None for c in ids}


def summary(
    vectors: npt.ArrayLike,
    labels: npt.ArrayLike,
    names: Sequence[str],
    kinds: Sequence[str] | npt.NDArray[np.str_] | None = None,
    scripts: Sequence[str] | npt.NDArray[np.str_] | None = None,
    zipf: npt.ArrayLike | None = None,
    count: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
    lists: Sequence[WordList] = (),
) -> dict[int, Evidence]:
    """Evidence for every cluster at once.

    Parameters
    ----------
    vectors : (n, d) float32
        The rows as they were clustered.
    labels : (n,) int
        Noise (-1) gets no evidence.
    names, kinds, scripts, zipf : n values each
        Columns of the space; without one, its traits are left out.
    count : int
        Words kept as nearest and as edge.
    seed : int
        Seed of the silhouette's sample.
    progress : Progress, optional
    lists : sequence of WordList
        By which words are known as months, prepositions and the like.

    Returns
    -------
    dict cluster -> Evidence, by cluster number
    """
    progress = progress or Silent()
    rows = np.asarray(vectors)
    groups = np.asarray(labels, dtype=np.int64)
    ids = _cluster_ids(groups)
    if not ids:
        return {}
    centers = centroids(rows, groups, ids)
    distances = _distances(rows, groups, ids, centers, progress)
    silhouettes = cluster_silhouettes(rows, groups, seed=seed)
    traits = Traits(names, kinds, scripts, zipf, lists)
    out: dict[int, Evidence] = {}
    for row, cluster in enumerate(ids):
        progress.check()
        members = np.flatnonzero(groups == cluster)
        order = members[np.argsort(distances.own[members], kind="stable")[:count]]
        shared = traits.of(members)
        out[cluster] = Evidence(
            size=len(members),
            nearest=tuple(order.tolist()),
            edge=tuple(_edge(distances, members, len(ids), count).tolist()),
            traits=shared,
            next_clusters=tuple((ids[i], d) for i, d in nearest_clusters(centers, row)),
            silhouette=silhouettes[cluster],
            suggestions=suggestions(shared, [names[i] for i in order.tolist()]),
        )
    return out


def _cluster_ids(groups: IntArray) -> list[int]:
    return [int(c) for c in np.unique(groups) if c >= 0]


def _distances(
    rows: npt.NDArray[np.float32], groups: IntArray, ids: list[int], centers: Float64Array, progress: Progress
) -> _Distances:
    own = np.full(len(rows), np.nan)
    margin = np.full(len(rows), np.nan)
    column = np.searchsorted(ids, groups)
    step = max(1, _BLOCK_VALUES // max(rows.shape[1], len(ids)))
    clustered = np.flatnonzero(groups >= 0)
    # The distance shown and ordered by is direct; for the margin to the next centroid the Gram matrix will
    # do, in float64 and from a common middle: what it loses is far below what anyone sees.
    middle = centers.mean(axis=0)
    moved = centers - middle
    lengths = (moved * moved).sum(axis=1)
    for start in range(0, len(clustered), step):
        progress.check()
        at = clustered[start : start + step]
        block = rows[at] - middle
        squared = np.einsum("ij,ij->i", block, block)[:, None] + lengths - 2.0 * (block @ moved.T)
        to_all = np.sqrt(np.maximum(squared, 0.0))
        here = np.arange(len(at))
        own[at] = np.sqrt(((rows[at] - centers[column[at]]) ** 2).sum(axis=1))
        to_all[here, column[at]] = np.inf
        margin[at] = to_all.min(axis=1) - own[at]
    return _Distances(own, margin)


def _edge(distances: _Distances, members: IntArray, clusters: int, count: int) -> IntArray:
    doubt = distances.margin[members] if clusters > 1 else -distances.own[members]
    return members[np.argsort(doubt, kind="stable")[:count]]
