"""Writing a person's files: never over an existing one unasked, and whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kiruviz.errors import UserError


@contextmanager
def replacing(path: Path, overwrite: bool = False) -> Iterator[Path]:
    """A temporary file beside `path` to write to; it takes the place of `path` when the block ends well.

    Raises `UserError` where the folder is missing or may not be written to, and where `path` exists and
    `overwrite` is not set. After an error in the block nothing is left behind and `path` is as it was.
    """
    refuse(path, overwrite)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    except OSError as error:
        raise UserError(f"{path} cannot be written ({error.strerror}): choose another folder.") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes files only their owner may read; a figure is to be shared like any other file.
        temporary.chmod(0o666 & ~_umask())
        refuse(path, overwrite)
        temporary.replace(path)
    except OSError as error:
        raise UserError(
            f"{path} could not be written ({error.strerror}): free some space or choose another folder."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def refuse(path: Path, overwrite: bool) -> None:
    """Raise `UserError` where writing `path` would fail or would replace something unasked."""
    if path.is_dir():
        raise UserError(f"{path} is a folder: give the name of a file in it.")
    if not path.parent.is_dir():
        raise UserError(f"The folder {path.parent} does not exist: make it first, or choose another folder.")
    if path.exists() and not overwrite:
        raise UserError(f"{path} exists already: choose another name, or allow it to be overwritten (--overwrite).")


def suffix_of(path: Path, allowed: tuple[str, ...]) -> str:
    """The suffix of `path` in lower case, if it is one of `allowed`; else `UserError`."""
    suffix = path.suffix.lower()
    if suffix not in allowed:
        raise UserError(f"{path.name} should end in {', '.join(allowed[:-1])} or {allowed[-1]}, which says the format.")
    return suffix


def _umask() -> int:
    # The mask can only be read by setting it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
