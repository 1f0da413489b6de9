"""How the map is drawn and clustered: method, parameters, seed, k, cancel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSpinBox

from kiruviz.ui.panes.drawing import DrawingPane
from kiruviz.ui.window import MainWindow
from tests.ui import driving
from tests.ui.driving import choose, click, named, press, wait_rest, wait_until

pytestmark = pytest.mark.keeps_running
Key = Qt.Key


@pytest.fixture
def pane(window: MainWindow) -> DrawingPane:
    return window.drawing_pane


@pytest.fixture(autouse=True)
def at_rest(window: MainWindow, qtbot: object) -> Iterator[None]:
    driving.wake(window)
    wait_rest(window)
    yield
    session = window.document.session
    assert session is not None
    while session.can_undo:
        window.commands.undo()


def k_field(pane: DrawingPane) -> QSpinBox:
    field = pane.grouping.control("k")
    assert isinstance(field, QSpinBox)
    return field


def shown(window: MainWindow) -> tuple[str, dict[str, object]]:
    assert window.document.projection is not None
    return window.document.projection


def test_umap_follows_pca_by_itself(window: MainWindow, pane: DrawingPane) -> None:
    assert shown(window)[0] == "umap"
    assert "UMAP cosine" in window.state_line()
    assert pane.note.text() == "UMAP, cosine, seed 0"


def test_pca_and_umap_are_a_choice(window: MainWindow, pane: DrawingPane) -> None:
    choose(pane.method, "pca")
    wait_until(lambda: shown(window)[0] == "pca", "PCA")
    assert not pane.umap_box.isVisible()
    assert "PCA" in window.state_line()
    choose(pane.method, "umap")
    wait_until(lambda: shown(window)[0] == "umap", "UMAP")
    assert pane.umap_box.isVisible()


def test_another_seed_gives_another_map_and_the_former_seed_the_former_map(
    window: MainWindow, pane: DrawingPane
) -> None:
    first = np.array(window.document.coords)
    for seed in (5, 0):
        field = pane.fields["seed"]
        field.setValue(seed)
        press(field, Key.Key_Return)
        wait_until(lambda seed=seed: shown(window)[1].get("seed", 0) == seed, f"the map of seed {seed}")
        same = np.array_equal(first, np.array(window.document.coords))
        assert same == (seed == 0)


def test_a_layout_unfolds_in_partial_pictures(window: MainWindow, pane: DrawingPane) -> None:
    finals: list[bool] = []
    window.document.coords_changed.connect(finals.append)
    pane.fields["seed"].setValue(77)
    click(pane.draw_button)
    wait_until(lambda: shown(window)[1].get("seed") == 77, "the map")
    window.document.coords_changed.disconnect(finals.append)
    assert finals[-1] is True
    assert finals.count(False) >= 3


def test_every_parameter_is_kept_with_the_map(window: MainWindow, pane: DrawingPane) -> None:
    wanted = {"n_neighbors": 12, "min_dist": 0.25, "spread": 1.2, "n_epochs": 60, "negative_sample_rate": 3}
    before = {name: pane.fields[name].value() for name in wanted}
    for name, value in wanted.items():
        pane.fields[name].setValue(value)  # type: ignore[arg-type]
    choose(pane.metric_choice, "euclidean")
    click(pane.draw_button)
    wait_until(lambda: shown(window)[1].get("n_epochs") == 60, "the map")
    assert {name: shown(window)[1][name] for name in wanted} == wanted
    assert shown(window)[1]["metric"] == "euclidean"
    for name, value in before.items():
        pane.fields[name].setValue(value)  # type: ignore[arg-type]
    choose(pane.metric_choice, "cosine")
    click(pane.draw_button)
    wait_until(lambda: shown(window)[1].get("n_epochs") != 60, "the former map")


def test_cancel_keeps_the_last_finished_map(window: MainWindow, pane: DrawingPane) -> None:
    before = np.array(window.document.coords)
    pane.fields["n_epochs"].setValue(5000)
    click(pane.draw_button)
    partial: list[bool] = []
    window.document.coords_changed.connect(partial.append)
    wait_until(lambda: False in partial, "a partial picture")
    window.document.coords_changed.disconnect(partial.append)
    wait_until(lambda: "%" in window.strip.text, "a share")
    window.actions_by_name["cancel"].trigger()
    wait_rest(window)
    assert np.array_equal(before, np.array(window.document.coords))
    assert pane.fields["n_epochs"].value() == 0
    assert np.allclose(window.map_pane.canvas.scene.coords, before)


def test_another_k_carries_the_names_and_says_so(window: MainWindow, pane: DrawingPane) -> None:
    window.document.label(lambda s: s.rename(0, "carried"))
    k_field(pane).setValue(6)
    click(pane.grouping.cluster_button)
    wait_until(lambda: len(driving.titles(window)) == 6, "six clusters")
    assert named(window) == ["carried"]
    assert "Names carried over: carried" in window.status.text()
    window.commands.undo()
    assert len(driving.titles(window)) == 8
    assert k_field(pane).value() == 8


def test_a_name_that_finds_no_cluster_is_told_and_undo_brings_it_back(window: MainWindow, pane: DrawingPane) -> None:
    smallest = min(window.document.labels.sizes().items(), key=lambda item: item[1])[0]
    window.document.label(lambda s: s.rename(smallest, "too small to live on"))
    k_field(pane).setValue(1)
    click(pane.grouping.cluster_button)
    wait_until(lambda: len(driving.titles(window)) == 1, "one cluster")
    assert "No cluster for: too small to live on" in window.status.text()
    window.commands.undo()
    assert "too small to live on" in named(window)
    window.commands.undo()


def test_more_clusters_than_rows_are_as_many_as_rows(window: MainWindow, pane: DrawingPane) -> None:
    k_field(pane).setValue(500)
    click(pane.grouping.cluster_button)
    wait_until(lambda: len(driving.titles(window)) > 8, "clusters")
    assert len(driving.titles(window)) == 200
    assert not window.map_pane.banner.text
    window.commands.undo()
