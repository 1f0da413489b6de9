"""What lies in a `.kiru` file, and how files of earlier versions become files of this one."""

from __future__ import annotations

import sqlite3

APPLICATION_ID = 0x4B495255  # "KIRU"

_V1 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE spaces (
    space_id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,    -- see records._digest: the same space is kept once
    recipe TEXT NOT NULL,           -- space.Recipe as JSON
    names BLOB NOT NULL,            -- codec strings
    row_ids BLOB NOT NULL,          -- codec ids (n,)
    columns TEXT NOT NULL,          -- JSON list of the columns' names, in order
    model_title TEXT NOT NULL,
    card TEXT NOT NULL,             -- JSON, null where there is none
    versions TEXT NOT NULL,         -- JSON: package -> version
    time REAL NOT NULL
);
CREATE TABLE space_columns (
    space_id INTEGER NOT NULL REFERENCES spaces,
    name TEXT NOT NULL,
    categories BLOB,                -- codec strings, where the column is one of strings
    content BLOB NOT NULL,          -- codec array, or codec ids into the categories
    PRIMARY KEY (space_id, name)
);
CREATE TABLE projections (
    projection_id INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id INTEGER NOT NULL REFERENCES spaces,
    method TEXT NOT NULL,
    params TEXT NOT NULL,           -- canonical JSON
    coords BLOB NOT NULL,           -- codec array, float32 (n, 2) or (n, 3)
    time REAL NOT NULL,
    UNIQUE (space_id, method, params)
);
CREATE TABLE label_sets (
    set_id INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id INTEGER NOT NULL REFERENCES spaces,
    method TEXT NOT NULL,
    params TEXT NOT NULL,
    created REAL NOT NULL,
    assignment BLOB NOT NULL        -- codec ids (n,), -1 set aside
);
CREATE TABLE clusters (
    set_id INTEGER NOT NULL REFERENCES label_sets,
    cluster_id INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('unnamed', 'named', 'resists')),
    name TEXT NOT NULL,
    note TEXT NOT NULL,
    confidence INTEGER NOT NULL CHECK (confidence BETWEEN 0 AND 3),
    color INTEGER NOT NULL,
    time REAL NOT NULL,
    PRIMARY KEY (set_id, cluster_id)
) WITHOUT ROWID;
CREATE TABLE history (
    entry_id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    time REAL NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0,  -- the undone entries are the last ones: what redo takes
    patch TEXT NOT NULL,            -- JSON: sets and clusters before and after
    rows BLOB                       -- codec array, int32 (3, k): position, cluster before, after
);
CREATE TABLE view (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE saved_views (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

# Script number v takes a file of version v to version v + 1; an empty file is version 0. Never edit one that
# was released: append the next, and add a fixture of the version before to tests/session/fixtures.
MIGRATIONS: tuple[str, ...] = (_V1,)
VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a file of an earlier version to this one, in one transaction."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == VERSION:
        return
    steps = "".join(MIGRATIONS[version:])
    connection.executescript(
        f"BEGIN IMMEDIATE;{steps}PRAGMA application_id={APPLICATION_ID};PRAGMA user_version={VERSION};COMMIT;"
    )
