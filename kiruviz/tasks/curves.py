"""Figures of curves: the silhouette over k, the effect of a parameter."""

from __future__ import annotations

import tempfile
from pathlib import Path

from kiruviz.figures import curve_figure
from kiruviz.figures.curve_figure import CurvePicture
from kiruviz.figures.paper import Preview
from kiruviz.figures.spec import FigureSpec
from kiruviz.progress import Progress


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
