"""What every file of vectors comes down to, and the small things its readers share."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.space import FloatArray

# In a .npz: names as JSON, where NumPy's own strings cannot hold them.
EXACT_NAMES = "names (json)"
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_CHUNK = 1 << 20
# A line holds one row: far more than this is no vector file, and would fill the memory.
_LONGEST_LINE = 64 << 20
# Vectors as text shrink to about a third; what unpacks to more than this is no vector file.
_MOST_UNPACKED = 60


@dataclass(frozen=True, eq=False)
class VectorTable:
    """Named vectors as a file holds them.

    Attributes
    ----------
    vectors : (n, d) float32
    names : n exact names; where the file has none, empty
    columns : what else the file says of each row, name -> (n,) str or float64
    notes : sentences on what was noticed while reading
    """

    vectors: FloatArray
    names: tuple[str, ...]
    columns: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        rows = len(self.vectors)
        for what, got in (("names", self.names or range(rows)), *self.columns.items()):
            if len(got) != rows:
                raise ValueError(f"{what} has {len(got)} entries for {rows} rows")


@dataclass(frozen=True)
class TableChoice:
    """One table of a file that holds several: its name there, shape and number type."""

    name: str
    shape: tuple[int, ...]
    dtype: str


class SeveralTablesError(UserError):
    """The file holds several tables and the person has to say which; likely ones come first."""

    def __init__(self, path: Path, choices: tuple[TableChoice, ...]) -> None:
        self.choices = choices
        listed = ", ".join(f"{c.name} ({' x '.join(map(str, c.shape))})" for c in choices[:6])
        more = f" and {len(choices) - 6} more" if len(choices) > 6 else ""
        super().__init__(f"{path} holds several tables: {listed}{more}; name one as {path}::{choices[0].name}.")


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The file's bytes, unpacked on the way where it is gzipped.

    Raises
    ------
    UserError : it cannot be read, or its packing is damaged
    """
    try:
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP
            file.seek(0)
            if not packed:
                yield file
                return
            with gzip.open(file) as unpacked:
                yield cast(BinaryIO, _Bounded(unpacked, path))
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise UserError(f"{path} is a damaged or cut off .gz file ({error}); fetch it again.") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror or error}); check the file.") from error


class _Bounded:
    """A gzip stream that gives up before a small file has become a huge one."""

    def __init__(self, stream: Any, path: Path) -> None:
        self._stream, self._path = stream, path
        self._left = path.stat().st_size * _MOST_UNPACKED + (1 << 20)

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(min(size, _CHUNK) if size >= 0 else _CHUNK)
        self._left -= len(data)
        if self._left < 0:
            raise UserError(
                f"{self._path} unpacks to more than {_MOST_UNPACKED} times its size, as no file of vectors does; "
                "unpack it yourself if it is one."
            )
        return data


def lines(stream: BinaryIO, path: Path) -> Iterator[list[bytes]]:
    """The lines of a text file in batches, without their line ends (LF or CR LF) and without a byte-order mark.

    Raises
    ------
    UserError : UTF-16, or a line too long to be one row
    """
    rest = stream.read(_CHUNK)
    if rest[:2] in _UTF16:
        raise UserError(f"{path} is UTF-16 text; save it as UTF-8.")
    rest = rest.removeprefix(_BOM)
    while True:
        *whole, rest = rest.split(b"\n")
        if whole:
            yield [line.removesuffix(b"\r") for line in whole]
        if len(rest) > _LONGEST_LINE:
            raise UserError(f"{path} has a line of over {_LONGEST_LINE >> 20} MB, which is no row; is it text at all?")
        more = stream.read(_CHUNK)
        if not more:
            break
        rest += more
    if rest:
        yield [rest.removesuffix(b"\r")]


def word(raw: bytes) -> str:
    """A name's text; bytes that are no UTF-8 are shown as `\\xNN`."""
    return raw.decode("utf-8", "backslashreplace")


def is_text(raw: bytes) -> bool:
    """Whether these bytes are whole UTF-8."""
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def whole(text: bytes | str) -> int | None:
    """A plain whole number from 0 on, or None."""
    shown = text.decode("latin-1") if isinstance(text, bytes) else text
    return int(shown) if shown.isascii() and shown.isdigit() and len(shown) < 12 else None


def name_notes(names: tuple[str, ...], not_text: int) -> tuple[str, ...]:
    """What is worth saying of the names: listed twice, not UTF-8."""
    notes = []
    twice = len(names) - len(set(names))
    if twice:
        notes.append(f"{twice:,} {'name is' if twice == 1 else 'names are'} listed more than once; all rows are shown.")
    if not_text:
        notes.append(f"{not_text:,} {'name is' if not_text == 1 else 'names are'} not UTF-8; odd bytes show as \\xNN.")
    return tuple(notes)


def frozen(vectors: npt.NDArray[Any], path: Path) -> FloatArray:
    """(n, d) float32, read-only.

    Raises
    ------
    UserError : no row or no column
    """
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise UserError(f"{path} holds no vectors; bring a file with at least one row of numbers.")
    with np.errstate(over="ignore", invalid="ignore"):
        made = np.ascontiguousarray(vectors, dtype=np.float32)
    made.flags.writeable = False
    return made
