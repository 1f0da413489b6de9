"""How a figure's room is shared out: title above, caption below, legend beside or under the map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kiruviz.figures.fonts import measure, shorten, wrap, writable
from kiruviz.figures.legend import color_bar, entries_of, legend
from kiruviz.figures.recipe import sentence
from kiruviz.figures.spec import FigureSpec, MapPicture
from kiruviz.figures.style import PT_PER_MM, Box, Dot, Line, faces
from kiruviz.palette import MUTED, TEXT


@dataclass(frozen=True)
class Arrangement:
    """Where everything but the map's own points and words goes, in pt.

    size     width and height of the picture
    map_box  the map's room
    lines    title, caption and the legend's texts
    dots     the legend's dots
    bar      the colour bar's box, None where there is none
    """

    size: tuple[float, float]
    map_box: Box
    lines: tuple[Line, ...]
    dots: tuple[Dot, ...]
    bar: Box | None


def arrange(picture: MapPicture, spec: FigureSpec, limits: tuple[float, float] | None) -> Arrangement:
    """Share out the room. `limits` are the ends of the colour bar, None where clusters give the colour."""
    width, height = spec.width_mm * PT_PER_MM, spec.height_mm * PT_PER_MM
    margin = spec.font_size_pt
    top, title = title_line(picture.title, spec, width, margin)
    bottom, caption = caption_lines(picture.recipe_lines, spec, width, height - margin)
    room: Box = (margin, top, width - margin, bottom)
    lines: list[Line] = []
    dots: list[Dot] = []
    bar: Box | None = None
    if spec.legend != "none" and limits is not None and picture.values is not None:
        values = np.asarray(picture.values, dtype=np.float64)
        room, lines, bar = color_bar(values, picture.value_name, spec, room, limits)
    elif spec.legend != "none" and limits is None:
        entries = entries_of(picture, spec)
        if entries:
            room, lines, dots = legend(entries, room, faces(spec).legend, data_aspect(picture), spec.legend)
    return Arrangement((width, height), room, (*title, *caption, *lines), tuple(dots), bar)


def title_line(own: str, spec: FigureSpec, width: float, top: float) -> tuple[float, list[Line]]:
    """Where the room below the title begins, and the title's line: the spec's, else the picture's `own`."""
    text = writable(own if spec.title is None else spec.title).strip()
    if not text:
        return top, []
    face = faces(spec).title
    box = measure(text, face)
    shown = shorten(text, face, width - 2 * top)
    return top + box.height + face.size * 0.4, [Line(top, top + box.ascent, shown, face, TEXT[spec.ground], "title")]


def caption_lines(recipe: dict[str, str], spec: FigureSpec, width: float, bottom: float) -> tuple[float, list[Line]]:
    """Where the room above the caption ends, and the caption's lines."""
    face, margin = faces(spec).caption, spec.font_size_pt
    rows = wrap(writable(sentence(recipe)), face, width - 2 * margin) if spec.caption else []
    step = face.size * 1.35
    lines = [
        Line(margin, bottom - (len(rows) - 1 - i) * step - face.size * 0.25, row, face, MUTED[spec.ground], "caption")
        for i, row in enumerate(rows)
    ]
    return (bottom - len(rows) * step - margin if rows else bottom), lines


def data_aspect(picture: MapPicture) -> float:
    """Width by height of what is shown, between 1:10 and 10:1."""
    x0, y0, x1, y1 = data_box(picture)
    return float(np.clip((x1 - x0) / (y1 - y0), 0.1, 10.0))


def data_box(picture: MapPicture) -> Box:
    """What is shown, in data units (x0, y0, x1, y1): the view, or else the box around all points.

    Never empty: a single point, or points on a line, get some room around them.
    """
    if picture.view is not None:
        return picture.view
    finite = picture.coords[np.isfinite(picture.coords).all(axis=1)].astype(np.float64)
    if not len(finite):
        return (0.0, 0.0, 1.0, 1.0)
    low, high = finite.min(axis=0), finite.max(axis=0)
    least = max(float((high - low).max()) * 0.05, 1e-9 * float(np.abs(finite).max()), 1e-12)
    missing = np.maximum(least - (high - low), 0.0) / 2
    low, high = low - missing, high + missing
    return (float(low[0]), float(low[1]), float(high[0]), float(high[1]))
