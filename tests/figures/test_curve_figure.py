"""Curves on paper: text is text and apart, gaps stay gaps, and the file gives the curve again."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from kiruviz.errors import UserError
from kiruviz.figures.curve_figure import CurvePicture, draw, preview, save
from kiruviz.figures.paper import settings
from kiruviz.figures.recipe import read_origin, read_recipe
from kiruviz.figures.spec import FigureSpec
from kiruviz.palette import GROUND, contrast

SMALL = FigureSpec(89, 60, 80)
KS = tuple(range(2, 17))
CURVE = CurvePicture(
    tuple(map(float, KS)),
    tuple(0.3 / k for k in KS),
    "Clusters, k",
    "Mean silhouette",
    8.0,
    "Silhouette over k",
    recipe_lines={"model": "SmolLM2", "clusters": "kmeans, n_init 10"},
)


def boxes(figure) -> list[tuple[Text, np.ndarray]]:
    canvas = FigureCanvasAgg(figure)
    with settings():
        canvas.draw()
        texts = [text for text in figure.findobj(Text) if text.get_text()]
        return [(text, text.get_window_extent(canvas.get_renderer()).extents) for text in texts]


def assert_apart_and_inside(figure) -> None:
    found = boxes(figure)
    width, height = figure.bbox.size
    for i, (text, a) in enumerate(found):
        assert a[0] >= 0, text
        assert a[1] >= 0, text
        assert a[2] <= width, text
        assert a[3] <= height, text
        for other, b in found[:i]:
            free = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] + 0.5 or b[3] <= a[1] + 0.5
            assert free, (text.get_text(), other.get_text())


@pytest.mark.parametrize("size", [(89, 60), (183, 120), (60, 40)])
@pytest.mark.parametrize("theme", ["paper", "dark"])
def test_texts_are_apart_inside_and_readable(size, theme):
    spec = replace(SMALL, width_mm=size[0], height_mm=size[1], theme=theme, caption=size[0] > 60)
    for curve in (CURVE, replace(CURVE, shares=tuple(i / 20 for i in range(15)), share_title="noise")):
        figure = draw(curve, spec)
        assert_apart_and_inside(figure)
        for text, _ in boxes(figure):
            assert contrast(text.get_color(), GROUND[spec.ground]) >= 4.5


def test_axes_title_caption_and_the_value_in_use_are_said():
    texts = [text.get_text() for text, _ in boxes(draw(CURVE, replace(SMALL, caption=True)))]
    assert {"Silhouette over k", "Clusters, k", "Mean silhouette", "8: 0.037", "0.05", "0.10", "5", "15"} <= set(texts)
    assert any("kmeans" in text for text in texts)
    bare = [text.get_text() for text, _ in boxes(draw(replace(CURVE, marked=None), replace(SMALL, title="")))]
    assert "Silhouette over k" not in bare
    assert "8: 0.037" not in bare


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ((), ()),
        ((3.0,), (0.5,)),
        ((1.0, 2.0, 3.0), (1.0, 1.0, 1.0)),
        ((1.0, 2.0), (math.nan, math.nan)),
        ((1.0, 2.0, 3.0, 4.0), (0.1, math.nan, -0.1, math.inf)),
        ((0.001, 0.1, 5e6), (-1e9, 3.0, 1e9)),
    ],
)
def test_curves_of_little_or_nothing_are_drawn(x, y):
    curve = CurvePicture(x, y, "x", "y", x[0] if x else None)
    assert preview(curve, SMALL, 200).png.startswith(b"\x89PNG")


def test_a_gap_stays_a_gap():
    curve = replace(CURVE, y=tuple(math.nan if k == 5 else v for k, v in zip(KS, CURVE.y, strict=True)))
    line = next(line for line in draw(curve, SMALL).axes[0].lines if line.get_gid() == "curve")
    assert np.isnan(line.get_ydata()).tolist() == [k == 5 for k in KS]


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_file_gives_the_curve_again(tmp_path, suffix):
    curve = replace(CURVE, y=(math.nan, *CURVE.y[1:]), shares=tuple(0.5 for _ in KS))
    first = save(curve, SMALL, tmp_path / f"a{suffix}")
    origin = read_origin(first)
    assert read_recipe(first) == CURVE.recipe_lines
    again = CurvePicture.from_json(origin["curve"])
    assert again.x == curve.x
    assert math.isnan(again.y[0])
    second = save(again, FigureSpec.from_json(origin["spec"]), tmp_path / f"b{suffix}")
    assert first.read_bytes() == second.read_bytes()


def test_curves_that_do_not_match_are_a_fault_and_an_existing_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match="2 values across, 1 up"):
        CurvePicture((1.0, 2.0), (1.0,), "x", "y")
    with pytest.raises(ValueError, match="shares"):
        CurvePicture((1.0,), (1.0,), "x", "y", shares=(0.1, 0.2))
    with pytest.raises(ValueError, match="finite"):
        CurvePicture((math.nan,), (1.0,), "x", "y")
    path = save(CURVE, SMALL, tmp_path / "a.png")
    with pytest.raises(UserError, match="exists already"):
        save(CURVE, SMALL, path)
