"""The former sets of names: what each held, seen before it is brought back."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QVBoxLayout

from kiruviz.analysis.grouping import TITLES
from kiruviz.session.journal import LabelSetInfo
from kiruviz.ui.names_report import DOTS_PX, SURE
from kiruviz.ui.theme import FONT_PX, text_font
from kiruviz.ui.widgets.basics import button, label, plain_tip, row
from kiruviz.ui.widgets.tables import RowsModel, Table

if TYPE_CHECKING:
    from kiruviz.ui.window import MainWindow


class SetsModel(RowsModel):
    """A row for each set, the latest first."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(("made", "how", "of", "rows", "named", "resist", "clusters"), window)
        self.right_aligned = frozenset({3, 4, 5, 6})

    def fill(self, sets: list[LabelSetInfo], current: int | None) -> None:
        self.set_rows(
            [(when(s, current), made_by(s), s.space_title, s.rows, s.named, s.resists, s.clusters) for s in sets]
        )

    def shown(self, value: Any, column: int) -> str:
        return f"{value:,}" if column in self.right_aligned else str(value)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.ToolTipRole and index.column() in (1, 2):
            return plain_tip(str(self.rows[index.row()][index.column()]))
        return super().data(index, role)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """In the order of time, as undo goes."""


class NamesModel(RowsModel):
    """The answers of one set, named ones first."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(("", "name", "sure", "rows", "note"), window)
        self.right_aligned = frozenset({0, 3})
        self.italic: set[int] = set()

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.FontRole and index.column() == 1 and self.rows[index.row()][0] in self.italic:
            return text_font(FONT_PX, italic=True)
        if role == Qt.ItemDataRole.FontRole and index.column() == 2:
            return text_font(DOTS_PX)
        if role == Qt.ItemDataRole.ToolTipRole and index.column() in (1, 4):
            return plain_tip(str(self.rows[index.row()][index.column()]))
        return super().data(index, role)


class FormerSets(QDialog):
    """All sets of clusters of the session; the names of the selected one stand below."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._sets: list[LabelSetInfo] = []
        self.setWindowTitle("Former sets of names")
        self.resize(820, 600)
        self.summary = label("", "muted", wrap=True)
        self.model = SetsModel(window)
        self.table = Table(self.model, "Sets of names")
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.stretch(2)
        self.names = NamesModel(window)
        self.preview = Table(self.names, "Names of the selected set")
        self.preview.stretch(4)
        self.nothing = label("", "muted", wrap=True)
        self.restore = button("Restore this set", self._restore, "primary", "Make it the present set; can be undone")
        self.carry = button("Carry its names over here", self._carry, tip="Onto present clusters without an answer")
        self._lay_out()
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._show_set())
        self.table.activated_row.connect(lambda _: self._restore())
        window.document.labels_changed.connect(self.refresh)
        undo = QShortcut(QKeySequence(QKeySequence.StandardKey.Undo), self)
        undo.activated.connect(window.commands.undo)
        self.refresh()
        self.table.setFocus()

    def _lay_out(self) -> None:
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 18, 20, 16)
        box.setSpacing(10)
        box.addWidget(label("Former sets of names", "title"))
        box.addWidget(self.summary)
        box.addWidget(self.table, 3)
        box.addWidget(label("ITS NAMES", "section"))
        box.addWidget(self.nothing)
        box.addWidget(self.preview, 2)
        box.addLayout(row(self.carry, 1, button("Close", self.accept), self.restore))

    @property
    def chosen(self) -> LabelSetInfo | None:
        """The set that is selected."""
        index = self.table.currentIndex()
        return self._sets[index.row()] if index.isValid() else None

    def refresh(self) -> None:
        """List the sets anew, keeping the selection."""
        session = self._window.document.session
        chosen = self.chosen
        self._sets = [] if session is None else session.label_sets()[::-1]
        current = session.labels.set_id if session is not None and session.labels is not None else None
        self.model.fill(self._sets, current)
        self.summary.setText(
            "Each clustering is kept with its names. Restoring one is a step that undo takes back."
            if self._sets
            else "There are no clusters yet: once the map is clustered, each set of names is kept here."
        )
        ids = [s.set_id for s in self._sets]
        wanted = chosen.set_id if chosen is not None and chosen.set_id in ids else self._first(current)
        if wanted is not None:
            self.table.selectRow(ids.index(wanted))
        self._show_set()

    def _first(self, current: int | None) -> int | None:
        """The latest set with an answer that is not the present one; else the latest."""
        answered = (s.set_id for s in self._sets if s.set_id != current and s.named + s.resists)
        return next(answered, self._sets[0].set_id if self._sets else None)

    def _show_set(self) -> None:
        session, chosen = self._window.document.session, self.chosen
        if session is None or chosen is None:
            self.names.set_rows([])
            self.nothing.setText("")
            self.restore.setEnabled(False)
            self.carry.setEnabled(False)
            return
        labels = session.label_set(chosen.set_id)
        answered = [labels.clusters[i] for i in labels.order if labels.clusters[i].status != "unnamed"]
        answered.sort(key=lambda cluster: cluster.status != "named")
        sizes = labels.sizes()
        self.names.italic = {c.cluster_id for c in answered if c.status == "resists"}
        self.names.set_rows(
            [(c.cluster_id, c.title, SURE[c.confidence], sizes[c.cluster_id], c.note) for c in answered]
        )
        self.nothing.setText("" if answered else "Nothing was named in this set.")
        self.nothing.setVisible(not answered)
        present = session.labels is not None and session.labels.set_id == chosen.set_id
        self.restore.setEnabled(not present)
        self.carry.setEnabled(not present and bool(answered) and self._window.document.labels is not None)

    def _restore(self) -> None:
        if self.chosen is not None and self.restore.isEnabled():
            self._window.commands.labels.restore(self.chosen.set_id)

    def _carry(self) -> None:
        if self.chosen is not None:
            self._window.commands.labels.carry_from(self.chosen.set_id)


def when(info: LabelSetInfo, current: int | None) -> str:
    made = datetime.fromtimestamp(info.time).strftime("%d %B, %H:%M")
    return f"{made} (present)" if info.set_id == current else made


def made_by(info: LabelSetInfo) -> str:
    """The method and its parameters, as text."""
    method = next((title for name, title in TITLES.items() if name == info.method), info.method)
    params = ", ".join(f"{name} {value}" for name, value in info.params.items() if value is not None)
    return f"{method}, {params}" if params else method
