"""How a session's last figure was made, kept in the session: to be made again with the window or without."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from kiruviz.errors import UserError
from kiruviz.figures.spec import FigureSpec
from kiruviz.session.records import ProjectionRecord
from kiruviz.session.store import Session

_KEY = "figure"
_CURVE_KEY = "curve_figure"
Area = Literal["all", "view"]


@dataclass(frozen=True)
class MapView:
    """How the map is looked at: `color_by` (`cluster`, `norm`, `frequency`, `kind`), the data rectangle
    x0, y0, x1, y1, None for all of it, and the positions of the rows `selected`."""

    color_by: str = "cluster"
    rectangle: tuple[float, float, float, float] | None = None
    selected: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> MapView:
        """What `to_json` gave, or what the window keeps of a view."""
        rectangle = values.get("rectangle")
        return cls(
            values.get("color_by", "cluster"),
            tuple(rectangle) if rectangle else None,
            tuple(int(row) for row in values.get("selected", ())),
        )


@dataclass(frozen=True)
class FigureSettings:
    """All that the figure dialog sets. `area` `view` is the part of the map that was on screen."""

    spec: FigureSpec = field(default_factory=FigureSpec)
    view: MapView = field(default_factory=MapView)
    area: Area = "all"
    format: str = "svg"
    unit: str = "mm"

    @property
    def shown(self) -> MapView:
        """The view as the figure shows it, without what it does not need."""
        return MapView(
            self.view.color_by,
            self.view.rectangle if self.area == "view" else None,
            self.view.selected if self.spec.labels == "selection" else (),
        )


def keep_figure(session: Session, settings: FigureSettings, shown: ProjectionRecord) -> None:
    """Keep how a figure of the projection `shown` was made."""
    view = replace(settings.view, selected=settings.shown.selected)
    session.set_view(_KEY, asdict(settings) | {"view": view.to_json(), "of": _of(shown)})


def kept_figure(session: Session, shown: ProjectionRecord | None, now: MapView) -> FigureSettings | None:
    """The settings kept last, None where there are none or they cannot be read.

    A rectangle belongs to the projection it was kept for, and a selection to its rows; where the map shows
    others, those of the view `now` take their place.
    """
    values = session.view(_KEY)
    try:
        view = MapView.from_json(values["view"])
        settings = FigureSettings(
            FigureSpec.from_json(values["spec"]), view, values["area"], values["format"], values["unit"]
        )
        of = values["of"]
    except (LookupError, TypeError, ValueError, AttributeError, UserError):
        return None
    if shown is None or of["space"] != shown.space_id:
        return replace(settings, view=replace(view, rectangle=now.rectangle, selected=now.selected))
    if of != _of(shown):
        return replace(settings, view=replace(view, rectangle=now.rectangle))
    return settings


def keep_curve(session: Session, settings: FigureSettings) -> None:
    """Keep how a figure of a curve was made."""
    session.set_view(_CURVE_KEY, asdict(settings))


def kept_curve(session: Session) -> FigureSettings | None:
    """The settings of the last curve, None where there are none or they cannot be read."""
    values = session.view(_CURVE_KEY)
    try:
        return FigureSettings(FigureSpec.from_json(values["spec"]), format=values["format"], unit=values["unit"])
    except (LookupError, TypeError, UserError):
        return None


def _of(shown: ProjectionRecord) -> dict[str, Any]:
    return {"space": shown.space_id, "method": shown.method, "params": shown.params}
