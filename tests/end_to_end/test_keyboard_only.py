"""Eight clusters named with the keyboard alone, each key press counted, and what is then in the session's file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from kiruviz.session.store import Session
from kiruviz.ui.window import MainWindow
from tests.ui import driving
from tests.ui.driving import wait_until

Key = Qt.Key
# By a word of each cluster of the starter's 200 everyday words.
NAMES = {
    "October": "months and days",
    "seven": "numbers",
    "sister": "family and royalty",
    "with": "function words",
    "chocolate": "food, animals, feelings",
    "could": "auxiliary verbs",
    "Richard": "first names, colours & co.",
    "Germany": "places",
}


class KeyCounter(QObject):
    """Counts the key presses that reach the program, and fails on the mouse."""

    def __init__(self, app: QApplication) -> None:
        super().__init__()
        self.pressed = 0
        self.clicked = 0
        self._seen: set[int] = set()
        app.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # A key goes to the window first, then to the widget: counted where it enters.
        if event.type() == QEvent.Type.KeyPress and watched.isWindowType() and isinstance(event, QKeyEvent):
            self.pressed += 1
        elif event.type() == QEvent.Type.MouseButtonPress:
            self.clicked += 1
        return False


@pytest.fixture
def window(qtbot: QtBot, home: Path) -> Iterator[MainWindow]:
    made = driving.open_window()
    yield made
    driving.close_window(made)


def key(window: MainWindow, pressed: Key | str) -> None:
    """Press a key of the keyboard: the window gets it and gives it to whatever has the focus."""
    handle = window.windowHandle()
    assert handle is not None
    if isinstance(pressed, str):
        for letter in pressed:
            QTest.sendKeyEvent(QTest.KeyAction.Click, handle, Qt.Key(ord(letter.upper())), letter, driving.NONE)
    else:
        QTest.keyClick(handle, pressed)


def name_of_selected(window: MainWindow) -> str:
    """What a person would call the cluster whose words they see."""
    shown = window.document
    assert shown.record is not None
    assert shown.cluster_id is not None
    assert shown.labels is not None
    words = {shown.record.names[i] for i in shown.labels.members(shown.cluster_id).tolist()}
    return next(name for word, name in NAMES.items() if word in words)


@pytest.mark.slow
def test_eight_clusters_are_named_with_two_keys_beside_each_name(window: MainWindow, qapp: QApplication) -> None:
    assert len(driving.titles(window)) == 8
    driving.wake(window)
    session = window.document.session
    assert session is not None
    path = session.path
    counter = KeyCounter(qapp)
    for done in range(8):
        name = name_of_selected(window)
        key(window, Key.Key_Return)
        key(window, name)
        key(window, Key.Key_Return)
        wait_until(lambda done=done: len(driving.named(window)) == done + 1, f"{name}: a name that is kept", 10)  # type: ignore[misc]
    budget = sum(len(name) + 2 for name in NAMES.values())
    print(f"eight clusters named with {counter.pressed} key presses; at most {budget} were allowed")
    assert counter.clicked == 0
    assert 0 < counter.pressed <= budget
    with Session.open_readonly(path) as kept:
        assert kept.labels is not None
        assert sorted(c.name for c in kept.labels.clusters.values()) == sorted(NAMES.values())
        assert all(c.status == "named" for c in kept.labels.clusters.values())


@pytest.mark.slow
def test_suggestions_members_and_moving_need_no_mouse_either(window: MainWindow, qapp: QApplication) -> None:
    driving.wake(window)
    wait_until(lambda: window.document.suggestions(0), "suggestions")
    counter = KeyCounter(qapp)
    handle = window.windowHandle()
    assert handle is not None
    QTest.keyClick(handle, Key.Key_1, Qt.KeyboardModifier.AltModifier)
    assert driving.named(window) == ["months and days"]
    key(window, "l")
    for pressed in (Key.Key_Space, Key.Key_Down, Key.Key_Space):
        key(window, pressed)
    moved = set(window.members_pane.model.checked.tolist())
    key(window, "m")
    key(window, "unnamed 7")
    key(window, Key.Key_Return)
    labels = window.document.labels
    assert labels is not None
    assert len(moved) == 2
    assert moved <= set(labels.members(7).tolist())
    key(window, Key.Key_Escape)
    assert window.clusters_pane.table.hasFocus()
    assert counter.clicked == 0
