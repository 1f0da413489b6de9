"""The label operations on their own: what each changes, and what it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest

from kiruviz.errors import UserError
from kiruviz.session import edits
from kiruviz.session.edits import Edit
from kiruviz.session.labels import Answer, Cluster, LabelProgress, LabelSet


def _labels(*owners: int, **named: str) -> LabelSet:
    ids = sorted(set(owners) - {-1})
    clusters = {i: Cluster(i, color=i, time=1.0) for i in ids}
    labels = LabelSet(1, 1, "kmeans", {}, np.array(owners, np.int32), clusters)
    for key, name in named.items():
        labels = _after(labels, edits.rename(labels, int(key[1:]), name, 1.0))
    return labels


def _after(labels: LabelSet, edit: Edit | None) -> LabelSet:
    assert edit is not None
    done = edit.patch.apply(labels)
    undone = edit.patch.inverse().apply(done)
    assert undone.clusters == labels.clusters
    assert np.array_equal(undone.assignment, labels.assignment)
    return done


def test_a_name_is_trimmed_and_an_empty_one_clears() -> None:
    labels = _labels(0, 0, 1)
    named = _after(labels, edits.rename(labels, 0, "  months \n", 5.0))
    assert (named.clusters[0].status, named.clusters[0].title, named.clusters[0].time) == ("named", "months", 5.0)
    cleared = _after(named, edits.rename(named, 0, "   ", 6.0))
    assert (cleared.clusters[0].status, cleared.clusters[0].title) == ("unnamed", "unnamed 0")


def test_half_characters_of_a_paste_do_not_reach_the_file() -> None:
    labels = _labels(0)
    assert _after(labels, edits.rename(labels, 0, "a\ud800b", 1.0)).clusters[0].name == "a?b"


def test_the_titles_are_for_people() -> None:
    labels = _labels(0, 1, 2, 2, _0="months")
    titles = [
        edit.title
        for edit in (
            edits.rename(labels, 1, "days", 1.0),
            edits.resist(labels, 2, "", 1.0),
            edits.merge(labels, [2, 0, 1], 1.0),
            edits.move(labels, [0], 1, 1.0),
            edits.set_aside(labels, [0, 1], 1.0),
            edits.split(labels, 2, np.array([0, 1]), 1.0),
        )
        if edit is not None
    ]
    assert titles == [
        "name cluster 1 “days”",
        "mark 2 as resisting",
        "merge 2, 0 and 1",
        "move 1 row to 1",
        "set aside 2 rows",
        "split 2 into 2",
    ]


def test_resisting_keeps_the_note_unless_one_is_given() -> None:
    labels = _labels(0)
    labels = _after(labels, edits.set_note(labels, 0, " mixed ", 1.0))
    resisting = _after(labels, edits.resist(labels, 0, None, 1.0))
    assert (resisting.clusters[0].title, resisting.clusters[0].note) == ("resists naming", "mixed")
    assert _after(resisting, edits.resist(resisting, 0, "", 1.0)).clusters[0].note == ""


def test_clearing_takes_name_and_confidence_but_not_the_note() -> None:
    labels = _labels(0, _0="months")
    labels = _after(labels, edits.set_confidence(labels, 0, 3, 1.0))
    labels = _after(labels, edits.set_note(labels, 0, "why", 1.0))
    cluster = _after(labels, edits.clear(labels, 0, 9.0)).clusters[0]
    assert cluster == Cluster(0, note="why", time=9.0)


def test_what_changes_nothing_is_no_edit() -> None:
    labels = _labels(0, 0, 1, -1, _0="months")
    assert edits.rename(labels, 0, " months", 9.0) is None
    assert edits.clear(labels, 1, 9.0) is None
    assert edits.set_note(labels, 0, "", 9.0) is None
    assert edits.set_confidence(labels, 0, 0, 9.0) is None
    assert edits.merge(labels, [0, 0], 9.0) is None
    assert edits.split(labels, 0, np.array([4, 4]), 9.0) is None
    assert edits.new(labels, [], 9.0) is None
    assert edits.new(labels, [1, 0], 9.0) is None, "they are a cluster already, and it has a name"
    assert edits.move(labels, [0], 0, 9.0) is None
    assert edits.set_aside(labels, [3], 9.0) is None


def test_a_merge_keeps_the_first_ones_label_and_color() -> None:
    labels = _labels(0, 1, 2, _1="days", _2="months")
    merged = _after(labels, edits.merge(labels, [2, 1], 9.0))
    assert merged.assignment.tolist() == [0, 2, 2]
    assert merged.clusters[2] == labels.clusters[2]
    assert 1 not in merged.clusters


def test_a_merge_into_an_unnamed_cluster_does_not_lose_the_only_name() -> None:
    labels = _labels(0, 1, _1="days")
    merged = _after(labels, edits.merge(labels, [0, 1], 9.0))
    assert (merged.clusters[0].name, merged.clusters[0].color) == ("days", 1)


def test_the_largest_part_of_a_split_keeps_the_name() -> None:
    labels = _labels(5, 5, 5, 5, 5, 5, 7, _5="numbers")
    split = _after(labels, edits.split(labels, 5, np.array([3, 9, 9, 9, -1, 3]), 9.0))
    assert split.assignment.tolist() == [8, 5, 5, 5, -1, 8, 7]
    assert split.clusters[5].name == "numbers"
    assert split.clusters[8] == Cluster(8, color=0, time=9.0)
    with pytest.raises(ValueError):
        edits.split(labels, 5, np.array([0, 1]), 9.0)


def test_a_cluster_without_rows_vanishes_and_comes_back_with_its_name() -> None:
    labels = _labels(0, 0, 1, _0="months")
    gone = _after(labels, edits.set_aside(labels, [0, 1], 9.0))  # _after also checks the way back
    assert list(gone.clusters) == [1]
    moved = _after(labels, edits.move(labels, [0, 1], 1, 9.0))
    assert list(moved.clusters) == [1]
    assert moved.sizes() == {1: 3}


def test_a_split_into_noise_alone_leaves_no_cluster() -> None:
    labels = _labels(0, 0)
    assert _after(labels, edits.split(labels, 0, np.array([-1, -1]), 9.0)).clusters == {}


def test_new_takes_rows_from_anywhere() -> None:
    labels = _labels(0, 0, 1, -1)
    made = _after(labels, edits.new(labels, [3, 1, 2, 1], 9.0))
    assert made.assignment.tolist() == [0, 2, 2, 2]
    assert made.order == [0, 2]


def test_a_cluster_or_a_row_that_is_not_there() -> None:
    labels = _labels(0, 0)
    with pytest.raises(UserError, match="Cluster 4"):
        edits.rename(labels, 4, "x", 1.0)
    with pytest.raises(UserError, match="Cluster -1"):
        edits.move(labels, [0], -1, 1.0)
    with pytest.raises(ValueError):
        edits.set_aside(labels, [2], 1.0)
    with pytest.raises(ValueError):
        edits.set_aside(labels, [-1], 1.0)
    with pytest.raises(ValueError):
        edits.set_confidence(labels, 0, 4, 1.0)


def test_a_set_counts_itself() -> None:
    labels = _labels(3, 1, 1, -1, 4, _1="days")
    labels = _after(labels, edits.resist(labels, 4, "", 1.0))
    assert labels.order == [1, 3, 4]
    assert labels.sizes() == {1: 2, 3: 1, 4: 1}
    assert labels.members(1).tolist() == [1, 2]
    assert labels.members(-1).dtype == np.int64
    assert labels.progress() == LabelProgress(named=1, resists=1, unnamed=1, total=3)
    with pytest.raises(ValueError):
        labels.assignment[0] = 1


def test_next_unnamed_wraps_around() -> None:
    labels = _labels(0, 1, 2, 3, _1="x")
    assert [labels.next_unnamed(after) for after in (None, 0, 2, 3)] == [0, 2, 3, 0]
    done = _labels(0, _0="x")
    assert done.next_unnamed(None) is None
    only = _labels(0, 1, _1="x")
    assert only.next_unnamed(0) == 0


def test_carried_clusters_take_label_and_color_with_them() -> None:
    former = _labels(0, 1, 2, _1="days").clusters
    clusters = edits.new_clusters(np.array([0, 1, 2, 3, -1], np.int32), {2: (0, 1), 3: (2,), 9: (0,)}, former, 7.0)
    assert clusters[2] == Cluster(2, "named", "days", color=1, time=1.0)
    assert clusters[3] == Cluster(3, color=2, time=1.0)
    assert (clusters[0], clusters[1]) == (Cluster(0, color=0, time=7.0), Cluster(1, color=3, time=7.0))
    assert sorted(clusters) == [0, 1, 2, 3]


def test_several_answers_are_one_action() -> None:
    labels = _labels(0, 0, 1, 2, 2, _0="old")
    answers = {0: Answer("named", " new ", "was old", 3), 2: Answer("resists", "ignored", "odd")}
    done = _after(labels, edits.adopt(labels, answers, [], "take over", 5.0))
    assert [Answer.of(done.clusters[i]) for i in range(3)] == [
        Answer("named", "new", "was old", 3),
        Answer(),
        Answer("resists", "", "odd"),
    ]
    assert edits.adopt(done, answers, [], "again", 9.0) is None
    with pytest.raises(UserError, match="Cluster 7 is no longer"):
        edits.adopt(labels, {7: Answer()}, [], "gone", 5.0)
    with pytest.raises(ValueError, match="confidence"):
        edits.adopt(labels, {0: Answer(confidence=4)}, [], "odd", 5.0)


def test_rows_come_back_as_a_cluster_with_their_answer() -> None:
    labels = _labels(0, 0, 1, 1, 2, -1, _1="kept")
    months = Answer("named", "months", "twelve", 2)
    done = _after(labels, edits.adopt(labels, {}, [([1, 4, 5], months)], "bring back", 5.0))
    assert done.assignment.tolist() == [0, 3, 1, 1, 3, 3]
    assert Answer.of(done.clusters[3]) == months
    assert sorted(done.clusters) == [0, 1, 3]
    assert done.clusters[1].name == "kept"


def test_rows_that_are_a_cluster_of_their_own_give_it_the_answer() -> None:
    labels = _labels(0, 0, 1, 1)
    done = _after(labels, edits.adopt(labels, {}, [([1, 0], Answer("named", "a"))], "bring back", 5.0))
    assert done.assignment.tolist() == labels.assignment.tolist()
    assert done.clusters[0].name == "a"


def test_a_color_that_two_clusters_are_given_stays_with_the_first() -> None:
    owners = np.array([0, 1, 2, 3], np.int32)
    given = {2: Cluster(9, "named", "first", color=1), 0: Cluster(9, "named", "second", color=1), 7: Cluster(7)}
    clusters = edits.new_clusters(owners, {1: (5,)}, {5: Cluster(5, color=0)}, 5.0, given)
    assert {i: (c.cluster_id, c.name, c.color) for i, c in clusters.items()} == {
        2: (2, "first", 1),
        1: (1, "", 0),
        0: (0, "second", 2),
        3: (3, "", 3),
    }


def test_new_clusters_take_the_colours_chosen_for_them_and_heirs_keep_theirs() -> None:
    owners = np.array([0, 1, 2, 3], np.int32)
    former = {5: Cluster(5, "named", "months", color=7)}
    found = edits.new_clusters(owners, {1: (5,)}, former, 1.0, colors={0: 20, 1: 21, 3: 20})
    assert {i: cluster.color for i, cluster in found.items()} == {0: 20, 1: 7, 2: 0, 3: 20}
    assert found[1].name == "months"


def test_of_many_clusters_two_that_share_a_colour_both_carry_it_over_and_of_few_one_gets_another() -> None:
    given = {0: Cluster(0, "named", "a", color=4), 1: Cluster(1, "named", "b", color=4)}
    many = edits.new_clusters(np.arange(40, dtype=np.int32), {}, {}, 1.0, given)
    few = edits.new_clusters(np.arange(10, dtype=np.int32), {}, {}, 1.0, given)
    assert [many[0].color, many[1].color] == [4, 4]
    assert [few[0].color, few[1].color] == [4, 0]


def test_a_split_and_a_new_cluster_take_the_colours_they_are_given() -> None:
    labels = _labels(0, 0, 0, 0, 1)
    split = _after(labels, edits.split(labels, 0, np.array([0, 1, 2, 2]), 1.0, [30]))
    assert {i: cluster.color for i, cluster in split.clusters.items()} == {0: 0, 1: 1, 2: 30, 3: 2}
    made = _after(labels, edits.new(labels, [0, 1], 1.0, [31]))
    assert made.clusters[2].color == 31


def test_recolouring_changes_colours_alone_and_only_of_clusters_there_are() -> None:
    labels = _labels(0, 1, 2, _0="months")
    edit = edits.recolor(labels, {1: 9, 2: 2, 8: 4}, 5.0)
    done = _after(labels, edit)
    assert {i: cluster.color for i, cluster in done.clusters.items()} == {0: 0, 1: 9, 2: 2}
    assert done.clusters[0] == labels.clusters[0]
    assert edit is not None
    assert edit.title == "recolour the clusters"
    assert edits.recolor(labels, {0: 0, 1: 1}, 5.0) is None
