"""CSV and TSV: a row on each line, a vector in one column or one column for each of its numbers."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.models.vectors import columns
from kiruviz.models.vectors.table import VectorTable, frozen, lines, name_notes, opened
from kiruviz.models.vectors.text import is_number
from kiruviz.progress import Progress

_PROBE = 50
_EVERY = 2000
_LONGEST_CELL = 16 << 20
_COMMA_DECIMAL = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*")

_Cells = list[str]


def read(path: Path, progress: Progress) -> VectorTable:
    """Read a CSV or TSV file (`,`, `;` or tab; gzipped or not) as vectors with names and columns.

    The first line is a heading where its cells are no numbers above columns of numbers, or count up as
    `0,1,2,...` do. A decimal comma is read where the columns are parted by something else.

    Raises
    ------
    UserError : names the line and column of what does not fit
    """
    csv.field_size_limit(_LONGEST_CELL)
    with opened(path) as stream:
        text = _text(path, lines(stream, path))
        first_line = next(text, None)
        if first_line is None or not first_line.strip():
            raise UserError(f"{path} is empty; bring a table with a row on each line.")
        delimiter = _delimiter(first_line)
        rows = _rows(path, chain([first_line], text), delimiter)
        probe = list(islice(rows, _PROBE))
        table = _Table(path, [row for _, row in probe], comma_decimal=delimiter != ",")
        for number, row in chain(probe[table.has_heading :], rows):
            table.add(number, row)
            if number % _EVERY == 0:
                progress.report(None, f"Reading {path.name}: {number:,} lines")
    return table.finish()


def _text(path: Path, batches: Iterator[list[bytes]]) -> Iterator[str]:
    number = 0
    for batch in batches:
        for line in batch:
            number += 1
            try:
                yield line.decode("utf-8") + "\n"
            except UnicodeDecodeError as error:
                raise UserError(f"{path}, line {number}: not UTF-8 text; save the file as UTF-8.") from error


def _delimiter(line: str) -> str:
    return max("\t;,", key=line.count)


def _rows(path: Path, text: Iterator[str], delimiter: str) -> Iterator[tuple[int, _Cells]]:
    """(line number, cells) of each row; blank lines at the end are none."""
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    width, blank = None, 0
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise UserError(f"{path}, line {reader.line_num}: {error}; correct its quotes.") from error
        if not row:
            blank = reader.line_num
            continue
        if blank:
            raise UserError(f"{path}, line {blank}: a blank line among the rows; take it out.")
        width = len(row) if width is None else width
        if len(row) != width:
            raise UserError(
                f"{path}, line {reader.line_num}: {len(row)} columns, but the lines before have {width}; correct it."
            )
        yield reader.line_num, row


class _Table:
    """Takes row after row and keeps the numbers as numbers."""

    def __init__(self, path: Path, probe: list[_Cells], comma_decimal: bool) -> None:
        self.path, self.comma_decimal = path, comma_decimal
        self.has_heading = _is_heading(probe, self._number)
        body = probe[self.has_heading :]
        if not body:
            raise UserError(f"{path} has a heading and no rows; bring a table with at least one row.")
        width = len(probe[0])
        given = probe[0] if self.has_heading else [f"column {i + 1}" for i in range(width)]
        self.titles = _distinct(given)
        self.kinds = [self._kind([row[i] for row in body]) for i in range(width)]
        self._choose(body)
        self.vectors: list[npt.NDArray[np.float32]] = []
        self.others: dict[int, list[str]] = {i: [] for i in range(width) if i not in self.dims}

    def _kind(self, cells: list[str]) -> str:
        if all(map(_is_list, cells)):
            return "list"
        filled = [cell for cell in cells if cell.strip()]
        return "number" if filled and all(self._number(cell) is not None for cell in filled) else "text"

    def _choose(self, body: list[_Cells]) -> None:
        """Which columns are the vector and which one the names."""
        of_kind = {
            kind: [title for title, its in zip(self.titles, self.kinds, strict=True) if its == kind]
            for kind in ("list", "number", "text")
        }
        at = {title: i for i, title in enumerate(self.titles)}
        fractional = [t for t in of_kind["number"] if any((self._number(row[at[t]]) or 0.0) % 1 for row in body)]
        self.is_list = bool(of_kind["list"])
        chosen = columns.likely_first(of_kind["list"])[:1] or columns.dimensions(of_kind["number"], fractional)
        if not chosen:
            raise UserError(f"{self.path} has no column of numbers; bring a table with a vector in each row.")
        self.dims = [at[title] for title in chosen]
        name = columns.name_column(of_kind["text"])
        self.name = None if name is None else at[name]

    def _number(self, cell: str) -> float | None:
        if self.comma_decimal and _COMMA_DECIMAL.fullmatch(cell):
            cell = cell.replace(",", ".")
        return float(cell) if is_number(cell) else None

    def add(self, number: int, row: _Cells) -> None:
        """Take the row that ends on line `number`."""
        if self.is_list:
            self.vectors.append(self._list(number, row[self.dims[0]]))
        else:
            self.vectors.append(np.array([self._cell(number, i, row[i]) for i in self.dims], np.float32))
        for i, values in self.others.items():
            values.append(row[i])

    def _cell(self, number: int, column: int, cell: str) -> float:
        value = self._number(cell)
        if value is None:
            said = "is empty" if not cell.strip() else f"“{cell[:24]}” is no number"
            raise UserError(f"{self.path}, line {number}, column “{self.titles[column]}”: {said}; correct it.")
        return value

    def _list(self, number: int, cell: str) -> npt.NDArray[np.float32]:
        try:
            values = np.array(json.loads(cell), np.float32)
        except (ValueError, TypeError, RecursionError) as error:
            raise UserError(f"{self.path}, line {number}: its list of numbers cannot be read; correct it.") from error
        size = len(self.vectors[0]) if self.vectors else values.size
        if values.ndim != 1 or values.size != size or not size:
            raise UserError(f"{self.path}, line {number}: {values.size} numbers, but the rows before have {size}.")
        return values

    def finish(self) -> VectorTable:
        names = () if self.name is None else tuple(self.others.pop(self.name))
        found = {self.titles[i]: self._column(i, values) for i, values in self.others.items()}
        vectors = frozen(np.stack(self.vectors), self.path)
        return VectorTable(vectors, names, found, name_notes(names, 0))

    def _column(self, i: int, values: list[str]) -> npt.NDArray[Any]:
        if self.kinds[i] == "number":
            numbers = [self._number(value) for value in values]
            if all(n is not None or not v.strip() for n, v in zip(numbers, values, strict=True)):
                return np.array([np.nan if n is None else n for n in numbers], np.float64)
        return np.array(values, dtype=np.str_)


def _is_heading(probe: list[_Cells], number: Callable[[str], float | None]) -> bool:
    first, body = probe[0], probe[1:]
    if not body:
        return all(number(cell) is None for cell in first)

    def valued(cell: str) -> bool:
        return number(cell) is not None or _is_list(cell)

    if any(not valued(cell) and all(valued(row[i]) for row in body) for i, cell in enumerate(first)):
        return True
    counted = [value for cell in first if (value := number(cell)) is not None]
    counts_up = len(counted) >= 2 and counted[0] in (0.0, 1.0) and all(b - a == 1 for a, b in pairwise(counted))
    return counts_up and any((number(cell) or 0.0) % 1 for row in body for cell in row)


def _is_list(cell: str) -> bool:
    shown = cell.strip()
    return len(shown) > 2 and shown[0] == "[" and shown[-1] == "]"


def _distinct(titles: list[str]) -> list[str]:
    """Titles, those empty or given twice told apart by their place."""
    made: list[str] = []
    for i, title in enumerate(titles):
        title = title.strip() or f"column {i + 1}"
        made.append(title if title not in made else f"{title} ({i + 1})")
    return made
