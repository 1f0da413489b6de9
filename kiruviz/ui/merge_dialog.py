"""Two people's labels of one map: where they differ, and what to take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QDialog, QHeaderView, QVBoxLayout

from kiruviz.session.labels import Answer
from kiruviz.tasks.label_merge import COMPARED, DEFAULTS, Choice, Comparison, Conflict
from kiruviz.ui.names_report import SURE
from kiruviz.ui.widgets.basics import button, hairline, label, number, plain_tip, row
from kiruviz.ui.widgets.tables import RowsModel, Table

if TYPE_CHECKING:
    from kiruviz.ui.window import MainWindow

_CHOICES: dict[Choice, str] = {"mine": "mine", "theirs": "theirs", "both": "both, theirs as note"}
_KEYS: dict[int, Choice] = {Qt.Key.Key_1: "mine", Qt.Key.Key_2: "theirs", Qt.Key.Key_3: "both"}
_KINDS = {
    "different names": "different names",
    "resists or named": "one resists, one named",
    "no such cluster": "no such cluster here",
    "only theirs": "only theirs named",
    "only mine": "only mine named",
    "note": "other note or confidence",
}


class ConflictsModel(RowsModel):
    """A row for each difference; those without a choice stand out by their words and their colour."""

    def __init__(self, window: MainWindow, found: Comparison) -> None:
        super().__init__(("cluster", "members", "mine", "theirs", "difference", "overlap", "take"), window)
        self.right_aligned = frozenset({5})
        self._window = window
        self.conflicts = found.conflicts
        self.choices: dict[int, Choice] = {
            place: default
            for place, conflict in enumerate(found.conflicts)
            if (default := DEFAULTS[conflict.kind]) is not None
        }
        self.refill()

    def refill(self) -> None:
        self.set_rows(
            [
                (
                    "–" if c.mine is None else str(c.mine), f"{c.size:,}: {c.members}", _said(c.my_answer),
                    _said(c.their_answer), _KINDS[c.kind], c.overlap or None, self.choice_text(place),
                )
                for place, c in enumerate(self.conflicts)
            ]
        )  # fmt: skip

    def choice_text(self, place: int) -> str:
        choice = self.choices.get(place)
        return "choose…" if choice is None else _CHOICES[choice]

    def choose(self, place: int, choice: Choice) -> None:
        """Choose for one difference; the selection stays."""
        self.choices[place] = choice
        self.rows[place] = (*self.rows[place][:-1], self.choice_text(place))
        self.dataChanged.emit(self.index(place, 0), self.index(place, self.columnCount() - 1))

    def shown(self, value: Any, column: int) -> str:
        return number(value, 2) if column == 5 else str(value)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == 6:
            theme = self._window.themes.theme
            return QColor(theme.accent if index.row() in self.choices else theme.warning)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(str(self.rows[index.row()][index.column()] or ""))
        return super().data(index, role)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """What has to be decided comes first, and stays there."""


class ConflictsTable(Table):
    """1, 2 and 3 choose for the selected rows: chosen(choice)."""

    chosen = Signal(str)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        choice = _KEYS.get(event.key())
        if choice is not None and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            self.chosen.emit(choice)
            return
        super().keyPressEvent(event)


class MergeDialog(QDialog):
    """The agreement, the differences with a choice each, and one button that takes them as one step."""

    def __init__(self, window: MainWindow, found: Comparison) -> None:
        super().__init__(window)
        self._window = window
        self._found = found
        self.setWindowTitle("Merge with another person's labels")
        self.resize(980, 600)
        self.agreement = label(found.sentence(), wrap=True, selectable=True)
        self.model = ConflictsModel(window, found)
        self.table = ConflictsTable(self.model, "Differences")
        self.table.stretch(1)
        for column in (2, 3):
            self.table.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            self.table.setColumnWidth(column, 140)
        self.about = label("", "muted", wrap=True)
        self.about.setMinimumHeight(36)
        self.to_go = label("", "muted")
        self.take = button("Take over", self._take, "primary", "One step, which undo takes back")
        self._choosers = [
            button("Mine (1)", lambda: self.choose("mine")),
            button("Theirs (2)", lambda: self.choose("theirs")),
            button("Both, theirs as note (3)", lambda: self.choose("both")),
        ]
        self._lay_out()
        self.table.chosen.connect(self._choose_key)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._show_row())
        if found.conflicts:
            self.table.selectRow(0)
        self._show_row()
        self._count()
        self.table.setFocus()

    def _lay_out(self) -> None:
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 18, 20, 16)
        box.setSpacing(10)
        box.addWidget(label(f"Your labels and those of {self._found.source}", "title", wrap=True))
        box.addWidget(self.agreement)
        same = "1 cluster is" if self._found.same == 1 else f"{self._found.same} clusters are"
        box.addWidget(label(f"{same} labelled alike; {COMPARED}. Members stay as they are here.", "muted", wrap=True))
        box.addWidget(self.table, 1)
        box.addWidget(hairline())
        box.addWidget(self.about)
        box.addLayout(row(label("Take for the selected rows", "muted"), *self._choosers, 1))
        box.addLayout(row(self.to_go, 1, button("Close", self.reject), self.take))

    def _show_row(self) -> None:
        index = self.table.currentIndex()
        for chooser in self._choosers:
            chooser.setEnabled(index.isValid())
        if not self.model.conflicts:
            self.about.setText("Nothing differs.")
        else:
            self.about.setText(_about(self.model.conflicts[index.row()]) if index.isValid() else "")

    def _choose_key(self, choice: Choice) -> None:
        """A key chooses and goes on to the next difference without a choice."""
        selected = self.table.selectionModel().selectedRows()
        self.choose(choice)
        waiting = [i for i in range(len(self.model.conflicts)) if i not in self.model.choices]
        if len(selected) == 1 and waiting:
            self.table.selectRow(next((i for i in waiting if i > selected[0].row()), waiting[0]))

    def choose(self, choice: Choice) -> None:
        """Take `choice` for the selected rows."""
        for index in self.table.selectionModel().selectedRows():
            self.model.choose(index.row(), choice)
        self._count()

    def _count(self) -> None:
        to_go = len(self.model.conflicts) - len(self.model.choices)
        self.to_go.setText(f"{to_go} still to choose" if to_go else "")
        self.take.setEnabled(not to_go and bool(self.model.conflicts))

    def _take(self) -> None:
        self.accept()
        self._window.commands.labels.take_choices(self._found, self.model.choices)


def _said(answer: Answer) -> str:
    if answer.status == "unnamed":
        return "–"
    return f"{answer.title} {SURE[answer.confidence]}".strip()


def _about(conflict: Conflict) -> str:
    """Both answers in full, and what taking theirs does where there is no such cluster."""
    sides = [("Mine", conflict.my_answer), ("Theirs", conflict.their_answer)]
    texts = [f"{who}: {answer.title}" + (f" ({answer.note})" if answer.note else "") for who, answer in sides]
    if conflict.kind == "no such cluster":
        texts.append(f"Theirs makes a cluster of its {conflict.size:,} rows here")
    return ". ".join(texts) + "."
