"""Parquet: a vector in a list column (as embedding-atlas and sentence-transformers write), or a column a number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.models.vectors import columns
from kiruviz.models.vectors.table import SeveralTablesError, TableChoice, VectorTable, frozen, name_notes
from kiruviz.progress import Progress


def read(path: Path, name: str | None, progress: Progress) -> VectorTable:
    """Read a Parquet file; `name` is the list column that holds the vectors (its only one if None).

    Raises
    ------
    UserError : damaged, several list columns and none named, or a row (named) whose list is missing or longer
    """
    progress.report(None, f"Reading {path.name}")
    try:
        return _read(path, name)
    except UserError:
        raise
    except Exception as error:  # pages are decoded as they are used, and damaged ones raise whatever comes
        said = str(error).splitlines()[0] if str(error) else "cut off"
        raise UserError(f"{path} is damaged or no Parquet file ({said}); fetch it again.") from error


def _read(path: Path, name: str | None) -> VectorTable:
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    lists = columns.likely_first([f.name for f in schema if _is_vector(f.type)])
    if name is None and len(lists) > 1:
        rows = pq.read_metadata(path).num_rows
        choices = tuple(TableChoice(one, (rows,), str(schema.field(one).type)) for one in lists)
        raise SeveralTablesError(path, choices)
    if name is not None and name not in lists:
        raise UserError(f"{path} has no list column “{name}”; it has {', '.join(lists) or 'none'}.")
    chosen = name if name is not None else next(iter(lists), None)
    wanted = [f.name for f in schema if f.name == chosen or _is_plain(f.type)]
    table = pq.read_table(path, columns=wanted, use_threads=False)
    plain = {one: table.column(one) for one in wanted if one != chosen}
    if chosen is not None:
        vectors = _from_lists(path, chosen, table.column(chosen))
    else:
        vectors, plain = _from_columns(path, plain)
    return _with_columns(vectors, plain)


def _is_vector(kind: Any) -> bool:
    import pyarrow.types as types

    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(is_list and (types.is_floating(kind.value_type) or types.is_integer(kind.value_type)))


def _is_plain(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(
        types.is_floating(kind) or types.is_integer(kind) or types.is_string(kind) or types.is_large_string(kind)
        or types.is_boolean(kind) or types.is_dictionary(kind)
    )  # fmt: skip


def _from_lists(path: Path, title: str, column: Any) -> npt.NDArray[np.float32]:
    import pyarrow.compute as pc

    lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
    if not len(lengths):
        raise UserError(f"{path} has no rows; bring a file with at least one.")
    size = lengths[0]
    wrong = np.flatnonzero(lengths != size)
    if np.isnan(size) or len(wrong):
        at = int(wrong[0]) if not np.isnan(size) else 0
        said = "has no vector" if np.isnan(lengths[at]) else f"has {int(lengths[at])} numbers, row 1 has {int(size)}"
        raise UserError(f"{path}, column “{title}”: row {at + 1} {said}; give each row a vector of one size.")
    values = pc.list_flatten(column).to_numpy(zero_copy_only=False)
    return frozen(np.asarray(values, np.float32).reshape(len(lengths), int(size)), path)


def _from_columns(path: Path, plain: dict[str, Any]) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
    import pyarrow.types as types

    numeric = [t for t, c in plain.items() if types.is_floating(c.type) or types.is_integer(c.type)]
    chosen = columns.dimensions(numeric, [t for t in numeric if types.is_floating(plain[t].type)])
    if not chosen:
        raise UserError(f"{path} has no list column and no columns of numbers; bring a vector for each row.")
    arrays = [np.asarray(plain[title].to_numpy(), np.float32) for title in chosen]
    rest = {title: column for title, column in plain.items() if title not in chosen}
    return frozen(np.stack(arrays, axis=1), path), rest


def _with_columns(vectors: npt.NDArray[np.float32], plain: dict[str, Any]) -> VectorTable:
    import pyarrow.types as types

    texts: dict[str, list[str]] = {}
    found: dict[str, npt.NDArray[Any]] = {}
    for title, column in plain.items():
        if types.is_floating(column.type) or types.is_integer(column.type) or types.is_boolean(column.type):
            values = column.to_pylist()
            found[title] = np.array([np.nan if v is None else float(v) for v in values], np.float64)
        else:
            texts[title] = ["" if v is None else str(v) for v in column.to_pylist()]
    title_of_names = columns.name_column(list(texts))
    names = () if title_of_names is None else tuple(texts.pop(title_of_names))
    strings = {title: np.array(values, np.str_) for title, values in texts.items()}
    return VectorTable(vectors, names, {**strings, **found}, name_notes(names, 0))
