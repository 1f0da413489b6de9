"""The list of all shortcuts, and giving actions other keys."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QFont, QGuiApplication, QKeyEvent, QKeySequence, QPalette
from PySide6.QtWidgets import QDialog, QHeaderView, QLineEdit, QVBoxLayout, QWidget

from kiruviz.ui.actions import ACTIONS
from kiruviz.ui.keys import FIXED, key_pressed, keymap
from kiruviz.ui.theme import FONT_PX, text_font
from kiruviz.ui.widgets.ask import AskLine
from kiruviz.ui.widgets.basics import button, label, row
from kiruviz.ui.widgets.tables import RowsModel, Table

_FIXED_ROWS = (
    ("Labels", "Move through the clusters", "Up, Down"),
    ("Members", "Check or uncheck; check all; clear the checks", "Space, Ctrl+A, Esc"),
    ("Members", "Move the checked; set them aside; show the row", "M, Del, Enter"),
    ("Labels", "Name the cluster; keep the name and go on", "Enter"),
    ("Labels", "Leave the name; let a lasso go", "Esc"),
    ("Labels", "In the list of members: check, move, set aside", "Space, M, Del"),
    ("Map", "Add to the lasso, take away from it", "Shift+drag, Alt+drag"),
    ("Map", "Zoom", "Scroll, double click"),
    ("Edit", "Next match, previous match", "Enter, Shift+Enter"),
    ("Edit", "Copy rows or text, select all", "Ctrl+C, Ctrl+A"),
    ("Window", "Next control, control before", "Tab, Shift+Tab"),
)
_HINT = "Enter or a double click: press another key. Delete: no key."
_TITLES = {spec.name: spec.title for spec in ACTIONS}


class KeysModel(RowsModel):
    """menu, action, key, `changed` or `fixed`; and the action's name, empty for a fixed key."""

    def __init__(self) -> None:
        super().__init__(("menu", "action", "key", ""))
        self.recording = ""

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        name, column = self.rows[index.row()][4], index.column()
        if name and name == self.recording and column == 2:
            if role == Qt.ItemDataRole.DisplayRole:
                return "press a key…"
            if role == Qt.ItemDataRole.ForegroundRole:
                return QGuiApplication.palette().color(QPalette.ColorRole.Link)
        if role == Qt.ItemDataRole.ForegroundRole and (not name or column in (0, 3)):
            return QGuiApplication.palette().color(QPalette.ColorRole.PlaceholderText)
        if role == Qt.ItemDataRole.FontRole and column == 2 and name and keymap().is_changed(name):
            return text_font(FONT_PX, QFont.Weight.DemiBold)
        return super().data(index, role)


class KeysTable(Table):
    """Records a key while `recording`.

    recorded(key in portable notation, empty where Esc left the recording), removed(row) on Delete.
    """

    recorded = Signal(str)
    removed = Signal(int)
    recording = False  # of the class, since Qt sends events while the table is still being made

    def __init__(self, model: KeysModel) -> None:
        super().__init__(model, "Keyboard shortcuts")
        self.setSelectionMode(Table.SelectionMode.SingleSelection)

    def event(self, event: QEvent) -> bool:
        """While recording every key is recorded: also Tab, Enter, and those of the window's actions."""
        if self.recording and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if self.recording and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            self._record(event)
            return True
        return super().event(event)

    def _record(self, event: QKeyEvent) -> None:
        event.accept()
        if event.key() == Qt.Key.Key_Escape:
            self.recorded.emit("")
        elif key := key_pressed(event):
            self.recorded.emit(key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.currentIndex().isValid():
            self.removed.emit(self.currentIndex().row())
            return
        super().keyPressEvent(event)


class ShortcutsDialog(QDialog):
    """Every key, by menu. Changes hold at once and are kept."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        self.resize(600, 620)
        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter by action, menu or key")
        self.filter.setAccessibleName("Filter by action, menu or key")
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(lambda _: self._fill())
        self.model = KeysModel()
        self.table = KeysTable(self.model)
        self.table.stretch(1)
        for column in (0, 2, 3):
            self.table.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        self.table.activated_row.connect(self._start)
        self.table.recorded.connect(self._recorded)
        self.table.removed.connect(self._remove)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._moved())
        self.line = AskLine()
        self.reset = button("Reset this", self._reset)
        self.reset_all = button("Reset all", self._ask_reset_all)
        close = button("Close", self.accept)
        for part in (self.reset, self.reset_all, close):
            part.setAutoDefault(False)  # Enter in the filter goes to the table
        self.filter.returnPressed.connect(self.table.setFocus)
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 18, 20, 16)
        box.setSpacing(10)
        box.addWidget(label("Keyboard shortcuts", "title"))
        box.addWidget(self.filter)
        box.addWidget(self.table, 1)
        box.addWidget(self.line)
        box.addLayout(row(self.reset, self.reset_all, 1, close))
        keymap().changed.connect(self._fill)
        self.finished.connect(lambda _: self._stop())
        self._fill()
        self._say_hint()

    # What is listed

    def _fill(self) -> None:
        """List what the filter lets through, and stay on the same action."""
        name = self._name()
        keys = keymap()
        rows = [
            (a.menu, a.title, keys.shown(a.name), "changed" if keys.is_changed(a.name) else "", a.name) for a in ACTIONS
        ]
        rows += [(menu, title, key, "fixed", "") for menu, title, key in _FIXED_ROWS]
        words = self.filter.text().lower().split()
        self.model.set_rows([r for r in rows if all(word in " ".join(r[:4]).lower() for word in words)])
        listed = [r[4] for r in self.model.rows]
        if listed:
            self.table.selectRow(listed.index(name) if name and name in listed else 0)
        self._show_resets()

    def _name(self) -> str:
        """The action that is selected, empty for none or a fixed key."""
        at = self.table.currentIndex()
        return str(self.model.rows[at.row()][4]) if at.isValid() and at.row() < len(self.model.rows) else ""

    def _moved(self) -> None:
        if self.table.recording:
            self._stop()
        self._show_resets()
        self._say_hint()

    def _show_resets(self) -> None:
        keys = keymap()
        self.reset.setEnabled(bool(self._name()) and keys.is_changed(self._name()))
        self.reset_all.setEnabled(any(keys.is_changed(spec.name) for spec in ACTIONS))

    def _say_hint(self) -> None:
        at = self.table.currentIndex()
        fixed = at.isValid() and not self._name()
        self.line.say("This key is fixed." if fixed else _HINT)

    # Another key

    def _start(self, at: int) -> None:
        """Wait for the key of the action in row `at`."""
        name = self.model.rows[at][4]
        if not name:
            self._say_hint()
            return
        self.table.setFocus()
        self.table.recording = True
        self.model.recording = name
        self.line.say(f"Press the new key for “{_TITLES[name]}”. Esc leaves it as it is.")
        self.table.viewport().update()

    def _stop(self) -> None:
        self.table.recording = False
        self.model.recording = ""
        self.table.viewport().update()
        self._say_hint()

    def _recorded(self, key: str) -> None:
        name = self.model.recording
        if not key:
            self._stop()
            return
        if key in FIXED:
            self.line.say(f"{_shown(key)} is fixed: it {FIXED[key]}. Press another key, or Esc.")
            return
        self._stop()
        self._give(name, key)

    def _give(self, name: str, key: str) -> None:
        """Give an action a key, after asking where another one has it."""
        holder = keymap().holder(key, but=name)
        if holder is None:
            self._set(name, key)
            return
        self.line.ask(
            f"{_shown(key)} is the key of “{_TITLES[holder]}”, which would be left without one.",
            (("Take it over", lambda: self._set(name, key)), ("Leave it", self._back)),
        )

    def _set(self, name: str, key: str) -> None:
        keymap().set_key(name, key)
        self._back()

    def _remove(self, at: int) -> None:
        if name := self.model.rows[at][4]:
            keymap().set_key(name, "")
        self._say_hint()

    def _reset(self) -> None:
        if name := self._name():
            self._give(name, keymap().default(name))

    def _ask_reset_all(self) -> None:
        self.line.ask(
            "All keys you changed would be as they were at first.",
            (("Reset all keys", self._reset_everything), ("Keep mine", self._back)),
        )

    def _reset_everything(self) -> None:
        keymap().reset_all()
        self._back()

    def _back(self) -> None:
        self.table.setFocus()
        self._say_hint()


def _shown(key: str) -> str:
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
