"""Figures, tables and labels from a session file."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from kiruviz.analysis.grouping import ClusterSpec
from kiruviz.errors import UserError
from kiruviz.figures.label_files import read_labels
from kiruviz.figures.recipe import read_recipe
from kiruviz.figures.spec import FigureSpec
from kiruviz.progress import Silent
from kiruviz.session.store import Session
from kiruviz.space import Recipe
from kiruviz.tasks import exports, maps, spaces
from kiruviz.tasks.exports import ExportOrder
from kiruviz.tasks.kept_figure import FigureSettings, MapView, keep_figure, kept_figure

SMALL = FigureSpec(width_mm=60, height_mm=50, dpi=60)
NAME = 'Months, "all" twelve'


def csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("suffix", [".svg", ".pdf", ".png"])
def test_a_figure_tells_how_the_map_was_made(session_file: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"a{suffix}"

    assert exports.export_figure(Silent(), str(session_file), str(out), SMALL) == str(out)

    made = read_recipe(out)
    assert made["model"] == "SmolLM2-135M-Instruct"
    assert made["space"] == "input embedding"
    assert made["rows"] == "everyday-200.txt, 200 rows"
    assert made["transform"] == "raw"
    assert (made["method"], made["parameters"]) == ("PCA", "components 2")
    assert made["clusters"] == "kmeans, k 8, n_init 10, seed 0"
    assert "scikit-learn" in made["versions"]
    again = tmp_path / f"b{suffix}"
    exports.export_figure(Silent(), str(session_file), str(again), SMALL)
    assert out.read_bytes() == again.read_bytes()


def test_a_figures_text_is_text(session_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.svg"
    exports.export_figure(Silent(), str(session_file), str(out), FigureSpec())
    svg = out.read_text(encoding="utf-8")
    assert svg.count("<text") > 40
    assert "Months, &quot;all&quot; twelve</text>" in svg or f"{NAME}</text>" in svg
    assert "SmolLM2-135M-Instruct: everyday-200.txt</text>" in svg


def test_the_preview_is_a_picture_of_the_width_asked_for(session_file: Path) -> None:
    data = exports.preview_figure(Silent(), str(session_file), FigureSpec(), MapView(), 320).png
    assert data.startswith(b"\x89PNG")
    assert int.from_bytes(data[16:20], "big") == 320


@pytest.mark.parametrize(("by", "word"), [("norm", "Norm of the row"), ("frequency", "Word frequency (Zipf)")])
def test_a_figure_can_be_coloured_by_a_value(session_file: Path, tmp_path: Path, by: str, word: str) -> None:
    out = tmp_path / "a.svg"
    exports.export_figure(Silent(), str(session_file), str(out), FigureSpec(), MapView(color_by=by))
    assert f"{word}</text>" in out.read_text(encoding="utf-8")


def test_a_figure_coloured_by_token_kind_lists_the_kinds(session_file: Path) -> None:
    with Session.open_readonly(session_file) as session:
        found, _ = exports.read_map(session)
    drawn = exports.picture(found, MapView(color_by="kind"))
    kinds = found.record.columns["kind"]
    assert [mark.title for mark in drawn.clusters] == sorted(set(kinds), key=lambda k: -(kinds == k).sum())
    assert [drawn.clusters[i].title for i in drawn.assignment] == kinds.tolist()


def test_a_saved_view_is_drawn_as_it_was_saved(session_file: Path, tmp_path: Path) -> None:
    with Session.open(session_file) as session:
        session.set_view("map", {"color_by": "cluster", "rectangle": None})
        session.save_view("close up", {"color_by": "norm", "rectangle": [-1.0, -1.0, 1.0, 1.0]})
    with Session.open_readonly(session_file) as session:
        assert exports.read_map(session)[1] == MapView()
        assert exports.read_map(session, "close up")[1] == MapView("norm", (-1.0, -1.0, 1.0, 1.0))

    out = tmp_path / "a.svg"
    exports.export(Silent(), ExportOrder(session_file, "close up", figure=out))

    assert "Norm of the row</text>" in out.read_text(encoding="utf-8")
    with pytest.raises(UserError, match="no view named “wide”; it has close up"):
        exports.export(Silent(), ExportOrder(session_file, "wide", figure=tmp_path / "b.svg"))


def test_the_last_figure_is_what_export_draws_by_default(session_file: Path, tmp_path: Path) -> None:
    spec = FigureSpec(70, 60, 80, theme="dark", labels="selection", title="", legend="below")
    view = MapView("norm", (-1.0, -1.0, 1.0, 1.0), (3, 5, 8))
    with Session.open(session_file) as session:
        space_id = session.view("space_id")
        shown = session.projection(space_id)
        assert shown is not None
        settings = FigureSettings(spec, view, "view", "png", "in")
        keep_figure(session, settings, shown)
        assert kept_figure(session, shown, MapView()) == settings
        assert exports.read_figure(session)[1:] == (view, spec)
    a, b, c = (tmp_path / f"{name}.png" for name in "abc")
    exports.export_figure(Silent(), str(session_file), str(a), spec, view)
    exports.export(Silent(), ExportOrder(session_file, figure=b))
    exports.export(Silent(), ExportOrder(session_file, figure=c, whole=True, changes={"theme": "paper"}))
    assert a.read_bytes() == b.read_bytes()
    assert c.read_bytes() != b.read_bytes()

    with Session.open(session_file) as session:
        session.set_view("map", {"color_by": "kind", "rectangle": [0.0, 0.0, 2.0, 2.0]})
        again = session.projection(session.view("space_id"))
        assert again is not None
        other = session.add_projection(again.space_id, "pca", {"components": 3}, again.coords)
        assert other != shown.projection_id
        # Another projection has its own places: the rectangle of the former one would show anything.
        assert exports.read_figure(session)[1] == MapView("norm", (0.0, 0.0, 2.0, 2.0), (3, 5, 8))


@pytest.mark.parametrize("kept", [3, {}, {"spec": {"width_mm": -1}}, {"spec": {}, "view": {"rectangle": 3}}])
def test_settings_that_cannot_be_read_are_as_good_as_none(session_file: Path, kept: Any) -> None:
    with Session.open(session_file) as session:
        session.set_view("figure", kept)
        assert exports.read_figure(session)[1:] == (MapView(), FigureSpec())


def test_a_table_has_a_row_a_word(session_file: Path, everyday: Recipe, tmp_path: Path) -> None:
    exports.export_table(Silent(), str(session_file), str(tmp_path / "a.csv"))
    exports.export_table(Silent(), str(session_file), str(tmp_path / "a.parquet"))

    record = spaces.build_space(Silent(), everyday)
    coords = maps.project(Silent(), everyday, "pca", {}).coords
    assignment = maps.cluster(Silent(), everyday, ClusterSpec()).assignment
    rows = csv_rows(tmp_path / "a.csv")
    assert [row["token"] for row in rows] == list(record.names)
    assert [int(row["row_id"]) for row in rows] == record.row_ids.tolist()
    assert [int(row["cluster"]) for row in rows] == assignment.tolist()
    read = np.array([[row["x"], row["y"]] for row in rows], np.float32)
    np.testing.assert_array_equal(read, coords)
    labelled = {row["cluster"]: (row["label"], row["status"], row["confidence"], row["note"]) for row in rows}
    assert labelled["0"] == (NAME, "named", "3", "")
    assert labelled["1"] == ("", "resists", "", "odd ones\nout")
    assert labelled["2"] == ("", "unnamed", "", "")
    table = pq.read_table(tmp_path / "a.parquet").to_pydict()
    assert list(table) == list(rows[0])
    assert table["token"] == list(record.names)
    assert {c for c, k in zip(table["confidence"], table["cluster"], strict=True) if k != 0} == {None}


def test_words_of_several_tokens_are_marked_in_the_table(several: Recipe, tmp_path: Path) -> None:
    path = tmp_path / "a.kiru"
    record = spaces.build_space(Silent(), several)
    with Session.create(path) as session:
        space_id = session.add_space(record)
        session.set_view("space_id", space_id)
        session.add_projection(space_id, "pca", {}, maps.project(Silent(), several, "pca", {}).coords)

    exports.export_table(Silent(), str(path), str(tmp_path / "a.csv"))

    rows = {row["token"]: row for row in csv_rows(tmp_path / "a.csv")}
    assert (rows["king"]["pieces"], rows["king"]["row_id"]) == ("1", "4197")
    assert (rows["San Francisco"]["pieces"], rows["San Francisco"]["row_id"]) == ("2", "")
    assert rows["king"]["cluster"] == "-1"
    assert rows["king"]["status"] == ""
    with pytest.raises(UserError, match="has no clusters yet"):
        exports.export_labels(Silent(), str(path), str(tmp_path / "l.csv"))
    exports.export_figure(Silent(), str(path), str(tmp_path / "a.png"), SMALL)


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_labels_read_back_as_they_were_given(session_file: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"labels{suffix}"

    exports.export_labels(Silent(), str(session_file), str(out))

    labels = read_labels(out)
    assert [label.cluster for label in labels.clusters] == list(range(8))
    first, second, third = labels.clusters[:3]
    assert (first.name, first.status, first.confidence) == (NAME, "named", 3)
    assert "July" in first.members
    assert (second.status, second.note, second.confidence) == ("resists", "odd ones\nout", None)
    assert third.status == "unnamed"
    assert sum(len(label.members) for label in labels.clusters) == 200
    if suffix == ".json":
        assert labels.recipe["model"] == "SmolLM2-135M-Instruct"
        assert json.loads(out.read_text())["kiruviz_labels"] == 1


def test_a_session_without_a_map_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.kiru"
    Session.create(path).close()
    for write in (
        lambda: exports.export_figure(Silent(), str(path), str(tmp_path / "a.svg"), SMALL),
        lambda: exports.export_table(Silent(), str(path), str(tmp_path / "a.csv")),
        lambda: exports.export_labels(Silent(), str(path), str(tmp_path / "a.json")),
    ):
        with pytest.raises(UserError, match="holds no map yet"):
            write()


def test_nothing_is_written_if_one_output_cannot_be(session_file: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.csv"
    kept.write_text("mine")
    figure = tmp_path / "a.svg"
    orders: list[tuple[dict[str, Any], str]] = [
        ({"table": kept}, "exists already"),
        ({"table": tmp_path / "a.txt"}, "should end in .csv or .parquet"),
        ({"labels": tmp_path / "nowhere" / "a.json"}, "does not exist"),
        ({"labels": tmp_path}, "should end in"),
        ({"table": tmp_path / "b.csv", "labels": tmp_path / "b.csv"}, "named for two outputs"),
    ]
    for outputs, sentence in orders:
        with pytest.raises(UserError) as refused:
            exports.export(Silent(), ExportOrder(session_file, figure=figure, **outputs))
        assert sentence in str(refused.value)
        assert not figure.exists()
    assert kept.read_text() == "mine"
    with pytest.raises(UserError, match="Say what to export"):
        exports.export(Silent(), ExportOrder(session_file))


def test_export_writes_all_that_was_asked_for(session_file: Path, tmp_path: Path) -> None:
    order = ExportOrder(
        session_file,
        figure=tmp_path / "a.png",
        table=tmp_path / "a.parquet",
        labels=tmp_path / "a.json",
        overwrite=True,
        changes={"width_mm": 60.0, "dpi": 72},
    )
    before = session_file.read_bytes()
    for _ in range(2):
        written = exports.export(Silent(), order).written
        assert written == (str(order.figure), str(order.table), str(order.labels))
    assert session_file.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.parquet", "a.png", "map.kiru"]
