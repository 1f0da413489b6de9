"""Rows are found again by number, by name, and by the word behind a vocabulary's marks; each at most once."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kiruviz.analysis.row_match import RowNames, match_rows


def pairs(one: RowNames, two: RowNames) -> list[tuple[str, str]]:
    left, right = match_rows(one, two)
    return [(one.names[i], two.names[j]) for i, j in zip(left, right, strict=True)]


def test_rows_of_the_same_table_are_the_same_whatever_they_are_called() -> None:
    words = RowNames(["king", "two pieces"], np.array([4197, -1]), ["word", "word"], "m")
    tokens = RowNames(["king", " king", " two"], np.array([9, 4197, 7]), ["piece", "word", "word"], "m")
    assert pairs(words, tokens) == [("king", " king")]


def test_numbers_of_different_tables_mean_nothing() -> None:
    one = RowNames(["a", "b"], np.array([1, 2]), None, "m")
    two = RowNames(["b", "c"], np.array([1, 2]), None, "n")
    assert pairs(one, two) == [("b", "b")]


def test_a_byte_level_and_a_wordpiece_vocabulary_share_words_and_pieces() -> None:
    byte_level = RowNames(
        [" king", "king", "ing", " July", ",", " only"], None, ["word", "piece", "piece", "word", "punctuation", "word"]
    )
    wordpiece = RowNames(["king", "##ing", "july", ","], None, ["word", "piece", "word", "punctuation"])
    assert pairs(byte_level, wordpiece) == [(" king", "king"), ("ing", "##ing"), (" July", "july"), (",", ",")]


def test_the_exact_name_comes_before_a_likeness() -> None:
    one, two = RowNames(["July", "july", " july"]), RowNames([" july", "July", "july"])
    assert pairs(one, two) == [("July", "July"), ("july", "july"), (" july", " july")]


def test_equal_names_are_told_apart_by_their_numbers_where_no_table_is_named() -> None:
    one = RowNames(["?", "?", "x"], np.array([1, 2, 3]))
    two = RowNames(["?", "x", "?"], np.array([2, 3, 1]))
    assert [a.tolist() for a in match_rows(one, two)] == [[0, 1, 2], [2, 0, 1]]


def test_a_name_of_nothing_but_a_mark_keeps_itself() -> None:
    one, two = RowNames([" ", "", "##", "\n"]), RowNames(["\n", "##", " ", ""])
    assert pairs(one, two) == [(" ", " "), ("", ""), ("##", "##"), ("\n", "\n")]


names = st.lists(st.sampled_from(["a", "A", " a", "##a", "b", " ", ""]), max_size=12)


@settings(deadline=None)
@given(names, names)
def test_each_row_is_paired_at_most_once_and_no_pair_is_left_over(one: list[str], two: list[str]) -> None:
    left, right = match_rows(RowNames(one), RowNames(two))
    assert len(set(left.tolist())) == len(left) == len(set(right.tolist()))
    assert left.tolist() == sorted(left.tolist())
    rest_one = [one[i] for i in set(range(len(one))) - set(left.tolist())]
    rest_two = [two[j] for j in set(range(len(two))) - set(right.tolist())]

    def key(name: str) -> str:
        bare = name[1:] if name.startswith(" ") else name.removeprefix("##")
        return (bare or name).casefold()

    assert {key(name) for name in rest_one}.isdisjoint({key(name) for name in rest_two})
