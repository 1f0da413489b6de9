from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from kiruviz.models import hub_place
from tests.cli.conftest import Run
from tests.models.hub_server import HubServer


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> Iterator[HubServer]:
    folder = tmp_path / "toy"
    folder.mkdir()
    config = {"model_type": "bert", "vocab_size": 8, "hidden_size": 16, "architectures": ["BertModel"]}
    (folder / "config.json").write_text(json.dumps(config))
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "king", "queen", "the"]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    rows = np.random.default_rng(0).normal(size=(8, 16)).astype(np.float32)
    layer = np.zeros((1000, 16), np.float32)
    tensors = {"embeddings.word_embeddings.weight": rows, "encoder.layer.0.output.dense.weight": layer}
    save_file(tensors, folder / "model.safetensors")
    made = HubServer({"people/toy": folder})
    monkeypatch.setenv("HF_ENDPOINT", made.url)
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "ollama"))
    yield made
    made.close()


def answers(monkeypatch: pytest.MonkeyPatch, word: str) -> list[str]:
    """Somebody at the terminal who answers with `word`; the questions asked."""
    asked: list[str] = []

    def respond(question: str) -> str:
        asked.append(question)
        return word

    monkeypatch.setattr("builtins.input", respond)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    return asked


def test_without_a_terminal_the_size_is_said_and_nothing_is_fetched(kiruviz: Run, server: HubServer) -> None:
    kiruviz("fetch", "people/toy").refused_with("Fetching people/toy takes 64.", "kB into", "add --yes to go ahead")
    assert server.total == 0


def test_a_person_is_shown_the_size_and_asked(kiruviz: Run, server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answers(monkeypatch, "n")
    ran = kiruviz("fetch", "people/toy")
    assert (ran.code, len(asked)) == (0, 1)
    assert "model.safetensors" in ran.out
    assert ran.out.endswith("Nothing was fetched.\n")
    assert server.total == 0
    answers(monkeypatch, "y")
    ran = kiruviz("fetch", "people/toy")
    assert "people/toy is here" in ran.out
    assert "king" in kiruviz("neighbors", "people/toy", "queen", "-k", "7").out


def test_looking_fetches_the_table_and_opens_offline(
    kiruviz: Run, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = json.loads(kiruviz("fetch", "people/toy", "--look", "--yes", "--json").out)
    assert (done["repo"], done["revision"], done["look"]) == ("people/toy", "main", True)
    assert done["bytes"] == sum(file["bytes"] for file in done["files"])
    assert 0 < server.total < done["bytes"] < 3000
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    info = kiruviz("info", "people/toy")
    assert "was looked at without downloading" in info.out
    assert set(json.loads(kiruviz("info", "people/toy", "--json").out)) == set(
        json.loads(kiruviz("info", "minilm", "--json").out)
    )
    listed = {one["title"]: one for one in json.loads(kiruviz("models", "--json").out)["models"]}
    assert listed["people/toy"]["place"] == "looked at"
    assert json.loads(kiruviz("info", listed["people/toy"]["ref"], "--json").out)["vocab_size"] == 8


def test_a_download_takes_the_place_of_a_look_under_the_same_identity(kiruviz: Run, server: HubServer) -> None:
    kiruviz("fetch", "people/toy", "--look", "--yes")
    seen = json.loads(kiruviz("info", "people/toy", "--json").out)
    kiruviz("fetch", "people/toy", "--yes")
    full = json.loads(kiruviz("info", "people/toy", "--json").out)
    assert seen["identity"] == full["identity"]
    assert str(hub_place.hub_cache()) in full["path"]
    again = kiruviz("fetch", "people/toy")
    assert again.code == 0
    assert "of which 0.0 kB are still to come" in again.out


def test_the_list_of_models_is_a_table(kiruviz: Run, server: HubServer, home: Path) -> None:
    (home / ".cache/huggingface/hub/models--people--begun/blobs").mkdir(parents=True)
    ran = kiruviz("models")
    assert ran.out.splitlines()[0].split() == ["model", "kind", "size", "place", "open", "it", "with"]
    assert "SmolLM2-135M-Instruct" in ran.out
    assert "Not listed: people/begun (Hugging Face cache): its download was not finished" in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("toy",), "'toy' is not the name of a model on a Hub"),
        (("../toy",), "'../toy' is not the name of a model on a Hub"),
        (("people/nobody",), "There is no model people/nobody on 127.0.0.1"),
        (("people/toy@v9",), "people/toy has no revision v9"),
        (("people/toy", "--look", "--file", "x"), "--file names a file to download"),
        (("people/toy", "--file", "x.gguf"), "has no weight file 'x.gguf'; it has model.safetensors (64."),
        ((), "OWNER/NAME"),
    ],
)
def test_what_cannot_be_fetched(kiruviz: Run, server: HubServer, arguments: tuple[str, ...], words: str) -> None:
    kiruviz("fetch", *arguments, "--yes").refused_with(words)
