"""Each clusterer against the library it stands on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans

from kiruviz.analysis.clusterers import Layers, assign, evoc_layers
from kiruviz.analysis.grouping import (
    LINKAGES,
    METHODS,
    PARAMS,
    SELECTIONS,
    ClusterMethod,
    ClusterSpec,
    HdbscanParams,
    KMeansParams,
    cluster_spec,
    rest_title,
    unit_rows,
)
from kiruviz.analysis.stability import best_overlaps, subset_agreement
from kiruviz.errors import UserError
from kiruviz.models.rows import read_words
from kiruviz.paths import resource
from kiruviz.progress import Silent
from kiruviz.space import Recipe, Rows
from kiruviz.tasks import spaces


@pytest.fixture(scope="module")
def everyday() -> np.ndarray:
    """The starter's rows of the everyday words."""
    words = tuple(read_words(resource("words", "everyday-200.txt")))
    return spaces.space(spaces.build_space(Silent(), Recipe("smollm2", rows=Rows(words=words))).recipe).vectors


@pytest.fixture(scope="module")
def blobs() -> np.ndarray:
    """Three far groups of forty rows, and ten rows that are in none."""
    rng = np.random.default_rng(1)
    centres = 12 * rng.standard_normal((3, 6))
    groups = np.repeat(centres, 40, axis=0) + 0.3 * rng.standard_normal((120, 6))
    return np.concatenate([groups, 40 * rng.standard_normal((10, 6))]).astype(np.float32)


@pytest.fixture(params=["everyday", "blobs"])
def rows(request: pytest.FixtureRequest) -> np.ndarray:
    found: np.ndarray = request.getfixturevalue(request.param)
    return found


def units(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def same_partition(one: np.ndarray, other: np.ndarray) -> bool:
    return len(set(zip(one.tolist(), other.tolist(), strict=True))) == len(set(one)) == len(set(other))


def test_kmeans_is_scikit_learns(rows: np.ndarray) -> None:
    expected = KMeans(5, n_init=3, random_state=2).fit_predict(rows)
    assert np.array_equal(assign(rows, cluster_spec("kmeans", k=5, n_init=3, seed=2)), expected)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize(
    "params",
    [
        {"min_cluster_size": 2},
        {"min_cluster_size": 5},
        {"min_cluster_size": 4, "min_samples": 2},
    ],
    ids=str,
)
def test_hdbscan_is_scikit_learns(rows: np.ndarray, params: dict[str, Any], selection: str) -> None:
    params = params | {"cluster_selection_method": selection}
    expected = HDBSCAN(**params, algorithm="brute", copy=True).fit_predict(rows)
    assert np.array_equal(assign(rows, cluster_spec("hdbscan", **params)), expected)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_hdbscan_merges_by_epsilon_as_scikit_learn_does_or_says_that_it_cannot(
    rows: np.ndarray, selection: Any
) -> None:
    params = {"min_cluster_size": 3, "cluster_selection_epsilon": 1.2, "cluster_selection_method": selection}
    try:
        expected = HDBSCAN(**params, algorithm="brute", copy=True).fit_predict(rows)
    except TypeError:
        with pytest.raises(UserError, match=r"cluster_selection_epsilon 1.2 \(its issue 33219\); set it to 0"):
            assign(rows, cluster_spec("hdbscan", **params))
    else:
        assert np.array_equal(assign(rows, cluster_spec("hdbscan", **params)), expected)


def test_hdbscan_with_its_default_search_finds_the_same(rows: np.ndarray) -> None:
    expected = HDBSCAN(5, copy=True).fit_predict(rows)
    assert np.array_equal(assign(rows, cluster_spec("hdbscan")), expected)


@pytest.mark.parametrize("method", LINKAGES)
def test_agglomerative_is_scikit_learns_and_scipys(rows: np.ndarray, method: Any) -> None:
    found = assign(rows, cluster_spec("agglomerative", linkage=method, k=6))
    assert np.array_equal(found, AgglomerativeClustering(6, linkage=method).fit_predict(rows))
    tree = linkage(rows.astype(np.float64), method)
    assert same_partition(found, fcluster(tree, 6, "maxclust"))
    threshold = float(tree[-4, 2] + tree[-5, 2]) / 2
    cut = assign(rows, cluster_spec("agglomerative", linkage=method, distance_threshold=threshold))
    expected = AgglomerativeClustering(None, linkage=method, distance_threshold=threshold).fit_predict(rows)
    assert np.array_equal(cut, expected)
    assert len(set(cut.tolist())) == 5


@pytest.mark.parametrize("method", ["kmeans", "hdbscan", "agglomerative"])
def test_cosine_is_unit_length_then_euclidean(rows: np.ndarray, method: ClusterMethod) -> None:
    found = assign(rows, cluster_spec(method, "cosine"))
    plain = assign(unit_rows(rows)[0], cluster_spec(method, "euclidean"))
    assert np.array_equal(found, plain)
    assert np.array_equal(found, assign(rows * np.arange(1, len(rows) + 1)[:, None], cluster_spec(method, "cosine")))
    assert np.allclose(unit_rows(rows)[0], units(rows))


def test_noise_is_in_no_cluster(blobs: np.ndarray) -> None:
    found = assign(blobs, cluster_spec("hdbscan", min_cluster_size=10))
    assert (found[120:] == -1).all()
    assert sorted(set(found[:120].tolist()) - {-1}) == [0, 1, 2]
    assert rest_title("hdbscan") == rest_title("evoc") == "noise"
    assert rest_title("kmeans") == "no cluster"


@pytest.mark.parametrize("method", ["kmeans", "hdbscan", "agglomerative"])
def test_rows_of_zeros_have_no_direction_and_so_no_cluster_under_cosine(
    blobs: np.ndarray, method: ClusterMethod
) -> None:
    holed = blobs.copy()
    holed[[3, 50]] = 0
    found = assign(holed, cluster_spec(method, "cosine"))
    assert (found[[3, 50]] == -1).all()
    rest = np.delete(np.arange(len(blobs)), [3, 50])
    assert np.array_equal(found[rest], assign(holed[rest], cluster_spec(method, "cosine")))
    with pytest.raises(UserError, match="All rows are zeros"):
        assign(np.zeros((20, 4)), cluster_spec(method, "cosine"))
    assert np.isfinite(assign(np.zeros((20, 4)), cluster_spec(method, "euclidean"))).all()


@pytest.mark.parametrize("method", ["kmeans", "hdbscan", "agglomerative"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_rows_give_a_picture_or_a_sentence(method: ClusterMethod, count: int) -> None:
    rows = np.eye(count, 4, dtype=np.float32)
    spec = cluster_spec(method).fitted(count)
    if method == "hdbscan" and count == 1:
        with pytest.raises(UserError, match="HDBSCAN needs at least 2 rows"):
            assign(rows, spec)
        return
    found = assign(rows, spec)
    assert found.shape == (count,)
    assert sorted(found.tolist()) == ([-1] * count if method == "hdbscan" else list(range(count)))


@pytest.mark.parametrize("method", ["kmeans", "hdbscan", "agglomerative"])
def test_equal_rows_are_clustered_without_a_warning(method: ClusterMethod) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = assign(np.ones((30, 5)), cluster_spec(method))
    assert found.shape == (30,)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (cluster_spec("kmeans", k=131), "number of clusters must be between 1 and the number of rows, 130, not 131"),
        (cluster_spec("agglomerative", k=0), "between 1 and the number of rows"),
        (cluster_spec("agglomerative", linkage="middle"), "linkage must be one of ward, average, complete, single"),
        (cluster_spec("agglomerative", distance_threshold=-1.0), "distance_threshold must be a number of at least 0"),
        (cluster_spec("hdbscan", min_cluster_size=1), "min_cluster_size must be a whole number of at least 2"),
        (cluster_spec("hdbscan", min_cluster_size=131), "min_cluster_size must be at most the number of rows, 130"),
        (cluster_spec("hdbscan", min_samples=131), "min_samples must be at most the number of rows, 130"),
        (cluster_spec("hdbscan", cluster_selection_method="best"), "must be one of eom, leaf, not “best”"),
        (cluster_spec("hdbscan", cluster_selection_epsilon=float("nan")), "cluster_selection_epsilon must be a number"),
        (cluster_spec("evoc", "euclidean"), "EVoC compares rows by cosine only"),
        (cluster_spec("evoc", n_neighbors=130), "needs more than 130 rows, and there are 130"),
        (cluster_spec("evoc", layer=0), "layer must be a whole number of at least 1"),
        (cluster_spec("evoc", noise_level=1.5), "noise_level must be between 0 and 1"),
        (cluster_spec("evoc", seed=-1), "seed"),
        (ClusterSpec(metric="dot"), "metric must be one of euclidean, cosine, not “dot”"),  # type: ignore[arg-type]
    ],
)
def test_what_does_not_fit_is_one_sentence(blobs: np.ndarray, spec: ClusterSpec, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        assign(blobs, spec)


def test_no_rows_are_a_sentence() -> None:
    for method in METHODS:
        with pytest.raises(UserError, match="There are no rows to cluster"):
            assign(np.zeros((0, 3)), cluster_spec(method))


def test_an_unknown_parameter_is_named_with_those_there_are() -> None:
    with pytest.raises(UserError, match="HDBSCAN has no parameter “k”; it has min_cluster_size, min_samples"):
        cluster_spec("hdbscan", k=3)


# What a session keeps


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("method", METHODS)
def test_a_spec_comes_back_from_what_a_session_keeps(method: ClusterMethod, metric: Any) -> None:
    spec = cluster_spec(method, metric)
    assert ClusterSpec.read(method, spec.stored()) == spec


def test_sessions_of_before_open() -> None:
    spec = ClusterSpec.read("kmeans", {"k": 5, "n_init": 3, "seed": 7})
    assert spec == ClusterSpec(KMeansParams(5, 3, 7))
    assert spec.stored() == {"k": 5, "n_init": 3, "seed": 7}
    assert ClusterSpec.read("a method of a newer program", {}) is None
    assert ClusterSpec.read("hdbscan", {"min_cluster_size": 9, "new": 1}) == ClusterSpec(HdbscanParams(9))


def test_a_spec_says_in_words_what_cosine_means() -> None:
    assert ClusterSpec().describe() == "kmeans, k 8, n_init 10, seed 0"
    assert cluster_spec("agglomerative", "cosine", k=3).describe() == (
        "agglomerative, cosine (rows scaled to unit length, then Euclidean distance), k 3, linkage ward"
    )
    assert cluster_spec("hdbscan").describe().startswith("hdbscan, euclidean, min_cluster_size 5, ")


def test_numbers_larger_than_the_rows_are_brought_down() -> None:
    for method in ("kmeans", "agglomerative", "hdbscan"):
        spec = cluster_spec(method, **{PARAMS[method].main: 500})
        spec.fitted(130).validate(130)
        assert spec.fitted(130).value == 130


def test_a_share_of_the_rows_is_counted_as_dense_by_a_share_of_them() -> None:
    spec = cluster_spec("hdbscan", min_cluster_size=5, min_samples=10).thinned(0.8)
    assert spec == cluster_spec("hdbscan", min_cluster_size=4, min_samples=8)
    assert cluster_spec("hdbscan", min_cluster_size=2).thinned(0.1).value == 2
    assert cluster_spec("agglomerative", k=5).thinned(0.8) == cluster_spec("agglomerative", k=5)


# Stability from part of the rows


def test_clear_clusters_come_back_from_part_of_the_rows_and_loose_ones_do_not(blobs: np.ndarray) -> None:
    spec = cluster_spec("agglomerative", k=3, linkage="single")
    clear = np.repeat([0, 1, 2], 40)
    found = subset_agreement(blobs[:120], clear, lambda some: assign(some, spec))
    assert found == {0: 1.0, 1: 1.0, 2: 1.0}
    mixed = np.random.default_rng(0).permutation(clear)
    assert max(subset_agreement(blobs[:120], mixed, lambda some: assign(some, spec)).values()) < 0.5


def test_part_of_the_rows_is_drawn_by_the_seed_and_noise_is_no_cluster(blobs: np.ndarray) -> None:
    labels = np.where(np.arange(130) < 120, np.arange(130) // 40, -1)
    seen: list[int] = []

    def regroup(some: np.ndarray) -> np.ndarray:
        seen.append(len(some))
        return assign(some, cluster_spec("hdbscan", min_cluster_size=6))

    found = subset_agreement(blobs, labels, regroup, draws=3, seed=4)
    assert seen == [104, 104, 104]
    assert set(found) == {0, 1, 2}
    drawn = np.sort(np.random.default_rng(4).choice(130, 104, replace=False))
    first = best_overlaps(labels[drawn], assign(blobs[drawn], cluster_spec("hdbscan", min_cluster_size=6)))
    assert found == subset_agreement(blobs, labels, regroup, draws=3, seed=4)
    assert subset_agreement(blobs, labels, regroup, draws=1, seed=4) == dict(enumerate(first.tolist()))


# EVoC


def test_a_layer_is_picked_from_coarse_to_fine_or_by_evocs_choice() -> None:
    layers = Layers(np.array([[0, 0, 0], [0, 0, 1]], np.int32), 2)
    assert layers.pick(1).tolist() == [0, 0, 0]
    assert layers.pick(None).tolist() == layers.pick(2).tolist() == [0, 0, 1]
    with pytest.raises(UserError, match="EVoC found 2 layers; choose 1 \\(coarsest\\) to 2, not 3"):
        layers.pick(3)
    assert assign(np.ones((3, 2)), cluster_spec("evoc", layer=2), layers=layers).tolist() == [0, 0, 1]


@pytest.mark.slow
def test_evoc_is_its_own_and_the_same_for_a_seed(everyday: np.ndarray) -> None:
    import numba
    from evoc import EVoC

    spec = cluster_spec("evoc")
    found = evoc_layers(everyday, spec)
    numba.set_num_threads(1)
    model = EVoC(random_state=0).fit(unit_rows(everyday)[0])
    assert len(found.labels) == len(model.cluster_layers_) > 1
    for ours, its in zip(found.labels, reversed(model.cluster_layers_), strict=True):
        assert np.array_equal(ours, its)
    counts = [int(labels.max()) + 1 for labels in found.labels]
    assert counts == sorted(counts)
    assert np.array_equal(found.pick(None), model.labels_)
    assert np.array_equal(assign(everyday, spec), model.labels_)
    holed = everyday.copy()
    holed[7] = 0
    assert (evoc_layers(holed, spec).labels[:, 7] == -1).all()
    same = np.ones((40, 8), np.float32)
    assert evoc_layers(same, spec).labels.shape == (1, 40)
