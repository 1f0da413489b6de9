"""Names given to clusters carry over to a new clustering by the rows the clusters share."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.row_match import RowNames, match_rows

# Added to the weight of a cluster that has an answer: it decides ties, and is below any difference of overlaps.
_TIE = 1e-11


@dataclass(frozen=True)
class Carried:
    """One old cluster that lives on: its `new` number, its `old` number and their overlap."""

    new: int
    old: int
    jaccard: float


@dataclass(frozen=True)
class CarryOver:
    """How old clusters continue in a new clustering.

    Attributes
    ----------
    mapping : dict
        New cluster -> old cluster.
    carried : tuple of Carried
        The same with the overlaps, ordered by new cluster.
    dropped : tuple of int
        Old clusters that no new cluster continues; their names must not be thrown away by the caller.
    """

    mapping: dict[int, int]
    carried: tuple[Carried, ...]
    dropped: tuple[int, ...]


def carry_over(
    old_rows: RowNames | Sequence[str],
    old_assignment: npt.ArrayLike,
    new_rows: RowNames | Sequence[str],
    new_assignment: npt.ArrayLike,
    min_jaccard: float = 0.25,
    answered: Collection[int] = (),
) -> CarryOver:
    """Match old clusters with new ones, each at most once, by the overlap of their rows.

    Overlap is Jaccard's over the rows that both clusterings have (`row_match.match_rows`), so that added or
    removed rows count for nothing. The matching is the optimal one-to-one assignment
    (`scipy.optimize.linear_sum_assignment`), in which a pair at least half alike outweighs all smaller overlaps
    together. Above one half no third cluster can be as close to either, so such a name is always carried. Pairs
    below `min_jaccard` never are.

    Parameters
    ----------
    old_rows, new_rows : RowNames, or just the rows' names
    old_assignment, new_assignment : (n,) int
        Cluster of each row; noise (-1) is in no cluster.
    min_jaccard : float
        The least overlap that carries a name.
    answered : collection of int
        Old clusters that come before others in a tie: those a person has named.

    Returns
    -------
    CarryOver
    """
    old = np.asarray(old_assignment, dtype=np.int64)
    new = np.asarray(new_assignment, dtype=np.int64)
    before = old_rows if isinstance(old_rows, RowNames) else RowNames(old_rows)
    after = new_rows if isinstance(new_rows, RowNames) else RowNames(new_rows)
    if len(old) != len(before) or len(new) != len(after):
        raise ValueError("every row needs a name and a cluster")
    old_ids = [int(c) for c in np.unique(old[old >= 0])]
    new_ids = [int(c) for c in np.unique(new[new >= 0])]
    if not old_ids or not new_ids:
        return CarryOver({}, (), tuple(old_ids))
    places_before, places_after = match_rows(before, after)
    overlap = overlaps(old[places_before], new[places_after], old_ids, new_ids)
    first = np.isin(old_ids, list(answered))
    carried = [Carried(new_ids[j], old_ids[i], float(overlap[i, j])) for i, j in _match(overlap, min_jaccard, first)]
    carried.sort(key=lambda c: c.new)
    kept = {c.old for c in carried}
    return CarryOver({c.new: c.old for c in carried}, tuple(carried), tuple(c for c in old_ids if c not in kept))


def overlaps(
    was: npt.NDArray[np.int64], now: npt.NDArray[np.int64], old_ids: Sequence[int], new_ids: Sequence[int]
) -> npt.NDArray[np.float64]:
    """Jaccard overlap of each old with each new cluster, (old, new), over rows of which both clusters are known.

    was, now          (m,) the old and the new cluster of each row, -1 for none
    old_ids, new_ids  ascending; all that occur
    """
    both = np.zeros((len(old_ids), len(new_ids)))
    in_both = (was >= 0) & (now >= 0)
    np.add.at(both, (np.searchsorted(old_ids, was[in_both]), np.searchsorted(new_ids, now[in_both])), 1.0)
    old_sizes = np.bincount(np.searchsorted(old_ids, was[was >= 0]), minlength=len(old_ids))
    new_sizes = np.bincount(np.searchsorted(new_ids, now[now >= 0]), minlength=len(new_ids))
    union = old_sizes[:, None] + new_sizes[None, :] - both
    return np.asarray(np.divide(both, union, out=np.zeros_like(both), where=union > 0))


def _match(overlap: npt.NDArray[np.float64], min_jaccard: float, first: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    from scipy.optimize import linear_sum_assignment

    # A sum of many small overlaps must not break up a pair that is half alike, so these weigh more than
    # all others together; and a pair too small to be carried must not weigh at all.
    weight = np.where(overlap >= max(min_jaccard, np.finfo(float).tiny), overlap, 0.0)
    weight = np.where(overlap >= 0.5, weight + min(overlap.shape), weight)
    weight = np.where((weight > 0.0) & first[:, None], weight + _TIE, weight)
    rows, columns = linear_sum_assignment(weight, maximize=True)
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if weight[i, j] > 0.0]
