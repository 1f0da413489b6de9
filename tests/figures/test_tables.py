"""Tables keep every row whatever its token is, and say the same twice."""

from __future__ import annotations

import csv
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiruviz.errors import UserError
from kiruviz.figures.tables import map_table, write_table

AWKWARD = ["\n", "\t", '"', " ", ",", "\r\n", "", "a,b", '"quoted"', "ünï", "数", "\x00", "=1+1", "'", "plain"]


@dataclass(frozen=True)
class Cluster:
    cluster_id: int
    status: str
    name: str = ""
    note: str = ""
    confidence: int = 0
    title: str = ""


CLUSTERS = [
    Cluster(0, "named", 'num"bers, all', "a\nnote", 3),
    Cluster(1, "resists", note="mixed"),
    Cluster(2, "unnamed"),
]


def columns(dimensions: int = 2) -> dict[str, list]:
    n = len(AWKWARD)
    rng = np.random.default_rng(0)
    return map_table(
        np.r_[-1, np.arange(1, n)],
        AWKWARD,
        np.ones(n, np.int64),
        rng.normal(size=(n, dimensions)).astype(np.float32),
        (np.arange(n) % 4 - 1).astype(np.int32),
        CLUSTERS,
    )


def read_csv(path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_map_has_the_promised_columns_and_awkward_tokens_keep_their_rows(tmp_path):
    path = write_table(tmp_path / "a.csv", columns())
    rows = read_csv(path)
    assert list(rows[0]) == ["row_id", "token", "pieces", "x", "y", "cluster", "label", "status", "confidence", "note"]
    assert [row["token"] for row in rows] == AWKWARD
    assert rows[0] | {"x": "", "y": ""} == {
        "row_id": "",
        "token": "\n",
        "pieces": "1",
        "x": "",
        "y": "",
        "cluster": "-1",
        "label": "",
        "status": "",
        "confidence": "",
        "note": "",
    }
    assert (rows[1]["label"], rows[1]["status"], rows[1]["note"]) == ('num"bers, all', "named", "a\nnote")
    assert list(columns(3))[3:6] == ["x", "y", "z"]


def test_coordinates_read_back_to_the_same_float32_and_two_runs_write_the_same_bytes(tmp_path):
    one, two = (write_table(tmp_path / name, columns()) for name in ("a.csv", "b.csv"))
    assert one.read_bytes() == two.read_bytes()
    x = np.array([row["x"] for row in read_csv(one)], dtype=np.float32)
    assert x.tolist() == [float(v) for v in columns()["x"]]
    assert max(len(row["x"]) for row in read_csv(one)) <= 14
    assert (
        write_table(tmp_path / "a.parquet", columns()).read_bytes()
        == write_table(tmp_path / "b.parquet", columns()).read_bytes()
    )


def test_parquet_keeps_tokens_types_and_nulls(tmp_path):
    import pyarrow.parquet as pq

    table = pq.read_table(write_table(tmp_path / "a.parquet", columns()))
    assert table["token"].to_pylist() == AWKWARD
    assert table["row_id"].to_pylist()[:2] == [None, 1]
    assert str(table.schema.field("x").type) == "float"
    assert table["confidence"].to_pylist()[:2] == [None, 3]


@given(tokens=st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), max_size=20))
@settings(max_examples=60, deadline=None)
def test_any_text_reads_back_from_csv(tmp_path_factory, tokens):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    write_table(path, {"token": tokens, "row": list(range(len(tokens)))})
    assert [row["token"] for row in read_csv(path)] == tokens


def test_half_a_surrogate_pair_does_not_stop_a_table(tmp_path):
    for suffix in (".csv", ".parquet"):
        write_table(tmp_path / f"a{suffix}", {"token": ["\ud800", "b"]})
    assert [row["token"] for row in read_csv(tmp_path / "a.csv")] == ["?", "b"]


def test_an_existing_table_and_an_unknown_format_are_refused_and_nothing_is_left_behind(tmp_path):
    path = write_table(tmp_path / "a.csv", {"a": [1]})
    with pytest.raises(UserError, match=r"a\.csv exists already"):
        write_table(path, {"a": [2]})
    write_table(path, {"a": [2]}, overwrite=True)
    assert path.read_text() == "a\n2\n"
    with pytest.raises(UserError, match=r"\.csv or \.parquet"):
        write_table(tmp_path / "a.xlsx", {"a": [1]})
    with pytest.raises(ValueError, match="different lengths"):
        write_table(tmp_path / "b.csv", {"a": [1], "b": []})
    with pytest.raises(RuntimeError):
        write_table(tmp_path / "b.csv", {"a": [Breaking()]})
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


class Breaking:
    def __str__(self) -> str:
        raise RuntimeError("in the middle of a table")
