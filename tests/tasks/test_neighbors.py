"""Neighbours over the whole table against NumPy in float64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from kiruviz.analysis.neighbors import nearest_many
from kiruviz.errors import UserError
from kiruviz.models.opening import open_model
from kiruviz.progress import Silent
from kiruviz.space import METRICS, Metric, Recipe, Rows, Transform
from kiruviz.tasks import spaces
from tests.tasks.conftest import EVERYDAY

K = 10
STARTERS = ("smollm2", "minilm")
Float64Array = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def tables() -> dict[str, Float64Array]:
    return {name: open_model(name).table("token").astype(np.float64) for name in STARTERS}


def reference(E: Float64Array, queries: Float64Array, metric: Metric) -> Float64Array:
    """Scores of all rows for each query, (m, V)."""
    if metric == "euclidean":
        squared = np.einsum("ij,ij->i", E, E)
        both = squared + np.einsum("ij,ij->i", queries, queries)[:, None] - 2.0 * queries @ E.T
        return np.sqrt(np.maximum(both, 0.0))
    products = queries @ E.T
    if metric == "cosine":
        products /= np.linalg.norm(E, axis=1)
        products /= np.linalg.norm(queries, axis=1)[:, None]
    return products


def best(scores: Float64Array, own: Sequence[int], metric: Metric) -> npt.NDArray[np.int64]:
    """The K best of each row of scores without the query's own row, equal ones by row number."""
    cost = scores.copy() if metric == "euclidean" else -scores
    cost[np.arange(len(own)), own] = np.inf
    near = np.sort(np.argpartition(cost, 5 * K, axis=1)[:, : 5 * K], axis=1)
    # Rows that are bit for bit the same differ in the last digits of a matrix product.
    order = np.argsort(np.round(np.take_along_axis(cost, near, axis=1), 11), axis=1, kind="stable")
    return np.take_along_axis(near, order[:, :K], axis=1)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("model", STARTERS)
def test_neighbours_of_all_everyday_words_equal_numpy(
    tables: dict[str, Float64Array], model: str, metric: Metric
) -> None:
    recipe = Recipe(model, rows=Rows(words=EVERYDAY))
    rows = spaces.build_space(Silent(), recipe).row_ids.tolist()
    E = tables[model]
    scores = reference(E, E[rows], metric)
    expected = best(scores, rows, metric)

    ids, found = nearest_many(open_model(model).table("token"), E[rows], metric, K, [(row,) for row in rows])

    assert ids.shape == (200, K)
    np.testing.assert_array_equal(ids, expected)
    worst = float(np.abs(found - np.take_along_axis(scores, expected, axis=1)).max())
    print(f"{model}, {metric}: {ids.size} neighbours in order, largest difference of scores {worst:.1e}")
    assert worst < 1e-5
    for i in range(0, len(rows), 40):
        listed = spaces.neighbors(Silent(), model, "token", Transform(), (rows[i],), "", metric, K).neighbors
        assert [n.token_id for n in listed] == ids[i].tolist()
        assert [n.score for n in listed] == pytest.approx(found[i].tolist(), abs=1e-12)


@pytest.mark.parametrize("transform", [Transform(center=True), Transform(remove_top=3, normalize=True)], ids=str)
def test_neighbours_after_a_transform(tables: dict[str, Float64Array], transform: Transform) -> None:
    E = tables["minilm"] - tables["minilm"].mean(axis=0)
    if transform.remove_top:
        directions = np.linalg.eigh(E.T @ E)[1][:, ::-1][:, : transform.remove_top]
        E -= E @ directions @ directions.T
    if transform.normalize:
        E /= np.linalg.norm(E, axis=1)[:, None]
    for metric in METRICS:
        scores = reference(E, E[[2332]], metric)
        expected = best(scores, [2332], metric)[0]

        found = spaces.neighbors(Silent(), "minilm", "token", transform, (2332,), "king", metric, K)

        assert [n.token_id for n in found.neighbors] == expected.tolist()
        assert [n.score for n in found.neighbors] == pytest.approx(scores[0][expected].tolist(), abs=1e-5)
        assert found.transform == transform


def test_a_word_of_several_tokens_asks_with_the_mean_of_its_rows(tables: dict[str, Float64Array]) -> None:
    table = tables["smollm2"]
    ids = [piece.token_id for piece in spaces.tokenize(Silent(), "smollm2", " San Francisco")]
    scores = reference(table, table[ids].mean(axis=0)[None], "cosine")[0]

    found = spaces.neighbors(Silent(), "smollm2", "token", Transform(), (), "San Francisco", "cosine", K)

    assert found.row_ids == tuple(ids)
    assert [n.token_id for n in found.neighbors] == np.argsort(-scores, kind="stable")[:K].tolist()
    assert {n.token_id for n in found.neighbors} >= set(ids)


def test_the_baseline_is_the_mean_cosine_of_random_pairs(tables: dict[str, Float64Array]) -> None:
    table = tables["smollm2"]
    rng = np.random.default_rng(7)
    one, two = table[rng.integers(0, len(table), 20_000)], table[rng.integers(0, len(table), 20_000)]
    cosines = (one * two).sum(axis=1) / np.linalg.norm(one, axis=1) / np.linalg.norm(two, axis=1)

    raw = spaces.neighbors(Silent(), "smollm2", "token", Transform(), (4197,), "", k=1)
    centred = spaces.neighbors(Silent(), "smollm2", "token", Transform(center=True), (4197,), "", k=1)

    assert raw.baseline == pytest.approx(cosines.mean(), abs=0.01)
    assert centred.baseline == pytest.approx(0.0, abs=0.01)


def test_more_neighbours_than_rows_are_all_other_rows() -> None:
    found = spaces.neighbors(Silent(), "minilm", "token", Transform(), (2332,), "", "dot", 10**15)
    assert len(found.neighbors) == 30521
    assert 2332 not in {n.token_id for n in found.neighbors}


def test_no_neighbours_are_refused() -> None:
    with pytest.raises(UserError, match="at least 1, not 0"):
        spaces.neighbors(Silent(), "minilm", "token", Transform(), (2332,), "", "dot", 0)


def test_a_table_that_the_model_has_not_is_refused() -> None:
    with pytest.raises(UserError, match="no output embeddings"):
        spaces.neighbors(Silent(), "minilm", "output", Transform(), (2332,), "")


def test_a_word_without_a_row_is_refused() -> None:
    with pytest.raises(UserError, match="unknown to the tokenizer"):
        spaces.neighbors(Silent(), "minilm", "token", Transform(), (), "🦓")
