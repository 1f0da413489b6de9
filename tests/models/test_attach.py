"""A model without a tokenizer takes one later; SentencePiece models are read without their package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiruviz.errors import UserError
from kiruviz.models.attach import attach
from kiruviz.models.opening import open_model
from kiruviz.models.tokenizer import from_file
from tests.models.conftest import TABLE, WORDPIECES, MakeModel

FIXTURES = Path(__file__).parent / "fixtures"
SAID: dict[str, Any] = json.loads((FIXTURES / "sentencepiece.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_sentencepiece_model_cuts_texts_as_sentencepiece_does(kind: str) -> None:
    tokenizer = from_file(FIXTURES / f"sp-{kind}.model")
    assert [tokenizer.tokens[i] for i in range(tokenizer.size)] == SAID[f"{kind} pieces"]
    assert tokenizer.flavour == "sentencepiece"
    assert tokenizer.unknown == 0
    for text, ids in SAID[kind].items():
        assert tokenizer.encode(text) == ids, text


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff" * 40, b"\n\xff\xff\xff\xff\x0f", b"hello there"])
def test_what_is_no_sentencepiece_model_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"tokenizer\.model (is damaged or no SentencePiece|holds no Unigram or BPE)"):
        from_file(path)


def test_a_tokenizer_brought_later_names_the_rows_from_then_on(make_model: MakeModel, tmp_path: Path) -> None:
    folder = make_model({"note": "waits for a tokenizer"}, vocab=None)
    before = open_model(str(folder))
    assert before.tokenizer is None
    assert before.vocabulary().text[6] == "[row 6]"
    brought = tmp_path / "vocab.txt"
    brought.write_text("\n".join(WORDPIECES), encoding="utf-8")
    attach(before.identity, before.card.vocab_size, brought)
    after = open_model(str(folder))
    assert after.identity == before.identity
    assert after.vocabulary().text[6] == "king"
    assert after.vocabulary().find("queen") == 7
    np.testing.assert_array_equal(after.table(), before.table())


def test_a_tokenizer_of_another_model_is_refused(make_model: MakeModel, tmp_path: Path) -> None:
    model = open_model(str(make_model({"note": "waits for a tokenizer"}, vocab=None)))
    longer = tmp_path / "vocab.txt"
    longer.write_text("\n".join([*WORDPIECES, *(f"w{i}" for i in range(9))]), encoding="utf-8")
    with pytest.raises(UserError, match="has tokens up to row 24, but the table has 18 rows"):
        attach(model.identity, model.card.vocab_size, longer)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(UserError, match="cannot be used as a tokenizer"):
        attach(model.identity, model.card.vocab_size, tmp_path / "tokenizer.json")
    assert open_model(model.card.source).tokenizer is None
    assert TABLE in model.tensors
