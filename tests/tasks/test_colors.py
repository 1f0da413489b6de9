"""New clusters come with colours by where they lie; those that continue a former one keep its colour."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kiruviz.analysis.grouping import ClusterSpec, KMeansParams
from kiruviz.progress import Silent
from kiruviz.session.store import Session
from kiruviz.space import Recipe
from kiruviz.tasks import colors, command_map, remembered, spaces
from kiruviz.tasks.carrying import FormerLabels


def test_eight_clusters_are_left_to_the_order_of_their_numbers(everyday: Recipe) -> None:
    assert remembered.cluster(Silent(), everyday, ClusterSpec(KMeansParams(k=8, n_init=1))).colors == {}


def test_twenty_clusters_have_a_colour_each_by_where_they_lie(everyday: Recipe) -> None:
    spec = ClusterSpec(KMeansParams(k=20, n_init=1))
    by_pca = remembered.cluster(Silent(), everyday, spec)
    pca = remembered.project(Silent(), everyday, "pca", {})
    shown = remembered.cluster(Silent(), everyday, spec, None, pca.coords)
    elsewhere = remembered.cluster(
        Silent(), everyday, spec, None, np.random.default_rng(0).normal(size=(200, 2)).astype(np.float32)
    )

    assert sorted(by_pca.colors) == list(range(20))
    assert len(set(by_pca.colors.values())) == 20
    assert shown.colors == by_pca.colors
    assert elsewhere.colors != by_pca.colors


def test_a_map_that_is_recalled_has_the_same_colours(everyday: Recipe) -> None:
    spec = ClusterSpec(KMeansParams(k=20, n_init=1))
    pca = remembered.project(Silent(), everyday, "pca", {})
    made = remembered.cluster(Silent(), everyday, spec, None, pca.coords)
    known = remembered.known_map(Silent(), everyday, 200, {"n_epochs": 987}, spec)

    assert known.umap is None
    assert known.clusters is not None
    assert known.clusters.colors == made.colors


def test_clusters_that_continue_a_named_one_are_not_coloured_again(everyday: Recipe, tmp_path: Path) -> None:
    first = remembered.cluster(Silent(), everyday, ClusterSpec(KMeansParams(k=12, n_init=1)))
    path = tmp_path / "former.kiru"
    with Session.create(path) as session:
        space_id = session.add_space(spaces.build_space(Silent(), everyday))
        session.set_clusters(space_id, "kmeans", {"k": 12}, first.assignment, colors=first.colors)
        session.rename(3, "kept")
        session.recolor({3: 77})
        again = remembered.cluster(
            Silent(), everyday, ClusterSpec(KMeansParams(k=12, n_init=1)), FormerLabels(str(path))
        )
        former = session.label_set(1).clusters

    assert again.carriage.carried[3] == (1, 3)
    assert former[3].color == 77
    assert not set(again.colors) & set(again.carriage.carried)


def test_recolouring_keeps_the_colours_that_are_fixed(everyday: Recipe) -> None:
    grouped = remembered.cluster(Silent(), everyday, ClusterSpec(KMeansParams(k=12, n_init=1)))
    coords = remembered.project(Silent(), everyday, "pca", {}).coords
    found = colors.recolor(Silent(), coords, grouped.assignment, {0: 5, 1: 6})
    assert sorted(found) == list(range(2, 12))
    assert not {5, 6} & set(found.values())


@pytest.mark.parametrize("clusters", [8, 12])
def test_the_command_line_colours_as_the_window_does(tmp_path: Path, clusters: int) -> None:
    path = tmp_path / "map.kiru"
    command_map.make_map(Silent(), command_map.MapOrder("smollm2", clusters=clusters, session=path))
    with Session.open_readonly(path) as session:
        labels = session.labels
        assert labels is not None
        projection = session.projection(labels.space_id)
        assert projection is not None
        expected = colors.recolor(Silent(), projection.coords, labels.assignment, {})
    assert {i: cluster.color for i, cluster in labels.clusters.items()} == expected
