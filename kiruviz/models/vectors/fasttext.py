"""fastText's `.bin`: the words of its dictionary with the vectors `getWordVector` gives them.

Source: Bojanowski et al. (2017), and fastText's `dictionary.cc`, `fasttext.cc` and `matrix.cc` (format 12).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.models.tensors import map_file
from kiruviz.models.vectors.table import VectorTable, frozen, is_text, name_notes, word
from kiruviz.progress import Progress

MAGIC = struct.pack("<i", 793712314)
_VERSIONS = (11, 12)
_EVERY = 2000


@dataclass(frozen=True)
class _Args:
    dim: int
    supervised: bool
    bucket: int
    minn: int
    maxn: int


class _Reader:
    """Takes numbers from a buffer one after the other; UserError where it ends too early."""

    def __init__(self, path: Path, buffer: Any) -> None:
        self.path, self.buffer, self.at = path, buffer, 0

    def take(self, form: str) -> tuple[Any, ...]:
        wide = struct.calcsize("<" + form)
        if self.at + wide > len(self.buffer):
            raise UserError(f"{self.path} is cut off in its header; fetch it again.")
        found = struct.unpack_from("<" + form, self.buffer, self.at)
        self.at += wide
        return found

    def text(self) -> bytes:
        end = self.buffer.find(b"\0", self.at)
        if end < 0:
            raise UserError(f"{self.path} is cut off in its dictionary; fetch it again.")
        found = bytes(self.buffer[self.at : end])
        self.at = end + 1
        return found


def read(path: Path, progress: Progress) -> VectorTable:
    """Read a fastText model's word vectors: each the mean of the word's own row and those of its n-grams.

    Raises
    ------
    UserError : another version, a quantised model, or sizes that do not fit the file
    """
    reader = _Reader(path, map_file(path))
    args = _args(reader)
    words = _dictionary(reader)
    (quantised,) = reader.take("?")
    if quantised:
        raise UserError(f"{path} is a quantised fastText model, which cannot be opened; bring its .vec or full .bin.")
    matrix = _matrix(reader, args, len(words))
    vectors = np.empty((len(words), args.dim), np.float32)
    for row, name in enumerate(words):
        if row % _EVERY == 0:
            progress.report(row / len(words), f"Reading {path.name}: {row:,} words")
        ids = [row, *(len(words) + one % args.bucket for one in _ngram_hashes(name, args))]
        # Float32 sums in fastText's own order.
        vectors[row] = matrix[ids].sum(axis=0, dtype=np.float32) / np.float32(len(ids))
    names = tuple(map(word, words))
    odd = sum(not is_text(name) for name in words)
    return VectorTable(frozen(vectors, path), names, notes=name_notes(names, odd))


def _args(reader: _Reader) -> _Args:
    magic, version = reader.take("ii")
    if struct.pack("<i", magic) != MAGIC or version not in _VERSIONS:
        raise UserError(f"{reader.path} is no fastText model of version 11 or 12; bring its .vec file.")
    dim, _ws, _epoch, _count, _neg, _ngrams, _loss, model, bucket, minn, maxn, _rate = reader.take("12i")
    reader.take("d")
    if dim < 1 or bucket < 0 or maxn > 100:
        raise UserError(f"{reader.path} is damaged: its sizes are impossible (dimension {dim}); fetch it again.")
    supervised = model == 3
    # As fastText does: supervised models of version 11 have no n-grams.
    return _Args(dim, supervised, bucket, minn, 0 if version == 11 and supervised else maxn)


def _dictionary(reader: _Reader) -> list[bytes]:
    """The words; the labels of a supervised model have no vectors."""
    size, _words, _labels, _tokens, pruned = reader.take("iiiqq")
    if not 0 <= size <= len(reader.buffer):
        raise UserError(f"{reader.path} is damaged: its dictionary of {size:,} entries does not fit; fetch it again.")
    words = []
    for _ in range(size):
        entry = reader.text()
        _count, kind = reader.take("qb")
        if kind == 0:
            words.append(entry)
    if pruned > 0:
        raise UserError(f"{reader.path} is a pruned fastText model, which cannot be opened; bring its .vec file.")
    if not words:
        raise UserError(f"{reader.path} holds no words; bring a file with at least one.")
    return words


def _matrix(reader: _Reader, args: _Args, entries: int) -> npt.NDArray[np.float32]:
    rows, columns = reader.take("qq")
    buckets = args.bucket if args.maxn > 0 else 0
    if columns != args.dim or rows < entries or (buckets and rows < entries + buckets):
        raise UserError(
            f"{reader.path} is damaged: its table is {rows:,} x {columns:,}, expected "
            f"{entries + buckets:,} x {args.dim:,}; fetch it again."
        )
    if reader.at + 4 * rows * columns > len(reader.buffer):
        raise UserError(f"{reader.path} is cut off: its table of {rows:,} x {columns:,} does not fit; fetch it again.")
    return np.frombuffer(reader.buffer, "<f4", rows * columns, reader.at).reshape(rows, columns)


def _ngram_hashes(name: bytes, args: _Args) -> list[int]:
    """The FNV-1a hashes of a word's character n-grams, `<` and `>` around it (fastText's `computeSubwords`)."""
    if args.maxn < 1 or args.bucket < 1 or name == b"</s>":
        return []
    text = b"<" + name + b">"
    starts = [i for i, byte in enumerate(text) if byte & 0xC0 != 0x80]
    ends = [*starts[1:], len(text)]
    found = []
    for place, start in enumerate(starts):
        for length in range(max(args.minn, 1), args.maxn + 1):
            last = place + length - 1
            if last >= len(starts):
                break
            if length == 1 and (place == 0 or last == len(starts) - 1):
                continue
            found.append(_hash(text[start : ends[last]]))
    return found


def _hash(text: bytes) -> int:
    value = 2166136261
    for byte in text:
        # The bytes are signed in fastText: from 128 on all upper bits are set.
        value = ((value ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619) & 0xFFFFFFFF
    return value
