"""The export dialog: what is set is what is drawn, kept in the session, and drawn again by the command line."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtGui import QGuiApplication

from kiruviz.session.store import Session
from kiruviz.ui.export_dialog import ExportDialog
from kiruviz.ui.window import MainWindow
from tests.ui import driving
from tests.ui.driving import choose, wait_rest, wait_until

pytestmark = pytest.mark.keeps_running


@pytest.fixture(autouse=True)
def unfolded(window: MainWindow) -> None:
    """UMAP is drawn; compiling it, once a session of tests, takes its time."""
    wait_until(lambda: not window.runner.busy, "the map", 300)


@pytest.fixture
def dialog(window: MainWindow) -> Iterator[ExportDialog]:
    """The dialog, opened as a person does, with its preview drawn."""
    wait_rest(window)
    yield open_dialog(window)
    window._export_dialog.reject()
    wait_rest(window)


def open_dialog(window: MainWindow) -> ExportDialog:
    window.actions_by_name["export_figure"].trigger()
    dialog = window._export_dialog
    assert dialog is not None
    wait_until(lambda: not dialog.preview.pixmap().isNull(), "the preview")
    wait_until(lambda: dialog.form.family.count() > 1, "the fonts")
    return dialog


def settle(window: MainWindow, dialog: ExportDialog) -> None:
    wait_until(lambda: not dialog._settle.isActive(), "a preview under way")
    wait_rest(window)


def export(*arguments: str | Path) -> str:
    """`kiruviz export` as a program of its own."""
    command = [sys.executable, "-m", "kiruviz", "export", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGBA"))


def write(window: MainWindow, dialog: ExportDialog, path: Path) -> None:
    settings = dialog.settings()
    assert settings is not None
    dialog.save_to(path, settings)
    wait_until(path.exists, "the figure")
    wait_rest(window)


def saved_copy(window: MainWindow, path: Path) -> Path:
    """The session as a file of its own, as one would mail it."""
    session = window.document.session
    assert session is not None
    window.keep_view()
    with closing(sqlite3.connect(session.path)) as here, closing(sqlite3.connect(path)) as there:
        here.backup(there)
    return path


def set_unusual(window: MainWindow, dialog: ExportDialog) -> None:
    """Settings that differ from every default, made as a person makes them."""
    form = dialog.form
    choose(form.preset, "Square")
    choose(form.theme, "dark")
    choose(form.labels, "selection")
    choose(form.legend, "below")
    choose(form.area, "view")
    choose(form.family, "DejaVu Sans")
    form.dpi.setValue(110)
    form.font_size.setValue(8.0)
    form.point_size.setValue(3.0)
    form.title.setText("A title of my own")
    driving.click(form.caption)


@pytest.mark.parametrize("unusual", [False, True])
def test_a_figure_of_the_window_and_of_the_command_line_from_its_session_are_the_same(
    window: MainWindow, tmp_path: Path, unusual: bool
) -> None:
    document = window.document
    document.label(lambda s: s.rename(0, "a name"))
    document.label(lambda s: s.resist(1))
    if unusual:
        window.commands.color_by("cluster")
        window.map_pane.canvas.zoom(1.6)
        document.select_cluster(2)
        driving.still(window)
    wait_rest(window)
    for suffix in ("png", "svg", "pdf"):
        dialog = open_dialog(window)
        if unusual and suffix == "png":
            set_unusual(window, dialog)
        choose(dialog.form.format, suffix)
        settle(window, dialog)
        made = tmp_path / f"window.{suffix}"
        write(window, dialog, made)
        again = tmp_path / f"line.{suffix}"
        session = saved_copy(window, tmp_path / f"{suffix}.kiru")
        assert export(session, "--figure", again) == f"wrote {again}\n"
        if suffix == "png":
            first, second = pixels(made), pixels(again)
            assert first.shape == second.shape
            assert np.array_equal(first, second), "pixels differ"
            print(f"{first.shape[1]} x {first.shape[0]} pixels, {np.abs(first.astype(int) - second).max()} off")
        assert made.read_bytes() == again.read_bytes()
    from_itself = tmp_path / "itself.png"
    assert export(tmp_path / "window.png", "--figure", from_itself) == f"wrote {from_itself}\n"
    assert np.array_equal(pixels(tmp_path / "window.png"), pixels(from_itself))
    assert (tmp_path / "window.png").read_bytes() == from_itself.read_bytes()
    if unusual:
        window.map_pane.canvas.fit()


def test_settings_come_back_with_the_session(window: MainWindow, tmp_path: Path) -> None:
    dialog = open_dialog(window)
    set_unusual(window, dialog)
    choose(dialog.form.text, "outlines")
    choose(dialog.form.unit, "in")
    driving.click(dialog.form.with_title)
    settle(window, dialog)
    before = dialog.settings()
    assert before is not None
    assert (before.spec.title, before.spec.text, before.spec.legend) == ("", "outlines", "below")
    assert before.spec.width_mm == pytest.approx(120, abs=0.2)
    write(window, dialog, tmp_path / "a.svg")
    assert "<text" not in (tmp_path / "a.svg").read_text(encoding="utf-8")
    again = open_dialog(window).settings()
    assert again == before
    with Session.open_readonly(saved_copy(window, tmp_path / "a.kiru")) as session:
        assert session.view("figure")["spec"]["legend"] == "below"
    window._export_dialog.reject()
    wait_rest(window)


def test_options_of_the_command_line_go_before_what_is_kept(window: MainWindow, tmp_path: Path) -> None:
    dialog = open_dialog(window)
    dialog.form.dpi.setValue(50)
    write(window, dialog, tmp_path / "a.png")
    session = saved_copy(window, tmp_path / "a.kiru")
    export(session, "--figure", tmp_path / "b.png", "--width", "100", "--height", "50", "--title", "")
    assert pixels(tmp_path / "b.png").shape[:2] == (98, 196)


def test_copy_gives_the_picture_and_the_svg_where_that_is_the_format(window: MainWindow, dialog: ExportDialog) -> None:
    choose(dialog.form.format, "svg")
    driving.click(dialog.copy_button)
    wait_rest(window)
    data = QGuiApplication.clipboard().mimeData()
    assert data.text().startswith("<?xml")
    assert bytes(data.data("image/svg+xml").data()).endswith(b"</svg>\n")
    assert not QGuiApplication.clipboard().image().isNull()
    choose(dialog.form.format, "png")
    driving.click(dialog.copy_button)
    wait_rest(window)
    assert not QGuiApplication.clipboard().mimeData().hasText()
    wide = QGuiApplication.clipboard().image().width()
    settings = dialog.settings()
    assert settings is not None
    assert wide == min(round(settings.spec.width_mm / 25.4 * settings.spec.dpi), 2400)


def test_a_font_that_is_not_here_is_named_and_nothing_is_written_in_another(
    window: MainWindow, dialog: ExportDialog
) -> None:
    dialog.form._show_font("Font of another desk")
    dialog.form.changed.emit()
    wait_until(lambda: "“Font of another desk”" in dialog.problem.text() or dialog.problem.text(), "the sentence")
    assert "Font of another desk" in dialog.problem.text()
    assert not dialog.save_button.isEnabled()
    choose(dialog.form.family, "Inter")
    settle(window, dialog)
    assert dialog.problem.text() == ""
    assert dialog.save_button.isEnabled()


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_the_dialog_fits_the_screen_and_cuts_no_text(
    window: MainWindow, dialog: ExportDialog, size: tuple[int, int]
) -> None:
    dialog.notes.setText("No font here has some characters of these names: boxes stand for what is missing. " * 2)
    dialog.notes.show()
    assert dialog.minimumSizeHint().height() <= 680
    assert dialog.minimumSizeHint().width() <= size[0] - 100
    form = dialog.form
    for choice in (form.labels, form.legend, form.text, form.theme, form.unit, form.preset):
        for index in range(choice.count()):
            assert choice.fontMetrics().horizontalAdvance(choice.itemText(index)) <= choice.width() - 38


def test_a_figure_dropped_on_the_window_opens_its_map(window: MainWindow, tmp_path: Path) -> None:
    document = window.document
    document.label(lambda s: s.rename(0, "kept in the figure"))
    dialog = open_dialog(window)
    write(window, dialog, tmp_path / "map.svg")
    coords = document.coords
    assert coords is not None
    former = document.session
    driving.drop(window, tmp_path / "map.svg")
    wait_until(lambda: document.session is not former, "the map of the figure", 300)
    wait_rest(window)
    assert document.coords is not None
    assert np.array_equal(document.coords, coords)
    assert "kept in the figure" in driving.named(window)
    driving.drop(window, Path(__file__).parents[2] / "docs/pictures/map-dark.png")
    wait_until(lambda: "holds no recipe" in window.map_pane.banner.text, "the sentence")
    window.map_pane.banner.hide()


def test_the_curve_beside_the_number_of_clusters_is_exported_too(window: MainWindow, tmp_path: Path) -> None:
    curve = window.drawing_pane.grouping.curve
    wait_until(lambda: curve.effect is not None and curve.effect.complete, "the curve", 120)
    assert [action.text() for action in curve.actions()] == ["Export curve…"]
    curve.actions()[0].trigger()
    dialog = window._export_dialog
    assert dialog is not None
    wait_until(lambda: not dialog.preview.pixmap().isNull(), "the preview")
    assert dialog.windowTitle() == "Export curve"
    assert not dialog.form.labels.isVisible()
    dialog.form.dpi.setValue(90)
    choose(dialog.form.format, "svg")
    settle(window, dialog)
    write(window, dialog, tmp_path / "curve.svg")
    svg = (tmp_path / "curve.svg").read_text(encoding="utf-8")
    assert "Mean silhouette</text>" in svg
    assert "Clusters, k</text>" in svg
    assert export(tmp_path / "curve.svg", "--figure", tmp_path / "again.svg").startswith("wrote")
    assert (tmp_path / "again.svg").read_bytes() == (tmp_path / "curve.svg").read_bytes()
    window.commands.export_curve()
    again = window._export_dialog
    assert again is not dialog
    assert again.form.dpi.value() == 90
    again.reject()
    wait_rest(window)
