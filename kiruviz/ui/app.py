"""Starts the application: Qt, theme, log, window."""

from __future__ import annotations

import gc
import logging
import logging.handlers
import os
import signal
import sys
import threading
import traceback
from types import TracebackType

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication

from kiruviz import __version__
from kiruviz.errors import UserError
from kiruviz.jobs.helper import JobError
from kiruviz.paths import data_dir
from kiruviz.ui.settings import Settings
from kiruviz.ui.theme import ThemeKeeper
from kiruviz.ui.window import MainWindow

_log = logging.getLogger(__name__)


def has_display() -> bool:
    """Whether a window can be shown at all."""
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def run(path: str | None = None) -> int:
    """Open the window, on a model or session if `path` names one, and return when it is closed."""
    if not has_display():
        raise UserError(
            "There is no display to open a window on (DISPLAY and WAYLAND_DISPLAY are empty); start it from a "
            "desktop, or use the command line: kiruviz map --help."
        )
    app = make_app()
    _start_log()
    settings = Settings()
    themes = ThemeKeeper(app, settings.theme)
    window = MainWindow(themes, settings)
    catcher = ErrorCatcher(window)
    spare_start_up_objects()
    window.show()
    _answer_signals(window)
    # The window is painted before the first helper is started.
    QTimer.singleShot(0, lambda: window.start(path))
    code = app.exec()
    catcher.let_go()
    return code


def make_app() -> QApplication:
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("KiruViz")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("kiruviz")
    app.setStyle("Fusion")
    return app


def spare_start_up_objects() -> None:
    """Take what the imports made out of the garbage collector's rounds, which would hold the event loop for
    some 20 ms each; it lives as long as the program."""
    gc.collect()
    gc.freeze()


def _start_log() -> None:
    handler = logging.handlers.RotatingFileHandler(
        data_dir() / "kiruviz.log", maxBytes=1_000_000, backupCount=1, encoding="utf-8"
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.getLogger("kiruviz").addHandler(handler)


def _answer_signals(window: MainWindow) -> None:
    """Ctrl+C and a polite kill close the window as its button does."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: window.close())
    # Python looks at signals only while it runs: a short beat now and then.
    beat = QTimer(window)
    beat.timeout.connect(lambda: None)
    beat.start(500)


class ErrorCatcher(QObject):
    """Faults of the program, from any thread, become one sentence in the window and a line in the log."""

    _caught = Signal(object)

    def __init__(self, window: MainWindow) -> None:
        super().__init__()
        self._window: MainWindow | None = window
        self._caught.connect(self._show)
        self._former = sys.excepthook, threading.excepthook
        sys.excepthook = self._hook
        threading.excepthook = lambda args: self._hook(
            args.exc_type, args.exc_value or RuntimeError(), args.exc_traceback
        )

    def let_go(self) -> None:
        sys.excepthook, threading.excepthook = self._former
        self._window = None

    def _hook(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        details = "".join(traceback.format_exception(kind, error, trace))
        if isinstance(error, UserError):
            self._caught.emit(JobError(str(error)))
        else:
            sentence = f"Something went wrong inside KiruViz ({kind.__name__}: {error}); nothing you named is lost."
            self._caught.emit(JobError(sentence, details))

    def _show(self, error: JobError) -> None:
        if self._window is not None:
            self._window.show_error(error)
        else:
            _log.error("%s\n%s", error.sentence, error.details)
