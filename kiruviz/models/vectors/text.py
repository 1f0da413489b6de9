"""Vectors as text: word2vec with its header, GloVe without one, fastText's `.vec`; a name, then its numbers.

Source of the conventions: gensim's `KeyedVectors.load_word2vec_format`, and the files of each project.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np

from kiruviz.errors import UserError
from kiruviz.models.vectors.table import VectorTable, frozen, is_text, lines, name_notes, opened, whole, word
from kiruviz.progress import Progress
from kiruviz.space import FloatArray

# At the end of a header: the names below are escaped as in JSON. Other readers take it for white space.
ESCAPED = "\t"
_PROBE = 20  # first lines that say how many numbers a row has


@dataclass(frozen=True)
class _Shape:
    """What the first lines say: `rows` where there is a header, the numbers of a row, what parts them, and whether
    names are escaped."""

    rows: int | None
    size: int
    separator: bytes
    escaped: bool = False


def read(path: Path, progress: Progress) -> VectorTable:
    """Read a text file of vectors, gzipped or not.

    A name may hold spaces: the numbers are counted from the end of the line. A header `rows size` is taken as
    one only if the second line has so many numbers.

    Raises
    ------
    UserError : names the line that is not a row, or says how the file differs from its header
    """
    with opened(path) as stream:
        batches = _with_numbers(lines(stream, path))
        first = list(islice(batches, 1))
        if not first:
            raise UserError(f"{path} is empty; bring a file with a name and its numbers on each line.")
        number, batch = first[0]
        while len(batch) < _PROBE and (more := next(batches, None)) is not None:
            batch = [*batch, *more[1]]
        shape = _shape(path, batch)
        start = 0 if shape.rows is None else 1
        named: list[bytes] = []
        blocks: list[FloatArray] = []
        for at, part in chain([(number + start, batch[start:])], batches):
            if not part:
                continue
            names, block = _rows(path, at, part, shape)
            named += names
            blocks.append(block)
            done = None if not shape.rows else min(len(named) / shape.rows, 1.0)
            progress.report(done, f"Reading {path.name}: {len(named):,} rows")
    if shape.rows is not None and shape.rows != len(named):
        raise UserError(
            f"{path}: its first line promises {shape.rows:,} rows, but {len(named):,} follow; fetch the file again "
            "or correct the line."
        )
    if not blocks:
        raise UserError(f"{path} holds no vectors; bring a file with at least one row of numbers.")
    names_text = tuple(unescaped(word(name)) if shape.escaped else word(name) for name in named)
    odd = sum(not is_text(name) for name in named)
    return VectorTable(frozen(np.concatenate(blocks), path), names_text, notes=name_notes(names_text, odd))


def _with_numbers(batches: Iterator[list[bytes]]) -> Iterator[tuple[int, list[bytes]]]:
    """(number of the first line from 1, lines); blank lines at the end of the file are no lines."""
    number, blank = 1, 0
    for batch in batches:
        last = len(batch)
        while last and not batch[last - 1].strip():
            last -= 1
        if not last:
            blank += len(batch)
            continue
        yield number, [b""] * blank + batch[:last]
        number += blank + last
        blank = len(batch) - last


def _shape(path: Path, first: list[bytes]) -> _Shape:
    head = first[0].split()
    rows, size = (whole(head[0]), whole(head[1])) if len(head) == 2 else (None, None)
    body = first[1:] if len(first) > 1 else first
    separator = b"\t" if b"\t" in _stripped(body[0]) else b" "
    counted = min((_stripped(line).count(separator) for line in body[:_PROBE] if line.strip()), default=0)
    if rows is not None and size and (len(first) == 1 or counted >= size):
        if len(first) == 1 and rows:
            raise UserError(f"{path}: its first line promises {rows:,} rows, but the file ends there; fetch it again.")
        return _Shape(rows, size, separator, first[0].endswith(ESCAPED.encode()))
    size = _usual([_stripped(line) for line in first[:_PROBE] if line.strip()], separator)
    if size < 1:
        raise UserError(f"{path}, line 1: a name without numbers; each line is a name and then its numbers.")
    return _Shape(None, size, separator)


def _usual(rows: list[bytes], separator: bytes) -> int:
    """How many numbers a row has: the least count for which longer rows can have longer names."""
    counts = [row.count(separator) for row in rows]
    for size in sorted(set(counts)):
        longer = (row for row, count in zip(rows, counts, strict=True) if count > size)
        if not any(_goes_on(row, size, separator) for row in longer):
            return size
    return 0


def _goes_on(row: bytes, size: int, separator: bytes) -> bool:
    """Whether there is one more number before the last `size` ones."""
    return is_number(row.rsplit(separator, size + 1)[1])


def _stripped(line: bytes) -> bytes:
    # The original word2vec and fastText end each line with a space.
    return line.rstrip(b" \t\r")


def _rows(path: Path, number: int, batch: list[bytes], shape: _Shape) -> tuple[list[bytes], FloatArray]:
    """Names and numbers of some lines, the first of which is line `number`."""
    names, tails = [], []
    separator, size = shape.separator, shape.size
    for at, line in enumerate(map(_stripped, batch), number):
        fields = line.count(separator)
        if fields == size:
            name, tail = line.split(separator, 1)
        elif fields > size and (shape.rows is not None or not _goes_on(line, size, separator)):
            # The name has separators of its own: the last numbers are the vector.
            name = line.rsplit(separator, size)[0]
            tail = line[len(name) + 1 :]
        else:
            raise UserError(f"{path}, line {at}: {_found(fields, line)}, expected a name and {size} numbers.")
        names.append(name)
        tails.append(tail)
    values = _numbers(b" ".join(tails) if separator == b" " else b" ".join(tails).replace(b"\t", b" "))
    if values is None or values.size != size * len(names):
        raise _bad_number(path, number, tails, separator)
    return names, values.reshape(-1, size)


def _found(fields: int, line: bytes) -> str:
    if not line:
        return "a blank line"
    return "a name without numbers" if not fields else f"a name and {fields} number{'s' if fields > 1 else ''}"


def _numbers(joined: bytes) -> FloatArray | None:
    """All numbers of a text, None where something in it is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(joined, dtype=np.float32, sep=" ")
        except (DeprecationWarning, ValueError):
            return None


def _bad_number(path: Path, number: int, tails: list[bytes], separator: bytes) -> UserError:
    for at, tail in enumerate(tails, number):
        for place, field in enumerate(tail.split(separator), 1):
            if field and is_number(field):
                continue
            shown = word(field)[:24]
            hint = "write a decimal point" if b"," in field else "correct the line"
            return UserError(f"{path}, line {at}: number {place} is “{shown}”, which is no number; {hint}.")
    return UserError(f"{path}, lines {number} to {number + len(tails) - 1}: the numbers cannot be read; correct them.")


def escaped(name: str) -> str:
    """A name without white space, from which `unescaped` makes it again: JSON without its quotes."""
    plain = json.dumps(name, ensure_ascii=False)[1:-1]
    return "".join(f"\\u{ord(char):04x}" if char.isspace() or char == "\x7f" else char for char in plain)


def is_plain(name: str) -> bool:
    """Whether a name can be written as it is: not empty, no white space, no control character, no backslash."""
    return bool(name) and name.isprintable() and not any(char.isspace() or char == "\\" for char in name)


def unescaped(text: str) -> str:
    """The name that `escaped` was given; a text that is none stays as it is."""
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def is_number(field: bytes | str) -> bool:
    """Whether a field is a decimal number, `nan` and `inf` included (no underscores, no hexadecimal)."""
    if b"_" in field if isinstance(field, bytes) else "_" in field:
        return False
    try:
        float(field)
    except ValueError:
        return False
    return True
