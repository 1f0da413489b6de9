"""What a session keeps, through closing, undoing and copying."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kiruviz.errors import UserError
from kiruviz.session.records import SpaceRecord
from kiruviz.session.recover import find_untitled
from kiruviz.session.store import Session
from kiruviz.space import Recipe, Space
from tests.session.helpers import filled, record


def _equal(one: SpaceRecord, other: SpaceRecord) -> bool:
    assert (one.recipe, one.names, one.model_title, one.card) == (
        other.recipe,
        other.names,
        other.model_title,
        other.card,
    )
    assert list(one.columns) == list(other.columns)
    for name, column in one.columns.items():
        np.testing.assert_array_equal(column, other.columns[name])
        assert column.dtype.kind == other.columns[name].dtype.kind
    return np.array_equal(one.row_ids, other.row_ids)


def test_a_space_comes_back_exactly(tmp_path: Path) -> None:
    given = record()
    with Session.create(tmp_path / "a.kiru") as session:
        space_id = session.add_space(given)
        assert _equal(session.space(space_id), given)
    with Session.open(tmp_path / "a.kiru") as session:
        assert _equal(session.space(space_id), given)
        assert session.space(space_id).versions["numpy"] == np.__version__
        assert not session.space(space_id).row_ids.flags.writeable
        with pytest.raises(KeyError):
            session.space(99)


def test_an_empty_space_and_columns_of_objects(tmp_path: Path) -> None:
    empty = SpaceRecord(Recipe("m"), (), np.empty(0, np.int64), {"kind": np.empty(0, np.str_)}, "M")
    objects = SpaceRecord(Recipe("m"), ("a",), np.zeros(1, np.int64), {"kind": np.array(["w"], object)}, "M")
    with Session.create(tmp_path / "a.kiru") as session:
        ids = [session.add_space(empty), session.add_space(objects)]
        session.set_clusters(ids[0], "kmeans", {}, [])
    with Session.open(tmp_path / "a.kiru") as session:
        assert len(session.space(ids[0])) == 0
        assert session.space(ids[1]).columns["kind"].tolist() == ["w"]
        assert session.labels is not None
        assert session.labels.clusters == {}


def test_the_same_space_is_kept_once_wherever_its_model_lies(tmp_path: Path) -> None:
    given = record()
    vectors = np.zeros((len(given), 2), np.float32)
    moved = record(model="elsewhere/smollm2")
    space = Space(vectors, moved.row_ids, moved.names, {"pieces": moved.columns["pieces"] + 1}, moved.recipe)
    no_identity = replace(given, recipe=replace(given.recipe, identity=""))
    other_names = replace(given, names=given.names[::-1])
    with Session.create(tmp_path / "a.kiru") as session:
        first = session.add_space(given)
        assert session.add_space(space, "Other title", {"layers": 1}) == first
        others = [session.add_space(no_identity), session.add_space(other_names)]
        others.append(session.add_space(replace(no_identity, recipe=replace(moved.recipe, identity=""))))
        assert len({first, *others}) == 4
        live = session.space(first)
    with Session.open(tmp_path / "a.kiru") as session:
        kept = session.space(first)
        assert (kept.model_title, kept.card, kept.recipe.model) == ("Other title", {"layers": 1}, "elsewhere/smollm2")
        assert list(kept.columns) == ["pieces"]
        assert kept.columns["pieces"][0] == 2
        assert _equal(live, kept)


def test_the_latest_projection_of_each_method_and_parameters(tmp_path: Path) -> None:
    coords = np.arange(24, dtype=np.float32).reshape(12, 2)
    with Session.create(tmp_path / "a.kiru") as session:
        space_id = session.add_space(record())
        assert session.projection(space_id) is None
        session.add_projection(space_id, "pca", {"seed": 0}, coords)
        session.add_projection(space_id, "umap", {"n": 5, "d": 0.1}, coords + 1)
        session.add_projection(space_id, "pca", {"seed": 0}, coords + 2)
        session.add_projection(space_id, "umap", {"d": 0.1, "n": 5}, np.ones((12, 3), np.float32))
        coords[:] = 0
        before = [(p.projection_id, p.method, p.coords.tolist()) for p in session.projections(space_id)]
        with pytest.raises(ValueError):
            session.add_projection(space_id, "pca", {}, coords[:5])
    with Session.open(tmp_path / "a.kiru") as session:
        assert [(p.projection_id, p.method, p.coords.tolist()) for p in session.projections(space_id)] == before
        latest, pca = session.projection(space_id), session.projection(space_id, "pca")
        assert latest is not None
        assert pca is not None
        assert latest.coords.shape == (12, 3)
        assert pca.coords[0, 1] == 3
        assert session.projection(space_id, "tsne") is None


def test_every_step_can_be_undone_and_redone_across_restarts(tmp_path: Path) -> None:
    path = tmp_path / "a.kiru"
    session = filled(path)
    assert not session.can_undo, "there is nothing before the first clusters"
    assert session.edits == 0
    session.rename(0, "months")
    session.resist(1, "mixed")
    session.merge([0, 2])
    assert session.labels is not None
    assert session.labels.sizes() == {0: 8, 1: 4}
    session.close()

    session = Session.open(path)
    assert session.undo_title == "merge 0 and 2"
    assert session.undo() == "merge 0 and 2"
    assert session.undo() == "mark 1 as resisting"
    session.close()

    session = Session.open(path)
    assert (session.undo_title, session.redo_title) == ("name cluster 0 “months”", "mark 1 as resisting")
    assert session.redo() == "mark 1 as resisting"
    assert [entry.undone for entry in session.history()] == [False, False, True]
    session.set_confidence(0, 2)
    assert not session.can_redo, "a new step drops what was undone"
    assert session.redo() is None
    assert [entry.title for entry in session.history()][-1] == "confidence 2 for 0"
    assert session.edits == 4
    while session.undo():
        pass
    assert session.labels is not None
    assert session.labels.progress().unnamed == 3
    session.close()
    with Session.open(path) as session:
        assert session.edits == 4
        assert session.labels is not None
        assert session.labels.sizes() == {0: 4, 1: 4, 2: 4}


def test_a_no_op_writes_nothing_and_tells_nobody(tmp_path: Path) -> None:
    with filled(tmp_path / "a.kiru") as session:
        session.rename(0, "months")
        session.set_view("zoom", [1, 2])
        told: list[str] = []
        session.subscribe(told.append)
        before = session.labels
        session._connection.execute("PRAGMA query_only=ON")  # a write would raise
        assert session.rename(0, " months ") is before
        assert session.merge([1]) is before
        session.set_view("zoom", (1, 2))
        assert told == []


def test_reclustering_carries_names_and_the_former_set_can_be_restored(tmp_path: Path) -> None:
    path = tmp_path / "a.kiru"
    session = filled(path)
    session.rename(2, "days")
    first = session.labels
    assert first is not None
    second = session.set_clusters(1, "kmeans", {"k": 2}, [0] * 8 + [1] * 4, {1: (2,)})
    assert session.undo_title == "re-cluster into 2"
    assert (second.clusters[1].name, second.clusters[1].color) == ("days", 2)
    assert session.set_clusters(1, "kmeans", {"k": 2}, [0] * 8 + [1] * 4, {0: (0,), 1: (1,)}) is second
    session.resist(0)
    session.undo()
    session.undo()
    assert session.labels is not None
    assert session.labels.clusters == first.clusters
    session.rename(0, "months")
    session.close()

    session = Session.open(path)
    sets = session.label_sets()
    assert [(s.set_id, s.title, s.named) for s in sets] == [(1, "kmeans, 3 clusters", 2), (2, "kmeans, 2 clusters", 1)]
    restored = session.restore_set(2)
    assert restored.clusters == second.clusters
    assert session.restore_set(2) is restored
    assert session.undo() == "restore kmeans with 2 clusters"
    assert session.labels is not None
    assert session.labels.clusters[0].name == "months"
    with pytest.raises(KeyError):
        session.restore_set(77)
    session.close()


def test_clusters_of_another_space_are_a_step_that_can_be_undone(tmp_path: Path) -> None:
    with filled(tmp_path / "a.kiru") as session:
        other = session.add_space(record(5))
        session.set_clusters(other, "kmeans", {"k": 2}, [0, 0, 1, 1, -1])
        assert session.undo() == "cluster into 2"
        assert session.labels is not None
        assert session.labels.space_id == 1
        with pytest.raises(ValueError):
            session.set_clusters(other, "kmeans", {}, [0, 1])
        with pytest.raises(ValueError):
            session.set_clusters(other, "kmeans", {}, [0, 1, -2, 0, 0])


def test_labelling_without_clusters_says_what_to_do(tmp_path: Path) -> None:
    with Session.create(tmp_path / "a.kiru") as session, pytest.raises(UserError, match="cluster the map first"):
        session.rename(0, "x")


def test_observers_hear_each_change_until_they_leave(tmp_path: Path) -> None:
    with Session.create(tmp_path / "a.kiru") as session:
        told: list[str] = []
        leave = session.subscribe(told.append)
        space_id = session.add_space(record())
        session.add_projection(space_id, "pca", {}, np.zeros((12, 2), np.float32))
        session.set_clusters(space_id, "kmeans", {}, [0] * 12)
        session.rename(0, "x")
        session.undo()
        session.redo()
        session.save_as(tmp_path / "b.kiru")
        leave()
        session.undo()
    assert told == ["space", "projection", "labels", "labels", "labels", "labels", "title"]


def test_view_state_and_saved_views_come_back(tmp_path: Path) -> None:
    path = tmp_path / "a.kiru"
    with Session.create(path) as session:
        assert session.view("zoom") is None
        assert session.view("zoom", 1.0) == 1.0
        session.set_view("zoom", 2.5)
        session.set_view("zoom", 3.5)
        session.save_view("Months", {"rect": [0, 1]})
        session.save_view("gone", {})
        session.delete_view("gone")
        assert not session.can_undo
    with Session.open(path) as session:
        assert session.view("zoom") == 3.5
        assert session.saved_views == {"Months": {"rect": [0, 1]}}


def test_closing_leaves_one_file_that_can_be_mailed(tmp_path: Path) -> None:
    path = tmp_path / "a.kiru"
    session = filled(path)
    session.rename(0, "months")
    session.close()
    session.close()
    assert [p.name for p in tmp_path.iterdir()] == ["a.kiru"]
    assert path.read_bytes()[18:20] == b"\x01\x01", "a rollback journal file: readable where nothing may be written"


def test_save_brings_all_into_the_file_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.kiru"
    with filled(path) as session:
        session.rename(0, "months")
        session.save()
        copy = tmp_path / "copy.kiru"
        copy.write_bytes(path.read_bytes())
    with Session.open_readonly(copy) as session:
        assert session.labels is not None
        assert session.labels.clusters[0].name == "months"


def test_save_as_goes_on_in_the_new_file(tmp_path: Path) -> None:
    old, new = tmp_path / "a.kiru", tmp_path / "b.kiru"
    with filled(old) as session:
        session.rename(0, "months")
        session.save_as(new)
        assert (session.path, session.title) == (new, "b")
        session.rename(1, "days")
        session.save_as(new)  # the same file: no copy, no complaint
    with Session.open(old) as session:
        assert session.undo_title == "name cluster 0 “months”"
    with Session.open(new) as session:
        assert session.undo_title == "name cluster 1 “days”"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.kiru", "b.kiru"]


def test_saving_an_untitled_session_moves_it(tmp_path: Path) -> None:
    session = Session.untitled()
    former = session.path
    assert session.is_untitled
    assert session.title == "Untitled"
    session.save_as(tmp_path / "b.kiru")
    assert not session.is_untitled
    assert not former.exists()
    with pytest.raises(ValueError):
        session.discard()
    session.close()


def test_a_log_left_by_a_crash_is_not_taken_for_the_new_files_own(tmp_path: Path) -> None:
    target = tmp_path / "b.kiru"
    old = filled(target)
    old.rename(0, "stale")
    wal = Path(f"{target}-wal").read_bytes()
    old.close()
    Path(f"{target}-wal").write_bytes(wal)
    with filled(tmp_path / "a.kiru") as session:
        session.rename(0, "fresh")
        session.save_as(target, overwrite=True)
    with Session.open(target) as session:
        assert session.labels is not None
        assert session.labels.clusters[0].name == "fresh"


def test_discarding_deletes_an_untitled_session() -> None:
    session = Session.untitled()
    other = Session.untitled()
    assert other.path != session.path
    session.discard()
    other.discard()
    assert list(session.path.parent.iterdir()) == []


def test_untitled_sessions_are_found_again_newest_first() -> None:
    assert find_untitled() == []
    paths = []
    for i in range(2):
        session = Session.untitled()
        session.set_clusters(session.add_space(record()), "kmeans", {}, [0, 1, 2] * 4)
        if i:
            session.rename(0, "months")
        session.resist(1)
        paths.append(session.path)
        session.close()
        time.sleep(0.01)
    empty = Session.untitled()
    empty.close()
    damaged = paths[0].with_name("damaged.kiru")
    damaged.write_bytes(os.urandom(5000))
    found = find_untitled()
    assert [info.path for info in found] == [paths[1], paths[0]]
    assert (found[0].named, found[0].resists, found[0].space_title) == (1, 1, "SmolLM2, Some words")
    with Session.open(paths[1]):
        assert [info.path for info in find_untitled()] == [paths[0]], "the other one is open"
    assert damaged.exists()


def test_a_readonly_session_reads_all_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.kiru"
    with filled(path) as session:
        session.rename(0, "months")
        with Session.open_readonly(path) as other:
            assert other.read_only
            assert other.labels is not None
            assert other.labels.clusters[0].name == "months"
            assert len(other.space(1)) == 12
            with pytest.raises(UserError, match="reading only"):
                other.rename(0, "x")
            with pytest.raises(UserError, match="reading only"):
                other.undo()
            assert other.labels.clusters[0].name == "months"
            other.save_as(tmp_path / "b.kiru")
            other.rename(0, "elsewhere")
        session.rename(0, "still mine")
    assert path.exists()


def test_an_edit_at_full_size_answers_at_once(tmp_path: Path) -> None:
    n, rng = 49_152, np.random.default_rng(0)
    with Session.create(tmp_path / "a.kiru") as session:
        session.set_clusters(session.add_space(record(n)), "kmeans", {"k": 500}, rng.integers(0, 500, n))
        times = []
        for i in range(40):
            start = time.perf_counter()
            session.rename(i, f"name {i}")
            named = time.perf_counter()
            session.move(rng.integers(0, n, 50), i)
            times.append((named - start, time.perf_counter() - named))
    rename, move = (1000 * np.quantile(t, 0.25) for t in zip(*times, strict=True))  # of a noisy machine
    print(f"rename {rename:.1f} ms, move {move:.1f} ms")
    assert rename < 10
    assert move < 20


def test_the_room_needs_neither_qt_nor_torch() -> None:
    code = (
        "import sys\n"
        "for name in ('PySide6', 'pyqtgraph', 'torch', 'scipy', 'sklearn'): sys.modules[name] = None\n"
        "import kiruviz.session.recover, kiruviz.session.store\n"
        "s = kiruviz.session.store.Session.untitled(); s.set_view('a', 1); s.close()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
