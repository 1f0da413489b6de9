"""Small spaces and sessions for the tests of this room."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from kiruviz.session.records import SpaceRecord
from kiruviz.session.store import Session
from kiruviz.space import Filters, Recipe, Rows


def record(n: int = 12, model: str = "smollm2") -> SpaceRecord:
    """A space with the names that break tables, and every column."""
    odd = ("\n", "\t", " ", "", '"', "a,b", " leading", "été", "\ud800", "x\x00y", "名前")
    names = tuple(odd[i] if i < len(odd) else f" word{i}" for i in range(n))
    zipf = np.linspace(0, 7, n)
    zipf[::3] = np.nan
    return SpaceRecord(
        recipe=Recipe(model, "abc", rows=Rows(words=names, filters=Filters(kinds=("word",)), title="Some words")),
        names=names,
        row_ids=np.arange(n, dtype=np.int64) - 1,
        columns={
            "pieces": np.ones(n, np.int64),
            "norm": np.linspace(0.5, 2, n),
            "zipf": zipf,
            "kind": np.array(["word", "number"] * n)[:n],
            "script": np.array(["Latin"] * n),
        },
        model_title="SmolLM2",
        card={"layers": 30, "tied": True},
    )


def filled(path: Path, assignment: list[int] | None = None) -> Session:
    """An open session at `path` with a space and its first clusters (by default three of four rows)."""
    owners = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2] if assignment is None else assignment
    session = Session.create(path)
    space_id = session.add_space(record(len(owners)))
    session.set_clusters(space_id, "kmeans", {"k": 3, "seed": 0}, owners)
    return session


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
