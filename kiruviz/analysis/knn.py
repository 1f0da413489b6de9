"""The graph of each row's nearest rows, exact: what UMAP and graph clusterers stand on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.projection import GRAPH_METRICS, GraphMetric
from kiruviz.errors import UserError
from kiruviz.progress import Progress, Silent
from kiruviz.space import FloatArray

IntArray = npt.NDArray[np.int64]

_SCORE_VALUES = 32_000_000  # scores held at once: 128 MB in float32
_BLOCK_FLOPS = 2e10  # work per block: about 0.2 s on two cores, so that a cancel is heard
_DIFFERENCE_VALUES = 1_000_000  # values of the differences held at once when candidates are scored again
_UNIT_ROUNDOFF = 2.0**-24


@dataclass(frozen=True, eq=False)
class Knn:
    """Nearest rows of every row, the row itself first (umap-learn's convention).

    Attributes
    ----------
    indices : (n, k) int32
    distances : (n, k) float32
        Ascending; equal distances are ordered by index.
    """

    indices: npt.NDArray[np.int32]
    distances: FloatArray


@dataclass(frozen=True, eq=False)
class _Points:
    """Rows made ready: closeness of rows i and j is `left[i] @ right[j]`, larger is nearer.

    `rows` are what distances are taken from directly; `slack` covers the rounding of a row's closenesses.
    """

    rows: FloatArray
    left: FloatArray
    right: FloatArray
    slack: FloatArray


@dataclass(frozen=True, eq=False)
class _Scratch:
    """Memory used again for each block: taking it anew would cost as much as the passes over it."""

    closeness: FloatArray
    mask: npt.NDArray[np.bool_]


def knn_graph(vectors: npt.ArrayLike, k: int, metric: GraphMetric = "cosine", progress: Progress | None = None) -> Knn:
    """Exact k nearest neighbours of every row, the row itself included as the first.

    Candidates come from blocks of a float32 matrix product, with a margin for its rounding; their distances
    are then found again from differences of rows, so that duplicates are at 0 and nothing is negative. Where
    more rows than a few times k lie within rounding of the k-th distance (great piles of duplicates), those
    with the lowest indices among equal products are taken.

    Parameters
    ----------
    vectors : (n, d) float32, finite
    k : int
        Columns wanted, at least 1; there are at most n.
    metric : {"cosine", "euclidean"}
        Cosine distance is 1 - cos, in [0, 2]. A zero row has no cosine: it is at distance 1 from all others.
    progress : Progress, optional

    Returns
    -------
    Knn

    Raises
    ------
    UserError
        k below 1, an unknown metric, or rows that are not finite.
    """
    progress = progress or Silent()
    rows = np.asarray(vectors, dtype=np.float32)
    if k < 1:
        raise UserError(f"The number of neighbours must be at least 1, not {k}.")
    if metric not in GRAPH_METRICS:
        raise UserError(f"The metric must be cosine or euclidean for a neighbour graph, not {metric!r}.")
    if not np.isfinite(rows).all():
        raise UserError("The rows hold values that are not finite; leave those rows out.")
    n = len(rows)
    others = min(k, n) - 1
    indices = np.zeros((n, others + 1), dtype=np.int32)
    distances = np.zeros((n, others + 1), dtype=np.float32)
    indices[:, 0] = np.arange(n)
    if others < 1:
        return Knn(indices, distances)
    points, undefined, scale = _prepare(rows, metric)
    step = _block_rows(n, rows.shape[1])
    scratch = _Scratch(np.empty((step, n), np.float32), np.empty((step, n), np.bool_))
    for start in range(0, n, step):
        progress.report(start / n, f"Neighbours of row {start:,} of {n:,}")
        stop = min(start + step, n)
        at, columns = _candidates(points, start, stop, others, scratch)
        squared = _squared_distances(points.rows, start, at, columns)
        if metric == "cosine":
            # For unit rows, 1 - cos is half the squared distance, without the cancellation.
            found = np.minimum(squared / 2, 2)
            found[undefined[columns]] = 1
        else:
            found = np.sqrt(squared) * scale
        columns, found = _first_of_each(at, columns, found, others)
        indices[start:stop, 1:] = columns.reshape(-1, others)
        distances[start:stop, 1:] = found.reshape(-1, others)
    _fill_undefined(indices, distances, np.flatnonzero(undefined))
    return Knn(indices, distances)


def _block_rows(n: int, width: int) -> int:
    return max(16, min(n, _SCORE_VALUES // n, int(_BLOCK_FLOPS / (2.0 * n * max(width, 1)))))


def _prepare(rows: FloatArray, metric: GraphMetric) -> tuple[_Points, npt.NDArray[np.bool_], np.float32]:
    """Rows ready for products; which of them have no direction; and the factor taken out of distances."""
    relative = 2.0 * (rows.shape[1] + 8) * _UNIT_ROUNDOFF
    # Brought to size one, so that no square leaves the range of float32.
    largest = np.abs(rows).max(initial=0.0) or np.float32(1.0)
    if metric == "cosine":
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
        undefined = lengths == 0.0
        lengths[undefined] = 1.0
        unit = (rows / lengths[:, None]).astype(np.float32)
        return _Points(unit, unit, unit, np.full(len(rows), relative, np.float32)), undefined, np.float32(1)
    scaled = rows / largest
    # Distances do not mind the centre, and the product rounds least about it. With h = |y|^2 / 2,
    # x @ y - h orders by distance from x; the column of ones makes it one product.
    centred = scaled - scaled.mean(axis=0, dtype=np.float64).astype(np.float32)
    half = np.einsum("ij,ij->i", centred, centred) / 2
    left = np.column_stack([centred, np.ones(len(rows), np.float32)])
    right = np.column_stack([centred, -half])
    farthest = np.sqrt(2 * half.max())
    slack = relative * (np.sqrt(2 * half) * farthest + half.max())
    return _Points(scaled, left, right, slack.astype(np.float32)), np.zeros(len(rows), bool), largest


def _candidates(points: _Points, start: int, stop: int, others: int, scratch: _Scratch) -> tuple[IntArray, IntArray]:
    """Pairs (row within the block, column) that hold each row's nearest others, by row."""
    closeness, mask = scratch.closeness[: stop - start], scratch.mask[: stop - start]
    np.matmul(points.left[start:stop], points.right.T, out=closeness)
    closeness[np.arange(stop - start), np.arange(start, stop)] = -np.inf
    bound = _kth_at_least(closeness, others) - points.slack[start:stop]
    np.greater_equal(closeness, bound[:, None], out=mask)
    limit = 4 * others + 256
    for row in np.flatnonzero(np.count_nonzero(mask, axis=1) > limit):
        mask[row] = _best_in_row(closeness[row], limit)
    at, columns = np.divmod(np.flatnonzero(mask), mask.shape[1])
    return at, columns


def _kth_at_least(closeness: FloatArray, others: int) -> FloatArray:
    """A bound that at least `others` columns of each row reach, (rows,).

    The `others`-th largest of the maxima of disjoint groups of columns: a few fast passes, where selecting
    among all columns would take as long as the product.
    """
    rows, n = closeness.shape
    groups = max(4 * others, 512)
    depth = n // groups
    maxima = closeness
    if depth >= 2:
        maxima = closeness[:, : depth * groups].reshape(rows, depth, groups).max(axis=1)
    at = maxima.shape[1] - others
    return np.asarray(np.partition(maxima, at, axis=1)[:, at], dtype=np.float32)


def _best_in_row(closeness: FloatArray, limit: int) -> npt.NDArray[np.bool_]:
    """The `limit` closest columns, the lowest among equals."""
    cut = np.partition(closeness, len(closeness) - limit)[len(closeness) - limit]
    chosen = closeness > cut
    ties = np.flatnonzero(closeness == cut)
    chosen[ties[: limit - np.count_nonzero(chosen)]] = True
    return np.asarray(chosen)


def _squared_distances(rows: FloatArray, start: int, at: IntArray, columns: IntArray) -> FloatArray:
    out = np.empty(len(at), dtype=np.float32)
    step = max(1, _DIFFERENCE_VALUES // max(rows.shape[1], 1))
    for begin in range(0, len(at), step):
        part = slice(begin, begin + step)
        difference = rows[start + at[part]] - rows[columns[part]]
        out[part] = np.einsum("ij,ij->i", difference, difference)
    return out


def _first_of_each(at: IntArray, columns: IntArray, distances: FloatArray, others: int) -> tuple[IntArray, FloatArray]:
    """The `others` nearest of each row by (distance, index), flat, in the order of the rows."""
    order = np.lexsort((columns, distances, at))
    starts = np.searchsorted(at, np.arange(at[-1] + 1))
    wanted = order[(starts[:, None] + np.arange(others)).ravel()]
    return columns[wanted], distances[wanted]


def _fill_undefined(indices: npt.NDArray[np.int32], distances: FloatArray, zero_rows: IntArray) -> None:
    """Zero rows under cosine: all others are at distance 1, so the first ones by index are nearest."""
    others = indices.shape[1] - 1
    first = np.arange(others + 1)
    for row in zero_rows:
        indices[row, 1:] = first[first != row][:others]
        distances[row, 1:] = 1.0
