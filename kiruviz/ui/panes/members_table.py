"""The table of a cluster's members: quick to paint, however many there are."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QFontMetrics, QGuiApplication, QMouseEvent, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QHeaderView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from kiruviz.paths import resource
from kiruviz.ui.panes.members_model import DISTANCE, WORD, ZIPF, MembersModel, Positions
from kiruviz.ui.theme import DARK, Theme, text_font, token_font
from kiruviz.ui.widgets.tables import Table

_BOX_ROOM = 28
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_WIDTHS = {DISTANCE: 72, ZIPF: 50}


class MemberDelegate(QStyledItemDelegate):
    """Paints box, word and numbers by itself: a style sheet's painting of a cell takes several times as long."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._fonts = (token_font(), text_font())
        self._metrics = QFontMetrics(self._fonts[0])
        self._tick = QPixmap()
        self.set_theme(DARK)

    def set_theme(self, theme: Theme) -> None:
        self._text, self._selected = QColor(theme.text), QColor(theme.selected)
        self._empty, self._full = QPen(QColor(theme.muted)), QColor(theme.accent)
        self._tick = QPixmap(str(resource("icons", f"check-{theme.ground}.svg")))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        rect, model = option.rect, index.model()
        assert isinstance(model, MembersModel)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self._selected)
        word = index.column() == WORD
        painter.setFont(self._fonts[0 if word else 1])
        shown = model.shown(index.row(), index.column())
        if word:
            self._paint_box(painter, box_of(rect), model.is_checked(index.row()))
            left, room = rect.left() + _BOX_ROOM, rect.width() - _BOX_ROOM - 4
            if self._metrics.horizontalAdvance(shown) > room:
                shown = self._metrics.elidedText(shown, Qt.TextElideMode.ElideRight, room)
            painter.setPen(self._text)
            painter.drawText(left, rect.top(), room, rect.height(), _LEFT, shown)
        else:
            painter.setPen(self._text)
            painter.drawText(rect.left(), rect.top(), rect.width() - 4, rect.height(), _RIGHT, shown)

    def _paint_box(self, painter: QPainter, box: QRect, checked: bool) -> None:
        painter.setPen(Qt.PenStyle.NoPen if checked else self._empty)
        painter.setBrush(self._full if checked else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 3, 3)
        if checked:
            painter.drawPixmap(box.adjusted(1, 1, -1, -1), self._tick)

    def editorEvent(
        self,
        event: QEvent,
        model: QAbstractItemModel,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> bool:
        """A click on the box checks; one beside it only selects."""
        clicked = isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonRelease
        if not clicked or index.column() != WORD or not isinstance(model, MembersModel):
            return False
        if not box_of(option.rect).adjusted(-6, -6, 6, 6).contains(event.position().toPoint()):  # type: ignore[attr-defined]
            return False
        model.check([model.rows[index.row()]], not model.is_checked(index.row()))
        return True


def box_of(cell: QRect) -> QRect:
    """Where the box to check stands in a cell."""
    return QRect(cell.left() + 6, cell.center().y() - 6, 14, 14)


class MembersTable(Table):
    """Copies what is checked, else what is selected."""

    def __init__(self, model: MembersModel) -> None:
        super().__init__(model, "Members")
        self._members = model
        header = self.horizontalHeader()
        self.stretch(WORD)
        for column, width in _WIDTHS.items():
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            self.setColumnWidth(column, width)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionsClickable(True)
        self.delegate = MemberDelegate(self)
        self.setItemDelegate(self.delegate)

    def selected_rows(self) -> list[int]:
        """Places in the list of what is selected, ascending."""
        return sorted(index.row() for index in self.selectionModel().selectedRows())

    def marked(self) -> Positions:
        """Positions of the checked rows, else of the selected ones."""
        checked = self._members.checked
        return checked if len(checked) else np.sort(self._members.rows[self.selected_rows()])

    def copy_selected(self) -> None:
        listed = [at for at in range(len(self._members.rows)) if self._members.is_checked(at)]
        self._copy(listed or self.selected_rows())

    def _copy(self, rows: Sequence[int]) -> None:
        """As Table's, but column by column: twenty thousand rows must not hold the window."""
        columns = self._members.columns(rows)
        text = io.StringIO()
        writer = csv.writer(text, delimiter="\t", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        QGuiApplication.clipboard().setText(text.getvalue())
