"""The helper process: runs one job at a time and talks over a pipe.

The window's process holds the interpreter lock for nothing long; what does (importing torch or sklearn,
compiled kernels) happens here. A helper is started by its lane (`jobs.lane`), serves jobs until the pipe
closes, and ends by itself when the window's process dies.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from typing import Any

from kiruviz.errors import Cancelled, UserError

# A check costs a system call, so jobs may call it as often as they like.
_CHECK_EVERY = 0.01
_REPORT_EVERY = 0.04
_NICENESS = 10


@dataclass(frozen=True)
class HelperSettings:
    """What a helper is started with: thread cap for BLAS, OpenMP and numba, and numba's cache folder."""

    name: str
    threads: int
    numba_cache: str


@dataclass(frozen=True)
class JobError:
    """Why a job failed: one `sentence` for the person, `details` (a traceback) for the fold and the log, and the
    `choices` the person has, where the error lists them."""

    sentence: str
    details: str = ""
    choices: tuple[Any, ...] = ()


class PipeProgress:
    """A job's `Progress` in a helper: reports over the pipe and reads the wish to cancel from it."""

    def __init__(self, connection: Connection, job_id: int) -> None:
        self._connection = connection
        self._job_id = job_id
        self._checked = 0.0
        self._reported = 0.0

    def report(self, fraction: float | None, message: str) -> None:
        self.check()
        now = time.monotonic()
        if now - self._reported >= _REPORT_EVERY:
            self._reported = now
            self._connection.send(("progress", self._job_id, fraction, message))

    def partial(self, value: object) -> None:
        self.check()
        self._connection.send(("partial", self._job_id, value))

    def check(self) -> None:
        now = time.monotonic()
        if now - self._checked < _CHECK_EVERY:
            return
        self._checked = now
        # While a job runs the lane sends nothing but the wish to cancel it.
        if self._connection.poll(0):
            message = self._connection.recv()
            if message == ("cancel", self._job_id):
                raise Cancelled


def serve(connection: Connection, settings: HelperSettings) -> None:
    """The helper's main loop: receive `(job_id, function, args, kwargs)`, answer, until the pipe closes."""
    _prepare(settings)
    connection.send(("ready",))
    while True:
        try:
            message = connection.recv()
        except (EOFError, OSError):
            return
        if message[0] == "cancel":  # of a job that ended while the message was on its way
            continue
        try:
            connection.send(("started", message[0]))
            connection.send(_answer(connection, *message))
        except (BrokenPipeError, OSError):
            return


def _answer(
    connection: Connection, job_id: int, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    try:
        return ("done", job_id, function(PipeProgress(connection, job_id), *args, **kwargs))
    except Cancelled:
        return ("cancelled", job_id)
    except (EOFError, BrokenPipeError):
        os._exit(0)
    except UserError as error:
        return ("error", job_id, JobError(str(error), choices=error.choices))
    except MemoryError:
        sentence = "There was not enough memory for this; choose fewer rows or close other programs, then try again."
        return ("error", job_id, JobError(sentence, traceback.format_exc()))
    except Exception as error:
        sentence = f"Something went wrong inside KiruViz ({type(error).__name__}: {error}); nothing you named is lost."
        return ("error", job_id, JobError(sentence, traceback.format_exc()))


def _prepare(settings: HelperSettings) -> None:
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = str(settings.threads)
    os.environ["NUMBA_CACHE_DIR"] = settings.numba_cache
    if settings.name != "fetch":
        # Nothing here may reach the network, whatever a library would like to look up. The lane that fetches is
        # for what the person asked for, and keeps to the person's own setting.
        os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    with contextlib.suppress(OSError, AttributeError):
        os.nice(_NICENESS)  # the window is served first
    if sys.platform != "win32":
        import signal

        # Ctrl+C in the terminal is the window's to answer; it then ends its helpers.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)
