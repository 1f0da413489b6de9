"""What the curve of an effect says is what clustering then gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from kiruviz.analysis.clusterers import Layers, assign
from kiruviz.analysis.effect import Effect, effect, values
from kiruviz.analysis.grouping import ClusterMethod, ClusterSpec, as_measured, cluster_spec
from kiruviz.errors import Cancelled, UserError
from kiruviz.progress import Silent


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    """Four groups of twenty rows, and ten rows that are in none."""
    rng = np.random.default_rng(3)
    groups = np.repeat(6 * rng.standard_normal((4, 8)), 20, axis=0) + 0.7 * rng.standard_normal((80, 8))
    return np.concatenate([groups, 9 * rng.standard_normal((10, 8))]).astype(np.float32)


class Watching(Silent):
    def __init__(self) -> None:
        self.fractions: list[float] = []
        self.parts: list[Effect] = []

    def report(self, fraction: float | None, message: str) -> None:
        self.fractions.append(fraction or 0.0)

    def partial(self, value: object) -> None:
        assert isinstance(value, Effect)
        self.parts.append(value)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("kmeans", {"n_init": 2, "seed": 3}),
        ("agglomerative", {"linkage": "average"}),
        ("agglomerative", {}),
        ("hdbscan", {}),
        ("hdbscan", {"min_samples": 3, "cluster_selection_method": "leaf"}),
    ],
)
def test_each_point_is_what_clustering_gives(
    rows: np.ndarray, method: ClusterMethod, params: dict[str, Any], metric: Any
) -> None:
    spec = cluster_spec(method, metric, **params)
    found = effect(rows, spec)
    assert found.complete
    assert found.spec == spec.without_value()
    assert [point.value for point in found.points] == values(spec, len(rows))
    measured = as_measured(rows, metric)
    for point in found.points:
        labels = assign(rows, spec.with_value(point.value))
        kept = labels >= 0
        assert point.clusters == len(set(labels[kept].tolist()))
        assert point.noise == pytest.approx((~kept).mean())
        if point.clusters < 2:
            assert point.silhouette is None
        else:
            assert point.silhouette == pytest.approx(silhouette_score(measured[kept], labels[kept]), abs=1e-5)


def test_the_silhouette_points_at_the_right_number(rows: np.ndarray) -> None:
    for method in ("kmeans", "agglomerative"):
        points = effect(rows[:80], cluster_spec(method)).points
        assert max(points, key=lambda point: point.silhouette or -1).value == 4


def test_the_curve_grows_with_its_progress(rows: np.ndarray) -> None:
    for method in ("kmeans", "agglomerative", "hdbscan"):
        watch = Watching()
        found = effect(rows, cluster_spec(method), watch)
        assert [len(part.points) for part in watch.parts] == list(range(1, len(found.points) + 1))
        assert not any(part.complete for part in watch.parts)
        assert watch.fractions == sorted(watch.fractions)
        assert watch.fractions[-1] <= 1


def test_an_effect_can_be_cancelled(rows: np.ndarray) -> None:
    class Stopping(Silent):
        def partial(self, value: object) -> None:
            raise Cancelled

    with pytest.raises(Cancelled):
        effect(rows, ClusterSpec(), Stopping())


def test_evocs_layers_are_its_values(rows: np.ndarray) -> None:
    fine = assign(rows, cluster_spec("agglomerative", k=6))
    coarse = np.where(fine == 0, -1, fine // 2)
    found = effect(rows, cluster_spec("evoc"), layers=Layers(np.stack([coarse, fine]), 2))
    assert [(point.value, point.clusters) for point in found.points] == [(1, 3), (2, 6)]
    assert found.points[0].noise == pytest.approx((fine == 0).mean())
    assert found.preferred == 2


def test_rows_without_direction_count_as_noise_under_cosine(rows: np.ndarray) -> None:
    holed = rows.copy()
    holed[:9] = 0
    for point in effect(holed, cluster_spec("agglomerative", "cosine")).points:
        assert point.noise == pytest.approx(0.1)


@pytest.mark.parametrize("method", ["kmeans", "agglomerative", "hdbscan"])
def test_few_rows_have_few_values(method: ClusterMethod) -> None:
    eye = np.eye(4, dtype=np.float32)
    assert [point.value for point in effect(eye[:2], cluster_spec(method)).points] == (
        [2] if method == "hdbscan" else []
    )
    if method == "hdbscan":
        with pytest.raises(UserError, match="HDBSCAN needs at least 2 rows"):
            effect(eye[:1], cluster_spec(method))
    else:
        assert effect(eye[:1], cluster_spec(method)).points == ()
