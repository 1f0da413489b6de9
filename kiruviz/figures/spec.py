"""What a figure shows (`MapPicture`) and how it is laid on paper (`FigureSpec`). No drawing here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.palette import Ground
from kiruviz.space import FloatArray

Theme = Literal["paper", "dark"]
Labels = Literal["auto", "words", "names", "selection", "none"]
Legend = Literal["auto", "right", "below", "none"]
TextAs = Literal["text", "outlines"]
Status = Literal["unnamed", "named", "resists"]

THEMES: tuple[Theme, ...] = ("paper", "dark")
LABELS: tuple[Labels, ...] = ("auto", "words", "names", "selection", "none")
LEGENDS: tuple[Legend, ...] = ("auto", "right", "below", "none")
TEXTS: tuple[TextAs, ...] = ("text", "outlines")

_MM = (20.0, 1000.0)
_DPI = (30, 1200)
_FONT_PT = (3.0, 48.0)
_POINT_PT = (0.05, 40.0)


@dataclass(frozen=True)
class FigureSpec:
    """How a figure is laid on paper; every value is checked, `UserError` names the one that is out of range.

    width_mm, height_mm  size of the whole picture, 20 to 1000 mm
    dpi                  dots an inch of PNG, and of the raster layer of points in SVG and PDF, 30 to 1200
    theme                `paper` (white) or `dark`
    font                 first family of the font list; glyphs it lacks come from DejaVu Sans
    font_size_pt         size of the words; names and title are sized after it
    legend               where clusters (or the colour bar's values) are listed: `right`, `below`, `auto` for where it
                         leaves the map most room, `none` for nowhere; a colour bar always stands at the right
    title                a line above the picture; None takes the picture's own, an empty one leaves it out
    labels               `auto` words and cluster names, `words` or `names` only, `selection` the words of the
                         picture's selected rows and cluster names, `none` neither
    caption              whether a line below says how the picture was made
    point_size           diameter of a point in pt; None chooses one for the number of points
    text                 in SVG and PDF: `text` that can be searched and edited, or its `outlines`
    """

    width_mm: float = 180.0
    height_mm: float = 120.0
    dpi: int = 300
    theme: Theme = "paper"
    font: str = "Inter"
    font_size_pt: float = 7.0
    legend: Legend = "auto"
    title: str | None = None
    labels: Labels = "auto"
    caption: bool = False
    point_size: float | None = None
    text: TextAs = "text"

    def __post_init__(self) -> None:
        _in_range("The figure's width", self.width_mm, _MM, "mm")
        _in_range("The figure's height", self.height_mm, _MM, "mm")
        _in_range("The figure's resolution", self.dpi, _DPI, "dpi")
        _in_range("The figure's font size", self.font_size_pt, _FONT_PT, "pt")
        if self.point_size is not None:
            _in_range("The figure's point size", self.point_size, _POINT_PT, "pt")
        _one_of("theme", self.theme, THEMES)
        _one_of("labels", self.labels, LABELS)
        _one_of("legend", self.legend, LEGENDS)
        _one_of("text", self.text, TEXTS)
        if not self.font.strip():
            raise UserError("The figure's font is empty: give the name of a font, Inter for example.")

    @property
    def ground(self) -> Ground:
        """The ground of the palette that belongs to the theme."""
        return "dark" if self.theme == "dark" else "light"

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> FigureSpec:
        """The figure that `dataclasses.asdict` was kept of; what is not known is left at its default."""
        known = {one.name for one in fields(cls)}
        try:
            return cls(**{name: value for name, value in values.items() if name in known})
        except (TypeError, AttributeError) as error:
            raise UserError(f"The figure's settings cannot be read ({error}): set them anew.") from error

    def preset(self, name: str) -> FigureSpec:
        """The same figure in the size of one of `PRESETS`."""
        if name not in PRESETS:
            raise UserError(f"There is no figure size {name!r}: choose one of {', '.join(PRESETS)}.")
        width, height = PRESETS[name]
        return replace(self, width_mm=width, height_mm=height)


# Name -> width and height in mm.
PRESETS: dict[str, tuple[float, float]] = {
    "One column": (89.0, 80.0),
    "Two columns": (183.0, 120.0),
    "Slide": (254.0, 143.0),
    "Square": (120.0, 120.0),
}


@dataclass(frozen=True)
class ClusterMark:
    """One cluster as a figure shows it.

    title   what the person called it; empty where it has no name (then it goes by its number)
    color   the colour number, see `palette.cluster_color`
    """

    cluster_id: int
    title: str
    status: Status
    color: int

    @property
    def shown(self) -> str:
        """How legend and map call it: its name, `resists naming`, or its number."""
        if self.status == "resists":
            return "resists naming"
        if self.status == "named" and self.title:
            return self.title
        return f"cluster {self.cluster_id}"


@dataclass(frozen=True, eq=False)
class MapPicture:
    """What a map figure shows, whole and ready: nothing is looked up while drawing.

    coords        (n, 2) float32
    names         n exact names
    assignment    (n,) int32 cluster of each row, -1 for noise
    clusters      the clusters in the order of the legend; ids not listed are drawn as noise
    recipe_lines  how the picture was made, for caption and metadata: model, identity, space, metric, method,
                  parameters, seed, versions and so on
    title         what the picture is of: drawn where the spec gives no other, and kept in the metadata
    values        (n,) float to colour by instead of by cluster (NaN: no value), called `value_name`
    view          (x0, y0, x1, y1) in data units to show, None for everything
    selected      positions of the rows whose words `labels="selection"` shows
    origin        everything the picture was made from, as JSON values: kept in the file, so that it can be made again
    rest          what the legend calls rows in no cluster
    """

    coords: FloatArray
    names: tuple[str, ...]
    assignment: npt.NDArray[np.int32]
    clusters: tuple[ClusterMark, ...] = ()
    recipe_lines: dict[str, str] = field(default_factory=dict)
    title: str = ""
    values: npt.NDArray[Any] | None = None
    value_name: str = ""
    view: tuple[float, float, float, float] | None = None
    selected: tuple[int, ...] = ()
    origin: dict[str, Any] = field(default_factory=dict)
    rest: str = "no cluster"

    def __post_init__(self) -> None:
        n = len(self.names)
        if self.coords.shape != (n, 2):
            raise ValueError(f"coords has shape {self.coords.shape}, expected ({n}, 2)")
        for what, got in (("assignment", self.assignment), ("values", self.values)):
            if got is not None and got.shape != (n,):
                raise ValueError(f"{what} has shape {got.shape}, expected ({n},)")
        if self.view is not None and not (self.view[0] < self.view[2] and self.view[1] < self.view[3]):
            raise ValueError(f"the view {self.view} is empty")
        if self.selected and not 0 <= min(self.selected) <= max(self.selected) < n:
            raise ValueError(f"the selection reaches beyond {n} rows")

    def __len__(self) -> int:
        return len(self.names)


def _in_range(what: str, value: float, limits: tuple[float, float], unit: str) -> None:
    low, high = limits
    if not (math.isfinite(value) and low <= value <= high):
        raise UserError(f"{what} of {value:g} {unit} is out of range: give {low:g} to {high:g} {unit}.")


def _one_of(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UserError(f"The figure's {what} {value!r} is not known: choose {' or '.join(allowed)}.")
