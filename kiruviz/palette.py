"""Colours that belong to the data, for screen and paper alike.

The first eight hues keep apart under deuteranopia and protanopia by lightness as well as hue; each is given
once for a dark ground and once for a light one, with a contrast of at least 4.5:1 against that ground so that
names can be written in it. Further indices walk the hue circle by the golden angle at the same lightness.
"""

from __future__ import annotations

import colorsys
from functools import lru_cache
from typing import Literal

Ground = Literal["dark", "light"]

GROUND = {"dark": "#101318", "light": "#ffffff"}
TEXT = {"dark": "#e8ebf0", "light": "#1b1f26"}
MUTED = {"dark": "#98a1b0", "light": "#5c6573"}

_FIRST: dict[Ground, tuple[str, ...]] = {
    "dark": ("#5aaeec", "#e8b93c", "#7fc97f", "#f0706a", "#b08cf0", "#45c3c9", "#f58fbd", "#d59b6c"),
    "light": ("#0f66b8", "#8f6700", "#24813f", "#c32f2b", "#6d3fc7", "#007a80", "#b32878", "#8a5324"),
}
# Points and names of clusters that resist naming, of noise and of what has no group.
_NEUTRAL: dict[Ground, str] = {"dark": "#98a1b0", "light": "#5c6573"}


def neutral_color(ground: Ground) -> str:
    """The grey of noise and of clusters that resist naming."""
    return _NEUTRAL[ground]


@lru_cache(maxsize=4096)
def cluster_color(index: int, ground: Ground) -> str:
    """The colour number `index` (>= 0) as `#rrggbb`, readable as text on `ground`."""
    first = _FIRST[ground]
    if index < len(first):
        return first[index]
    turn = index - len(first)
    hue = (0.11 + turn * 0.6180339887) % 1.0
    ring = (turn // 12) % 3
    saturation = (0.62, 0.42, 0.8)[ring]
    lightness = (0.7, 0.78, 0.64)[ring] if ground == "dark" else (0.34, 0.27, 0.38)[ring]
    for _ in range(40):
        red, green, blue = colorsys.hls_to_rgb(hue, lightness, saturation)
        color = f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"
        if contrast(color, GROUND[ground]) >= 4.5:
            return color
        lightness += 0.01 if ground == "dark" else -0.01
    return _NEUTRAL[ground]


def _luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast ratio of two `#rrggbb` colours, 1 to 21."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
