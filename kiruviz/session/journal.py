"""Label sets and the history of what was done to them, as a session file keeps them.

All functions that write are to be called within a transaction.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kiruviz.session import codec
from kiruviz.session.labels import Assignment, Cluster, LabelSet, Patch
from kiruviz.session.records import inserted


class HistoryEntry(NamedTuple):
    """One action; `undone` ones are those redo would take."""

    title: str
    time: float
    undone: bool


class LabelSetInfo(NamedTuple):
    """A kept set of clusters, for a list to restore from.

    clusters  how many it has, of which `named` are named and `resists` resist naming
    space_title, rows  the model and the rows it is of, and how many these are
    """

    set_id: int
    title: str
    time: float
    named: int
    resists: int
    clusters: int
    method: str
    params: dict[str, Any]
    space_id: int
    space_title: str
    rows: int


@dataclass(frozen=True)
class Entry:
    """A history entry and its number in the file."""

    entry_id: int
    title: str
    time: float
    undone: bool = False


def insert_set(
    connection: sqlite3.Connection,
    space_id: int,
    method: str,
    params: dict[str, Any],
    assignment: Assignment,
    clusters: dict[int, Cluster],
    now: float,
) -> LabelSet:
    """Keep a new set of clusters."""
    text = codec.dumps(params)
    cursor = connection.execute(
        "INSERT INTO label_sets (space_id, method, params, created, assignment) VALUES (?, ?, ?, ?, ?)",
        (space_id, method, text, now, codec.pack_ids(assignment)),
    )
    set_id = inserted(cursor)
    _put_clusters(connection, set_id, list(clusters.values()))
    return LabelSet(set_id, space_id, method, codec.loads(text), assignment, clusters, now)


def load_set(connection: sqlite3.Connection, set_id: int) -> LabelSet:
    """KeyError if there is no such set."""
    row = connection.execute(
        "SELECT space_id, method, params, assignment, created FROM label_sets WHERE set_id = ?", (set_id,)
    ).fetchone()
    if row is None:
        raise KeyError(f"no label set {set_id}")
    space_id, method, params, assignment, created = row
    clusters = {
        values[0]: Cluster(*values)
        for values in connection.execute(
            "SELECT cluster_id, status, name, note, confidence, color, time FROM clusters"
            " WHERE set_id = ? ORDER BY cluster_id",
            (set_id,),
        )
    }
    return LabelSet(set_id, space_id, method, codec.loads(params), codec.unpack_ids(assignment), clusters, created)


def count_sets(connection: sqlite3.Connection) -> int:
    """How many sets there are, without looking into them."""
    return int(connection.execute("SELECT count(*) FROM label_sets").fetchone()[0])


def list_sets(connection: sqlite3.Connection) -> list[LabelSetInfo]:
    """All sets, oldest first."""
    spaces = {
        space_id: (" · ".join(part for part in (model, title) if part), len(codec.unpack_ids(row_ids)))
        for space_id, model, title, row_ids in connection.execute(
            "SELECT space_id, model_title, json_extract(recipe, '$.rows.title'), row_ids FROM spaces"
        )
    }
    return [
        LabelSetInfo(
            set_id, f"{method}, {clusters} clusters", created, int(named), int(resists), clusters,
            method, codec.loads(params), space_id, *spaces[space_id],
        )
        for set_id, space_id, method, params, created, clusters, named, resists in connection.execute(
            "SELECT set_id, space_id, method, params, created, count(cluster_id), total(status = 'named'),"
            " total(status = 'resists')"
            " FROM label_sets LEFT JOIN clusters USING (set_id) GROUP BY set_id ORDER BY set_id"
        )
    ]  # fmt: skip


def ancestry(connection: sqlite3.Connection) -> list[int]:
    """The sets that were current one after the other, the present one first, each once, at its latest turn.
    Steps that were undone do not count."""
    latest = current_set(connection)
    if latest is None:
        return []
    steps = connection.execute(
        "SELECT json_extract(patch, '$.current[0]') FROM history WHERE NOT undone"
        " AND json_extract(patch, '$.current[0]') <> json_extract(patch, '$.current[1]') ORDER BY entry_id DESC"
    )
    return list(dict.fromkeys([latest, *(int(before) for (before,) in steps)]))


def latest_answered(connection: sqlite3.Connection, space_id: int) -> int | None:
    """The newest set over these rows in which a cluster is named or resists, None where there is none."""
    row = connection.execute(
        "SELECT max(set_id) FROM label_sets JOIN clusters USING (set_id) WHERE space_id = ? AND status <> 'unnamed'",
        (space_id,),
    ).fetchone()
    return None if row[0] is None else int(row[0])


def write_patch(connection: sqlite3.Connection, patch: Patch, labels: LabelSet) -> None:
    """Make the file say what `labels`, the set after `patch`, says."""
    if patch.switches:
        set_current(connection, patch.current[1])
        return
    gone = [cluster_id for cluster_id, (_, after) in patch.clusters.items() if after is None]
    connection.executemany(
        "DELETE FROM clusters WHERE set_id = ? AND cluster_id = ?", [(labels.set_id, c) for c in gone]
    )
    _put_clusters(connection, labels.set_id, [after for _, after in patch.clusters.values() if after is not None])
    if len(patch.positions):
        connection.execute(
            "UPDATE label_sets SET assignment = ? WHERE set_id = ?",
            (codec.pack_ids(labels.assignment), labels.set_id),
        )


def current_set(connection: sqlite3.Connection) -> int | None:
    row = connection.execute("SELECT value FROM meta WHERE key = 'current_set'").fetchone()
    return None if row is None else int(row[0])


def set_current(connection: sqlite3.Connection, set_id: int) -> None:
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('current_set', ?)", (str(set_id),))


def append(connection: sqlite3.Connection, title: str, patch: Patch, now: float) -> Entry:
    """Add an action to the history; what was undone before it can no longer be redone."""
    connection.execute("DELETE FROM history WHERE undone")
    clusters = [
        [cluster_id, *(None if side is None else _values(side)[1:] for side in sides)]
        for cluster_id, sides in patch.clusters.items()
    ]
    rows = None
    if len(patch.positions):
        rows = codec.pack_array(np.stack([patch.positions.astype(np.int32), patch.before, patch.after]))
    cursor = connection.execute(
        "INSERT INTO history (title, time, patch, rows) VALUES (?, ?, ?, ?)",
        (title, now, codec.dumps({"current": patch.current, "clusters": clusters}), rows),
    )
    return Entry(inserted(cursor), title, now)


def load_patch(connection: sqlite3.Connection, entry_id: int) -> Patch:
    text, rows = connection.execute("SELECT patch, rows FROM history WHERE entry_id = ?", (entry_id,)).fetchone()
    stored = codec.loads(text)
    before, after = stored["current"]
    clusters = {
        cluster_id: (_cluster(cluster_id, former), _cluster(cluster_id, latter))
        for cluster_id, former, latter in stored["clusters"]
    }
    if rows is None:
        return Patch((before, after), clusters)
    positions, owners_before, owners_after = codec.unpack_array(rows)
    return Patch((before, after), clusters, positions.astype(np.int64), owners_before, owners_after)


def mark(connection: sqlite3.Connection, entry_id: int, undone: bool) -> None:
    connection.execute("UPDATE history SET undone = ? WHERE entry_id = ?", (undone, entry_id))


def entries(connection: sqlite3.Connection) -> list[Entry]:
    """The history, oldest first: the done entries, then the undone ones."""
    return [
        Entry(entry_id, title, made, bool(undone))
        for entry_id, title, made, undone in connection.execute(
            "SELECT entry_id, title, time, undone FROM history ORDER BY entry_id"
        )
    ]


def edits_ever(connection: sqlite3.Connection) -> int:
    """How many actions were ever taken, those included that were undone and then replaced."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'history'").fetchone()
    return 0 if row is None else int(row[0])


def _put_clusters(connection: sqlite3.Connection, set_id: int, clusters: list[Cluster]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO clusters (set_id, cluster_id, status, name, note, confidence, color, time)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(set_id, *_values(cluster)) for cluster in clusters],
    )


def _values(c: Cluster) -> tuple[Any, ...]:
    """In the order of Cluster's fields and of the columns (dataclasses.astuple takes ten times as long)."""
    return (c.cluster_id, c.status, c.name, c.note, c.confidence, c.color, c.time)


def _cluster(cluster_id: int, values: list[Any] | None) -> Cluster | None:
    return None if values is None else Cluster(cluster_id, *values)
