"""Choose the colours of `kiruviz/palette.py` that come after the first eight, and print them as it holds them.

    python scripts/make_palette.py [COUNT]

Each colour is a pair, one for a dark ground and one for a light one, of the same hue, so that a cluster keeps its
colour from a dark screen to paper. One pair after the other is taken whose smallest distance from all before is the
largest: distances are CIEDE2000, the least of both grounds, in normal vision and under deuteranopia and protanopia,
each as a share of what is wanted of it. So the first n are a good choice for every n.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.color_difference import VISIONS, as_seen, ciede2000, lab, lab_of_light, linear_light
from kiruviz.palette import FIRST, GROUND, Ground, contrast, neutral_color

# What is wanted of two colours in each vision: the share of it that is reached is what counts.
WANTED = {"normal": 10.0, "deuteranopia": 7.0, "protanopia": 7.0}
# Grey is what has no group; a colour may come as close to it as this share of what is wanted.
GREY_SHARE = 0.8
LIGHTNESS: dict[Ground, tuple[float, float]] = {"dark": (0.56, 0.92), "light": (0.33, 0.58)}  # of Oklab
CONTRAST = 4.55  # a little more than 4.5, so that no rounding falls below it

# Björn Ottosson (2020), "A perceptual color space for image processing": linear light to Oklab.
_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Candidates:
    """Colours for one ground: `#rrggbb`, which of the hues each has, and Lab in each vision."""

    colors: list[str]
    hues: npt.NDArray[np.int64]
    seen: dict[str, Array]


def light_of(lightness: Array, chroma: Array, hue: Array) -> Array:
    """Oklab lightness, chroma and hue (radians) as linear light; outside 0..1 where no screen shows it."""
    flat = np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=1)
    cones = (flat @ np.linalg.inv(_OKLAB).T) ** 3
    return cones @ np.linalg.inv(_CONES).T


def coded(light: Array) -> list[str]:
    share = np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 1e-9) ** (1 / 2.4) - 0.055)
    return ["#" + "".join(f"{round(float(v) * 255):02x}" for v in row) for row in share]


def candidates(ground: Ground, hues: int = 72, lightnesses: int = 16) -> Candidates:
    """All colours to choose from that can be read on `ground`."""
    low, high = LIGHTNESS[ground]
    grid = np.array(
        [
            (light, chroma, hue)
            for light in np.linspace(low, high, lightnesses)
            for chroma in np.arange(0.06, 0.27, 0.02)
            for hue in range(hues)
        ]
    )
    light = light_of(grid[:, 0], grid[:, 1], grid[:, 2] * 2 * np.pi / hues)
    shown = ((light >= 0) & (light <= 1)).all(axis=1)
    colors, numbers = coded(light[shown]), grid[shown, 2].astype(np.int64)
    keep = [i for i, color in enumerate(colors) if contrast(color, GROUND[ground]) >= CONTRAST]
    kept = [colors[i] for i in keep]
    exact = linear_light(kept)
    seen = {vision: lab_of_light(as_seen(exact, vision)) for vision in VISIONS}
    return Candidates(kept, numbers[keep], seen)


def shares(pool: Candidates, color: str) -> Array:
    """How far each candidate is from `color`, as a share of what is wanted, in the vision where that is least."""
    return np.min([ciede2000(pool.seen[v], lab([color], v)) / WANTED[v] for v in VISIONS], axis=0)


def choose(count: int) -> dict[Ground, list[str]]:
    """`count` colours for each ground, the first eight included."""
    grounds: tuple[Ground, ...] = ("dark", "light")
    pools = {ground: candidates(ground) for ground in grounds}
    nearest = {ground: shares(pools[ground], neutral_color(ground)) / GREY_SHARE for ground in grounds}
    chosen: dict[Ground, list[str]] = {ground: list(FIRST[ground]) for ground in grounds}
    for ground in grounds:
        for color in chosen[ground]:
            nearest[ground] = np.minimum(nearest[ground], shares(pools[ground], color))
    hues = range(int(max(pool.hues.max() for pool in pools.values())) + 1)
    while len(chosen["dark"]) < count:
        best: tuple[float, float, dict[Ground, int]] | None = None
        for hue in hues:
            picks = {g: best_of(pools[g], nearest[g], hue) for g in grounds}
            values = sorted(float(nearest[g][pick]) for g, pick in picks.items())
            if best is None or (values[0], values[1]) > best[:2]:
                best = (values[0], values[1], picks)
        assert best is not None
        for ground, pick in best[2].items():
            color = pools[ground].colors[pick]
            chosen[ground].append(color)
            nearest[ground] = np.minimum(nearest[ground], shares(pools[ground], color))
    return chosen


def best_of(pool: Candidates, nearest: Array, hue: int) -> int:
    """The candidate of one hue that is farthest from all that was chosen."""
    return int(np.argmax(np.where(pool.hues == hue, nearest, -1.0)))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 96
    for ground, colors in choose(count).items():
        print(f'    "{ground}": (')
        later = [color[1:] for color in colors[len(FIRST[ground]) :]]
        for start in range(0, len(later), 14):
            print(f'        "{" ".join(later[start : start + 14])} "')
        print("    ),")


if __name__ == "__main__":
    main()
