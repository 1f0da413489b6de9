"""The handle of a dock: a short bar to drag it by, in place of a title that its sections have already."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QWidget


class Grip(QWidget):
    """Drag to move the dock, double-click to float it; the Window menu hides it."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.setAccessibleName(title)
        self.setToolTip(f"{title}: drag to move, double-click to float")
        self.setCursor(Qt.CursorShape.SizeAllCursor)

    def sizeHint(self) -> QSize:
        return QSize(60, 9)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.fillRect(self.rect(), self.palette().color(QPalette.ColorRole.Window))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.palette().color(QPalette.ColorRole.Mid))
        painter.drawRoundedRect(QRectF((self.width() - 28) / 2, 4, 28, 3), 1.5, 1.5)
