"""What the canvas shows: plain data, set by the map's controller and read by the painter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from kiruviz.space import display_name


def _no_rows() -> npt.NDArray[np.int64]:
    return np.zeros(0, np.int64)


@dataclass(frozen=True)
class NameMark:
    """A cluster's name on the map: where it belongs (data coordinates), what it says, how it looks."""

    cluster_id: int
    text: str
    x: float
    y: float
    color: str
    italic: bool
    size: int


class ShownWords(Sequence[str]):
    """Row names as words of the map, each made when it is asked for: of 50,000 a look shows a few hundred."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._shown: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, row: int) -> str: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...

    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return ShownWords(self._names[row])
        word = self._shown.get(row)
        if word is None:
            word = self._shown[row] = _word(self._names[row])
        return word


def _word(name: str) -> str:
    """A word as it stands on the map: without the mark of a leading space, which nearly all have there."""
    shown = display_name(name)
    return shown[1:] if shown.startswith("·") and len(shown) > 1 else shown


@dataclass
class Scene:
    """Everything on the map.

    coords      (n, 2) float32 data coordinates
    names       n shown names (`display_name`)
    colors      (n,) uint32 0xAARRGGBB, the colour of each point
    importance  (n,) which names are shown first where there is room for few
    lit         rows a search found; others are dimmed while there are any
    selected    rows of the selected cluster or lasso, drawn larger and on top
    cluster     the selected cluster, whose name is placed first
    dimmed      whether what is not selected is dimmed: where clusters share colours the colour alone does not tell
    focus       the row whose neighbours are shown, or None
    marks       cluster names
    """

    coords: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 2), np.float32))
    names: Sequence[str] = ()
    colors: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    importance: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    lit: npt.NDArray[np.int64] = field(default_factory=_no_rows)
    selected: npt.NDArray[np.int64] = field(default_factory=_no_rows)
    cluster: int | None = None
    dimmed: bool = False
    focus: int | None = None
    marks: tuple[NameMark, ...] = ()
    bar: ColorBar | None = None
    note: str = ""


@dataclass(frozen=True)
class ColorBar:
    """The legend of an ordered colouring: `stops` are `#rrggbb` from low to high."""

    title: str
    low: str
    high: str
    stops: tuple[str, ...]


@dataclass(frozen=True)
class Annotations:
    """Placed words and names: what the painter draws, in pixels."""

    rows: npt.NDArray[np.int64] = field(default_factory=_no_rows)
    boxes: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 4)))
    marks: tuple[tuple[NameMark, Any, bool], ...] = ()
