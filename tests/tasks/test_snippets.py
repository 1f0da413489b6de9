"""“Copy as Python” is run here, and gives the program's numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kiruviz.analysis.grouping import ClusterSpec, KMeansParams, cluster_spec
from kiruviz.progress import Silent
from kiruviz.space import METRICS, Filters, Metric, Recipe, Rows, Transform
from kiruviz.tasks import maps, spaces
from kiruviz.tasks.snippets import clusters_snippet, map_snippet, neighbors_snippet

TRANSFORM = Transform(center=True, remove_top=2, normalize=True)


def run(snippet: str) -> dict[str, Any]:
    """The names a snippet leaves behind."""
    names: dict[str, Any] = {}
    exec(compile(snippet, "<copied>", "exec"), names)
    return names


@pytest.fixture(params=["raw", "transformed", "several tokens", "whole"])
def recipe(request: pytest.FixtureRequest, everyday: Recipe, several: Recipe) -> Recipe:
    filtered = Rows(filters=Filters(whole_words=True, max_rank=12_000))
    return {
        "raw": everyday,
        "transformed": replace(everyday, transform=TRANSFORM),
        "several tokens": several,
        "whole": replace(everyday, rows=filtered),
    }[request.param]


def test_clusters(recipe: Recipe) -> None:
    record = spaces.build_space(Silent(), recipe)
    spec = ClusterSpec(KMeansParams(k=4, n_init=2, seed=1))
    outcome = maps.cluster(Silent(), recipe, spec)

    labels = run(clusters_snippet(recipe, record.row_ids, spec))["labels"]

    np.testing.assert_array_equal(labels, outcome.assignment)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize(
    "spec",
    [
        cluster_spec("kmeans", k=4, n_init=2),
        cluster_spec("hdbscan", min_cluster_size=2, min_samples=1),
        cluster_spec("hdbscan", min_cluster_size=3, cluster_selection_method="leaf"),
        cluster_spec("agglomerative", k=5, linkage="average"),
        cluster_spec("agglomerative", distance_threshold=1.0),
    ],
    ids=str,
)
def test_clusters_of_every_method(everyday: Recipe, spec: ClusterSpec, metric: Any) -> None:
    record = spaces.build_space(Silent(), everyday)
    spec = replace(spec, metric=metric)
    outcome = maps.cluster(Silent(), everyday, spec)

    labels = run(clusters_snippet(everyday, record.row_ids, spec))["labels"]

    np.testing.assert_array_equal(labels, outcome.assignment)


@pytest.mark.slow
def test_evocs_clusters(everyday: Recipe) -> None:
    record = spaces.build_space(Silent(), everyday)
    for layer in (None, 2):
        spec = cluster_spec("evoc", layer=layer)
        outcome = maps.cluster(Silent(), everyday, spec)
        labels = run(clusters_snippet(everyday, record.row_ids, spec))["labels"]
        np.testing.assert_array_equal(labels, outcome.assignment)


def test_pca(recipe: Recipe) -> None:
    record = spaces.build_space(Silent(), recipe)
    outcome = maps.project(Silent(), recipe, "pca", {})

    coords = run(map_snippet(recipe, record.row_ids, "pca", outcome.params))["coords"]

    np.testing.assert_allclose(coords, outcome.coords, rtol=0, atol=2e-5)


def test_umap(recipe: Recipe) -> None:
    record = spaces.build_space(Silent(), recipe)
    outcome = maps.project(Silent(), recipe, "umap", {"n_epochs": 15, "min_dist": 0.3, "seed": 2})

    coords = run(map_snippet(recipe, record.row_ids, "umap", outcome.params))["coords"]

    assert coords.tobytes() == outcome.coords.tobytes()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("transform", [Transform(), TRANSFORM], ids=["raw", "transformed"])
@pytest.mark.parametrize("query", [(2332,), (2332, 7077)], ids=["one row", "several tokens"])
def test_neighbours(
    metric: Metric, transform: Transform, query: tuple[int, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    found = spaces.neighbors(Silent(), "minilm", "token", transform, query, "", metric, 7)

    names = run(neighbors_snippet(Recipe("minilm", transform=transform), query, metric, 7))

    assert names["best"].tolist() == [n.token_id for n in found.neighbors]
    assert names["scores"][names["best"]].tolist() == pytest.approx([n.score for n in found.neighbors], abs=1e-6)
    assert f"'{found.neighbors[0].token}'" in capsys.readouterr().out


def test_a_snippet_names_the_model_by_its_identity(everyday: Recipe) -> None:
    record = spaces.build_space(Silent(), everyday)
    assert f"# identity {everyday.identity[:12]}" in clusters_snippet(everyday, record.row_ids, ClusterSpec())
