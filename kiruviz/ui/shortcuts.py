"""The list of all shortcuts."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QHeaderView, QVBoxLayout, QWidget

from kiruviz.ui.actions import ACTIONS
from kiruviz.ui.widgets.basics import button, label, row
from kiruviz.ui.widgets.tables import RowsModel, Table

_MORE = (
    ("Labels", "Move through the clusters", "Up, Down"),
    ("Labels", "Name the cluster; keep the name and go on", "Enter"),
    ("Labels", "Leave the name; let a lasso go", "Esc"),
    ("Map", "Add to the lasso, take away from it", "Shift, Alt"),
    ("Edit", "Next match, previous match", "Enter, Shift+Enter"),
)


class ShortcutsDialog(QDialog):
    """Every key, by menu."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        self.resize(520, 560)
        model = RowsModel(("menu", "action", "key"))
        native = QKeySequence.SequenceFormat.NativeText
        rows = [(a.menu, a.title.split("\t")[0], QKeySequence(a.key).toString(native)) for a in ACTIONS if a.key]
        model.set_rows([*rows, *_MORE])
        table = Table(model, "Keyboard shortcuts")
        table.stretch(1)
        table.horizontalHeader().setSectionResizeMode(2, QHeaderView.ResizeMode.ResizeToContents)
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 18, 20, 16)
        box.setSpacing(10)
        box.addWidget(label("Keyboard shortcuts", "title"))
        box.addWidget(table, 1)
        box.addLayout(row(1, button("Close", self.accept)))
