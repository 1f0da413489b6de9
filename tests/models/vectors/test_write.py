"""What is written for other programs comes back row for row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiruviz.models.checkpoint import Checkpoint
from kiruviz.models.opening import open_model
from kiruviz.models.vectors import projector, write
from kiruviz.models.vectors.opened import read_table
from kiruviz.models.vectors.table import VectorTable
from kiruviz.progress import Silent

ODD = [
    "\n",
    "\t",
    '"',
    "'",
    " ",
    "  ",
    "\\",
    "\\n",
    "a\tb",
    "\r\n",
    "名前",
    "\x00",
    "a\x00",
    " king",
    "king ",
    "1",
    "nan",
]
ODD += ["\x85", "\u2028", "\xa0", "", ",", ";", "#", "[1, 2]", "None", "</s>", "<b>", "token", "\ufeff"]


def table(names: list[str]) -> VectorTable:
    rng = np.random.default_rng(len(names))
    columns = {
        "label": np.array(["a\tb", "", "c\nd", "ü"] * len(names))[: len(names)],
        "norm": rng.normal(size=len(names)),
        "cluster": np.arange(len(names), dtype=np.float64),
    }
    return VectorTable(rng.normal(size=(len(names), 3)).astype(np.float32), tuple(names), columns)


def written(kind: str, folder: Path, made: VectorTable) -> VectorTable:
    """Written as `kind` and read again."""
    folder.mkdir(exist_ok=True)
    shares: list[float] = []
    if kind == "projector":
        write.to_projector(folder, made, shares.append)
        path = folder / projector.CONFIG
    else:
        path = folder / f"a.{kind}"
        {"vec": write.to_word2vec, "npz": write.to_npz, "parquet": write.to_atlas}[kind](path, made, shares.append)
    assert shares
    assert not list(folder.glob("*.part"))
    return read_table(path, None, Silent())


@pytest.mark.parametrize("kind", ["projector", "vec", "npz", "parquet"])
def test_every_odd_name_and_every_row_comes_back_exactly(kind: str, tmp_path: Path) -> None:
    made = table(ODD)
    again = written(kind, tmp_path / kind, made)
    assert again.names == made.names
    np.testing.assert_array_equal(again.vectors, made.vectors)
    if kind != "vec":
        assert set(again.columns) == set(made.columns)
        np.testing.assert_array_equal(again.columns["norm"], made.columns["norm"])
        assert again.columns["label"].tolist() == made.columns["label"].tolist()


@pytest.mark.parametrize("kind", ["projector", "vec", "npz", "parquet"])
@pytest.mark.parametrize("names", [["king", "queen"], ["one"], ["7", "8", "9"], [" ", ""]])
def test_plain_short_and_numeric_names_come_back(kind: str, names: list[str], tmp_path: Path) -> None:
    made = table(names)
    again = written(kind, tmp_path / kind, made)
    assert again.names == made.names
    np.testing.assert_array_equal(again.vectors, made.vectors)


@settings(max_examples=60, deadline=None)
@given(names=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), min_size=1, max_size=8))
def test_any_names_come_back(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    folder = tmp_path_factory.mktemp("any")
    for kind in ("projector", "vec", "npz", "parquet"):
        assert written(kind, folder / kind, table(names)).names == tuple(names)


def test_plain_names_are_written_as_word2vec_writes_them(tmp_path: Path) -> None:
    made = VectorTable(np.float32([[0.5, 1], [2, 1e-20]]), ("king", "queen"))
    write.to_word2vec(tmp_path / "a.vec", made, lambda _: None)
    assert (tmp_path / "a.vec").read_text() == "2 2\nking 0.5 1.0\nqueen 2.0 1e-20\n"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["projector", "vec", "npz", "parquet"])
def test_the_starters_own_tokens_come_back(kind: str, tmp_path: Path) -> None:
    starter: Checkpoint = open_model("minilm")
    names = starter.vocabulary().text[:3000] + open_model("smollm2").vocabulary().text[:3000]
    made = VectorTable(np.concatenate([starter.table()[:3000, :8]] * 2), names)
    again = written(kind, tmp_path / kind, made)
    assert again.names == names
    np.testing.assert_array_equal(again.vectors, made.vectors)
