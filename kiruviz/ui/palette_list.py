"""The command palette's list: headings and entries, with the letters that match emphasised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from kiruviz.ui.finding import places
from kiruviz.ui.palette_entries import Entry, Group
from kiruviz.ui.theme import DARK, SECTION_PX, SMALL_PX, Theme, text_font, token_font

ROW_HEIGHT = 28
NOTHING = "Nothing matches."
_SIDE = 14.0
_SWATCH = 18.0

Index = QModelIndex | QPersistentModelIndex


class PaletteModel(QAbstractListModel):
    """Rows that are an Entry, or a heading's text."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Entry | str] = []
        self.typed = ""

    def set_groups(self, groups: Sequence[Group], typed: str) -> None:
        rows: list[Entry | str] = []
        for group in groups:
            more = group.count > len(group.entries)
            rows.append(f"{group.title}  {len(group.entries)} of {group.count:,}" if more else group.title)
            rows += group.entries
        self.beginResetModel()
        self.rows, self.typed = rows, typed
        self.endResetModel()

    def entry(self, row: int) -> Entry | None:
        """The entry in a row, None for a heading or no row."""
        found = self.rows[row] if 0 <= row < len(self.rows) else None
        return found if isinstance(found, Entry) else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.text if isinstance(row, Entry) else row
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.spoken if isinstance(row, Entry) else row
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if self.entry(index.row()) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class EntryDelegate(QStyledItemDelegate):
    """Draws a heading in small capitals, an entry with swatch, text, detail and key."""

    theme: Theme = DARK

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._text, self._token = text_font(), token_font()
        self._small, self._heading = text_font(SMALL_PX), text_font(SECTION_PX, QFont.Weight.DemiBold)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002
        return QSize(200, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model = index.model()
        assert isinstance(model, PaletteModel)
        row, rect = model.rows[index.row()], QRectF(option.rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, Entry):
            selected = bool(option.state & QStyle.StateFlag.State_Selected)
            self._entry(painter, rect, row, model.typed, selected)
        else:
            painter.setFont(self._heading)
            painter.setPen(QColor(self.theme.muted))
            painter.drawText(rect.adjusted(_SIDE, 6, -_SIDE, 0), _LEFT, row)

    def _entry(self, painter: QPainter, rect: QRectF, entry: Entry, typed: str, selected: bool) -> None:
        if selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self.theme.selected))
            painter.drawRoundedRect(rect.adjusted(6, 1, -6, -1), 6, 6)
        left, right = rect.left() + _SIDE, rect.right() - _SIDE
        if entry.color:
            self._swatch(painter, QPointF(left + 5, rect.center().y()), entry)
            left += _SWATCH
        right -= self._at_right(painter, rect, right, entry.shortcut, "", self.theme.text, self._small)
        beside = entry.blocked or entry.detail
        right -= self._at_right(painter, rect, right, beside, typed, self.theme.muted, self._small)
        font = self._token if entry.exact else self._text
        color = self.theme.muted if entry.blocked else self.theme.text
        text = QFontMetricsF(font).elidedText(
            ("✓ " if entry.checked else "") + entry.text, Qt.TextElideMode.ElideRight, max(right - left, 40.0)
        )
        self._write(painter, QPointF(left, rect.center().y()), text, typed, font, color)

    def _swatch(self, painter: QPainter, middle: QPointF, entry: Entry) -> None:
        painter.setPen(QPen(QColor(entry.color), 1.5) if entry.ring else Qt.PenStyle.NoPen)
        painter.setBrush(Qt.BrushStyle.NoBrush if entry.ring else QColor(entry.color))
        painter.drawEllipse(middle, 4.5, 4.5)

    def _at_right(
        self, painter: QPainter, rect: QRectF, right: float, text: str, typed: str, color: str, font: QFont
    ) -> float:
        """Write a text that ends at `right`; the room it takes."""
        if not text:
            return 0.0
        metrics = QFontMetricsF(font)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width() / 2)
        width = metrics.horizontalAdvance(shown)
        self._write(painter, QPointF(right - width, rect.center().y()), shown, typed, font, color)
        return width + 16.0

    def _write(self, painter: QPainter, at: QPointF, text: str, typed: str, font: QFont, color: str) -> None:
        """A line of text, middle left at `at`, with the letters that match in the accent colour.

        Colour alone: another weight would move the letters while one types. A text layout shapes the line as one,
        also where its script joins letters.
        """
        layout = QTextLayout(text, font)
        marks = []
        for place in places(text, typed) if typed else []:
            mark = QTextLayout.FormatRange()
            mark.start = _utf16(text[:place])
            mark.length = _utf16(text[place])
            look = QTextCharFormat()
            look.setForeground(QColor(self.theme.accent))
            look.setFontUnderline(True)  # colour is not the only sign
            mark.format = look
            marks.append(mark)
        layout.setFormats(marks)
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(10_000)
        layout.endLayout()
        painter.setPen(QColor(color))
        layout.draw(painter, at - QPointF(0, line.height() / 2))


_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


def _utf16(text: str) -> int:
    """How many of Qt's characters a text has."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class PaletteList(QListView):
    """Shows a PaletteModel; the field above it keeps the focus. `run_wanted(row)` on a click."""

    run_wanted = Signal(int)

    def __init__(self, model: PaletteModel, parent: QWidget) -> None:
        super().__init__(parent)
        self.setModel(model)
        self.entries = model
        self.look = EntryDelegate(self)
        self.setItemDelegate(self.look)
        self.setUniformItemSizes(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Matches")
        self.clicked.connect(lambda index: self.run_wanted.emit(index.row()))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.entries.rows:
            with QPainter(self.viewport()) as painter:
                painter.setPen(QColor(self.look.theme.muted))
                painter.drawText(QRectF(_SIDE, 0, 400, ROW_HEIGHT), _LEFT, NOTHING)

    @property
    def current(self) -> Entry | None:
        return self.entries.entry(self.currentIndex().row())

    def choose(self, row: int) -> None:
        """Select an entry and bring it into view, its heading too where it is the first."""
        index = self.entries.index(row)
        self.setCurrentIndex(index)
        if row == 1:
            self.scrollToTop()
        else:
            self.scrollTo(index)

    def choose_first(self, possible: bool) -> None:
        """Select the first entry, or the first that is possible now."""
        for row, entry in enumerate(self.entries.rows):
            if isinstance(entry, Entry) and not (possible and entry.blocked):
                self.choose(row)
                return

    def step(self, step: int) -> None:
        """Go so many entries down (up if negative); one step beyond an end comes back at the other."""
        rows = [row for row in range(len(self.entries.rows)) if self.entries.entry(row) is not None]
        if not rows:
            return
        row = self.currentIndex().row()
        at = rows.index(row) if row in rows else 0
        goal = at + step
        if abs(step) == 1:
            goal %= len(rows)
        self.choose(rows[max(0, min(len(rows) - 1, goal))])

    def page(self) -> int:
        """How many entries a page has."""
        return max(1, self.viewport().height() // ROW_HEIGHT - 1)
