"""What makes a model the same model: a SHA-256 that does not need the whole of a large file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from kiruviz.errors import UserError
from kiruviz.progress import Progress, Silent

_CHUNK = 8 << 20


def hash_parts(parts: Iterable[tuple[str, bytes | memoryview]], progress: Progress) -> str:
    """SHA-256 over labelled parts of a model: config, tokenizer, tensor headers, bytes of the input table.

    Label and length go in before each part, so that bytes moving from one part to the next change the hash.

    Returns
    -------
    64 hex digits
    """
    digest = hashlib.sha256()
    for label, part in parts:
        view = memoryview(part)
        digest.update(f"{label}\0{view.nbytes}\0".encode())
        for start in range(0, view.nbytes, _CHUNK):
            progress.report(None, f"Identifying the model: {label}")
            digest.update(view[start : start + _CHUNK])
    return digest.hexdigest()


def hash_file(path: Path, progress: Progress = Silent()) -> str:  # noqa: B008 - Silent has no state
    """SHA-256 of a whole file, for those who ask for it.

    Raises
    ------
    UserError : the file cannot be read
    """
    digest = hashlib.sha256()
    try:
        total = path.stat().st_size
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                progress.report(file.tell() / max(total, 1), f"Checking {path.name}")
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); check the file and its permissions.") from error
    return digest.hexdigest()
