"""A new user's path, with keys and clicks, on the real starter."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from kiruviz.ui.export_dialog import ExportDialog
from kiruviz.ui.window import MainWindow
from tests.ui import driving
from tests.ui.driving import named, press_focus, wait_until

Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def _name_three_and_mark_one(window: MainWindow) -> None:
    window.clusters_pane.table.setFocus()
    for name in ("royalty", "numbers", "places"):
        press_focus("n", Key.Key_Return, name, Key.Key_Return)
    press_focus("n", "r")
    driving.click(window.this_cluster.note)
    press_focus("all sorts of words", Key.Key_Return)


def _resisting(window: MainWindow) -> list[str]:
    labels = window.document.labels
    assert labels is not None
    return [cluster.note for cluster in labels.clusters.values() if cluster.status == "resists"]


def _save_as(window: MainWindow, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    press_focus("s", modifier=CONTROL | SHIFT)
    assert path.is_file()
    assert window.windowTitle() == f"{path.stem} – KiruViz"


def _export(window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    figure, table = tmp_path / "map.svg", tmp_path / "map.csv"
    press_focus("e", modifier=CONTROL)
    dialog = window._export_dialog
    assert isinstance(dialog, ExportDialog)
    settings = dialog.settings()
    assert settings is not None
    dialog.save_to(figure, settings)
    wait_until(figure.exists, "the figure")
    driving.wait_rest(window)
    driving.wake(window)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(table), ""))
    window.clusters_pane.table.setFocus()
    press_focus("e", modifier=CONTROL | SHIFT)
    wait_until(lambda: table.exists() or window.map_pane.banner.text, "the table")
    assert not window.map_pane.banner.text
    driving.wait_rest(window)
    return figure, table


@pytest.fixture
def opened(qtbot: QtBot, home: Path) -> Iterator[Callable[..., MainWindow]]:
    """Opens windows that are closed at the end."""
    windows: list[MainWindow] = []

    def open_one(*args: Any) -> MainWindow:
        windows.append(driving.open_window(*args))
        return windows[-1]

    yield open_one
    for window in windows:
        driving.close_window(window)


@pytest.mark.slow
def test_a_new_user_names_clusters_and_takes_a_figure_away(
    opened: Callable[..., MainWindow], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = opened()
    assert len(driving.titles(window)) == 8
    assert len(window.map_pane.canvas.scene.coords) == 200

    _name_three_and_mark_one(window)
    assert sorted(named(window)) == ["numbers", "places", "royalty"]
    assert _resisting(window) == ["all sorts of words"]
    assert window.clusters_pane.progress.text() == "3 of 8 named · 1 resists · 4 to go"

    press_focus("z", "z", "z", modifier=CONTROL)
    assert sorted(named(window)) == ["numbers", "royalty"]
    press_focus("z", "z", "z", modifier=CONTROL | SHIFT)
    assert sorted(named(window)) == ["numbers", "places", "royalty"]
    assert _resisting(window) == ["all sorts of words"]

    path = tmp_path / "my labels.kiru"
    _save_as(window, path, monkeypatch)
    window.close()

    window = opened(path)
    assert sorted(named(window)) == ["numbers", "places", "royalty"]
    assert _resisting(window) == ["all sorts of words"]
    wait_until(lambda: window.conductor.info, "the session's model")
    window.clusters_pane.table.setFocus()
    press_focus("z", "z", "z", modifier=CONTROL)
    assert sorted(named(window)) == ["numbers", "royalty"]
    press_focus("z", "z", "z", modifier=CONTROL | SHIFT)

    figure, table = _export(window, tmp_path, monkeypatch)
    texts = ["".join(part.itertext()) for part in ElementTree.parse(figure).iter() if part.tag.endswith("}text")]
    for name in ("numbers", "places", "royalty"):
        assert name in texts
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 200
    assert {"numbers", "places", "royalty"} <= {value for row in rows for value in row.values()}
