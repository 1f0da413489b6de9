"""Small round buttons that say a word and, quietly, where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from kiruviz.ui.theme import FONT_PX, SECTION_PX, text_font
from kiruviz.ui.widgets.basics import plain_tip

HEIGHT = 26
_GAP = 6
_SIDE = 10
_DISC = 9


@dataclass(frozen=True)
class ChipSpec:
    """What a chip says: `text`, and quietly its `source`, of which `short` is left where there is little room.
    `tip` is its tooltip, `color` that of a disc before it, `value` what it stands for."""

    text: str
    source: str
    tip: str
    value: object
    short: str | None = None
    color: str = ""


class Chip(QPushButton):
    """One of them. It takes the focus by Tab only, so that a click leaves the keyboard where it was."""

    def __init__(self, spec: ChipSpec, parent: QWidget) -> None:
        super().__init__(parent)
        self.spec = spec
        self.setProperty("role", "chip")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(f"{spec.text}, {spec.source}" if spec.source else spec.text)
        self.setToolTip(plain_tip(spec.tip))
        self._source = spec.source
        self._text_font, self._source_font = text_font(FONT_PX), text_font(SECTION_PX)

    def width_with(self, source: str) -> int:
        """How wide it would be with this source."""
        width = 2 * _SIDE + QFontMetrics(self._text_font).horizontalAdvance(self.spec.text) + 1
        width += _DISC + 6 if self.spec.color else 0
        return width + (_GAP + QFontMetrics(self._source_font).horizontalAdvance(source) + 1 if source else 0)

    def place(self, x: int, y: int, room: int, source: str) -> int:
        """Stand at x, y with this source, at most `room` wide; the width it takes."""
        self._source = source
        width = min(self.width_with(source), room)
        self.setGeometry(x, y, width, HEIGHT)
        self.show()
        self.update()
        return width

    def sizeHint(self) -> QSize:
        return QSize(self.width_with(self.spec.source), HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        left, right = _SIDE, self.width() - _SIDE
        if self.spec.color:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self.spec.color))
            painter.drawEllipse(QPointF(left + _DISC / 2, self.height() / 2), _DISC / 2, _DISC / 2)
            left += _DISC + 6
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        metrics = QFontMetrics(self._text_font)
        source_width = QFontMetrics(self._source_font).horizontalAdvance(self._source) if self._source else 0
        room = right - left - (source_width + _GAP if source_width else 0)
        shown = metrics.elidedText(self.spec.text, Qt.TextElideMode.ElideRight, max(room, 40))
        painter.setFont(self._text_font)
        painter.setPen(self.palette().color(QPalette.ColorRole.ButtonText))
        painter.drawText(QRect(left, 0, right - left, self.height()), flags, shown)
        if self._source:
            left += metrics.horizontalAdvance(shown) + _GAP
            painter.setFont(self._source_font)
            painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
            painter.drawText(QRect(left, 0, max(right - left, 0), self.height()), flags, self._source)


class Chips(QWidget):
    """Chips in as many lines as there is room for; those that do not fit are not shown. Tab goes to them from
    the control `after`.

    taken(value) when one is pressed.
    """

    taken = Signal(object)

    def __init__(self, name: str, after: QWidget, lines: int = 2) -> None:
        super().__init__()
        self._after = after
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._lines = lines
        self._chips: list[Chip] = []
        self.shown: list[Chip] = []
        self._fix_height()

    def set_lines(self, lines: int) -> None:
        """How many lines there is room for."""
        if lines != self._lines:
            self._lines = lines
            self._fix_height()
            self._arrange()

    def set_chips(self, specs: Sequence[ChipSpec]) -> None:
        """Show others; the same again change nothing, so that one with the focus keeps it."""
        if [chip.spec for chip in self._chips] == list(specs):
            return
        for chip in self._chips:
            chip.hide()
            chip.deleteLater()
        self._chips = [Chip(spec, self) for spec in specs]
        before = self._after
        for chip in self._chips:
            QWidget.setTabOrder(before, chip)
            before = chip
            chip.clicked.connect(lambda _=False, value=chip.spec.value: self.taken.emit(value))
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def sizeHint(self) -> QSize:
        return QSize(200, self.height())

    def _fix_height(self) -> None:
        self.setFixedHeight(max(self._lines, 0) * (HEIGHT + _GAP) - _GAP)

    def _arrange(self) -> None:
        """Left to right, line by line, as many as fit with short sources; these are long where there is room."""
        width = self.width()
        lines: list[list[Chip]] = [[]]
        for chip in self._chips:
            chip.hide()
            short = sum(other.width_with(_short(other)) + _GAP for other in lines[-1])
            if lines[-1] and short + chip.width_with(_short(chip)) > width:
                lines.append([])
            lines[-1].append(chip)
        self.shown = [chip for line in lines[: self._lines] for chip in line]
        for i, line in enumerate(lines[: self._lines]):
            room = width - sum(chip.width_with(_short(chip)) + _GAP for chip in line) + _GAP
            x = 0
            for chip in line:
                more = chip.width_with(chip.spec.source) - chip.width_with(_short(chip))
                source = chip.spec.source if more <= room else _short(chip)
                room -= more if more <= room else 0
                x += chip.place(x, i * (HEIGHT + _GAP), width - x, source) + _GAP


def _short(chip: Chip) -> str:
    return chip.spec.source if chip.spec.short is None else chip.spec.short
