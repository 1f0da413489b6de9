"""word2vec's binary format: a header line, then for each row a name, a space and its numbers as float32.

Source: word2vec.c of Mikolov et al. (2013), and gensim's `KeyedVectors.load_word2vec_format(binary=True)`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

import numpy as np

from kiruviz.errors import UserError
from kiruviz.models.vectors.table import VectorTable, frozen, is_text, name_notes, opened, whole, word
from kiruviz.progress import Progress

_BLOCK = 4 << 20
_LONGEST_NAME = 1 << 16
_HEADER = re.compile(rb"(\d{1,11}) (\d{1,11})[ \r]*\n")


def header(start: bytes) -> tuple[int, int] | None:
    """(rows, size) if these bytes start such a file: two whole numbers on a line, then what is no text row."""
    found = _HEADER.match(start)
    rows, size = (whole(found[1]), whole(found[2])) if found is not None else (None, None)
    return (rows, size) if rows and size else None


def read(path: Path, progress: Progress) -> VectorTable:
    """Read a binary word2vec file, gzipped or not.

    Raises
    ------
    UserError : the file ends early or goes on after its last row, names the row
    """
    with opened(path) as stream:
        buffer = stream.read(_BLOCK)
        found = header(buffer)
        if found is None:
            raise UserError(f"{path} does not start with its number of rows and their size; is it a word2vec file?")
        rows, size = found
        buffer = buffer[buffer.index(b"\n") + 1 :]
        _refuse_if_short(path, rows, size)
        named: list[bytes] = []
        blocks = []
        while len(named) < rows:
            more = stream.read(_BLOCK)
            ended = not more
            buffer += more
            names, vectors, used = _parse(buffer, size, rows - len(named))
            if not names and (ended or len(buffer) > 4 * size + _LONGEST_NAME + _BLOCK):
                raise UserError(
                    f"{path}: row {len(named) + 1} of {rows:,} is cut off or has no name; fetch the file again."
                )
            buffer = buffer[used:]
            if names:
                named += names
                blocks.append(vectors)
            progress.report(len(named) / rows, f"Reading {path.name}")
        _refuse_rest(path, rows, buffer, stream)
    names_text = tuple(map(word, named))
    odd = sum(not is_text(name) for name in named)
    return VectorTable(frozen(np.concatenate(blocks), path), names_text, notes=name_notes(names_text, odd))


def _refuse_if_short(path: Path, rows: int, size: int) -> None:
    """A header that promises more than the file can hold must not make room for it."""
    with path.open("rb") as file:
        if file.read(2) == b"\x1f\x8b":
            return
    if rows * (4 * size + 2) > path.stat().st_size:
        raise UserError(
            f"{path}: its first line promises {rows:,} rows of {size}, more than the file holds; fetch it again."
        )


def _parse(buffer: bytes, size: int, most: int) -> tuple[list[bytes], np.ndarray, int]:
    """The whole rows at the start of `buffer`, at most `most`: names, (n, size) float32, bytes used."""
    names: list[bytes] = []
    places = []
    at, wide = 0, 4 * size
    while len(names) < most:
        # The original writes a line end after each row, gensim none.
        start = at + 1 if buffer[at : at + 1] == b"\n" else at
        space = buffer.find(b" ", start, start + _LONGEST_NAME)
        if space < 0 or space + 1 + wide > len(buffer):
            break
        names.append(buffer[start:space])
        places.append(space + 1)
        at = space + 1 + wide
    vectors = np.empty((len(names), size), np.float32)
    for i, place in enumerate(places):
        vectors[i] = np.frombuffer(buffer, "<f4", size, place)
    return names, vectors, at


def _refuse_rest(path: Path, rows: int, buffer: bytes, stream: BinaryIO) -> None:
    if buffer.strip(b"\n") or stream.read(2).strip(b"\n"):
        raise UserError(f"{path} goes on after the {rows:,} rows of its first line; is it whole and of this format?")
