"""Looking through the sessions that were left without a name."""

from __future__ import annotations

from kiruviz.progress import Progress
from kiruviz.session.recover import UntitledInfo, find_untitled


def untitled_sessions(progress: Progress) -> list[UntitledInfo]:
    """`session.recover.find_untitled`: it opens each file, which is not for the window's process."""
    progress.check()
    return find_untitled()
