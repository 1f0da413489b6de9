"""Clusters that lie side by side on the map have colours that differ, to colour-blind people too."""

from __future__ import annotations

import numpy as np
import pytest

from kiruviz import palette
from kiruviz.analysis.color_difference import distances
from kiruviz.analysis.coloring import (
    cluster_centres,
    color_clusters,
    colors_beside,
    delaunay_edges,
    pick_color,
)
from kiruviz.errors import Cancelled

CLUSTERS = 300


def cloud(rows: int = 20_000, clusters: int = CLUSTERS, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A map of uneven density and its rows' clusters: each row belongs to the nearest of some rows."""
    rng = np.random.default_rng(seed)
    islands = rng.normal(size=(40, 2)) * 6
    spread = rng.choice([0.3, 1.0, 2.5], (rows, 1))
    coords = islands[rng.integers(0, 40, rows)] + rng.normal(size=(rows, 2)) * spread
    seeds = coords[rng.choice(rows, clusters, replace=False)]
    nearest = ((coords[:, None, :] - seeds[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
    return coords.astype(np.float32), nearest.astype(np.int32)


@pytest.fixture(scope="module")
def coloured() -> tuple[np.ndarray, np.ndarray, dict[int, int]]:
    coords, assignment = cloud()
    return coords, assignment, color_clusters(coords, assignment, {})


def smallest(colors: list[int], pairs: np.ndarray, vision: str) -> float:
    """The smallest distance of the pairs on either ground."""
    found = [distances([palette.cluster_color(c, g) for c in colors], vision) for g in ("dark", "light")]
    return float(min(d[pairs[:, 0], pairs[:, 1]].min() for d in found))


@pytest.mark.parametrize(("vision", "wanted"), [("normal", 9.5), ("deuteranopia", 6.5), ("protanopia", 6.5)])
def test_of_300_clusters_neighbours_are_told_apart(coloured, vision, wanted):
    coords, assignment, colors = coloured
    ids = np.arange(CLUSTERS)
    pairs = delaunay_edges(cluster_centres(coords, assignment, ids))
    found = smallest([colors[i] for i in range(CLUSTERS)], pairs, vision)
    in_order = smallest(list(range(CLUSTERS)), pairs, vision)
    print(f"{vision}: neighbours at least {found:.1f} apart, {in_order:.1f} with colours in order")
    assert found >= wanted
    assert in_order < 2  # what is measured can be missed


@pytest.mark.parametrize(("vision", "wanted"), [("normal", 6), ("deuteranopia", 4), ("protanopia", 4)])
def test_of_300_clusters_the_twelve_in_view_are_told_apart(coloured, vision, wanted):
    coords, assignment, colors = coloured
    centres = cluster_centres(coords, assignment, np.arange(CLUSTERS))
    rng = np.random.default_rng(1)
    worst = np.inf
    for place in coords[rng.choice(len(coords), 50, replace=False)]:
        near = np.linalg.norm(centres - place, axis=1).argsort()[:12]
        shown = [colors[int(i)] for i in near]
        every = np.array(np.triu_indices(12, 1)).T
        worst = min(worst, smallest(shown, every, vision))
    print(f"{vision}: any two of 12 in view at least {worst:.1f} apart")
    assert worst >= wanted


def test_the_same_map_has_the_same_colours(coloured):
    coords, assignment, colors = coloured
    assert color_clusters(coords, assignment, {}) == colors


def test_up_to_eight_clusters_have_the_first_colours_in_order():
    coords, assignment = cloud(500, 8)
    assert color_clusters(coords, assignment, {}) == {i: i for i in range(8)}
    assert color_clusters(coords, assignment, {2: 0, 5: 7}) == {0: 1, 1: 2, 3: 3, 4: 4, 6: 5, 7: 6}


@pytest.mark.parametrize("clusters", [9, 16, 24, 32])
def test_a_few_dozen_clusters_have_a_colour_each(clusters):
    coords, assignment = cloud(2000, clusters)
    found = color_clusters(coords, assignment, {})
    assert sorted(found) == list(range(clusters))
    assert len(set(found.values())) == clusters


def test_colours_that_are_kept_are_kept_and_the_others_differ_from_them(coloured):
    coords, assignment, _ = coloured
    fixed = {i: i % 8 for i in range(0, CLUSTERS, 3)}
    found = color_clusters(coords, assignment, fixed)
    assert not set(found) & set(fixed)
    colors = [{**found, **fixed}[i] for i in range(CLUSTERS)]
    pairs = delaunay_edges(cluster_centres(coords, assignment, np.arange(CLUSTERS)))
    free = np.array([(a, b) for a, b in pairs if int(a) not in fixed or int(b) not in fixed])
    assert smallest(colors, free, "deuteranopia") > 3


@pytest.mark.parametrize(
    ("coords", "assignment"),
    [
        (np.zeros((0, 2)), np.zeros(0, int)),
        (np.zeros((5, 2)), np.full(5, -1)),
        (np.zeros((40, 2)), np.arange(40) % 20),
        (np.stack([np.arange(40.0), np.zeros(40)], axis=1), np.arange(40) % 20),
        (np.random.default_rng(0).normal(size=(20, 2)), np.arange(20)),
        (np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 20 * 3 - 1),
    ],
)
def test_maps_that_are_hardly_maps_get_colours_too(coords, assignment):
    found = color_clusters(coords.astype(np.float32), assignment.astype(np.int32), {})
    assert set(found) == set(assignment[assignment >= 0].tolist())
    assert all(0 <= color < palette.COUNT for color in found.values())


def test_thousands_of_clusters_are_coloured_in_order():
    coords, assignment = cloud(9000, 2500)
    assert color_clusters(coords, assignment, {})[2400] == 2400


def test_the_search_can_be_cancelled():
    def check() -> None:
        raise Cancelled

    coords, assignment = cloud(2000, 20)
    with pytest.raises(Cancelled):
        color_clusters(coords, assignment, {}, check)


def test_one_more_cluster_among_few_has_the_smallest_free_colour():
    assert pick_color([0, 2], [0, 1, 2]) == 3
    assert pick_color([0], [0, 2]) == 1


def test_one_more_cluster_among_many_differs_from_those_near():
    near = [0, 1, 2, 3, 4]
    color = pick_color(near, list(range(8)) * 5)
    pairs = np.array([(5, i) for i in range(5)])
    assert smallest([*near, color], pairs, "normal") >= 10
    assert smallest([*near, color], pairs, "deuteranopia") >= 7


def test_the_parts_of_a_split_cluster_differ_from_each_other_and_from_those_beside(coloured):
    coords, assignment, colors = coloured
    rows = np.flatnonzero(assignment == 7)
    parts = colors_beside(coords, assignment, colors, rows, 2)
    beside = [colors[7], *parts]
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    assert smallest(beside, pairs, "normal") >= 10
    assert smallest(beside, pairs, "protanopia") >= 7
