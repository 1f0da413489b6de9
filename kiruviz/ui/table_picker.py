"""A file holds several tables: the person says which one is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from kiruviz.models.vectors.table import TableChoice
from kiruviz.ui.widgets.basics import button, label, row
from kiruviz.ui.widgets.tables import RowsModel, Table


class _Choices(RowsModel):
    def __init__(self) -> None:
        super().__init__(("name", "size", "numbers"))

    def shown(self, value: Any, column: int) -> str:
        return " × ".join(f"{one:,}" for one in value) if column == 1 else str(value)


class TablePicker(QDialog):
    """Lists the tables of a file, likely ones first.

    picked(ref) with what opens the chosen one.
    """

    picked = Signal(str)

    def __init__(self, parent: QWidget, ref: str, choices: Sequence[TableChoice]) -> None:
        super().__init__(parent)
        self._ref = ref.rpartition("::")[0] or ref
        self._choices = list(choices)
        self.setWindowTitle("Choose a table")
        self.resize(560, 420)
        model = _Choices()
        model.set_rows([(one.name, one.shape, one.dtype) for one in self._choices])
        self.table = Table(model, "Tables of the file")
        self.table.stretch(0)
        self.table.activated_row.connect(self._take)
        self.table.selectRow(0)
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 18, 20, 16)
        box.setSpacing(10)
        box.addWidget(label("Choose a table", "title"))
        said = f"{Path(self._ref).name} holds {len(self._choices)} tables, and it does not say which one is wanted."
        box.addWidget(label(said, "muted", wrap=True))
        box.addWidget(self.table, 1)
        self.open_button = button("Open", self._open, "primary")
        self.open_button.setDefault(True)
        box.addLayout(row(1, button("Cancel", self.reject), self.open_button))
        self.table.setFocus()

    def _open(self) -> None:
        self._take(self.table.currentIndex().row())

    def _take(self, index: int) -> None:
        if 0 <= index < len(self._choices):
            self.accept()
            self.picked.emit(f"{self._ref}::{self._choices[index].name}")
