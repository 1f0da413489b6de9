"""Nearest rows of a whole table, exact.

Candidates are found with a float32 matrix product, kept with a margin that covers its rounding, and then
scored again directly in float64: what is shown never went through the Gram matrix.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.knn import Knn, knn_graph
from kiruviz.errors import UserError
from kiruviz.progress import Progress, Silent
from kiruviz.space import METRICS, FloatArray, IntArray, Metric

__all__ = ["Knn", "knn_graph", "nearest", "nearest_many", "score_rows"]

Float64Array = npt.NDArray[np.float64]

_BLOCK_VALUES = 500_000  # values per row block of the table: what a processor's cache holds
_SCORE_VALUES = 32_000_000  # scores held at once: 128 MB in float32
_UNIT_ROUNDOFF = 2.0**-24


def nearest(
    table: FloatArray,
    query: npt.ArrayLike,
    metric: Metric,
    k: int,
    exclude: Collection[int] = (),
    keep: npt.NDArray[np.bool_] | None = None,
    progress: Progress | None = None,
) -> tuple[IntArray, Float64Array]:
    """The k nearest rows of a table to one vector.

    Parameters
    ----------
    table : (V, d) float32
    query : (d,)
    metric : {"cosine", "euclidean", "dot"}
        Cosine similarity and dot product count down, Euclidean distance counts up.
    k : int
        At least 1.
    exclude : collection of int
        Row ids that are never returned (usually the query's own row).
    keep : (V,) bool, optional
        Rows that may be returned; rows that are not finite never are.
    progress : Progress, optional

    Returns
    -------
    ids : (k',) int64
        k' is smaller than k where the table has no more rows. Equal scores are ordered by id.
    scores : (k',) float64

    Raises
    ------
    UserError
        k below 1, an unknown metric, a query of another width, or a query without a direction under cosine.
    """
    vector = np.asarray(query, dtype=np.float64)
    if metric == "cosine" and not np.any(vector):
        raise UserError("The cosine of a row that is all zeros is undefined; choose Euclidean or dot.")
    ids, scores = nearest_many(table, vector[None, :], metric, k, [exclude], keep, progress)
    found = ids[0] >= 0
    return ids[0][found], scores[0][found]


def nearest_many(
    table: FloatArray,
    queries: npt.ArrayLike,
    metric: Metric,
    k: int,
    exclude: Sequence[Collection[int]] | None = None,
    keep: npt.NDArray[np.bool_] | None = None,
    progress: Progress | None = None,
) -> tuple[IntArray, Float64Array]:
    """The k nearest rows of a table to each of several vectors.

    Parameters
    ----------
    table, metric, k, keep, progress
        As in `nearest`.
    queries : (m, d)
    exclude : sequence of m collections of int, optional
        For each query, the row ids that are never returned.

    Returns
    -------
    ids : (m, k) int64
        -1 where a query has fewer than k neighbours (all of them for a zero query under cosine).
    scores : (m, k) float64
        NaN where the id is -1.

    Raises
    ------
    UserError
        As in `nearest`, except that a zero query under cosine is answered with -1.
    """
    progress = progress or Silent()
    vectors = np.asarray(queries, dtype=np.float64)
    _check(table, vectors, metric, k)
    squared = _squared_lengths(table, progress)
    usable = np.isfinite(squared)
    if keep is not None:
        usable &= keep
    if metric == "cosine":
        usable &= squared > 0.0
    ids = np.full((len(vectors), k), -1, dtype=np.int64)
    scores = np.full((len(vectors), k), np.nan)
    step = max(1, _SCORE_VALUES // max(len(table), 1))
    for start in range(0, len(vectors), step):
        products = _products(table, vectors[start : start + step], progress)
        for offset, row_products in enumerate(products):
            progress.check()
            at = start + offset
            allowed = usable
            if exclude is not None and len(exclude[at]):
                allowed = usable.copy()
                allowed[np.fromiter(exclude[at], dtype=np.int64)] = False
            found, found_scores = _best(table, vectors[at], row_products, squared, metric, k, allowed)
            ids[at, : len(found)] = found
            scores[at, : len(found)] = found_scores
    return ids, scores


def score_rows(rows: npt.ArrayLike, query: Float64Array, metric: Metric) -> Float64Array:
    """Score rows against one vector directly in float64.

    Parameters
    ----------
    rows : (m, d)
        Under cosine, none of zero length.
    query : (d,) float64
    metric : {"cosine", "euclidean", "dot"}

    Returns
    -------
    (m,) float64. Equal rows get equal bits: each row is summed on its own, whatever stands beside it.
    """
    wide = np.asarray(rows, dtype=np.float64)
    if metric == "euclidean":
        difference = wide - query
        return np.asarray(np.sqrt((difference * difference).sum(axis=1)))
    dots: Float64Array = (wide * query).sum(axis=1)
    if metric == "dot":
        return dots
    lengths = np.sqrt((wide * wide).sum(axis=1)) * np.sqrt((query * query).sum())
    return np.asarray(np.clip(dots / lengths, -1.0, 1.0), dtype=np.float64)


def _check(table: FloatArray, vectors: Float64Array, metric: Metric, k: int) -> None:
    if metric not in METRICS:
        raise UserError(f"The metric must be one of {', '.join(METRICS)}, not {metric!r}.")
    if k < 1:
        raise UserError(f"The number of neighbours must be at least 1, not {k}.")
    if vectors.ndim != 2 or vectors.shape[1] != table.shape[1]:
        raise UserError(f"The query has {vectors.shape[-1]} numbers, but the rows of the table have {table.shape[1]}.")
    if not np.isfinite(vectors).all():
        raise UserError("The query holds a number that is not finite; choose another row.")


def _row_step(table: FloatArray) -> int:
    return max(1, _BLOCK_VALUES // max(int(table.shape[1]), 1))


def _squared_lengths(table: FloatArray, progress: Progress) -> Float64Array:
    """Squared lengths in float64 (float32 would lose very small and very large rows), (V,)."""
    out = np.empty(len(table))
    step = _row_step(table)
    for start in range(0, len(table), step):
        progress.check()
        block = table[start : start + step].astype(np.float64)
        out[start : start + step] = np.einsum("ij,ij->i", block, block)
    return out


def _products(table: FloatArray, vectors: Float64Array, progress: Progress) -> FloatArray:
    """Dot products of unit queries with all rows in float32, (m, V)."""
    lengths = np.sqrt((vectors * vectors).sum(axis=1))
    lengths[lengths == 0.0] = 1.0
    unit = (vectors / lengths[:, None]).astype(np.float32)
    out = np.empty((len(vectors), len(table)), dtype=np.float32)
    step = _row_step(table)
    # Rows that are not finite are never returned, so their products need not be quiet numbers.
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, len(table), step):
            progress.check()
            out[:, start : start + step] = unit @ table[start : start + step].T
    return out


def _best(
    table: FloatArray,
    query: Float64Array,
    products: FloatArray,
    squared: Float64Array,
    metric: Metric,
    k: int,
    allowed: npt.NDArray[np.bool_],
) -> tuple[IntArray, Float64Array]:
    rows = np.flatnonzero(allowed)
    query_length = float(np.sqrt((query * query).sum()))
    if len(rows) == 0 or (metric == "cosine" and query_length == 0.0):
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    cost, slack = _approximate_cost(products[rows].astype(np.float64), squared[rows], query_length, metric)
    slack *= 4.0 * (table.shape[1] + 8) * _UNIT_ROUNDOFF
    if k < len(rows):
        # Whatever could be among the k smallest costs, given the rounding of each, is a candidate.
        bound = np.partition(cost + slack, k - 1)[k - 1]
        rows = rows[cost - slack <= bound]
    scores = np.empty(len(rows))
    step = _row_step(table)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        scores[start : start + step] = score_rows(table[part], query, metric)
    order = np.lexsort((rows, scores if metric == "euclidean" else -scores))[:k]
    return rows[order], scores[order]


def _approximate_cost(
    products: Float64Array, squared: Float64Array, query_length: float, metric: Metric
) -> tuple[Float64Array, Float64Array]:
    """Costs (smaller is nearer) from products with the unit query, and the scale of their rounding."""
    lengths = np.sqrt(squared)
    if metric == "cosine":
        return -products / lengths, np.ones(len(lengths))
    if metric == "dot":
        # A common positive factor (the query's length) changes no order.
        return -products, lengths
    cost = squared - 2.0 * query_length * products
    return cost, squared + 2.0 * query_length * lengths
