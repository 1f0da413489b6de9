"""Figures of curves: the silhouette over k, the effect of a parameter."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

from kiruviz.analysis.effect import Effect
from kiruviz.analysis.grouping import ClusterMethod
from kiruviz.figures import curve_figure
from kiruviz.figures.curve_figure import CurvePicture
from kiruviz.figures.paper import Preview
from kiruviz.figures.spec import FigureSpec
from kiruviz.progress import Progress
from kiruviz.session.records import SpaceRecord
from kiruviz.tasks.exports import space_lines

_ACROSS: dict[ClusterMethod, str] = {
    "kmeans": "Clusters, k",
    "agglomerative": "Clusters, k",
    "hdbscan": "Smallest cluster size",
    "evoc": "Layer, the coarsest first",
}


def effect_curve(effect: Effect, used: int | None, record: SpaceRecord) -> CurvePicture:
    """What each value of a clusterer's main parameter gives for the rows of `record`, the one in use marked: the
    mean silhouette where the value is the number of clusters, else that number, over the share of noise."""
    points, spec = effect.points, effect.spec
    by_number = spec.method in ("kmeans", "agglomerative")
    lines = space_lines(record)
    versions = lines.pop("versions")
    return CurvePicture(
        x=tuple(float(point.value) for point in points),
        y=tuple(_score(point.silhouette) if by_number else float(point.clusters) for point in points),
        x_title=_ACROSS[spec.method],
        y_title="Mean silhouette" if by_number else "Clusters",
        marked=None if used is None else float(used),
        title=f"{spec.title}: {record.recipe.rows.title}",  # the model too would not fit one column
        shares=tuple(point.noise for point in points) if any(point.noise for point in points) else (),
        share_title="Share of noise",
        recipe_lines=lines | {"clusters": spec.describe(), "versions": versions},
    )


def _score(silhouette: float | None) -> float:
    return math.nan if silhouette is None else silhouette


def export_curve(progress: Progress, curve: CurvePicture, out: str, spec: FigureSpec, overwrite: bool = False) -> str:
    """Write a curve as PNG, SVG or PDF; the path written."""
    progress.report(None, "Drawing the curve")
    return str(curve_figure.save(curve, spec, Path(out), overwrite))


def preview_curve(progress: Progress, curve: CurvePicture, spec: FigureSpec, width: int) -> Preview:
    """The curve as PNG `width` pixels wide, by the same drawing as the export."""
    progress.report(None, "Drawing the curve")
    return curve_figure.preview(curve, spec, width)


def copy_curve(
    progress: Progress, curve: CurvePicture, spec: FigureSpec, width: int, as_svg: bool
) -> tuple[bytes, bytes]:
    """The curve for the clipboard: PNG and, `as_svg`, the SVG file; else no bytes."""
    png = preview_curve(progress, curve, spec, width).png
    if not as_svg:
        return png, b""
    with tempfile.TemporaryDirectory(prefix="kiruviz-") as folder:
        return png, curve_figure.save(curve, spec, Path(folder) / "curve.svg").read_bytes()
