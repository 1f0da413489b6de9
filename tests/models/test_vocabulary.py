from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import wordfreq
from safetensors.numpy import save_file

from kiruviz.models import cache, vocabulary
from kiruviz.models.checkpoint import Checkpoint
from kiruviz.models.opening import open_model
from kiruviz.models.token_text import KINDS, decode, kind_of, kind_of_special, script_of

TABLE = "embeddings.word_embeddings.weight"
MakeModel = Callable[..., Path]


@pytest.mark.parametrize(
    ("raw", "text", "partial"),
    [
        ("Ġking", " king", False), ("Ċ", "\n", False), ("ĉ", "\t", False), ("Ġ", " ", False), ("Ã©", "é", False),
        ("âĢ", "<0xE2 0x80>", True), ("Ġâ", "<0x20 0xE2>", True), ('"', '"', False), ("日", "日", False),
    ],
)  # fmt: skip
def test_byte_level_tokens_show_what_they_are(raw: str, text: str, partial: bool) -> None:
    assert decode(raw, "bytelevel") == (text, partial)


def test_sentencepiece_and_wordpiece_tokens_show_what_they_are() -> None:
    assert decode("▁the", "sentencepiece") == (" the", False)
    assert decode("<0x0A>", "sentencepiece") == ("<0x0A>", True)
    assert decode("##ing", "wordpiece") == ("##ing", False)


@pytest.mark.parametrize(
    ("text", "flavour", "kind"),
    [
        (" king", "bytelevel", "word"), ("king", "bytelevel", "piece"), (" don't", "bytelevel", "word"),
        (" 12", "bytelevel", "number"), ("½", "bytelevel", "number"), (" (", "bytelevel", "punctuation"),
        ("+=", "bytelevel", "punctuation"), (" ", "bytelevel", "space"), ("\n\n", "bytelevel", "space"),
        ("  ", "bytelevel", "space"), ("a1", "bytelevel", "other"), ("🙂", "bytelevel", "other"),
        ("日本", "bytelevel", "word"), (" हिन्दी", "sentencepiece", "word"), ("", "bytelevel", "other"),
        ("king", "wordpiece", "word"), ("##ing", "wordpiece", "piece"), ("##7", "wordpiece", "number"),
        ("##", "wordpiece", "punctuation"), ("##日", "wordpiece", "piece"), ("[unused7]", "wordpiece", "unused"),
    ],
)  # fmt: skip
def test_kinds(text: str, flavour: str, kind: str) -> None:
    assert kind_of(text, flavour) == kind  # type: ignore[arg-type]
    assert kind in KINDS


def test_spare_tokens_are_unused_and_the_others_special() -> None:
    for spare in ("[unused12]", "<unused3>", "<|reserved_special_token_9|>"):
        assert kind_of_special(spare) == "unused"
    assert kind_of_special("<|im_start|>") == "special"


@pytest.mark.parametrize(
    ("text", "script"),
    [(" king", "Latin"), ("é", "Latin"), ("да", "Cyrillic"), ("日", "Han"), ("か", "Hiragana"), ("ｶ", "Katakana"),
     ("한", "Hangul"), ("ع", "Arabic"), ("λ", "Greek"), ("हि", "Devanagari"), ("ก", "Thai"), ("Ａ", "Latin"),
     ("123", ""), ("...", ""), ("", ""), ("ʰ", ""), ("3rd", "Latin"), ("ﬁ", "Latin")],
)  # fmt: skip
def test_scripts(text: str, script: str) -> None:
    assert script_of(text) == script


def test_every_row_of_the_first_starter_is_described(smollm2: Checkpoint) -> None:
    vocab = smollm2.vocabulary()
    assert len(vocab) == 49152
    assert set(vocab.kind) <= set(KINDS)
    assert vocab.named.all()
    assert vocab.finite.all()
    king = vocab.find(" king")
    assert king is not None
    assert (vocab.text[king], vocab.raw[king], vocab.kind[king]) == (" king", "Ġking", "word")
    for odd in ("\n", "\t", " ", '"', ","):
        row = vocab.find(odd)
        assert row is not None
        assert vocab.text[row] == odd


def test_find_takes_the_exact_token_and_else_the_one_with_a_space(smollm2: Checkpoint) -> None:
    vocab = smollm2.vocabulary()
    assert vocab.find("king") == vocab.find_exact("king") != vocab.find_exact(" king")
    only_spaced = next(text for text in vocab.text if text.startswith(" ") and vocab.find_exact(text[1:]) is None)
    assert vocab.find(only_spaced[1:]) == vocab.find_exact(only_spaced)
    assert vocab.find("no such token") is None


def test_frequencies_equal_those_of_wordfreq(smollm2: Checkpoint) -> None:
    vocab = smollm2.vocabulary()
    words = [i for i in range(0, len(vocab), 61) if vocab.kind[i] == "word"]
    for row in words:
        expected = wordfreq.zipf_frequency(vocab.text[row].strip(), "en")
        if np.isnan(vocab.zipf[row]):
            assert vocab.rank[row] == 0
            assert expected == 0 or not vocab.text[row].strip().isascii()
        else:
            assert vocab.zipf[row] == pytest.approx(expected, abs=0.0051)
    the = vocab.find(" the")
    assert vocab.rank[the] == 1
    assert np.isnan(vocab.zipf[vocab.kind != "word"]).all()
    assert (vocab.rank[vocab.kind != "word"] == 0).all()


def test_norms_are_those_of_float64(minilm: Checkpoint) -> None:
    expected = np.linalg.norm(minilm.table().astype(np.float64), axis=1)
    np.testing.assert_allclose(minilm.vocabulary().norm, expected, rtol=1e-14)


def test_padded_rows_are_flagged_and_odd_rows_do_not_warn(make_model: MakeModel) -> None:
    rows = np.ones((18, 4), dtype=np.float32)
    rows[2], rows[3, 1], rows[6] = 0, np.nan, np.finfo(np.float32).max
    rows[4, 2] = np.inf
    vocab = open_model(str(make_model(tensors={TABLE: rows}))).vocabulary()
    assert vocab.kind.tolist()[16:] == ["padding", "padding"]
    assert np.flatnonzero(~vocab.finite).tolist() == [3, 4]
    assert vocab.norm[2] == 0
    assert np.isfinite(vocab.norm[6])
    assert vocab.text[16] == "[row 16]"
    assert vocab.find("[row 16]") is None
    assert vocab.kind.tolist()[:6] == ["special"] * 5 + ["unused"]


def test_without_a_tokenizer_rows_go_by_number(make_model: MakeModel) -> None:
    checkpoint = open_model(str(make_model(vocab=None)))
    vocab = checkpoint.vocabulary()
    assert vocab.text[:2] == ("[row 0]", "[row 1]")
    assert vocab.named.all()
    assert checkpoint.card.rows_without_token == 0


def test_more_tokens_than_rows_are_ignored(make_model: MakeModel) -> None:
    many = [f"t{i}" for i in range(30)]
    assert open_model(str(make_model(vocab=many))).vocabulary().text == tuple(many[:18])


def test_the_cached_vocabulary_equals_the_computed_one(smollm2: Checkpoint, tmp_path: Path) -> None:
    made = smollm2.vocabulary()
    vocabulary.cached(tmp_path, lambda: made)
    started = time.perf_counter()
    again = vocabulary.cached(tmp_path, pytest.fail)
    assert time.perf_counter() - started < 1.0
    assert again.text == made.text
    assert again.raw == made.raw
    for column in ("kind", "script", "zipf", "rank", "norm", "finite"):
        np.testing.assert_array_equal(getattr(again, column), getattr(made, column))


def test_a_damaged_cache_is_computed_again(make_model: MakeModel, own_cache: Path) -> None:
    folder = make_model()
    checkpoint = open_model(str(folder))
    text = checkpoint.vocabulary().text
    stored = next(cache.model_folder(checkpoint.identity).glob("vocabulary-*.npz"))
    for damage in (b"", b"PK\x03\x04 no", stored.read_bytes()[:-40]):
        stored.write_bytes(damage)
        assert open_model(str(folder)).vocabulary().text == text


def test_unigram_tokenizers_are_read(tmp_path: Path, make_model: MakeModel) -> None:
    import json

    folder = make_model(vocab=None, config={"vocab_size": 4})
    save_file({TABLE: np.ones((4, 4), dtype=np.float32)}, folder / "model.safetensors")
    spec = {
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["▁king", -1], ["s", -2], ["▁", -3]]},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "added_tokens": [],
    }
    (folder / "tokenizer.json").write_text(json.dumps(spec))
    checkpoint = open_model(str(folder))
    assert checkpoint.vocabulary().text == ("<unk>", " king", "s", " ")
    assert checkpoint.vocabulary().kind.tolist() == ["special", "word", "piece", "space"]
    assert checkpoint.tokenizer is not None
    assert checkpoint.tokenizer.encode("kings") == [1, 2]
