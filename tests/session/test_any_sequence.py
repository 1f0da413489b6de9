"""Any sequence of label operations, undos, redos and restarts ends where a simple model says it does."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kiruviz.session.labels import Answer
from kiruviz.session.store import Session
from tests.session.helpers import filled
from tests.session.model import Label, Model

ROWS = 9
LONGEST = int(os.environ.get("KIRUVIZ_OPERATIONS", "60"))  # 200 before a release
EXAMPLES = int(os.environ.get("KIRUVIZ_EXAMPLES", "25"))

_names = st.sampled_from(["", " ", "months", " days ", "“quoted”", "名前", "a\nb"])
_pick = st.integers(0, 8)  # of the clusters there are, by remainder
_rows = st.lists(st.integers(0, ROWS - 1), max_size=5)
_owners = st.lists(st.integers(-1, 4), min_size=ROWS, max_size=ROWS)
_answers = st.tuples(st.sampled_from(["unnamed", "named", "resists"]), _names, _names, st.integers(0, 3))
_operations = st.one_of(
    st.tuples(st.just("rename"), _pick, _names),
    st.tuples(st.just("resist"), _pick, st.none() | _names),
    st.tuples(st.just("clear"), _pick),
    st.tuples(st.just("set_note"), _pick, _names),
    st.tuples(st.just("set_confidence"), _pick, st.integers(0, 3)),
    st.tuples(st.just("merge"), st.lists(_pick, min_size=1, max_size=3)),
    st.tuples(st.just("split"), _pick, st.lists(st.integers(-1, 3), min_size=ROWS, max_size=ROWS)),
    st.tuples(st.just("new_cluster"), _rows),
    st.tuples(st.just("move"), _rows, _pick),
    st.tuples(st.just("set_aside"), _rows),
    st.tuples(
        st.just("adopt"), st.dictionaries(_pick, _answers, max_size=3), st.lists(st.tuples(_rows, _answers), max_size=2)
    ),
    st.tuples(st.just("set_clusters"), _owners, st.dictionaries(st.integers(0, 4), _pick, max_size=3)),
    st.tuples(st.just("restore_set"), _pick),
    st.tuples(st.sampled_from(["undo", "redo", "undo", "redo", "restart", "save_as"])),
)


def _resolved(model: Model, kind: str, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The drawn values with clusters and sets that exist; None where the operation has nothing to work on."""
    ids = sorted(model.now.labels)
    if kind == "restore_set":
        return (sorted(model.sets)[values[0] % len(model.sets)],)
    if kind in ("new_cluster", "set_aside"):
        return values
    if kind == "set_clusters":
        return values[0], {new: old for new, old in values[1].items() if new in values[0]}
    if kind == "adopt":
        return {ids[pick % len(ids)]: answer for pick, answer in values[0].items() if ids}, values[1]
    if not ids:
        return None
    if kind == "merge":
        return ([ids[pick % len(ids)] for pick in values[0]],)
    if kind == "move":
        return values[0], ids[values[1] % len(ids)]
    cluster_id = ids[values[0] % len(ids)]
    if kind == "split":
        return cluster_id, values[1][: len(model.now.members(cluster_id))]
    return cluster_id, *values[1:]


def _do(session: Session, model: Model, operation: tuple[Any, ...]) -> Session:
    """Do one operation to both; the session to go on with."""
    kind, *rest = operation
    if kind == "restart":
        session.close()
        return Session.open(session.path)
    if kind == "save_as":
        session.save_as(session.path.with_name(f"{session.path.stem}x.kiru"), overwrite=True)
    elif kind in ("undo", "redo"):
        getattr(session, kind)()
        getattr(model, kind)()
    elif (values := _resolved(model, kind, tuple(rest))) is not None:
        model.act(kind, *values)
        if kind == "set_clusters":
            carried = {new: (old,) for new, old in values[1].items()}
            session.set_clusters(1, "kmeans", {"k": 3, "seed": 0}, values[0], carried)
        elif kind == "adopt":
            session.adopt(
                {i: Answer(*answer) for i, answer in values[0].items()},
                [(rows, Answer(*answer)) for rows, answer in values[1]],
            )
        elif kind == "split":
            session.split(values[0], np.array(values[1]))
        else:
            getattr(session, kind)(*values)
    return session


def _check(session: Session, model: Model) -> None:
    labels = session.labels
    assert labels is not None
    assert labels.set_id == model.current
    assert labels.assignment.tolist() == model.now.owners
    said = {i: Label(c.status, c.name, c.note, c.confidence, c.color) for i, c in labels.clusters.items()}
    assert said == model.now.labels
    held = [row for i in [-1, *labels.order] for row in labels.members(i).tolist()]
    assert sorted(held) == list(range(ROWS)), "each row is in one cluster or set aside"
    assert (session.can_undo, session.can_redo) == (bool(model.before), bool(model.after))


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(start=_owners, operations=st.lists(_operations, min_size=5, max_size=LONGEST))
def test_any_sequence_ends_where_the_model_says(start: list[int], operations: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        model = Model.start(start)
        session = filled(Path(folder) / "a.kiru", start)
        try:
            for operation in operations:
                session = _do(session, model, operation)
                _check(session, model)
            session.close()
            session = Session.open(session.path)
            _check(session, model)
            while session.can_undo:
                session.undo()
                model.undo()
            _check(session, model)
        finally:
            session.close()
