"""Colours that belong to the data, for screen and paper alike.

Each colour is given once for a dark ground and once for a light one, of the same hue, with a contrast of at least
4.5:1 against that ground so that names can be written in it. The first eight are the look; any two of them are at
least 16 apart in normal vision (CIEDE2000), 10 under deuteranopia and 9 under protanopia. Those that follow were
chosen by `scripts/make_palette.py`: each as far as can be from all before it, in all three visions. Where there
are more clusters than can all be told apart, `analysis.coloring` says which one gets which: neighbours differ.
"""

from __future__ import annotations

from typing import Literal

Ground = Literal["dark", "light"]

GROUND = {"dark": "#101318", "light": "#ffffff"}
TEXT = {"dark": "#e8ebf0", "light": "#1b1f26"}
MUTED = {"dark": "#98a1b0", "light": "#5c6573"}

FIRST: dict[Ground, tuple[str, ...]] = {
    "dark": ("#5aaeec", "#e8b93c", "#84cd8f", "#d26d6e", "#8f73ec", "#34cad1", "#fb81ba", "#d89359"),
    "light": ("#0f66b8", "#8f6700", "#2e7a4a", "#cb4752", "#4126d1", "#1b8290", "#b62670", "#7e451a"),
}
# As scripts/make_palette.py prints them.
_LATER: dict[Ground, str] = {
    "dark": (
        "368a8a fac6c8 ae6fb2 c9d3fd fa2a18 ee2791 ca989b be6748 bd6179 f8c9b5 faa6de 7390cf b27ea0 f5a3b5 "
        "e68315 b7f0fe 92c1fd b88648 a6f7eb 966ac5 12b382 ffb272 c36528 f2707f c5a1c1 af9cd2 589aed fac1e6 "
        "d185a3 b7628d eda9a8 d469cc 8e799e b76b5e f427b4 d87bbb d7ae7e e17363 aee2cf ed3678 90caca 10cba9 "
        "eeef08 dc618d fc7a73 77fd9b d154a2 62eded c1c1ec eb9a41 cc93b3 99fec9 5d86b1 e6a9c5 fe68f5 a7f776 "
        "cd41d7 acb1e9 d5948e feaf94 3f912a ea43e2 b88997 688745 df7e8e be6f7c ac8cad e5da49 a17481 85a1ff "
        "c0cca0 de9ed0 f99ffe 9f81c2 be91df 7376d4 fd9a5f 81e5b2 f3c6de fcd7f8 1587fe f2b0c3 558d94 af92c5 "
        "fccc89 ba8c7f 16b09b b2f6d7 "
    ),
    "light": (
        "054848 650c21 5f0266 5b62f9 6d433c 811e4f 95676a 632208 91485b 9b5738 9a027b 051899 956384 4f2731 "
        "5e3f24 1c5360 024e9a 865712 2c645d 745795 175d45 a06633 936b56 991a37 501e4d 8823e7 5577a4 9f3983 "
        "c64080 591a3c 854a4b c70cc1 4f3562 953e32 5e394e af5594 623e0a d73626 1c8368 740734 3e7776 237160 "
        "3c3c13 642e41 662f2c 1c3e24 75375c 086b6c 4429a1 846546 7b546a 0f8558 2479c4 9c5779 770173 457d1b "
        "7e3783 605dd5 865a56 89523f 375a2f ad51a7 704653 3d5a16 bd5167 823a48 aa10b5 7c783e d71f75 220ebe "
        "5b6a20 7b366e 532e55 510082 7b25aa 5c3efb 8c4005 4c7760 7c0b5a 961a91 546e8e b25977 437b81 7f4ca2 "
        "634b28 6d2a1a 144d44 036f4f "
    ),
}
_COLORS: dict[Ground, tuple[str, ...]] = {
    ground: (*first, *(f"#{code}" for code in _LATER[ground].split())) for ground, first in FIRST.items()
}
COUNT = len(_COLORS["dark"])
# Up to so many clusters have a colour each; more share them.
ALL_DIFFERENT = 32
# Points and names of clusters that resist naming, of noise and of what has no group.
_NEUTRAL: dict[Ground, str] = {"dark": "#98a1b0", "light": "#5c6573"}


def neutral_color(ground: Ground) -> str:
    """The grey of noise and of clusters that resist naming."""
    return _NEUTRAL[ground]


def color_number(index: int) -> int:
    """Which of the `COUNT` colours number `index` is: further numbers begin again, after the first eight."""
    return index if index < COUNT else 8 + (index - COUNT) % (COUNT - 8)


def cluster_color(index: int, ground: Ground) -> str:
    """The colour number `index` (>= 0) as `#rrggbb`, readable as text on `ground`."""
    return _COLORS[ground][color_number(index)]


def _luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast ratio of two `#rrggbb` colours, 1 to 21."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
