import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kiruviz.analysis.carry import Carried, carry_over

NAMES = [f"w{i}" for i in range(12)]


def test_renumbered_clusters_keep_their_names() -> None:
    old = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2]
    new = [2, 2, 2, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    result = carry_over(NAMES, old, NAMES, new)
    assert result.mapping == {2: 0, 0: 1, 1: 2}
    assert result.carried[0] == Carried(new=0, old=1, jaccard=1.0)
    assert result.dropped == ()


def test_only_rows_that_both_have_count() -> None:
    result = carry_over(["a", "b", "c", "gone"], [0, 0, 1, 1], ["new", "c", "a", "b"], [5, 5, 6, 6])
    assert result.mapping == {5: 1, 6: 0}
    assert all(c.jaccard == 1.0 for c in result.carried)


def test_a_cluster_that_is_scattered_is_dropped_and_reported() -> None:
    old = [0] * 4 + [1] * 4 + [2] * 4
    new = [0, 1, 2, 3] + [1] * 4 + [2] * 4
    result = carry_over(NAMES, old, NAMES, new, min_jaccard=0.3)
    assert result.mapping == {1: 1, 2: 2}
    assert result.dropped == (0,)


def test_nothing_in_common_drops_all() -> None:
    assert carry_over(["a"], [0], ["b"], [0]).dropped == (0,)
    assert carry_over([], [], ["b"], [0]).mapping == {}
    assert carry_over(["a", "b"], [0, 1], [], []).dropped == (0, 1)


def test_noise_is_in_no_cluster() -> None:
    result = carry_over(NAMES[:4], [-1, -1, 0, 0], NAMES[:4], [0, 0, -1, -1])
    assert result.mapping == {}
    assert result.dropped == (0,)


def test_equal_names_of_several_rows_count_each() -> None:
    result = carry_over(["x", "x", "x"], [0, 1, 1], ["x", "x", "x"], [1, 0, 0])
    assert result.mapping == {1: 0, 0: 1}


def test_two_small_overlaps_do_not_break_up_a_pair_that_is_half_alike() -> None:
    # Old 0 is 6 of new 0's 10 rows; the rest would gain more by swapping.
    old = [0] * 6 + [1] * 4 + [2] * 2
    new = [0] * 10 + [1] * 2
    result = carry_over(NAMES, old, NAMES, new)
    assert result.mapping[0] == 0


assignments = st.lists(st.integers(-1, 5), min_size=1, max_size=60)


@settings(deadline=None, max_examples=60)
@given(assignments, st.randoms(use_true_random=False))
def test_every_cluster_more_than_half_alike_is_carried_once(old: list[int], random: object) -> None:
    new = [c if random.random() < 0.8 else random.randint(-1, 6) for c in old]  # type: ignore[attr-defined]
    names = [str(i) for i in range(len(old))]
    result = carry_over(names, old, names, new)
    was, now = np.array(old), np.array(new)
    for a in set(old) - {-1}:
        for b in set(new) - {-1}:
            jaccard = ((was == a) & (now == b)).sum() / ((was == a) | (now == b)).sum()
            if jaccard > 0.5:
                assert result.mapping[b] == a
    assert len(set(result.mapping.values())) == len(result.mapping)
    assert set(result.mapping.values()) | set(result.dropped) == set(old) - {-1}
    assert all(c.jaccard >= 0.25 for c in result.carried)
