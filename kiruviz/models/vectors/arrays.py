"""NumPy's own files: `.npy`, and `.npz` with a table and perhaps its names. Objects in them are never loaded."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.models.vectors.columns import likely_first
from kiruviz.models.vectors.table import (
    EXACT_NAMES,
    SeveralTablesError,
    TableChoice,
    VectorTable,
    frozen,
    name_notes,
    word,
)
from kiruviz.progress import Progress

_NAMES = ("names", "tokens", "words", "labels", "vocab", "index", "keys", "texts")
_MOST_PACKED = 200  # times: what a zip entry may unpack to; zeros pack so well, numbers do not
_SIDECARS = (".txt", ".names.txt", ".labels.txt", ".vocab.txt")


def read_npy(path: Path, progress: Progress) -> VectorTable:
    """Read a `.npy` of shape (n, d); names come from a text file of n lines beside it (`x.npy`, `x.txt`).

    Raises
    ------
    UserError : objects, another shape, no numbers, or names that do not count the same
    """
    progress.report(None, f"Reading {path.name}")
    try:
        # By memory map: a damaged header must not make room for what is not there.
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy parses the header as Python's own text, which raises whatever comes
        raise UserError(_refusal(path, error)) from error
    vectors = _table(path, array, "it")
    names = _beside(path, len(vectors))
    return VectorTable(vectors, names, notes=name_notes(names, 0))


def read_npz(path: Path, name: str | None, progress: Progress) -> VectorTable:
    """Read a `.npz`: its table called `name` (its only one if None), and the array of strings of the same length.

    Raises
    ------
    UserError : as `read_npy`; several tables and none named
    """
    progress.report(None, f"Reading {path.name}")
    try:
        _refuse_bomb(path)
        with np.load(path, allow_pickle=False) as held:
            arrays = {key: held[key] for key in held.files}
    except UserError:
        raise
    except Exception as error:  # as above, inside an archive
        raise UserError(_refusal(path, error)) from error
    tables = {key: a for key, a in arrays.items() if a.ndim == 2 and a.dtype.kind in "fiub" and 0 not in a.shape}
    if not tables:
        raise UserError(f"{path} holds no table of numbers with two dimensions; bring one of shape (rows, size).")
    if name is None and len(tables) > 1:
        order = likely_first(list(tables))
        raise SeveralTablesError(path, tuple(TableChoice(k, tables[k].shape, str(tables[k].dtype)) for k in order))
    key = next(iter(tables)) if name is None else name
    if key not in tables:
        raise UserError(f"{path} holds no table “{key}”; it has {', '.join(tables)}.")
    vectors = _table(path, tables[key], f"“{key}”")
    return _with_columns(vectors, {k: a for k, a in arrays.items() if k != key})


def _refuse_bomb(path: Path) -> None:
    with zipfile.ZipFile(path) as held:
        for info in held.infolist():
            if info.file_size > _MOST_PACKED * max(info.compress_size, 1 << 12):
                raise UserError(f"{path}: “{info.filename}” unpacks to {info.file_size:,} bytes; this is no table.")


def _with_columns(vectors: npt.NDArray[np.float32], others: dict[str, npt.NDArray[Any]]) -> VectorTable:
    n = len(vectors)
    exact = others.pop(EXACT_NAMES, None)
    fitting = {key: a for key, a in others.items() if a.shape == (n,)}
    strings = {key: a for key, a in fitting.items() if a.dtype.kind in "US"}
    lower = {key.casefold(): key for key in strings}
    titled = next((lower[usual] for usual in _NAMES if usual in lower), next(iter(strings), None))
    names: tuple[str, ...] = ()
    if titled is not None:
        names = tuple(word(one) if isinstance(one, bytes) else str(one) for one in strings.pop(titled).tolist())
    if exact is not None:
        names = _listed(exact, n) or names
    columns: dict[str, npt.NDArray[Any]] = {
        key: np.array([word(one) if isinstance(one, bytes) else one for one in a.tolist()], np.str_)
        for key, a in strings.items()
    }
    columns |= {key: a.astype(np.float64) for key, a in fitting.items() if a.dtype.kind in "fiub"}
    return VectorTable(vectors, names, columns, name_notes(names, 0))


def _listed(packed: npt.NDArray[Any], rows: int) -> tuple[str, ...]:
    try:
        found = json.loads(packed.astype(np.uint8).tobytes())
    except (ValueError, RecursionError):
        return ()
    return tuple(map(str, found)) if isinstance(found, list) and len(found) == rows else ()


def _table(path: Path, array: npt.NDArray[Any], what: str) -> npt.NDArray[np.float32]:
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        shape = " x ".join(map(str, array.shape)) or "one number"
        raise UserError(f"{path}: {what} is {shape} of {array.dtype}; bring numbers of shape (rows, size).")
    return frozen(array, path)


def _refusal(path: Path, error: Exception) -> str:
    if "pickle" in str(error).lower() or "object" in str(error).lower():
        return f"{path} holds Python objects, which are never loaded; save it as plain numbers."
    return f"{path} is damaged or no NumPy file ({str(error).splitlines()[0] if str(error) else 'cut off'})."


def sidecars(path: Path) -> tuple[Path, ...]:
    """The text file of names beside a `.npy`, if there is one."""
    return tuple(other for suffix in _SIDECARS if (other := path.with_suffix(suffix)).is_file())[:1]


def _beside(path: Path, rows: int) -> tuple[str, ...]:
    for other in sidecars(path):
        texts = [word(line.removesuffix(b"\r")) for line in other.read_bytes().split(b"\n")]
        if texts and not texts[-1]:
            texts.pop()
        if len(texts) != rows:
            raise UserError(
                f"{other} has {len(texts):,} lines for the {rows:,} rows of {path.name}; it needs one each."
            )
        return tuple(texts)
    return ()
