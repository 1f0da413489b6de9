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
Rows = npt.NDArray[np.int64]


def points(
    painter: QPainter, scene: Scene, screen: npt.NDArray[np.float32], radius: float, theme: Theme, ratio: float
) -> None:
    """All points; while a search lights some the others are dimmed; selected and lit ones lie on top."""
    if not len(screen):
        return
    colors = scene.colors
    if len(scene.lit):
        colors = blend(colors, theme.background, _DIM)
        colors[scene.lit] = scene.colors[scene.lit]
    if len(screen) > CRISP_ROWS:
        width, height = painter.device().width(), painter.device().height()
        image = stamp(screen * ratio, colors, radius * ratio, round(width * ratio), round(height * ratio))
        image.setDevicePixelRatio(ratio)
        painter.drawImage(0, 0, image)
    else:
        _crisp(painter, screen, colors, np.arange(len(screen)), radius, theme, ratio)
    on_top = np.zeros(len(screen), bool)  # not np.union1d, whose first call imports numpy.ma: 20 ms of this frame
    on_top[scene.selected] = on_top[scene.lit] = True
    top = np.flatnonzero(on_top)
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
    shown = colors.tolist()
    for row, (x, y) in zip(rows.tolist(), screen[rows].tolist(), strict=True):
        painter.drawPixmap(QPointF(x - half, y - half), _dot(shown[row], tenths, theme.background, ratio))


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
    halo = QPen(theme.color("background", 235), 5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
    halo.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    for mark, box, leader in annotations.marks:
        color = QColor(mark.color)
        if leader:
            anchor = view.to_screen(np.array([[mark.x, mark.y]], np.float32))[0]
            painter.setPen(QPen(color, 1))
            painter.drawLine(QPointF(*anchor.tolist()), QPointF((box[0] + box[2]) / 2, (box[1] + box[3]) / 2))
        font = name_font(mark.italic)
        path = QPainterPath()
        path.setFillRule(Qt.FillRule.WindingFill)  # letters are drawn with overlapping contours
        path.addText(QPointF(box[0] + 2, box[3] - QFontMetricsF(font).descent()), font, mark.text)
        painter.strokePath(path, halo)
        painter.fillPath(path, QBrush(color))


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
