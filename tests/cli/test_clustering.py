"""`kiruviz map` with every way to cluster."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import HDBSCAN, AgglomerativeClustering

from kiruviz.models.rows import read_words
from kiruviz.progress import Silent
from kiruviz.session.store import Session
from kiruviz.space import Recipe, Rows
from kiruviz.tasks import spaces
from tests.cli.conftest import EVERYDAY, Run


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    recipe = Recipe("smollm2", rows=Rows(words=tuple(read_words(EVERYDAY))))
    return spaces.space(spaces.build_space(Silent(), recipe).recipe).vectors


def clusters_in(table: Path) -> list[int]:
    with table.open(encoding="utf-8", newline="") as file:
        return [int(row["cluster"]) for row in csv.DictReader(file)]


def test_hdbscan_writes_noise_as_cluster_minus_one_and_counts_it(
    kiruviz: Run, rows: np.ndarray, tmp_path: Path
) -> None:
    table, session = tmp_path / "a.csv", tmp_path / "a.kiru"
    ran = kiruviz(
        "map", "smollm2", "--cluster-method", "hdbscan", "--cluster-metric", "cosine",
        "--cluster-param", "min_cluster_size=4", "--table", table, "--session", session, "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    made = json.loads(ran.out)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    expected = HDBSCAN(4, algorithm="brute", copy=True).fit_predict(units)
    assert clusters_in(table) == expected.tolist()
    assert made["noise"] == int((expected == -1).sum()) > 0
    assert made["clustering"] == {
        "method": "hdbscan", "metric": "cosine", "min_cluster_size": 4, "min_samples": None,
        "cluster_selection_method": "eom", "cluster_selection_epsilon": 0.0,
    }  # fmt: skip
    assert sum(one["size"] for one in made["clusters"]) + made["noise"] == 200
    assert "HDBSCAN clusters, cosine (rows scaled to unit length, then Euclidean distance)" in made["notes"]
    assert f"{made['noise']} rows are noise, in no cluster" in made["notes"]
    with Session.open(session) as kept:
        assert kept.labels is not None
        assert kept.labels.method == "hdbscan"
        assert kept.labels.params["metric"] == "cosine"


def test_a_figure_of_noise_says_so_in_legend_and_recipe(kiruviz: Run, tmp_path: Path) -> None:
    figure = tmp_path / "a.svg"
    ran = kiruviz("map", "smollm2", "--cluster-method", "hdbscan", "--cluster-metric", "cosine", "--figure", figure)
    assert ran.code == 0, ran.err
    text = figure.read_text(encoding="utf-8")
    assert ">noise<" in text
    assert "hdbscan, cosine (rows scaled to unit length, then Euclidean distance), min_cluster_size 5" in text


def test_agglomerative_takes_a_number_of_clusters_or_a_distance(kiruviz: Run, rows: np.ndarray, tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    common = ("map", "smollm2", "--cluster-method", "agglomerative", "--table", table, "--overwrite")
    assert kiruviz(*common, "--clusters", "5", "--cluster-param", "linkage=complete").code == 0
    assert clusters_in(table) == AgglomerativeClustering(5, linkage="complete").fit_predict(rows).tolist()
    assert kiruviz(*common, "--cluster-param", "distance_threshold=4.5").code == 0
    expected = AgglomerativeClustering(None, distance_threshold=4.5).fit_predict(rows)
    assert clusters_in(table) == expected.tolist()


def test_kmeans_as_ever_is_the_default_and_leaves_no_note(kiruviz: Run) -> None:
    made = json.loads(kiruviz("map", "smollm2", "--seed", "2", "--json").out)
    assert made["clustering"] == {"method": "kmeans", "metric": "euclidean", "k": 8, "n_init": 10, "seed": 2}
    assert made["noise"] == 0
    assert len(made["clusters"]) == 8
    assert not any("clusters" in note for note in made["notes"])


def test_a_row_of_zeros_is_in_no_cluster_under_cosine(kiruviz: Run, odd_model: Path) -> None:
    ran = kiruviz("map", odd_model, "--all", "--clusters", "2", "--cluster-metric", "cosine")
    assert ran.code == 0, ran.err
    assert "1 row is in no cluster" in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--cluster-method", "dbscan"), "dbscan"),
        (("--cluster-metric", "dot"), "dot"),
        (("--cluster-method", "hdbscan", "--clusters", "3"), "HDBSCAN finds the number of clusters itself"),
        (("--cluster-method", "evoc", "--clusters", "3"), "EVoC finds the number of clusters itself"),
        (("--cluster-param", "min_cluster_size=3"), "“min_cluster_size=3” is not a parameter of k-means"),
        (("--cluster-param", "n_init"), "write NAME=VALUE with one of: k, n_init, seed"),
        (("--cluster-param", "n_init=often"), "“n_init=often”: the value must be a whole number"),
        (("--cluster-method", "agglomerative", "--cluster-param", "distance_threshold=far"), "must be a number"),
        (("--cluster-method", "agglomerative", "--cluster-param", "linkage=middle"), "linkage must be one of ward"),
        (("--cluster-method", "hdbscan", "--cluster-param", "min_cluster_size=201"), "at most the number of rows, 200"),
        (("--cluster-method", "evoc", "--cluster-metric", "euclidean"), "EVoC compares rows by cosine only"),
        (("--cluster-method", "evoc", "--cluster-param", "n_neighbors=200"), "needs more than 200 rows"),
        (("--clusters", "201"), "between 1 and the number of rows, 200, not 201"),
    ],
)
def test_what_cannot_be_clustered_so_is_one_sentence(kiruviz: Run, arguments: tuple[str, ...], words: str) -> None:
    kiruviz("map", "smollm2", *arguments).refused_with(words)
