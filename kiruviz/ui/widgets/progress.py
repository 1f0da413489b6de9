"""The jobs that run, in the status line: words, share, time left, cancel."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from kiruviz.jobs.lane import Job
from kiruviz.ui.keys import tip_with_key
from kiruviz.ui.widgets.basics import button, label

# A job that is over sooner is not worth a flicker.
_SHOW_AFTER_MS = 250


class JobStrip(QWidget):
    """Shows the job that spoke last, and how many more there are; Cancel is for the newest."""

    def __init__(self) -> None:
        super().__init__()
        self._jobs: list[Job] = []
        self._said: dict[Job, tuple[float | None, str, float]] = {}
        self._speaking: Job | None = None
        self._text = label("", "muted")
        # Of one width, so that the line does not jump with every number.
        self._text.setFixedWidth(300)
        self._text.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._bar = QProgressBar()
        self._bar.setFixedWidth(156)
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 1000)
        self._cancel = button("Cancel", self.cancel, "link")
        tip_with_key(self._cancel, "Stop this job; nothing you named is lost", "cancel")
        box = QHBoxLayout(self)
        box.setContentsMargins(0, 0, 4, 0)
        box.setSpacing(10)
        for part in (self._text, self._bar, self._cancel):
            box.addWidget(part)
        self._delay = QTimer(self)
        self._delay.setSingleShot(True)
        self._delay.setInterval(_SHOW_AFTER_MS)
        self._delay.timeout.connect(self._refresh)
        self.hide()

    @property
    def job(self) -> Job | None:
        return self._jobs[-1] if self._jobs else None

    @property
    def text(self) -> str:
        return self._text.text()

    def watch(self, job: Job) -> None:
        """Show a job until it ends."""
        self._jobs.append(job)
        self._said[job] = (None, job.title, time.monotonic())
        job.progressed.connect(lambda fraction, message: self._progress(job, fraction, message))
        job.ended.connect(lambda: self._over(job))
        self._delay.start()

    def cancel(self) -> None:
        """Cancel the newest job."""
        if self.job is not None:
            self.job.cancel()

    def _progress(self, job: Job, fraction: float | None, message: str) -> None:
        began = self._said[job][2] if job in self._said and self._said[job][0] is not None else time.monotonic()
        self._said[job] = (fraction, message, began)
        self._speaking = job
        if not self._delay.isActive():
            self._refresh()

    def _over(self, job: Job) -> None:
        self._jobs.remove(job)
        del self._said[job]
        if not self._jobs:
            self._delay.stop()
            self.hide()
        elif not self._delay.isActive():
            self._refresh()

    def _refresh(self) -> None:
        # The newest job may wait behind the one that runs: the running one has something to say.
        job = self._speaking if self._speaking in self._jobs else self.job
        if job is None:
            return
        fraction, message, began = self._said[job]
        parts = [message]
        if fraction is not None:
            parts.append(f"{fraction:.0%}".replace("%", " %"))
            if (left := _time_left(fraction, time.monotonic() - began)) is not None:
                parts.append(f"{left} left")
        if len(self._jobs) > 1:
            parts.append(f"{len(self._jobs) - 1} more")
        self._text.setText(" · ".join(parts))
        self._bar.setRange(0, 0 if fraction is None else 1000)
        if fraction is not None:
            self._bar.setValue(round(1000 * fraction))
        self.show()


def _time_left(fraction: float, elapsed: float) -> str | None:
    """The time a job will still take, once enough of it is done to tell."""
    if fraction < 0.03 or elapsed < 0.5:
        return None
    seconds = elapsed * (1 - fraction) / fraction
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
