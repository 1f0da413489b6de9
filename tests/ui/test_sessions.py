"""Sessions and models: given back after a kill, refused in a sentence, dropped on the window."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QDockWidget
from pytestqt.qtbot import QtBot
from safetensors.numpy import save_file

from kiruviz.session.recover import find_untitled
from kiruviz.session.store import Session
from kiruviz.ui.settings import Settings
from kiruviz.ui.window import MainWindow
from tests.ui import driving
from tests.ui.driving import buttons, click, drop, named, wait_until

Open = Callable[..., MainWindow]


@pytest.fixture
def opened(qtbot: QtBot, home: Path) -> Iterator[Open]:
    """Opens windows that are closed at the end."""
    windows: list[MainWindow] = []

    def open_one(*args: Any, **kwargs: Any) -> MainWindow:
        windows.append(driving.open_window(*args, **kwargs))
        return windows[-1]

    yield open_one
    for window in windows:
        driving.close_window(window)


@pytest.fixture
def tiny_model(tmp_path: Path) -> Path:
    """A random GPT-2 of 64 rows of 16 as transformers saves it, without a tokenizer."""
    from transformers import GPT2Config, GPT2LMHeadModel

    folder = tmp_path / "tiny-gpt2"
    config = GPT2Config(vocab_size=64, n_embd=16, n_layer=1, n_head=2, n_positions=32)
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


@pytest.fixture
def tiny_bert(tmp_path: Path) -> Path:
    """A folder with a word-piece vocabulary."""
    folder = tmp_path / "tiny-bert"
    folder.mkdir()
    config = {"model_type": "bert", "vocab_size": 12, "hidden_size": 4, "architectures": ["BertModel"]}
    (folder / "config.json").write_text(json.dumps(config))
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "king", "queen", "the", "man", "woman", "seven", "7"]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    rows = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
    save_file({"embeddings.word_embeddings.weight": rows}, folder / "model.safetensors")
    return folder


def name_first(window: MainWindow, name: str) -> None:
    window.document.label(lambda session: session.rename(0, name))


# After a kill

_NAMES_ONE_AND_DIES = """
import os, signal, sys
from PySide6.QtCore import QTimer
from kiruviz.ui import app, window

def name_and_die(self):
    if self.document.labels is not None:
        self.document.label(lambda session: session.rename(0, "not lost"))
        os.kill(os.getpid(), signal.SIGKILL)

begin = window.MainWindow.start
def start(self, path):
    begin(self, path)
    self.document.labels_changed.connect(lambda: QTimer.singleShot(0, lambda: name_and_die(self)))

window.MainWindow.start = start
app.run()
"""


@pytest.mark.slow
def test_after_a_kill_the_session_is_offered_and_continued(opened: Open) -> None:
    died = subprocess.run([sys.executable, "-c", _NAMES_ONE_AND_DIES], env=os.environ, timeout=120, check=False)
    assert died.returncode == -9
    window = opened()
    banner = window.map_pane.banner
    wait_until(lambda: banner.text, "the offer")
    assert "with 1 name" in banner.text
    click(buttons(banner)["Continue with it"])
    assert named(window) == ["not lost"]
    driving.wait_drawn(window)
    wait_until(lambda: window.conductor.info, "the model")
    driving.wait_rest(window)
    assert named(window) == ["not lost"]
    assert window.windowTitle().startswith("Untitled")


def test_a_session_in_which_nothing_was_done_leaves_no_file(opened: Open) -> None:
    window = opened()
    session = window.document.session
    assert session is not None
    path = session.path
    window.close()
    assert not path.exists()


def test_an_empty_session_goes_when_another_is_opened(opened: Open, tmp_path: Path) -> None:
    window = opened()
    name_first(window, "kept")
    window.commands.save_to(tmp_path / "one.kiru")
    window.commands.new_session()
    driving.wait_drawn(window)
    session = window.document.session
    assert session is not None
    empty = session.path
    window.commands.open_path(tmp_path / "one.kiru")
    assert named(window) == ["kept"]
    assert not empty.exists()


# Files that cannot be opened


def test_what_cannot_be_opened_is_said_and_what_is_open_stays(opened: Open, tmp_path: Path) -> None:
    window = opened()
    name_first(window, "kept")
    (tmp_path / "damaged.kiru").write_bytes(b"SQLite format 3\0" + b"\x07" * 5000)
    (tmp_path / "no session.kiru").write_text("hello", encoding="utf-8")
    (tmp_path / "broken model").mkdir()
    (tmp_path / "broken model/config.json").write_text("{", encoding="utf-8")
    (tmp_path / "empty folder").mkdir()
    with sqlite3.connect(tmp_path / "other.kiru") as other:
        other.execute("CREATE TABLE anything (x)")
    other.close()
    names = ("damaged.kiru", "no session.kiru", "missing.kiru", "other.kiru", "broken model", "empty folder", "gone")
    for name in names:
        window.map_pane.banner.hide()
        drop(window, tmp_path / name)
        wait_until(lambda: window.map_pane.banner.text, f"a sentence about {name}", 20)
        sentence = window.map_pane.banner.text
        assert name in sentence, sentence
        assert sentence.endswith(".")
        assert "inside KiruViz" not in sentence
        assert named(window) == ["kept"]
        assert window.document.coords is not None
    assert window.conductor.info is not None
    window.commands.undo()
    assert named(window) == []


def test_a_start_with_a_session_that_is_gone_says_so_and_shows_the_starter(opened: Open, tmp_path: Path) -> None:
    window = opened(tmp_path / "gone.kiru")
    assert "gone.kiru" in window.map_pane.banner.text
    assert len(driving.titles(window)) == 8


def test_the_session_that_is_open_can_be_opened_again(opened: Open, tmp_path: Path) -> None:
    window = opened()
    name_first(window, "kept")
    window.commands.save_to(tmp_path / "one.kiru")
    drop(window, tmp_path / "one.kiru")
    assert named(window) == ["kept"]
    assert not window.map_pane.banner.text


# Dropping, models


def test_a_session_a_word_list_and_a_model_are_dropped_on_the_window(
    opened: Open, tmp_path: Path, tiny_bert: Path
) -> None:
    window = opened()
    name_first(window, "mine")
    window.commands.save_to(tmp_path / "mine.kiru")
    words = tmp_path / "few.txt"
    words.write_text("king\nqueen\nthe\nman\nwoman\nseven\n", encoding="utf-8")
    drop(window, words)
    wait_until(lambda: window.document.record is not None and len(window.document.record) == 6, "six words")
    driving.wait_drawn(window)
    drop(window, tiny_bert)
    wait_until(lambda: window.document.record and "tiny-bert" in window.document.record.recipe.model, "the model")
    driving.wait_drawn(window)
    assert window.model_pane.values["Vocabulary"].text() == "12 × 4"
    driving.wait_rest(window)
    window.commands.new_session()
    driving.wait_drawn(window)
    drop(window, tmp_path / "mine.kiru")
    assert window.document.labels is not None
    assert window.windowTitle() == "mine – KiruViz"
    assert [Path(path).name for path in window.settings.recent] == ["mine.kiru", "tiny-bert"]
    assert [action.text() for action in window._recent.actions()] == ["mine.kiru", "tiny-bert"]


def test_a_recent_file_opens_from_the_menu(opened: Open, tmp_path: Path) -> None:
    window = opened()
    name_first(window, "kept")
    window.commands.save_to(tmp_path / "salt & pepper.kiru")
    window.commands.new_session()
    driving.wait_drawn(window)
    action = window._recent.actions()[0]
    assert action.text() == "salt && pepper.kiru"
    action.trigger()
    assert named(window) == ["kept"]


def test_a_model_without_a_tokenizer_shows_its_rows_by_number(opened: Open, tiny_model: Path) -> None:
    window = opened()
    window.commands.open_model(str(tiny_model))
    wait_until(lambda: window.conductor.info and "tiny" in window.conductor.info.card.source, "the model", 60)
    driving.wait_rest(window)
    assert window.model_pane.values["Vocabulary"].text() == "64 × 16"
    record = window.document.record
    assert record is not None
    assert record.recipe.model == str(tiny_model), window.map_pane.banner.text
    assert len(record) == 64
    driving.wait_drawn(window)


def test_a_session_whose_model_is_gone_can_still_be_read_labelled_and_exported(
    opened: Open, tmp_path: Path, tiny_bert: Path
) -> None:
    window = opened(tiny_bert)
    path = tmp_path / "orphan.kiru"
    name_first(window, "before")
    window.commands.save_to(path)
    window.close()
    shutil.rmtree(tiny_bert)
    window = opened(path)
    wait_until(lambda: "work without it" in window.status.text(), "a word about the model")
    assert window.model_pane.title.text() == "No model"
    assert len(window.map_pane.canvas.scene.coords) == len(window.document.record or ())
    name_first(window, "after")
    assert "after" in named(window)
    window.document.set_focus(0)
    assert "needs the model" in window.status.text()
    from kiruviz.tasks import exports

    out = tmp_path / "orphan.csv"
    window.commands.run_export("Export table", exports.export_table, str(out))
    wait_until(out.exists, "the table")
    driving.wait_rest(window)


# Settings


def test_layout_theme_and_recent_files_are_kept_between_windows(opened: Open, tmp_path: Path) -> None:
    window = opened(drawn=False)
    window.findChild(QDockWidget, "neighbors").hide()
    window.actions_by_name["theme_light"].trigger()
    window.close()
    again = opened(drawn=False)
    assert not again.findChild(QDockWidget, "neighbors").isVisible()
    assert Settings().theme == "light"
    assert again.actions_by_name["theme_light"].isChecked()
    again.menus["Window"].actions()[-1].trigger()
    assert again.findChild(QDockWidget, "neighbors").isVisible()


def test_another_theme_restyles_all_at_once(opened: Open) -> None:
    window = opened()
    name_first(window, "named")
    window.actions_by_name["theme_dark"].trigger()
    dark = window.grab().toImage()
    colors = window.map_pane.canvas.scene.colors.copy()
    window.actions_by_name["theme_light"].trigger()
    light = window.grab().toImage()
    for x, y in ((5, 300), (700, 5), (500, 500)):
        assert dark.pixelColor(x, y).lightness() < 80
        assert light.pixelColor(x, y).lightness() > 200
    assert not np.array_equal(colors, window.map_pane.canvas.scene.colors)
    assert window.map_pane.canvas.theme.ground == "light"
    window.actions_by_name["theme_system"].trigger()


def test_nothing_is_lost_when_the_window_closes_while_a_name_is_on_disk(opened: Open) -> None:
    window = opened()
    name_first(window, "on disk")
    session = window.document.session
    assert session is not None
    path = session.path
    window.close()
    with Session.open_readonly(path) as kept:
        assert kept.labels is not None
        assert kept.labels.clusters[0].name == "on disk"
    assert [info.path for info in find_untitled()] == [path]
