"""The dialogs of saved views: a name for a new one, and the list of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QVBoxLayout

from kiruviz.errors import UserError
from kiruviz.ui.widgets.ask import AskLine
from kiruviz.ui.widgets.basics import button, label, row
from kiruviz.ui.widgets.tables import RowsModel, Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from kiruviz.ui.views import ViewCommands
    from kiruviz.ui.window import MainWindow


class SaveViewDialog(QDialog):
    """Asks for the name of a new view, and before one of that name is replaced."""

    def __init__(self, window: MainWindow, views: ViewCommands, shows: str) -> None:
        super().__init__(window)
        self._views = views
        self.setWindowTitle("Save this view")
        self.resize(460, 0)
        self.name = QLineEdit(_free_name(views.names()))
        self.name.setAccessibleName("Name of the view")
        self.name.selectAll()
        self.line = AskLine()
        self.save_button = button("Save", self.save, "primary")
        self.save_button.setDefault(True)
        cancel = button("Cancel", self.reject)
        cancel.setAutoDefault(False)
        self.name.textChanged.connect(lambda _: self._typed())
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 18, 20, 16)
        box.setSpacing(10)
        box.addWidget(label("Save this view", "title"))
        box.addWidget(self.name)
        box.addWidget(self.line)
        box.addLayout(row(1, cancel, self.save_button))
        self.line.say(shows)
        self.name.setFocus()

    def _typed(self) -> None:
        self.save_button.setEnabled(bool(self.name.text().strip()))
        if self.line.asks:
            self.line.say("")

    def save(self) -> None:
        name = self.name.text().strip()
        if not name:
            return
        if name in self._views.names():
            self.line.ask(
                f"There is a view named “{name}” already.",
                (("Replace it", self._put), ("Another name", self._again)),
            )
        else:
            self._put()

    def _put(self) -> None:
        try:
            self._views.put(self.name.text().strip())
        except UserError as error:
            self.line.say(str(error))
        else:
            self.accept()

    def _again(self) -> None:
        self.name.setFocus()
        self.name.selectAll()


def _free_name(names: list[str]) -> str:
    """The first of View 1, View 2... that no view has."""
    return next(name for number in range(1, len(names) + 2) if (name := f"View {number}") not in names)


class NameField(QLineEdit):
    """entered() on Enter, which ends here: the dialog would press the answer of the question that it may raise."""

    entered = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit()
        else:
            super().keyPressEvent(event)


class ViewsTable(Table):
    """removed(row) on Delete, rename_wanted() on F2."""

    removed = Signal(int)
    rename_wanted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.currentIndex().isValid():
            self.removed.emit(self.currentIndex().row())
        elif event.key() == Qt.Key.Key_F2:
            self.rename_wanted.emit()
        else:
            super().keyPressEvent(event)


class ViewsDialog(QDialog):
    """The saved views: go to one, rename, delete, or let it show what is on screen now."""

    def __init__(self, window: MainWindow, views: ViewCommands) -> None:
        super().__init__(window)
        self._views = views
        self.setWindowTitle("Saved views")
        self.resize(620, 420)
        self.model = RowsModel(("name", "shows", "key"))
        self.table = ViewsTable(self.model, "Saved views")
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.stretch(1)
        self.name = NameField()
        self.name.setAccessibleName("Name of the view")
        self.line = AskLine()
        self.go = button("Go there", self._go)
        self.rename_button = button("Rename", self.rename)
        self.update_button = button("Update to now", self.ask_update, tip="Let it show what is on screen now")
        self.delete_button = button("Delete", self.ask_delete)
        close = button("Close", self.accept)
        self._buttons = (self.go, self.rename_button, self.update_button, self.delete_button)
        for part in (*self._buttons, close):
            part.setAutoDefault(False)
        self.name.entered.connect(self.rename)
        self.table.activated_row.connect(lambda _: self._go())
        self.table.removed.connect(lambda _: self.ask_delete())
        self.table.rename_wanted.connect(self._edit_name)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._selected())
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 18, 20, 16)
        box.setSpacing(10)
        box.addWidget(label("Saved views", "title"))
        box.addWidget(self.table, 1)
        box.addLayout(row(self.name, self.rename_button))
        box.addWidget(self.line)
        box.addLayout(row(self.go, self.update_button, self.delete_button, 1, close))
        self._fill("")
        self.table.setFocus()

    @property
    def selected(self) -> str:
        """The name of the selected view, empty for none."""
        at = self.table.currentIndex()
        return str(self.model.rows[at.row()][0]) if at.isValid() and at.row() < len(self.model.rows) else ""

    def _fill(self, name: str) -> None:
        at = self.table.currentIndex().row()
        self.model.set_rows(self._views.listed())
        names = [row[0] for row in self.model.rows]
        if names:
            self.table.selectRow(names.index(name) if name in names else max(0, min(at, len(names) - 1)))
        self._selected()

    def _selected(self) -> None:
        self.name.setText(self.selected)
        for part in (*self._buttons, self.name):
            part.setEnabled(bool(self.selected))
        self.line.say("Enter goes there, F2 renames, Delete deletes." if self.selected else "No view is saved.")

    def _edit_name(self) -> None:
        self.name.setFocus()
        self.name.selectAll()

    def _go(self) -> None:
        name = self.selected
        self.accept()
        self._views.go_to(name)

    def rename(self) -> None:
        name, to = self.selected, self.name.text().strip()
        if not name or not to or name == to:
            return
        if to in self._views.names():
            self.line.ask(
                f"There is a view named “{to}” already.",
                (("Replace it", lambda: self._do(lambda: self._views.rename(name, to), to)), ("Leave it", self._back)),
            )
        else:
            self._do(lambda: self._views.rename(name, to), to)

    def ask_update(self) -> None:
        name = self.selected
        if name and self._views.possible():
            self.line.ask(
                f"“{name}” would show what is on screen now instead.",
                (("Update it", lambda: self._do(lambda: self._views.put(name), name)), ("Leave it", self._back)),
            )

    def ask_delete(self) -> None:
        name = self.selected
        if name:
            self.line.ask(
                f"Delete the view “{name}”? This cannot be undone.",
                (("Delete it", lambda: self._do(lambda: self._views.delete(name), "")), ("Keep it", self._back)),
            )

    def _do(self, change: Callable[[], object], name: str) -> None:
        """Change the views; what went wrong is said."""
        try:
            change()
        except UserError as error:
            self.line.say(str(error))
        else:
            self._fill(name)
            self.table.setFocus()

    def _back(self) -> None:
        self._selected()
        self.table.setFocus()
