"""Names are carried over new groups, other rows and other models, and none is forgotten on the way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from kiruviz.analysis.carry import overlaps
from kiruviz.analysis.grouping import ClusterSpec
from kiruviz.analysis.row_match import match_rows
from kiruviz.progress import Silent
from kiruviz.session.labels import Answer
from kiruviz.session.records import SpaceRecord
from kiruviz.session.store import Session
from kiruviz.space import Filters, Recipe, Rows
from kiruviz.tasks import maps, spaces
from kiruviz.tasks.carrying import Carriage, Fate, FormerLabels, names_onto, row_names, whereabouts
from tests.tasks.conftest import EVERYDAY

WORDS = tuple(f"w{i}" for i in range(12))
THREE = [0] * 4 + [1] * 4 + [2] * 4


def space_of(words: Sequence[str], model: str = "m") -> SpaceRecord:
    n = len(words)
    recipe = Recipe(model, model, rows=Rows(words=tuple(words), title=f"{n} words"))
    return SpaceRecord(recipe, tuple(words), np.full(n, -1), {"kind": np.array(["word"] * n)}, model)


class Map:
    """A session that is clustered as the window does it: the names that the session holds are carried."""

    def __init__(self, path: Path) -> None:
        self.session = Session.create(path)

    def cluster(self, record: SpaceRecord, owners: Sequence[int]) -> Carriage:
        session = self.session
        space_id = session.add_space(record)
        carriage = Carriage()
        if session.labels is not None:
            carriage = names_onto(Silent(), FormerLabels(str(session.path)), row_names(record), owners)
        given = {new: session.label_set(set_id).clusters[old] for new, (set_id, old) in carriage.carried.items()}
        session.set_clusters(space_id, "kmeans", {"n": len(session.label_sets())}, owners, given=given)
        return carriage

    def names(self) -> dict[int, str]:
        assert self.session.labels is not None
        return {i: c.title for i, c in self.session.labels.clusters.items() if c.status != "unnamed"}


@pytest.fixture
def on_map(tmp_path: Path):
    made = Map(tmp_path / "a.kiru")
    yield made
    made.session.close()


def lost(fates: Sequence[Fate]) -> list[str]:
    return [fate.answer.title for fate in fates if fate.new is None]


def test_names_that_found_no_cluster_wait_for_one(on_map: Map) -> None:
    on_map.cluster(space_of(WORDS), THREE)
    for i, name in enumerate(("months", "days", "people")):
        on_map.session.rename(i, name)

    none = on_map.cluster(space_of(WORDS), [0, 1, 2, 3] * 3)
    assert len(lost(none.fates)) + len(on_map.names()) == 3
    again = on_map.cluster(space_of(WORDS), [2] * 4 + [0] * 4 + [1] * 4)

    assert on_map.names() == {2: "months", 0: "days", 1: "people"}
    assert lost(again.fates) == []


def test_names_come_back_after_other_rows_were_shown(on_map: Map) -> None:
    on_map.cluster(space_of(WORDS), THREE)
    for i, name in enumerate(("months", "days", "people")):
        on_map.session.rename(i, name)
    on_map.session.set_note(1, "seven of them")
    on_map.session.set_confidence(1, 2)
    before = dict(on_map.session.label_set(1).clusters)

    on_map.cluster(space_of(["w0", "other", "x", "y", "z"]), [0, 1, 2, 3, 4])
    assert on_map.names() == {0: "months"}
    on_map.cluster(space_of(WORDS[1:]), [1] * 3 + [2] * 4 + [0] * 4)

    assert on_map.names() == {1: "months", 2: "days", 0: "people"}
    assert on_map.session.labels is not None
    back = on_map.session.labels.clusters[2]
    assert (back.note, back.confidence, back.color) == ("seven of them", 2, before[1].color)


def test_a_name_that_was_taken_away_or_changed_does_not_come_back(on_map: Map) -> None:
    on_map.cluster(space_of(WORDS), THREE)
    for i, name in enumerate(("months", "days", "people")):
        on_map.session.rename(i, name)
    on_map.cluster(space_of(WORDS), [0] * 4 + [1] * 4 + [2] * 3 + [3])
    on_map.session.clear(0)
    on_map.session.rename(1, "weekdays")

    carriage = on_map.cluster(space_of(WORDS), THREE)

    assert on_map.names() == {1: "weekdays", 2: "people"}
    assert sorted(fate.answer.title for fate in carriage.fates) == ["people", "weekdays"]


def test_a_name_given_later_waits_when_an_earlier_set_is_restored(on_map: Map) -> None:
    on_map.cluster(space_of(WORDS), THREE)
    on_map.session.rename(0, "early")
    on_map.cluster(space_of(WORDS), THREE[::-1])
    on_map.session.rename(2, "late")
    on_map.session.restore_set(1)

    found = whereabouts(Silent(), str(on_map.session.path))

    assert found is not None
    assert [(f.answer.name, f.set_id, f.new) for f in found.fates] == [("late", 2, 0)]
    assert found.clusters[0].name == "early"


def test_a_restored_set_that_was_never_answered_forgets_no_name(on_map: Map) -> None:
    on_map.cluster(space_of(WORDS), THREE)
    on_map.cluster(space_of(WORDS), THREE[::-1])
    on_map.session.rename(0, "late")
    on_map.session.restore_set(1)

    on_map.cluster(space_of(WORDS), [4] * 4 + [5] * 4 + [6] * 4)

    assert on_map.names() == {6: "late"}


def test_steps_that_were_undone_bring_no_names(on_map: Map) -> None:
    on_map.cluster(space_of(WORDS), THREE)
    on_map.cluster(space_of(WORDS), THREE[::-1])
    on_map.session.rename(0, "undone")
    on_map.session.undo()
    on_map.session.undo()

    on_map.cluster(space_of(WORDS), [4] * 4 + [5] * 4 + [6] * 4)

    assert on_map.names() == {}


def test_the_report_says_where_the_rows_of_a_lost_name_are(on_map: Map) -> None:
    on_map.cluster(space_of(WORDS), THREE)
    on_map.session.resist(0, "odd")
    on_map.cluster(space_of(WORDS), [0, 1, 1, -1] + [0] * 4 + [1] * 4)

    found = whereabouts(Silent(), str(on_map.session.path))

    assert found is not None
    (fate,) = found.fates
    assert (fate.set_id, fate.cluster_id, fate.answer) == (1, 0, Answer("resists", note="odd"))
    assert (fate.new, fate.size, fate.heirs, fate.rows.tolist()) == (None, 4, ((1, 2), (0, 1)), [0, 1, 2, 3])


def test_where_the_names_of_one_former_set_belong(on_map: Map) -> None:
    on_map.cluster(space_of(WORDS), THREE)
    on_map.session.rename(0, "months")
    on_map.cluster(space_of(WORDS), THREE[::-1])
    on_map.session.clear(2)

    found = whereabouts(Silent(), str(on_map.session.path), 1)

    assert found is not None
    assert [(fate.new, fate.overlap) for fate in found.fates] == [(2, 1.0)]
    with Session.create(on_map.session.path.with_name("empty.kiru")) as empty:
        assert whereabouts(Silent(), str(empty.path)) is None


def test_of_two_halves_the_named_one_gives_its_name(on_map: Map) -> None:
    on_map.cluster(space_of(WORDS), [0] * 2 + [1] * 2 + [2] * 8)
    on_map.session.rename(1, "second half")
    on_map.cluster(space_of(WORDS), [0] * 4 + [1] * 8)
    assert on_map.names() == {0: "second half"}


# The real starters


def named_map(path: Path, recipe: Recipe, spec: ClusterSpec) -> np.ndarray:
    """A session in which every cluster of `spec` is named; the assignment."""
    assignment = maps.cluster(Silent(), recipe, spec).assignment
    with Session.create(path) as session:
        session.set_clusters(session.add_space(spaces.build_space(Silent(), recipe)), "kmeans", {}, assignment)
        for cluster_id in range(int(assignment.max()) + 1):
            session.rename(cluster_id, f"name {cluster_id}")
    return assignment


def half_alike(before: np.ndarray, after: np.ndarray) -> dict[int, int]:
    """Old -> new cluster of each pair more than half alike."""
    old, new = np.unique(before[before >= 0]), np.unique(after[after >= 0])
    table = overlaps(before.astype(np.int64), after.astype(np.int64), old.tolist(), new.tolist())
    return {int(old[i]): int(new[j]) for i, j in zip(*np.nonzero(table > 0.5), strict=True)}


def test_another_model_with_the_same_words_takes_the_names_over(everyday: Recipe, tmp_path: Path) -> None:
    before = named_map(tmp_path / "a.kiru", everyday, ClusterSpec())
    other = spaces.build_space(Silent(), Recipe("minilm", rows=everyday.rows))
    outcome = maps.cluster(Silent(), other.recipe, ClusterSpec(), FormerLabels(str(tmp_path / "a.kiru")))

    here = spaces.build_space(Silent(), everyday).names
    assert set(other.names) <= set(here) == set(EVERYDAY)
    shared = np.array([here.index(name) for name in other.names])
    wanted = half_alike(before[shared], outcome.assignment)
    print(f"smollm2 to minilm: {len(other.names)} words, {len(wanted)} of 8 clusters more than half alike, "
          f"{sum(f.new is not None for f in outcome.carriage.fates)} of 8 names carried")  # fmt: skip
    assert wanted
    assert {f.cluster_id: f.new for f in outcome.carriage.fates}.items() >= wanted.items()
    assert len(outcome.carriage.fates) == 8


@pytest.mark.parametrize(("source", "target"), [("smollm2", "minilm"), ("minilm", "smollm2")])
def test_words_of_one_vocabulary_are_found_in_that_of_another_model(source: str, target: str) -> None:
    whole = Rows(filters=Filters(kinds=("word",), max_rank=2000), title="Frequent words")
    one, two = (spaces.build_space(Silent(), Recipe(model, rows=whole)) for model in (source, target))
    left, right = match_rows(row_names(one), row_names(two))

    spaced = one if source == "smollm2" else two
    assert all(name.startswith(" ") for name in spaced.names)
    both = [(one.names[i], two.names[j]) for i, j in zip(left, right, strict=True)]
    assert all(a.strip().casefold() == b.strip().casefold() for a, b in both)
    lower = [{name.strip().casefold() for name in space.names} for space in (one, two)]
    print(f"{source} to {target}: {len(one)} and {len(two)} words, {len(both)} found in both")
    assert len(both) >= len(lower[0] & lower[1]) > 1000


def test_a_word_list_and_the_vocabulary_it_is_looked_up_in_share_their_rows(everyday: Recipe) -> None:
    for model in ("smollm2", "minilm"):
        words = spaces.build_space(Silent(), Recipe(model, rows=everyday.rows))
        tokens = spaces.build_space(Silent(), Recipe(model, rows=Rows(title="Whole vocabulary")))
        left, right = match_rows(row_names(words), row_names(tokens))
        single = np.flatnonzero(words.row_ids >= 0)
        assert left.tolist() == single.tolist()
        assert (words.row_ids[left] == tokens.row_ids[right]).all()
