"""The cache folder of this room: what can be made again from a model's own files.

`models/<identity>/` holds a converted table, a tokenizer and the vocabulary's columns; `memo/` holds small
facts about files (hashes), keyed by path, size and modification time; `hub/` holds the tables of models that were
looked at without downloading them. Every file appears whole or not at all.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO

from kiruviz.paths import cache_dir

_ROOMS = ("models", "memo", "hub")


def write_atomic(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write `path` through a temporary name beside it, so that a reader never sees half a file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name + ".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as out:
            write(out)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def write_quietly(path: Path, write: Callable[[BinaryIO], object]) -> bool:
    """`write_atomic` that says whether it worked: a full or read-only disk costs computing again, no more."""
    try:
        write_atomic(path, write)
    except OSError:
        return False
    return True


def model_folder(identity: str) -> Path:
    """The folder for what was made from the model with this identity."""
    return cache_dir("models", identity[:32])


def stamp(files: Iterable[Path]) -> str:
    """Path, size and modification time of some files: changes whenever one of them was rewritten."""
    facts = []
    for file in files:
        status = file.stat()
        facts.append([str(file.resolve()), status.st_size, status.st_mtime_ns])
    return json.dumps(facts)


def remembered(what: str, files: Iterable[Path], compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A small JSON object computed from some files, computed again only when one of them changed.

    Parameters
    ----------
    what : what is remembered about the files (and the version of how it is computed)
    files : the files the value depends on
    compute : makes the value; its errors pass through and nothing is remembered
    """
    key = what + stamp(files)
    path = cache_dir("memo") / (hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest() + ".json")
    with contextlib.suppress(OSError, ValueError):
        value = json.loads(path.read_bytes())
        if isinstance(value, dict):
            return value
    value = compute()
    write_quietly(path, lambda out: out.write(json.dumps(value).encode()))
    return value


def size() -> int:
    """Bytes the cache takes on the disk."""
    files = (file for room in _ROOMS for file in cache_dir(room).rglob("*") if file.is_file())
    return sum(file.stat().st_size for file in files)


def empty() -> None:
    """Remove everything from the cache; what is open elsewhere (Windows holds such files) stays."""
    for room in _ROOMS:
        shutil.rmtree(cache_dir(room), ignore_errors=True)
