"""Opening a model, making a Space, looking tokens up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kiruviz.errors import UserError
from kiruviz.models.opening import open_model
from kiruviz.progress import Silent
from kiruviz.space import Filters, Recipe, Rows, Transform
from kiruviz.tasks import spaces
from tests.tasks.conftest import EVERYDAY


def test_a_model_tells_its_tables_and_what_its_vocabulary_holds() -> None:
    smollm2, minilm = spaces.open_model(Silent(), "smollm2"), spaces.open_model(Silent(), "minilm")

    assert (smollm2.card.vocab_size, smollm2.card.hidden_size, smollm2.card.tied) == (49152, 576, True)
    assert smollm2.kinds == ("token", "output")
    assert minilm.kinds == ("token",)
    assert smollm2.has_tokenizer
    assert smollm2.token_kinds[0] == "word"
    assert smollm2.scripts[0] == "Latin"


def test_an_unknown_model_is_named() -> None:
    with pytest.raises(UserError, match="no file or folder 'nosuch'"):
        spaces.open_model(Silent(), "nosuch")


def test_the_everyday_words_are_one_row_each(everyday: Recipe) -> None:
    record = spaces.build_space(Silent(), everyday)

    assert record.names == EVERYDAY
    assert (record.row_ids >= 0).all()
    assert (record.columns["pieces"] == 1).all()
    assert record.recipe.identity == record.card["identity"]  # type: ignore[index]
    assert record.model_title == "SmolLM2-135M-Instruct"
    E = open_model("smollm2").table("token")
    np.testing.assert_array_equal(spaces.space(everyday).vectors, E[record.row_ids])


def test_a_space_is_made_once_for_all_jobs(everyday: Recipe) -> None:
    spaces.build_space(Silent(), replace(everyday, identity=""))

    before = spaces.space.cache_info().misses
    spaces.build_space(Silent(), everyday)
    assert spaces.space.cache_info().misses == before


@pytest.mark.parametrize("rule", ["mean", "first", "leave_out"])
def test_a_word_of_several_tokens_goes_by_the_rule(rule: str) -> None:
    E = open_model("smollm2").table("token")
    ids = [piece.token_id for piece in spaces.tokenize(Silent(), "smollm2", " San Francisco")]
    recipe = Recipe("smollm2", rows=Rows(words=("king", "San Francisco"), pieces=rule))  # type: ignore[arg-type]

    record = spaces.build_space(Silent(), recipe)

    counted = spaces.count_rows(Silent(), "smollm2", recipe.rows)
    assert counted.count == len(record)
    if rule == "leave_out":
        assert record.names == ("king",)
        assert counted.dropped == (("San Francisco", "2 tokens"),)
        return
    assert counted.several_pieces == 1
    assert record.columns["pieces"].tolist() == [1, 2]
    expected = E[ids].mean(axis=0) if rule == "mean" else E[ids[0]]
    assert record.row_ids[1] == (-1 if rule == "mean" else ids[0])
    np.testing.assert_allclose(spaces.space(record.recipe).vectors[1], expected, rtol=0, atol=1e-7)


def test_filters_and_the_count_agree() -> None:
    rows = Rows(filters=Filters(whole_words=True, scripts=("Latin",), pattern="^ [a-z]+ing$", max_rank=5000))

    record = spaces.build_space(Silent(), Recipe("smollm2", rows=rows))

    assert 50 < len(record) == spaces.count_rows(Silent(), "smollm2", rows).count
    assert all(name.startswith(" ") and name.endswith("ing") for name in record.names)
    assert set(record.columns["kind"]) == {"word"}


def test_the_whole_vocabulary_keeps_a_row_for_each_token() -> None:
    record = spaces.build_space(Silent(), Recipe("smollm2"))

    assert len(record) == spaces.count_rows(Silent(), "smollm2", Rows()).count == 49152
    assert record.row_ids.tolist() == list(range(49152))
    assert record.names[198] == "\n"
    left = spaces.rows_left_out("smollm2", record.recipe)
    assert (left.not_finite, left.without_token) == (0, 0)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (Rows(filters=Filters(pattern="[")), "no regular expression"),
        (Rows(filters=Filters(pattern="^qqqqq$")), "No row of SmolLM2-135M-Instruct is left"),
        (Rows(words=("queen",), filters=Filters(pattern="king")), "'queen': left out by the filters"),
    ],
)
def test_rows_that_leave_nothing_are_refused(rows: Rows, sentence: str) -> None:
    with pytest.raises(UserError) as refused:
        spaces.build_space(Silent(), Recipe("smollm2", rows=rows))
    assert sentence in str(refused.value)


def test_words_that_no_token_stands_for_are_named_with_the_reason() -> None:
    counted = spaces.count_rows(Silent(), "minilm", Rows(words=("king", "🦓🦓", "king")))

    assert counted.count == 1
    assert dict(counted.dropped) == {"king": "listed twice", "🦓🦓": "unknown to the tokenizer"}
    with pytest.raises(UserError, match="unknown to the tokenizer"):
        spaces.build_space(Silent(), Recipe("minilm", rows=Rows(words=("🦓🦓",), title="One word")))


def test_text_is_cut_into_tokens_whose_text_gives_it_back() -> None:
    text = 'The king said:\n\t"Good  day"'

    pieces = spaces.tokenize(Silent(), "smollm2", text)

    assert "".join(piece.text for piece in pieces) == text
    assert [piece.token_id for piece in pieces if piece.text == "\n"] == [198]
    assert {piece.kind for piece in pieces} >= {"word", "space", "punctuation"}
    assert spaces.tokenize(Silent(), "smollm2", "") == ()


@pytest.mark.parametrize(
    ("token", "row"),
    [("king", 644), (" king", 4197), ("sunflower", 28991), ("\n", 198), ("\t", 197), ('"', 18), (" ", 216)],
)
def test_a_token_is_the_exact_one_else_the_one_with_a_leading_space(token: str, row: int) -> None:
    assert spaces.find_row("smollm2", token) == row
    assert spaces.find_row("smollm2", str(row), by_id=True) == row
    assert spaces.token_text("smollm2", row).removeprefix(" " if token == "sunflower" else "") == token


def test_the_twin_with_a_leading_space_is_found() -> None:
    assert spaces.spaced_row("smollm2", 644) == 4197
    assert spaces.spaced_row("minilm", 2332) is None


@pytest.mark.parametrize("number", ["-1", "49152", "4.5", "", "king", "²", "--5", "9" * 5000, "1\n2"])
def test_a_row_number_that_is_none_is_refused(number: str) -> None:
    with pytest.raises(UserError) as refused:
        spaces.find_row("smollm2", number, by_id=True)
    assert "0 to 49151" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_is_not_one_token_is_refused_with_its_tokens() -> None:
    with pytest.raises(UserError) as refused:
        spaces.find_row("smollm2", "San Francisco\n\n\n")

    assert str(refused.value).startswith("“San Francisco↵↵↵” is not one token of SmolLM2-135M-Instruct but ")
    assert "“S" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("token", ["", "\udcff", "\0"])
def test_what_is_no_text_is_refused(token: str) -> None:
    with pytest.raises(UserError, match="is not one token"):
        spaces.find_row("minilm", token)


def test_another_model_under_the_same_name_is_refused(everyday: Recipe) -> None:
    with pytest.raises(UserError, match="its identity differs"):
        spaces.space(replace(everyday, identity="0" * 64))


def test_a_transform_is_fitted_on_the_whole_table_not_on_the_rows_shown(everyday: Recipe) -> None:
    centred = replace(everyday, transform=Transform(center=True))
    E = open_model("smollm2").table("token")
    row_ids = spaces.build_space(Silent(), centred).row_ids

    expected = E[row_ids] - E.mean(axis=0, dtype=np.float64)

    np.testing.assert_allclose(spaces.space(centred).vectors, expected, rtol=0, atol=1e-6)
