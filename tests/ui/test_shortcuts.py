"""Keys can be changed: at once, everywhere they are named, for good, and never two actions with one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from kiruviz.paths import config_dir
from kiruviz.ui.actions import ACTIONS
from kiruviz.ui.keys import FIXED, Keymap, how, keymap
from kiruviz.ui.settings import Settings
from kiruviz.ui.shortcuts import ShortcutsDialog
from kiruviz.ui.window import MainWindow
from tests.ui import driving
from tests.ui.driving import press, wait_until

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def shortcut(window: MainWindow, name: str) -> str:
    return window.actions_by_name[name].shortcut().toString(QKeySequence.SequenceFormat.PortableText)


@pytest.fixture
def dialog(window: MainWindow, qtbot: QtBot) -> Iterator[ShortcutsDialog]:
    """The dialog over the shared window; all keys are as at first again at the end."""
    driving.wake(window)
    window.actions_by_name["shortcuts"].trigger()
    made = window.findChild(ShortcutsDialog)
    assert made is not None
    wait_until(lambda: QApplication.activeWindow() is made, "the dialog", 10)
    yield made
    made.close()
    keymap().reset_all()
    driving.wake(window)


def select(dialog: ShortcutsDialog, name: str) -> None:
    names = [row[4] for row in dialog.model.rows]
    dialog.table.setFocus()
    dialog.table.selectRow(names.index(name))


def record(dialog: ShortcutsDialog, name: str, key: Qt.Key, modifier: Qt.KeyboardModifier = driving.NONE) -> None:
    """Enter on the action, then the new key."""
    select(dialog, name)
    press(dialog.table, Qt.Key.Key_Return)
    assert dialog.table.recording
    press(dialog.table, key, modifier=modifier)


pytestmark = pytest.mark.keeps_running


def test_a_recorded_key_works_at_once_and_is_kept(dialog: ShortcutsDialog, window: MainWindow) -> None:
    record(dialog, "fit", Qt.Key.Key_J, CTRL)
    assert shortcut(window, "fit") == "Ctrl+J"
    assert Settings().own_keys() == {"fit": "Ctrl+J"}
    dialog.close()
    driving.wake(window)
    canvas = window.map_pane.canvas
    canvas.zoom(2.0)
    assert not canvas.is_whole
    press(canvas, Qt.Key.Key_J, modifier=CTRL)
    assert canvas.is_whole
    driving.still(window)


def test_texts_that_name_a_key_follow_it(dialog: ShortcutsDialog, window: MainWindow) -> None:
    pane = window.this_cluster
    assert (pane.resists.text(), window.search.placeholderText()[-6:]) == ("Resists  R", "Ctrl+F")
    record(dialog, "resist", Qt.Key.Key_X)
    record(dialog, "find", Qt.Key.Key_L, CTRL)
    record(dialog, "export_figure", Qt.Key.Key_P, CTRL)
    record(dialog, "lasso", Qt.Key.Key_L, CTRL | SHIFT)
    record(dialog, "rename", Qt.Key.Key_F3)
    assert pane.resists.text() == "Resists  X"
    assert pane.resists.toolTip().endswith("(X)")
    assert window.search.placeholderText().endswith("Ctrl+L")
    assert window.export_button.toolTip().endswith("(Ctrl+P)")
    assert window.actions_by_name["lasso"].toolTip().endswith("(Ctrl+Shift+L)")
    assert window.actions_by_name["rename"].text() == "Name the cluster\tEnter, F3"
    window.commands.set_aside()
    assert "(Ctrl+Shift+L), then press Del" in window.status.text()


def test_a_removed_key_leaves_no_empty_brackets(dialog: ShortcutsDialog, window: MainWindow) -> None:
    for name in ("resist", "export_figure", "set_aside", "lasso"):
        select(dialog, name)
        press(dialog.table, Qt.Key.Key_Delete)
    assert shortcut(window, "resist") == ""
    assert window.this_cluster.resists.text() == "Resists"
    assert window.export_button.toolTip() == "Save the map as a picture"
    assert window.actions_by_name["lasso"].toolTip() == "Draw around rows; Shift adds, Alt takes away"
    assert how("set_aside") == "choose Labels > Set the lassoed rows aside"
    assert Settings().own_keys()["resist"] == ""


def test_a_labelling_key_can_be_changed(dialog: ShortcutsDialog, window: MainWindow) -> None:
    record(dialog, "sure_3", Qt.Key.Key_9)
    dialog.close()
    driving.wake(window)
    window.commands.go_to_cluster(0)
    window.map_pane.canvas.setFocus()
    press(window.map_pane.canvas, Qt.Key.Key_9)
    assert window.document.cluster is not None
    assert window.document.cluster.confidence == 3
    press(window.map_pane.canvas, Qt.Key.Key_3)
    press(window.map_pane.canvas, Qt.Key.Key_1)
    assert window.document.cluster.confidence == 1


def test_a_key_in_use_is_named_and_left_or_taken_over(dialog: ShortcutsDialog, window: MainWindow) -> None:
    record(dialog, "fit", Qt.Key.Key_E, CTRL)
    assert "“Export figure…”" in dialog.line.text
    assert shortcut(window, "fit") == "Ctrl+0"  # nothing happens before the answer
    driving.click(dialog.line.answers()["Leave it"])
    assert (shortcut(window, "fit"), shortcut(window, "export_figure")) == ("Ctrl+0", "Ctrl+E")
    record(dialog, "fit", Qt.Key.Key_E, CTRL)
    assert QApplication.focusWidget() is dialog.line.answers()["Leave it"]
    driving.click(dialog.line.answers()["Take it over"])
    assert (shortcut(window, "fit"), shortcut(window, "export_figure")) == ("Ctrl+E", "")


def test_one_key_or_all_go_back_to_what_they_were(dialog: ShortcutsDialog, window: MainWindow) -> None:
    record(dialog, "fit", Qt.Key.Key_J, CTRL)
    record(dialog, "merge", Qt.Key.Key_G)
    driving.click(dialog.reset)
    assert (shortcut(window, "merge"), shortcut(window, "fit")) == ("M", "Ctrl+J")
    record(dialog, "merge", Qt.Key.Key_0, CTRL)  # free, since Fit has another one
    select(dialog, "fit")
    driving.click(dialog.reset)
    assert "“Merge the selected clusters”" in dialog.line.text
    driving.click(dialog.line.answers()["Take it over"])
    assert (shortcut(window, "merge"), shortcut(window, "fit")) == ("", "Ctrl+0")
    driving.click(dialog.reset_all)
    driving.click(dialog.line.answers()["Reset all keys"])
    assert {a.name: shortcut(window, a.name) for a in ACTIONS} == {a.name: a.key for a in ACTIONS}
    assert Settings().own_keys() == {}
    assert not dialog.reset_all.isEnabled()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Tab, Qt.Key.Key_Up, Qt.Key.Key_Space])
def test_fixed_keys_are_refused_and_escape_leaves(dialog: ShortcutsDialog, window: MainWindow, key: Qt.Key) -> None:
    record(dialog, "fit", key)
    assert "is fixed" in dialog.line.text
    press(dialog.table, Qt.Key.Key_Escape)
    assert not dialog.table.recording
    assert dialog.isVisible()
    assert shortcut(window, "fit") == "Ctrl+0"


def test_every_key_is_listed_and_the_filter_finds_it(dialog: ShortcutsDialog) -> None:
    listed = {row[4]: row[2] for row in dialog.model.rows if row[4]}
    assert listed == {a.name: QKeySequence(a.key).toString(QKeySequence.SequenceFormat.NativeText) for a in ACTIONS}
    assert {row[2] for row in dialog.model.rows if row[3] == "fixed"} >= {"Esc", "Up, Down", "Shift+drag, Alt+drag"}
    dialog.filter.setText("ctrl+shift export")
    assert [row[4] for row in dialog.model.rows] == ["export_table"]
    dialog.filter.setText("no such thing")
    assert dialog.model.rows == []
    assert not dialog.reset.isEnabled()
    dialog.filter.clear()


def test_a_sign_is_recorded_without_the_shift_that_makes_it(dialog: ShortcutsDialog, window: MainWindow) -> None:
    record(dialog, "shortcuts", Qt.Key.Key_Question, SHIFT)
    assert shortcut(window, "shortcuts") in ("?", "Shift+?")
    assert [a.shortcut() for a in window.findChildren(QAction)].count(QKeySequence("Ctrl+/")) == 0


# What the settings file holds


def kept(**entries: object) -> Keymap:
    settings = Settings()
    for name, value in entries.items():
        settings._store.setValue(f"shortcuts/{name}", value)
    made = Keymap()
    made.use(settings)
    return made


def changed(keys: Keymap) -> dict[str, str]:
    return {spec.name: keys.key(spec.name) for spec in ACTIONS if keys.key(spec.name) != spec.key}


def test_changed_keys_are_there_after_a_restart(qtbot: QtBot) -> None:
    first = kept()
    first.set_key("fit", "Ctrl+J")
    first.set_key("zoom_in", "Ctrl+,")
    first.set_key("save", "")
    Settings()._store.sync()
    again = Keymap()
    again.use(Settings())
    assert changed(again) == {"fit": "Ctrl+J", "zoom_in": "Ctrl+,", "save": ""}


def test_two_actions_may_swap_their_keys(qtbot: QtBot) -> None:
    assert changed(kept(merge="S", split="M")) == {"merge": "S", "split": "M"}


@pytest.mark.parametrize(
    "value", ["Ctrl+Nonsense", "Ctrl+K, Ctrl+S", ["Ctrl+J", "Ctrl+K"], "Esc", "\x00", "@Rect(1 2)"]
)
def test_a_damaged_entry_is_ignored(qtbot: QtBot, value: object) -> None:
    assert changed(kept(fit=value, merge="G", no_such_action="Ctrl+J")) == {"merge": "G"}


def test_entries_that_clash_leave_the_defaults(qtbot: QtBot) -> None:
    assert changed(kept(fit="Ctrl+E")) == {}
    assert len(changed(kept(merge="G", split="G"))) == 1


def test_a_settings_file_of_garbage_leaves_the_defaults(qtbot: QtBot) -> None:
    path: Path = config_dir() / "settings.ini"
    path.write_bytes(b"[shortcuts\nfit=\xff\xfe==\n\x00\x01[]]%%%\n")
    made = Keymap()
    made.use(Settings())
    assert changed(made) == {}


def test_defaults_are_no_fixed_keys() -> None:
    assert not {spec.key for spec in ACTIONS} & set(FIXED)
