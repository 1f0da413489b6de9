"""The legend of a map: which rows it has, in how many columns, beside the map or under it; or a colour bar."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kiruviz.figures.fonts import Face, measure, shorten, writable
from kiruviz.figures.spec import FigureSpec, Legend, MapPicture
from kiruviz.figures.style import Box, Dot, Line, dot_color, faces, mix
from kiruviz.palette import MUTED, TEXT, neutral_color

_MOST = 0.45  # of the picture, at most, goes to the legend
_LONGEST = 0.4  # of the picture's width, at most, for a row's text, and no more than so many font sizes
_LONGEST_EMS = 24
_ROW = 1.5  # height of a row, in font sizes
_BAR_WIDTH = 7.0


@dataclass(frozen=True)
class Entry:
    """A row of the legend; `dot` is the colour of its dot, None for none."""

    text: str
    dot: str | None
    ink: str
    italic: bool = False


@dataclass(frozen=True)
class _Columns:
    """The rows of a legend shared out to columns: the written rows, and the width of each column."""

    entries: tuple[tuple[Entry, ...], ...]
    widths: tuple[float, ...]
    face: Face
    under: bool

    @property
    def height(self) -> float:
        return max(len(column) for column in self.entries) * self.face.size * _ROW


def entries_of(picture: MapPicture, spec: FigureSpec) -> list[Entry]:
    """Clusters by name or number, those that resist naming as one row, then noise and what was set aside."""
    grey, muted = neutral_color(spec.ground), MUTED[spec.ground]
    resisting = [mark for mark in picture.clusters if mark.status == "resists"]
    entries: list[Entry] = []
    for mark in picture.clusters:
        if mark.status != "resists":
            ink = TEXT[spec.ground] if mark.status == "named" else muted
            entries.append(Entry(writable(mark.shown), dot_color(mark.color, spec), ink))
        elif mark is resisting[0]:
            # All of them are grey on the map, so that several rows would tell nothing apart.
            text = mark.shown if len(resisting) == 1 else f"{mark.shown} ({len(resisting)} clusters)"
            entries.append(Entry(text, mix(grey, spec, 0.82), grey, italic=True))
    listed = [mark.cluster_id for mark in picture.clusters]
    if (entries or picture.rest == "noise") and not np.isin(picture.assignment, listed).all():
        entries.append(Entry(picture.rest, mix(grey, spec, 0.45), muted))
    return entries


def legend(
    entries: list[Entry], room: Box, face: Face, aspect: float, where: Legend = "auto"
) -> tuple[Box, list[Line], list[Dot]]:
    """The room (x0, y0, x1, y1) left for a map of this aspect, and the legend's lines and dots.

    The legend goes where it leaves the map most room, or to the right or below if `where` says so. One too
    long for that is written smaller, and at last cut, with a row that says how many are missing.
    """
    for some, size in _attempts(entries, face):
        best: tuple[float, _Columns, Box] | None = None
        ways = {"right": (_beside,), "below": (_under,)}.get(where, (_beside, _under))
        for way in ways:
            columns = way(some, size, room)
            if columns is not None:
                left = _left_for_map(columns, room)
                scale = min((left[2] - left[0]) / aspect, left[3] - left[1])
                if best is None or scale > best[0]:
                    best = (scale, columns, left)
        if best is not None:
            left = best[2] if best[1].under else _near(best[2], aspect, face)
            return (left, *_written(best[1], room, left))
    return room, [], []


def _attempts(entries: list[Entry], face: Face) -> Iterator[tuple[list[Entry], Face]]:
    for shrink in (1.0, 0.9, 0.8, 0.7):
        yield entries, replace(face, size=face.size * shrink)
    kept = len(entries)
    while kept > 1:
        kept = int(kept * 0.9)
        more = Entry(f"and {len(entries) - kept} more", None, entries[0].ink)
        yield [*entries[:kept], more], replace(face, size=face.size * 0.7)


def _fit(entries: list[Entry], face: Face, width: float) -> list[tuple[Entry, float]]:
    """The entries, long ones cut, each with the width its row takes."""
    fitted = []
    for entry in entries:
        written = replace(face, italic=entry.italic)
        text = shorten(entry.text, written, min(width * _LONGEST, face.size * _LONGEST_EMS))
        fitted.append((replace(entry, text=text), measure(text, written).width + face.size * 3))
    return fitted


def _shared(fitted: list[tuple[Entry, float]], rows: int, face: Face, under: bool) -> _Columns:
    parts = [fitted[start : start + rows] for start in range(0, len(fitted), rows)]
    return _Columns(
        tuple(tuple(entry for entry, _ in part) for part in parts),
        tuple(max(width for _, width in part) for part in parts),
        face,
        under,
    )


def _beside(entries: list[Entry], face: Face, room: Box) -> _Columns | None:
    width, height = room[2] - room[0], room[3] - room[1]
    columns = -(-len(entries) // max(1, int(height / (face.size * _ROW))))
    shared = _shared(_fit(entries, face, width), -(-len(entries) // columns), face, under=False)
    return shared if sum(shared.widths) <= width * _MOST else None


def _under(entries: list[Entry], face: Face, room: Box) -> _Columns | None:
    width, height = room[2] - room[0], room[3] - room[1]
    fitted = _fit(entries, face, width)
    for rows in range(1, int(height * _MOST / (face.size * _ROW)) + 1):
        shared = _shared(fitted, rows, face, under=True)
        if sum(shared.widths) - face.size * 1.9 <= width:
            return shared
    return None


def _left_for_map(columns: _Columns, room: Box) -> Box:
    if columns.under:
        return (room[0], room[1], room[2], room[3] - columns.height - columns.face.size)
    return (room[0], room[1], room[2] - sum(columns.widths), room[3])


def _near(left: Box, aspect: float, face: Face) -> Box:
    """The map's room without what a tall map leaves empty at its sides, so that the legend stands near it."""
    wanted = (left[3] - left[1]) * aspect + face.size * 14
    spare = max(0.0, left[2] - left[0] - wanted) / 2
    return (left[0] + spare, left[1], left[2] - spare, left[3])


def _written(columns: _Columns, room: Box, left: Box) -> tuple[list[Line], list[Dot]]:
    face, step = columns.face, columns.face.size * _ROW
    x = room[0] if columns.under else left[2] + face.size * 1.9
    y = left[3] + face.size if columns.under else (room[1] + room[3] - columns.height) / 2
    lines: list[Line] = []
    dots: list[Dot] = []
    for column, width in zip(columns.entries, columns.widths, strict=True):
        for row, entry in enumerate(column):
            middle = y + (row + 0.5) * step
            if entry.dot is not None:
                dots.append(Dot(x + face.size * 0.35, middle, face.size * 0.7, entry.dot))
            written = replace(face, italic=entry.italic)
            lines.append(Line(x + face.size * 1.1, middle + face.size * 0.36, entry.text, written, entry.ink, "legend"))
        x += width
    return lines, dots


def color_bar(
    values: npt.NDArray[np.float64], name: str, spec: FigureSpec, room: Box, limits: tuple[float, float]
) -> tuple[Box, list[Line], Box]:
    """The map's room, the bar's texts, and the bar's box: at the right, a third of the height.

    Strays beyond the `limits` take the colours of the ends, and the bar says so with `≤` and `≥`.
    """
    face, size = faces(spec).legend, spec.font_size_pt
    low, high = limits
    finite = values[np.isfinite(values)]
    marks = [f"{high:.3g}", f"{(low + high) / 2:.3g}", f"{low:.3g}"]
    if len(finite) and finite.min() < low:
        marks[2] = f"≤ {marks[2]}"
    if len(finite) and finite.max() > high:
        marks[0] = f"≥ {marks[0]}"
    name = shorten(writable(name), face, (room[2] - room[0]) * 0.3)
    widths = [measure(mark, face).width + _BAR_WIDTH + size * 0.6 for mark in marks]
    left = room[2] - max(*widths, measure(name, face).width)
    middle, half = (room[1] + room[3]) / 2, (room[3] - room[1]) / 6
    bar = (left, middle - half, left + _BAR_WIDTH, middle + half)
    lines = [Line(left, bar[1] - size, name, face, TEXT[spec.ground], "legend")]
    for mark, share in zip(marks, (0.0, 0.5, 1.0), strict=True):
        y = bar[1] + share * (bar[3] - bar[1]) + size * 0.36
        lines.append(Line(bar[2] + size * 0.6, y, mark, face, MUTED[spec.ground], "legend"))
    return (room[0], room[1], left - size * 1.4, room[3]), lines, bar
