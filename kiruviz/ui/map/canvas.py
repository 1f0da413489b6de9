"""The map's canvas: draws the scene, and tells what the hand does on it."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPaintEvent,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from kiruviz.ui.map import paint
from kiruviz.ui.map.annotate import Annotator
from kiruviz.ui.map.scene import Annotations, Scene
from kiruviz.ui.map.viewport import Viewport
from kiruviz.ui.theme import DARK, Theme

Tool = Literal["pan", "lasso"]
LassoMode = Literal["replace", "add", "take"]

_FRAME_MS = 16
# Up to here rows glide to their new places; more rows jump.
_GLIDING_ROWS = 5000
_ARRANGE_MS = 60
_PICK_PIXELS = 12
_CLICK_PIXELS = 4


class MapCanvas(QWidget):
    """Shows a `Scene`.

    hovered(row or -1), clicked(row or -1), lassoed(rows, mode), view_changed(), named(cluster_id) on a click
    on a cluster's name, key_pressed(event) for keys that belong to labelling.
    """

    hovered = Signal(int)
    clicked = Signal(int)
    named = Signal(int)
    lassoed = Signal(object, str)
    view_changed = Signal()
    key_pressed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Map")
        self.setMinimumSize(240, 200)
        self.theme: Theme = DARK
        self.scene = Scene()
        self.view = Viewport()
        self.tool: Tool = "pan"
        self.obstacles: list[QWidget] = []
        self._annotator = Annotator()
        self._stamped = paint.Stamped()
        self._annotations = Annotations()
        self._screen = np.zeros((0, 2), np.float32)
        self._stale = True
        self._touched = False
        self._wordless = False
        self._names_first = False
        self._pressed_at: QPointF | None = None
        self._dragged_at: QPointF | None = None
        self._lasso: list[QPointF] = []
        self._hover = -1
        self._whole: tuple[npt.NDArray[np.float32], tuple[int, int], float] | None = None
        self._target: npt.NDArray[np.float32] | None = None
        self._arrange = QTimer(self)
        self._arrange.setSingleShot(True)
        self._arrange.setInterval(_ARRANGE_MS)
        self._arrange.timeout.connect(self._arrange_all)
        self._glide = QTimer(self)
        self._glide.setInterval(_FRAME_MS)
        self._glide.timeout.connect(self._glide_on)
        self._flight: tuple[Viewport, int] | None = None

    # What is shown

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.refresh()

    def show_scene(self, scene: Scene, fit: bool) -> None:
        """Show another map at once."""
        self._glide.stop()
        self._target = None
        self._flight = None
        self._wordless = False
        self.scene = scene
        self._annotator.forget()
        if fit:
            self._touched = False
            self.view = self.view.fitted(scene.coords)
        self.refresh()

    def move_to(self, coords: npt.NDArray[np.float32], final: bool = True) -> None:
        """Let the rows go to new places: few of them glide there. Many have no words until they are `final`, which
        keeps each frame short."""
        self._wordless = not final and len(coords) > _GLIDING_ROWS
        if len(coords) != len(self.scene.coords) or len(coords) > _GLIDING_ROWS or not self.isVisible():
            self.scene.coords = coords
            if not self._touched:
                self.view = self.view.fitted(coords)
            self.refresh()
            return
        self._target = coords
        self._glide.start()

    def refresh(self) -> None:
        """Draw anew after the scene or the look changed."""
        self._stale = True
        self.update()

    def recolor(self) -> None:
        """Draw anew after colours, names or the selection changed and no row moved. Of many rows only the names that
        changed are placed at once; all words and names are arranged a moment later, so that no key waits for them."""
        if self._stale or len(self.scene.coords) <= _GLIDING_ROWS:
            self.refresh()
            return
        self._annotations = self._annotator.rename(self._annotations, self.scene, self.view, self._obstacle_boxes())
        self._arrange.start()
        self.update()

    def _arrange_all(self) -> None:
        self._names_first = False
        self.refresh()

    def fit(self) -> None:
        """Show every row."""
        self._touched = False
        self._fly(self.view.fitted(self._target if self._target is not None else self.scene.coords))

    def fly_to(self, rows: npt.NDArray[np.int64]) -> None:
        """Bring `rows` into view, without zooming in on few of them further than their surroundings."""
        coords = self._target if self._target is not None else self.scene.coords
        if not len(rows) or not len(coords):
            return
        whole = self.view.fitted(coords).scale if self._target is not None else self._whole_scale()
        near = self.view.fitted(coords[rows])
        scale = min(near.scale, max(self.view.scale, 2.0 * whole))
        middle = (coords[rows].min(axis=0) + coords[rows].max(axis=0)) / 2
        self._touched = True
        self._fly(Viewport(float(middle[0]), float(middle[1]), scale, self.view.width, self.view.height))

    def fly_to_rectangle(self, rectangle: tuple[float, float, float, float]) -> None:
        """Go to the data rectangle x0, y0, x1, y1, as far as the canvas's shape allows."""
        self._touched = True
        self._fly(self._view_of(rectangle))

    def zoom(self, factor: float) -> None:
        """Zoom about the middle of the canvas."""
        self._look(self.view.zoomed(factor, self.width() / 2, self.height() / 2))

    def set_view_rectangle(self, rectangle: tuple[float, float, float, float]) -> None:
        """Show the data rectangle x0, y0, x1, y1, as far as the canvas's shape allows."""
        self._look(self._view_of(rectangle))

    def _view_of(self, rectangle: tuple[float, float, float, float]) -> Viewport:
        x0, y0, x1, y1 = rectangle
        scale = min(self.width() / max(x1 - x0, 1e-9), self.height() / max(y1 - y0, 1e-9))
        return Viewport((x0 + x1) / 2, (y0 + y1) / 2, scale, self.width(), self.height())

    @property
    def is_whole(self) -> bool:
        """Whether the look is the fitted one, which follows the rows."""
        return not self._touched

    @property
    def radius(self) -> float:
        """The points' radius in pixels: smaller for many, larger as one zooms in."""
        count = max(len(self.scene.coords), 1)
        base = float(np.clip(15.0 * count**-0.2, 1.1, 5.0))
        return float(np.clip(base * (self.view.scale / max(self._whole_scale(), 1e-12)) ** 0.3, 1.1, 8.0))

    def _whole_scale(self) -> float:
        """The scale at which every row is in view; found once for the same places and size."""
        coords, size = self.scene.coords, (self.view.width, self.view.height)
        if self._whole is None or self._whole[0] is not coords or self._whole[1] != size:
            self._whole = (coords, size, self.view.fitted(coords).scale)
        return self._whole[2]

    def row_at(self, x: float, y: float) -> int:
        """The row nearest to a pixel within reach, else -1."""
        self._measure()
        if not len(self._screen):
            return -1
        distance = np.square(self._screen[:, 0] - x) + np.square(self._screen[:, 1] - y)
        row = int(distance.argmin())
        return row if distance[row] <= max(_PICK_PIXELS, self.radius + 2) ** 2 else -1

    def place_of(self, row: int) -> QPointF:
        """Where a row stands, in pixels."""
        self._measure()
        return QPointF(float(self._screen[row, 0]), float(self._screen[row, 1]))

    @property
    def annotations(self) -> Annotations:
        """The words and names that stand on the map now."""
        self._measure()
        return self._annotations

    # Drawing

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        self._measure()
        # Ended whatever happens: a painter that outlives the event, in a traceback say, takes Qt down with it.
        with QPainter(self) as painter:
            self._paint(painter)

    def _paint(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), self.theme.color("background"))
        paint.points(
            painter, self.scene, self._screen, self.radius, self.theme, self.devicePixelRatioF(), self._stamped
        )
        paint.words(painter, self.scene, self._annotations, self.theme)
        paint.names(painter, self._annotations, self.view, self.theme)
        if self._hover >= 0 and self._hover < len(self._screen):
            paint.ring(painter, self.place_of(self._hover), self.radius + 3, self.theme)
        if self._lasso:
            paint.lasso(painter, QPolygonF(self._lasso), self.theme)
        if self.scene.bar is not None:
            paint.color_bar(painter, self.scene.bar, self.height(), self.theme)
        if self.scene.note and not len(self.scene.coords):
            painter.setPen(self.theme.color("muted"))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.scene.note)

    def _measure(self) -> None:
        if not self._stale:
            return
        self._stale = False
        self._screen = self.view.to_screen(self.scene.coords)
        self._annotations = self._annotator.annotate(
            self.scene,
            self.view,
            self._screen,
            self.radius,
            self._obstacle_boxes(),
            words=not (self._wordless or self._names_first),
        )

    def _obstacle_boxes(self) -> list[tuple[float, float, float, float]]:
        return [
            (float(r.left() - 4), float(r.top() - 4), float(r.right() + 4), float(r.bottom() + 4))
            for r in (w.geometry() for w in self.obstacles if w.isVisible())
        ]

    # Moving

    def _look(self, view: Viewport) -> None:
        self._flight = None
        self._touched = True
        self.view = view
        self.refresh()
        self.view_changed.emit()

    def _fly(self, view: Viewport) -> None:
        if len(self.scene.coords) > _GLIDING_ROWS or not self.isVisible():
            self.view = view
            self._names_first = len(self.scene.coords) > _GLIDING_ROWS
            if self._names_first:
                self._arrange.start()  # the words come a moment later: a key that flies is answered at once
            self.refresh()
            self.view_changed.emit()
            return
        self._flight = (view, 14)
        self._glide.start()

    def _glide_on(self) -> None:
        """One frame of rows gliding and the look flying."""
        if self._target is not None:
            step = self._target - self.scene.coords
            span = float(np.abs(self._target).max()) or 1.0
            if float(np.abs(step).max(initial=0.0)) < 1e-3 * span:
                self.scene.coords = self._target
                self._target = None
                self._annotator.forget()  # the sides that words had on the way do not suit the rows at rest
            else:
                self.scene.coords = self.scene.coords + np.float32(0.3) * step
        if self._flight is not None:
            self._fly_on()
        elif not self._touched:
            self.view = self.view.fitted(self.scene.coords)
        if self._target is None and self._flight is None:
            self._glide.stop()
            self.view_changed.emit()
        self.refresh()

    def _fly_on(self) -> None:
        assert self._flight is not None
        goal, frames = self._flight
        if frames <= 1:
            self.view, self._flight = goal.resized(self.width(), self.height()), None
            return
        share = 1 - (1 - 1 / frames) ** 2
        now = self.view
        self.view = Viewport(
            now.center_x + (goal.center_x - now.center_x) * share,
            now.center_y + (goal.center_y - now.center_y) * share,
            now.scale * (goal.scale / now.scale) ** share,
            self.width(),
            self.height(),
        )
        self._flight = (goal, frames - 1)

    @property
    def is_moving(self) -> bool:
        """Whether rows glide or the look flies."""
        return self._glide.isActive()

    # The hand

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.view = self.view.resized(event.size().width(), event.size().height())
        if not self._touched:
            self.view = self.view.fitted(self.scene.coords)
        self.refresh()

    def sizeHint(self) -> QSize:
        return QSize(860, 800)

    def wheelEvent(self, event: QWheelEvent) -> None:
        steps = event.angleDelta().y() / 120
        if steps:
            place = event.position()
            self._look(self.view.zoomed(1.2**steps, place.x(), place.y()))
        event.accept()

    def event(self, event: object) -> bool:
        if isinstance(event, QNativeGestureEvent) and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
            place = event.position()
            self._look(self.view.zoomed(1 + event.value(), place.x(), place.y()))
            return True
        return super().event(event)  # type: ignore[arg-type]

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed_at = self._dragged_at = event.position()
            if self.tool == "lasso":
                self._lasso = [event.position()]

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position()
        if self._dragged_at is None:
            self._set_hover(self.row_at(place.x(), place.y()))
            return
        if self.tool == "lasso":
            self._lasso.append(place)
            self.update()
        elif self._is_drag(place) or self.cursor().shape() == Qt.CursorShape.ClosedHandCursor:
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            moved = place - self._dragged_at
            self._look(self.view.moved(moved.x(), moved.y()))
            self._dragged_at = place

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._pressed_at is None:
            return
        place = event.position()
        was_click = not self._is_drag(place)
        lasso, self._lasso = self._lasso, []
        self._pressed_at = self._dragged_at = None
        self._show_tool()
        if was_click:
            self._click(place)
        elif len(lasso) > 2:
            self.lassoed.emit(self.rows_inside(QPolygonF(lasso)), _lasso_mode(event.modifiers()))
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        place = event.position()
        self._look(self.view.zoomed(2.0, place.x(), place.y()))

    def leaveEvent(self, event: object) -> None:  # noqa: ARG002
        self._set_hover(-1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()
        self.key_pressed.emit(event)

    def set_tool(self, tool: Tool) -> None:
        self.tool = tool
        self._show_tool()

    def _show_tool(self) -> None:
        self.setCursor(Qt.CursorShape.CrossCursor if self.tool == "lasso" else Qt.CursorShape.ArrowCursor)

    def _click(self, place: QPointF) -> None:
        for mark, box, _ in self._annotations.marks:
            if QRectF(box[0], box[1], box[2] - box[0], box[3] - box[1]).contains(place):
                self.named.emit(mark.cluster_id)
                return
        self.clicked.emit(self.row_at(place.x(), place.y()))

    def _is_drag(self, place: QPointF) -> bool:
        if self._pressed_at is None:
            return False
        moved = place - self._pressed_at
        return abs(moved.x()) + abs(moved.y()) > _CLICK_PIXELS or len(self._lasso) > 4

    def _set_hover(self, row: int) -> None:
        if row != self._hover:
            self._hover = row
            self.hovered.emit(row)
            self.update()

    def rows_inside(self, polygon: QPolygonF) -> npt.NDArray[np.int64]:
        """The rows inside a polygon of pixels, by the even-odd rule."""
        self._measure()
        corners = np.array([(p.x(), p.y()) for p in polygon.toList()], np.float32)
        return np.flatnonzero(_inside(self._screen, corners))


def _inside(points: npt.NDArray[np.float32], corners: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Which of `points` (n, 2) lie in the polygon `corners` (m, 2): crossings of a ray, counted."""
    inside = np.zeros(len(points), bool)
    low, high = corners.min(axis=0), corners.max(axis=0)
    near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
    x, y = points[near, 0], points[near, 1]
    odd = np.zeros(len(near), bool)
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if y0 == y1:
            continue
        crosses = (y0 > y) != (y1 > y)
        odd ^= crosses & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
    inside[near] = odd
    return inside


def _lasso_mode(modifiers: Qt.KeyboardModifier) -> LassoMode:
    if modifiers & Qt.KeyboardModifier.ShiftModifier:
        return "add"
    if modifiers & Qt.KeyboardModifier.AltModifier:
        return "take"
    return "replace"
