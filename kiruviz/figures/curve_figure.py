"""A curve as a picture for paper: one quantity over another, the value in use marked; drawn as maps are."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kiruviz.figures.files import refuse, suffix_of
from kiruviz.figures.fonts import measure, shorten, writable
from kiruviz.figures.layout import caption_lines, title_line
from kiruviz.figures.paper import Preview, blank, draw_line, preview_figure, settings, write_figure
from kiruviz.figures.recipe import FORMATS, About
from kiruviz.figures.spec import FigureSpec
from kiruviz.figures.style import PT_PER_MM, Box, Faces, Line, faces, mix
from kiruviz.palette import GROUND, MUTED, TEXT, cluster_color

_MOST_TICKS = 8
_SHARES = ((0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %"))


@dataclass(frozen=True)
class CurvePicture:
    """What a curve shows, whole and ready.

    x, y              the points, from left to right; a `y` that is not finite leaves a gap
    x_title, y_title  what the axes measure
    marked            the `x` in use, None for none
    title             what the curve is of
    shares            a share (0 to 1) for each x, shown as a shade from the bottom up; none for no shade
    share_title       what it is a share of
    recipe_lines      how it was made, see `MapPicture`
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    x_title: str
    y_title: str
    marked: float | None = None
    title: str = ""
    shares: tuple[float, ...] = ()
    share_title: str = ""
    recipe_lines: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y):
            raise ValueError(f"{len(self.x)} values across, {len(self.y)} up")
        if self.shares and len(self.shares) != len(self.x):
            raise ValueError(f"{len(self.x)} values across, {len(self.shares)} shares")
        if not all(map(math.isfinite, self.x)):
            raise ValueError("a curve needs finite values across")

    def to_json(self) -> dict[str, Any]:
        """JSON values; what is not finite is None, and the recipe is a list, whose order sorted keys leave alone."""
        y = [value if math.isfinite(value) else None for value in self.y]
        return asdict(self) | {"y": y, "recipe_lines": list(self.recipe_lines.items())}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> CurvePicture:
        y = tuple(math.nan if value is None else float(value) for value in values["y"])
        x, shares = (tuple(map(float, values[name])) for name in ("x", "shares"))
        return cls(**(values | {"x": x, "y": y, "shares": shares, "recipe_lines": dict(values["recipe_lines"])}))


@dataclass(frozen=True)
class _Scale:
    """A stretch of values on a stretch of paper, in pt."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def draw(curve: CurvePicture, spec: FigureSpec) -> Any:
    """The curve as a `matplotlib.figure.Figure`; its texts are called `tick`, `axis`, `mark`, `title`, `caption`."""
    with settings():
        figure, axes = blank(spec)
        width, height = spec.width_mm * PT_PER_MM, spec.height_mm * PT_PER_MM
        style, margin = faces(spec), spec.font_size_pt
        top, title = title_line(curve.title, spec, width, margin)
        bottom, caption = caption_lines(curve.recipe_lines, spec, width, height - margin)
        lines = [*title, *caption]
        y_ticks = _ticks([v for v in curve.y if math.isfinite(v)], _room_for((bottom - top) * 0.7, style, 2.4))
        x_ticks = _ticks(list(curve.x), _room_for(width * 0.7, style, 4.5), whole=all(v == int(v) for v in curve.x))
        widest = max(measure(_number(v, y_ticks), style.word).width for v in y_ticks)
        step = style.word.size * 1.4
        right = measure(_SHARES[-1][1], style.word).width + step * 0.4 if curve.shares else margin * 0.6
        room: Box = (margin + widest + step * 0.4, top + step * 1.3, width - margin - right, bottom - 2.3 * step)
        across, up = _scales(x_ticks, y_ticks, curve, room)
        lines += _axis_lines(curve, spec, style, room, (top, bottom), across, up, x_ticks, y_ticks)
        if curve.shares:
            lines += _share_lines(curve, spec, style, room, top)
            _draw_shares(axes, spec, curve, across, room)
        _draw_ground(axes, spec, room, up, y_ticks)
        _draw_curve(axes, spec, curve, across, up)
        lines += _mark(axes, spec, style, curve, across, up, room)
        for line in lines:
            draw_line(axes, line)
    return figure


def save(curve: CurvePicture, spec: FigureSpec, path: Path, overwrite: bool = False) -> Path:
    """Write the curve as `.png`, `.svg` or `.pdf`; see `map_figure.save`."""
    path = Path(path)
    suffix_of(path, FORMATS)
    refuse(path, overwrite)
    heading = curve.title if spec.title is None else spec.title
    origin = {"kiruviz_figure": 1, "kind": "curve", "curve": curve.to_json(), "spec": asdict(spec)}
    return write_figure(draw(curve, spec), spec, path, About(heading, curve.recipe_lines, origin), overwrite)


def preview(curve: CurvePicture, spec: FigureSpec, scale_px_width: int) -> Preview:
    """The same drawing as PNG, `scale_px_width` pixels wide."""
    return preview_figure(draw(curve, spec), spec, scale_px_width)


def _room_for(length: float, style: Faces, ems: float) -> int:
    return int(np.clip(length / (style.word.size * ems), 2, _MOST_TICKS))


def _ticks(values: list[float], most: int, whole: bool = False) -> list[float]:
    """At most `most` + 1 round numbers around the values."""
    from matplotlib.ticker import MaxNLocator

    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if low == high:
        low, high = low - max(abs(low) * 0.05, 0.5), high + max(abs(high) * 0.05, 0.5)
    found = MaxNLocator(nbins=most, integer=whole, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [float(value) for value in found]


def _number(value: float, ticks: list[float]) -> str:
    """A tick's number with as many decimals as all of them need."""
    step = abs(ticks[1] - ticks[0])
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if not math.isclose(round(step, decimals), step, rel_tol=1e-6):
        decimals += 1
    large = max(abs(ticks[0]), abs(ticks[-1]))
    text = f"{value:.{decimals}f}" if decimals <= 6 and large < 1e6 else f"{value:.3g}"
    return text.replace("-", "−")


def _scales(x_ticks: list[float], y_ticks: list[float], curve: CurvePicture, room: Box) -> tuple[_Scale, _Scale]:
    """Across from the first to the last value, up from the lowest to the highest tick."""
    low, high = (min(curve.x), max(curve.x)) if curve.x else (0.0, 1.0)
    if low == high:
        low, high = x_ticks[0], x_ticks[-1]
    inset = (room[2] - room[0]) * 0.02
    return (
        _Scale(low, high, room[0] + inset, room[2] - inset),
        _Scale(y_ticks[0], y_ticks[-1], room[3], room[1]),
    )


def _axis_lines(
    curve: CurvePicture,
    spec: FigureSpec,
    style: Faces,
    room: Box,
    ends: tuple[float, float],
    across: _Scale,
    up: _Scale,
    x_ticks: list[float],
    y_ticks: list[float],
) -> list[Line]:
    """The numbers beside the axes, and what they measure: one title above the upright axis, one at the lower right."""
    face, muted, ink = style.word, MUTED[spec.ground], TEXT[spec.ground]
    step, width = face.size * 1.4, room[2] - room[0]
    lines = []
    for value in y_ticks:
        text = _number(value, y_ticks)
        x = room[0] - step * 0.4 - measure(text, face).width
        lines.append(Line(x, up(value) + face.size * 0.36, text, face, muted, "tick"))
    for value in x_ticks:
        if across.low <= value <= across.high:
            text = _number(value, x_ticks)
            half = measure(text, face).width / 2
            x = min(across(value), room[2] + spec.font_size_pt - half) - half
            lines.append(Line(x, room[3] + step, text, face, muted, "tick"))
    y_title = shorten(writable(curve.y_title), face, width * (0.5 if curve.shares else 1.0))
    x_title = shorten(writable(curve.x_title), face, width)
    lines.append(Line(spec.font_size_pt, ends[0] + face.size * 0.85, y_title, face, ink, "axis"))
    x = room[2] - measure(x_title, face).width
    lines.append(Line(x, ends[1] - face.size * 0.3, x_title, face, ink, "axis"))
    return lines


def _share_lines(curve: CurvePicture, spec: FigureSpec, style: Faces, room: Box, top: float) -> list[Line]:
    """The axis of the shares, at the right."""
    face, size = style.word, style.word.size
    lines = [
        Line(
            room[2] + size * 0.5,
            room[3] - share * (room[3] - room[1]) + size * 0.36,
            text,
            face,
            MUTED[spec.ground],
            "tick",
        )
        for share, text in _SHARES
    ]
    title = shorten(writable(curve.share_title), face, (room[2] - room[0]) * 0.5)
    x = spec.width_mm * PT_PER_MM - spec.font_size_pt - measure(title, face).width
    return [*lines, Line(x, top + size * 0.85, title, face, MUTED[spec.ground], "axis")]


def _draw_shares(axes: Any, spec: FigureSpec, curve: CurvePicture, across: _Scale, room: Box) -> None:
    from matplotlib.patches import Polygon

    if len(curve.x) < 2:
        return
    x = [across(value) for value in curve.x]
    edge = [(at, room[3] - share * (room[3] - room[1])) for at, share in zip(x, curve.shares, strict=True)]
    shade = Polygon(
        [(x[0], room[3]), *edge, (x[-1], room[3])], facecolor=mix(MUTED[spec.ground], spec, 0.2), linewidth=0
    )
    shade.set_gid("shares")
    shade.set_zorder(0.5)
    axes.add_artist(shade)


def _draw_ground(axes: Any, spec: FigureSpec, room: Box, up: _Scale, y_ticks: list[float]) -> None:
    """A hairline for each number of the upright axis."""
    from matplotlib.lines import Line2D

    color = mix(MUTED[spec.ground], spec, 0.25)
    for value in y_ticks:
        axes.add_line(Line2D([room[0], room[2]], [up(value)] * 2, color=color, linewidth=0.5, zorder=1))


def _draw_curve(axes: Any, spec: FigureSpec, curve: CurvePicture, across: _Scale, up: _Scale) -> None:
    from matplotlib.lines import Line2D

    color = cluster_color(0, spec.ground)
    x = [across(value) for value in curve.x]
    y = [up(value) if math.isfinite(value) else math.nan for value in curve.y]
    size = spec.point_size or spec.font_size_pt * 0.45
    line = Line2D(x, y, color=color, linewidth=spec.font_size_pt * 0.17, solid_joinstyle="round", zorder=2)
    line.set_gid("curve")
    axes.add_line(line)
    dots = axes.scatter(
        x, y, s=size**2, c=color, edgecolors=GROUND[spec.ground], linewidths=size * 0.14, zorder=3, plotnonfinite=False
    )
    dots.set_gid("points")


def _mark(
    axes: Any, spec: FigureSpec, style: Faces, curve: CurvePicture, across: _Scale, up: _Scale, room: Box
) -> list[Line]:
    """A ring around the value in use, and its numbers above it or, where the curve's top leaves no room, below."""
    from matplotlib.patches import Circle

    at = next((y for x, y in zip(curve.x, curve.y, strict=True) if x == curve.marked), math.nan)
    if curve.marked is None or not math.isfinite(at):
        return []
    face, place = style.name, (across(curve.marked), up(at))
    radius = spec.font_size_pt * 0.55
    ring = Circle(place, radius, facecolor="none", edgecolor=TEXT[spec.ground], linewidth=spec.font_size_pt * 0.15)
    ring.set_zorder(4)
    axes.add_artist(ring)
    counts = all(value == int(value) for value in curve.y if math.isfinite(value))
    value = f"{at:,.0f}" if counts else f"{at:.3f}" if abs(at) < 1000 else f"{at:.4g}"
    text = f"{curve.marked:g}: {value}".replace("-", "−")
    box = measure(text, face)
    x = float(np.clip(place[0] - box.width / 2, room[0], room[2] - box.width))
    above = place[1] - radius - face.size * 0.4
    below = place[1] + radius + face.size * 0.2 + box.ascent
    y = above if above - box.ascent >= room[1] - face.size * 0.4 or below > room[3] else below
    return [Line(x, y, text, face, TEXT[spec.ground], "mark")]
