"""What became of the names: each answer of the former clusters, where it is now, and what can be done about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QHeaderView, QVBoxLayout

from kiruviz.jobs.helper import JobError
from kiruviz.session.labels import Answer
from kiruviz.tasks import carrying
from kiruviz.tasks.carrying import Fate, Whereabouts
from kiruviz.ui.theme import FONT_PX, text_font
from kiruviz.ui.widgets.basics import Choice, button, hairline, label, number, plain_tip, row
from kiruviz.ui.widgets.tables import RowsModel, Table

if TYPE_CHECKING:
    from kiruviz.ui.window import MainWindow

DOTS_PX = 8
SURE = ("", "●○○", "●●○", "●●●")


def state_of(fate: Fate, clusters: dict[int, Answer]) -> str:
    """In a word or two what became of an answer."""
    if fate.new is None:
        return "no cluster"
    now = clusters[fate.new]
    if (now.status, now.name.casefold()) == (fate.answer.status, fate.answer.name.casefold()):
        return "carried over"
    return f"now “{now.name}”" if now.status == "named" else f"now {now.title}"


class FatesModel(RowsModel):
    """A row for each answer; what no cluster continues stands out by its words and its colour."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(("name", "sure", "rows", "what became of it", "cluster", "overlap"), window)
        self.right_aligned = frozenset({2, 5})
        self.fates: list[Fate] = []
        self._window = window

    def fill(self, found: Whereabouts) -> None:
        lost_first = sorted(found.fates, key=lambda fate: fate.new is not None)
        self.fates = lost_first
        self.set_rows(
            [
                (f.answer.title, SURE[f.answer.confidence], f.size, state_of(f, found.clusters), f.new, f.overlap)
                for f in lost_first
            ]
        )

    def shown(self, value: Any, column: int) -> str:
        if value is None or (column == 5 and not value):
            return "–"
        return number(value, 2) if column == 5 else f"{value:,}" if column == 2 else str(value)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        fate = self.fates[index.row()]
        theme = self._window.themes.theme
        if role == Qt.ItemDataRole.FontRole and index.column() == 0 and fate.answer.status == "resists":
            return text_font(FONT_PX, italic=True)
        if role == Qt.ItemDataRole.FontRole and index.column() == 1:
            return text_font(DOTS_PX)
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == 3:
            return QColor(theme.warning if fate.new is None else theme.text)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(f"{fate.answer.title}\n{fate.answer.note}".strip())
        return super().data(index, role)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """The order says what is to be looked at first, and stays."""


class NamesReport(QDialog):
    """The list, and below it what can be done with the selected row. It follows every change and undo."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._found: Whereabouts | None = None
        self.setWindowTitle("What became of the names")
        self.resize(720, 520)
        self.summary = label("Comparing the clusters…", "muted", wrap=True)
        self.model = FatesModel(window)
        self.table = Table(self.model, "What became of the names")
        self.table.stretch(3)
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.about = label("", "muted", wrap=True)
        self.about.setMinimumHeight(36)
        self.target = Choice(name="Cluster that gets the name")
        self.target.setMinimumWidth(220)
        self.go = button("Go to the cluster", self._go, tip="Close this list and show the cluster on the map")
        self.give = button("Give the name to it", self._give)
        self.revive = button("Bring its rows back as a cluster", self._revive)
        self.restore = button("Restore the former set", self._restore, tip="Go back to the clusters this name is from")
        self._lay_out()
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._show_row())
        self.table.activated_row.connect(lambda _: self._go())
        window.document.labels_changed.connect(self.refresh)
        undo = QShortcut(QKeySequence(QKeySequence.StandardKey.Undo), self)
        undo.activated.connect(window.commands.undo)
        self._show_row()
        self.refresh()

    def _lay_out(self) -> None:
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 18, 20, 16)
        box.setSpacing(10)
        box.addWidget(label("What became of the names", "title"))
        box.addWidget(self.summary)
        box.addWidget(self.table, 1)
        box.addWidget(hairline())
        box.addWidget(self.about)
        box.addLayout(row(label("Cluster", "muted"), self.target, self.give, 1, self.go))
        box.addLayout(row(self.revive, self.restore, 1, button("Close", self.accept)))

    @property
    def fate(self) -> Fate | None:
        """The answer that is selected."""
        index = self.table.currentIndex()
        return self.model.fates[index.row()] if index.isValid() else None

    def refresh(self) -> None:
        """Compare the former sets with the present one anew."""
        session = self._window.document.session
        if session is None:
            return
        job = self._window.runner.start(
            "model", "Comparing the clusters", carrying.whereabouts, str(session.path), key="whereabouts", quiet=True
        )
        job.succeeded.connect(self._show)
        job.failed.connect(self._say)

    def _show(self, found: Whereabouts | None) -> None:
        labels = self._window.document.labels
        if found is None or labels is None or labels.set_id != found.set_id:
            self.summary.setText("There are no clusters on the map yet.")
            return
        kept = self.table.currentIndex().row()
        self._found = found
        self.model.fill(found)
        self.summary.setText(summary(found))
        self.target.set_items([(i, f"{i}  {labels.clusters[i].title}") for i in labels.order])
        if found.fates:
            self.table.selectRow(min(max(kept, 0), len(found.fates) - 1))
            self.table.setFocus()
        self._show_row()

    def _say(self, error: JobError) -> None:
        self.summary.setText(error.sentence)

    def _show_row(self) -> None:
        fate, found = self.fate, self._found
        self.about.setText("" if fate is None or found is None else self._about(fate, found))
        lost = fate is not None and fate.new is None
        self.go.setEnabled(fate is not None and bool(fate.heirs))
        self.revive.setEnabled(lost and fate is not None and len(fate.rows) > 0)
        for part in (self.give, self.target, self.restore):
            part.setEnabled(fate is not None)
        if fate is not None and fate.heirs:
            self.target.set_value(fate.new if fate.new is not None else fate.heirs[0][0])

    def _about(self, fate: Fate, found: Whereabouts) -> str:
        where = ", ".join(
            f"{count:,} in {i} ({found.clusters[i].title})" for i, count in fate.heirs if i in found.clusters
        )
        place = f"Its rows are now: {where}." if where else "None of its rows is in a cluster on this map."
        note = f" Note: {fate.answer.note}" if fate.answer.note else ""
        return f"{fate.answer.title}, cluster {fate.cluster_id} of {fate.size:,} rows. {place}{note}"

    # What can be done

    def _go(self) -> None:
        fate = self.fate
        if fate is not None and (fate.new is not None or fate.heirs):
            self.accept()
            self._window.commands.go_to_cluster(fate.new if fate.new is not None else fate.heirs[0][0])

    def _give(self) -> None:
        target = self.target.value
        if self.fate is not None and isinstance(target, int):
            self._window.commands.labels.give_name(self.fate, target)

    def _revive(self) -> None:
        if self.fate is not None and self._found is not None:
            self._window.commands.labels.bring_back(self.fate, self._found.space_id)

    def _restore(self) -> None:
        if self.fate is not None:
            self._window.commands.labels.restore(self.fate.set_id)


def summary(found: Whereabouts) -> str:
    """One line: how many names live on, and how many wait."""
    if not found.fates:
        return "No cluster of a former set was named or marked, so there is nothing to report."
    lost = sum(fate.new is None for fate in found.fates)
    kept = len(found.fates) - lost
    parts = [f"{kept} of {len(found.fates)} have a cluster"]
    if lost:
        parts.append(f"{lost} found none and {'waits' if lost == 1 else 'wait'} for one: nothing is dropped")
    return "; ".join(parts) + "."
