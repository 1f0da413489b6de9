"""A tokenizer that a person brings later for a model that came without one; kept beside the program's data."""

from __future__ import annotations

from pathlib import Path

from kiruviz.errors import UserError
from kiruviz.models import cache, sentencepiece, vocabulary
from kiruviz.models.tokenizer import Tokenizer, from_file
from kiruviz.paths import data_dir

_NAMES = ("tokenizer.json", "vocab.txt", "vocab.json", *sentencepiece.FILES)


def is_tokenizer(path: Path) -> bool:
    """Whether a file is called as tokenizers are."""
    return path.name in _NAMES or path.suffix == ".model"


def attach(identity: str, rows: int, path: Path) -> Tokenizer:
    """Use the tokenizer in `path` for the model with this identity, from now on.

    Parameters
    ----------
    identity : the model's
    rows : of its input table
    path : a `tokenizer.json`, `vocab.txt`, `vocab.json` (with `merges.txt` beside it) or SentencePiece `.model`

    Raises
    ------
    UserError : not a tokenizer, or one with tokens beyond the table
    """
    made = from_file(path)
    beyond = max(made.tokens, default=-1)
    if beyond >= rows:
        raise UserError(
            f"{path} has tokens up to row {beyond:,}, but the table has {rows:,} rows; bring the tokenizer that "
            "belongs to these weights."
        )
    made.encode("a")  # the library has the last word on whether it can be used
    kept = _path(identity)
    kept.parent.mkdir(parents=True, exist_ok=True)
    cache.write_atomic(kept, lambda out: out.write(made.data))
    vocabulary.forget(cache.model_folder(identity))
    return made


def attached(identity: str) -> Tokenizer | None:
    """The tokenizer a person brought for this model, if any."""
    path = _path(identity)
    return Tokenizer(path.read_bytes(), str(path)) if path.is_file() else None


def _path(identity: str) -> Path:
    return data_dir() / "tokenizers" / identity[:32] / "tokenizer.json"
