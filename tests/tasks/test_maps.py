"""Projections, clusters and the evidence beside them, on the starters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score

from kiruviz.analysis.grouping import ClusterSpec, KMeansParams
from kiruviz.errors import Cancelled, UserError
from kiruviz.models.opening import open_model
from kiruviz.progress import Silent
from kiruviz.space import Recipe
from kiruviz.tasks import maps, spaces
from kiruviz.tasks.carrying import Carriage
from kiruviz.tasks.maps import Method


def rows_of(recipe: Recipe) -> np.ndarray[Any, Any]:
    """The raw rows of the everyday words, read from the table."""
    return open_model("smollm2").table("token")[spaces.build_space(Silent(), recipe).row_ids]


def test_pca_is_that_of_scikit_learn_and_says_its_share_of_the_variance(everyday: Recipe) -> None:
    outcome = maps.project(Silent(), everyday, "pca", {})

    model = PCA(2, svd_solver="full")
    expected = model.fit_transform(rows_of(everyday).astype(np.float64))
    assert (outcome.coords.dtype, outcome.coords.shape) == (np.float32, (200, 2))
    np.testing.assert_allclose(outcome.coords, expected, rtol=0, atol=1e-5)
    first, second = 100 * model.explained_variance_ratio_
    assert outcome.note == f"{first:.1f} % + {second:.1f} % of the variance"
    assert outcome.params == {"components": 2}


def test_umap_is_the_same_for_a_seed_and_another_for_another(everyday: Recipe) -> None:
    params = {"n_epochs": 60, "seed": 3}
    first, again = (maps.project(Silent(), everyday, "umap", params) for _ in range(2))
    other = maps.project(Silent(), everyday, "umap", params | {"seed": 4})

    assert (first.coords.dtype, first.coords.shape) == (np.float32, (200, 2))
    assert first.coords.tobytes() == again.coords.tobytes()
    assert not np.allclose(first.coords, other.coords)
    assert first.params == maps.default_params("umap", 200) | params


def test_umap_started_from_the_pca_on_screen_is_the_same_map(everyday: Recipe) -> None:
    pca = maps.project(Silent(), everyday, "pca", {})
    params = {"n_epochs": 20}

    from_screen = maps.project(Silent(), everyday, "umap", params, pca.coords)

    assert from_screen.coords.tobytes() == maps.project(Silent(), everyday, "umap", params).coords.tobytes()


@pytest.mark.parametrize(
    ("method", "params", "sentence"),
    [
        ("pca", {"n_neighbors": 5}, "pca has no parameter “n_neighbors”; it has components."),
        ("umap", {"neighbours": 5}, "umap has no parameter “neighbours”; it has n_neighbors, min_dist"),
        ("umap", {"n_neighbors": 1}, "n_neighbors must be a whole number of at least 2, not 1."),
        ("umap", {"metric": "dot"}, "metric must be cosine or euclidean"),
        ("umap", {"components": 3}, "components must be 2"),
        ("pca", {"components": 1}, "components must be 2"),
        ("umap", {"learning_rate": 1e38, "n_epochs": 20}, "choose a smaller learning_rate"),
    ],
)
def test_parameters_that_make_no_map_are_refused_by_name(
    everyday: Recipe, method: Method, params: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError) as refused:
        maps.project(Silent(), everyday, method, params)
    assert sentence in str(refused.value)


@pytest.mark.parametrize("seed", [0, 5])
def test_clusters_equal_scikit_learn_on_the_raw_rows(everyday: Recipe, seed: int) -> None:
    outcome = maps.cluster(Silent(), everyday, ClusterSpec(KMeansParams(8, 10, seed)))

    expected = KMeans(n_clusters=8, n_init=10, random_state=seed).fit_predict(rows_of(everyday))
    np.testing.assert_array_equal(outcome.assignment, expected)
    assert outcome.assignment.dtype == np.int32
    assert outcome.carriage == Carriage()


@pytest.mark.parametrize(
    "spec",
    [
        ClusterSpec(KMeansParams(k=0)),
        ClusterSpec(KMeansParams(k=201)),
        ClusterSpec(KMeansParams(n_init=0)),
        ClusterSpec(KMeansParams(seed=-1)),
    ],
)
def test_clusterings_that_cannot_be_are_refused(everyday: Recipe, spec: ClusterSpec) -> None:
    with pytest.raises(UserError):
        maps.cluster(Silent(), everyday, spec)


def test_a_cluster_is_split_in_two(everyday: Recipe) -> None:
    assignment = maps.cluster(Silent(), everyday, ClusterSpec()).assignment
    members = np.flatnonzero(assignment == 4).astype(np.int64)

    parts = maps.split_members(Silent(), everyday, members, 0)

    assert np.bincount(parts).tolist() == sorted(np.bincount(parts).tolist(), reverse=True)
    assert len(parts) == len(members)
    with pytest.raises(UserError, match="too few to be split"):
        maps.split_members(Silent(), everyday, members[:1], 0)


def test_evidence_of_a_cluster_is_its_own(everyday: Recipe) -> None:
    assignment = maps.cluster(Silent(), everyday, ClusterSpec()).assignment

    found = maps.describe_clusters(Silent(), everyday, assignment)

    rows = rows_of(everyday)
    assert sorted(found) == list(range(8))
    for cluster, told in found.items():
        members = np.flatnonzero(assignment == cluster)
        distances = np.linalg.norm(rows[members] - rows[members].mean(axis=0), axis=1)
        assert told.size == len(members)
        assert told.nearest == tuple(members[np.argsort(distances, kind="stable")][:10].tolist())
        assert set(told.edge) <= set(members.tolist())
        assert len(told.next_clusters) > 0
        assert told.silhouette is not None
        assert -1 <= told.silhouette <= 1


def test_stability_is_told_for_each_cluster(everyday: Recipe) -> None:
    assignment = maps.cluster(Silent(), everyday, ClusterSpec()).assignment

    found = maps.cluster_stability(Silent(), everyday, assignment, ClusterSpec(), draws=2)

    assert sorted(found) == list(range(8))
    assert all(0 < value <= 1 for value in found.values())


def test_silhouettes_over_k_are_those_of_scikit_learn(everyday: Recipe) -> None:
    spec = ClusterSpec(KMeansParams(n_init=2))
    points = maps.cluster_effect(Silent(), everyday, spec).points

    rows = rows_of(everyday)
    assert [point.value for point in points] == list(range(2, 17))
    for point in points[:3]:
        labels = KMeans(point.value, n_init=2, random_state=0).fit_predict(rows)
        assert point.silhouette == pytest.approx(silhouette_score(rows, labels), abs=1e-5)


def test_few_rows_give_a_map_and_the_k_there_can_be(everyday: Recipe) -> None:
    few = replace(everyday, rows=replace(everyday.rows, words=("king", "queen", "seven")))

    assert maps.project(Silent(), few, "umap", {}).coords.shape == (3, 2)
    assert maps.project(Silent(), few, "pca", {}).coords.shape == (3, 2)
    assert [point.value for point in maps.cluster_effect(Silent(), few, ClusterSpec()).points] == [2]
    one = replace(everyday, rows=replace(everyday.rows, words=("king",)))
    assert maps.project(Silent(), one, "umap", {}).coords.tolist() == [[0.0, 0.0]]
    assert maps.cluster(Silent(), one, ClusterSpec(KMeansParams(k=1))).assignment.tolist() == [0]


def test_a_cancelled_job_ends(everyday: Recipe) -> None:
    class Stopped(Silent):
        def report(self, fraction: float | None, message: str) -> None:
            raise Cancelled

        check = report  # type: ignore[assignment]

    for job in (
        lambda p: maps.cluster(p, everyday, ClusterSpec()),
        lambda p: maps.project(p, everyday, "umap", {}),
        lambda p: maps.cluster_effect(p, everyday, ClusterSpec()),
    ):
        with pytest.raises(Cancelled):
            job(Stopped())


def test_every_parameter_of_a_method_is_listed() -> None:
    assert maps.default_params("pca", 10) == {"components": 2}
    few, many = maps.default_params("umap", 200), maps.default_params("umap", 49152)
    assert list(few) == list(many)
    assert (few["n_neighbors"], many["n_neighbors"], few["seed"]) == (60, 15, 0)
    assert ClusterSpec().stored() == {"k": 8, "n_init": 10, "seed": 0}


def test_warming_up_leaves_nothing_to_load() -> None:
    maps.warm_analysis(Silent())
    maps.warm_layout(Silent())
