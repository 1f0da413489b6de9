"""Where labels go: words beside their points, cluster names over their clusters, none on top of another.

Everything is in one flat unit (pixels on screen, points on paper) with x to the right and **y downwards**.
A box is `(x0, y0, x1, y1)`. The live canvas calls this at every zoom, so the arithmetic on all candidate
boxes is vectorised and only the greedy choice is a Python loop, over a grid of the boxes already taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
ArrayLike = npt.ArrayLike
Box = tuple[float, float, float, float]
Span = list[int]

HIDDEN = -1
SIDES = ("right", "left", "above", "below", "upper right", "lower right", "upper left", "lower left")

# Where a label's centre lies from its point, in half sizes of the label: one row a side, in order of liking.
_DIRECTIONS = np.array([[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [1, 1], [-1, -1], [-1, 1]], dtype=np.float64)
_SIDE_COST = np.array([0.0, 0.6, 0.9, 1.0, 1.2, 1.3, 1.5, 1.6])
_COVER_COST = 2.0  # one covered point outweighs any side
_MOST_COVERED = 6  # beyond this many points a place is simply "crowded": distance decides again
_KEEP_BONUS = 1000.0  # a label that can stay where it was stays
_FINEST_GRID = 400  # cells a side of the table that counts covered points
_LINES = 12  # lines of the lattice of taken boxes that the lowest label spans
_MOST_LINES = 4096
_FIRST_PLACES = 16  # places near its anchor that a name tries quickly, before all others are compared
_BRUTE_FORCE = 256  # members up to which every distance is computed for the densest spot


@dataclass(frozen=True, eq=False)
class Placement:
    """Words placed beside their points.

    side   (m,) int8, an index into `SIDES`, or `HIDDEN` where no free place was found
    boxes  (m, 4) float64, NaN where hidden
    """

    side: npt.NDArray[np.int8]
    boxes: Array


@dataclass(frozen=True, eq=False)
class NamePlacement:
    """Cluster names placed over or next to their clusters.

    boxes   (c, 4) float64, NaN where not placed
    placed  (c,) bool; false only where the bounds have no room left for the name
    leader  (c,) bool; true where the name had to go so far that a line should lead back to its anchor
    """

    boxes: Array
    placed: npt.NDArray[np.bool_]
    leader: npt.NDArray[np.bool_]


class _Taken:
    """The boxes already taken, as one row of bits for every thin line of the picture.

    A line is a Python integer, so that "is anything between x0 and x1 taken on this line" is one `&`. A
    look-up need not try every line of a box, only its first, its last, and some between, no farther apart
    than the lowest taken box is high. Boxes are widened by half the padding and rounded outwards: what is
    free is free.
    """

    def __init__(self, bounds: Box, lowest: float, padding: float) -> None:
        extent = max(bounds[2] - bounds[0], bounds[3] - bounds[1], 1e-9)
        self._origin = np.array(bounds[:2])
        self._margin = padding / 2
        self._unit = max(lowest / _LINES, extent / _MOST_LINES)
        self._size = np.ceil((np.array(bounds[2:]) - self._origin) / self._unit).astype(np.int64)
        self._step = _LINES
        self._lines = [0] * (int(self._size[1]) + 2)

    def spans(self, boxes: Array) -> list[Any]:
        """Boxes `(..., 4)` on the lattice, as nested lists: left, top, and the excluded right and bottom."""
        low = np.floor((boxes[..., :2] - self._margin - self._origin) / self._unit)
        high = np.ceil((boxes[..., 2:] + self._margin - self._origin) / self._unit)
        # Outside the bounds nothing is ever asked, and bits cannot be negative.
        spans: list[Any] = (
            np.concatenate([np.clip(low, 0, self._size), np.clip(high, 0, self._size + 1)], axis=-1)
            .astype(np.int64)
            .tolist()
        )
        return spans

    def add(self, span: Span) -> None:
        left, top, right, bottom = span
        if right <= left or bottom <= top:
            return
        self._step = min(self._step, bottom - top)
        mask = ((1 << (right - left)) - 1) << left
        for line in range(top, bottom):
            self._lines[line] |= mask

    def free(self, span: Span) -> bool:
        left, top, right, bottom = span
        mask = ((1 << (right - left)) - 1) << left
        lines = self._lines
        if lines[top] & mask or lines[bottom - 1] & mask:
            return False
        # A plain loop: a generator would cost as much again as all of the look-up.
        for line in range(top + self._step, bottom - 1, self._step):  # noqa: SIM110
            if lines[line] & mask:
                return False
        return True


class Crowd:
    """How many points a box covers, from a table of sums: one look-up a box however many points there are.

    The count is exact to one cell of the table, which is enough for a preference. Making it takes milliseconds: one may
    serve several placements within the same bounds, in place of their `points`.
    """

    def __init__(self, points: ArrayLike | None, radius: float, bounds: Box) -> None:
        self._radius = radius
        self._origin = np.array(bounds[:2])
        extent = np.maximum(np.array(bounds[2:]) - self._origin, 1e-9)
        self._cell = float(extent.max()) / _FINEST_GRID
        self._shape = np.maximum(np.ceil(extent / self._cell).astype(np.int64), 1)
        self._sums: npt.NDArray[np.int32] | None = None
        if points is None:
            return
        cells = self._cells(_rows(points, 2))
        inside = np.all((cells >= 0) & (cells < self._shape), axis=1)
        flat = cells[inside, 1] * self._shape[0] + cells[inside, 0]
        counts = np.bincount(flat, minlength=int(self._shape.prod())).astype(np.int32)
        self._sums = np.zeros((self._shape[1] + 1, self._shape[0] + 1), dtype=np.int32)
        inner = self._sums[1:, 1:]
        np.cumsum(counts.reshape(self._shape[1], self._shape[0]), axis=0, out=inner)
        np.cumsum(inner, axis=1, out=inner)

    @classmethod
    def of(cls, points: ArrayLike | Crowd | None, radius: float, bounds: Box) -> Crowd:
        return points if isinstance(points, Crowd) else cls(points, radius, bounds)

    def _cells(self, xy: Array) -> npt.NDArray[np.int64]:
        # Far outside is as good as just outside, and fits an integer.
        scaled = np.clip((xy - self._origin) / self._cell, -1.0, float(self._shape.max()) + 1.0)
        cells: npt.NDArray[np.int64] = np.floor(scaled).astype(np.int64)
        return cells

    def covered(self, boxes: Array, own: Array | None = None) -> Array:
        """Points under each box `(..., 4)`, up to `_MOST_COVERED`, without its `own` point `(..., 2)`."""
        if self._sums is None:
            return np.zeros(boxes.shape[:-1])
        low = np.clip(self._cells(boxes[..., :2] - self._radius), 0, self._shape)
        high = np.clip(self._cells(boxes[..., 2:] + self._radius) + 1, 0, self._shape)
        high = np.maximum(low, high)
        s = self._sums
        count = (
            s[high[..., 1], high[..., 0]]
            - s[low[..., 1], high[..., 0]]
            - s[high[..., 1], low[..., 0]]
            + s[low[..., 1], low[..., 0]]
        )
        if own is not None:
            cell = self._cells(own)
            count = count - np.all((cell >= low) & (cell < high), axis=-1)
        covered: Array = np.clip(count, 0, _MOST_COVERED).astype(np.float64)
        return covered


def place(
    anchors: ArrayLike,
    sizes: ArrayLike,
    priority: ArrayLike,
    radius: ArrayLike,
    bounds: Box,
    obstacles: ArrayLike | None = None,
    points: ArrayLike | Crowd | None = None,
    point_radius: float = 0.0,
    previous: npt.NDArray[Any] | None = None,
    padding: float = 2.0,
    most_covered: int | None = None,
) -> Placement:
    """Put words beside their points, greedily by priority; what finds no free place is hidden.

    anchors       (m, 2) the points the words belong to; a word whose point is out of bounds is hidden
    sizes         (m, 2) widths and heights of the words
    priority      (m,) higher is placed first; equal ones in their order
    radius        scalar or (m,) distance of the word from the middle of its point
    bounds        the box all words must lie in
    obstacles     (b, 4) boxes that must stay free: names already placed, a tool bar
    points        (p, 2) drawn points of `point_radius`, or a `Crowd` of them; places that cover fewer are preferred
    previous      (m,) side each word had before, `HIDDEN` for none: kept where still free, so that words
                  do not hop about while a person zooms
    padding       free space between two words, and between a word and an obstacle
    most_covered  a word that would cover more points than this (up to 5) is hidden instead; None: never

    No two boxes of the result overlap each other or an obstacle.
    """
    anchor, size = _rows(anchors, 2), _rows(sizes, 2)
    side = np.full(len(anchor), HIDDEN, dtype=np.int8)
    boxes = np.full((len(anchor), 4), np.nan)
    if not len(anchor):
        return Placement(side, boxes)
    candidates = _candidates(anchor, size, np.broadcast_to(np.asarray(radius, dtype=np.float64), len(anchor)))
    covered = Crowd.of(points, point_radius, bounds).covered(candidates, anchor[:, None, :])
    cost = _SIDE_COST + _COVER_COST * covered
    if most_covered is not None:
        cost[covered > most_covered] = np.inf
    if previous is not None:
        had = np.flatnonzero(np.asarray(previous) >= 0)
        cost[had, np.asarray(previous)[had]] -= _KEEP_BONUS
    cost[~_within(candidates, bounds) | ~_contains(bounds, anchor)[:, None]] = np.inf
    taken = _Taken(bounds, float(size[:, 1].min()), padding)
    for span in taken.spans(_rows(() if obstacles is None else obstacles, 4)):
        taken.add(span)
    _choose(candidates, cost, np.asarray(priority), taken, side)
    shown = np.flatnonzero(side >= 0)
    boxes[shown] = candidates[shown, side[shown]]
    return Placement(side, boxes)


def _choose(
    candidates: Array,
    cost: Array,
    priority: npt.NDArray[Any],
    taken: _Taken,
    side: npt.NDArray[np.int8],
) -> None:
    """The greedy part of `place`: fills `side` (m,) in order of priority from `cost` (m, 8)."""
    liking = np.argsort(cost, axis=1, kind="stable").tolist()
    possible = np.isfinite(cost).sum(axis=1).tolist()
    spans = taken.spans(candidates)
    for label in np.argsort(-priority, kind="stable").tolist():
        for choice in liking[label][: possible[label]]:
            if taken.free(spans[label][choice]):
                taken.add(spans[label][choice])
                side[label] = choice
                break


def place_names(
    anchors: ArrayLike,
    sizes: ArrayLike,
    bounds: Box,
    obstacles: ArrayLike | None = None,
    points: ArrayLike | Crowd | None = None,
    point_radius: float = 0.0,
    priority: ArrayLike | None = None,
    padding: float = 2.0,
    leader_distance: float | None = None,
    anywhere: bool = True,
) -> NamePlacement:
    """Put cluster names at their anchors; what would collide goes to the nearest free place instead.

    anchors          (c, 2) the spot each name belongs to, see `densest_spot`
    sizes            (c, 2) widths and heights of the names
    bounds           the box all names must lie in
    obstacles        (b, 4) boxes that must stay free
    points           (p, 2) drawn points of `point_radius`, or a `Crowd` of them: a name steps aside, by two or three
                     of its heights at most, to a place where it covers fewer of them
    priority         (c,) higher is placed first (cluster size, say); by default in order
    padding          free space between two names
    leader_distance  a name whose box is farther than this from its anchor asks for a leader line;
                     by default 1.5 times the name's height
    anywhere         whether a name that finds no place near its anchor may go anywhere in the bounds

    Names never overlap. One is left out only where no place of the bounds (or near it) is free for it. 80 names take
    about 5 ms where they find room near their anchors.
    """
    anchor, size = _rows(anchors, 2), _rows(sizes, 2)
    count = len(anchor)
    boxes = np.full((count, 4), np.nan)
    order = range(count) if priority is None else np.argsort(-np.asarray(priority), kind="stable").tolist()
    fixed = np.empty((0, 4)) if obstacles is None else _rows(obstacles, 4)
    boxed = np.concatenate([fixed, np.empty((count, 4))])
    used = len(fixed)
    taken = _Taken(bounds, float(size[:, 1].min(initial=1e9)), padding)
    for span in taken.spans(fixed):
        taken.add(span)
    near, cost = _near_places(anchor, size, bounds, Crowd.of(points, point_radius, bounds))
    ranked = cost.argsort(axis=1, kind="stable")
    first = ranked[:, :_FIRST_PLACES]
    spans = taken.spans(np.take_along_axis(near, first[:, :, None], axis=1))
    possible = np.isfinite(cost).sum(axis=1).tolist()
    hopeless = np.full(2, np.inf)
    for name in order:
        choices = range(min(possible[name], _FIRST_PLACES))
        choice = next((c for c in choices if taken.free(spans[name][c])), None)
        box = None if choice is None else near[name, first[name, choice]]
        if box is None:
            rest = near[name, ranked[name, _FIRST_PLACES : possible[name]]]
            box = _first_free(rest, boxed[:used], padding)
        # Where a smaller name found no place, a larger one need not search the whole picture again.
        if box is None and anywhere and not np.all(size[name] >= hopeless):
            box = _anywhere(anchor[name], size[name], bounds, boxed[:used], padding)
            if box is None:
                hopeless = size[name]
        if box is not None:
            boxes[name] = boxed[used] = box
            taken.add(taken.spans(box[None])[0] if choice is None else spans[name][choice])
            used += 1
    far = 1.5 * size[:, 1] if leader_distance is None else np.full(count, leader_distance)
    gap = np.maximum(0.0, np.maximum(boxes[:, :2] - anchor, anchor - boxes[:, 2:]))
    placed = np.isfinite(boxes[:, 0])
    with np.errstate(invalid="ignore"):
        leader = placed & (np.hypot(gap[:, 0], gap[:, 1]) > far)
    return NamePlacement(boxes, placed, leader)


def _near_places(anchor: Array, size: Array, bounds: Box, crowd: Crowd) -> tuple[Array, Array]:
    """Boxes (c, q, 4) within reach of each anchor, and their cost (c, q): by distance and by the points they cover;
    infinite where a place is beyond reach or out of bounds."""
    width, height = size[:, :1], size[:, 1:]
    columns, rows = (a.ravel() for a in np.meshgrid(np.arange(-6.0, 7.0), np.arange(-10.0, 11.0)))
    low, high = np.array(bounds[:2]) + size / 2, np.array(bounds[2:]) - size / 2
    home = np.clip(anchor, low, np.maximum(low, high))
    x, y = home[:, :1] + columns * width / 8, home[:, 1:] + rows * height / 4
    within = (np.abs(columns) * width / 8 <= 3.0 * height + 1e-9) & (low <= high).all(axis=1, keepdims=True)
    within &= (x >= low[:, :1]) & (x <= high[:, :1]) & (y >= low[:, 1:]) & (y <= high[:, 1:])
    boxes = np.stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2], axis=-1)
    # A step sideways leaves the name over its cluster; a step up or down soon leaves it.
    away = np.hypot((x - home[:, :1]) * 0.6, y - home[:, 1:]) / height
    return boxes, np.where(within, away + 0.8 * crowd.covered(boxes), np.inf)


def _first_free(boxes: Array, taken: Array, padding: float) -> Array | None:
    """The first of (q, 4) boxes that is free, or None."""
    for start in range(0, len(boxes), 512):
        some = boxes[start : start + 512]
        free = np.flatnonzero(~_overlaps(some, taken, padding))
        if len(free):
            best: Array = some[free[0]]
            return best
    return None


def _anywhere(anchor: Array, size: Array, bounds: Box, taken: Array, padding: float) -> Array | None:
    """The free box (4,) nearest to an anchor in all of the bounds, or None where there is none."""
    low, high = np.array(bounds[:2]) + size / 2, np.array(bounds[2:]) - size / 2
    if np.any(low > high):
        return None
    home = np.clip(anchor, low, high)
    middle = home + _offsets(np.array([size[0] / 6, size[1] / 2]), np.array(bounds[2:]) - np.array(bounds[:2]))
    middle = middle[np.all((middle >= low) & (middle <= high), axis=1)]
    boxes = middle[:, [0, 1, 0, 1]] + np.concatenate([-size / 2, size / 2])
    ranked = np.hypot((middle[:, 0] - home[0]) * 0.6, middle[:, 1] - home[1]).argsort()
    return _first_free(boxes[ranked], taken, padding)


def _offsets(step: Array, reach: Array) -> Array:
    """A grid of offsets (q, 2) around zero, `step` apart, up to `reach` either way."""
    columns, rows = (np.arange(-np.floor(r / s), np.floor(r / s) + 1) * s for r, s in zip(reach, step, strict=True))
    return np.stack([a.ravel() for a in np.meshgrid(columns, rows)], axis=1)


def densest_spot(coords: ArrayLike) -> Array:
    """Where a cluster's members lie densest: (2,), from their coordinates (n, 2). n >= 1.

    Unlike the mean it is never in the empty middle of a ring or between two islands, and a few strays do not
    move it. Up to 256 members: the member nearest, on average, to its own sqrt(n) nearest. More: the peak
    of a smoothed histogram, which takes about a millisecond at 50,000.
    """
    xy = _rows(coords, 2)
    if not len(xy):
        raise ValueError("the densest spot of no members was asked for")
    if len(xy) <= _BRUTE_FORCE:
        squared = np.square(xy[:, None, :] - xy[None, :, :]).sum(axis=2)
        near = min(len(xy) - 1, int(np.ceil(np.sqrt(len(xy)))) + 1)
        spread: Array = np.sqrt(np.partition(squared, near, axis=1)[:, : near + 1]).sum(axis=1)
        member: Array = xy[int(spread.argmin())]
        return member
    return _histogram_peak(xy)


def _histogram_peak(xy: Array) -> Array:
    """The mean of the members around the fullest cell of a smoothed histogram of `xy` (n, 2)."""
    low, high = np.quantile(xy, (0.02, 0.98), axis=0)
    side = int(np.clip(np.sqrt(len(xy)) / 2, 8, 48))
    extent = np.maximum(high - low, 1e-9)
    cells = np.clip(((xy - low) / extent * side).astype(np.int64), 0, side - 1)
    counts = np.bincount(cells[:, 1] * side + cells[:, 0], minlength=side * side).reshape(side, side)
    smooth = np.pad(counts.astype(np.float64), 2)
    for axis in (0, 1):
        smooth = sum(
            (w * np.roll(smooth, s, axis) for s, w in zip((-2, -1, 0, 1, 2), (1, 4, 6, 4, 1), strict=True)),
            start=np.zeros_like(smooth),
        )
    row, column = np.unravel_index(int(smooth[2:-2, 2:-2].argmax()), (side, side))
    near = np.all(np.abs(cells - np.array([column, row])) <= 1, axis=1)
    centre: Array = xy[near].mean(axis=0) if near.any() else low + (np.array([column, row]) + 0.5) * extent / side
    return centre


def _candidates(anchor: Array, size: Array, radius: Array) -> Array:
    """The eight boxes (m, 8, 4) a word may have around its point."""
    # On a diagonal the word's corner stays `radius` away from the point, not its edges.
    reach = np.where(np.abs(_DIRECTIONS).sum(axis=1) > 1, np.sqrt(0.5), 1.0)[None, :, None]
    middle = anchor[:, None, :] + _DIRECTIONS * (size[:, None, :] / 2 + radius[:, None, None] * reach)
    return np.concatenate([middle - size[:, None, :] / 2, middle + size[:, None, :] / 2], axis=2)


def _rows(values: ArrayLike, width: int) -> Array:
    return np.asarray(values, dtype=np.float64).reshape(-1, width)


def _within(boxes: Array, bounds: Box) -> npt.NDArray[np.bool_]:
    inside: npt.NDArray[np.bool_] = (
        (boxes[..., 0] >= bounds[0])
        & (boxes[..., 1] >= bounds[1])
        & (boxes[..., 2] <= bounds[2])
        & (boxes[..., 3] <= bounds[3])
    )
    return inside


def _contains(bounds: Box, points: Array) -> npt.NDArray[np.bool_]:
    return _within(np.concatenate([points, points], axis=1), bounds)


def _overlaps(boxes: Array, taken: Array, padding: float) -> npt.NDArray[np.bool_]:
    """Which boxes (q, 4) come closer than `padding` to any of the taken ones (t, 4)."""
    close = (
        (boxes[:, None, 0] < taken[None, :, 2] + padding)
        & (boxes[:, None, 2] > taken[None, :, 0] - padding)
        & (boxes[:, None, 1] < taken[None, :, 3] + padding)
        & (boxes[:, None, 3] > taken[None, :, 1] - padding)
    )
    hit: npt.NDArray[np.bool_] = np.any(close, axis=1)
    return hit
