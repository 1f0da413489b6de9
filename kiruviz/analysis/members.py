"""How far each row is from the middle of its cluster."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kiruviz.progress import Progress, Silent

_BLOCK_VALUES = 4_000_000


def centroid_distances(
    vectors: npt.ArrayLike, labels: npt.ArrayLike, progress: Progress | None = None
) -> npt.NDArray[np.float64]:
    """Euclidean distance of each row to the centroid of its cluster.

    Parameters
    ----------
    vectors : (n, d) float32
        The rows as they were clustered.
    labels : (n,) int
        Rows in no cluster (-1) get the distance to the nearest centroid there is.
    progress : Progress, optional

    Returns
    -------
    (n,) float64, in the unit of the vectors; NaN for rows in no cluster where there is no cluster at all
    """
    progress = progress or Silent()
    rows = np.asarray(vectors)
    groups = np.asarray(labels, dtype=np.int64)
    ids = np.unique(groups[groups >= 0])
    out = np.full(len(rows), np.nan)
    centers = np.zeros((len(ids), rows.shape[1]))
    for i, cluster in enumerate(ids):
        progress.check()
        members = np.flatnonzero(groups == cluster)
        centers[i] = rows[members].mean(axis=0, dtype=np.float64)
        step = max(1, _BLOCK_VALUES // max(rows.shape[1], 1))
        for start in range(0, len(members), step):
            at = members[start : start + step]
            out[at] = _lengths(rows[at] - centers[i])
    loose = np.flatnonzero(groups < 0)
    if len(ids):
        step = max(1, _BLOCK_VALUES // max(rows.shape[1], len(ids)))
        for start in range(0, len(loose), step):
            progress.check()
            at = loose[start : start + step]
            out[at] = _lengths(rows[at] - centers[_nearest(rows[at], centers)])
    return out


def _lengths(differences: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", differences, differences)))


def _nearest(rows: npt.NDArray[np.float32], centers: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """The nearest centre of each row. The Gram matrix, in float64 and from a common middle, will do to choose
    one; the distance itself is then taken directly."""
    middle = centers.mean(axis=0)
    moved = centers - middle
    squared = (moved * moved).sum(axis=1) - 2.0 * ((rows - middle) @ moved.T)
    return np.asarray(squared.argmin(axis=1))
