"""The session file as a file: checked before it is touched, written as a whole or not at all, closed as one."""

from __future__ import annotations

import os
import sqlite3
import sys
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from kiruviz.errors import UserError
from kiruviz.session import schema
from kiruviz.session.lock import FileLock

_SIDE_FILES = ("-wal", "-shm", "-journal")
_BUSY_SECONDS = 1.0  # a reader holds the file for some ten milliseconds


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn what goes wrong with the file at `path` into one sentence for the person."""
    try:
        yield
    except sqlite3.ProgrammingError:  # a fault of the program, not of the file: a closed session, another thread
        raise
    except sqlite3.Error as error:
        raise UserError(_sentence(path, error)) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UserError(f"{path} cannot be used ({reason}); choose another place.") from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """As `told`, and what cannot be decoded is a damaged file."""
    with told(path):
        try:
            yield
        except (zlib.error, EOFError, ValueError) as error:
            raise UserError(_damaged(path)) from error


def _damaged(path: Path) -> str:
    return f"{path} is damaged or not a KiruViz session; open another file or a copy made earlier."


def _sentence(path: Path, error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", None) or ""
    if name.startswith("SQLITE_READONLY"):
        return _read_only(path)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"{path} is in use by another program; close it there and try again."
    if name.startswith("SQLITE_FULL"):
        return f"{path} could not be written because the disk is full; free some space and repeat the last step."
    if name.startswith("SQLITE_CANTOPEN"):
        return f"{path} cannot be opened where it lies; copy it to a folder of your own and open the copy."
    if name.startswith("SQLITE_IOERR"):
        return f"{path} could not be read or written by the system; check the disk and repeat the last step."
    return _damaged(path)


def _read_only(path: Path) -> str:
    return f"{path} or its folder is read-only; copy it to a folder of your own and open the copy."


def lock(path: Path) -> FileLock:
    """The right to write `path`, or UserError if another session has it."""
    with told(path):
        held = FileLock.acquire(path)
    if held is None:
        raise UserError(f"{path} is open in another KiruViz; close it there or work on a copy of it.")
    return held


def open_for_writing(path: Path) -> sqlite3.Connection:
    """A connection to a session file that was checked by `snapshot`, or just installed, in WAL mode; the
    caller holds its lock."""
    with told(path):
        # effective_ids: what the process may do, where the platform can tell it from what its user may
        effective = os.access in os.supports_effective_ids
        if not all(os.access(place, os.W_OK, effective_ids=effective) for place in (path, path.parent)):
            raise UserError(_read_only(path))
        connection = _connect(path, "rw")
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
            schema.migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def snapshot(path: Path) -> sqlite3.Connection:
    """The session file as it is at this moment, checked, in memory and in the present format: nothing is held
    open, nothing can be written to the file."""
    memory = sqlite3.connect(":memory:", isolation_level=None)
    try:
        with reading(path), closing(_connect(path, "rw" if _unfinished(path) else "ro")) as source:
            _check(path, source)
            source.backup(memory)
            schema.migrate(memory)
        memory.execute("PRAGMA query_only=ON")
    except BaseException:
        memory.close()
        raise
    return memory


def fresh() -> sqlite3.Connection:
    """An empty session in memory, to be installed as a file."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(connection)
    return connection


def install(source: sqlite3.Connection, target: Path, overwrite: bool) -> None:
    """Make `target` a copy of `source`: complete or not at all. The caller holds the lock of `target`."""
    with told(target):
        if target.is_dir():
            raise UserError(f"{target} is a folder; choose a file name ending in .kiru.")
        if target.exists() and not overwrite:
            raise UserError(f"{target} exists already; choose another name or allow to overwrite it.")
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            with closing(sqlite3.connect(part, isolation_level=None)) as copy:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode=DELETE")
            # A log left by a crashed session would be taken for the new file's own.
            for suffix in _SIDE_FILES:
                target.with_name(target.name + suffix).unlink(missing_ok=True)
            part.replace(target)
            _sync_folder(target.parent)
        finally:
            for suffix in ("", *_SIDE_FILES):
                with suppress(OSError):
                    part.with_name(part.name + suffix).unlink(missing_ok=True)


def checkpoint(connection: sqlite3.Connection) -> None:
    """Bring everything from the log into the file itself."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def close(connection: sqlite3.Connection) -> None:
    """Close so that one file is left. Should a reader prevent that, the log stays beside it, nothing is lost."""
    try:
        with suppress(sqlite3.Error):
            checkpoint(connection)
            connection.execute("PRAGMA journal_mode=DELETE")
    finally:
        connection.close()


def remove(path: Path) -> None:
    """Delete a session file and what a crash left beside it."""
    with told(path):
        for suffix in ("", *_SIDE_FILES):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    if path.is_dir():
        raise UserError(f"{path} is a folder, not a session; choose a .kiru file.")
    if not path.exists():
        raise UserError(f"{path} does not exist; check the name or open another session.")
    uri = f"{path.as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)


def _unfinished(path: Path) -> bool:
    """A kill within the switch back from WAL leaves a rollback journal, which only a writer can play back."""
    return path.with_name(f"{path.name}-journal").exists()


def _check(path: Path, connection: sqlite3.Connection) -> None:
    """Raise unless the file is a sound session that this program knows."""
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != schema.APPLICATION_ID:
        raise UserError(f"{path} is not a KiruViz session; choose a .kiru file.")
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > schema.VERSION:
        raise UserError(
            f"{path} was written by a newer KiruViz (format {version}, this one reads up to {schema.VERSION}); "
            "update KiruViz to open it."
        )
    if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise UserError(_damaged(path))


def _sync_folder(folder: Path) -> None:
    """Make a rename in `folder` last through a power cut; Windows needs and has no such call."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
