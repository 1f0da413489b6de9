"""Opening the window on the real starter and working it with keys and clicks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from kiruviz.ui.app import make_app
from kiruviz.ui.settings import Settings
from kiruviz.ui.theme import ThemeKeeper
from kiruviz.ui.widgets.basics import Choice
from kiruviz.ui.window import MainWindow

LONG = 60.0
NONE = Qt.KeyboardModifier.NoModifier


def wait_until(holds: Callable[[], object], what: str, seconds: float = LONG) -> None:
    """Let the event loop run until `holds()`; fail with `what` was waited for."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"waited {seconds:.0f} s for: {what}"
        QTest.qWait(10)


def open_window(path: str | Path | None = None, drawn: bool = True) -> MainWindow:
    """A window as the program opens it, on the starter or on `path`; with `drawn` its map and clusters are there."""
    app = make_app()
    settings = Settings()
    window = MainWindow(ThemeKeeper(app, settings.theme), settings)
    window.show()
    assert QTest.qWaitForWindowActive(window)
    window.start(None if path is None else str(path))
    if drawn:
        wait_drawn(window)
    return window


def wait_drawn(window: MainWindow) -> None:
    document = window.document
    wait_until(lambda: document.labels is not None and document.coords is not None, "map and clusters")


def wait_rest(window: MainWindow) -> None:
    """Nothing computes and nothing moves on the map any more."""
    wait_until(lambda: not window.runner.busy and not window.map_pane.canvas.is_moving, "a window at rest")


def still(window: MainWindow) -> None:
    """Nothing moves on the map."""
    wait_until(lambda: not window.map_pane.canvas.is_moving, "a map at rest", 10)


def wake(window: MainWindow) -> None:
    """The window has the keyboard, as after a click on it."""

    def active() -> bool:
        window.activateWindow()
        return QApplication.activeWindow() is window

    wait_until(active, "an active window", 10)


def close_window(window: MainWindow) -> None:
    window.close()
    window.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


# Keys


def press(widget: QWidget, *keys: Qt.Key | str, modifier: Qt.KeyboardModifier = NONE) -> None:
    """Press keys one after the other; a text is typed letter by letter."""
    for key in keys:
        if isinstance(key, str):
            QTest.keyClicks(widget, key, modifier)
        else:
            QTest.keyClick(widget, key, modifier)


def press_focus(*keys: Qt.Key | str, modifier: Qt.KeyboardModifier = NONE) -> None:
    """Press keys where the focus is."""
    for key in keys:
        for part in key if isinstance(key, str) else [key]:
            focus = QApplication.focusWidget()
            assert focus is not None
            press(focus, part, modifier=modifier)


# The map


def pixel(window: MainWindow, row: int) -> QPoint:
    return window.map_pane.canvas.place_of(row).toPoint()


def row_of(window: MainWindow, name: str) -> int:
    record = window.document.record
    assert record is not None
    return record.names.index(name)


def clear_row(window: MainWindow, wanted: Iterable[int] | None = None) -> int:
    """A row that can be pointed at: nearest to its own pixel, under no tool, name or banner."""
    canvas = window.map_pane.canvas
    rows = range(len(canvas.scene.coords)) if wanted is None else wanted
    names = [box for _, box, _ in canvas.annotations.marks]
    for row in rows:
        at = pixel(window, row)
        free = canvas.rect().adjusted(30, 30, -30, -30).contains(at) and canvas.childAt(at) is None
        under_name = any(b[0] - 1 <= at.x() <= b[2] + 1 and b[1] - 1 <= at.y() <= b[3] + 1 for b in names)
        if free and not under_name and canvas.row_at(at.x(), at.y()) == row:
            return int(row)
    raise AssertionError("no row can be pointed at")


def move_mouse(widget: QWidget, at: QPoint) -> None:
    """A move without waiting for the platform's cursor."""
    place = QPointF(at)
    event = QMouseEvent(
        QEvent.Type.MouseMove, place, QPointF(widget.mapToGlobal(at)),
        Qt.MouseButton.NoButton, Qt.MouseButton.NoButton, NONE,
    )  # fmt: skip
    QApplication.sendEvent(widget, event)


def drag(widget: QWidget, path: list[QPoint], modifier: Qt.KeyboardModifier = NONE) -> None:
    QTest.mousePress(widget, Qt.MouseButton.LeftButton, modifier, path[0])
    for at in path[1:]:
        move_mouse(widget, at)
    QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, modifier, path[-1])


def wheel(widget: QWidget, at: QPoint, steps: int) -> None:
    event = QWheelEvent(
        QPointF(at), QPointF(widget.mapToGlobal(at)), QPoint(), QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton, NONE, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget, event)


def drop(window: MainWindow, path: Path) -> None:
    """Drop a file on the window."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    action, button, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(300, 300), action, data, button, none)
    QApplication.sendEvent(window, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(window, QDropEvent(QPointF(300, 300), action, data, button, none))


def box_around(window: MainWindow, rows: Iterable[int], margin: int = 6) -> list[QPoint]:
    """A closed path around rows."""
    places = np.array([(p.x(), p.y()) for p in (pixel(window, row) for row in rows)])
    (x0, y0), (x1, y1) = places.min(axis=0) - margin, places.max(axis=0) + margin
    corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]
    return [QPoint(int(x), int(y)) for x, y in corners]


# Parts


def click(widget: QWidget) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)


def choose(choice: Choice, value: object) -> None:
    """Choose an item of a list as a person does: open it, go there, Enter."""
    choice.setFocus()
    press(choice, Qt.Key.Key_Down)
    wait_until(choice.view().isVisible, "an open list", 5)
    at = next(i for i in range(choice.count()) if choice.itemData(i) == value)
    step = at - choice.currentIndex()
    press(choice.view(), *[Qt.Key.Key_Down if step > 0 else Qt.Key.Key_Up] * abs(step), Qt.Key.Key_Return)
    wait_until(lambda: not choice.view().isVisible(), "a closed list", 5)
    choice.window().activateWindow()


def buttons(parent: QWidget) -> dict[str, QPushButton]:
    """The visible buttons below `parent` by what they say."""
    return {b.text(): b for b in parent.findChildren(QPushButton) if b.isVisibleTo(parent.window())}


def titles(window: MainWindow) -> list[str]:
    """What the clusters are called, in the order of their ids."""
    labels = window.document.labels
    assert labels is not None
    return [labels.clusters[c].title for c in labels.order]


def named(window: MainWindow) -> list[str]:
    labels = window.document.labels
    assert labels is not None
    return [labels.clusters[c].name for c in labels.order if labels.clusters[c].status == "named"]
