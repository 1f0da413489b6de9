"""The map on paper: text is text and never overlaps, legend, title and recipe are there, runs are the same."""

from __future__ import annotations

import re
import shutil
import subprocess
import warnings
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from PIL import Image

from kiruviz.errors import UserError
from kiruviz.figures.fonts import installed
from kiruviz.figures.map_figure import draw, preview, save, value_limits
from kiruviz.figures.paper import settings
from kiruviz.figures.recipe import read_recipe
from kiruviz.figures.spec import PRESETS, ClusterMark, FigureSpec
from kiruviz.palette import GROUND, contrast

SVG = "{http://www.w3.org/2000/svg}"
SMALL = FigureSpec(dpi=60)


def text_boxes(figure) -> dict[str, list[tuple[Text, np.ndarray]]]:
    """Every text that is drawn, by the first part of its gid, with its window extent as matplotlib has it."""
    canvas = FigureCanvasAgg(figure)
    found: dict[str, list[tuple[Text, np.ndarray]]] = {}
    with settings():
        canvas.draw()
        for text in figure.findobj(Text):
            if text.get_text():
                box = text.get_window_extent(canvas.get_renderer()).extents
                found.setdefault(text.get_gid().split("-")[0], []).append((text, box))
    return found


def overlaps(boxes: list[np.ndarray]) -> int:
    a, b = np.array(boxes)[:, None], np.array(boxes)[None]
    hit = (a[..., 0] < b[..., 2]) & (a[..., 2] > b[..., 0]) & (a[..., 1] < b[..., 3]) & (a[..., 3] > b[..., 1])
    return int(np.triu(hit, 1).sum())


@pytest.mark.parametrize("seed", range(20))
def test_no_two_labels_overlap_and_all_are_inside_and_readable(picture, seed):
    spec = replace(SMALL, theme=("paper", "dark")[seed % 2]).preset(list(PRESETS)[seed % 4])
    figure = draw(picture(40, seed), spec)
    texts = text_boxes(figure)
    everything = [box for group in texts.values() for _, box in group]
    assert len(texts["name"]) == 8
    assert len(texts["word"]) >= 12
    assert overlaps(everything) == 0
    width, height = figure.bbox.size
    assert all(b[0] >= 0 and b[1] >= 0 and b[2] <= width and b[3] <= height for b in everything)
    for group in texts.values():
        for text, _ in group:
            assert contrast(text.get_color(), GROUND[spec.ground]) >= 4.5, text


def test_the_svg_has_its_text_as_text_without_overlaps_and_as_many_as_were_drawn(picture, tmp_path):
    path = save(picture(40, 1), SMALL, tmp_path / "a.svg")
    root = ElementTree.parse(path).getroot()
    texts = [e.text for e in root.iter(f"{SVG}text")]
    assert {"A map", "name of 0", "name of 1", "cluster 3", "resists naming (2 clusters)"} <= set(texts)
    assert texts.count("resists naming") == 2
    assert {e.get("id", "").split("-")[0] for e in root.iter(f"{SVG}g")} >= {"word", "name", "legend", "title"}
    drawn = sum(len(group) for group in text_boxes(draw(picture(40, 1), SMALL)).values())
    assert len(texts) == drawn


def test_the_svg_carries_the_glyphs_it_uses(picture, tmp_path):
    text = save(picture(40, 1), SMALL, tmp_path / "a.svg").read_text(encoding="utf-8")
    assert len(re.findall("@font-face", text)) == 3
    assert "font-family: 'Inter', 'DejaVu Sans'" in text


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_two_runs_write_the_same_bytes_and_the_recipe_reads_back(picture, tmp_path, suffix):
    shown = picture(40, 2)
    first = save(shown, replace(SMALL, caption=True), tmp_path / f"a{suffix}")
    second = save(shown, replace(SMALL, caption=True), tmp_path / f"b{suffix}")
    assert first.read_bytes() == second.read_bytes()
    assert read_recipe(first) == shown.recipe_lines


def test_a_reader_sees_title_and_description_in_the_files(picture, tmp_path):
    with Image.open(save(picture(40), SMALL, tmp_path / "a.png")) as image:
        assert image.info["Title"] == "A map"
        assert "metric cosine" in image.info["Description"]
        assert image.info["Source"] == "SmolLM2-135M-Instruct"
        assert image.info["Software"].startswith("KiruViz")
    svg = save(picture(40), SMALL, tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "<dc:title>A map</dc:title>" in svg
    assert "dc:date" not in svg
    assert b"CreationDate" not in save(picture(40), SMALL, tmp_path / "a.pdf").read_bytes()


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext (poppler-utils) is not installed")
@pytest.mark.parametrize("font", ["Inter", "DejaVu Serif", "P052"])
def test_every_text_is_found_in_the_pdf(picture, tmp_path, font):
    if font not in installed():
        pytest.skip(f"{font} is not on this computer")
    spec = replace(SMALL, font=font)
    path = save(picture(40), spec, tmp_path / "a.pdf")
    run = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True)
    written = [text.get_text() for group in text_boxes(draw(picture(40), spec)).values() for text, _ in group]
    assert {"A map", "name of 0", "name of 1", "resists naming", "cluster 3"} <= set(written)
    assert [text for text in written if text not in run.stdout] == []
    assert run.stderr == ""
    print(f"{font}: pdftotext finds all of {len(written)} texts")


def test_the_whole_vocabulary_is_one_raster_layer_and_its_svg_stays_small(picture, tmp_path):
    shown = picture(49_152, 3, clusters=30)
    path = save(shown, FigureSpec(), tmp_path / "a.svg")
    svg = path.read_text(encoding="utf-8")
    print(f"SVG of 49,152 points: {path.stat().st_size:,} bytes")
    assert path.stat().st_size < 1_500_000
    assert svg.count("<image") == 1
    assert svg.count("<text") > 40
    assert overlaps([box for group in text_boxes(draw(shown, FigureSpec())).values() for _, box in group]) == 0


def test_tokens_no_font_or_format_likes_are_drawn_all_the_same(picture, tmp_path):
    awkward = (
        "\n",
        " ",
        "\t",
        "\x00",
        "\x1b[0m",
        "$x^2$",
        "<&>\"'",
        "\ud800",
        "数字",
        "مرحبا",
        "a" * 300,
        "",
        "\uffff",
    )
    shown = picture(13, names=awkward, clusters=2)
    shown = replace(shown, clusters=(ClusterMark(0, "$\\frac$ & <b>", "named", 0), ClusterMark(1, "数", "named", 1)))
    for suffix in (".png", ".svg", ".pdf"):
        save(shown, SMALL, tmp_path / f"a{suffix}")
    texts = [e.text for e in ElementTree.parse(tmp_path / "a.svg").iter(f"{SVG}text")]
    assert {"$x^2$", "数字", "$\\frac$ & <b>"} <= set(texts)


def test_labels_none_and_names_only_and_no_legend_leave_out_what_they_say(picture):
    assert set(text_boxes(draw(picture(40), replace(SMALL, labels="names")))) == {"name", "legend", "title"}
    assert set(text_boxes(draw(picture(40), replace(SMALL, labels="none", legend="none")))) == {"title"}
    assert text_boxes(draw(picture(40), replace(SMALL, labels="none", legend="none", title=""))) == {}


def test_the_legend_lists_names_numbers_one_row_for_resisting_and_one_for_noise(picture):
    rows = [text for text, _ in text_boxes(draw(picture(60), SMALL))["legend"]]
    assert [row.get_text() for row in rows] == [
        "name of 0",
        "name of 1",
        "resists naming (2 clusters)",
        "cluster 3",
        "name of 4",
        "name of 5",
        "cluster 7",
        "no cluster",
    ]
    assert rows[2].get_style() == "italic"


@pytest.mark.parametrize("clusters", [30, 300])
@pytest.mark.parametrize("preset", list(PRESETS))
def test_long_legends_fit_whatever_the_size_of_the_picture(picture, clusters, preset):
    shown = picture(400, clusters=clusters)
    marks = tuple(replace(m, title="a rather long name of a cluster") for m in shown.clusters)
    figure = draw(replace(shown, clusters=marks), SMALL.preset(preset))
    boxes = [box for _, box in text_boxes(figure)["legend"]]
    assert overlaps(boxes) == 0
    width, height = figure.bbox.size
    assert all(b[0] >= 0 and b[1] >= 0 and b[2] <= width and b[3] <= height for b in boxes)


def test_colouring_by_value_gives_a_colour_bar_that_says_where_it_was_cut(picture):
    values = np.r_[np.linspace(1, 2, 298), 100.0, np.nan]
    shown = picture(300, values=values, value_name="norm")
    rows = [text.get_text() for text, _ in text_boxes(draw(shown, SMALL))["legend"]]
    low, high = value_limits(values)
    assert rows == ["norm", f"≥ {high:.3g}", f"{(low + high) / 2:.3g}", f"≤ {low:.3g}"]
    assert value_limits(np.array([3.0, 3.0])) == (2.5, 3.5)
    assert value_limits(np.array([np.nan])) == (0.0, 1.0)


def test_a_view_shows_only_its_part_of_the_map(picture):
    shown = picture(200)
    x, y = shown.coords[0]
    part = replace(shown, view=(x - 0.5, y - 0.3, x + 0.5, y + 0.3))
    points = next(c for c in draw(part, SMALL).axes[0].collections if c.get_gid() == "points")
    assert 1 <= len(points.get_offsets()) < 200


@pytest.mark.parametrize("n", [0, 1, 2])
def test_maps_of_hardly_any_rows_are_drawn(picture, n):
    assert preview(picture(n), SMALL, 100).png.startswith(b"\x89PNG")


def test_rows_without_a_place_are_left_out_and_all_on_one_point_is_no_error(picture):
    shown = picture(30)
    shown.coords[3] = np.nan
    draw(shown, SMALL)
    shown.coords[:] = 1.0
    draw(shown, SMALL)


def test_the_preview_is_as_wide_as_asked_and_has_the_proportions_of_the_figure(picture, tmp_path):
    (tmp_path / "p.png").write_bytes(preview(picture(40), FigureSpec(), 450).png)
    with Image.open(tmp_path / "p.png") as image:
        assert image.size[0] == 450
        assert abs(image.size[1] - 300) <= 1


def test_existing_files_missing_folders_and_unknown_formats_are_refused(picture, tmp_path):
    path = save(picture(5), SMALL, tmp_path / "a.png")
    before = path.read_bytes()
    with pytest.raises(UserError, match=r"a\.png exists already"):
        save(picture(6), SMALL, path)
    assert path.read_bytes() == before
    save(picture(6), SMALL, path, overwrite=True)
    assert path.read_bytes() != before
    with pytest.raises(UserError, match="does not exist"):
        save(picture(5), SMALL, tmp_path / "missing" / "a.png")
    with pytest.raises(UserError, match=r"a\.gif should end in"):
        save(picture(5), SMALL, tmp_path / "a.gif")
    (tmp_path / "b.png").mkdir()
    with pytest.raises(UserError, match="is a folder"):
        save(picture(5), SMALL, tmp_path / "b.png", overwrite=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.png", "b.png"]


def test_files_that_hold_no_recipe_are_named(tmp_path):
    Image.new("RGB", (2, 2)).save(tmp_path / "a.png")
    (tmp_path / "a.svg").write_text("<svg/>")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "broken.png").write_bytes(b"no picture")
    for name in ("a.png", "a.svg", "a.pdf", "broken.png", "missing.png"):
        with pytest.raises(UserError, match=name):
            read_recipe(tmp_path / name)


def test_a_font_that_is_not_there_is_named(picture):
    with pytest.raises(UserError, match="No Such Font"):
        draw(picture(5), replace(SMALL, font="No Such Font"))


def test_a_persons_own_matplotlib_settings_change_nothing(picture):
    import matplotlib

    plain = preview(picture(40), SMALL, 300)
    own = {"savefig.bbox": "tight", "font.family": "serif", "axes.facecolor": "red", "path.sketch": (1, 100, 2)}
    with matplotlib.rc_context(own):
        assert preview(picture(40), SMALL, 300) == plain


def test_drawing_neither_warns_nor_imports_pyplot(picture):
    import subprocess
    import sys

    code = (
        "import sys, numpy as np\n"
        "from kiruviz.figures.spec import FigureSpec, MapPicture\n"
        "from kiruviz.figures import map_figure, tables\n"
        "assert 'matplotlib' not in sys.modules and 'pyarrow' not in sys.modules\n"
        "map_figure.draw(MapPicture(np.eye(2, dtype=np.float32), ('a', 'b'), np.zeros(2, np.int32)), FigureSpec())\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "assert not any(name.startswith(('PySide6', 'PyQt')) for name in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(picture(40), SMALL)
