"""A session as an open file: made, opened, copied and closed; transactions on it, and who is told of changes."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from kiruviz import __version__, paths
from kiruviz.errors import UserError
from kiruviz.session import files
from kiruviz.session.lock import FileLock

Change = Literal["labels", "space", "projection", "title"]
Observer = Callable[[Change], None]


class SessionFile:
    """The file under a `store.Session`.

    Attributes:
        path: the file; `save_as` changes it
        read_only: whether this is a snapshot made by `open_readonly`
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: FileLock | None) -> None:
        self.path = path
        self.read_only = lock is None
        self._connection = connection
        self._lock = lock
        self._observers: list[Observer] = []
        with files.reading(path):
            self._seen = self._data_version()
            self._load(connection)

    def _load(self, connection: sqlite3.Connection) -> None:
        """Fill the mirror in memory from a file just opened."""

    @classmethod
    def create(cls, path: str | Path, overwrite: bool = False) -> Self:
        """A new session in a new file, or in place of the one at `path` with `overwrite`."""
        target = _absolute(path)
        lock = files.lock(target)
        try:
            connection = files.fresh()
            try:
                made = [("created", repr(time.time())), ("version", __version__)]
                connection.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", made)
                files.install(connection, target, overwrite)
            finally:
                connection.close()
            return cls._opened(target, lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def untitled(cls) -> Self:
        """A new session in the program's data folder; `recover.find_untitled` finds it after a crash."""
        stem = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
        folder = paths.data_dir("untitled")
        names = (f"{stem}{f'-{i}' if i else ''}.kiru" for i in range(1000))
        return cls.create(next(folder / name for name in names if not (folder / name).exists()))

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """The session at `path`, to work on. One process at a time can have it."""
        target = _absolute(path)
        lock = files.lock(target)
        try:
            cls.open_readonly(target).close()  # opening to write changes the file: only one that can be read
            return cls._opened(target, lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open_readonly(cls, path: str | Path) -> Self:
        """The session at `path` as it is at this moment, open elsewhere or in a read-only place though it may
        be. Nothing is held open; changing it raises UserError, `save_as` makes it an ordinary session."""
        target = _absolute(path)
        connection = files.snapshot(target)
        try:
            return cls(target, connection, None)
        except BaseException:
            connection.close()
            raise

    @classmethod
    def _opened(cls, path: Path, lock: FileLock) -> Self:
        connection = files.open_for_writing(path)
        try:
            return cls(path, connection, lock)
        except BaseException:
            connection.close()
            raise

    @property
    def is_untitled(self) -> bool:
        return self.path.parent == paths.data_dir("untitled").resolve()

    @property
    def title(self) -> str:
        """The file's name without its ending; it is not kept in the file, which may be renamed."""
        return "Untitled" if self.is_untitled else self.path.stem

    def save(self) -> None:
        """Bring the file itself up to date; nothing was unsaved, but now it can be copied while open."""
        with files.told(self.path):
            files.checkpoint(self._connection)

    def save_as(self, path: str | Path, overwrite: bool = False) -> None:
        """Go on in a copy at `path`. A titled file stays as it is, an untitled one is gone. On failure
        (UserError) the present file stays in use and what was at `path` is untouched."""
        target = _absolute(path)
        if target == self.path and not self.read_only:
            self.save()
            return
        lock = files.lock(target)
        try:
            files.install(self._connection, target, overwrite)
            connection = files.open_for_writing(target)
        except BaseException:
            lock.release()
            raise
        former = self.path if self.is_untitled and not self.read_only else None
        self.close()
        if former is not None:
            with suppress(UserError):  # the work is safe in the new file; a leftover is offered at the next start
                files.remove(former)
        self.path, self._connection, self._lock = target, connection, lock
        self.read_only = False
        self._seen = self._data_version()
        self._notify("title")

    def close(self) -> None:
        """Close the file, leaving one that can be mailed. A second call does nothing."""
        files.close(self._connection)
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def discard(self) -> None:
        """Close an untitled session and delete its file. ValueError for a titled one."""
        if not self.is_untitled or self.read_only:
            raise ValueError(f"{self.path} is not an untitled session")
        self.close()
        files.remove(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def subscribe(self, observer: Observer) -> Callable[[], None]:
        """Call `observer` after each change with what changed; returns a function that ends it."""
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing. Refuses where another program changed the file, since the mirror is stale then."""
        if self.read_only:
            raise UserError(f"{self.path} was opened for reading only; save it under another name to change it.")
        connection = self._connection
        with files.told(self.path):
            connection.execute("BEGIN IMMEDIATE")
            try:
                if self._data_version() != self._seen:
                    raise UserError(f"{self.path} was changed by another program; close it and open it again.")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # SQLite may have rolled back by itself
                    connection.execute("ROLLBACK")
                raise

    def _data_version(self) -> int:
        version: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        return version

    def _notify(self, change: Change) -> None:
        for observer in list(self._observers):
            observer(change)


def _absolute(path: str | Path) -> Path:
    return Path(path).expanduser().resolve()
