"""`kiruviz map` on the starter as a program of its own: the same run twice gives the same bytes."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans

from kiruviz.models.opening import open_model
from kiruviz.models.rows import read_words
from kiruviz.session.store import Session
from tests.cli.conftest import EVERYDAY, Ran, program

pytestmark = pytest.mark.slow
NAMES = ("a", "b")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("main-line")


@pytest.fixture(scope="module")
def runs(folder: Path) -> list[Ran]:
    options = ("--words", EVERYDAY, "--method", "umap", "--clusters", "8", "--seed", "0")
    return [
        program(
            *("map", "smollm2", *options, "--session", folder / f"{name}.kiru"),
            *("--figure", folder / f"{name}.svg", "--table", folder / f"{name}.csv"),
        )
        for name in NAMES
    ]


def rows(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((folder / "a.csv").read_text(encoding="utf-8"), newline="")))


def test_both_runs_end_well_without_a_word_on_stderr(runs: list[Ran], folder: Path) -> None:
    for name, ran in zip(NAMES, runs, strict=True):
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith("SmolLM2-135M-Instruct: 200 rows of 576, raw, UMAP\n")
        assert f"wrote {folder / name}.csv" in ran.out
    left = sorted(path.name for path in folder.iterdir())
    assert left == ["a.csv", "a.kiru", "a.svg", "b.csv", "b.kiru", "b.svg"]


def test_the_tables_of_two_runs_are_the_same_bytes(runs: list[Ran], folder: Path) -> None:
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    assert (folder / "a.svg").read_bytes() == (folder / "b.svg").read_bytes()


def test_the_table_has_one_row_a_word(runs: list[Ran], folder: Path) -> None:
    found = rows(folder)
    assert [row["token"] for row in found] == read_words(EVERYDAY)
    assert len(found) == 200
    assert list(found[0]) == ["row_id", "token", "pieces", "x", "y", "cluster", "label", "status", "confidence", "note"]
    assert {row["pieces"] for row in found} == {"1"}


def test_the_clusters_are_those_of_scikit_learn_on_the_raw_rows(runs: list[Ran], folder: Path) -> None:
    found = rows(folder)
    E = open_model("smollm2").table("token")
    ids = [int(row["row_id"]) for row in found]
    expected = KMeans(8, n_init=10, random_state=0).fit_predict(E[ids])
    np.testing.assert_array_equal([int(row["cluster"]) for row in found], expected)


def test_the_figure_has_real_text(runs: list[Ran], folder: Path) -> None:
    svg = (folder / "a.svg").read_text(encoding="utf-8")
    assert svg.count("<text") > 50
    # Words that would overlap are left out of the picture.
    assert sum(f">{word}</text>" in svg for word in read_words(EVERYDAY)) > 50


def test_the_session_holds_what_was_written(runs: list[Ran], folder: Path) -> None:
    with Session.open_readonly(folder / "a.kiru") as session:
        space_id = session.view("space_id")
        projection = session.projection(space_id)
        assert session.labels is not None
        assert projection is not None
        assert (projection.method, projection.params["seed"]) == ("umap", 0)
        assert session.labels.params == {"k": 8, "n_init": 10, "seed": 0}
        coords, assignment = projection.coords, session.labels.assignment
    found = rows(folder)
    np.testing.assert_array_equal(np.array([[row["x"], row["y"]] for row in found], np.float32), coords)
    assert [int(row["cluster"]) for row in found] == assignment.tolist()


def test_without_a_display_the_window_says_so_in_one_sentence() -> None:
    for arguments in ((), ("open", "smollm2")):
        ran = program(*arguments, DISPLAY=None, WAYLAND_DISPLAY=None, QT_QPA_PLATFORM=None)
        ran.refused_with("There is no display")


def test_a_reader_that_stops_reading_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "kiruviz", "info", "minilm"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, timeout=120)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_bytes_that_are_no_text_are_refused_as_a_token() -> None:
    program("neighbors", "minilm", "\udcff").refused_with("is not one token of all-MiniLM-L6-v2")


def test_a_terminal_without_unicode_gets_escapes() -> None:
    ran = program("neighbors", "smollm2", "sunflower", "-k", "3", PYTHONIOENCODING="ascii")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Nearest to \\u201c\\xb7sunflower\\u201d, row 28991; raw\n")
