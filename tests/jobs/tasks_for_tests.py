"""Jobs that the tests of the lanes run in real helper processes."""

from __future__ import annotations

import os
import time

import numpy as np

from kiruviz.errors import UserError
from kiruviz.progress import Progress


def add(progress: Progress, one: int, other: int) -> int:
    progress.report(0.5, "adding")
    return one + other


def process_id(progress: Progress) -> int:
    return os.getpid()


def threads(progress: Progress) -> str:
    return os.environ["OMP_NUM_THREADS"]


def polite(progress: Progress, seconds: float) -> str:
    """Runs long, but listens."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        progress.report(None, "running")
        time.sleep(0.005)
    return "ran to the end"


def deaf(progress: Progress, seconds: float) -> str:
    """Runs long inside one call, and never listens."""
    progress.report(0.0, "deaf")
    time.sleep(seconds)
    return "ran to the end"


def pictures(progress: Progress, count: int) -> int:
    for number in range(count):
        progress.partial(np.full((1000, 2), number, np.float32))
    return count


def refuse(progress: Progress) -> None:
    raise UserError("The file words.txt has no words; put one word on each line.")


def stumble(progress: Progress) -> None:
    raise RuntimeError("a fault")


def exhaust(progress: Progress) -> None:
    raise MemoryError


def die(progress: Progress) -> None:
    os.kill(os.getpid(), 9)
