"""Every action: it runs, has words, a key of its own, a place in a menu."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QMenu, QTableView, QWidget

from kiruviz.ui.actions import ACTIONS, Action
from kiruviz.ui.export_dialog import ExportDialog
from kiruviz.ui.shortcuts import ShortcutsDialog
from kiruviz.ui.window import MainWindow
from tests.ui import driving
from tests.ui.driving import wait_rest, wait_until

pytestmark = pytest.mark.keeps_running
SHARED = [action for action in ACTIONS if action.name not in ("quit", "open_minilm", "open_smollm2", "new")]


@pytest.fixture(autouse=True)
def files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, qtbot: object) -> Path:
    """File dialogs answer at once: a new file, or nothing to open."""

    def save(_parent: object, _title: str, _name: str, filters: str) -> tuple[str, str]:
        return str(tmp_path / "file"), filters.split(";;")[0]

    monkeypatch.setattr(QFileDialog, "getSaveFileName", save)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("", ""))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "")
    return tmp_path


def close_dialogs() -> None:
    modal = QApplication.activeModalWidget()
    while modal is not None:
        modal.close()
        modal = QApplication.activeModalWidget()


def run(window: MainWindow, name: str) -> None:
    """Trigger an action; a dialog that it opens is closed again."""
    closer = QTimer()
    closer.timeout.connect(close_dialogs)
    closer.start(100)
    action = window.actions_by_name[name]
    action.setEnabled(True)
    action.trigger()
    wait_rest(window)
    wait_until(lambda: QApplication.activeModalWidget() is None, "no dialog")
    closer.stop()


@pytest.mark.parametrize("action", SHARED, ids=lambda action: action.name)
def test_every_action_runs(window: MainWindow, action: Action) -> None:
    driving.wake(window)
    run(window, action.name)
    assert not window.map_pane.banner.text
    window.map_pane.sheet.hide()


@pytest.mark.parametrize("name", ["open_smollm2", "open_minilm", "new"])
def test_actions_that_open_something_end_with_a_map(window: MainWindow, name: str) -> None:
    run(window, name)
    driving.wait_drawn(window)
    assert not window.map_pane.banner.text


def test_every_action_runs_before_there_is_a_map(module_home: Path, qtbot: object) -> None:
    """While the model is still being opened nothing is possible, and nothing breaks."""
    window = driving.open_window(drawn=False)
    window.runner.cancel("open")
    try:
        for action in ACTIONS:
            if action.name not in ("quit", "open_minilm", "open_smollm2", "new"):
                run(window, action.name)
    finally:
        driving.close_window(window)


def test_every_action_has_words_and_a_place(window: MainWindow) -> None:
    tops = [action for menu in window.menus.values() for action in menu.actions()]
    inner = [action for top in tops if isinstance(top.menu(), QMenu) for action in top.menu().actions()]
    menus = {*tops, *inner}
    for spec in ACTIONS:
        action = window.actions_by_name[spec.name]
        assert action.text()
        assert action in menus
    for action in window.findChildren(QAction):
        assert action.text() or action.isSeparator() or action.menu() is not None or action.parent() is not window


def test_no_two_actions_share_a_key(window: MainWindow) -> None:
    """Labelling keys work in two places only, and nothing of the window has such a key."""
    by_key: dict[str, list[str]] = defaultdict(list)
    for action in window.findChildren(QAction):
        if action.shortcutContext() == Qt.ShortcutContext.WidgetShortcut:
            continue
        for key in action.shortcuts():
            by_key[key.toString()].append(action.objectName() or action.text())
    assert {key: names for key, names in by_key.items() if len(names) > 1} == {}


def test_menus_hold_no_empty_or_dead_entries(window: MainWindow) -> None:
    for name, menu in window.menus.items():
        entries = menu.actions()
        assert entries, name
        assert not entries[0].isSeparator()
        assert not entries[-1].isSeparator()
        for entry in entries:
            if isinstance(entry.menu(), QMenu):
                assert entry.menu().actions() or not entry.isEnabled()
            elif not entry.isSeparator():
                assert entry.text().strip()


def test_every_control_that_takes_the_focus_has_an_accessible_name(window: MainWindow) -> None:
    inner = ("qt_", "ScrollArea")
    nameless = []
    for widget in window.findChildren(QWidget):
        if widget.focusPolicy() == Qt.FocusPolicy.NoFocus or widget.objectName().startswith(inner):
            continue
        text = getattr(widget, "text", None)
        kind = widget.metaObject().className()
        if kind in (
            "QLabel",
            "QScrollArea",
            "QMenuBar",
            "QMenu",
            "QComboBoxPrivateContainer",
            "QComboBoxListView",
            "QListView",
        ):
            continue
        if not (widget.accessibleName() or (callable(text) and kind != "QLineEdit" and text())):
            if widget.parentWidget() is not None and widget.parentWidget().accessibleName():
                continue  # the inner field of a control that has a name
            nameless.append(f"{kind} {widget.objectName()} in {type(widget.parentWidget()).__name__}")
    assert nameless == []


def test_the_focus_reaches_every_part_by_tab(window: MainWindow) -> None:
    driving.wake(window)
    window.map_pane.canvas.setFocus()
    reached = set()
    for _ in range(150):
        focus = QApplication.focusWidget()
        assert focus is not None
        reached.add(focus)
        driving.press(focus, Qt.Key.Key_Tab)
    for part in (window.clusters_pane.table, window.search, window.map_pane.canvas, window.this_cluster.name,
                 window.drawing_pane.grouping.control("k"), window.space_pane.rows):  # fmt: skip
        if part.focusPolicy() != Qt.FocusPolicy.NoFocus and part.isVisible():
            assert part in reached, part.accessibleName()


def test_the_list_of_shortcuts_names_every_key(window: MainWindow) -> None:
    window.actions_by_name["shortcuts"].trigger()
    dialog = window.findChild(ShortcutsDialog)
    assert dialog is not None
    table = dialog.findChild(QTableView)
    assert table is not None
    assert table.model().rowCount() >= len([action for action in ACTIONS if action.key])
    dialog.close()


def test_export_opens_with_a_true_preview(window: MainWindow) -> None:
    window.actions_by_name["export_figure"].trigger()
    dialog = window._export_dialog
    assert isinstance(dialog, ExportDialog)
    wait_until(lambda: not dialog.preview.pixmap().isNull(), "the preview")
    dialog.copy()
    wait_rest(window)
    assert not QGuiApplication.clipboard().image().isNull()
    dialog.reject()
    wait_rest(window)
    assert not any(d.isVisible() for d in window.findChildren(QDialog))


def test_copy_as_python_gives_code_that_compiles(window: MainWindow) -> None:
    window.document.set_focus(0)
    wait_rest(window)
    for name in ("copy_map", "copy_clusters", "copy_neighbors"):
        window.actions_by_name[name].trigger()
        text = QGuiApplication.clipboard().text()
        compile(text, name, "exec")
        assert len(text.splitlines()) > 2


def test_what_am_i_looking_at_opens_with_hint_and_solution_closed(window: MainWindow) -> None:
    window.actions_by_name["about_map"].trigger()
    sheet = window.map_pane.sheet
    assert sheet.isVisible()
    assert sheet.hint is not None
    assert sheet.solution is not None
    assert not sheet.hint.is_open
    assert not sheet.solution.is_open
    sheet.hint.toggle()
    assert sheet.hint.is_open
    window.actions_by_name["about_map"].trigger()
    assert not sheet.isVisible()
