"""Saved views bring back rows, places, colours and selection, also after a restart and after changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from kiruviz.progress import Silent
from kiruviz.session.recover import find_untitled
from kiruviz.session.store import Session
from kiruviz.space import Recipe, Rows
from kiruviz.tasks import exports
from kiruviz.tasks.maps import ProjectionOutcome
from kiruviz.tasks.saved_views import SavedView
from kiruviz.ui.keys import keymap
from kiruviz.ui.palette_entries import Entry
from kiruviz.ui.views_dialogs import SaveViewDialog, ViewsDialog
from kiruviz.ui.window import MainWindow
from tests.ui import driving
from tests.ui.driving import click, press, press_focus, wait_until

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier
Open = Callable[..., MainWindow]


@pytest.fixture
def opened(qtbot: QtBot, home: Path) -> Iterator[Open]:
    windows: list[MainWindow] = []

    def open_one(*args: Any, **kwargs: Any) -> MainWindow:
        windows.append(driving.open_window(*args, **kwargs))
        return windows[-1]

    yield open_one
    for window in windows:
        driving.close_window(window)


def settle(window: MainWindow) -> None:
    """The map is there and nothing will move it."""
    window.conductor.cancel_drawing()
    window.runner.cancel("warm")
    driving.still(window)
    wait_until(lambda: window.commands.views._settled, "final places", 10)


def dialog_of(window: MainWindow, kind: type[QDialog]) -> Any:
    found = [d for d in window.findChildren(kind) if d.isVisible()]
    assert len(found) == 1
    wait_until(lambda: QApplication.activeWindow() is found[0], "an active dialog", 10)
    return found[0]


def save_as(window: MainWindow, name: str) -> None:
    """Save the view of now by keyboard."""
    driving.wake(window)
    window.map_pane.canvas.setFocus()
    press_focus(Qt.Key.Key_D, modifier=CTRL | SHIFT)
    dialog = dialog_of(window, SaveViewDialog)
    press(dialog.name, name, Qt.Key.Key_Return)
    driving.wake(window)


def look_closely(window: MainWindow) -> tuple[float, ...]:
    """Zoom in somewhere, colour by norm, select a cluster, lasso and focus rows; the rectangle then in view."""
    document, canvas = window.document, window.map_pane.canvas
    canvas.zoom(3.0)
    window.commands.color_by("norm")
    document.select_cluster(2)
    document.set_focus(7)
    return canvas.view.rectangle


def go_elsewhere(window: MainWindow) -> None:
    window.commands.fit()
    window.commands.color_by("kind")
    window.document.select_cluster(5)
    window.document.set_focus(1)
    driving.still(window)


def test_a_view_comes_back_with_zoom_colours_and_selection(opened: Open) -> None:
    window = opened()
    settle(window)
    rectangle = look_closely(window)
    save_as(window, "close")
    go_elsewhere(window)
    press_focus(Qt.Key.Key_1, modifier=CTRL | ALT)
    driving.still(window)
    document, pane = window.document, window.map_pane
    assert np.allclose(pane.canvas.view.rectangle, rectangle, rtol=1e-4)
    assert (pane.color_by, document.cluster_id, document.focus) == ("norm", 2, 7)
    assert window.actions_by_name["color_norm"].isChecked()
    assert pane.canvas.scene.selected.tolist() == document.labels.members(2).tolist()


def test_a_lasso_comes_back(opened: Open) -> None:
    window = opened()
    settle(window)
    window.document.set_lasso(np.array([3, 8, 21]))
    save_as(window, "three")
    go_elsewhere(window)
    window.commands.views.go_to("three")
    assert window.document.lassoed.tolist() == [3, 8, 21]
    assert window.map_pane.lasso_bar.isVisible()
    driving.still(window)


def test_views_are_there_after_a_restart_in_their_order(opened: Open, tmp_path: Path) -> None:
    window = opened()
    settle(window)
    for name in ("zebra", "apple", "mango"):
        save_as(window, name)
    rectangle = look_closely(window)
    save_as(window, "close")
    window.commands.save_to(tmp_path / "views.kiru")
    window.close()
    again = opened(tmp_path / "views.kiru")
    settle(again)
    assert again.commands.views.names() == ["zebra", "apple", "mango", "close"]
    assert again.actions_by_name["view_2"].text() == "apple"
    go_elsewhere(again)
    again.commands.views.go_to("close")
    driving.still(again)
    # Another shape of the canvas may show more, on both sides alike.
    shown, wanted = np.array(again.map_pane.canvas.view.rectangle), np.array(rectangle)
    assert np.allclose(shown[:2] + shown[2:], wanted[:2] + wanted[2:], atol=1e-3)
    spare = (shown[2:] - shown[:2]) / (wanted[2:] - wanted[:2])
    assert spare.min() == pytest.approx(1, rel=1e-3)
    assert (again.map_pane.color_by, again.document.cluster_id, again.document.focus) == ("norm", 2, 7)


def test_an_untitled_session_with_only_a_view_is_kept_and_offered_back(opened: Open) -> None:
    window = opened()
    settle(window)
    save_as(window, "kept")
    window.close()
    assert [info.named for info in find_untitled()] == [0]


def test_a_view_of_other_rows_leads_back_to_them(opened: Open) -> None:
    window = opened()
    settle(window)
    document = window.document
    wait_until(lambda: window.conductor.info, "the model")
    document.label(lambda session: session.rename(2, "second"))
    rectangle = look_closely(window)
    save_as(window, "everyday")
    former = document.space_id
    few = ("king", "queen", "man", "woman", "one", "two", "three", "seven", "red", "blue", "green", "day")
    window.conductor.show_space(Recipe(model="smollm2", rows=Rows(words=few, title="few")))
    wait_until(lambda: document.record is not None and len(document.record) == 12, "other rows")
    wait_until(lambda: document.labels is not None and document.coords is not None, "their map")
    settle(window)
    window.commands.views.go_to("everyday")
    driving.still(window)
    assert document.space_id == former
    assert document.cluster is not None
    assert document.cluster.name == "second"
    assert np.allclose(window.map_pane.canvas.view.rectangle, rectangle, rtol=1e-4)
    assert window.map_pane.color_by == "norm"
    assert len(window.map_pane.canvas.scene.coords) == 200
    window.commands.undo()  # the other rows' clusters are a step back
    assert document.record is not None
    assert len(document.record) == 12


def test_other_places_are_brought_back_before_flying(opened: Open) -> None:
    window = opened()
    settle(window)
    document, rectangle = window.document, look_closely(window)
    before = document.coords.copy()
    save_as(window, "then")
    document.set_projection(ProjectionOutcome((1000 + 5 * before).astype(np.float32), "pca", {"seed": 9}))
    driving.still(window)
    window.commands.views.go_to("then")
    driving.still(window)
    assert np.array_equal(document.coords, before)
    assert np.allclose(window.map_pane.canvas.view.rectangle, rectangle, rtol=1e-4)
    assert document.session is not None
    latest = document.session.projection(document.space_id)
    assert np.array_equal(latest.coords, before)  # what is shown is what exports draw


def test_a_cluster_that_is_gone_is_said_and_its_rows_selected(opened: Open) -> None:
    window = opened()
    settle(window)
    document = window.document
    members = document.labels.members(2)
    document.select_cluster(2)
    save_as(window, "gone")
    document.label(lambda session: session.merge([1, 2]))
    document.select_cluster(0)
    window.commands.views.go_to("gone")
    assert document.lassoed.tolist() == members.tolist()
    assert "cluster 2 is not among the clusters now" in window.status.text()
    window.commands.undo()
    window.commands.views.go_to("gone")
    assert (document.cluster_id, len(document.lassoed)) == (2, 0)


def test_after_re_clustering_the_cluster_of_that_name_is_selected(opened: Open) -> None:
    window = opened()
    settle(window)
    document = window.document
    document.label(lambda session: session.rename(2, "second"))
    document.select_cluster(2)
    save_as(window, "named")
    session, turned = document.session, (document.labels.assignment + 3) % 8
    document.label(lambda s: s.set_clusters(document.space_id, "kmeans", {"k": 8, "seed": 4}, turned))
    document.label(lambda s: s.rename(5, "second"))
    document.select_cluster(0)
    window.commands.views.go_to("named")
    assert session is document.session
    assert document.cluster_id == 5
    assert "the one of that name now" in window.status.text()


def test_a_name_that_is_taken_is_asked_about(opened: Open) -> None:
    window = opened()
    settle(window)
    save_as(window, "same")
    window.commands.color_by("kind")
    press_focus(Qt.Key.Key_D, modifier=CTRL | SHIFT)
    dialog = dialog_of(window, SaveViewDialog)
    press(dialog.name, "same", Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert "“same”" in dialog.line.text
    click(dialog.line.answers()["Another name"])
    saved = SavedView.of(window.document.session.saved_views["same"])
    assert saved.color_by == "cluster"
    press(dialog.name, Qt.Key.Key_Return)
    click(dialog.line.answers()["Replace it"])
    assert not dialog.isVisible()
    saved = SavedView.of(window.document.session.saved_views["same"])
    assert (saved.color_by, saved.place) == ("kind", 1)


def test_views_are_renamed_updated_and_deleted_after_asking(opened: Open) -> None:
    window = opened()
    settle(window)
    for name in ("one", "two", "three"):
        save_as(window, name)
    window.actions_by_name["manage_views"].trigger()
    dialog = dialog_of(window, ViewsDialog)
    views = window.commands.views
    dialog.table.selectRow(1)
    press(dialog.table, Qt.Key.Key_F2)
    press(dialog.name, "second", Qt.Key.Key_Return)
    assert views.names() == ["one", "second", "three"]
    assert dialog.selected == "second"
    dialog.name.setText("three")
    press(dialog.name, Qt.Key.Key_Return)
    click(dialog.line.answers()["Leave it"])
    assert views.names() == ["one", "second", "three"]
    window.commands.color_by("frequency")
    click(dialog.update_button)
    click(dialog.line.answers()["Update it"])
    assert SavedView.of(window.document.session.saved_views["second"]).color_by == "frequency"
    dialog.table.selectRow(0)
    press(dialog.table, Qt.Key.Key_Delete)
    assert QApplication.focusWidget() is dialog.line.answers()["Keep it"]
    click(dialog.line.answers()["Delete it"])
    assert views.names() == ["second", "three"]
    assert [window.actions_by_name[f"view_{i}"].isVisible() for i in (1, 2, 3)] == [True, True, False]
    press(dialog.table, Qt.Key.Key_Return)
    assert not dialog.isVisible()
    assert "View “second”" in window.status.text()


def test_more_than_nine_views_are_in_the_menu_and_the_palette(opened: Open) -> None:
    window = opened()
    settle(window)
    for number in range(1, 12):
        window.commands.views.put(f"v & {number}")
    shown = [a.text() for a in window.menus["Views"].actions() if a.isVisible()]
    assert shown == [f"v && {number}" for number in range(1, 12)]
    palette = window.command_palette
    palette.start()
    rows = [row for row in palette.model.rows if isinstance(row, Entry) and row.key.startswith("view:")]
    assert [row.text for row in rows] == [f"v & {number}" for number in range(1, 12)]
    assert rows[2].shortcut == keymap().shown("view_3")
    window.commands.color_by("norm")
    palette.field.setText("v & 11")
    press(palette.field, Qt.Key.Key_Return)
    assert window.map_pane.color_by == "cluster"
    driving.still(window)


def test_a_damaged_view_shows_the_whole_map(opened: Open) -> None:
    window = opened()
    settle(window)
    for number, value in enumerate([None, [], {"rectangle": [1, 2]}, {"rectangle": ["a"] * 4, "space_id": 99},
                                    {"color_by": "smell", "focus": 10**9, "lasso": [10**9], "cluster_id": 77},
                                    {"rectangle": [float("nan")] * 4, "members": "abc", "params": 3}]):  # fmt: skip
        window.document.session.save_view(f"bad {number}", value)
        window.commands.views.go_to(f"bad {number}")
        driving.still(window)
        assert not window.map_pane.banner.text
        assert window.map_pane.color_by == "cluster"
        assert window.map_pane.canvas.is_whole


def test_saving_waits_until_places_are_final(opened: Open) -> None:
    window = opened()
    settle(window)
    window.document.set_partial_coords(window.document.coords + 1)
    window.commands.views.save()
    assert not [d for d in window.findChildren(SaveViewDialog) if d.isVisible()]
    assert "still being drawn" in window.status.text()


def test_a_view_is_exported_on_its_own_rows(opened: Open, tmp_path: Path) -> None:
    """As `kiruviz export --view` does, while the session is on other rows."""
    window = opened()
    settle(window)
    document = window.document
    wait_until(lambda: window.conductor.info, "the model")
    look_closely(window)
    save_as(window, "everyday")
    coords, view = document.coords.copy(), window.map_pane.view()
    few = ("king", "queen", "man", "woman", "one", "two", "three", "seven", "red", "blue", "green", "day")
    window.conductor.show_space(Recipe(model="smollm2", rows=Rows(words=few, title="few")))
    wait_until(lambda: document.record is not None and len(document.record) == 12, "other rows")
    wait_until(lambda: document.labels is not None and document.coords is not None, "their map")
    settle(window)
    path = document.session.path
    with Session.open_readonly(path) as session:
        found, look = exports.read_map(session, "everyday")
        assert (len(found.record), look.color_by) == (200, "norm")
        assert np.allclose(look.rectangle, view.rectangle)
        assert np.array_equal(found.projection.coords, coords)
        assert found.labels is not None
        assert found.labels.space_id == found.projection.space_id
        assert len(exports.read_map(session)[0].record) == 12
    exports.export(
        Silent(), exports.ExportOrder(path, view="everyday", figure=tmp_path / "a.svg", table=tmp_path / "a.csv")
    )
    assert len((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()) == 201
    assert "Everyday words (200)" in (tmp_path / "a.svg").read_text(encoding="utf-8")
