"""A lane: one QThread that drives one helper process, one job at a time."""

from __future__ import annotations

import contextlib
import multiprocessing
import queue
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

from PySide6.QtCore import QObject, QThread, Signal

from kiruviz.jobs.helper import HelperSettings, JobError, serve

# How often the worker looks for a wish to cancel or to close while a job runs.
_LOOK_EVERY = 0.05
# After the wish to cancel a job has this long to stop by itself; then its helper is killed.
GRACE = 0.8


class Job(QObject):
    """One run of a job, as seen from the main thread.

    progressed(fraction or None, message), partial(value), succeeded(value), failed(JobError), cancelled();
    exactly one of the last three is emitted, followed by ended(). A job that was replaced by a newer one of
    the same key emits cancelled() and ended() only.
    """

    progressed = Signal(object, str)
    partial = Signal(object)
    succeeded = Signal(object)
    failed = Signal(object)
    cancelled = Signal()
    ended = Signal()
    # The worker's thread speaks only through these; Qt carries them to the main thread.
    _told = Signal(str, object)

    def __init__(
        self, job_id: int, title: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        super().__init__()
        self.job_id = job_id
        self.title = title
        self.request = (job_id, function, args, kwargs)
        self.cancel_wanted = False
        self.is_over = False
        self.started_at = time.monotonic()
        self._latest_partial: object = None
        self._partial_pending = False
        self._told.connect(self._hear)

    def cancel(self) -> None:
        """Ask the job to stop. The answer, `cancelled`, comes at once; what the helper still does is dropped."""
        if not self.is_over:
            self.cancel_wanted = True
            self._finish(self.cancelled)

    def tell(self, what: str, value: object = None) -> None:
        """From the worker's thread: pass on a message. Of partial results only the newest is kept."""
        if what == "partial":
            self._latest_partial = value
            if self._partial_pending:
                return
            self._partial_pending = True
            value = None
        self._told.emit(what, value)

    def _hear(self, what: str, value: Any) -> None:
        if self.is_over:
            return
        if what == "progress":
            self.progressed.emit(*value)
        elif what == "partial":
            self._partial_pending = False
            self.partial.emit(self._latest_partial)
        elif what == "done":
            self._finish(self.succeeded, value)
        elif what == "error":
            self._finish(self.failed, value)
        else:
            self._finish(self.cancelled)

    def _finish(self, signal: Any, *value: Any) -> None:
        self.is_over = True
        signal.emit(*value)
        self.ended.emit()


class Lane(QThread):
    """A worker thread with a helper process of its own.

    `helper_started(pid)` and `helper_lost()` tell about the process; `released(job_id)` that the worker holds
    the job no more, and so the main thread may let go of it. `close` ends both within a moment.
    """

    helper_started = Signal(int)
    helper_lost = Signal()
    released = Signal(int)

    def __init__(self, settings: HelperSettings) -> None:
        super().__init__()
        self.setObjectName(f"lane {settings.name}")
        self._settings = settings
        self._inbox: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._closing = False
        self._waiting = 0
        self._at_work = False
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None

    def put(self, job: Job) -> None:
        self._waiting += 1
        self._inbox.put(job)
        if not self.isRunning():
            self.start()

    @property
    def is_at_work(self) -> bool:
        """Whether the helper has taken a job that has not ended."""
        return self._at_work

    @property
    def is_idle(self) -> bool:
        """Whether no job runs, nor one waits."""
        return self._waiting == 0

    @property
    def pid(self) -> int | None:
        """The helper's process id, or None while there is none."""
        process = self._process
        return process.pid if process is not None else None

    def close(self) -> None:
        """End the worker and its helper, whatever they do. Blocks for a fraction of a second."""
        self._closing = True
        self._inbox.put(None)
        if self.isRunning():
            self.wait()

    def run(self) -> None:
        while not self._closing:
            job = self._inbox.get()
            if job is None:
                continue
            if not job.cancel_wanted:
                self._perform(job)
            self._at_work = False
            self._waiting -= 1
            job_id = job.job_id
            # A QObject of the main thread must not die here, by the last reference being this one.
            del job
            self.released.emit(job_id)
        self._drop_helper()

    def _perform(self, job: Job, once_more: bool = True) -> None:
        try:
            connection = self._given(job)
        except (EOFError, OSError) as error:
            self._lost(job, f"could not be started ({error})")
            return
        cancelled_at: float | None = None
        while not self._closing:
            try:
                if wait([connection], _LOOK_EVERY) and self._pass_on(connection.recv(), job):
                    return
            except (EOFError, OSError):
                if once_more and not self._at_work:  # it died before it took the job: another takes it
                    self._drop_helper()
                    self._perform(job, once_more=False)
                    return
                self._lost(job, self._cause_of_death())
                return
            if job.cancel_wanted:
                now = time.monotonic()
                if cancelled_at is None:
                    cancelled_at = now
                    with contextlib.suppress(OSError):
                        connection.send(("cancel", job.job_id))
                elif now - cancelled_at > GRACE:
                    self._drop_helper()
                    return

    def _given(self, job: Job) -> Connection:
        """The connection to a helper that was given the job. One that died while it was idle is replaced."""
        connection = self._helper()
        try:
            connection.send(job.request)
        except OSError:
            self._drop_helper()
            connection = self._helper()
            connection.send(job.request)
        return connection

    def _pass_on(self, message: tuple[Any, ...], job: Job) -> bool:
        """Tell the job what its helper said; True when that was the last word."""
        what, job_id, *values = message
        if job_id != job.job_id:
            return False
        if what == "started":
            self._at_work = True
            return False
        job.tell(what, tuple(values) if what == "progress" else values[0] if values else None)
        return what in ("done", "error", "cancelled")

    def _helper(self) -> Connection:
        """The connection to a living helper, started now if there is none."""
        if self._process is not None and self._process.is_alive() and self._connection is not None:
            return self._connection
        self._drop_helper()
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=serve, args=(theirs, self._settings), name=f"kiruviz {self._settings.name}", daemon=True
        )
        process.start()
        theirs.close()
        self._process, self._connection = process, ours
        while not wait([ours, process.sentinel], _LOOK_EVERY):
            if self._closing:
                raise EOFError("the program is closing")
        ours.recv()  # "ready"; raises EOFError if it died instead
        self.helper_started.emit(process.pid or 0)
        return ours

    def _cause_of_death(self) -> str:
        process = self._process
        if process is None:
            return "stopped"
        process.join(0.2)
        if process.exitcode is not None and process.exitcode < 0:
            return "was stopped from outside, perhaps because memory ran out"
        return "stopped unexpectedly"

    def _lost(self, job: Job, how: str) -> None:
        self._drop_helper()
        self.helper_lost.emit()
        sentence = (
            f"The helper process for “{job.title}” {how}; nothing you named is lost. "
            "Try again, with fewer rows if it happens twice."
        )
        job.tell("error", JobError(sentence))

    def _drop_helper(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self._process = None
