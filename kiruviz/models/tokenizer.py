"""A model's tokenizer: its strings by row, and text cut into rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from kiruviz.errors import UserError
from kiruviz.models import sentencepiece
from kiruviz.models.tokenizer_json import as_json, byte_bpe_model, json_object, read_bytes

Flavour = Literal["bytelevel", "sentencepiece", "wordpiece", "plain"]


class Tokenizer:
    """A `tokenizer.json` and what can be read from it without the `tokenizers` library.

    Attributes
    ----------
    data : the file's bytes
    source : what the person calls the file, for the sentences
    """

    def __init__(self, data: bytes, source: str) -> None:
        self.data, self.source = data, source

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The parsed file. Raises `UserError` where it is no tokenizer."""
        try:
            spec = json.loads(self.data)
        except (ValueError, RecursionError) as error:
            raise self._damaged("it is not JSON") from error
        if not isinstance(spec, dict) or not isinstance(spec.get("model"), dict):
            raise self._damaged("it holds no model")
        return spec

    @cached_property
    def tokens(self) -> dict[int, str]:
        """Row -> the vocabulary's own string, added tokens included."""
        vocab = self.spec["model"].get("vocab")
        try:
            if isinstance(vocab, list):  # Unigram: (string, score) pairs in order
                tokens = {row: str(pair[0]) for row, pair in enumerate(vocab)}
            else:
                tokens = {int(row): str(token) for token, row in vocab.items()}
            tokens.update({int(added["id"]): str(added["content"]) for added in self._added})
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise self._damaged("its vocabulary cannot be read") from error
        return tokens

    @property
    def size(self) -> int:
        """How many tokens there are (a model's table may have more rows)."""
        return len(self.tokens)

    @cached_property
    def added(self) -> frozenset[int]:
        """Rows of added tokens: their strings are plain text, never byte-level."""
        return frozenset(int(added["id"]) for added in self._added)

    @cached_property
    def special(self) -> frozenset[int]:
        """Rows of special tokens, the unknown token included."""
        marked = frozenset(int(added["id"]) for added in self._added if added.get("special"))
        return marked if self.unknown is None else marked | {self.unknown}

    @cached_property
    def unknown(self) -> int | None:
        """The row that stands for what the vocabulary cannot write."""
        model = self.spec["model"]
        if isinstance(model.get("unk_id"), int):
            return int(model["unk_id"])
        name = model.get("unk_token")
        if not isinstance(name, str):
            return None
        return next((row for row, token in self.tokens.items() if token == name), None)

    @cached_property
    def flavour(self) -> Flavour:
        """How the vocabulary writes spaces and parts of words."""
        if self.spec["model"].get("type") == "WordPiece":
            return "wordpiece"
        parts = [self.spec.get(key) for key in ("pre_tokenizer", "decoder", "normalizer")]
        kinds = {kind for part in parts for kind in _types(part)}
        if "ByteLevel" in kinds:
            return "bytelevel"
        if "Metaspace" in kinds or any("▁" in json.dumps(part, ensure_ascii=False) for part in parts):
            return "sentencepiece"
        return "plain"

    @property
    def continuation(self) -> str:
        """What marks the inside of a word in a WordPiece vocabulary."""
        prefix = self.spec["model"].get("continuing_subword_prefix")
        return prefix if isinstance(prefix, str) else "##"

    def encode(self, text: str) -> list[int]:
        """The rows `text` is made of, without special tokens."""
        return self.encode_many([text])[0]

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """`encode` for many texts at once."""
        encoded = self._engine.encode_batch(list(texts), add_special_tokens=False)
        return [list(one.ids) for one in encoded]

    @cached_property
    def _engine(self) -> Any:
        import tokenizers

        try:
            engine = tokenizers.Tokenizer.from_buffer(self.data)
        except Exception as error:  # the library raises bare Exception
            raise self._damaged(str(error).splitlines()[0] if str(error) else "it is not understood") from error
        # Sentence models ship with truncation and padding switched on: a word must come out as it is.
        engine.no_truncation()
        engine.no_padding()
        return engine

    @cached_property
    def _added(self) -> list[dict[str, Any]]:
        added = self.spec.get("added_tokens") or []
        if not isinstance(added, list) or not all(isinstance(one, dict) for one in added):
            raise self._damaged("its added tokens cannot be read")
        return added

    def _damaged(self, why: str) -> UserError:
        return UserError(f"{self.source} cannot be used as a tokenizer ({why}); fetch it again.")


def _types(part: Any) -> set[str]:
    """The `type` of a step of the tokenizer and of the steps inside it."""
    if isinstance(part, list):
        return set().union(*(_types(inner) for inner in part))
    if not isinstance(part, dict):
        return set()
    found = {part["type"]} if isinstance(part.get("type"), str) else set()
    return found.union(*(_types(part.get(key)) for key in ("pretokenizers", "decoders", "normalizers")))


FILES = (
    "tokenizer.json", "vocab.txt", "vocab.json", "merges.txt", "tokenizer_config.json", *sentencepiece.FILES
)  # fmt: skip


def from_folder(folder: Path) -> Tokenizer | None:
    """The tokenizer beside a model's weights: `tokenizer.json`, else made from the family's older files.

    Returns
    -------
    None where the folder has none of them
    """
    for name in ("tokenizer.json", "vocab.txt", "vocab.json", *sentencepiece.FILES):
        path = folder / name
        if path.is_file() and (name != "vocab.json" or (folder / "merges.txt").is_file()):
            return from_file(path)
    return None


def from_file(path: Path) -> Tokenizer:
    """The tokenizer of a `tokenizer.json`, `vocab.txt`, `vocab.json` (with its `merges.txt`) or SentencePiece model.

    Raises
    ------
    UserError : it is none, or cannot be read
    """
    data = read_bytes(path)
    if path.suffix == ".model":
        return Tokenizer(sentencepiece.read(path, data), str(path))
    if path.suffix == ".txt":
        return Tokenizer(_wordpiece(path.parent, path), str(path))
    merges = path.with_name("merges.txt")
    if "model" in json_object(path) or not merges.is_file():
        made = Tokenizer(data, str(path))
        made.spec  # noqa: B018 - says what is wrong with it now
        return made
    return Tokenizer(_byte_bpe(path, merges), str(path))


def _text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text (byte {error.start}); fetch it again.") from error


def _wordpiece(folder: Path, pieces: Path) -> bytes:
    """BERT's own tokenizer from its `vocab.txt`."""
    tokens = _text(pieces).splitlines()
    config = folder / "tokenizer_config.json"
    settings = json_object(config) if config.is_file() else {}
    lower = settings.get("do_lower_case", True)
    special = [name for name in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") if name in tokens]
    vocab = {token: row for row, token in enumerate(tokens)}
    return as_json(
        {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
         "max_input_chars_per_word": 100, "vocab": vocab},
        [(vocab[name], name, True) for name in special],
        {"type": "BertPreTokenizer"},
        {"type": "WordPiece", "prefix": "##", "cleanup": True},
        {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
         "lowercase": bool(lower)},
    )  # fmt: skip


def _byte_bpe(vocab: Path, merges: Path) -> bytes:
    """GPT-2's byte-level tokenizer from `vocab.json` and `merges.txt`."""
    lines = [line for line in _text(merges).splitlines() if line and not line.startswith("#version")]
    tokens = json_object(vocab)
    ends = [(tokens[name], name, True) for name in ("<|endoftext|>", "<s>", "</s>", "<pad>") if name in tokens]
    return as_json(
        byte_bpe_model(tokens, lines),
        ends,
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    )
