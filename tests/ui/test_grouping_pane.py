"""How the rows are grouped: methods, metrics, noise, and the effect of a value before it is taken."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox
from sklearn.cluster import HDBSCAN, AgglomerativeClustering

from kiruviz.analysis.effect import EffectPoint
from kiruviz.analysis.grouping import ClusterSpec, cluster_spec
from kiruviz.progress import Silent
from kiruviz.tasks import maps, spaces
from kiruviz.ui.conductor import MapChoice
from kiruviz.ui.map.raster import argb
from kiruviz.ui.panes.grouping import GroupingPane
from kiruviz.ui.widgets.basics import Choice
from kiruviz.ui.window import MainWindow
from tests.ui import driving
from tests.ui.driving import buttons, choose, click, press, wait_rest, wait_until

pytestmark = pytest.mark.keeps_running
Key = Qt.Key


@pytest.fixture
def pane(window: MainWindow) -> GroupingPane:
    return window.drawing_pane.grouping


@pytest.fixture(autouse=True)
def at_rest(window: MainWindow, qtbot: object) -> Iterator[None]:
    driving.wake(window)
    wait_rest(window)
    yield
    session = window.document.session
    assert session is not None
    while session.can_undo:
        window.commands.undo()
    wait_rest(window)


def number_field(pane: GroupingPane, name: str) -> QSpinBox | QDoubleSpinBox:
    field = pane.control(name)
    assert isinstance(field, (QSpinBox, QDoubleSpinBox))
    return field


def grouped(window: MainWindow, spec: ClusterSpec) -> np.ndarray:
    """The assignment on screen, once it is by `spec`."""
    wait_until(lambda: window.document.cluster_spec == spec, f"clusters by {spec}")
    assert window.document.labels is not None
    return window.document.labels.assignment


def rows_of(window: MainWindow) -> np.ndarray:
    record = window.document.record
    assert record is not None
    return spaces.space(record.recipe).vectors


def effect_of(window: MainWindow, spec: ClusterSpec) -> tuple[EffectPoint, ...]:
    """The curve of `spec`, once it is whole."""

    def whole() -> bool:
        found = window.document.effects.get(spec.without_value())
        return found is not None and found.complete

    wait_until(whole, f"the effect of {spec.title}")
    return window.document.effects[spec.without_value()].points


def test_choosing_a_method_shows_its_effect_and_changes_no_cluster(window: MainWindow, pane: GroupingPane) -> None:
    before = window.document.labels
    choose(pane.method, "hdbscan")
    points = effect_of(window, cluster_spec("hdbscan"))
    assert pane.curve.isVisible()
    assert window.document.labels is before
    assert pane.words.text() == "min. size 5: 8 clusters, 48 % noise, silhouette .19"
    assert {point.value for point in points} >= {2, 5, 10}
    choose(pane.method, "kmeans")


def test_hdbscan_is_scikit_learns_and_its_noise_a_group_of_its_own(window: MainWindow, pane: GroupingPane) -> None:
    choose(pane.method, "hdbscan")
    number_field(pane, "min_cluster_size").setValue(6)
    click(pane.cluster_button)
    assignment = grouped(window, cluster_spec("hdbscan", min_cluster_size=6))
    expected = HDBSCAN(6, algorithm="brute", copy=True).fit_predict(rows_of(window))
    assert np.array_equal(assignment, expected)
    noise = np.flatnonzero(assignment == -1)
    assert 0 < len(noise) < 200
    line = window.clusters_pane.rest
    assert line.isVisible()
    assert line.text() == f"noise  {len(noise)} ({len(noise) / 2:.0f} %)"
    assert line.accessibleName() == f"noise, {len(noise)} rows"
    grey = argb(["#98a1b0" if window.themes.theme.ground == "dark" else "#5c6573"])[0]
    assert (np.asarray(window.map_pane.canvas.scene.colors)[noise] == grey).all()
    click(line)
    assert np.array_equal(window.document.lassoed, noise)
    window.document.set_lasso(np.zeros(0, np.int64))


def test_all_noise_is_said(window: MainWindow, pane: GroupingPane) -> None:
    choose(pane.method, "hdbscan")
    number_field(pane, "min_cluster_size").setValue(60)
    press(pane.control("min_cluster_size"), Key.Key_Return)
    assignment = grouped(window, cluster_spec("hdbscan", min_cluster_size=60))
    assert (assignment == -1).all()
    assert window.clusters_pane.progress.text() == "No cluster: every row is noise."
    assert window.clusters_pane.rest.text() == "noise  200 (100 %)"


def test_cosine_is_said_in_words_and_kept_with_the_clusters(window: MainWindow, pane: GroupingPane) -> None:
    choose(pane.method, "agglomerative")
    choose(pane.metric_choice, "cosine")
    linkage = pane.control("linkage")
    assert isinstance(linkage, Choice)
    choose(linkage, "average")
    assert pane.meaning.isVisible()
    assert pane.meaning.text() == "Cosine: rows scaled to unit length, then Euclidean distance."
    click(pane.cluster_button)
    assignment = grouped(window, cluster_spec("agglomerative", "cosine", linkage="average"))
    rows = rows_of(window)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    expected = AgglomerativeClustering(8, linkage="average").fit_predict(units)
    assert np.array_equal(assignment, expected)
    assert window.document.labels is not None
    assert window.document.labels.params == {
        "metric": "cosine", "k": 8, "linkage": "average", "distance_threshold": None,
    }  # fmt: skip
    window.commands.copy_python("clusters")
    copied = QGuiApplication.clipboard().text()
    names: dict[str, np.ndarray] = {}
    exec(compile(copied, "<copied>", "exec"), names)
    assert np.array_equal(names["labels"], expected)


def test_undo_brings_method_metric_and_parameters_back(window: MainWindow, pane: GroupingPane) -> None:
    choose(pane.method, "agglomerative")
    choose(pane.metric_choice, "cosine")
    number_field(pane, "distance_threshold").setValue(1.5)
    assert not pane.control("k").isEnabled()
    click(pane.cluster_button)
    spec = pane.spec()
    assert spec.stored()["distance_threshold"] == 1.5
    grouped(window, spec)
    window.commands.undo()
    assert pane.spec() == ClusterSpec()
    assert not pane.meaning.isVisible()
    window.commands.redo()
    assert pane.spec() == spec


def test_names_carry_over_to_another_method(window: MainWindow, pane: GroupingPane) -> None:
    assert window.document.labels is not None
    before = window.document.labels.assignment
    for cluster in range(8):
        window.document.label(lambda s, cluster=cluster: s.rename(cluster, f"name {cluster}"))
    choose(pane.method, "agglomerative")
    linkage = pane.control("linkage")
    assert isinstance(linkage, Choice)
    linkage.set_value("ward")
    number_field(pane, "distance_threshold").setValue(0)
    click(pane.cluster_button)
    after = grouped(window, pane.spec())
    clusters = window.document.labels.clusters
    overlaps = {
        (old, new): ((before == old) & (after == new)).sum() / ((before == old) | (after == new)).sum()
        for old in range(8)
        for new in range(8)
    }
    alike = [pair for pair, overlap in overlaps.items() if overlap >= 0.5]
    assert alike
    for old, new in alike:
        assert clusters[new].name == f"name {old}"


@pytest.mark.parametrize(
    ("method", "in_words"),
    [
        ("kmeans", "k = {0.value}: silhouette"),
        ("agglomerative", "k = {0.value}: silhouette"),
        ("hdbscan", "min. size {0.value}: {0.clusters} clusters, "),
    ],
)
def test_what_the_curve_says_is_what_a_click_then_gives(
    window: MainWindow, pane: GroupingPane, method: str, in_words: str
) -> None:
    if pane.chosen != method:
        choose(pane.method, method)
    points = effect_of(window, pane.spec())
    point = points[3]
    at = pane.curve.place(point.value).toPoint()
    driving.move_mouse(pane.curve, at)
    assert pane.words.text().startswith(in_words.format(point))
    assert pane.curve.accessibleDescription() == pane.words.text()
    QTest.mouseClick(pane.curve, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(at.x(), 20))
    spec = pane.spec()
    assert spec.value == point.value
    assignment = grouped(window, spec)
    assert len(set(assignment[assignment >= 0].tolist())) == point.clusters
    assert np.mean(assignment < 0) == pytest.approx(point.noise)


def test_the_arrows_look_and_enter_takes(window: MainWindow, pane: GroupingPane) -> None:
    effect_of(window, ClusterSpec())
    before = window.document.labels
    pane.curve.setFocus()
    press(pane.curve, Key.Key_Right)
    assert pane.words.text().startswith("k = 9: silhouette")
    press(pane.curve, Key.Key_Escape)
    assert pane.words.text().startswith("k = 8: silhouette")
    press(pane.curve, Key.Key_Left, Key.Key_Left)
    assert pane.words.text().startswith("k = 6: silhouette")
    assert window.document.labels is before
    press(pane.curve, Key.Key_Return)
    grouped(window, cluster_spec("kmeans", k=6))
    assert len(driving.titles(window)) == 6


def test_evoc_has_cosine_only_and_waits_to_be_asked_for_its_layers(window: MainWindow, pane: GroupingPane) -> None:
    choose(pane.method, "evoc")
    assert pane.metric_choice.count() == 1
    assert pane.spec().metric == "cosine"
    assert not window.runner.busy
    assert buttons(pane)["Show the effect"].isVisible()
    choose(pane.method, "kmeans")
    assert pane.metric_choice.count() == 2
    assert "Show the effect" not in buttons(pane)


def test_a_parameter_that_does_not_fit_is_a_sentence_and_the_clusters_stay(
    window: MainWindow, pane: GroupingPane
) -> None:
    before = window.document.labels
    choose(pane.method, "evoc")
    number_field(pane, "n_neighbors").setValue(300)
    click(pane.cluster_button)
    wait_until(lambda: window.map_pane.banner.text, "a sentence")
    assert "needs more than 300 rows, and there are 200" in window.map_pane.banner.text
    assert window.document.labels is before
    window.map_pane.banner.hide()
    window.conductor.draw(MapChoice(window.conductor.choice.method, window.conductor.choice.params))


def test_stability_of_hdbscan_is_over_parts_of_the_rows(window: MainWindow, pane: GroupingPane) -> None:
    choose(pane.method, "hdbscan")
    number_field(pane, "min_cluster_size").setValue(4)
    click(pane.cluster_button)
    assignment = grouped(window, pane.spec())
    wait_until(lambda: window.document.stability, "stability")
    record = window.document.record
    assert record is not None
    expected = maps.cluster_stability(Silent(), record.recipe, assignment, pane.spec())
    assert window.document.stability == expected
    assert "80 % of the rows" in str(
        window.clusters_pane.model.headerData(4, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    )
