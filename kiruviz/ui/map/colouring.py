"""Which colour each row has, for each way of colouring."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kiruviz.palette import Ground, cluster_color, neutral_color
from kiruviz.session.labels import LabelSet
from kiruviz.session.records import SpaceRecord
from kiruviz.ui.map.raster import Pixels, argb
from kiruviz.ui.map.scene import ColorBar

ColorBy = Literal["cluster", "norm", "frequency", "kind"]
COLOR_BY: tuple[tuple[ColorBy, str], ...] = (
    ("cluster", "cluster"),
    ("norm", "norm"),
    ("frequency", "frequency"),
    ("kind", "token kind"),
)
# Stops of viridis (matplotlib's, van der Walt & Smith 2015), an even and colour-blind-safe order of values.
VIRIDIS = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
_BAR_TITLES = {"norm": "Norm of the row", "frequency": "Word frequency (Zipf)"}
_COLUMNS = {"norm": "norm", "frequency": "zipf"}


@dataclass(frozen=True)
class Coloring:
    """(n,) colours, and the legend where there is an order."""

    colors: Pixels
    bar: ColorBar | None = None
    kinds: tuple[tuple[str, str], ...] = ()


def color_rows(record: SpaceRecord, labels: LabelSet | None, by: ColorBy, ground: Ground) -> Coloring:
    """The rows' colours by `by` on `ground`."""
    if by == "cluster":
        return Coloring(_by_cluster(len(record), labels, ground))
    if by == "kind":
        return _by_kind(record.columns["kind"], ground)
    return _by_value(np.asarray(record.columns[_COLUMNS[by]], np.float64), _BAR_TITLES[by], ground)


def _by_cluster(n: int, labels: LabelSet | None, ground: Ground) -> Pixels:
    neutral = argb([neutral_color(ground)])[0]
    if labels is None:
        return np.full(n, neutral, np.uint32)
    # One more place at the end, which the -1 of noise falls on.
    table = np.full(max(labels.clusters, default=0) + 2, neutral, np.uint32)
    coloured = [cluster for cluster in labels.clusters.values() if cluster.status != "resists"]
    table[[c.cluster_id for c in coloured]] = [_shown(c.color, ground) for c in coloured]
    return table[labels.assignment]


@lru_cache(maxsize=4096)
def _shown(color: int, ground: Ground) -> int:
    return int(argb([cluster_color(color, ground)])[0])


def _by_kind(kinds: npt.NDArray[Any], ground: Ground) -> Coloring:
    names, codes, counts = np.unique(kinds, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    table = [neutral_color(ground)] * len(names)
    for place, code in enumerate(order.tolist()):
        table[code] = cluster_color(place, ground)
    legend = tuple((str(names[code]), table[code]) for code in order.tolist())
    return Coloring(argb(table)[codes], kinds=legend)


def _by_value(values: npt.NDArray[np.float64], title: str, ground: Ground) -> Coloring:
    """Low to high along viridis between the 1st and 99th percentile; grey where there is no value."""
    neutral = argb([neutral_color(ground)])[0]
    known = np.isfinite(values)
    colors = np.full(len(values), neutral, np.uint32)
    if not known.any():
        return Coloring(colors)
    low, high = np.percentile(values[known], (1, 99))
    share = np.clip((values[known] - low) / max(high - low, 1e-12), 0, 1)
    colors[known] = _ramp()[np.rint(share * 255).astype(int)]
    return Coloring(colors, ColorBar(title, f"{low:.3g}", f"{high:.3g}", VIRIDIS))


def _ramp() -> Pixels:
    stops = argb(list(VIRIDIS))
    at = np.linspace(0, len(stops) - 1, 256)
    ramp = np.full(256, 0xFF000000, np.uint32)
    for shift in (16, 8, 0):
        channel = ((stops >> np.uint32(shift)) & np.uint32(255)).astype(float)
        ramp |= np.rint(np.interp(at, np.arange(len(stops)), channel)).astype(np.uint32) << np.uint32(shift)
    return ramp
