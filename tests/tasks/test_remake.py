"""A figure made again from what is in its own file: the same picture, or one sentence on why not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kiruviz.analysis.grouping import cluster_spec
from kiruviz.errors import UserError
from kiruviz.figures import map_figure
from kiruviz.figures.curve_figure import CurvePicture
from kiruviz.figures.recipe import About, read_origin
from kiruviz.figures.spec import FigureSpec
from kiruviz.progress import Silent
from kiruviz.session.store import Session
from kiruviz.space import Filters, Recipe, Rows, Transform
from kiruviz.tasks import curves, exports, maps, spaces
from kiruviz.tasks.exports import ExportOrder
from kiruviz.tasks.kept_figure import MapView
from kiruviz.tasks.remake import export_again, open_figure, remake

SPEC = FigureSpec(90, 70, 90, caption=True, theme="dark", labels="selection")
VIEW = MapView("cluster", None, tuple(range(0, 60, 3)))


def again(source: Path, out: Path, **order: Any) -> exports.Exported:
    return export_again(Silent(), ExportOrder(source, figure=out, **order))


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_figure_gives_itself_again(session_file: Path, tmp_path: Path, suffix: str) -> None:
    first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
    exports.export_figure(Silent(), str(session_file), str(first), SPEC, VIEW)
    session_file.unlink()

    done = again(first, second)

    assert done == exports.Exported((str(second),), ())
    assert first.read_bytes() == second.read_bytes()
    if suffix == ".png":
        with Image.open(first) as one, Image.open(second) as other:
            assert np.array_equal(np.asarray(one), np.asarray(other))


def test_one_format_gives_another_and_options_go_before_what_is_kept(session_file: Path, tmp_path: Path) -> None:
    first = tmp_path / "a.svg"
    exports.export_figure(Silent(), str(session_file), str(first), SPEC, MapView("norm", (-1.0, -1.0, 1.0, 1.0)))
    png = tmp_path / "straight.png"
    exports.export_figure(Silent(), str(session_file), str(png), SPEC, MapView("norm", (-1.0, -1.0, 1.0, 1.0)))

    again(first, tmp_path / "again.png")
    again(first, tmp_path / "other.png", changes={"width_mm": 60.0}, whole=True)

    assert (tmp_path / "again.png").read_bytes() == png.read_bytes()
    with Image.open(tmp_path / "other.png") as image:
        assert image.size[0] == int(60 / 25.4 * 90)


def test_umap_and_every_part_of_the_recipe_come_back(tmp_path: Path) -> None:
    filters = Filters(whole_words=True, max_rank=200)
    rows = Rows(filters=filters, title="Frequent words")
    recipe = Recipe("minilm", kind="token", rows=rows, transform=Transform(center=True, normalize=True))
    record = spaces.pack_space(Silent(), recipe).record
    params = maps.default_params("umap", len(record)) | {"n_epochs": 30, "seed": 4}
    projected = maps.project(Silent(), record.recipe, "umap", params)
    grouped = maps.cluster(Silent(), record.recipe, cluster_spec("kmeans", k=5, n_init=2, seed=1))
    path = tmp_path / "a.kiru"
    with Session.create(path) as session:
        space_id = session.add_space(record)
        session.add_projection(space_id, "umap", projected.params, projected.coords)
        session.set_clusters(space_id, "kmeans", {"k": 5, "n_init": 2, "seed": 1}, grouped.assignment)
        session.rename(2, "ein Name, “naïve” & <b>")
        session.set_note(2, "a private note")
        session.merge([0, 1])
    exports.export_figure(Silent(), str(path), str(tmp_path / "a.png"), SPEC)

    made = remake(Silent(), tmp_path / "a.png")

    assert made.notes == ()
    assert np.array_equal(made.found.projection.coords, projected.coords)
    assert made.found.record.recipe == record.recipe
    assert made.found.labels is not None
    assert made.found.labels.clusters[2].name == "ein Name, “naïve” & <b>"
    assert "private" not in repr(read_origin(tmp_path / "a.png"))
    again(tmp_path / "a.png", tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_a_path_below_home_is_passed_on_without_it(home: Path, tmp_path: Path) -> None:
    (home / "models/mine").mkdir(parents=True)
    assert exports.portable(str(home / "models/mine")) == "~/models/mine"
    assert exports.portable("~/models/mine") == "~/models/mine"
    assert exports.portable("smollm2") == "smollm2"
    assert exports.portable(str(tmp_path)) == str(tmp_path.resolve())


def changed(source: Path, out: Path, **parts: Any) -> Path:
    """A figure like `source` whose recipe says something else."""
    origin = read_origin(source) | parts
    text = source.read_text(encoding="utf-8")
    packed = About("", {}, read_origin(source)).packed
    assert packed in text
    out.write_text(text.replace(packed, About("", {}, origin).packed), encoding="utf-8")
    return out


def test_what_stands_in_the_way_is_one_sentence(session_file: Path, tmp_path: Path) -> None:
    figure = tmp_path / "a.svg"
    exports.export_figure(Silent(), str(session_file), str(figure), FigureSpec(60, 50))
    recipe = read_origin(figure)["recipe"]
    gone = changed(figure, tmp_path / "gone.svg", recipe=recipe | {"model": "/nowhere/model", "identity": "0" * 64})
    other = changed(figure, tmp_path / "other.svg", recipe=recipe | {"identity": "0" * 64})
    odd = changed(figure, tmp_path / "odd.svg", projection={"method": "pca"})
    fewer = changed(
        figure,
        tmp_path / "fewer.svg",
        recipe=recipe | {"rows": recipe["rows"] | {"words": recipe["rows"]["words"][:9]}},
    )
    plain = tmp_path / "plain.svg"
    plain.write_text("<svg/>")
    for source, order, said in (
        (gone, {}, "The model of gone.svg is not at /nowhere/model"),
        (gone, {"model": "minilm"}, "minilm is not the model that gone.svg was made from"),
        (other, {}, "smollm2 is not the model that other.svg was made from"),
        (odd, {}, "holds a recipe that cannot be read"),
        (fewer, {}, "shows 200 rows, its recipe gives 9"),
        (plain, {}, "holds no recipe"),
        (figure, {"table": tmp_path / "t.csv"}, "gives no --table"),
        (figure, {"view": "close up"}, "gives no --view"),
        (tmp_path / "missing.svg", {}, "missing.svg cannot be read"),
    ):
        with pytest.raises(UserError) as refused:
            again(source, tmp_path / "out.png", **order)
        assert said in str(refused.value)
        assert str(refused.value).count(". ") == 0
        assert not (tmp_path / "out.png").exists()
    with pytest.raises(UserError, match="exists already"):
        again(figure, figure)


def test_a_model_that_moved_is_found_as_a_starter_or_where_one_says(session_file: Path, tmp_path: Path) -> None:
    figure = tmp_path / "a.svg"
    exports.export_figure(Silent(), str(session_file), str(figure), FigureSpec(60, 50))
    moved = changed(figure, tmp_path / "m.svg", recipe=read_origin(figure)["recipe"] | {"model": "/nowhere/else"})
    again(moved, tmp_path / "a.png")
    again(moved, tmp_path / "b.png", model="smollm2")
    again(figure, tmp_path / "c.png")
    pictures = {np.asarray(Image.open(tmp_path / f"{name}.png")).tobytes() for name in "abc"}
    assert len(pictures) == 1


def test_places_that_come_out_otherwise_are_said(session_file: Path, tmp_path: Path) -> None:
    figure = tmp_path / "a.svg"
    exports.export_figure(Silent(), str(session_file), str(figure), FigureSpec(60, 50))
    origin = read_origin(figure)
    old = changed(
        figure,
        tmp_path / "old.svg",
        projection=origin["projection"] | {"places": "0" * 16},
        versions=origin["versions"] | {"numpy": "1.0"},
    )
    assert "numpy 1.0 then" in again(old, tmp_path / "b.svg").notes[0]


def test_a_whole_vocabulary_carries_its_recipe_and_stays_small(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 49_152
    labels = rng.integers(-1, 500, n).astype(np.int32)
    from kiruviz.session.records import SpaceRecord

    record = SpaceRecord(Recipe("smollm2"), tuple(map(str, range(n))), np.arange(n), {}, "SmolLM2")
    path = tmp_path / "a.kiru"
    with Session.create(path) as session:
        space_id = session.add_space(record)
        session.add_projection(space_id, "pca", {}, rng.normal(size=(n, 2)).astype(np.float32))
        session.set_clusters(space_id, "kmeans", {"k": 500}, labels)
        for cluster in range(300):
            session.rename(cluster, f"a name for cluster {cluster}")
    for suffix in ("svg", "pdf", "png"):
        out = tmp_path / f"a.{suffix}"
        exports.export_figure(Silent(), str(path), str(out), FigureSpec())
        assert len(read_origin(out)["clusters"]["labels"]) == 500
        print(f"{suffix} of 49,152 points in 500 clusters with its recipe: {out.stat().st_size:,} bytes")
        assert suffix == "png" or out.stat().st_size < 1_500_000


def test_figures_without_a_recipe_are_written_all_the_same(session_file: Path, tmp_path: Path) -> None:
    with Session.open_readonly(session_file) as session:
        found, view = exports.read_map(session)
    bare = replace(exports.picture(found, view), origin={})
    for suffix in ("svg", "pdf", "png"):
        path = map_figure.save(bare, FigureSpec(60, 50, 60), tmp_path / f"a.{suffix}")
        with pytest.raises(UserError, match="holds no recipe"):
            read_origin(path)


def test_a_figure_opens_as_a_session_of_its_map(session_file: Path, tmp_path: Path) -> None:
    figure = tmp_path / "a.png"
    view = MapView("norm", (-1.0, -1.0, 1.0, 1.0))
    exports.export_figure(Silent(), str(session_file), str(figure), SPEC, view)

    path, notes = open_figure(Silent(), str(figure))

    assert notes == ()
    with Session.open_readonly(path) as made, Session.open_readonly(session_file) as first:
        (found, seen, spec), (original, _) = exports.read_figure(made), exports.read_map(first)
        assert (seen.color_by, seen.rectangle, spec) == ("norm", view.rectangle, SPEC)
        assert found.record.names == original.record.names
        assert np.array_equal(found.projection.coords, original.projection.coords)
        assert found.labels is not None
        assert original.labels is not None
        assert np.array_equal(found.labels.assignment, original.labels.assignment)
        told = [[(c.status, c.name, c.color) for c in s.clusters.values()] for s in (found.labels, original.labels)]
        assert told[0] == told[1]
        assert not made.can_undo
    exports.export(Silent(), ExportOrder(Path(path), figure=tmp_path / "b.png"))
    assert np.array_equal(np.asarray(Image.open(figure)), np.asarray(Image.open(tmp_path / "b.png")))


def test_a_curve_is_drawn_again_from_its_own_points_and_is_no_map(tmp_path: Path) -> None:
    curve = CurvePicture((2.0, 3.0, 4.0), (0.1, float("nan"), 0.2), "Clusters, k", "Mean silhouette", 4.0, "A curve")
    out = tmp_path / "curve.svg"
    curves.export_curve(Silent(), curve, str(out), FigureSpec(89, 60))
    again(out, tmp_path / "again.svg")
    again(out, tmp_path / "dark.svg", changes={"theme": "dark"})
    assert out.read_bytes() == (tmp_path / "again.svg").read_bytes() != (tmp_path / "dark.svg").read_bytes()
    with pytest.raises(UserError, match="shows a curve"):
        open_figure(Silent(), str(out))
    png, svg = curves.copy_curve(Silent(), curve, FigureSpec(89, 60), 300, True)
    assert png.startswith(b"\x89PNG")
    assert svg == out.read_bytes()
    assert curves.copy_curve(Silent(), curve, FigureSpec(89, 60), 300, False)[1] == b""
