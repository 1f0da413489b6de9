from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from safetensors.numpy import save_file

from kiruviz.ui.models_dialog import ModelsDialog
from kiruviz.ui.window import MainWindow
from tests.models.hub_server import HubServer
from tests.ui.driving import buttons, click, press, wait_until

pytestmark = pytest.mark.keeps_running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, module_home: Path) -> Iterator[HubServer]:
    """A Hub on loopback; set up before the window, as its helpers take the environment over."""
    folder = tmp_path_factory.mktemp("served") / "toy"
    folder.mkdir()
    config = {"model_type": "bert", "vocab_size": 9, "hidden_size": 16, "architectures": ["BertModel"]}
    (folder / "config.json").write_text(json.dumps(config))
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "king", "queen", "house", "time"]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    rows = np.random.default_rng(0).normal(size=(9, 16)).astype(np.float32)
    layer = np.zeros((2000, 16), np.float32)
    tensors = {"embeddings.word_embeddings.weight": rows, "encoder.layer.0.output.dense.weight": layer}
    save_file(tensors, folder / "model.safetensors")
    made = HubServer({"people/toy": folder, "people/slow": folder})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ENDPOINT", made.url)
        patch.setenv("HF_HUB_CACHE", str(tmp_path_factory.mktemp("hub")))
        patch.setenv("OLLAMA_MODELS", str(folder / "none"))
        yield made
    made.close()


@pytest.fixture
def dialog(server: HubServer, window: MainWindow) -> Iterator[ModelsDialog]:
    window.commands.list_models()
    shown = window.findChild(ModelsDialog)
    assert shown is not None
    wait_until(lambda: shown.models.rows, "the list of models")
    yield shown
    shown.cancel_fetch()
    shown.close()


def ask(dialog: ModelsDialog, name: str) -> None:
    dialog.name.setFocus()
    dialog.name.clear()
    QTest.keyClicks(dialog.name, name)
    QTest.keyClick(dialog.name, Qt.Key.Key_Return)
    assert dialog.cancel.isVisible()
    wait_until(lambda: dialog.ask.isEnabled(), "an answer about the size")


def test_the_list_has_the_starters_and_enter_opens_one(dialog: ModelsDialog, window: MainWindow) -> None:
    assert [row[0] for row in dialog.models.rows[:2]] == ["SmolLM2-135M-Instruct", "all-MiniLM-L6-v2"]
    assert dialog.table.hasFocus()
    press(dialog.table, Qt.Key.Key_Down, Qt.Key.Key_Return)
    assert not dialog.isVisible()
    wait_until(lambda: window.conductor.info and window.conductor.info.card.name == "all-MiniLM-L6-v2", "MiniLM")


def test_the_size_comes_first_and_looking_opens_the_model(
    dialog: ModelsDialog, window: MainWindow, server: HubServer
) -> None:
    ask(dialog, "people/toy")
    assert not dialog.bar.isVisible()
    assert dialog.said.text().startswith("Looking at people/toy fetches 1.")
    assert "instead of 0.1 MB: the table" in dialog.said.text()
    assert dialog.download.text().startswith("Download: 0.1 MB")
    assert server.sent["model.safetensors"] < 1000
    click(dialog.look)
    wait_until(lambda: window.conductor.info and window.conductor.info.card.name == "people/toy", "the looked-at model")
    assert not dialog.isVisible()
    assert server.sent["model.safetensors"] < 4000


def test_what_is_wrong_is_said_in_the_dialog(dialog: ModelsDialog) -> None:
    ask(dialog, "people/nobody")
    assert dialog.said.text().startswith("There is no model people/nobody on 127.0.0.1")
    assert not dialog.look.isVisible()
    assert not dialog.download.isVisible()
    ask(dialog, "no name")
    assert "is not the name of a model on a Hub" in dialog.said.text()


def test_another_name_takes_the_offers_away(dialog: ModelsDialog) -> None:
    ask(dialog, "people/toy")
    assert dialog.download.isVisible()
    QTest.keyClicks(dialog.name, "x")
    assert not dialog.download.isVisible()


def test_a_fetch_is_cancelled_and_goes_on(dialog: ModelsDialog, window: MainWindow, server: HubServer) -> None:
    ask(dialog, "people/slow")
    server.drop_after["model.safetensors"] = [1000, *[0] * 4]
    click(dialog.download)
    wait_until(lambda: server.sent["model.safetensors"] > 0 and dialog.cancel.isVisible(), "the fetch to run")
    click(dialog.cancel)
    assert dialog.said.text() == "Stopped; fetching people/slow again goes on from there."
    server.drop_after.clear()
    ask(dialog, "people/slow")
    click(dialog.download)
    wait_until(lambda: window.conductor.info and window.conductor.info.card.name == "people/slow", "the model", 30)


def test_everything_in_the_dialog_has_a_name(dialog: ModelsDialog) -> None:
    assert {"Close", "Open", "Ask for the size"} <= buttons(dialog).keys()
    assert dialog.table.accessibleName()
    assert dialog.name.accessibleName()
    assert dialog.bar.accessibleName()
