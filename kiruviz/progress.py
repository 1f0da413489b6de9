"""What a job may say while it runs.

A job is a plain function whose first argument is a `Progress`. It knows neither Qt nor processes, so the
command line, a test and a helper process run the same function.
"""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Reports from inside a job, and the person's wish to stop it."""

    def report(self, fraction: float | None, message: str) -> None:
        """Tell how far the job is: `fraction` in [0, 1], or None where that is unknown. Raises `Cancelled`."""

    def partial(self, value: object) -> None:
        """Hand out a partial result (picklable; arrays are copied). May be dropped when nobody keeps up."""

    def check(self) -> None:
        """Raise `Cancelled` if the person cancelled the job."""


class Silent:
    """A `Progress` that says nothing and is never cancelled."""

    def report(self, fraction: float | None, message: str) -> None: ...

    def partial(self, value: object) -> None: ...

    def check(self) -> None: ...
