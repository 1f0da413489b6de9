import time

import numpy as np
import pytest
from sklearn.metrics import silhouette_samples

from kiruviz.analysis.evidence import (
    Evidence,
    cluster_silhouettes,
    edge_words,
    nearest_clusters,
    nearest_words,
    summary,
)
from kiruviz.analysis.quality import mean_random_cosine
from kiruviz.errors import UserError


@pytest.fixture(scope="module")
def clustered() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.arange(90) % 3, np.full(10, -1)]).astype(np.int32)
    return (3 * rng.standard_normal((4, 16))[labels] + rng.standard_normal((100, 16)) + 5).astype(np.float32), labels


def own_distances(rows: np.ndarray, members: np.ndarray) -> np.ndarray:
    wide = rows[members].astype(np.float64)
    return np.linalg.norm(wide - wide.mean(axis=0), axis=1)


def test_nearest_words_are_ordered_by_euclidean_distance_to_the_centroid(
    clustered: tuple[np.ndarray, np.ndarray],
) -> None:
    rows, labels = clustered
    members = np.flatnonzero(labels == 1)
    expected = members[np.argsort(own_distances(rows, members), kind="stable")][:7]
    np.testing.assert_array_equal(nearest_words(rows, labels, 1, 7), expected)
    assert len(nearest_words(rows, labels, 9)) == 0


def test_edge_words_have_the_smallest_margin_to_the_next_centroid(
    clustered: tuple[np.ndarray, np.ndarray],
) -> None:
    rows, labels = clustered
    centres = np.stack([rows[labels == c].astype(np.float64).mean(axis=0) for c in range(3)])
    members = np.flatnonzero(labels == 2)
    to_all = np.linalg.norm(rows[members][:, None].astype(np.float64) - centres, axis=2)
    margin = np.minimum(to_all[:, 0], to_all[:, 1]) - to_all[:, 2]
    np.testing.assert_array_equal(edge_words(rows, labels, 2, 5), members[np.argsort(margin)][:5])


def test_the_edge_of_a_single_cluster_is_what_lies_farthest_out() -> None:
    rows = np.array([[0.0], [1], [2], [9]])
    assert edge_words(rows, [0, 0, 0, 0], 0, 2).tolist() == [3, 0]


def test_next_clusters_come_by_distance_and_never_hold_the_cluster_itself() -> None:
    assert nearest_clusters([[0.0], [5], [3], [5]], 0) == [(2, 3.0), (1, 5.0), (3, 5.0)]
    assert nearest_clusters([[0.0]], 0) == []


def test_silhouettes_are_scikit_learns_means(clustered: tuple[np.ndarray, np.ndarray]) -> None:
    rows, labels = clustered
    inside = labels >= 0
    values = silhouette_samples(rows[inside], labels[inside])
    found = cluster_silhouettes(rows, labels)
    assert found == {c: pytest.approx(values[labels[inside] == c].mean()) for c in range(3)}
    sampled = cluster_silhouettes(rows, labels, sample=45, seed=1)
    assert sampled == {c: pytest.approx(found[c], abs=0.1) for c in range(3)}


def test_undefined_silhouettes_are_none() -> None:
    rows = np.array([[0.0], [1], [9]])
    assert cluster_silhouettes(rows, [0, 0, 0]) == {0: None}
    assert cluster_silhouettes(rows, [0, 1, 2]) == {0: None, 1: None, 2: None}
    assert cluster_silhouettes(rows, [-1, -1, -1]) == {}
    lonely = cluster_silhouettes(rows, [0, 0, 4])
    assert lonely[4] is None
    assert lonely[0] is not None


def test_a_summary_says_of_each_cluster_what_the_single_questions_say(
    clustered: tuple[np.ndarray, np.ndarray],
) -> None:
    rows, labels = clustered
    names = [f" word{i}" for i in range(100)]
    found = summary(rows, labels, names, kinds=["word"] * 100, count=4)
    assert list(found) == [0, 1, 2]
    for cluster, evidence in found.items():
        assert evidence.size == 30
        assert evidence.nearest == tuple(nearest_words(rows, labels, cluster, 4).tolist())
        assert evidence.edge == tuple(edge_words(rows, labels, cluster, 4).tolist())
        assert {c for c, _ in evidence.next_clusters} == {0, 1, 2} - {cluster}
        assert evidence.silhouette == pytest.approx(cluster_silhouettes(rows, labels)[cluster])
        assert evidence.suggestions[-1].source == "nearest words"


def test_cluster_numbers_may_have_gaps() -> None:
    rows = np.array([[0.0, 0], [0, 1], [9, 9], [9, 8]], dtype=np.float32)
    found = summary(rows, [3, 3, 7, 7], list("abcd"))
    assert {c: e.next_clusters[0][0] for c, e in found.items()} == {3: 7, 7: 3}


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (np.zeros((5, 3)), [0, 0, 1, 1, 1]),
        (np.ones((1, 3)), [0]),
        (np.eye(3), [-1, -1, -1]),
        (np.zeros((0, 3)), []),
    ],
    ids=["all zeros", "one row", "only noise", "nothing"],
)
def test_degenerate_clusters_have_plain_evidence(rows: np.ndarray, labels: list[int]) -> None:
    for evidence in summary(rows, labels, ["x"] * len(rows)).values():
        assert isinstance(evidence, Evidence)
        assert len(evidence.nearest) == min(10, evidence.size)
        assert all(np.isfinite(d) for _, d in evidence.next_clusters)


def test_the_summary_of_a_whole_vocabulary_is_quick() -> None:
    rng = np.random.default_rng(0)
    rows = rng.random((49_152, 128), np.float32)
    labels = rng.integers(0, 8, 49_152)
    names = [f" tok{i % 977}en" for i in range(49_152)]
    start = time.process_time()
    summary(rows, labels, names, names, names, rng.random(49_152))
    assert time.process_time() - start < 5


def test_random_pairs_have_the_mean_cosine_of_all_pairs() -> None:
    rows = (np.random.default_rng(0).standard_normal((60, 8)) + 0.7).astype(np.float32)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    expected = (unit @ unit.T)[~np.eye(60, dtype=bool)].mean()
    assert mean_random_cosine(rows, seed=1) == pytest.approx(expected, abs=0.01)
    assert mean_random_cosine(rows, seed=1) == mean_random_cosine(rows, seed=1)


def test_rows_without_a_direction_have_no_part_in_the_baseline() -> None:
    rows = np.array([[1, 0], [0, 0], [np.nan, 1], [1, 1]], dtype=np.float32)
    assert mean_random_cosine(rows) == pytest.approx(np.sqrt(0.5))
    assert mean_random_cosine(rows, keep=np.array([True, False, False, False])) is None
    assert mean_random_cosine(np.zeros((4, 2), np.float32)) is None
    with pytest.raises(UserError, match="random pairs"):
        mean_random_cosine(rows, pairs=0)
