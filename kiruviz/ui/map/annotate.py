"""Which words and names stand on the map at this look, and where: nothing collides, more with each zoom."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QFont, QFontMetricsF

from kiruviz.analysis.placement import Crowd, place, place_names
from kiruviz.ui.map.scene import Annotations, NameMark, Scene
from kiruviz.ui.map.viewport import Viewport
from kiruviz.ui.theme import text_font

# More candidates than this are not tried: the canvas has no room for them.
MOST_WORDS = 420
# More names than this are not tried in one look, the largest clusters first; zooming in brings the others.
MOST_NAMES = 80
# Up to so many, a name that finds no room near its cluster goes elsewhere, with a line; more would be a thicket.
_LED_NAMES = 24
WORD_PX = 12
NAME_PX = 16


def name_font(italic: bool) -> QFont:
    return text_font(NAME_PX, QFont.Weight.DemiBold, italic)


def _bounds(view: Viewport) -> tuple[float, float, float, float]:
    return 4.0, 4.0, float(view.width - 4), float(view.height - 4)


def _looks_as(mark: NameMark, before: NameMark | None) -> bool:
    """Whether a name stands where and as large as it did; its colour may be another."""
    if before is None:
        return False
    return (mark.text, mark.x, mark.y, mark.italic) == (before.text, before.x, before.y, before.italic)


class Annotator:
    """Places words and names, remembering text widths and each word's side between looks."""

    def __init__(self) -> None:
        self._metrics = QFontMetricsF(text_font(WORD_PX))
        self._widths: dict[str, float] = {}
        self._name_sizes: dict[tuple[str, bool], tuple[float, float]] = {}
        self._sides: dict[int, int] = {}
        self._marks: dict[int, NameMark] = {}

    def forget(self) -> None:
        """Forget the words' sides: another map has come."""
        self._sides.clear()

    def annotate(
        self,
        scene: Scene,
        view: Viewport,
        screen: npt.NDArray[np.float32],
        radius: float,
        obstacles: list[tuple[float, float, float, float]],
        words: bool = True,
    ) -> Annotations:
        """The annotations for `screen` (n, 2), the rows' places in pixels; `obstacles` are boxes kept free."""
        bounds = _bounds(view)
        self._marks = {mark.cluster_id: mark for mark in scene.marks}
        inside = np.flatnonzero(
            (screen[:, 0] > 0) & (screen[:, 0] < view.width) & (screen[:, 1] > 0) & (screen[:, 1] < view.height)
        )
        crowd = Crowd(screen[inside], radius, bounds) if len(inside) <= 4000 else None
        marks, taken = self._names(scene, view, bounds, crowd, obstacles)
        if not words or not len(inside):
            return Annotations(marks=marks)
        rows = self._candidates(scene, inside)
        sizes = np.array([(self._width(scene.names[i]), self._metrics.height()) for i in rows])
        previous = np.array([self._sides.get(int(i), -1) for i in rows], np.int8)
        placed = place(
            screen[rows],
            sizes,
            self._priority(scene, rows),
            radius + 3,
            bounds,
            obstacles=np.array(taken) if taken else None,
            points=crowd,
            previous=previous,
        )
        for row, side in zip(rows.tolist(), placed.side.tolist(), strict=True):
            if side >= 0:
                self._sides[row] = side
        shown = placed.side >= 0
        return Annotations(rows[shown], placed.boxes[shown], marks)

    def rename(
        self, before: Annotations, scene: Scene, view: Viewport, obstacles: list[tuple[float, float, float, float]]
    ) -> Annotations:
        """`before` with the names that changed since placed among those that stay: a few milliseconds, where placing
        all anew takes ten times as long. A word in their way is left out."""
        now = {mark.cluster_id: mark for mark in scene.marks}
        same = {i for i, mark in now.items() if _looks_as(mark, self._marks.get(i))}
        kept = tuple((now[m.cluster_id], box, led) for m, box, led in before.marks if m.cluster_id in same)
        shown = {mark.cluster_id for mark, _, _ in kept}
        changed = (m for m in scene.marks if m.cluster_id not in same or m.cluster_id == scene.cluster)
        waiting = [m for m in changed if m.cluster_id not in shown]
        self._marks = now
        if not waiting:
            return Annotations(before.rows, before.boxes, kept)
        found = place_names(
            view.to_screen(np.array([(m.x, m.y) for m in waiting], np.float32)),
            np.array([self._name_size(m) for m in waiting]),
            _bounds(view),
            obstacles=np.array([*obstacles, *(tuple(box) for _, box, _ in kept)]).reshape(-1, 4),
            anywhere=False,
        )
        added = [
            (mark, box, bool(led))
            for mark, box, placed, led in zip(waiting, found.boxes, found.placed, found.leader, strict=True)
            if placed
        ]
        free = np.ones(len(before.boxes), bool)
        for _, (x0, y0, x1, y1), _ in added:
            words = before.boxes
            free &= (words[:, 2] < x0) | (words[:, 0] > x1) | (words[:, 3] < y0) | (words[:, 1] > y1)
        return Annotations(before.rows[free], before.boxes[free], (*kept, *added))

    def _names(
        self,
        scene: Scene,
        view: Viewport,
        bounds: tuple[float, float, float, float],
        crowd: Crowd | None,
        obstacles: list[tuple[float, float, float, float]],
    ) -> tuple[tuple[tuple[NameMark, Any, bool], ...], list[tuple[float, float, float, float]]]:
        taken = list(obstacles)
        if not scene.marks:
            return (), taken
        places = view.to_screen(np.array([(m.x, m.y) for m in scene.marks], np.float32))
        importance = np.array([m.size + 1e9 * (m.cluster_id == scene.cluster) for m in scene.marks])
        inside = ((places >= 0) & (places <= (view.width, view.height))).all(axis=1)
        here = np.flatnonzero(inside)
        here = here[np.argsort(-importance[here], kind="stable")[:MOST_NAMES]]
        if not len(here):
            return (), taken
        found = place_names(
            places[here],
            np.array([self._name_size(scene.marks[i]) for i in here]),
            bounds,
            obstacles=np.array(obstacles) if obstacles else None,
            points=crowd,
            anywhere=len(here) <= _LED_NAMES,
        )
        marks = []
        for i, box, placed, leader in zip(here, found.boxes, found.placed, found.leader, strict=True):
            if placed:
                marks.append((scene.marks[i], box, bool(leader)))
                taken.append(tuple(box))
        return tuple(marks), taken

    def _name_size(self, mark: NameMark) -> tuple[float, float]:
        key = (mark.text, mark.italic)
        if key not in self._name_sizes:
            box = QFontMetricsF(name_font(mark.italic))
            self._name_sizes[key] = (box.horizontalAdvance(mark.text) + 4, box.height())
        return self._name_sizes[key]

    def _candidates(self, scene: Scene, inside: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        if len(inside) <= MOST_WORDS:
            return inside
        first = self._priority(scene, inside)
        return inside[np.argpartition(-first, MOST_WORDS)[:MOST_WORDS]]

    def _priority(self, scene: Scene, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """What must be seen first: the focus, then what a search lit, then the selected, then common words."""
        value = scene.importance[rows].astype(np.float64)
        if len(scene.selected):
            value = value + 100.0 * np.isin(rows, scene.selected)
        if len(scene.lit):
            value = value + 1000.0 * np.isin(rows, scene.lit)
        if scene.focus is not None:
            value = value + 10000.0 * (rows == scene.focus)
        return value

    def _width(self, name: str) -> float:
        width = self._widths.get(name)
        if width is None:
            width = self._widths[name] = self._metrics.horizontalAdvance(name) + 2
        return width
