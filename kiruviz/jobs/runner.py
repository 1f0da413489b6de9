"""Starts jobs in lanes and keeps the rules: a new start replaces the old one, closing ends everything."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any, Literal

from PySide6.QtCore import QObject, Signal, Slot

from kiruviz.jobs.helper import HelperSettings
from kiruviz.jobs.lane import Job, Lane

LaneName = Literal["model", "analysis", "layout", "paper", "fetch"]
"""model     the open checkpoint: tables, tokens, neighbours (later: the running model)
analysis  k-means, PCA, evidence
layout    UMAP: slow to warm up, so nothing else waits behind it
paper     figures and tables"""


class JobRunner(QObject):
    """All lanes of a window. Lives in the main thread.

    job_started(Job) is emitted for every job that a person may want to see and cancel.
    """

    job_started = Signal(object)

    def __init__(self, numba_cache: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._numba_cache = numba_cache
        self._lanes: dict[LaneName, Lane] = {}
        self._by_key: dict[str, Job] = {}
        self._held: dict[int, Job] = {}
        self._ids = itertools.count(1)
        self._closed = False

    def start(
        self,
        lane: LaneName,
        title: str,
        function: Callable[..., Any],
        *args: Any,
        key: str | None = None,
        quiet: bool = False,
        **kwargs: Any,
    ) -> Job:
        """Run `function(progress, *args, **kwargs)` in `lane`.

        `function` is importable by name; arguments and result are picklable. An unfinished job with the same
        `key` is cancelled first and its late result dropped. `title` is what the person reads; `quiet` jobs
        are too short to be shown.
        """
        if key is not None and (old := self._by_key.get(key)) is not None:
            old.cancel()
        job = Job(next(self._ids), title, function, args, kwargs)
        self._held[job.job_id] = job
        if key is not None:
            self._by_key[key] = job
        self.lane(lane).put(job)
        if not quiet:
            self.job_started.emit(job)
        return job

    def cancel(self, key: str) -> None:
        """Cancel the unfinished job with this key, if there is one."""
        if (job := self._by_key.get(key)) is not None:
            job.cancel()

    def job(self, key: str) -> Job | None:
        """The newest job with this key, if it is still held."""
        return self._by_key.get(key)

    def lane(self, name: LaneName) -> Lane:
        """The lane called `name`, made when it is first asked for."""
        if self._closed:
            raise RuntimeError("the job runner is closed")
        if name not in self._lanes:
            # The layout lane's kernel runs on one thread, for repeatable results; together the lanes stay
            # within the cores, but for short bursts.
            threads = 1 if name in ("layout", "paper", "fetch") else max(1, (os.cpu_count() or 2) - 1)
            lane = Lane(HelperSettings(name, threads, self._numba_cache))
            lane.released.connect(self._let_go)
            self._lanes[name] = lane
        return self._lanes[name]

    @property
    def busy(self) -> bool:
        """Whether any job is unfinished."""
        return any(not job.is_over for job in self._held.values())

    def close(self) -> None:
        """Cancel everything, end every helper and thread."""
        self._closed = True
        for job in list(self._held.values()):
            job.cancel()
        for lane in self._lanes.values():
            lane.close()
        self._lanes.clear()
        self._held.clear()

    @Slot(int)
    def _let_go(self, job_id: int) -> None:
        job = self._held.pop(job_id, None)
        for key in [key for key, held in self._by_key.items() if held is job]:
            del self._by_key[key]
