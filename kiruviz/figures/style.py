"""The hand a figure is drawn in: faces, colours, and the lines and dots of its margins.

Everything is in pt from the upper left corner, y downwards, as `analysis.placement` has it.
"""

from __future__ import annotations

from dataclasses import dataclass

from kiruviz.figures.fonts import Face, families
from kiruviz.figures.spec import FigureSpec
from kiruviz.palette import GROUND, cluster_color

PT_PER_MM = 72 / 25.4
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Line:
    """A line of text: its left end and baseline, and how it is written. `gid` names it in an SVG."""

    x: float
    y: float
    text: str
    face: Face
    color: str
    gid: str


@dataclass(frozen=True)
class Dot:
    """A filled circle of the legend."""

    x: float
    y: float
    diameter: float
    color: str


@dataclass(frozen=True)
class Faces:
    """The faces of one figure."""

    word: Face
    name: Face
    resists: Face
    legend: Face
    title: Face
    caption: Face


def faces(spec: FigureSpec) -> Faces:
    """All sizes follow from the size of the words."""
    names, size = families(spec.font), spec.font_size_pt
    return Faces(
        word=Face(names, size),
        name=Face(names, size * 1.35, 600),
        resists=Face(names, size * 1.2, italic=True),
        legend=Face(names, size),
        title=Face(names, size * 1.55, 600),
        caption=Face(names, size * 0.8),
    )


def dot_color(index: int, spec: FigureSpec) -> str:
    """The colour of a cluster's points: a little nearer the ground than its name, so that words stand out."""
    return mix(cluster_color(index, spec.ground), spec, 0.82)


def mix(color: str, spec: FigureSpec, share: float) -> str:
    """`share` of `color`, the rest of the ground. Opaque, so that no format needs transparency."""
    parts = [int(c[i : i + 2], 16) for c in (color, GROUND[spec.ground]) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(parts[i] * share + parts[i + 3] * (1 - share)):02x}" for i in range(3))
