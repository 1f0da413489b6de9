import numpy as np
import pytest

from kiruviz.analysis.evidence import nearest_words
from kiruviz.analysis.members import centroid_distances


@pytest.fixture(scope="module")
def clustered() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    labels = rng.integers(-1, 4, 300)
    return (rng.standard_normal((300, 12)) + 40).astype(np.float32), labels


def test_each_row_is_as_far_as_it_is_from_the_mean_of_its_cluster(clustered: tuple[np.ndarray, np.ndarray]) -> None:
    rows, labels = clustered
    found = centroid_distances(rows, labels)
    for cluster in range(4):
        members = np.flatnonzero(labels == cluster)
        wide = rows[members].astype(np.float64)
        np.testing.assert_allclose(found[members], np.linalg.norm(wide - wide.mean(axis=0), axis=1), rtol=1e-12)


def test_ordered_by_distance_the_members_begin_with_the_nearest_words(clustered: tuple[np.ndarray, np.ndarray]) -> None:
    rows, labels = clustered
    members = np.flatnonzero(labels == 2)
    ordered = members[np.argsort(centroid_distances(rows, labels)[members], kind="stable")]
    np.testing.assert_array_equal(ordered[:10], nearest_words(rows, labels, 2))


def test_rows_in_no_cluster_have_the_distance_to_the_nearest_centroid(clustered: tuple[np.ndarray, np.ndarray]) -> None:
    rows, labels = clustered
    centres = np.stack([rows[labels == c].astype(np.float64).mean(axis=0) for c in range(4)])
    loose = np.flatnonzero(labels == -1)
    to_all = np.linalg.norm(rows[loose][:, None] - centres, axis=2)
    np.testing.assert_allclose(centroid_distances(rows, labels)[loose], to_all.min(axis=1), rtol=1e-12)


def test_without_any_cluster_there_is_no_distance() -> None:
    assert np.isnan(centroid_distances(np.eye(3), [-1, -1, -1])).all()
    assert len(centroid_distances(np.zeros((0, 3)), [])) == 0


def test_a_cluster_of_one_row_lies_in_its_own_middle() -> None:
    assert centroid_distances(np.array([[1.0, 2], [5, 5]]), [0, 9]).tolist() == [0.0, 0.0]
