"""Spaces (without their vectors) and projections, as a session keeps them."""

from __future__ import annotations

import hashlib
import platform
import sqlite3
import time
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz import __version__
from kiruviz.session import codec
from kiruviz.space import FloatArray, IntArray, Recipe, Space


@dataclass(frozen=True, eq=False)
class SpaceRecord:
    """All of a Space but its vectors: enough for labels, map and export when the model is gone.

    names    n strings; row_ids (n,) int64; columns name -> (n,) array (see `space.Space`)
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


def add_space(connection: sqlite3.Connection, record: SpaceRecord) -> int:
    """The id of the space, added unless the same one (recipe, rows and columns) is kept already; title and
    card are those given last. Call within a transaction."""
    recipe = codec.dumps(asdict(record.recipe))
    names = codec.dumps(list(record.names)).encode("ascii")
    columns = {name: _pack_column(column) for name, column in record.columns.items()}
    row_ids = codec.pack_array(np.asarray(record.row_ids, np.int64))
    digest = hashlib.sha256()
    for part in (recipe.encode("ascii"), names, row_ids, *_flat(columns)):
        digest.update(len(part).to_bytes(8, "little") + part)
    key = digest.hexdigest()
    title, card = record.model_title, codec.dumps(record.card)
    known = connection.execute("SELECT space_id FROM spaces WHERE digest = ?", (key,)).fetchone()
    if known is not None:
        connection.execute(
            "UPDATE spaces SET model_title = ?, card = ? WHERE space_id = ? AND (model_title, card) <> (?, ?)",
            (title, card, known[0], title, card),
        )
        return int(known[0])
    versions = record.versions or {
        "kiruviz": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    space_id = connection.execute(
        "INSERT INTO spaces (digest, recipe, names, row_ids, columns, model_title, card, versions, time)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            key,
            recipe,
            codec.compress(names),
            row_ids,
            codec.dumps(list(columns)),
            title,
            card,
            codec.dumps(versions),
            time.time(),
        ),
    ).lastrowid
    assert space_id is not None  # noqa: S101
    connection.executemany(
        "INSERT INTO space_columns (space_id, name, kind, content) VALUES (?, ?, ?, ?)",
        [(space_id, name, kind, content) for name, (kind, content) in columns.items()],
    )
    return space_id


def load_space(connection: sqlite3.Connection, space_id: int) -> SpaceRecord:
    """KeyError if there is no such space."""
    row = connection.execute(
        "SELECT recipe, names, row_ids, columns, model_title, card, versions FROM spaces WHERE space_id = ?",
        (space_id,),
    ).fetchone()
    if row is None:
        raise KeyError(f"no space {space_id}")
    stored = {
        name: _unpack_column(kind, content)
        for name, kind, content in connection.execute(
            "SELECT name, kind, content FROM space_columns WHERE space_id = ?", (space_id,)
        )
    }
    recipe, names, row_ids, columns, title, card, versions = row
    return SpaceRecord(
        recipe=Recipe.from_json(recipe),
        names=tuple(codec.unpack_strings(names)),
        row_ids=codec.unpack_array(row_ids),
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
    projection_id = connection.execute(
        "INSERT OR REPLACE INTO projections (space_id, method, params, coords, time) VALUES (?, ?, ?, ?, ?)",
        (space_id, method, codec.dumps(params), codec.pack_array(kept), now),
    ).lastrowid
    assert projection_id is not None  # noqa: S101
    return ProjectionRecord(projection_id, space_id, method, codec.loads(codec.dumps(params)), kept, now)


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


def _pack_column(column: npt.NDArray[Any]) -> tuple[str, bytes]:
    column = np.asarray(column)
    if column.dtype.kind in "UO":
        return "strings", codec.pack_strings([str(value) for value in column.tolist()])
    return "array", codec.pack_array(column)


def _unpack_column(kind: str, content: bytes) -> npt.NDArray[Any]:
    return np.array(codec.unpack_strings(content), dtype=np.str_) if kind == "strings" else codec.unpack_array(content)


def _flat(columns: dict[str, tuple[str, bytes]]) -> list[bytes]:
    return [part for name, (kind, content) in columns.items() for part in (name.encode(), kind.encode(), content)]
