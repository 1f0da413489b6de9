"""A drawn figure on its way to paper: the surroundings it is drawn in, its files and its preview."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiruviz.figures.files import replacing
from kiruviz.figures.fonts import Face, glyph_notes
from kiruviz.figures.recipe import About, metadata
from kiruviz.figures.spec import FigureSpec
from kiruviz.figures.style import PT_PER_MM, Line, faces
from kiruviz.figures.svg import embed_fonts
from kiruviz.palette import GROUND

# What a person's own matplotlibrc must not change, and what makes text stay text and runs be repeatable.
_SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "KiruViz",
    "svg.image_inline": True,
    "pdf.fonttype": 42,
    "text.usetex": False,
    "text.parse_math": False,
    "text.hinting": "no_hinting",  # widths are the same at every resolution
    "savefig.bbox": None,
    "savefig.transparent": False,
    "path.effects": [],
    "path.sketch": None,
}


@dataclass(frozen=True)
class Preview:
    """A figure as PNG bytes, and what a person should know of its fonts."""

    png: bytes
    notes: tuple[str, ...] = ()


def write_figure(figure: Any, spec: FigureSpec, path: Path, about: About, overwrite: bool = False) -> Path:
    """Write a drawn figure as the suffix of `path` says; see `files.replacing` for what is refused."""
    suffix = path.suffix.lower()
    with replacing(path, overwrite) as temporary, settings(_for_format(suffix, spec)):
        if suffix == ".pdf" and (spec.text == "outlines" or not _may_embed(spec)):
            _outline_texts(figure)
        made = metadata(suffix, about)
        figure.savefig(temporary, format=suffix[1:], dpi=spec.dpi, metadata=made, facecolor=GROUND[spec.ground])
        if suffix == ".svg":
            if spec.text == "text":
                embed_fonts(temporary)
            about.put_into_svg(temporary)
    return path


def preview_figure(figure: Any, spec: FigureSpec, scale_px_width: int) -> Preview:
    """A drawn figure as PNG, `scale_px_width` pixels wide."""
    buffer = io.BytesIO()
    # A hair more than the exact ratio, since matplotlib cuts the width down to whole pixels.
    dpi = (scale_px_width + 0.01) / (spec.width_mm * PT_PER_MM / 72)
    with settings():
        figure.savefig(buffer, format="png", dpi=dpi, facecolor=GROUND[spec.ground], metadata={"Software": None})
        notes = glyph_notes((text.get_text(), _face_of(text)) for text in figure.axes[0].texts)
    return Preview(buffer.getvalue(), notes)


@contextmanager
def settings(changes: dict[str, Any] | None = None) -> Iterator[None]:
    """The surroundings in which figures are drawn and written, whatever the person's own matplotlibrc says.

    A figure that is to be written by other means than `write_figure` belongs in here too: text is laid out
    without hinting, so that its width is the same at every resolution.
    """
    import matplotlib

    log = logging.getLogger("matplotlib.font_manager")
    before = log.level
    with matplotlib.rc_context(_SETTINGS | (changes or {})), warnings.catch_warnings():
        # A token in a script no font here has: a box in PNG, still its text in SVG.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
        # The PDF's own key for how it was made, see `recipe.metadata`.
        warnings.filterwarnings("ignore", message="Unknown infodict keyword")
        # A fallback family without this weight is used in its nearest one, which is what is wanted.
        log.setLevel(logging.ERROR)
        try:
            yield
        finally:
            log.setLevel(before)


def blank(spec: FigureSpec) -> tuple[Any, Any]:
    """An empty figure, and its one axes, which counts in pt from the upper left corner. Call within `settings`."""
    from matplotlib.figure import Figure

    width, height = spec.width_mm * PT_PER_MM, spec.height_mm * PT_PER_MM
    figure = Figure(figsize=(width / 72, height / 72), facecolor=GROUND[spec.ground])
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set(xlim=(0, width), ylim=(height, 0), autoscale_on=False)
    return figure, axes


def draw_line(axes: Any, line: Line) -> None:
    """Write a line of text."""
    text = axes.text(
        line.x, line.y, line.text, color=line.color, fontproperties=line.face.properties(), va="baseline", zorder=5
    )
    text.set_parse_math(False)
    text.set_gid(line.gid)


def _for_format(suffix: str, spec: FigureSpec) -> dict[str, Any]:
    if suffix == ".svg" and spec.text == "outlines":
        return {"svg.fonttype": "path"}
    # PostScript outlines do not fit the PDF font type that can be edited best; some readers refuse them there.
    if suffix == ".pdf" and faces(spec).word.files[0].postscript:
        return {"pdf.fonttype": 3}
    return {}


def _may_embed(spec: FigureSpec) -> bool:
    style = faces(spec)
    return all(face.files[0].embeddable for face in (style.word, style.name, style.resists))


def _face_of(text: Any) -> Face:
    properties = text.get_fontproperties()
    italic = properties.get_style() == "italic"
    return Face(tuple(properties.get_family()), properties.get_size(), int(properties.get_weight()), italic)


def _outline_texts(figure: Any) -> None:
    """Put the outlines of all texts in their place: matplotlib's PDFs know text only as text."""
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    axes = figure.axes[0]
    for text in list(axes.texts):
        outline = TextPath((0, 0), text.get_text(), prop=text.get_fontproperties(), usetex=False)
        path = Affine2D().scale(1, -1).translate(*text.get_position()).transform_path(outline)
        patch = PathPatch(path, facecolor=text.get_color(), linewidth=0, zorder=text.get_zorder())
        patch.set_gid(text.get_gid())
        patch.set_transform(axes.transData)
        axes.add_artist(patch)
        text.remove()
