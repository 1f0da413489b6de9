"""Small models made for a test: a folder with config, weights and a tokenizer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from kiruviz.models.checkpoint import Checkpoint
from kiruviz.models.opening import open_model
from tests.models.hub_driving import REPO, make_llama
from tests.models.hub_server import HubServer

WORDPIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "king", "queen", "the", "play", "##ing"]
WORDPIECES += ["##s", "7", ",", "é", "##,"]

CONFIG: dict[str, Any] = {
    "model_type": "bert", "architectures": ["BertModel"], "vocab_size": 18, "hidden_size": 4,
    "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 16,
}  # fmt: skip
TABLE = "embeddings.word_embeddings.weight"

MakeModel = Callable[..., Path]


@pytest.fixture
def make_model(tmp_path: Path) -> MakeModel:
    """make_model(config=..., tensors=..., vocab=...) -> folder of a BERT-like model with 18 rows of 4."""

    def make(
        config: dict[str, Any] | None = None,
        tensors: dict[str, Any] | None = None,
        vocab: list[str] | None = WORDPIECES,
        name: str = "toy",
    ) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps({**CONFIG, **(config or {})}))
        rows = np.random.default_rng(0).normal(size=(18, 4)).astype(np.float32)
        save_file(tensors or {TABLE: rows}, folder / "model.safetensors")
        if vocab is not None:
            (folder / "vocab.txt").write_text("\n".join(vocab), encoding="utf-8")
        return folder

    return make


@pytest.fixture(scope="session")
def smollm2() -> Checkpoint:
    return open_model("smollm2")


@pytest.fixture(scope="session")
def minilm() -> Checkpoint:
    return open_model("minilm")


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tiny model that `server` serves."""
    return make_llama(tmp_path_factory.mktemp("hub") / "tiny")


@pytest.fixture
def server(llama: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> Iterator[HubServer]:
    """A Hub on loopback, to which `HF_ENDPOINT` leads."""
    made = HubServer({REPO: llama})
    monkeypatch.setenv("HF_ENDPOINT", made.url)
    yield made
    made.close()
