"""Errors that a person reads.

Everything that can go wrong because of what a person brought (a file, a word, a number) is raised as
`UserError` with one sentence that names the file, row or field and says what to do. Anything else that
escapes is a fault of the program.
"""

from __future__ import annotations

from typing import Any


class UserError(Exception):
    """One sentence for a person: what happened, to which file or row, and what to do next.

    choices  what the person may choose instead, where there is something to choose
    """

    choices: tuple[Any, ...] = ()


class Cancelled(Exception):
    """Raised inside a job, from `Progress.check`, once the person cancelled it."""
