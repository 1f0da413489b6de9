"""How different two colours look: CIELAB, CIEDE2000, and the colours as colour-blind people see them.

sRGB as in IEC 61966-2-1, Lab for the 2 degree observer and D65. CIEDE2000 after Sharma, Wu & Dalal (2005),
"The CIEDE2000 color-difference formula: implementation notes, supplementary test data, and mathematical
observations"; a test computes the 34 pairs of that paper. Colour blindness after Machado, Oliveira &
Fernandes (2009), "A physiologically-based model for simulation of color vision deficiency", at full severity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Vision = Literal["normal", "deuteranopia", "protanopia"]
VISIONS: tuple[Vision, ...] = ("normal", "deuteranopia", "protanopia")

_TO_XYZ = np.array(
    [
        [0.4123907993, 0.3575843394, 0.1804807884],
        [0.2126390059, 0.7151686788, 0.0721923154],
        [0.0193308187, 0.1191947798, 0.9505321522],
    ]
)
_WHITE = _TO_XYZ.sum(axis=1)

# For linear light, severity 1.0.
_SEEN: dict[Vision, Array] = {
    "normal": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}


def linear_light(colors: Sequence[str]) -> Array:
    """`#rrggbb` strings as (n, 3) linear light, 0 to 1."""
    codes = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in colors], np.float64).reshape(-1, 3)
    share = codes / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def as_seen(light: Array, vision: Vision) -> Array:
    """(n, 3) linear light as it looks to `vision`, kept within what a screen can show."""
    return np.clip(light @ _SEEN[vision].T, 0.0, 1.0)


def lab_of_light(light: Array) -> Array:
    """(n, 3) linear light as (n, 3) L*, a*, b*."""
    ratio = light @ _TO_XYZ.T / _WHITE
    root = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    x, y, z = root[:, 0], root[:, 1], root[:, 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def lab(colors: Sequence[str], vision: Vision = "normal") -> Array:
    """`#rrggbb` strings as (n, 3) L*, a*, b*, as `vision` sees them."""
    return lab_of_light(as_seen(linear_light(colors), vision))


def ciede2000(one: Array, other: Array) -> Array:
    """The CIEDE2000 distance of L*, a*, b* in the last axis of `one` and `other`, which broadcast; kL, kC, kH are 1."""
    l1, a1, b1 = np.moveaxis(np.asarray(one, np.float64), -1, 0)
    l2, a2, b2 = np.moveaxis(np.asarray(other, np.float64), -1, 0)
    mean_chroma = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * _bend(mean_chroma)
    c1, c2 = np.hypot(a1 * stretch, b1), np.hypot(a2 * stretch, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a * stretch)) % 360 for a, b in ((a1, b1), (a2, b2)))
    grey = c1 * c2 == 0
    turn = np.where(grey, 0.0, (h2 - h1 + 180) % 360 - 180)
    # Hues exactly opposite turn the way of h2 - h1, as the paper has it.
    turn = np.where((turn == -180) & (h2 > h1), 180.0, turn)
    d_lightness, d_chroma = l2 - l1, c2 - c1
    d_hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn) / 2)
    lightness, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    hue = np.where(grey, h1 + h2, _mean_hue(h1, h2))
    weight = (
        1
        - 0.17 * np.cos(np.radians(hue - 30))
        + 0.24 * np.cos(np.radians(2 * hue))
        + 0.32 * np.cos(np.radians(3 * hue + 6))
        - 0.20 * np.cos(np.radians(4 * hue - 63))
    )
    off = (lightness - 50) ** 2
    by_lightness = d_lightness / (1 + 0.015 * off / np.sqrt(20 + off))
    by_chroma = d_chroma / (1 + 0.045 * chroma)
    by_hue = d_hue / (1 + 0.015 * chroma * weight)
    rotation = -2 * _bend(chroma) * np.sin(np.radians(60 * np.exp(-(((hue - 275) / 25) ** 2))))
    square = by_lightness**2 + by_chroma**2 + by_hue**2 + rotation * by_chroma * by_hue
    return np.asarray(np.sqrt(np.maximum(square, 0.0)))


def _bend(chroma: Array) -> Array:
    seventh = chroma**7
    return np.asarray(np.sqrt(seventh / (seventh + 25.0**7)))


def _mean_hue(h1: Array, h2: Array) -> Array:
    """The mean of two hues in degrees, on the shorter way round."""
    total = h1 + h2
    far = np.where(total < 360, total + 360, total - 360)
    return np.where(np.abs(h1 - h2) <= 180, total, far) / 2


def distances(colors: Sequence[str], vision: Vision = "normal") -> Array:
    """(n, n) CIEDE2000 distances of `#rrggbb` strings as `vision` sees them."""
    seen = lab(colors, vision)
    return ciede2000(seen[:, None, :], seen[None, :, :])
