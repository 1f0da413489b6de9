from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiruviz.errors import UserError
from kiruviz.models.checkpoint import Checkpoint
from kiruviz.models.opening import open_model
from kiruviz.models.rows import left_out, make_space, parse_words, read_words, resolve_words, select
from kiruviz.paths import resource
from kiruviz.space import Filters, PieceRule, Recipe, Rows, Transform

TABLE = "embeddings.word_embeddings.weight"
MakeModel = Callable[..., Path]


def test_words_files_of_any_make_are_read(tmp_path: Path) -> None:
    path = tmp_path / "w.txt"
    path.write_bytes("\ufeffking\r\n# a comment\r\n\r\n  New York \nnaïve\rqueen".encode())
    assert read_words(path) == ["king", "New York", "naïve", "queen"]


def test_words_files_that_are_wrong_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "w.txt"
    path.write_bytes(b"king\nqueen\ncaf\xe9\n")
    with pytest.raises(UserError, match=r"w.txt, line 3: not UTF-8 text"):
        read_words(path)
    path.write_bytes(b"# only comments\n\n")
    with pytest.raises(UserError, match="holds no words"):
        read_words(path)
    with pytest.raises(UserError, match="cannot be read"):
        read_words(tmp_path / "gone.txt")


@given(st.text())
def test_any_text_gives_words_or_one_sentence(text: str) -> None:
    try:
        words = parse_words(text, "w")
    except UserError:
        return
    assert all(word and word == word.strip() and "\n" not in word and word[0] != "#" for word in words)
    assert parse_words("\r\n".join(words), "w") == words


def test_the_everyday_words_are_one_token_each(smollm2: Checkpoint, minilm: Checkpoint) -> None:
    words = read_words(resource("words", "everyday-200.txt"))
    assert len(words) == len(set(words)) == 200
    for checkpoint in (smollm2, minilm):
        found = resolve_words(checkpoint, Rows(words=tuple(words), pieces="leave_out"))
        assert found.names == tuple(words)
        assert found.dropped == []
        assert (found.pieces == 1).all()
    vocab = smollm2.vocabulary()
    spaced = resolve_words(smollm2, Rows(words=tuple(words))).row_ids
    assert [vocab.text[row] for row in spaced] == [" " + word for word in words]


def test_the_everyday_words_fall_into_eight_groups_of_some_size(smollm2: Checkpoint) -> None:
    from sklearn.cluster import KMeans

    words = tuple(read_words(resource("words", "everyday-200.txt")))
    space = make_space(smollm2, Recipe("smollm2", rows=Rows(words=words)))
    np.testing.assert_array_equal(space.vectors, smollm2.table()[space.row_ids])
    groups = KMeans(n_clusters=8, n_init=10, random_state=0).fit_predict(space.vectors)
    assert np.bincount(groups).min() >= 10
    assert np.bincount(groups).max() <= 60


@pytest.mark.parametrize("rule", ["mean", "first", "leave_out"])
def test_a_word_of_several_tokens_goes_by_the_rule(smollm2: Checkpoint, rule: PieceRule) -> None:
    assert smollm2.tokenizer is not None
    ids = smollm2.tokenizer.encode(" Kiru")
    assert len(ids) == 2
    rows = Rows(words=("king", "Kiru"), pieces=rule)
    found = resolve_words(smollm2, rows)
    space = make_space(smollm2, Recipe("smollm2", rows=rows))
    table = smollm2.table()
    if rule == "leave_out":
        assert space.names == ("king",)
        assert found.dropped == [("Kiru", "2 tokens")]
        return
    assert space.names == ("king", "Kiru")
    assert space.columns["pieces"].tolist() == [1, 2]
    assert space.row_ids[1] == (-1 if rule == "mean" else ids[0])
    np.testing.assert_array_equal(space.vectors[1], table[ids].mean(axis=0) if rule == "mean" else table[ids[0]])
    assert found.piece_ids[1] == (tuple(ids) if rule == "mean" else (ids[0],))


def test_repeated_and_unknown_words_are_dropped_with_a_reason(minilm: Checkpoint) -> None:
    found = resolve_words(minilm, Rows(words=("king", "🙃🙃", "king", "queen", "king")))
    assert found.names == ("king", "queen")
    assert found.dropped == [("king", "listed twice")] * 2 + [("🙃🙃", "unknown to the tokenizer")]


def test_an_exact_token_that_only_lives_inside_words_is_found(smollm2: Checkpoint) -> None:
    vocab = smollm2.vocabulary()
    found = resolve_words(smollm2, Rows(words=("ization",)))
    assert found.row_ids.tolist() == [vocab.find_exact("ization")]


def test_filters_apply_to_words_too(smollm2: Checkpoint) -> None:
    words = ("the", "king", "Kiru", "да", "7")

    def kept(filters: Filters) -> tuple[str, ...]:
        found = resolve_words(smollm2, Rows(words=words, filters=filters))
        assert len(found.names) + len(found.dropped) == 5
        assert len(found.zipf) == len(found.kinds) == len(found.names)
        return found.names

    assert kept(Filters(pattern="^.{3,4}$")) == ("the", "king", "Kiru")
    assert kept(Filters(scripts=("Cyrillic",))) == ("да",)
    assert kept(Filters(max_rank=10)) == ("the",)
    assert kept(Filters(kinds=("number",))) == ("7",)
    assert kept(Filters(whole_words=True)) == ("the", "king", "Kiru", "да")


def test_word_frequencies_are_those_of_the_word(smollm2: Checkpoint) -> None:
    import wordfreq

    found = resolve_words(smollm2, Rows(words=("King", "kings", "Kiru", "New York")))
    expected = [wordfreq.zipf_frequency(word, "en") for word in ("King", "kings", "Kiru")]
    np.testing.assert_allclose(found.zipf[:3], expected, atol=0.0051)
    assert np.isnan(found.zipf[3])


def test_no_tokenizer_means_no_words(make_model: MakeModel) -> None:
    checkpoint = open_model(str(make_model(vocab=None)))
    with pytest.raises(UserError, match="toy has no tokenizer beside its weights"):
        resolve_words(checkpoint, Rows(words=("king",)))
    assert len(make_space(checkpoint, Recipe("toy"))) == 18


def test_the_whole_vocabulary_is_a_view_of_the_table(smollm2: Checkpoint) -> None:
    space = make_space(smollm2, Recipe("smollm2"))
    assert np.shares_memory(space.vectors, smollm2.table())
    assert space.names is smollm2.vocabulary().text
    assert space.recipe.identity == smollm2.identity
    assert space.row_ids.tolist() == list(range(49152))
    assert {name: column.dtype.kind for name, column in space.columns.items()} == {
        "pieces": "i", "norm": "f", "zipf": "f", "kind": "U", "script": "U",
    }  # fmt: skip


def test_the_same_recipe_gives_the_same_space(smollm2: Checkpoint) -> None:
    recipe = Recipe.from_json(Recipe("smollm2", rows=Rows(words=("king", "Kiru"))).to_json())
    first, second = make_space(smollm2, recipe), make_space(open_model("smollm2"), recipe)
    np.testing.assert_array_equal(first.vectors, second.vectors)
    assert first.recipe == second.recipe


def test_filters_choose_ascending_rows(smollm2: Checkpoint) -> None:
    vocab = smollm2.vocabulary()
    common = select(vocab, Filters(whole_words=True, max_rank=100))
    assert (np.diff(common) > 0).all()
    assert set(vocab.kind[common]) == {"word"}
    assert {" the", " The"} <= {vocab.text[row] for row in common}
    assert set(vocab.script[select(vocab, Filters(scripts=("Greek", "Thai")))]) == {"Greek", "Thai"}
    spaces = select(vocab, Filters(kinds=("space",)))
    space = make_space(smollm2, Recipe("smollm2", rows=Rows(filters=Filters(kinds=("space",)))))
    assert space.names == tuple(vocab.text[row] for row in spaces)
    assert "\n" in space.names
    np.testing.assert_array_equal(space.vectors, smollm2.table()[spaces])


def test_a_pattern_that_is_wrong_is_named(smollm2: Checkpoint) -> None:
    with pytest.raises(UserError, match=r"'\(a' is no regular expression .*position 0"):
        select(smollm2.vocabulary(), Filters(pattern="(a"))


def test_no_row_left_is_a_sentence(smollm2: Checkpoint) -> None:
    with pytest.raises(UserError, match="No row of SmolLM2-135M-Instruct is left"):
        make_space(smollm2, Recipe("smollm2", rows=Rows(filters=Filters(pattern="no such token"))))


def test_odd_rows_are_left_out_and_counted_and_zero_rows_stay(make_model: MakeModel) -> None:
    rows = np.arange(72, dtype=np.float32).reshape(18, 4)
    rows[0], rows[7, 1], rows[17] = 0, np.inf, np.nan
    checkpoint = open_model(str(make_model(tensors={TABLE: rows})))
    recipe = Recipe("toy")
    space = make_space(checkpoint, recipe)
    assert space.row_ids.tolist() == [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15]
    np.testing.assert_array_equal(space.vectors, rows[space.row_ids])
    counted = left_out(checkpoint, recipe)
    assert (counted.not_finite, counted.without_token) == (1, 2)
    with_unused = make_space(checkpoint, Recipe("toy", rows=Rows(filters=Filters(unused=True))))
    assert with_unused.row_ids.tolist() == [*space.row_ids, 16]
    found = resolve_words(checkpoint, Rows(words=("king", "queen")))
    assert (found.names, found.dropped) == (("king",), [("queen", "its row holds NaN or infinite values")])


def test_an_output_table_of_its_own_is_shown_with_its_own_norms(make_model: MakeModel) -> None:
    rng = np.random.default_rng(0)
    token, output = (rng.normal(size=(18, 4)).astype(np.float32) for _ in range(2))
    tensors = {"model.embed_tokens.weight": token, "lm_head.weight": output}
    checkpoint = open_model(str(make_model({"model_type": "llama"}, tensors)))
    space = make_space(checkpoint, Recipe("toy", kind="output"))
    np.testing.assert_array_equal(space.vectors, output[:16])
    np.testing.assert_allclose(space.columns["norm"], np.linalg.norm(output[:16], axis=1), rtol=1e-6)


def test_a_transform_is_fitted_on_the_table_and_norms_stay_untransformed(smollm2: Checkpoint) -> None:
    rows = Rows(words=("king", "queen"))
    plain = make_space(smollm2, Recipe("smollm2", rows=rows))
    centred = make_space(smollm2, Recipe("smollm2", rows=rows, transform=Transform(center=True)))
    mean = smollm2.table().mean(axis=0, dtype=np.float64)
    np.testing.assert_allclose(centred.vectors, plain.vectors - mean, atol=1e-6)
    np.testing.assert_array_equal(centred.columns["norm"], plain.columns["norm"])
