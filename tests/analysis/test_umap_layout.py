"""UMAP against umap-learn. Importing it is slow, so all of that is in this one file."""

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiruviz.analysis import umap_layout
from kiruviz.analysis.knn import knn_graph
from kiruviz.analysis.projection import UmapParams, pca
from kiruviz.errors import Cancelled, UserError
from kiruviz.progress import Silent


class Watching(Silent):
    """Keeps what a job says; cancels it at the report numbered `cancel_at`."""

    def __init__(self, cancel_at: int | None = None) -> None:
        self.fractions: list[float | None] = []
        self.messages: list[str] = []
        self.partials: list[np.ndarray] = []
        self.cancel_at = cancel_at

    def report(self, fraction: float | None, message: str) -> None:
        self.fractions.append(fraction)
        self.messages.append(message)
        if self.cancel_at is not None and len(self.messages) > self.cancel_at:
            raise Cancelled

    def partial(self, value: object) -> None:
        assert isinstance(value, np.ndarray)
        self.partials.append(value)


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((6, 24)) * 3
    return (centres[np.arange(240) % 6] + rng.standard_normal((240, 24)) + 1).astype(np.float32)


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """First of all, as the program does: caching comes too late once umap-learn has compiled by itself."""
    umap_layout.warm_up()


def umap_learn(**settings: Any) -> Any:
    """umap-learn's own estimator, without its remarks about TensorFlow and jobs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import umap

    return umap.UMAP(n_jobs=1, **settings)


def fit(model: Any, rows: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows)


@pytest.mark.parametrize(
    "params",
    [
        UmapParams(n_neighbors=15, min_dist=0.1, spread=1.0, seed=3),
        UmapParams(n_epochs=60, metric="euclidean"),
        UmapParams(
            n_neighbors=20,
            n_epochs=9,
            components=3,
            set_op_mix_ratio=0.7,
            local_connectivity=2,
            repulsion_strength=1.5,
            negative_sample_rate=3,
            learning_rate=0.5,
        ),
    ],
    ids=["defaults", "euclidean", "everything else"],
)
def test_graph_and_map_are_umap_learns_to_the_last_bit(rows: np.ndarray, params: UmapParams) -> None:
    knn = knn_graph(rows, params.n_neighbors, params.metric)
    start = pca(rows, params.components).coords
    model = umap_learn(
        n_neighbors=params.n_neighbors,
        min_dist=params.min_dist,
        spread=params.spread,
        metric=params.metric,
        n_epochs=params.n_epochs,
        n_components=params.components,
        learning_rate=params.learning_rate,
        negative_sample_rate=params.negative_sample_rate,
        repulsion_strength=params.repulsion_strength,
        set_op_mix_ratio=params.set_op_mix_ratio,
        local_connectivity=params.local_connectivity,
        init=start,
        random_state=params.seed,
        precomputed_knn=(knn.indices, knn.distances, None),
    )
    fit(model, rows)
    graph = umap_layout.fuzzy_graph(knn, params)
    graph.data[graph.data < graph.data.max() / (60 if params.n_epochs == 60 else 500)] = 0  # as fit leaves it
    assert abs(graph - model.graph_).max() == 0
    np.testing.assert_array_equal(umap_layout.umap(rows, params), model.embedding_)


def test_equal_points_of_the_first_picture_are_parted_as_umap_learn_does(rows: np.ndarray) -> None:
    twins = rows.copy()
    twins[10:14] = twins[10]
    params = UmapParams(n_neighbors=15, n_epochs=30)
    knn = knn_graph(twins, 15)
    start = pca(twins).coords
    start[10:14] = start[10]
    model = umap_learn(
        n_neighbors=15,
        min_dist=params.min_dist,
        spread=params.spread,
        metric="cosine",
        n_epochs=30,
        init=start,
        random_state=0,
        precomputed_knn=(knn.indices, knn.distances, None),
    )
    np.testing.assert_array_equal(umap_layout.umap(twins, params, init=start), fit(model, twins).embedding_)


def test_neighbours_found_earlier_give_the_same_map(rows: np.ndarray) -> None:
    params = UmapParams(n_neighbors=10, n_epochs=20)
    earlier = knn_graph(rows, 30)
    np.testing.assert_array_equal(umap_layout.umap(rows, params, knn=earlier), umap_layout.umap(rows, params))


def test_another_seed_gives_another_map(rows: np.ndarray) -> None:
    one, two = (umap_layout.umap(rows, UmapParams(n_epochs=20, seed=seed)) for seed in (0, 1))
    assert not np.array_equal(one, two)


def test_a_map_says_how_far_it_is_and_hands_out_pictures(rows: np.ndarray) -> None:
    watching = Watching()
    final = umap_layout.umap(rows, UmapParams(n_neighbors=15), progress=watching)
    known = [f for f in watching.fractions if f is not None]
    assert known == sorted(known)
    assert known[-1] == 1.0
    assert watching.messages[-1] == "UMAP epoch 500 of 500"
    first = watching.partials[0]
    assert first.shape == (240, 2)
    assert first.min() == 0
    assert first.max() == 10
    assert not np.shares_memory(first, final)


def test_a_map_is_cancelled_at_any_report(rows: np.ndarray) -> None:
    # Neighbours, two steps of preparation, the first epoch; the last report is the end.
    for report in range(5):
        watching = Watching(report)
        with pytest.raises(Cancelled):
            umap_layout.umap(rows, UmapParams(n_neighbors=15, n_epochs=2), progress=watching)
        assert len(watching.messages) == report + 1


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_few_rows_are_drawn_apart(n: int, metric: Any) -> None:
    rows = np.random.default_rng(0).standard_normal((n, 7)).astype(np.float32)
    coords = umap_layout.umap(rows, UmapParams(metric=metric, n_epochs=50))
    assert coords.shape == (n, 2)
    assert coords.dtype == np.float32
    assert np.isfinite(coords).all()
    assert len(np.unique(coords, axis=0)) == n


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((30, 5)),
        np.ones((30, 5)),
        np.vstack([np.zeros((10, 5)), np.random.default_rng(0).standard_normal((20, 5))]),
        np.repeat(np.random.default_rng(0).standard_normal((6, 5)), 5, axis=0),
        np.arange(30.0).reshape(30, 1),
    ],
    ids=["zeros", "one and the same row", "some zero rows", "duplicates", "one dimension"],
)
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_degenerate_rows_give_a_finite_picture(rows: np.ndarray, metric: Any) -> None:
    coords = umap_layout.umap(rows, UmapParams(n_neighbors=4, metric=metric, n_epochs=30))
    assert np.isfinite(coords).all()


def test_what_makes_no_sense_is_refused(rows: np.ndarray) -> None:
    with pytest.raises(UserError, match="no rows"):
        umap_layout.umap(rows[:0], UmapParams())
    with pytest.raises(UserError, match="min_dist"):
        umap_layout.umap(rows, UmapParams(min_dist=9))
    broken = rows.copy()
    broken[3, 3] = np.nan
    with pytest.raises(UserError, match="not finite"):
        umap_layout.umap(broken, UmapParams())


def test_warming_up_twice_does_nothing_the_second_time() -> None:
    assert umap_layout.is_warm()
    watching = Watching()
    umap_layout.warm_up(watching)
    assert watching.messages == []


OTHER_PROCESS = """
import sys, numpy as np
from kiruviz.analysis import umap_layout
from kiruviz.analysis.projection import UmapParams
assert not umap_layout.is_warm()
assert not any(name in sys.modules for name in ("umap", "numba", "sklearn", "scipy"))
umap_layout.warm_up()
kernel = umap_layout._epoch_kernel()
print(sum(kernel.stats.cache_misses.values()))
rows = np.load(sys.argv[1])
sys.stdout.write(umap_layout.umap(rows, UmapParams(n_epochs=40)).tobytes().hex())
"""


def test_another_process_finds_the_kernels_compiled_and_draws_the_same_bytes(rows: np.ndarray, tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", rows)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", OTHER_PROCESS, str(tmp_path / "rows.npy")],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    assert done.returncode == 0, done.stderr
    misses, drawn = done.stdout.split("\n")
    assert misses == "0"
    assert drawn == umap_layout.umap(rows, UmapParams(n_epochs=40)).tobytes().hex()
