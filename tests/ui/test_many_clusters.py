"""Hundreds of clusters: names found bit by bit, a table that changes only where something changed, a cluster that
stands out where colours are shared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPixmap

from kiruviz.session.labels import Cluster, LabelSet
from kiruviz.ui.map import paint
from kiruviz.ui.map.annotate import MOST_NAMES, Annotator
from kiruviz.ui.map.raster import argb
from kiruviz.ui.map.scene import NameMark, Scene
from kiruviz.ui.map.spots import AT_ONCE, Spots
from kiruviz.ui.map.viewport import Viewport
from kiruviz.ui.panes.clusters import ClustersModel
from kiruviz.ui.theme import DARK


def label_set(owners: np.ndarray, **names: str) -> LabelSet:
    clusters = {int(i): Cluster(int(i), color=int(i)) for i in sorted(set(owners.tolist()) - {-1})}
    for key, name in names.items():
        clusters[int(key[1:])] = replace(clusters[int(key[1:])], status="named", name=name)
    return LabelSet(1, 1, "kmeans", {}, owners.astype(np.int32), clusters)


# The spots of names


@pytest.fixture
def cloud() -> tuple[np.ndarray, LabelSet]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(4000, 2)).astype(np.float32), label_set(rng.integers(0, 200, 4000))


def test_spots_of_many_clusters_are_found_in_several_goes(cloud):
    coords, labels = cloud
    spots = Spots()
    spots.follow(coords, labels)
    goes = 1
    while not spots.find(labels.order):
        goes += 1
    assert goes == -(-200 // AT_ONCE)
    assert all(spots.at(i) is not None for i in labels.order)


def test_only_clusters_whose_members_moved_are_looked_at_again(cloud):
    coords, labels = cloud
    spots = Spots()
    spots.follow(coords, labels)
    while not spots.find(labels.order):
        pass
    moved = labels.assignment.copy()
    rows = labels.members(3)
    moved[rows] = 4
    spots.follow(coords, label_set(moved))
    unknown = {i for i in labels.order if spots.at(i) is None}
    assert unknown == {3, 4}
    spots.follow(coords.copy(), labels)
    assert all(spots.at(i) is None for i in labels.order)


# The table


def ids(model: ClustersModel) -> list[int]:
    return [row[0] for row in model.rows]


@pytest.fixture
def model(qtbot) -> ClustersModel:
    made = ClustersModel()
    made.fill(label_set(np.arange(500)), {})
    return made


def test_a_name_changes_one_row_of_the_table(qtbot, model):
    changed: list[tuple[int, int]] = []
    resets: list[None] = []
    model.dataChanged.connect(lambda top, bottom: changed.append((top.row(), bottom.row())))
    model.modelReset.connect(lambda: resets.append(None))
    model.fill(label_set(np.arange(500), _7="months"), {})
    assert [row for row in changed if model.rows[row[0]][1] == "months"] == [(7, 7)]
    assert not resets
    assert model.rows[7][1] == "months"


def test_clusters_that_go_and_come_leave_the_other_rows_alone(qtbot, model):
    resets: list[None] = []
    model.modelReset.connect(lambda: resets.append(None))
    merged = np.arange(500)
    merged[[9, 12]] = 4
    model.fill(label_set(merged), {})
    assert ids(model) == [i for i in range(500) if i not in (9, 12)]
    assert model.rows[4][2] == 3
    model.fill(label_set(np.arange(500)), {})
    assert ids(model) == list(range(500))
    assert [row[2] for row in model.rows] == [1] * 500
    assert not resets


@pytest.mark.parametrize("order", [Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder])
def test_whatever_changes_the_table_ends_as_one_filled_anew(qtbot, order):
    rng = np.random.default_rng(2)
    kept = ClustersModel()
    for step in range(60):
        owners = rng.integers(-1, rng.choice([3, 40, 400]), 600)
        named = {f"_{i}": f"name {step}" for i in sorted(set(owners.tolist()) - {-1})[:: rng.integers(1, 9)]}
        labels, stability = label_set(owners, **named), {0: 0.5} if step % 2 else {}
        column = int(rng.integers(0, 5))
        fresh = ClustersModel()
        kept.fill(labels, stability, column, order)
        fresh.fill(labels, stability, column, order)
        assert kept.rows == fresh.rows
        assert kept.clusters is labels.clusters


# The map


def painted(scene: Scene) -> QPixmap:
    pixmap = QPixmap(200, 100)
    pixmap.fill(DARK.color("background"))
    with QPainter(pixmap) as painter:
        paint.points(painter, scene, scene.coords, 4.0, DARK, 1.0, paint.Stamped())
    return pixmap


def test_where_colours_are_shared_the_selected_cluster_keeps_its_own_and_the_others_are_dimmed(qtbot):
    coords = np.array([[50, 50], [150, 50]], np.float32)
    scene = Scene(coords=coords, colors=argb(["#5aaeec", "#5aaeec"]), selected=np.array([0]), dimmed=True)
    image = painted(scene).toImage()
    assert image.pixelColor(50, 50).name() == "#5aaeec"
    assert image.pixelColor(150, 50).lightness() < image.pixelColor(50, 50).lightness() - 40
    scene.dimmed = False
    image = painted(scene).toImage()
    assert image.pixelColor(150, 50).name() == "#5aaeec"


def test_a_raster_is_used_again_until_a_place_or_a_colour_changes():
    rng = np.random.default_rng(0)
    places = rng.uniform(0, 100, (5000, 2)).astype(np.float32)
    colors = argb(["#5aaeec"] * 5000)
    stamped = paint.Stamped()
    first = stamped.image(places, colors, 2.0, (100, 100), 1.0)
    assert stamped.image(places.copy(), colors.copy(), 2.0, (100, 100), 1.0) is first
    other = colors.copy()
    other[7] = 0xFF00FF00
    second = stamped.image(places, other, 2.0, (100, 100), 1.0)
    assert second is not first
    assert second != first
    assert stamped.image(places, other, 3.0, (100, 100), 1.0) is not second


def test_of_hundreds_of_names_the_largest_and_the_selected_one_are_tried_and_none_collide(qtbot):
    rng = np.random.default_rng(0)
    places = rng.uniform(0, 10, (400, 2))
    marks = tuple(
        NameMark(i, f"cluster {i}", float(x), float(y), "#5aaeec", False, 1000 - i) for i, (x, y) in enumerate(places)
    )
    view = Viewport(5, 5, 90, 1000, 900)
    coords = places.astype(np.float32)
    scene = Scene(coords=coords, names=("",) * 400, importance=np.zeros(400), marks=marks, cluster=399)
    found = Annotator().annotate(scene, view, view.to_screen(coords), 3.0, [], words=False)
    shown = {mark.cluster_id for mark, _, _ in found.marks}
    assert 399 in shown
    assert len(shown) <= MOST_NAMES
    assert shown - {399} <= set(range(MOST_NAMES - 1))
    boxes = np.array([box for _, box, _ in found.marks])
    for i, box in enumerate(boxes):
        others = np.delete(boxes, i, axis=0)
        apart = (
            (others[:, 0] >= box[2]) | (others[:, 2] <= box[0]) | (others[:, 1] >= box[3]) | (others[:, 3] <= box[1])
        )
        assert apart.all()
