"""Spaces (without their vectors) and projections, as a session keeps them."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import platform
import sqlite3
import time
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz import __version__
from kiruviz.session import codec
from kiruviz.space import FloatArray, IntArray, Recipe, Space


@dataclass(frozen=True, eq=False)
class SpaceRecord:
    """All of a Space but its vectors: enough for labels, map and export when the model is gone.

    names    n strings; row_ids (n,) int64; columns name -> (n,) array of numbers or `str_` (see `space.Space`)
    card     the model's card as JSON values, None where there is none
    versions package -> version that made it; filled in when it is added, if empty
    """

    recipe: Recipe
    names: tuple[str, ...]
    row_ids: IntArray
    columns: dict[str, npt.NDArray[Any]]
    model_title: str
    card: dict[str, Any] | None = None
    versions: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = len(self.names)
        for what, column in [("row_ids", self.row_ids), *self.columns.items()]:
            if len(column) != n:
                raise ValueError(f"{what} has {len(column)} rows, the space has {n} names")

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def of(cls, space: Space, model_title: str, card: dict[str, Any] | None = None) -> SpaceRecord:
        return cls(space.recipe, space.names, space.row_ids, space.columns, model_title, card)


@dataclass(frozen=True, eq=False)
class ProjectionRecord:
    """The coordinates of a space's rows by one method: `coords` float32 (n, 2) or (n, 3), read-only."""

    projection_id: int
    space_id: int
    method: str
    params: dict[str, Any]
    coords: FloatArray
    time: float


@dataclass(frozen=True, eq=False)
class PackedSpace:
    """A space ready to be written: `pack_space` does the slow part, for which any process will do.

    names, row_ids  as they lie in the file; columns (name, categories, content) of each column
    """

    record: SpaceRecord
    digest: str
    names: bytes
    row_ids: bytes
    columns: tuple[tuple[str, bytes | None, bytes], ...]


def pack_space(record: SpaceRecord) -> PackedSpace:
    """Compress a space for the file (about 70 ms for 50,000 rows)."""
    record = _kept(record)
    return PackedSpace(
        record=replace(record, versions=record.versions or _versions()),
        digest=_digest(record),
        names=codec.pack_strings(record.names),
        row_ids=codec.pack_ids(record.row_ids),
        columns=tuple((name, *_pack_column(column)) for name, column in record.columns.items()),
    )


def add_space(connection: sqlite3.Connection, packed: PackedSpace) -> tuple[int, SpaceRecord]:
    """The id of the space and the record as it is kept. Call within a transaction.

    The same space (model identity, recipe, names, row ids) is kept once, wherever its model lies now: recipe,
    title and card are those given last, the columns as well if others than those kept are given.
    """
    record = packed.record
    known = connection.execute(
        "SELECT space_id, versions, columns FROM spaces WHERE digest = ?", (packed.digest,)
    ).fetchone()
    recipe, card, columns = (codec.dumps(value) for value in (asdict(record.recipe), record.card, list(record.columns)))
    if known is None:
        values = (packed.names, packed.row_ids, codec.dumps(record.versions), time.time())
        cursor = connection.execute(
            "INSERT INTO spaces (digest, recipe, model_title, card, columns, names, row_ids, versions, time)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (packed.digest, recipe, record.model_title, card, columns, *values),
        )
        space_id = inserted(cursor)
        _put_columns(connection, space_id, packed)
        return space_id, record
    space_id, versions, kept_columns = known
    connection.execute(
        "UPDATE spaces SET recipe = ?1, model_title = ?2, card = ?3, columns = ?4"
        " WHERE space_id = ?5 AND (recipe, model_title, card, columns) <> (?1, ?2, ?3, ?4)",
        (recipe, record.model_title, card, columns, space_id),
    )
    if columns != kept_columns:
        _put_columns(connection, space_id, packed)
    return space_id, replace(record, versions=codec.loads(versions))


def _put_columns(connection: sqlite3.Connection, space_id: int, packed: PackedSpace) -> None:
    connection.execute("DELETE FROM space_columns WHERE space_id = ?", (space_id,))
    connection.executemany(
        "INSERT INTO space_columns (space_id, name, categories, content) VALUES (?, ?, ?, ?)",
        [(space_id, *column) for column in packed.columns],
    )


def inserted(cursor: sqlite3.Cursor) -> int:
    """The id of the row just inserted."""
    if cursor.lastrowid is None:
        raise sqlite3.InternalError("an insert gave no row")
    return cursor.lastrowid


def load_space(connection: sqlite3.Connection, space_id: int) -> SpaceRecord:
    """KeyError if there is no such space."""
    row = connection.execute(
        "SELECT recipe, names, row_ids, columns, model_title, card, versions FROM spaces WHERE space_id = ?",
        (space_id,),
    ).fetchone()
    if row is None:
        raise KeyError(f"no space {space_id}")
    stored = {
        name: _unpack_column(categories, content)
        for name, categories, content in connection.execute(
            "SELECT name, categories, content FROM space_columns WHERE space_id = ?", (space_id,)
        )
    }
    recipe, names, row_ids, columns, title, card, versions = row
    return SpaceRecord(
        recipe=Recipe.from_json(recipe),
        names=tuple(codec.unpack_strings(names)),
        row_ids=_read_only(codec.unpack_ids(row_ids).astype(np.int64)),
        columns={name: stored[name] for name in codec.loads(columns)},
        model_title=title,
        card=codec.loads(card),
        versions=codec.loads(versions),
    )


def add_projection(
    connection: sqlite3.Connection,
    space_id: int,
    method: str,
    params: dict[str, Any],
    coords: FloatArray,
) -> ProjectionRecord:
    """Keep coordinates, in place of those by the same method and parameters. Call within a transaction."""
    kept = np.array(coords, dtype=np.float32)
    kept.setflags(write=False)
    now = time.time()
    cursor = connection.execute(
        "INSERT OR REPLACE INTO projections (space_id, method, params, coords, time) VALUES (?, ?, ?, ?, ?)",
        (space_id, method, codec.dumps(params), codec.pack_array(kept), now),
    )
    return ProjectionRecord(inserted(cursor), space_id, method, codec.loads(codec.dumps(params)), kept, now)


def load_projections(connection: sqlite3.Connection, space_id: int) -> list[ProjectionRecord]:
    """The projections of a space, oldest first."""
    return [
        ProjectionRecord(key, space_id, method, codec.loads(params), codec.unpack_array(coords), made)
        for key, method, params, coords, made in connection.execute(
            "SELECT projection_id, method, params, coords, time FROM projections"
            " WHERE space_id = ? ORDER BY projection_id",
            (space_id,),
        )
    ]


def _versions() -> dict[str, str]:
    """What made the numbers, without importing any of it."""
    found = {"kiruviz": __version__, "python": platform.python_version()}
    for name in ("numpy", "scikit-learn", "umap-learn"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def _kept(record: SpaceRecord) -> SpaceRecord:
    """`record` as loading it would give it: with arrays of its own that nobody can write to."""
    row_ids = np.array(record.row_ids, np.int64)
    columns = {
        name: np.array(column, np.str_ if column.dtype.kind == "O" else column.dtype)
        for name, column in record.columns.items()
    }
    for array in (row_ids, *columns.values()):
        array.setflags(write=False)
    card = codec.loads(codec.dumps(record.card))
    return replace(record, row_ids=row_ids, columns=columns, card=card)


def _digest(record: SpaceRecord) -> str:
    """What makes a space the same. Where the model's identity is known, the place it was opened from does not
    count, nor do the columns ever: their last digits differ between machines."""
    recipe = asdict(record.recipe)
    if record.recipe.identity:
        del recipe["model"]
    lengths = np.fromiter(map(len, record.names), np.int64, len(record.names))
    names = "".join(record.names).encode("utf-8", "surrogatepass")
    digest = hashlib.sha256()
    for part in (codec.dumps(recipe).encode("ascii"), lengths.tobytes(), names, record.row_ids.tobytes()):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def _pack_column(column: npt.NDArray[Any]) -> tuple[bytes | None, bytes]:
    if column.dtype.kind == "U":
        return codec.pack_categories(column.tolist())
    return None, codec.pack_array(column)


def _unpack_column(categories: bytes | None, content: bytes) -> npt.NDArray[Any]:
    if categories is None:
        return codec.unpack_array(content)
    return _read_only(codec.unpack_categories(categories, content))


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array
