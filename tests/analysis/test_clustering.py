import itertools

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from kiruviz.analysis.clustering import kmeans, silhouette, split
from kiruviz.analysis.stability import best_overlaps, seed_agreement
from kiruviz.errors import Cancelled, UserError
from kiruviz.progress import Silent


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    """200 rows with weak clusters and a long mean, as embeddings have."""
    rng = np.random.default_rng(0)
    return (rng.standard_normal((200, 96)) + 0.4 * rng.standard_normal((8, 96))[np.arange(200) % 8] + 1).astype(
        np.float32
    )


@pytest.fixture(scope="module")
def blobs() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    groups = np.arange(60) % 3
    centres = np.array([[0, 0], [20, 0], [0, 30.0]])
    return (centres[groups] + rng.standard_normal((60, 2))).astype(np.float32), groups


@pytest.mark.parametrize(
    ("k", "n_init", "seed"), [(8, 10, 0), (8, 10, 1), (1, 3, 0), (2, 1, 7), (25, 4, 3), (200, 2, 0)]
)
def test_clusters_are_scikit_learns_to_the_last_bit(rows: np.ndarray, k: int, n_init: int, seed: int) -> None:
    before = rows.copy()
    ours = kmeans(rows, k, n_init, seed)
    theirs = KMeans(n_clusters=k, n_init=n_init, random_state=seed).fit(rows)
    np.testing.assert_array_equal(ours.labels, theirs.labels_)
    np.testing.assert_array_equal(ours.centroids, theirs.cluster_centers_)
    assert ours.inertia == theirs.inertia_
    assert ours.n_iter == theirs.n_iter_
    assert ours.distinct == k
    assert ours.labels.dtype == np.int32
    assert ours.centroids.dtype == np.float32
    np.testing.assert_array_equal(rows, before)


def test_many_rows_that_settle_by_tolerance_are_scikit_learns_too() -> None:
    rows = np.random.default_rng(5).random((3000, 8), np.float32)
    ours = kmeans(rows, 20, 2, 0)
    theirs = KMeans(n_clusters=20, n_init=2, random_state=0).fit(rows)
    np.testing.assert_array_equal(ours.labels, theirs.labels_)
    assert (ours.inertia, ours.n_iter) == (theirs.inertia_, theirs.n_iter_)


@pytest.mark.parametrize(
    ("rows", "distinct"),
    [(np.zeros((10, 3)), 1), (np.repeat(np.eye(3), 4, axis=0), 3)],
    ids=["zeros", "three different rows"],
)
def test_fewer_different_rows_than_clusters_are_counted_without_a_warning(rows: np.ndarray, distinct: int) -> None:
    found = kmeans(rows, 5)
    assert found.distinct == distinct
    assert np.isfinite(found.centroids).all()
    assert found.inertia == pytest.approx(0, abs=1e-9)


def test_one_row_is_one_cluster() -> None:
    assert kmeans(np.ones((1, 4)), 1).labels.tolist() == [0]


@pytest.mark.parametrize(
    ("n", "k", "n_init", "seed", "sentence"),
    [
        (0, 1, 1, 0, "no rows"),
        (5, 6, 1, 0, "between 1 and the number of rows, 5"),
        (5, 0, 1, 0, "between 1"),
        (5, 2, 0, 0, "initialisations must be at least 1"),
        (5, 2, 1, -1, "seed"),
    ],
)
def test_what_makes_no_sense_is_refused(n: int, k: int, n_init: int, seed: int, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        kmeans(np.ones((n, 2)), k, n_init, seed)


def test_kmeans_says_how_far_it_is_and_can_be_cancelled_within_an_initialisation(rows: np.ndarray) -> None:
    class Watching(Silent):
        def __init__(self, cancel_at: int) -> None:
            self.fractions: list[float] = []
            self.cancel_at = cancel_at

        def report(self, fraction: float | None, message: str) -> None:
            assert fraction is not None
            self.fractions.append(fraction)
            if len(self.fractions) == self.cancel_at:
                raise Cancelled

    whole = Watching(-1)
    kmeans(rows, 8, 3, 0, whole)
    assert whole.fractions == sorted(whole.fractions)
    assert len(whole.fractions) > 6
    for stop in (1, 2, len(whole.fractions)):
        with pytest.raises(Cancelled):
            kmeans(rows, 8, 3, 0, Watching(stop))


def test_silhouette_is_scikit_learns(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    rows, groups = blobs
    assert silhouette(rows, groups) == pytest.approx(silhouette_score(rows, groups))
    with_noise = np.concatenate([groups, [-1, -1]])
    assert silhouette(np.concatenate([rows, rows[:2] + 99]), with_noise) == pytest.approx(
        silhouette_score(rows, groups)
    )


def test_the_silhouettes_sample_is_repeatable_and_close(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    rows, groups = blobs
    sampled = silhouette(rows, groups, sample=30, seed=4)
    assert sampled == silhouette(rows, groups, sample=30, seed=4)
    assert sampled == pytest.approx(silhouette_score(rows, groups), abs=0.1)


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2], [-1, -1, -1], [0, -1, -1]])
def test_an_undefined_silhouette_is_none(labels: list[int]) -> None:
    assert silhouette(np.eye(3), labels) is None


def test_a_cluster_is_split_with_the_larger_part_first() -> None:
    rows = np.concatenate([np.zeros((3, 2)), np.full((5, 2), 9.0)]) + np.arange(8)[:, None] * 0.01
    assert split(rows).tolist() == [1, 1, 1, 0, 0, 0, 0, 0]
    assert sorted(set(split(rows, 3, seed=1).tolist())) == [0, 1, 2]


def test_what_cannot_be_split_is_refused() -> None:
    with pytest.raises(UserError, match="at least 2 parts"):
        split(np.eye(3), 1)
    for rows in (np.ones((5, 2)), np.zeros((0, 2))):
        with pytest.raises(UserError, match="different rows"):
            split(rows, 2)


def test_clear_clusters_come_back_with_every_seed(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    rows, groups = blobs
    assert seed_agreement(rows, groups, 3, 10, [1, 2]) == {0: 1.0, 1: 1.0, 2: 1.0}
    shuffled = np.random.default_rng(0).permutation(groups)
    assert all(value < 0.6 for value in seed_agreement(rows, shuffled, 3, 10, [1, 2]).values())
    assert seed_agreement(rows, np.full(60, -1), 3, 1, [1]) == {}
    assert seed_agreement(rows, groups, 3, 1, []) == {}


def test_best_overlaps_are_jaccards_by_sets() -> None:
    rng = np.random.default_rng(0)
    one, two = rng.integers(-1, 5, 80), rng.integers(-1, 7, 80)
    sets, others = ([set(np.flatnonzero(x == c)) for c in range(x.max() + 1)] for x in (one, two))
    expected = np.zeros(len(sets))
    for (i, a), b in itertools.product(enumerate(sets), others):
        expected[i] = max(expected[i], len(a & b) / len(a | b))
    np.testing.assert_allclose(best_overlaps(one, two), expected)
