"""All members of the selected cluster, nearest its centroid first; what is checked is moved or set aside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QIcon, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QLineEdit, QVBoxLayout, QWidget

from kiruviz.analysis.grouping import rest_title
from kiruviz.palette import cluster_color
from kiruviz.session.labels import ASIDE, LabelSet
from kiruviz.ui.conductor import Conductor
from kiruviz.ui.document import Document
from kiruviz.ui.panes.members_model import DISTANCE, WORD, ZIPF, MembersModel, Positions
from kiruviz.ui.panes.members_table import MembersTable
from kiruviz.ui.theme import DARK, Theme
from kiruviz.ui.widgets.basics import button, label, row
from kiruviz.ui.widgets.picker import Picker, disc

_NEW = -2  # in the list of clusters to move to: a new one
_FILTER = "CSV (*.csv);;Parquet (*.parquet)"


class MembersPane(QWidget):
    """The list, its filter and its verbs. Each verb is one step that undo takes back.

    row_wanted(position) on Enter or a double click; left() on Esc with nothing checked; told(sentence).
    """

    row_wanted = Signal(int)
    left = Signal()
    told = Signal(str)

    def __init__(self, document: Document, conductor: Conductor) -> None:
        super().__init__()
        self._document = document
        self._conductor = conductor
        self._theme = DARK
        self._record: object = None
        self._aside = False  # whether the rows in no cluster are listed
        self._listed: tuple[int, int | None] | None = None  # set and cluster
        self.model = MembersModel()
        self.table = MembersTable(self.model)
        self.table.setMinimumHeight(76)
        self.filter = QLineEdit()
        self.filter.setAccessibleName("Filter the members")
        self.filter.setPlaceholderText("Filter")
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._filter)
        self.count = label("", "small")
        self.set_aside_button = button("Set aside", self.set_aside, "link", "Take them out of the cluster (Del)")
        self.move_button = button("Move…", self.pick, "link", "Move them to another cluster (M)")
        self.new_button = button("New cluster", self.new_cluster, "link", "Put them in a cluster of their own")
        self.aside_button = button("", self.toggle_aside, "link", "List the rows that are in no cluster")
        box = QVBoxLayout(self)
        box.setContentsMargins(14, 8, 14, 6)
        box.setSpacing(6)
        box.addLayout(row(self.filter, self.count))
        box.addWidget(self.table, 1)
        verbs = (self.set_aside_button, self.move_button, self.new_button)
        box.addLayout(row(*verbs, 1, self.aside_button, spacing=14))
        self.picker = Picker(self, "Cluster to move to")
        self.picker.chosen.connect(self._move_to)
        self.picker.left.connect(self.table.setFocus)
        self._add_actions()
        self.table.activated_row.connect(lambda at: self.row_wanted.emit(int(self.model.rows[at])))
        self.table.horizontalHeader().sectionClicked.connect(self.sort_by)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._show_count())
        self.model.checks_changed.connect(self._show_count)
        for signal in (document.space_changed, document.labels_changed, document.selection_changed):
            signal.connect(self.refresh)
        document.distances_changed.connect(self._distances_changed)
        self.refresh()

    def _add_actions(self) -> None:
        """The verbs in the list's menu, with their keys; Table has put those for copying there."""
        table = self.table
        entries: Sequence[tuple[str, Callable[[], object], str]] = (
            ("Show on the map\tEnter", self._show_current, ""),
            ("Check", self.toggle_check, "Space"),
            ("Check all", self.check_all, "Ctrl+A"),
            ("Clear the checks", self.clear_checks, "Esc"),
            ("", lambda: None, ""),
            ("Move…", self.pick, "M"),
            ("New cluster", self.new_cluster, ""),
            ("Set aside", self.set_aside, "Del"),
            ("", lambda: None, ""),
            ("Sort by word", lambda: self.sort_by(WORD), ""),
            ("Sort by distance", lambda: self.sort_by(DISTANCE), ""),
            ("Sort by frequency", lambda: self.sort_by(ZIPF), ""),
            ("", lambda: None, ""),
            ("Save the list…", self.save, ""),
        )
        for title, run, key in entries:
            action = QAction(title, table)
            action.setSeparator(not title)
            action.triggered.connect(lambda _=False, run=run: run())
            if key:
                action.setShortcut(QKeySequence(key))
                action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            table.addAction(action)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.table.delegate.set_theme(theme)
        self.table.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.picker.isVisible():
            self.picker.place()

    # What is listed

    def focus(self) -> None:
        """Put the keyboard in the list, on the nearest member if none was chosen yet."""
        self.table.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if not self.table.selectionModel().hasSelection() and len(self.model.rows):
            self.table.selectRow(max(self.table.currentIndex().row(), 0))

    def refresh(self) -> None:
        """List the members of the document's selected cluster, or the rows in no cluster."""
        document = self._document
        if document.record is not self._record:
            self._record = document.record
            self.model.set_record(document.record)
            self.model.set_distances(document.distances)
        labels = document.labels
        wanted = None if labels is None else (labels.set_id, document.cluster_id)
        another = wanted != self._listed
        if another:
            self._listed = wanted
            self._aside = False
            self.model.uncheck_all()
        members = self._members()
        if self._aside and not len(members):
            self._aside = False
            members = self._members()
        if not np.array_equal(members, self.model.members):
            self._keeping_place(lambda: self.model.set_members(members), not another)
        self._show_count()

    def _members(self) -> Positions:
        labels, cluster_id = self._document.labels, self._document.cluster_id
        if labels is None:
            return np.zeros(0, np.int64)
        return labels.members(ASIDE if self._aside or cluster_id is None else cluster_id)

    def toggle_aside(self) -> None:
        """List the rows in no cluster, or the cluster's members again."""
        self._aside = not self._aside
        self.model.uncheck_all()
        self.refresh()

    def _distances_changed(self) -> None:
        self._keeping_place(lambda: self.model.set_distances(self._document.distances), True)

    def sort_by(self, column: int) -> None:
        """Sort by a column; a second time the other way round."""
        before, descending = self.model.order
        way = not descending if column == before else column == ZIPF  # the most frequent first
        order = Qt.SortOrder.DescendingOrder if way else Qt.SortOrder.AscendingOrder
        self._keeping_place(lambda: self.model.sort(column, order), True)

    def _filter(self, typed: str) -> None:
        self._keeping_place(lambda: self.model.set_filter(typed), True)
        self._show_count()

    def _keeping_place(self, change: Callable[[], None], stay: bool) -> None:
        """Do what makes the list anew; with `stay` the current row remains it, or the one that took its place."""
        at = self.table.currentIndex().row()
        position = int(self.model.rows[at]) if 0 <= at < len(self.model.rows) else -1
        scrolled = self.table.verticalScrollBar().value()
        change()
        rows = self.model.rows
        if not stay or position < 0 or not len(rows):
            self.table.scrollToTop()
            return
        found = np.flatnonzero(rows == position)
        self.table.selectRow(int(found[0]) if len(found) else min(at, len(rows) - 1))
        if not len(found):
            self.table.verticalScrollBar().setValue(scrolled)

    def _show_count(self) -> None:
        model = self.model
        whole, shown, checked = len(model.members), len(model.rows), len(model.checked)
        if checked:
            text = f"{checked:,} of {whole:,} checked"
        elif shown != whole:
            text = f"{shown:,} of {whole:,} shown"
        elif self._aside:
            text = f"{whole:,} {self._rest()}"
        else:
            text = "1 member" if whole == 1 else f"{whole:,} members"
        self.count.setText(text)
        marked = bool(checked or self.table.selectionModel().hasSelection())
        self.set_aside_button.setEnabled(marked and not self._aside)
        self.move_button.setEnabled(marked)
        self.new_button.setEnabled(marked)
        labels = self._document.labels
        aside = 0 if labels is None else len(labels.assignment) - sum(labels.sizes().values())
        self.aside_button.setVisible(self._aside or aside > 0)
        self.aside_button.setText("Back to the cluster" if self._aside else f"{aside:,} {self._rest()}")

    def _rest(self) -> str:
        """What rows in no cluster are called here: noise, or set aside by hand."""
        labels = self._document.labels
        noise = labels is not None and rest_title(labels.method) == "noise"
        return "noise" if noise else "set aside"

    # Checks

    def toggle_check(self) -> None:
        """Check the selected rows, or uncheck them if the current one is checked."""
        places = self.table.selected_rows()
        if places:
            current = self.table.currentIndex().row()
            on = not self.model.is_checked(current if current in places else places[0])
            self.model.check(self.model.rows[places], on)

    def check_all(self) -> None:
        """Check all rows that are listed."""
        self.model.check(self.model.rows, True)

    def clear_checks(self) -> None:
        """Uncheck all; with nothing checked, give the keyboard back."""
        if len(self.model.checked):
            self.model.uncheck_all()
        else:
            self.left.emit()

    # Verbs

    def _marked(self) -> Positions:
        marked = self.table.marked()
        if not len(marked):
            self.told.emit("Check members first (Space), or choose one.")
        return marked

    def set_aside(self) -> None:
        """Take the checked rows, else the selected ones, out of the cluster."""
        rows = np.zeros(0, np.int64) if self._aside else self._marked()
        if len(rows):
            self._document.label(lambda session: session.set_aside(rows))
            self.told.emit(f"Set aside {_rows(rows)}. Undo brings {_them(rows)} back.")

    def pick(self) -> None:
        """Ask for the cluster to move the checked rows, else the selected ones, to."""
        rows, labels = self._marked(), self._document.labels
        if len(rows) and labels is not None:
            self.picker.open(f"Move {_rows(rows)} to", self._targets(labels))

    def _targets(self, labels: LabelSet) -> list[tuple[object, str, QIcon | None]]:
        """The other clusters, and a new one; those that are named first."""
        here = None if self._aside else self._document.cluster_id
        others = [labels.clusters[c] for c in labels.order if c != here]
        others.sort(key=lambda cluster: cluster.status == "unnamed")
        made: list[tuple[object, str, QIcon | None]] = [
            (c.cluster_id, c.title, disc(cluster_color(c.color, self._theme.ground))) for c in others
        ]
        return [*made, (_NEW, "A new cluster", None)]

    def _move_to(self, cluster_id: object) -> None:
        self.table.setFocus()
        if cluster_id == _NEW:
            self.new_cluster()
            return
        rows, labels = self._marked(), self._document.labels
        if len(rows) and labels is not None and isinstance(cluster_id, int):
            self._document.label(lambda session: session.move(rows, cluster_id))
            self.told.emit(f"Moved {_rows(rows)} to {labels.clusters[cluster_id].title}. Undo brings them back.")

    def new_cluster(self) -> None:
        """Make a cluster of the checked rows, else the selected ones, and go there."""
        rows = self._marked()
        if len(rows):
            before = self._document.labels
            colors = self._document.new_colors(rows)
            self._document.label(lambda session: session.new_cluster(rows, colors))
            labels = self._document.labels
            if labels is not before and labels is not None:
                self._document.select_cluster(int(labels.assignment[rows[0]]))
                self.table.setFocus()

    def _show_current(self) -> None:
        at = self.table.currentIndex().row()
        if at >= 0:
            self.row_wanted.emit(int(self.model.rows[at]))

    def save(self) -> None:
        """Save the list as it is shown, as CSV or Parquet."""
        name, chosen = QFileDialog.getSaveFileName(self, "Save the list", "members.csv", _FILTER)
        if name:
            suffix = ".parquet" if "parquet" in chosen else ".csv"
            path = Path(name) if Path(name).suffix else Path(name + suffix)
            job = self._conductor.write_members(self.model.columns(range(len(self.model.rows))), path)
            job.succeeded.connect(lambda written: self.told.emit(f"Wrote {Path(str(written)).name}"))


def _rows(rows: npt.NDArray[np.int64]) -> str:
    return "1 row" if len(rows) == 1 else f"{len(rows):,} rows"


def _them(rows: npt.NDArray[np.int64]) -> str:
    return "it" if len(rows) == 1 else "them"
