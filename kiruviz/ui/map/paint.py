"""How the scene is painted."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFontMetricsF,
    QImage,
    QLinearGradient,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QPolygonF,
)

from kiruviz.ui.map.annotate import WORD_PX, name_font
from kiruviz.ui.map.raster import blend, stamp
from kiruviz.ui.map.scene import Annotations, ColorBar, Scene
from kiruviz.ui.map.viewport import Viewport
from kiruviz.ui.theme import SMALL_PX, Theme, text_font

# Up to here each point is drawn for itself, with its rim; more become one raster.
CRISP_ROWS = 3000
_DIM = 0.72
_DIM_SHARED = 0.55
Rows = npt.NDArray[np.int64]
_NO_ROWS: Rows = np.zeros(0, np.int64)
_HALO = 5


class Stamped:
    """The last raster of points, used again while nothing in it changed: not every key moves the map."""

    def __init__(self) -> None:
        self._made: tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32], tuple[float, ...]] | None = None
        self._image = QImage()

    def image(
        self,
        places: npt.NDArray[np.float32],
        colors: npt.NDArray[np.uint32],
        radius: float,
        size: tuple[int, int],
        ratio: float,
    ) -> QImage:
        """Discs of `radius` at `places` (n, 2), in logical pixels of a widget of that size."""
        shape = (radius, float(size[0]), float(size[1]), ratio)
        made = self._made
        if (
            made is None
            or made[2] != shape
            or not (np.array_equal(made[0], places) and np.array_equal(made[1], colors))
        ):
            width, height = round(size[0] * ratio), round(size[1] * ratio)
            self._image = stamp(places * ratio, colors, radius * ratio, width, height)
            self._image.setDevicePixelRatio(ratio)
            self._made = (places, colors, shape)
        return self._image


def points(
    painter: QPainter,
    scene: Scene,
    screen: npt.NDArray[np.float32],
    radius: float,
    theme: Theme,
    ratio: float,
    stamped: Stamped,
) -> None:
    """All points; while a search lights some, or colours are shared, the others are dimmed; selected and lit ones lie
    on top."""
    if not len(screen):
        return
    bright = scene.lit if len(scene.lit) else scene.selected if scene.dimmed else _NO_ROWS
    colors = scene.colors
    if len(bright):
        colors = blend(colors, theme.background, _DIM if len(scene.lit) else _DIM_SHARED)
        colors[bright] = scene.colors[bright]
    on_top = np.zeros(len(screen), bool)  # not np.union1d, whose first call imports numpy.ma: 20 ms of this frame
    on_top[scene.selected] = on_top[scene.lit] = True
    top = np.flatnonzero(on_top)
    if len(screen) > CRISP_ROWS:
        width, height = painter.device().width(), painter.device().height()
        placed, shown = screen, colors
        if len(top) > CRISP_ROWS:  # too many to be drawn each for itself: the last to be stamped
            order = np.concatenate([np.flatnonzero(~on_top), top])
            placed, shown = screen[order], colors[order]
        image = stamped.image(placed, shown, radius, (width, height), ratio)
        painter.drawImage(0, 0, image)
    else:
        _crisp(painter, screen, colors, np.arange(len(screen)), radius, theme, ratio)
    if 0 < len(top) <= CRISP_ROWS:
        _crisp(painter, screen, scene.colors, top, radius * 1.25, theme, ratio)
    if scene.focus is not None and scene.focus < len(screen):
        ring(painter, QPointF(*screen[scene.focus].tolist()), radius + 3, theme)


def _crisp(
    painter: QPainter,
    screen: npt.NDArray[np.float32],
    colors: npt.NDArray[np.uint32],
    rows: Rows,
    radius: float,
    theme: Theme,
    ratio: float,
) -> None:
    tenths = max(1, round(radius * 10))
    half = (radius + 1.5) * 1.0
    for color, (x, y) in zip(colors[rows].tolist(), screen[rows].tolist(), strict=True):
        painter.drawPixmap(QPointF(x - half, y - half), _dot(color, tenths, theme.background, ratio))


@lru_cache(maxsize=2048)
def _dot(color: int, radius_tenths: int, rim: str, ratio: float) -> QPixmap:
    """A point with a thin rim of the ground colour, so that neighbours stay apart."""
    radius = radius_tenths / 10
    side = 2 * (radius + 1.5)
    pixmap = QPixmap(int(np.ceil(side * ratio)), int(np.ceil(side * ratio)))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(rim), 1.0))
    painter.setBrush(QColor.fromRgb(color & 0xFFFFFF))
    middle = radius + 1.5
    painter.drawEllipse(QPointF(middle, middle), radius + 0.5, radius + 0.5)
    painter.end()
    return pixmap


def words(painter: QPainter, scene: Scene, annotations: Annotations, theme: Theme) -> None:
    """Words beside their points; dimmed like their points."""
    painter.setFont(text_font(WORD_PX))
    descent = QFontMetricsF(painter.font()).descent()
    lit = set(scene.lit.tolist())
    bright, dim = theme.color("text", 235), theme.color("muted", 110)
    for row, (x0, _, _, y1) in zip(annotations.rows.tolist(), annotations.boxes.tolist(), strict=True):
        painter.setPen(dim if lit and row not in lit else bright)
        painter.drawText(QPointF(x0 + 1, y1 - descent), scene.names[row])


def names(painter: QPainter, annotations: Annotations, view: Viewport, theme: Theme) -> None:
    """Cluster names: larger, in their colour, with a halo; a moved one keeps a line to its cluster."""
    ratio = painter.device().devicePixelRatioF()
    for mark, box, leader in annotations.marks:
        if leader:
            anchor = view.to_screen(np.array([[mark.x, mark.y]], np.float32))[0]
            painter.setPen(QPen(QColor(mark.color), 1))
            painter.drawLine(QPointF(*anchor.tolist()), QPointF((box[0] + box[2]) / 2, (box[1] + box[3]) / 2))
        size = (int(np.ceil(box[2] - box[0])), int(np.ceil(box[3] - box[1])))
        at = QPointF(float(box[0]) - _HALO, float(box[1]) - _HALO)
        painter.drawPixmap(at, _name(mark.text, mark.italic, mark.color, size, theme.background, ratio))


@lru_cache(maxsize=1024)
def _name(text: str, italic: bool, color: str, size: tuple[int, int], ground: str, ratio: float) -> QPixmap:
    """A name with its halo in a box of `size` and a margin of `_HALO`: stroking letters takes long, and a name looks
    the same wherever it stands."""
    pixmap = QPixmap(int(np.ceil((size[0] + 2 * _HALO) * ratio)), int(np.ceil((size[1] + 2 * _HALO) * ratio)))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    under = QColor(ground)
    under.setAlpha(235)
    halo = QPen(under, _HALO, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
    halo.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    font = name_font(italic)
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)  # letters are drawn with overlapping contours
    path.addText(QPointF(_HALO + 2, _HALO + size[1] - QFontMetricsF(font).descent()), font, text)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.strokePath(path, halo)
        painter.fillPath(path, QBrush(QColor(color)))
    return pixmap


def ring(painter: QPainter, place: QPointF, radius: float, theme: Theme) -> None:
    """A ring around a point that is pointed at or whose neighbours are shown."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.color("text"), 1.5))
    painter.drawEllipse(place, radius, radius)


def lasso(painter: QPainter, polygon: QPolygonF, theme: Theme) -> None:
    painter.setPen(QPen(theme.color("accent"), 1.5, Qt.PenStyle.DashLine))
    painter.setBrush(theme.color("accent", 36))
    painter.drawPolygon(polygon)


def color_bar(painter: QPainter, bar: ColorBar, height: int, theme: Theme) -> None:
    """The legend of an ordered colouring, at the lower left."""
    left, top, width = 20, height - 48, 168
    gradient = QLinearGradient(left, 0, left + width, 0)
    for i, stop in enumerate(bar.stops):
        gradient.setColorAt(i / max(1, len(bar.stops) - 1), QColor(stop))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QBrush(gradient))
    painter.drawRoundedRect(QRectF(left, top, width, 8), 4, 4)
    painter.setFont(text_font(SMALL_PX))
    painter.setPen(theme.color("muted"))
    painter.drawText(QRectF(left, top - 20, width, 16), Qt.AlignmentFlag.AlignLeft, bar.title)
    painter.drawText(QRectF(left, top + 12, width, 16), Qt.AlignmentFlag.AlignLeft, bar.low)
    painter.drawText(QRectF(left, top + 12, width, 16), Qt.AlignmentFlag.AlignRight, bar.high)
