from __future__ import annotations

import json
from pathlib import Path

import pytest

from kiruviz.errors import UserError
from kiruviz.models.checkpoint import Checkpoint
from kiruviz.models.tokenizer import Tokenizer, byte_bpe_model, from_folder
from kiruviz.models.tokenizer import as_json as make_json

TEXTS = [
    "", " ", "king", " king", "The king's 3 crowns cost 12,345.67 euros!", "don't we'll I'VE", "a\tb\n\nc\r\n  d",
    "naïve café — “quotes” …", "日本語 русский عربي हिन्दी ελληνικά", "🙂👍🏽 mixed emoji🙂text", "x" * 300,
    "def f(x):\n    return x**2  # comment", "http://example.org/?q=1&r=2", "1234567890", "v1.2.3-beta4",
    "ALLCAPS CamelCase snake_case", "\x00\x01\x7f", "ﬀ Ǆ İ ß", "<|im_start|>user\nhi<|im_end|>", "    indented",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_the_gguf_starter_cuts_texts_as_transformers_does(smollm2: Checkpoint) -> None:
    from transformers import AutoTokenizer

    path = Path(smollm2.card.path)
    reference = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    tokenizer = smollm2.tokenizer
    assert tokenizer is not None
    assert tokenizer.size == len(reference) == 49152
    for text in TEXTS:
        assert tokenizer.encode(text) == reference(text, add_special_tokens=False).input_ids, text
    for row in range(0, 49152, 37):
        assert tokenizer.tokens[row] == reference.convert_ids_to_tokens(row)


def test_digits_stand_alone_even_after_spaces(smollm2: Checkpoint) -> None:
    # The published tokenizer splits digits off first ("pre" is "smollm"), which transformers' reading of the
    # GGUF file leaves out: there a space sticks to the digit, and " ½" falls into half characters.
    tokenizer = smollm2.tokenizer
    assert tokenizer is not None
    assert [tokenizer.tokens[row] for row in tokenizer.encode("a  12")] == ["a", "ĠĠ", "1", "2"]
    assert [tokenizer.tokens[row] for row in tokenizer.encode(" ½")] == ["Ġ", "Â½"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_the_second_starter_cuts_texts_as_transformers_does(minilm: Checkpoint) -> None:
    from transformers import AutoTokenizer

    reference = AutoTokenizer.from_pretrained(Path(minilm.card.path).parent)
    assert minilm.tokenizer is not None
    for text in TEXTS:
        assert minilm.tokenizer.encode(text) == reference(text, add_special_tokens=False).input_ids, text


def test_long_texts_are_not_cut_and_short_ones_not_padded(minilm: Checkpoint) -> None:
    # The starter's tokenizer.json asks for 128 tokens, no more and no fewer.
    assert minilm.tokenizer is not None
    assert len(minilm.tokenizer.encode("king " * 200)) == 200
    assert len(minilm.tokenizer.encode("king")) == 1


def test_a_vocab_txt_alone_equals_the_tokenizer_json(minilm: Checkpoint, tmp_path: Path) -> None:
    source = Path(minilm.card.path).parent
    (tmp_path / "vocab.txt").write_bytes((source / "vocab.txt").read_bytes())
    made = from_folder(tmp_path)
    assert made is not None
    assert minilm.tokenizer is not None
    assert made.flavour == "wordpiece"
    assert made.tokens == minilm.tokenizer.tokens
    assert made.special == minilm.tokenizer.special
    for text in TEXTS:
        if "<|" not in text:
            assert made.encode(text) == minilm.tokenizer.encode(text), text


def test_vocab_json_and_merges_make_a_byte_level_tokenizer(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(json.dumps({"a": 0, "b": 1, "ab": 2, "Ġ": 3, "Ġab": 4, "<s>": 5}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\nĠ ab\n", encoding="utf-8")
    made = from_folder(tmp_path)
    assert made is not None
    assert made.flavour == "bytelevel"
    assert (made.encode("ab"), made.encode(" ab")) == ([2], [4])
    assert made.special == {5}


def test_no_tokenizer_files_give_none(tmp_path: Path) -> None:
    assert from_folder(tmp_path) is None


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", b'{"model": 3}', b'{"model": {"vocab": 3}}', b'{"model": {"vocab": {"a": "x"}}}',
     b'{"model": {"vocab": {}}, "added_tokens": [3]}', b'{"model": {"vocab": [3]}}', b"[" * 100_000],
)  # fmt: skip
def test_a_damaged_tokenizer_is_named(data: bytes) -> None:
    with pytest.raises(UserError, match=r"/m/tokenizer.json cannot be used as a tokenizer"):
        _ = Tokenizer(data, "/m/tokenizer.json").tokens


def test_a_file_the_library_refuses_is_named() -> None:
    data = make_json(byte_bpe_model({"a": 0}, ["x y"]), [], None, None)
    with pytest.raises(UserError, match=r"t.json cannot be used as a tokenizer"):
        Tokenizer(data, "t.json").encode("a")


def test_text_files_that_are_not_utf8_are_named(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes(b"a\n\xff\n")
    with pytest.raises(UserError, match=r"vocab.txt is not UTF-8 text \(byte 2\)"):
        from_folder(tmp_path)
