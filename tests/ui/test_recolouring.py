"""Colours on the map: recoloured on request, kept with their names, and told in a legend that fits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from kiruviz.ui.window import MainWindow
from tests.ui.driving import wait_until

pytestmark = pytest.mark.keeps_running


@pytest.fixture(autouse=True)
def twenty(window: MainWindow) -> Iterator[None]:
    """Twenty clusters, in the order of their numbers; all is undone afterwards."""
    document = window.document
    assert document.session is not None
    assert document.space_id is not None
    assert document.labels is not None
    assert document.coords is not None
    window.conductor.cancel_drawing()
    wait_until(lambda: window.runner.lane("analysis").is_idle, "an idle lane")
    rng = np.random.default_rng(0)
    seeds = document.coords[rng.choice(len(document.coords), 20, replace=False)]
    nearest = ((document.coords[:, None] - seeds[None]) ** 2).sum(axis=2).argmin(axis=1)
    session, space_id = document.session, document.space_id
    document.label(lambda s: s.set_clusters(space_id, "kmeans", {"k": 20}, nearest))
    yield
    while session.can_undo:
        window.commands.undo()


def colors(window: MainWindow) -> dict[int, int]:
    assert window.document.labels is not None
    return {i: cluster.color for i, cluster in window.document.labels.clusters.items()}


def recolor(window: MainWindow, name: str) -> None:
    told = []
    window.conductor.told.connect(told.append)
    window.actions_by_name[name].trigger()
    wait_until(lambda: bool(told), "word of the colours", 30)
    window.conductor.told.disconnect(told.append)


def test_recolouring_keeps_the_colours_of_names_and_one_undo_brings_all_back(window: MainWindow) -> None:
    before = colors(window)
    window.document.label(lambda s: s.rename(3, "kept"))
    recolor(window, "recolor")
    after = colors(window)
    assert after[3] == before[3]
    assert after != before
    assert len(set(after.values())) == 20
    window.commands.undo()
    assert colors(window) == before


def test_named_clusters_are_recoloured_when_that_is_asked(window: MainWindow) -> None:
    session = window.document.session
    assert session is not None
    for cluster_id in range(20):
        window.document.label(lambda s, cluster_id=cluster_id: s.rename(cluster_id, f"name {cluster_id}"))
    before, steps = colors(window), len(session.history())
    recolor(window, "recolor")
    assert colors(window) == before
    assert "Recolour named ones too" in window.status.text()
    recolor(window, "recolor_all")
    assert colors(window) != before
    assert len(session.history()) == steps + 1


def test_a_lassoed_cluster_has_a_colour_of_its_own(window: MainWindow) -> None:
    document = window.document
    assert document.labels is not None
    largest = max(document.labels.sizes().items(), key=lambda item: item[1])[0]
    before = set(colors(window).values())
    document.set_lasso(document.labels.members(largest)[:2])
    window.map_pane.lasso_bar._make()
    made = document.cluster
    assert made is not None
    assert made.cluster_id == 20
    assert made.color not in before


def test_a_legend_of_many_kinds_says_how_many_more_there_are(window: MainWindow) -> None:
    legend = window.map_pane.kinds
    legend.show_kinds(tuple((f"kind {i}", "#5aaeec") for i in range(40)))
    lines = [legend.layout().itemAt(i).widget().text() for i in range(legend.layout().count())]
    assert len(lines) == 13
    assert lines[-1] == "and 28 more"
    assert legend.height() < window.map_pane.canvas.height() / 2
    legend.show_kinds(tuple((f"kind {i}", "#5aaeec") for i in range(13)))
    assert legend.layout().count() == 13
    assert legend.layout().itemAt(12).widget().text() == "●  kind 12"
    legend.show_kinds(())
    assert not legend.isVisible()
