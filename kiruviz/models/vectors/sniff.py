"""What kind of file this is, told from its first bytes before its name."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from pathlib import Path
from typing import Literal

from kiruviz.errors import UserError
from kiruviz.models.vectors import fasttext, projector, word2vec
from kiruviz.models.vectors.text import is_number

Format = Literal[
    "gguf", "safetensors", "torch", "npy", "npz", "parquet", "fasttext", "word2vec", "projector", "config",
    "delimited", "text", "unknown",
]  # fmt: skip
_START = 1 << 16
_TEXT_BYTES = bytes({7, 8, 9, 10, 12, 13, 27, *range(0x20, 0x100)} - {0x7F})

_MAGIC: tuple[tuple[bytes, Format], ...] = (
    (b"GGUF", "gguf"),
    (b"\x93NUMPY", "npy"),
    (b"PAR1", "parquet"),
    (fasttext.MAGIC, "fasttext"),
)


def format_of(path: Path) -> Format:
    """The format of a file.

    Raises
    ------
    UserError : it cannot be read, or its packing is damaged
    """
    start = _start(path)
    for magic, name in _MAGIC:
        if start.startswith(magic):
            return name
    if start.startswith(b"PK"):
        return _zipped(path)
    if path.name.endswith(".safetensors") or _is_safetensors(start):
        return "safetensors"
    if path.name == projector.CONFIG:
        return "config"
    if _is_pickle(start):
        return "torch"
    found = word2vec.header(start)
    if found is not None and not _is_row(start, found[1]):
        return "word2vec"
    return _text_format(path, start)


def holds_vectors(path: Path) -> bool:
    """Whether a text file is one of vectors rather than a list of words: numbers at the end of its first lines."""
    found = format_of(path)
    return found not in ("text", "delimited", "unknown") or (found != "unknown" and _has_numbers(_start(path)))


def is_only_words(path: Path) -> bool:
    """Whether a text file holds words alone: none of its first lines ends with a number."""
    start = _start(path)
    lines = [line.split() for line in start.split(b"\n")[:3]]
    utf16 = start[:2] in (b"\xff\xfe", b"\xfe\xff")
    return bool(start.strip()) and not utf16 and not any(line and is_number(line[-1]) for line in lines)


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            start = file.read(_START)
            if not start.startswith(b"\x1f\x8b"):
                return start
            file.seek(0)
            with gzip.open(file) as unpacked:
                return unpacked.read(_START)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise UserError(f"{path} is a damaged or cut off .gz file ({error}); fetch it again.") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror or error}); check the file.") from error


def _zipped(path: Path) -> Format:
    try:
        with zipfile.ZipFile(path) as held:
            names = held.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise UserError(f"{path} is a damaged or cut off archive ({error}); fetch it again.") from error
    if any(name.endswith("data.pkl") for name in names):
        return "torch"
    return "npz" if any(name.endswith(".npy") for name in names) else "unknown"


def _is_safetensors(start: bytes) -> bool:
    length = int.from_bytes(start[:8], "little")
    return 2 <= length < 100_000_000 and start[8:9] == b"{" and b'"dtype"' in start[8 : 8 + min(length, 4096)]


def _is_pickle(start: bytes) -> bool:
    return len(start) > 2 and start[0] == 0x80 and 2 <= start[1] <= 5


def _is_row(start: bytes, size: int) -> bool:
    """Whether what follows the header is text: a name and its numbers."""
    body = start.split(b"\n", 2)
    line = body[1].strip() if len(body) > 1 else b""
    if not line:
        return True  # nothing but a header: the text reader says what is missing
    if line.translate(None, _TEXT_BYTES):
        return False
    fields = line.split()
    tail = fields[-size:] if len(body) > 2 else fields[1:-1]
    return len(fields) > 1 and all(map(is_number, tail))


def _text_format(path: Path, start: bytes) -> Format:
    odd = len(start.translate(None, _TEXT_BYTES))
    # A vocabulary may hold a few control characters; text has no NUL and not many of the others.
    if (b"\0" in start or 50 * odd > len(start)) and start[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        return "unknown"
    name = path.name.casefold().removesuffix(".gz")
    if name.endswith(".csv"):
        return "delimited"
    if name.endswith(".tsv"):
        cells = start.split(b"\n", 1)[0].strip().split(b"\t")
        pair = all(map(is_number, cells)) or projector.vectors_beside(path) is not None
        return "projector" if pair else "delimited"
    return "text"


def _has_numbers(start: bytes) -> bool:
    for line in start.split(b"\n")[:3]:
        fields = line.replace(b",", b" ").replace(b";", b" ").split()
        if len(fields) > 2 and all(map(is_number, fields[-2:])):
            return True
    return False
