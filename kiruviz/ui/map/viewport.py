"""Between data coordinates and the pixels of the canvas."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float32]

_MARGIN = 56
_TOP_MARGIN = 72


@dataclass(frozen=True)
class Viewport:
    """A look at the plane: the data point at the middle of the canvas and the pixels a data unit takes.

    x and y have one scale, and y points up. Sizes are in logical pixels.
    """

    center_x: float = 0.0
    center_y: float = 0.0
    scale: float = 1.0
    width: int = 1
    height: int = 1

    def to_screen(self, coords: Points) -> Points:
        """(n, 2) data coordinates as (n, 2) float32 pixels."""
        shown = np.empty((len(coords), 2), np.float32)
        shown[:, 0] = (coords[:, 0] - self.center_x) * self.scale + self.width / 2
        shown[:, 1] = self.height / 2 - (coords[:, 1] - self.center_y) * self.scale
        return shown

    def to_data(self, x: float, y: float) -> tuple[float, float]:
        return (
            self.center_x + (x - self.width / 2) / self.scale,
            self.center_y - (y - self.height / 2) / self.scale,
        )

    def resized(self, width: int, height: int) -> Viewport:
        return replace(self, width=max(1, width), height=max(1, height))

    def moved(self, dx: float, dy: float) -> Viewport:
        """The look after the picture was dragged by so many pixels."""
        return replace(self, center_x=self.center_x - dx / self.scale, center_y=self.center_y + dy / self.scale)

    def zoomed(self, factor: float, x: float, y: float) -> Viewport:
        """The look after zooming by `factor` about the pixel (x, y), which keeps its place."""
        data_x, data_y = self.to_data(x, y)
        scale = float(np.clip(self.scale * factor, 1e-6, 1e9))
        return replace(
            self,
            scale=scale,
            center_x=data_x - (x - self.width / 2) / scale,
            center_y=data_y + (y - self.height / 2) / scale,
        )

    def fitted(self, coords: Points) -> Viewport:
        """The look that shows all `coords` with a margin for words and tools."""
        if not len(coords):
            return replace(self, center_x=0.0, center_y=0.0, scale=1.0)
        low, high = coords.min(axis=0), coords.max(axis=0)
        extent = np.maximum(high - low, 1e-6 * max(1.0, float(np.abs(coords).max())))
        across = max(self.width - 2 * _MARGIN - 24, 40)
        down = max(self.height - _TOP_MARGIN - _MARGIN, 40)
        scale = float(min(across / extent[0], down / extent[1]))
        middle = (low + high) / 2
        # The top margin is the larger one: the picture's middle lies below the canvas's.
        shift = (_TOP_MARGIN - _MARGIN) / 2 / scale
        return replace(self, center_x=float(middle[0]), center_y=float(middle[1]) + shift, scale=scale)

    @property
    def rectangle(self) -> tuple[float, float, float, float]:
        """The data rectangle in view: x0, y0, x1, y1."""
        x0, y1 = self.to_data(0, 0)
        x1, y0 = self.to_data(self.width, self.height)
        return (x0, y0, x1, y1)
