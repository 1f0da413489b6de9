"""The map as a picture for paper: drawn once, saved as PNG, SVG or PDF, or shown as the dialog's preview.

The figure's one axes spans the whole picture and counts in pt from the upper left corner, so that what
`layout` and `words` worked out is what is drawn, whatever the resolution.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.figures.files import refuse, suffix_of
from kiruviz.figures.layout import Arrangement, arrange, data_box
from kiruviz.figures.paper import Preview, blank, draw_line, preview_figure, settings, write_figure
from kiruviz.figures.recipe import FORMATS, About
from kiruviz.figures.spec import FigureSpec, MapPicture
from kiruviz.figures.style import Box, dot_color, mix
from kiruviz.figures.words import Writing, write
from kiruviz.palette import GROUND, neutral_color

Array = npt.NDArray[np.float64]

RASTER_ABOVE = 5_000  # more points than this become one raster layer in SVG and PDF
_CLIP_FROM = 200  # values from which on the colour scale leaves out the outermost hundredth on either side


def draw(picture: MapPicture, spec: FigureSpec) -> Any:
    """The picture as a `matplotlib.figure.Figure`.

    Words are `Text`s with the gid `word-<row>`, cluster names with `name-<cluster id>`; no two of their
    boxes overlap. `UserError` where the spec's font is not on this computer.
    """
    with settings():
        limits = None if picture.values is None else value_limits(picture.values)
        plan = arrange(picture, spec, limits)
        xy, drawn = _on_paper(picture, spec, plan.map_box)
        diameter = spec.point_size or _point_size(int(drawn.sum()), plan.map_box)
        writing = write(picture, spec, xy, drawn, plan.map_box, diameter / 2)
        figure, axes = blank(spec)
        _draw_points(axes, xy[drawn], _colors(picture, spec, limits)[drawn], _layers(picture)[drawn], diameter, spec)
        _draw_halos(axes, writing, xy[drawn], diameter / 2, spec)
        _draw_leaders(axes, writing, len(xy[drawn]) > RASTER_ABOVE)
        _draw_legend(axes, plan, spec)
        for line in (*plan.lines, *writing.lines):
            draw_line(axes, line)
    return figure


def save(picture: MapPicture, spec: FigureSpec, path: Path, overwrite: bool = False) -> Path:
    """Write the picture as the suffix of `path` says: `.png`, `.svg` or `.pdf`; two runs write the same bytes.

    `UserError` for another suffix, a missing folder, or an existing file without `overwrite`. The recipe is
    in the file's metadata, see `recipe.read_recipe`.
    """
    path = Path(path)
    suffix_of(path, FORMATS)
    refuse(path, overwrite)
    heading = picture.title if spec.title is None else spec.title
    origin = {**picture.origin, "spec": asdict(spec)} if picture.origin else {}
    return write_figure(draw(picture, spec), spec, path, About(heading, picture.recipe_lines, origin), overwrite)


def preview(picture: MapPicture, spec: FigureSpec, scale_px_width: int) -> Preview:
    """The same drawing as PNG, `scale_px_width` pixels wide."""
    return preview_figure(draw(picture, spec), spec, scale_px_width)


def value_limits(values: npt.NDArray[Any]) -> tuple[float, float]:
    """The ends of the colour scale for `values` (n,): from 200 on, without the outermost hundredth either side."""
    finite = np.asarray(values, dtype=np.float64)
    finite = finite[np.isfinite(finite)]
    if not len(finite):
        return 0.0, 1.0
    low, high = np.quantile(finite, (0.01, 0.99)) if len(finite) >= _CLIP_FROM else (finite.min(), finite.max())
    return (float(low), float(high)) if high > low else (float(low) - 0.5, float(low) + 0.5)


def _on_paper(picture: MapPicture, spec: FigureSpec, room: Box) -> tuple[Array, npt.NDArray[np.bool_]]:
    """The points in pt (n, 2), equal scale both ways, and which of them (n,) lie in the map's room."""
    low_x, low_y, high_x, high_y = data_box(picture)
    size = spec.font_size_pt
    # Outermost points get room for their words; a view that a person chose is kept to its edges.
    with_words = spec.labels not in ("names", "none")
    inset = (0.0, 0.0) if picture.view is not None else (size * 2.2, size * 1.4) if with_words else (size, size)
    width, height = room[2] - room[0] - 2 * inset[0], room[3] - room[1] - 2 * inset[1]
    scale = max(min(width / (high_x - low_x), height / (high_y - low_y)), 1e-12)
    middle = np.array([(low_x + high_x) / 2, (low_y + high_y) / 2])
    centre = np.array([(room[0] + room[2]) / 2, (room[1] + room[3]) / 2])
    xy = centre + (picture.coords.astype(np.float64) - middle) * scale * np.array([1.0, -1.0])
    with np.errstate(invalid="ignore"):
        drawn: npt.NDArray[np.bool_] = np.all((xy >= room[:2]) & (xy <= room[2:]), axis=1)
    return xy, drawn


def _point_size(count: int, room: Box) -> float:
    """A diameter in pt at which `count` points neither vanish nor cover one another."""
    area = (room[2] - room[0]) * (room[3] - room[1])
    return float(np.clip(0.14 * np.sqrt(area / max(count, 1)), 0.9, 4.6))


def _layers(picture: MapPicture) -> npt.NDArray[np.int64]:
    """(n,) what is drawn under what: noise 0, clusters that resist naming 1, all others 2."""
    layer = np.zeros(len(picture), dtype=np.int64)
    for mark in picture.clusters:
        layer[picture.assignment == mark.cluster_id] = 1 if mark.status == "resists" else 2
    return layer


def _colors(picture: MapPicture, spec: FigureSpec, limits: tuple[float, float] | None) -> Array:
    """(n, 3) colours of the points, each channel 0 to 1."""
    grey = neutral_color(spec.ground)
    colors = np.tile(_rgb(mix(grey, spec, 0.45)), (len(picture), 1))
    if limits is not None and picture.values is not None:
        values = np.asarray(picture.values, dtype=np.float64)
        known = np.isfinite(values)
        colors[known] = _scale(spec)((values[known] - limits[0]) / (limits[1] - limits[0]))[:, :3]
        return colors
    for mark in picture.clusters:
        shown = mix(grey, spec, 0.82) if mark.status == "resists" else dot_color(mark.color, spec)
        colors[picture.assignment == mark.cluster_id] = _rgb(shown)
    return colors


def _rgb(color: str) -> Array:
    return np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def _scale(spec: FigureSpec) -> Any:
    """Viridis without the end that the ground would swallow."""
    import matplotlib
    from matplotlib.colors import ListedColormap

    ends = (0.12, 1.0) if spec.ground == "dark" else (0.0, 0.9)
    return ListedColormap(matplotlib.colormaps["viridis"](np.linspace(*ends, 256)))


def _draw_points(
    axes: Any, xy: Array, colors: Array, layers: npt.NDArray[Any], diameter: float, spec: FigureSpec
) -> None:
    order = np.argsort(layers, kind="stable")
    rim = diameter * 0.14 if diameter >= 1.5 else 0.0
    points = axes.scatter(
        xy[order, 0],
        xy[order, 1],
        s=(diameter + rim) ** 2,
        c=colors[order],
        edgecolors=GROUND[spec.ground] if rim else "none",
        linewidths=rim,
        rasterized=len(xy) > RASTER_ABOVE,
        zorder=1,
    )
    points.set_gid("points")


def _draw_halos(axes: Any, writing: Writing, xy: Array, radius: float, spec: FigureSpec) -> None:
    """The ground's colour around every name, and around words that lie on points, so that they stay readable.

    A halo is an outline under the text and not an effect of it: matplotlib turns text with effects into
    paths, and text is to stay text.
    """
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    for line, box in zip(writing.lines, writing.boxes, strict=True):
        covers = np.all((xy > box[:2] - radius) & (xy < box[2:] + radius), axis=1).any()
        if not covers and not len(writing.leaders):
            continue
        outline = TextPath((0, 0), line.text, prop=line.face.properties(), usetex=False)
        path = Affine2D().scale(1, -1).translate(line.x, line.y).transform_path(outline)
        # Points that can be told apart must stay visible under a halo; over a crowd text needs more of it.
        width, color = line.face.size * (0.15 if len(xy) <= RASTER_ABOVE else 0.3), GROUND[spec.ground]
        halo = PathPatch(path, facecolor=color, edgecolor=color, linewidth=width, joinstyle="round", zorder=2)
        halo.set_rasterized(len(xy) > RASTER_ABOVE)
        halo.set_transform(axes.transData)
        # Not add_patch, which works out the extent of every glyph for limits that are fixed anyway.
        axes.add_artist(halo)


def _draw_leaders(axes: Any, writing: Writing, raster: bool) -> None:
    """Lines from names to their clusters, over the points and under the halos; in one `raster` layer with both."""
    from matplotlib.lines import Line2D

    for (x0, y0, x1, y1), color in zip(writing.leaders.tolist(), writing.leader_colors, strict=True):
        line = Line2D([x0, x1], [y0, y1], color=color, linewidth=0.5, solid_capstyle="round", zorder=1.5)
        line.set_rasterized(raster)
        axes.add_line(line)


def _draw_legend(axes: Any, plan: Arrangement, spec: FigureSpec) -> None:
    """The legend's dots, or its colour bar; its texts are among the plan's lines."""
    from matplotlib.image import AxesImage
    from matplotlib.patches import Circle

    for dot in plan.dots:
        axes.add_patch(Circle((dot.x, dot.y), dot.diameter / 2, facecolor=dot.color, linewidth=0, zorder=4))
    if plan.bar is not None:
        x0, y0, x1, y1 = plan.bar
        bar = AxesImage(axes, cmap=_scale(spec), extent=(x0, x1, y1, y0), origin="upper", interpolation="bilinear")
        bar.set_data(np.linspace(1.0, 0.0, 256)[:, None])
        bar.set_zorder(4)
        axes.add_artist(bar)
