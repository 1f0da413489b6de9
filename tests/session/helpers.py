"""Small spaces and sessions for the tests of this room."""

from __future__ import annotations

import hashlib
import random
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


def act(session: Session, seed: int, turn: int) -> None:
    """Labelling action number `turn` of the sequence `seed`: the same on the same session, of every kind there is."""
    chance = random.Random(seed * 100_003 + turn)
    labels = session.labels
    assert labels is not None
    ids, rows = labels.order, list(range(len(labels.assignment)))
    kind = chance.choice(["rename", "resist", "note", "sure", "clear", "move", "aside", "new", "merge", "split",
                          "again", "undo", "redo"])  # fmt: skip
    some = chance.sample(rows, chance.randint(1, 4))
    if kind == "again":
        session.set_clusters(
            labels.space_id, "kmeans", {"turn": turn}, [chance.randrange(3) for _ in rows], {0: ids[:1]}
        )
    elif kind in ("undo", "redo"):
        getattr(session, kind)()
    elif kind == "aside":
        session.set_aside(some)
    elif kind == "new" or not ids:
        session.new_cluster(some)
    else:
        _act_on(session, chance, kind, chance.choice(ids), ids, some, turn)


def _act_on(
    session: Session, chance: random.Random, kind: str, cluster: int, ids: list[int], some: list[int], turn: int
) -> None:
    labels = session.labels
    assert labels is not None
    if kind == "rename":
        session.rename(cluster, f"name {turn}")
    elif kind == "resist":
        session.resist(cluster, f"why {turn}")
    elif kind == "note":
        session.set_note(cluster, f"note {turn}")
    elif kind == "sure":
        session.set_confidence(cluster, chance.randrange(4))
    elif kind == "clear":
        session.clear(cluster)
    elif kind == "move":
        session.move(some, cluster)
    elif kind == "merge":
        session.merge(chance.sample(ids, min(2, len(ids))))
    else:
        parts = [chance.randrange(2) for _ in labels.members(cluster)]
        session.split(cluster, np.array(parts))
