"""A tiny model for a Hub to serve, and asking for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kiruviz.errors import Cancelled, UserError
from kiruviz.models import hub, hub_look, hub_place
from kiruviz.models.hub_http import Hub
from kiruviz.progress import Silent

REPO = "people/tiny"
TABLE = "model.embed_tokens.weight"
ROWS, WIDTH = 512, 64


def make_llama(folder: Path, shards: int = 1, tied: bool = True, rows: int = ROWS) -> Path:
    """A tiny random Llama that transformers saved, with a tokenizer, a program file and a pickle beside it."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=rows, hidden_size=WIDTH, intermediate_size=128, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=64, tie_word_embeddings=tied,
    )  # fmt: skip
    model = LlamaForCausalLM(config).to(torch.bfloat16)
    size = "10GB" if shards == 1 else "200KB"
    model.save_pretrained(folder, max_shard_size=size)
    vocab = {f"Ġw{i}" if i else "<|endoftext|>": i for i in range(rows - 12)}
    (folder / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    (folder / "modeling_tiny.py").write_text("raise SystemExit('run')\n")
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04" + b"0" * 4096)
    return folder


def talk(ref: str = REPO, progress: Any = None) -> Hub:
    name = hub_place.parse(ref)
    assert name is not None
    return Hub(name, progress or Silent(), pause=0.001)


def look(ref: str = REPO, progress: Any = None) -> hub.Fetched:
    with talk(ref, progress) as conversation:
        plan = hub_look.plan_look(conversation)
    with talk(ref, progress) as conversation:
        return hub_look.look(conversation, plan)


def fetch(ref: str = REPO, progress: Any = None, only: str | None = None) -> hub.Fetched:
    with talk(ref, progress) as conversation:
        plan = hub.plan(conversation, only)
        return hub.download(conversation, plan)


def sentence(what: Any, *arguments: Any) -> str:
    """The one sentence with which something fails."""
    with pytest.raises(UserError) as caught:
        what(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def header_length(path: Path) -> int:
    with path.open("rb") as file:
        return 8 + int.from_bytes(file.read(8), "little")


def small_bytes(folder: Path) -> int:
    names = ("config.json", "generation_config.json", "vocab.json", "merges.txt")
    return sum((folder / name).stat().st_size for name in names)


class Stops:
    """A progress that cancels once `bytes_of` says enough."""

    def __init__(self, when: Any) -> None:
        self._when = when

    def report(self, fraction: float | None, message: str) -> None:
        self.check()

    def partial(self, value: object) -> None: ...

    def check(self) -> None:
        if self._when():
            raise Cancelled
