"""Tables a person can sort, copy from and save."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

Index = QModelIndex | QPersistentModelIndex
SORT_ROLE = int(Qt.ItemDataRole.UserRole)


class RowsModel(QAbstractTableModel):
    """Rows of values under headings. `shown` of each cell is text, `value` what it is sorted and copied by."""

    def __init__(self, headings: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.headings = tuple(headings)
        self.rows: list[tuple[Any, ...]] = []
        self.right_aligned: frozenset[int] = frozenset()

    def set_rows(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self.beginResetModel()
        self.rows = list(rows)
        self.endResetModel()

    def shown(self, value: Any, column: int) -> str:  # noqa: ARG002  (a subclass looks at the column)
        return str(value)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.headings)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        value = self.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self.shown(value, index.column())
        if role == SORT_ROLE:
            return value
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in self.right_aligned:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return self.headings[section]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                side = Qt.AlignmentFlag.AlignRight if section in self.right_aligned else Qt.AlignmentFlag.AlignLeft
                return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.layoutAboutToBeChanged.emit()
        self.rows.sort(key=lambda row: row[column], reverse=order == Qt.SortOrder.DescendingOrder)
        self.layoutChanged.emit()


class Table(QTableView):
    """A quiet table: whole rows are selected, Ctrl+C copies them, the menu copies all of them.

    activated_row(row) on Enter or a double click.
    """

    activated_row = Signal(int)

    def __init__(self, model: QAbstractTableModel, name: str) -> None:
        super().__init__()
        self.setModel(model)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(26)
        self.verticalHeader().setMinimumSectionSize(20)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        copy = QAction("Copy", self)
        copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        copy.triggered.connect(self.copy_selected)
        copy_all = QAction("Copy the whole table", self)
        copy_all.triggered.connect(lambda: self._copy(range(self.model().rowCount())))
        self.addActions([copy, copy_all])
        self.doubleClicked.connect(lambda index: self.activated_row.emit(index.row()))

    def stretch(self, column: int) -> None:
        self.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)

    def copy_selected(self) -> None:
        self._copy([index.row() for index in self.selectionModel().selectedRows()])

    def _copy(self, rows: Sequence[int]) -> None:
        """Put rows on the clipboard as tab-separated text with headings, quoted where a token needs it."""
        model = self.model()
        text = io.StringIO()
        writer = csv.writer(text, delimiter="\t", lineterminator="\n")
        columns = range(model.columnCount())
        writer.writerow([model.headerData(c, Qt.Orientation.Horizontal) for c in columns])
        for row in rows:
            writer.writerow([_copied(model.data(model.index(row, c), SORT_ROLE)) for c in columns])
        QGuiApplication.clipboard().setText(text.getvalue())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.activated_row.emit(self.currentIndex().row())
            return
        super().keyPressEvent(event)

    def keyboardSearch(self, search: str) -> None:
        """Letters are labelling keys here, not a search."""


def _copied(value: Any) -> Any:
    return "" if value is None else value
