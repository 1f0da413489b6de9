"""Memory is estimated before it is taken."""

from __future__ import annotations

import pytest

from kiruviz.analysis.grouping import ClusterMethod, ClusterSpec, cluster_spec
from kiruviz.errors import UserError
from kiruviz.progress import Silent
from kiruviz.space import Recipe
from kiruviz.tasks import estimates, maps


def test_what_does_not_fit_the_memory_is_refused_with_both_figures(
    everyday: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimates, "memory_available", lambda: 1_000_000)

    with pytest.raises(UserError) as refused:
        maps.project(Silent(), everyday, "umap", {})
    assert str(refused.value) == (
        "UMAP on 200 rows would take about 1.6 MB and 1.0 MB are free; filter the rows or close other programs."
    )
    with pytest.raises(UserError, match="k-means on 200 rows"):
        maps.cluster(Silent(), everyday, ClusterSpec())


def test_a_system_that_does_not_tell_its_memory_refuses_nothing(
    everyday: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimates, "memory_available", lambda: None)
    assert len(maps.cluster(Silent(), everyday, ClusterSpec()).assignment) == 200


def test_the_estimate_grows_with_rows_and_neighbours_but_not_beyond_the_rows() -> None:
    few = estimates.memory_needed(10_000, 576, "umap", {"n_neighbors": 15})
    assert few < estimates.memory_needed(10_000, 576, "umap", {"n_neighbors": 100})
    assert few < estimates.memory_needed(100_000, 576, "umap", {"n_neighbors": 15})
    most = estimates.memory_needed(200, 576, "umap", {"n_neighbors": 10**9})
    assert most == estimates.memory_needed(200, 576, "umap", {"n_neighbors": 200})
    assert estimates.memory_needed(1_000_000, 576, "pca", {}) == 2 * 1_000_000 * 576 * 4


def test_this_computer_tells_its_memory() -> None:
    available = estimates.memory_available()
    assert available is None or available > 10_000_000


@pytest.mark.parametrize(("method", "title"), [("agglomerative", "agglomerative clustering"), ("hdbscan", "HDBSCAN")])
def test_what_needs_all_distances_is_refused_for_a_vocabulary_and_evoc_named(
    everyday: Recipe, monkeypatch: pytest.MonkeyPatch, method: ClusterMethod, title: str
) -> None:
    assert estimates.memory_needed(49_152, 576, method, {}) > 19e9
    monkeypatch.setattr(estimates, "memory_available", lambda: 1_000_000)
    for job in (maps.cluster, maps.cluster_effect):
        with pytest.raises(UserError) as refused:
            job(Silent(), everyday, cluster_spec(method))
        assert str(refused.value).startswith(f"{title} on 200 rows would take about ")
        assert str(refused.value).endswith("choose EVoC, which is made for so many rows, or k-means, or fewer rows.")


def test_evoc_and_single_linkage_fit_a_vocabulary() -> None:
    assert estimates.memory_needed(49_152, 576, "evoc", {"n_neighbors": 15}) < 1e9
    assert estimates.memory_needed(49_152, 576, "agglomerative", {"linkage": "single"}) < 1e9
