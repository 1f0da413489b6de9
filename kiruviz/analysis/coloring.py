"""Which colour each cluster gets: neighbours on the map differ, to colour-blind people as well.

A few dozen colours are all that can be told apart at once, so hundreds of clusters share them: what matters is that
those seen side by side differ. Clusters are neighbours where their centres are near or their points touch; each is
given the colour that differs most from its neighbours', and this is repeated until nothing gets better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz import palette
from kiruviz.analysis.color_difference import VISIONS, ciede2000, lab

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

# Up to here every cluster has a colour of its own, in order: they all can be told apart.
IN_ORDER = 8
# Beyond this many, colours are given in order: it would take long, and nobody sees them all.
MOST_CLUSTERS = 2000
# CIEDE2000 that neighbours should have at least, in each vision.
WANTED = {"normal": 10.0, "deuteranopia": 7.0, "protanopia": 7.0}

# How much of that is asked of two clusters: next to each other; seen together; not far from each other.
_NEXT, _TOGETHER, _NEAR = 1.08, 0.8, 0.5  # the first a little more than all, so that all is reached
_NEXT_CENTRES = 6
_IN_VIEW = 12  # so many clusters are seen together at a close look
_NEAR_CENTRES = 20
_LOOKS = 20_000  # places on the map at which is looked
_TOUCHING = 0.08  # share of a cluster's neighbouring points from which another one is next to it
_MOST_POINTS = 60_000  # of which touching is told; of more, every n-th
_WEIGHT = 8.0  # how much more it costs where more is asked: a power of what is asked
_SAME = 3.0  # what it costs besides to give two neighbours one colour
_PER_NUMBER = 2e-4  # what a colour costs for each one before it in the palette
_MOST_MOVES = 3000
_REST = 25  # moves for which a cluster is left alone after one


@lru_cache(maxsize=1)
def _seen() -> tuple[tuple[Array, float], ...]:
    """The palette's Lab on each ground and in each vision, and the difference wanted there."""
    grounds: tuple[palette.Ground, ...] = ("dark", "light")
    return tuple(
        (lab([palette.cluster_color(i, ground) for i in range(palette.COUNT)], vision), WANTED[vision])
        for ground in grounds
        for vision in VISIONS
    )


def shares_of(numbers: Sequence[int]) -> Array:
    """(n, COUNT) how far these colours are from all of the palette, as a share of what is wanted: the least of both
    grounds and all visions. 0 for a colour with itself."""
    chosen = list(numbers)
    found = [ciede2000(seen[chosen, None, :], seen[None, :, :]) / wanted for seen, wanted in _seen()]
    return np.asarray(np.min(found, axis=0))


def color_clusters(
    coords: npt.NDArray[np.floating[Any]],
    assignment: npt.NDArray[np.integer[Any]],
    fixed: Mapping[int, int],
    check: Callable[[], None] = lambda: None,
) -> dict[int, int]:
    """The palette's number for each cluster that has none yet; 300 clusters take about a second.

    coords      (n, 2) where the rows lie on the map
    assignment  (n,) cluster ids, -1 for noise
    fixed       cluster id -> the colour it keeps
    check       called now and then; what it raises ends the search

    The same for the same input. Up to `IN_ORDER` clusters have the first colours that are free, in order.
    """
    ids = np.unique(assignment[assignment >= 0]).astype(np.int64)
    waiting = [int(i) for i in ids if int(i) not in fixed]
    if not IN_ORDER < len(ids) <= MOST_CLUSTERS:
        return dict(zip(waiting, _free(fixed.values(), len(waiting)), strict=True))
    demand = neighbor_demand(coords, assignment, ids)
    colors = np.array([palette.color_number(fixed[int(i)]) if int(i) in fixed else -1 for i in ids])
    movable = np.flatnonzero([int(i) not in fixed for i in ids])
    search = _Search(demand, colors, movable)
    search.fill()
    search.improve(check)
    return {int(ids[place]): int(search.colors[place]) for place in movable}


def colors_beside(
    coords: npt.NDArray[np.floating[Any]],
    assignment: npt.NDArray[np.integer[Any]],
    colors: Mapping[int, int],
    rows: npt.NDArray[np.integer[Any]],
    number: int = 1,
) -> list[int]:
    """Colours for `number` more clusters made of `rows`, one after the other unlike those near and each other.

    coords, assignment  (n, 2) and (n,), as in `color_clusters`
    colors              cluster id -> its colour, for all clusters there are
    """
    used = list(colors.values())
    near = [colors[i] for i in _clusters_near(coords, assignment, rows) if i in colors]
    found: list[int] = []
    for _ in range(number):
        found.append(pick_color([*reversed(found), *near][:_IN_VIEW], [*used, *found]))
    return found


def _clusters_near(
    coords: npt.NDArray[np.floating[Any]],
    assignment: npt.NDArray[np.integer[Any]],
    rows: npt.NDArray[np.integer[Any]],
) -> list[int]:
    """The clusters whose mean place is nearest to that of `rows`, nearest first."""
    members = np.flatnonzero(assignment >= 0)
    owners = assignment[members]
    counts = np.bincount(owners)
    ids = np.flatnonzero(counts)
    places = [np.bincount(owners, coords[members, axis])[ids] / counts[ids] for axis in (0, 1)]
    middle = coords[rows].mean(axis=0)
    apart = np.hypot(places[0] - middle[0], places[1] - middle[1])
    return [int(i) for i in ids[np.argsort(apart, kind="stable")[:_IN_VIEW]]]


def pick_color(near: Sequence[int], used: Sequence[int]) -> int:
    """The colour for one more cluster beside those coloured `near`, nearest first; `used` are all in use.

    The smallest free one while there are few clusters, else one that differs from those near: a free one up to
    `palette.ALL_DIFFERENT` clusters.
    """
    free = _free(used, 1)[0]
    if free < IN_ORDER or not near:
        return free
    shares = shares_of([palette.color_number(color) for color in near])
    cost = _cost(shares[:_NEXT_CENTRES], _NEXT).sum(axis=0) + _cost(shares[_NEXT_CENTRES:], _TOGETHER).sum(axis=0)
    if len(used) < palette.ALL_DIFFERENT:
        cost[[palette.color_number(color) for color in used]] += _SAME
    return int(np.argmin(cost + _PER_NUMBER * np.arange(palette.COUNT)))


def _free(used: Any, number: int) -> list[int]:
    """The smallest numbers not in use."""
    taken = set(used)
    return [color for color in range(len(taken) + number) if color not in taken][:number]


def _cost(shares: Array, demand: float) -> Array:
    """What it costs to give two neighbours colours so far apart: nothing from `demand` of the wanted difference on, the
    more the less they differ."""
    short = np.maximum(0.0, 1.0 - shares / demand)
    same = np.where(shares < 1e-9, _SAME, 0.0)
    return np.asarray((short**2 + 0.02 * short + same) * demand**_WEIGHT)


@lru_cache(maxsize=4)
def _costs(demand: float) -> Array:
    """(COUNT, COUNT) `_cost` of any two colours."""
    return _cost(shares_of(range(palette.COUNT)), demand)


class _Search:
    """Colours being given to clusters so that neighbours cost least together.

    colors  (c,) the palette's numbers, -1 where there is none yet; those not in `movable` stay
    costs   (c, COUNT) what each colour would cost each cluster now
    """

    def __init__(self, demand: Array, colors: Ids, movable: Ids) -> None:
        self.colors = colors
        self._movable = movable
        self._neighbors = demand > 0
        self._levels = [(level, demand == level) for level in (_NEXT, _TOGETHER, _NEAR)]
        self._costs = np.tile(_PER_NUMBER * np.arange(palette.COUNT), (len(colors), 1))
        for place in np.flatnonzero(colors >= 0):
            self._tell(int(place), 1)

    def _tell(self, place: int, sign: int) -> None:
        """Let the neighbours of `place` know that it has, or no longer has, its colour."""
        for level, mask in self._levels:
            self._costs[mask[place]] += sign * _costs(level)[:, self.colors[place]]

    def fill(self) -> None:
        """A colour for each that has none, those with most coloured neighbours first."""
        waiting = self._movable.tolist()
        while waiting:
            coloured = (self._neighbors[waiting] & (self.colors >= 0)).sum(axis=1)
            place = waiting.pop(int(np.argmax(coloured)))
            self.colors[place] = int(np.argmin(self._costs[place]))
            self._tell(place, 1)

    def improve(self, check: Callable[[], None]) -> None:
        """The best single change again and again, with a rest for what was just changed, so that the search leaves
        dead ends (tabu search; Hertz & de Werra 1987 for colouring graphs); the best it came by is kept."""
        movable = self._movable
        best, least = self.colors.copy(), np.inf
        rest = np.zeros(len(self.colors), np.int64)
        for move in range(_MOST_MOVES if len(movable) else 0):
            check()
            now = self._costs[movable, self.colors[movable]]
            if float(now.sum()) < least - 1e-9:
                best, least = self.colors.copy(), float(now.sum())
            gain = np.where(rest[movable] > move, np.inf, self._costs[movable].min(axis=1) - now)
            place = int(movable[np.argmin(gain)])
            others = self._costs[place].copy()
            others[self.colors[place]] = np.inf
            self._tell(place, -1)
            self.colors[place] = int(np.argmin(others))
            self._tell(place, 1)
            rest[place] = move + _REST
        self.colors = best


def neighbor_demand(coords: npt.NDArray[np.floating[Any]], assignment: npt.NDArray[np.integer[Any]], ids: Ids) -> Array:
    """(c, c) how much of the wanted difference is asked of two clusters, 0 where they are no neighbours."""
    centres = cluster_centres(coords, assignment, ids)
    apart = np.linalg.norm(centres[:, None, :] - centres[None, :, :], axis=2)
    np.fill_diagonal(apart, -1.0)
    rank = apart.argsort(axis=1, kind="stable").argsort(axis=1)  # 0 is the cluster itself
    demand = np.where((rank <= _NEAR_CENTRES) | (len(ids) <= palette.ALL_DIFFERENT), _NEAR, 0.0)
    demand[_seen_together(coords, centres)] = _TOGETHER
    demand[rank <= _NEXT_CENTRES] = _NEXT
    for one, other in delaunay_edges(centres):
        demand[one, other] = _NEXT
    demand[_touching(coords, assignment, ids)] = _NEXT
    demand = np.maximum(demand, demand.T)
    np.fill_diagonal(demand, 0.0)
    return demand


def _seen_together(coords: npt.NDArray[np.floating[Any]], centres: Array) -> npt.NDArray[np.bool_]:
    """(c, c) which clusters are among the `_IN_VIEW` nearest to one place of the map."""
    from scipy.spatial import cKDTree

    looks = np.concatenate([coords[:: max(1, len(coords) // _LOOKS)], centres])
    _, near = cKDTree(centres).query(looks, k=min(_IN_VIEW, len(centres)))
    together = np.zeros((len(centres), len(centres)), bool)
    for i in range(near.shape[1]):
        for j in range(near.shape[1]):
            together[near[:, i], near[:, j]] = True
    return together


def cluster_centres(coords: npt.NDArray[np.floating[Any]], assignment: npt.NDArray[np.integer[Any]], ids: Ids) -> Array:
    """(c, 2) the median place of each cluster's rows."""
    order = np.argsort(assignment, kind="stable")
    starts = np.searchsorted(assignment[order], ids)
    ends = np.searchsorted(assignment[order], ids, side="right")
    spans = zip(starts, ends, strict=True)
    return np.array([np.median(coords[order[start:end]], axis=0) for start, end in spans], np.float64)


def delaunay_edges(places: Array) -> Ids:
    """(m, 2) pairs of (c, 2) places that share an edge of their Delaunay triangulation; none where there is none."""
    from scipy.spatial import Delaunay, QhullError

    if len(places) < 4:
        return np.zeros((0, 2), np.int64)
    try:
        corners = Delaunay(places).simplices
    except QhullError:  # all on one line
        return np.zeros((0, 2), np.int64)
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    return np.unique(np.sort(edges, axis=1), axis=0).astype(np.int64)


def _touching(
    coords: npt.NDArray[np.floating[Any]], assignment: npt.NDArray[np.integer[Any]], ids: Ids
) -> npt.NDArray[np.bool_]:
    """(c, c) where many of one cluster's points have points of the other beside them: clusters that lie through each
    other have centres that say little."""
    from scipy.spatial import cKDTree

    step = max(1, -(-len(coords) // _MOST_POINTS))
    rows = np.flatnonzero(assignment >= 0)[::step]
    _, beside = cKDTree(coords[rows]).query(coords[rows], k=min(7, len(rows)))
    owners = np.searchsorted(ids, assignment[rows])
    pairs = owners[:, None] * len(ids) + owners[beside[:, 1:]]
    counts = np.bincount(pairs.ravel(), minlength=len(ids) ** 2).reshape(len(ids), len(ids)).astype(np.float64)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return np.asarray(share >= _TOUCHING)
