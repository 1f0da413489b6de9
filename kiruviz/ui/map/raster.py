"""Many points as one picture: discs stamped into an array.

numpy alone, since the window's process imports no compiler; benchmarks/pan_frame.py times it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QImage

Pixels = npt.NDArray[np.uint32]


def argb(colors: list[str]) -> Pixels:
    """`#rrggbb` strings as (n,) opaque 0xAARRGGBB."""
    return np.array([0xFF000000 | int(color[1:], 16) for color in colors], np.uint32)


def blend(colors: Pixels, ground: str, share: float) -> Pixels:
    """`colors` mixed with `ground`, of which `share` in [0, 1] remains."""
    under = int(ground[1:], 16)
    mixed = np.full(colors.shape, 0xFF000000, np.uint32)
    for shift in (16, 8, 0):
        over = ((colors >> np.uint32(shift)) & np.uint32(255)).astype(np.float32)
        value = over * (1 - share) + ((under >> shift) & 255) * share
        mixed |= np.rint(value).astype(np.uint32) << np.uint32(shift)
    return mixed


@lru_cache(maxsize=64)
def _disc(radius_tenths: int) -> tuple[tuple[int, int, int], ...]:
    """(dx, dy, coverage 1..255) of a disc's pixels, soft ones first so that full ones end on top."""
    radius = radius_tenths / 10
    reach = int(np.ceil(radius + 0.5))
    offsets = np.arange(-reach, reach + 1)
    distance = np.hypot(offsets[:, None], offsets[None, :])
    coverage = np.rint(np.clip(radius + 0.5 - distance, 0, 1) * 255).astype(int)
    found = [
        (int(dx), int(dy), int(coverage[i, j]))
        for i, dy in enumerate(offsets)
        for j, dx in enumerate(offsets)
        if coverage[i, j] > 20
    ]
    return tuple(sorted(found, key=lambda item: item[2]))


def stamp(points: npt.NDArray[np.float32], colors: Pixels, radius: float, width: int, height: int) -> QImage:
    """A transparent image of `width` x `height` device pixels with a disc of `radius` at each of `points`.

    `points` (n, 2) are in device pixels; later ones lie on top. No point inside is left without a pixel.
    """
    disc = _disc(max(1, round(radius * 10)))
    border = max(abs(dx) for dx, _, _ in disc)
    stride = width + 2 * border
    x = np.rint(points[:, 0]).astype(np.int64) + border
    y = np.rint(points[:, 1]).astype(np.int64) + border
    inside = (x >= border) & (x < stride - border) & (y >= border) & (y < height + border)
    at = y[inside] * stride + x[inside]
    shown = colors[inside]
    pixels = np.zeros((height + 2 * border) * stride, np.uint32)
    by_coverage: dict[int, Pixels] = {}
    for dx, dy, coverage in disc:
        if coverage not in by_coverage:
            by_coverage[coverage] = _premultiplied(shown, coverage)
        pixels[at + (dy * stride + dx)] = by_coverage[coverage]
    # The image looks into the array, past the border; copying it would cost as much as stamping.
    inner = pixels[border * stride + border :]
    image = QImage(inner.data, width, height, stride * 4, QImage.Format.Format_ARGB32_Premultiplied)
    image.pixels = inner  # type: ignore[attr-defined]  # Qt keeps no reference: the array lives as long as the image
    return image


def _premultiplied(colors: Pixels, coverage: int) -> Pixels:
    if coverage >= 255:
        return colors
    result = np.full(colors.shape, np.uint32(coverage) << np.uint32(24), np.uint32)
    for shift in (16, 8, 0):
        channel = (colors >> np.uint32(shift)) & np.uint32(255)
        result |= (channel * np.uint32(coverage) // np.uint32(255)) << np.uint32(shift)
    return result
