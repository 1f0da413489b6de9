"""One writer a session file: a lock that the system drops when the process ends, however it ends.

The lock lies in the program's data folder, not beside the session: so nothing is left next to a file that is
mailed, and SQLite's own locks on the file (which POSIX drops when any handle on it is closed) are left alone.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

from kiruviz import paths


class FileLock:
    """An exclusive lock for one session path, held until `release`."""

    def __init__(self, handle: int, place: Path) -> None:
        self._handle = handle
        self._place = place

    @classmethod
    def acquire(cls, path: Path) -> FileLock | None:
        """The lock for `path`, which need not exist; None if another session, in any process, holds it."""
        key = os.path.normcase(path.resolve())
        place = paths.data_dir("locks") / f"{hashlib.sha256(os.fsencode(key)).hexdigest()[:32]}.lock"
        while True:
            handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
            if not _take(handle):
                os.close(handle)
                return None
            if _is_at(handle, place):
                return cls(handle, place)
            os.close(handle)  # its last holder removed it between our open and our lock

    def release(self) -> None:
        if sys.platform == "win32":  # an open file cannot be removed there; an empty file stays
            os.close(self._handle)
        else:
            self._place.unlink(missing_ok=True)
            os.close(self._handle)


def _is_at(handle: int, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), place.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
