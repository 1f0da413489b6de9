"""A map computed before is recalled, and only that very map."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kiruviz.analysis.grouping import ClusterSpec, KMeansParams, cluster_spec
from kiruviz.errors import UserError
from kiruviz.paths import cache_dir
from kiruviz.progress import Silent
from kiruviz.space import Recipe, Rows, Transform
from kiruviz.tasks import maps, memory, remembered, spaces

WORDS = ("one", "two", "three", "four", "king", "queen", "father", "mother", "red", "green", "blue", "the")


@pytest.fixture(scope="module")
def recipe() -> Recipe:
    return spaces.build_space(Silent(), Recipe("smollm2", rows=Rows(words=WORDS, title="a dozen"))).recipe


def known(recipe: Recipe, spec: ClusterSpec) -> remembered.KnownMap:
    return remembered.known_map(Silent(), recipe, len(WORDS), {}, spec)


def test_what_was_computed_is_recalled_exactly(recipe):
    spec = ClusterSpec(KMeansParams(3, 2, 5))
    drawn = remembered.project(Silent(), recipe, "pca", {})
    grouped = remembered.cluster(Silent(), recipe, spec)
    again = known(recipe, spec)
    assert again.pca is not None
    assert again.clusters is not None
    np.testing.assert_array_equal(again.pca.coords, drawn.coords)
    assert again.pca.note == drawn.note
    assert again.pca.params == drawn.params
    np.testing.assert_array_equal(again.clusters.assignment, grouped.assignment)


def test_another_seed_rows_transform_or_model_is_not_recalled(recipe):
    spec = ClusterSpec(KMeansParams(3, 2, 5))
    remembered.project(Silent(), recipe, "pca", {})
    remembered.cluster(Silent(), recipe, spec)
    assert known(recipe, ClusterSpec(KMeansParams(3, 2, 6))).clusters is None
    others = [
        replace(recipe, rows=replace(recipe.rows, words=WORDS[:-1])),
        replace(recipe, transform=Transform(center=True)),
        replace(recipe, identity="0" * 64),
    ]
    for other in others:
        assert known(other, spec) == remembered.KnownMap(None, None, None)


def test_a_damaged_file_of_the_cache_only_means_computing_again(recipe):
    spec = ClusterSpec(KMeansParams(4, 2, 1))
    remembered.cluster(Silent(), recipe, spec)
    for path in cache_dir("maps").glob("*.npz"):
        path.write_bytes(path.read_bytes()[:40])
    assert known(recipe, spec).clusters is None
    grouped = remembered.cluster(Silent(), recipe, spec)
    np.testing.assert_array_equal(grouped.assignment, maps.cluster(Silent(), recipe, spec).assignment)


def test_the_cache_keeps_the_newest_and_stays_small(recipe):
    for seed in range(memory._MOST_FILES + 5):
        memory.keep("test", recipe, ClusterSpec(KMeansParams(seed=seed)).stored(), {"values": np.arange(3)})
    assert len(list(cache_dir("maps").glob("*.npz"))) <= memory._MOST_FILES
    newest = memory.recall("test", recipe, ClusterSpec(KMeansParams(seed=memory._MOST_FILES + 4)).stored())
    assert newest is not None
    np.testing.assert_array_equal(newest["values"], np.arange(3))


@pytest.mark.parametrize("method", ["hdbscan", "agglomerative"])
def test_every_method_is_recalled_by_its_own_parameters(recipe, method):
    spec = cluster_spec(method, "cosine")
    grouped = remembered.cluster(Silent(), recipe, spec)
    again = known(recipe, spec).clusters
    assert again is not None
    np.testing.assert_array_equal(again.assignment, grouped.assignment)
    assert known(recipe, cluster_spec(method, "euclidean")).clusters is None
    assert known(recipe, spec.with_value(3)).clusters is None


def test_evocs_layers_once_found_serve_every_choice_of_one(recipe):
    spec = cluster_spec("evoc", n_neighbors=5)
    fine = np.arange(len(WORDS), dtype=np.int32) // 3
    layers = np.stack([np.where(fine == 0, -1, fine // 2), fine])
    memory.keep("evoc-layers", recipe, spec.stored(), {"labels": layers, "chosen": np.array(2)})
    for layer, labels in ((1, layers[0]), (2, layers[1]), (None, layers[1])):
        chosen = replace(spec, params=replace(spec.params, layer=layer))
        np.testing.assert_array_equal(remembered.cluster(Silent(), recipe, chosen).assignment, labels)
    found = remembered.cluster_effect(Silent(), recipe, spec)
    assert [(point.value, point.clusters, point.noise) for point in found.points] == [(1, 2, 0.25), (2, 4, 0.0)]
    assert found.preferred == 2
    with pytest.raises(UserError, match="EVoC found 2 layers"):
        remembered.cluster(Silent(), recipe, spec.with_value(3))
