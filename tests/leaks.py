"""What a test left running: child processes, Qt threads, timers and windows, each with the line that made it."""

from __future__ import annotations

import gc
import os
import sys
import time
import traceback
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

# How long something that is ending may take until it counts as left behind.
_GRACE = 2.0
# Qt's own windows that come and go by themselves, and the bookkeeping process of multiprocessing.
_QT_OWN = ("QTipLabel", "QComboBoxPrivateContainer")
_TRACKERS = ("resource_tracker", "forkserver")


class Watch:
    """Made before a test and asked after it; `qt` also watches threads, timers and top-level widgets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, qt: bool) -> None:
        self._children = _children()
        self._started: list[tuple[weakref.ref[Any], str]] = []
        self._qt = qt
        if qt:
            from PySide6.QtCore import QThread, QTimer

            self._windows = set(_top_level())
            for kind in (QThread, QTimer):
                monkeypatch.setattr(kind, "start", self._remembering(kind.start))

    def _remembering(self, start: Callable[..., Any]) -> Callable[..., Any]:
        def call(this: Any, *rest: Any) -> Any:
            line = traceback.extract_stack(sys._getframe(1), limit=1)[0]
            self._started.append((weakref.ref(this), f"{line.filename}:{line.lineno}"))
            return start(this, *rest)

        return call

    def left(self) -> list[str]:
        """What is left, in words; waits a moment for what is just ending."""
        found = self._look()
        end = time.monotonic() + _GRACE
        while found and time.monotonic() < end:
            self._settle()
            found = self._look()
        return found

    def _look(self) -> list[str]:
        found = [_describe(pid) for pid in _children() - self._children]
        if self._qt:
            found += self._threads_and_timers() + self._new_windows()
        return [words for words in found if words]

    def _settle(self) -> None:
        gc.collect()
        if self._qt:
            from PySide6.QtCore import QCoreApplication, QEvent

            if QCoreApplication.instance() is not None:
                QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
                QCoreApplication.processEvents()
        time.sleep(0.02)

    def _threads_and_timers(self) -> list[str]:
        found = []
        for reference, where in self._started:
            this = reference()
            if this is not None and _is_running(this):
                found.append(f"{type(this).__name__} {this.objectName()!r} started at {where}")
        return found

    def _new_windows(self) -> list[str]:
        return [
            f"{type(widget).__name__} {widget.objectName()!r} {widget.windowTitle()!r}"
            for address, widget in _top_level().items()
            if address not in self._windows and widget.metaObject().className() not in _QT_OWN
        ]


def _is_running(this: Any) -> bool:
    from PySide6.QtCore import QThread
    from shiboken6 import isValid

    if not isValid(this):
        return False
    return bool(this.isRunning() if isinstance(this, QThread) else this.isActive())


def _top_level() -> dict[int, Any]:
    """Windows by the address of their C++ object, since Python's wrapper may be another one each time."""
    from PySide6.QtWidgets import QApplication
    from shiboken6 import getCppPointer

    if QApplication.instance() is None:
        return {}
    return {getCppPointer(widget)[0]: widget for widget in QApplication.topLevelWidgets()}


def _children() -> set[int]:
    """The child processes of this one; by /proc where there is one, since psutil looks at every process."""
    lists = list(Path("/proc/self/task").glob("*/children"))
    if not lists:
        return {child.pid for child in psutil.Process().children()}
    pids: set[int] = set()
    for path in lists:
        try:
            pids.update(int(pid) for pid in path.read_text().split())
        except OSError:  # that thread has just ended
            continue
    return pids


def _describe(pid: int) -> str:
    """The process in words, or nothing if it is gone, only waits to be buried, or is Python's own helper."""
    try:
        process = psutil.Process(pid)
        command = " ".join(process.cmdline()) or process.name()
        if process.status() == psutil.STATUS_ZOMBIE or any(tracker in command for tracker in _TRACKERS):
            return ""
    except psutil.NoSuchProcess:
        return ""
    return f"process {pid} of {os.getpid()} ({command[:120]})"
