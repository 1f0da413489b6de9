"""A pan frame of many coloured points: the map's raster beside pyqtgraph's ScatterPlotItem, in one run.

QT_QPA_PLATFORM=offscreen .venv/bin/python benchmarks/pan_frame.py [points ...]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import pyqtgraph as pg
from PySide6.QtWidgets import QApplication

from kiruviz.palette import cluster_color
from kiruviz.ui.map.canvas import MapCanvas
from kiruviz.ui.map.raster import argb
from kiruviz.ui.map.scene import Scene

SIZE = (1600, 1000)
FRAMES = 15


def frames(pan: Callable[[], object]) -> float:
    """Median milliseconds of a frame."""
    took = []
    for _ in range(FRAMES):
        began = time.perf_counter()
        pan()
        took.append(1000 * (time.perf_counter() - began))
    return median(took[2:])


def ours(coords: np.ndarray, colors: np.ndarray) -> float:
    canvas = MapCanvas()
    canvas.resize(*SIZE)
    names = ("",) * len(coords)
    canvas.show_scene(Scene(coords=coords, names=names, colors=colors, importance=np.zeros(len(coords))), fit=True)
    canvas.view = canvas.view.resized(*SIZE).fitted(coords)

    def pan() -> None:
        canvas.view = canvas.view.moved(3, 1)
        canvas.refresh()
        canvas.grab()

    return frames(pan)


def pyqtgraphs(coords: np.ndarray, groups: np.ndarray) -> float:
    plot = pg.PlotWidget()
    plot.resize(*SIZE)
    brushes = [pg.mkBrush(cluster_color(i, "dark")) for i in range(int(groups.max()) + 1)]
    item = pg.ScatterPlotItem(
        x=coords[:, 0], y=coords[:, 1], size=4, pen=None, brush=[brushes[g] for g in groups.tolist()]
    )
    plot.addItem(item)

    def pan() -> None:
        plot.getViewBox().translateBy(x=0.01, y=0.003)
        plot.grab()

    return frames(pan)


def main() -> None:
    app = QApplication([])
    for count in [int(text) for text in sys.argv[1:]] or [49_152, 262_144]:
        rng = np.random.default_rng(0)
        groups = rng.integers(0, 8, count)
        coords = (rng.normal(size=(count, 2)) + 4 * rng.normal(size=(8, 2))[groups]).astype(np.float32)
        colors = argb([cluster_color(i, "dark") for i in range(8)])[groups]
        mine, theirs = ours(coords, colors), pyqtgraphs(coords, groups)
        print(f"{count:,} points: ours {mine:.1f} ms, ScatterPlotItem {theirs:.1f} ms, ratio {theirs / mine:.1f}")
    app.quit()


if __name__ == "__main__":
    main()
