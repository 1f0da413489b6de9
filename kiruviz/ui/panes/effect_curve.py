"""A small curve of what each value of a clusterer's main parameter would give."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from kiruviz.analysis.effect import Effect, EffectPoint
from kiruviz.analysis.grouping import ClusterMethod
from kiruviz.ui.theme import DARK, Theme
from kiruviz.ui.widgets.basics import number

_MARGIN = 6
_TIPS: dict[ClusterMethod, str] = {
    "kmeans": "Mean silhouette for each k",
    "agglomerative": "Mean silhouette for each k, from one tree",
    "hdbscan": "Number of clusters (line) and share of noise (shade) for each smallest cluster size",
    "evoc": "Number of clusters (line) and share of noise (shade) in each layer, the coarsest first",
}


def words_for(effect: Effect, point: EffectPoint) -> str:
    """What a value would give: `min. size 12: 9 clusters, 23 % noise, silhouette .11`."""
    method = effect.spec.method
    score = "no silhouette" if point.silhouette is None else f"silhouette {number(point.silhouette, 2)}"
    clusters = "1 cluster" if point.clusters == 1 else f"{point.clusters:,} clusters"
    if method in ("kmeans", "agglomerative"):
        fewer = f"{clusters}, " if point.clusters != point.value else ""
        return f"k = {point.value}: {fewer}{score}"
    noise = f"{100 * point.noise:.0f} % noise"
    if method == "hdbscan":
        return f"min. size {point.value}: {clusters}, {noise}, {score}"
    own = ", EVoC's choice" if point.value == effect.preferred else ""
    return f"layer {point.value} of {len(effect.points)}: {clusters}, {noise}, {score}{own}"


class EffectCurve(QWidget):
    """The value in use is marked; hovering or the arrow keys point at another, a click or Enter takes it.

    picked(value) for one that was taken, pointed(value or None) for one that is only looked at.
    """

    picked = Signal(int)
    pointed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(44)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.theme: Theme = DARK
        self.effect: Effect | None = None
        self._used: int | None = None
        self._at: int | None = None  # an index of the points

    def show_effect(self, effect: Effect | None, used: int | None) -> None:
        """Show a curve, with the value in use."""
        if effect is None or self.effect is None or effect.spec != self.effect.spec:
            self._at = None
        self.effect, self._used = effect, used
        if effect is not None:
            name = {"hdbscan": "Effect of the smallest cluster size", "evoc": "Layers"}
            self.setAccessibleName(name.get(effect.spec.method, "Silhouette over k"))
            self.setToolTip(f"{_TIPS[effect.spec.method]}; click to cluster with one")
        self.update()

    @property
    def used(self) -> int | None:
        """The value in use."""
        return self._used

    @property
    def point(self) -> EffectPoint | None:
        """The point that is looked at."""
        return None if self.effect is None or self._at is None else self.effect.points[self._at]

    def place(self, value: int) -> QPointF:
        """Where a value stands on the curve."""
        assert self.effect is not None
        return self._places()[[point.value for point in self.effect.points].index(value)]

    def _heights(self) -> list[float | None]:
        assert self.effect is not None
        if self.effect.spec.method in ("kmeans", "agglomerative"):
            return [point.silhouette for point in self.effect.points]
        # From a handful to thousands: the root keeps the few apart.
        return [float(point.clusters) ** 0.5 for point in self.effect.points]

    def _places(self) -> list[QPointF]:
        """One place a point; one without a silhouette stands at the bottom."""
        heights = self._heights()
        known = [height for height in heights if height is not None] or [0.0]
        low, high = min(known), max(known)
        across = (self.width() - 2 * _MARGIN) / max(len(heights) - 1, 1)
        down = (self.height() - 14) / max(high - low, 1e-9)
        return [
            QPointF(_MARGIN + i * across, 7 + (high - (low if h is None else h)) * down) for i, h in enumerate(heights)
        ]

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        if self.effect is None or not self.effect.points:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        places, heights = self._places(), self._heights()
        self._paint_noise(painter, places)
        painter.setPen(QPen(QColor(self.theme.muted), 1.3))
        for i in range(1, len(places)):
            if heights[i - 1] is not None and heights[i] is not None:
                painter.drawLine(places[i - 1], places[i])
        for i, point in enumerate(self.effect.points):
            if point.value == self._used:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(self.theme.accent))
                painter.drawEllipse(places[i], 4.5, 4.5)
            elif i == self._at or len(places) == 1:
                painter.setPen(QPen(QColor(self.theme.accent), 1.5))
                painter.setBrush(QColor(self.theme.panel))
                painter.drawEllipse(places[i], 4.0, 4.0)
        if self.hasFocus():
            painter.setPen(QPen(QColor(self.theme.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), 4, 4)

    def _paint_noise(self, painter: QPainter, places: list[QPointF]) -> None:
        """The share of noise as a shade from the bottom up, its full height for all rows."""
        assert self.effect is not None
        shares = [point.noise for point in self.effect.points]
        if not any(shares) or len(places) < 2:
            return
        bottom, room = self.height() - 4.0, self.height() - 8.0
        edge = [QPointF(at.x(), bottom - share * room) for at, share in zip(places, shares, strict=True)]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.theme.line))
        painter.drawPolygon(QPolygonF([QPointF(edge[0].x(), bottom), *edge, QPointF(edge[-1].x(), bottom)]))

    # Looking and taking

    def _look(self, at: int | None) -> None:
        if at == self._at:
            return
        self._at = at
        point = self.point
        words = "" if point is None or self.effect is None else words_for(self.effect, point)
        self.setAccessibleDescription(words)
        self.pointed.emit(None if point is None else point.value)
        self.update()

    def _nearest(self, x: float) -> int | None:
        if self.effect is None or not self.effect.points:
            return None
        places = self._places()
        return min(range(len(places)), key=lambda i: abs(places[i].x() - x))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._look(self._nearest(event.position().x()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._look(None)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._look(None)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        at = self._nearest(event.position().x())
        if event.button() == Qt.MouseButton.LeftButton and at is not None and self.effect is not None:
            self.picked.emit(self.effect.points[at].value)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        points = () if self.effect is None else self.effect.points
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(key)
        if step is not None and points:
            used = [i for i, point in enumerate(points) if point.value == self._used]
            start = self._at if self._at is not None else used[0] if used else -1
            self._look(max(0, min(len(points) - 1, start + step)))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.point is not None:
            self.picked.emit(self.point.value)
        elif key == Qt.Key.Key_Escape and self._at is not None:
            self._look(None)
        else:
            super().keyPressEvent(event)
