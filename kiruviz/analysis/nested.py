"""Progress of one piece of a longer job."""

from __future__ import annotations

from kiruviz.progress import Progress


class Part:
    """Passes an inner job's reports on as the stretch from `start` to `stop` of the outer one.

    Attributes
    ----------
    outer : Progress
    start, stop : float
        Fractions of the outer job.
    prefix : str
        Put before each message.
    """

    def __init__(self, outer: Progress, start: float, stop: float, prefix: str = "") -> None:
        self.outer = outer
        self.start = start
        self.stop = stop
        self.prefix = prefix

    def report(self, fraction: float | None, message: str) -> None:
        """Report the outer job's fraction; an unknown inner one is where the stretch starts."""
        done = self.start + (fraction or 0.0) * (self.stop - self.start)
        self.outer.report(done, self.prefix + message)

    def partial(self, value: object) -> None:
        self.outer.partial(value)

    def check(self) -> None:
        self.outer.check()
