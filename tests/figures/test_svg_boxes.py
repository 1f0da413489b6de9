"""What an exported SVG says by itself: its own texts, sizes and fonts, measured without any of our placement."""

from __future__ import annotations

import base64
import io
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from fontTools.ttLib import TTFont

from kiruviz.figures.fonts import Face, families, installed, shorten
from kiruviz.figures.map_figure import save
from kiruviz.figures.paper import settings
from kiruviz.figures.spec import PRESETS, ClusterMark, FigureSpec
from kiruviz.palette import GROUND, cluster_color, contrast, neutral_color

SVG = "{http://www.w3.org/2000/svg}"
RULE = re.compile(
    r"@font-face\{font-family:'([^']*)';font-style:(\w+);font-weight:(\d+);src:url\(data:font/woff;base64,([^)]*)\)"
)


@dataclass(frozen=True)
class Written:
    """A text of an SVG: what it says, its box in the file's units, its colour, and what kind of label it is."""

    text: str
    box: tuple[float, float, float, float]
    color: str
    kind: str
    embedded: bool


class Font:
    """A font that the SVG carries, and what it says of widths and heights."""

    def __init__(self, data: bytes) -> None:
        self._font = TTFont(io.BytesIO(data))
        self._characters = self._font.getBestCmap()
        self._units = self._font["head"].unitsPerEm
        self.ascent = self._font["OS/2"].sTypoAscender / self._units
        self.descent = -self._font["OS/2"].sTypoDescender / self._units

    def width(self, text: str) -> float | None:
        """In font sizes; None where a glyph is missing."""
        if any(ord(c) not in self._characters for c in text):
            return None
        return sum(self._font["hmtx"][self._characters[ord(c)]][0] for c in text) / self._units


def texts_of(path: Path) -> list[Written]:
    svg = path.read_text(encoding="utf-8")
    fonts = {(f, s, int(w)): Font(base64.b64decode(data)) for f, s, w, data in RULE.findall(svg)}
    root = ElementTree.fromstring(svg)
    parents = {child: parent for parent in root.iter() for child in parent}
    found = []
    for element in root.iter(f"{SVG}text"):
        style = dict(part.strip().split(": ", 1) for part in element.get("style", "").split(";") if part.strip())
        assert style.get("text-anchor", "start") == "start"
        assert "rotate(-0 " in element.get("transform", "rotate(-0 ")
        size = float(style["font-size"].removesuffix("px"))
        key = (style.get("font-style", "normal"), int(style.get("font-weight", 400)))
        first = style["font-family"].split("'")[1]
        font, text = fonts.get((first, *key)), element.text or ""
        width = font.width(text) if font is not None else None
        x, y = float(element.get("x")), float(element.get("y"))
        gid = parents[element].get("id", "")
        box = (
            (x, y - font.ascent * size, x + width * size, y + font.descent * size)
            if font is not None and width is not None
            else (x, y, x, y)
        )
        found.append(Written(text, box, style["fill"], gid.split("-")[0], width is not None))
    return found


def overlapping(texts: list[Written]) -> list[tuple[str, str]]:
    return [
        (a.text, b.text)
        for i, a in enumerate(texts)
        for b in texts[:i]
        if a.box[0] < b.box[2] and b.box[0] < a.box[2] and a.box[1] < b.box[3] and b.box[1] < a.box[3]
    ]


def test_no_two_boxes_overlap_in_twenty_figures_of_forty_labels(picture, tmp_path):
    labels = names = 0
    for seed in range(20):
        spec = FigureSpec(theme=("paper", "dark")[seed % 2]).preset(list(PRESETS)[seed % 4])
        written = texts_of(save(picture(40, seed), spec, tmp_path / f"{seed}.svg"))
        assert all(text.embedded for text in written)
        assert overlapping(written) == [], seed
        assert len([t for t in written if t.kind == "name"]) == 8
        labels += len(written)
        names += 8
        width, height = spec.width_mm / 25.4 * 72, spec.height_mm / 25.4 * 72
        for text in written:
            assert 0 <= text.box[0] < text.box[2] <= width, text
            assert 0 <= text.box[1] < text.box[3] <= height, text
            assert contrast(text.color, GROUND[spec.ground]) >= 4.5, text
    print(f"20 figures: {labels} texts with their boxes ({names} cluster names), 0 pairs overlap")


def test_the_check_itself_finds_an_overlap(picture, tmp_path):
    path = save(picture(40, 1), FigureSpec(), tmp_path / "a.svg")
    svg = path.read_text(encoding="utf-8")
    x = re.search(r'<text [^>]*x="([\d.]+)" y="([\d.]+)"', svg)
    moved = re.sub(r'(<text [^>]*)x="[\d.]+" y="[\d.]+"', rf'\1x="{x[1]}" y="{x[2]}"', svg, count=2)
    path.write_text(moved, encoding="utf-8")
    assert overlapping(texts_of(path)) != []


@pytest.mark.parametrize("font", ["DejaVu Sans", "DejaVu Serif"])
def test_another_font_is_embedded_as_well_and_its_boxes_keep_apart(picture, tmp_path, font):
    if font not in installed():
        pytest.skip(f"{font} is not on this computer")
    written = texts_of(save(picture(40, 3), FigureSpec(font=font), tmp_path / "a.svg"))
    assert all(text.embedded for text in written)
    assert overlapping(written) == []


def test_outlines_need_no_font_and_leave_no_text(picture, tmp_path):
    spec = FigureSpec(text="outlines")
    svg = save(picture(40, 3), spec, tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "<text" not in svg
    assert "@font-face" not in svg
    assert svg.count('<g id="word-') >= 12
    pdf = save(picture(40, 3), spec, tmp_path / "a.pdf").read_bytes()
    assert b"/FontDescriptor" not in pdf


def test_a_character_that_inter_lacks_comes_embedded_from_the_next_font(picture, tmp_path):
    shown = picture(13, clusters=2, names=("ﷺ", "⠿", "♞", "שלום", "مرحبا", *"abcdefgh"))
    svg = save(shown, FigureSpec(), tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "font-family:'DejaVu Sans';font-style:normal;font-weight:400" in svg


def test_the_whole_vocabulary_stays_small_with_text_and_with_outlines(picture, tmp_path):
    shown = picture(49_152, 3, clusters=30)
    for text in ("text", "outlines"):
        path = save(shown, FigureSpec(text=text), tmp_path / f"{text}.svg")
        print(f"SVG of 49,152 points, {text}: {path.stat().st_size:,} bytes")
        assert path.stat().st_size < 1_500_000
    assert overlapping([t for t in texts_of(tmp_path / "text.svg") if t.embedded]) == []


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_every_colour_of_three_hundred_clusters_can_be_read_as_text(ground):
    worst = min(contrast(cluster_color(i, ground), GROUND[ground]) for i in range(300))
    print(f"{ground}: smallest contrast of 300 colours {worst:.2f}:1")
    assert worst >= 4.5
    assert contrast(neutral_color(ground), GROUND[ground]) >= 4.5


LONG = "a name that is far longer than any name should be, with <b>, & and “quotes”, and it goes on and on"
ODD = ("<&>\"'", "名前 数", "עברית", "naïve\nline", "🙂🙃", " ", "é" * 90, LONG, LONG)


def test_long_odd_and_equal_names_are_shortened_and_keep_apart(picture, tmp_path):
    shown = picture(90, 5, clusters=len(ODD))
    marks = tuple(ClusterMark(i, name, "named", i) for i, name in enumerate(ODD))
    for preset in PRESETS:
        spec = FigureSpec().preset(preset)
        path = save(replace(shown, clusters=marks), spec, tmp_path / f"{preset}.svg")
        written = texts_of(path)
        assert overlapping([t for t in written if t.embedded]) == []
        kinds = {kind: [t for t in written if t.kind == kind] for kind in ("name", "legend")}
        assert sum(t.text.endswith("…") for t in kinds["legend"]) >= 3
        for kind in ("name", "legend"):
            assert all(t.box[2] - t.box[0] <= spec.width_mm / 25.4 * 72 * 0.45 for t in kinds[kind])
        assert "<&>\"'" in [t.text for t in kinds["legend"]]
        assert not any("\n" in t.text for t in written)
        assert len([t for t in kinds["legend"] if t.text.startswith("a name that")]) == 2


def test_an_ellipsis_never_parts_a_character_from_its_marks():
    face = Face(families("Inter"), 10.0)
    for text in ("e\u0301" * 40, "👩\u200d👧" * 30, "ab\ufe0f" * 40):
        for width in range(5, 120, 3):
            with settings():
                cut = shorten(text, face, float(width)).removesuffix("…")
            rest = text[len(cut) :]
            assert not rest or rest[0] not in "\u0301\ufe0f\u200d"
            assert not cut.endswith("\u200d")


def test_three_hundred_clusters_are_listed_or_counted_and_none_leaves_no_legend(picture, tmp_path):
    shown = picture(600, 7, clusters=300)
    written = texts_of(save(shown, FigureSpec().preset("One column"), tmp_path / "a.svg"))
    legend = [t for t in written if t.kind == "legend"]
    more = [int(m[1]) for t in legend if (m := re.fullmatch(r"and (\d+) more", t.text))]
    rows = 300 - 75 + 1 + 1  # the 75 that resist share a row; one for rows without a cluster
    assert len(legend) - len(more) + sum(more) == rows
    assert overlapping(written) == []
    none = replace(shown, clusters=(), assignment=np.full(600, -1, np.int32))
    assert [t for t in texts_of(save(none, FigureSpec(), tmp_path / "b.svg")) if t.kind in ("legend", "name")] == []


def test_values_that_are_missing_points_on_one_spot_and_a_single_point_are_drawn(picture, tmp_path):
    values = np.full(30, np.nan)
    for i, shown in enumerate(
        (
            picture(30, values=values, value_name="norm"),
            picture(30, values=np.r_[np.inf, values[1:]], value_name="norm"),
            picture(1, clusters=1),
            replace(picture(30), coords=np.ones((30, 2), np.float32)),
        )
    ):
        written = texts_of(save(shown, FigureSpec(), tmp_path / f"{i}.svg"))
        assert overlapping(written) == []


@pytest.mark.parametrize("where", ["right", "below"])
def test_the_legend_stands_where_it_is_wanted(picture, tmp_path, where):
    written = texts_of(save(picture(40, 2), FigureSpec(legend=where, dpi=60), tmp_path / "a.svg"))
    legend = [t.box for t in written if t.kind == "legend"]
    rest = [t.box for t in written if t.kind in ("word", "name")]
    if where == "right":
        assert min(box[0] for box in legend) >= max(box[2] for box in rest)
    else:
        assert min(box[1] for box in legend) >= max(box[3] for box in rest)


def test_a_selections_words_are_those_that_are_shown(picture, tmp_path):
    shown = replace(picture(60, 4), selected=(3, 7, 11))
    for labels, kinds in (("selection", {"word", "name"}), ("words", {"word"}), ("names", {"name"})):
        spec = FigureSpec(labels=labels, legend="none", title="")
        written = texts_of(save(shown, spec, tmp_path / f"{labels}.svg"))
        assert {t.kind for t in written} == kinds
        if labels == "selection":
            assert {t.text for t in written if t.kind == "word"} == {shown.names[i] for i in shown.selected}
    nobody = replace(shown, selected=())
    written = texts_of(save(nobody, FigureSpec(labels="selection", legend="none", title=""), tmp_path / "n.svg"))
    assert {t.kind for t in written} == {"name"}
