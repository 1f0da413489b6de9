"""Writing a `tokenizer.json`, and reading JSON files that hold one object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kiruviz.errors import UserError


def byte_bpe_model(vocab: dict[str, Any], merges: list[str], **extra: Any) -> dict[str, Any]:
    """The model part of a `tokenizer.json` for byte-pair encoding."""
    return {
        "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
        "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
        "vocab": vocab, "merges": merges, **extra,
    }  # fmt: skip


def as_json(
    model: dict[str, Any],
    added: Sequence[tuple[int, str, bool]],
    pre_tokenizer: Any,
    decoder: Any,
    normalizer: Any = None,
) -> bytes:
    """A whole `tokenizer.json`; `added` is (row, text, special) of each added token."""
    entries = [
        {"id": row, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": special}
        for row, text, special in sorted(added)
    ]  # fmt: skip
    spec = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": entries, "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer, "post_processor": None, "decoder": decoder, "model": model,
    }  # fmt: skip
    return json.dumps(spec, ensure_ascii=False).encode("utf-8", "replace")


def json_object(path: Path) -> dict[str, Any]:
    """A JSON file that holds one object.

    Raises
    ------
    UserError : unreadable, no JSON, or something else than an object
    """
    try:
        value = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not valid JSON ({error}); fetch it again.") from error
    if not isinstance(value, dict):
        raise UserError(f"{path} should hold one JSON object; fetch it again.")
    return value


def read_bytes(path: Path) -> bytes:
    """A whole small file. Raises `UserError` where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); check the file and its permissions.") from error
