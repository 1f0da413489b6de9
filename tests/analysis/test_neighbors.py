import numpy as np
import pytest
from scipy.spatial.distance import cdist

from kiruviz.analysis import neighbors
from kiruviz.analysis.knn import knn_graph
from kiruviz.errors import Cancelled, UserError
from kiruviz.progress import Silent

METRICS = ["cosine", "euclidean", "dot"]


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    """Anisotropic rows with duplicates and near duplicates."""
    rng = np.random.default_rng(1)
    rows = (rng.standard_normal((3000, 48)) + 2).astype(np.float32)
    rows[100:110] = rows[50]
    rows[200:220] = rows[60] * (1 + 1e-6 * rng.standard_normal((20, 48))).astype(np.float32)
    return rows


def reference(table: np.ndarray, query: np.ndarray, metric: str, k: int, out: tuple[int, ...]) -> tuple:
    rows, query = table.astype(np.float64), query.astype(np.float64)
    if metric == "euclidean":
        scores = np.sqrt(((rows - query) ** 2).sum(axis=1))
        cost = scores
    else:
        scores = (rows * query).sum(axis=1)
        if metric == "cosine":
            scores = scores / (np.sqrt((rows**2).sum(axis=1)) * np.sqrt((query**2).sum()))
        cost = -scores
    order = [i for i in np.lexsort((np.arange(len(rows)), cost)) if i not in out][:k]
    return np.array(order), scores[order]


@pytest.mark.parametrize("metric", METRICS)
def test_neighbours_equal_a_float64_reference(table: np.ndarray, metric: str) -> None:
    for query in [0, 50, 60, 105, 210, 2999]:
        ids, scores = neighbors.nearest(table, table[query], metric, 25, exclude=(query,))
        expected, expected_scores = reference(table, table[query], metric, 25, (query,))
        np.testing.assert_array_equal(ids, expected)
        np.testing.assert_allclose(scores, expected_scores, rtol=0, atol=1e-9)
        assert ids.dtype == np.int64


@pytest.mark.parametrize("metric", METRICS)
def test_many_queries_give_what_each_gives_alone(
    table: np.ndarray, metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbors, "_SCORE_VALUES", 3000 * 7)
    monkeypatch.setattr(neighbors, "_BLOCK_VALUES", 1000)
    queries = [5, 50, 51, 60, 200, 7, 8, 9, 10]
    ids, scores = neighbors.nearest_many(table, table[queries], metric, 10, [(q,) for q in queries])
    assert ids.shape == scores.shape == (9, 10)
    for row, query in enumerate(queries):
        expected, expected_scores = neighbors.nearest(table, table[query], metric, 10, (query,))
        np.testing.assert_array_equal(ids[row], expected)
        np.testing.assert_array_equal(scores[row], expected_scores)


def test_exact_duplicates_come_first_in_the_order_of_their_ids(table: np.ndarray) -> None:
    ids, scores = neighbors.nearest(table, table[50], "euclidean", 11)
    assert ids.tolist() == [50, *range(100, 110)]
    assert (scores == 0).all()


def test_close_rows_keep_the_digits_that_the_gram_matrix_loses() -> None:
    rng = np.random.default_rng(3)
    rows = (100 + rng.standard_normal((50, 64)) * 1e-3).astype(np.float32)
    ids, scores = neighbors.nearest(rows, rows[0], "euclidean", 50)
    expected, expected_scores = reference(rows, rows[0], "euclidean", 50, ())
    np.testing.assert_array_equal(ids, expected)
    np.testing.assert_allclose(scores, expected_scores, rtol=1e-12)


def test_rows_that_are_not_kept_are_left_out(table: np.ndarray) -> None:
    keep = np.ones(len(table), dtype=bool)
    keep[100:105] = False
    ids, _ = neighbors.nearest(table, table[50], "cosine", 6, keep=keep)
    assert set(ids.tolist()) == {50, *range(105, 110)}


def test_rows_without_a_direction_or_not_finite_are_left_out() -> None:
    rows = np.array([[1, 0], [0, 0], [np.nan, 1], [np.inf, 1], [0, 1]], dtype=np.float32)
    ids, scores = neighbors.nearest(rows, [1.0, 0.0], "cosine", 10)
    assert ids.tolist() == [0, 4]
    assert scores.tolist() == [1.0, 0.0]
    assert neighbors.nearest(rows, [0.0, 0.0], "euclidean", 10)[0].tolist() == [1, 0, 4]


def test_an_all_zero_table_has_no_cosine_neighbours() -> None:
    ids, scores = neighbors.nearest(np.zeros((4, 3), np.float32), [1.0, 0.0, 0.0], "cosine", 2)
    assert len(ids) == len(scores) == 0


def test_a_zero_query_is_refused_alone_and_left_empty_among_many() -> None:
    rows = np.eye(3, dtype=np.float32)
    with pytest.raises(UserError, match="undefined"):
        neighbors.nearest(rows, np.zeros(3), "cosine", 2)
    ids, scores = neighbors.nearest_many(rows, [[0, 0, 0], [1, 0, 0]], "cosine", 2)
    assert ids.tolist() == [[-1, -1], [0, 1]]
    assert np.isnan(scores[0]).all()


def test_rows_of_any_size_have_a_cosine() -> None:
    rows = np.array([[1e-22, 1e-22], [1e18, 0.0], [0.0, 1.0]], dtype=np.float32)
    ids, scores = neighbors.nearest(rows, rows[0], "cosine", 3)
    assert set(ids.tolist()) == {0, 1, 2}
    np.testing.assert_allclose(scores, [1.0, np.sqrt(0.5), np.sqrt(0.5)], rtol=1e-7)


@pytest.mark.parametrize(
    ("query", "metric", "k", "sentence"),
    [
        ([1.0, 0.0], "cosine", 0, "number of neighbours must be at least 1"),
        ([1.0, 0.0], "manhattan", 3, "metric must be one of"),
        ([1.0, 0.0, 0.0], "dot", 3, "has 3 numbers"),
        ([np.nan, 0.0], "dot", 3, "not finite"),
    ],
)
def test_what_makes_no_sense_is_refused(query: list[float], metric: str, k: int, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        neighbors.nearest(np.eye(2, dtype=np.float32), query, metric, k)


def graph_reference(rows: np.ndarray, k: int, metric: str) -> tuple[np.ndarray, np.ndarray]:
    distances = cdist(rows.astype(np.float64), rows.astype(np.float64), metric)
    np.fill_diagonal(distances, -1)
    indices = np.argsort(distances, axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(distances, indices, axis=1)
    found[:, 0] = 0
    return indices, found


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("k", [2, 15, 60])
def test_the_graph_equals_brute_force(metric: str, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    rows = (rng.standard_normal((1500, 32)) + 1).astype(np.float32)
    monkeypatch.setattr("kiruviz.analysis.knn._SCORE_VALUES", 1500 * 200)  # several blocks
    graph = knn_graph(rows, k, metric)
    indices, distances = graph_reference(rows, k, metric)
    assert (graph.indices == indices).mean() > 0.9999  # float32 distances may tie where float64 ones do not
    np.testing.assert_allclose(graph.distances, distances, atol=2e-6)
    assert graph.indices.dtype == np.int32
    assert graph.distances.dtype == np.float32


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_a_duplicate_has_itself_first_and_its_likes_at_distance_zero(metric: str) -> None:
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((700, 16)).astype(np.float32)
    rows[[3, 90, 500, 699]] = rows[3]
    graph = knn_graph(rows, 6, metric)
    np.testing.assert_array_equal(graph.indices[:, 0], np.arange(700))
    assert graph.indices[500, :4].tolist() == [500, 3, 90, 699]
    assert (graph.distances[500, :4] == 0).all()
    assert graph.distances.min() == 0
    assert graph.distances.max() <= (2 if metric == "cosine" else np.inf)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_great_piles_of_equal_rows_are_no_trouble(metric: str) -> None:
    graph = knn_graph(np.ones((2000, 8), np.float32), 5, metric)
    assert graph.indices[1500].tolist() == [1500, 0, 1, 2, 3]
    assert (graph.distances == 0).all()
    graph = knn_graph(np.eye(900, dtype=np.float32), 5, metric)
    np.testing.assert_allclose(graph.distances[:, 1:], 1.0 if metric == "cosine" else np.sqrt(2), rtol=1e-6)
    assert all(len(set(row)) == 5 for row in graph.indices.tolist())


def test_a_zero_row_is_at_cosine_distance_one_from_all_others() -> None:
    rows = np.array([[1, 0], [0, 0], [1, 0.1], [0, 0], [-1, 0]], dtype=np.float32)
    graph = knn_graph(rows, 5)
    assert graph.indices[1].tolist() == [1, 0, 2, 3, 4]
    assert graph.distances[1].tolist() == [0, 1, 1, 1, 1]
    assert graph.indices[0].tolist() == [0, 2, 1, 3, 4]
    np.testing.assert_allclose(graph.distances[0, 2:], [1, 1, 2])
    zeros = knn_graph(np.zeros((6, 3), np.float32), 3)
    assert zeros.indices[4].tolist() == [4, 0, 1]


def test_euclidean_distances_of_huge_rows_stay_numbers() -> None:
    rows = np.array([[1e25, 0], [2e25, 0], [4e25, 0]], dtype=np.float32)
    np.testing.assert_allclose(knn_graph(rows, 3, "euclidean").distances[0], [0, 1e25, 3e25], rtol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_fewer_rows_than_neighbours_give_all_of_them(n: int) -> None:
    graph = knn_graph(np.eye(3, dtype=np.float32)[:n], 10)
    assert graph.indices.shape == (n, n)
    np.testing.assert_array_equal(graph.indices[:, 0], np.arange(n))


def test_the_graph_can_be_cancelled_between_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    class Impatient(Silent):
        reports = 0

        def report(self, fraction: float | None, message: str) -> None:
            self.reports += 1
            if self.reports == 2:
                raise Cancelled

    monkeypatch.setattr("kiruviz.analysis.knn._SCORE_VALUES", 16 * 300)
    progress = Impatient()
    with pytest.raises(Cancelled):
        knn_graph(np.random.default_rng(0).random((300, 4), np.float32), 5, progress=progress)
    assert progress.reports == 2


@pytest.mark.parametrize(
    ("rows", "k", "metric", "sentence"),
    [
        (np.eye(3), 0, "cosine", "at least 1"),
        (np.eye(3), 2, "dot", "cosine or euclidean"),
        (np.full((3, 3), np.nan), 2, "cosine", "not finite"),
    ],
)
def test_a_graph_that_makes_no_sense_is_refused(rows: np.ndarray, k: int, metric: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        knn_graph(rows, k, metric)
