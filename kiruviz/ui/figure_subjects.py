"""What a figure can be made of: how it is previewed, copied and written, and where its settings are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from kiruviz.figures.curve_figure import CurvePicture
from kiruviz.figures.spec import FigureSpec
from kiruviz.session.records import ProjectionRecord
from kiruviz.session.store import Session
from kiruviz.tasks import curves, exports
from kiruviz.tasks.kept_figure import FigureSettings, MapView, keep_curve, keep_figure, kept_curve, kept_figure


class Subject(Protocol):
    """A picture of the window, as the export dialog takes it.

    heading, name  the dialog's title, and what its file is called at first
    settings       what the dialog begins with
    """

    heading: str
    name: str
    is_map: bool
    settings: FigureSettings

    def preview(self, settings: FigureSettings, width: int) -> tuple[Any, ...]:
        """The task that gives a `Preview`, and its arguments."""

    def copy(self, settings: FigureSettings, width: int, as_svg: bool) -> tuple[Any, ...]:
        """The task that gives PNG and SVG bytes, and its arguments."""

    def write(self, settings: FigureSettings, out: str) -> tuple[Any, ...]:
        """The task that writes the file `out`, and its arguments but `overwrite`."""

    def keep(self, settings: FigureSettings) -> None:
        """Remember the settings for the next figure."""


class MapSubject:
    """The map of a session, looked at as `view` says; its settings are kept in the session."""

    heading = "Export figure"
    name = "map"
    is_map = True

    def __init__(self, session: Session, shown: ProjectionRecord, view: MapView) -> None:
        self._session = session
        self._shown = shown
        kept = kept_figure(session, shown, view)
        # The picture follows the window; everything else is as it was left.
        first = FigureSettings(FigureSpec().preset("Two columns"))
        self.settings = replace(kept or first, view=view)

    def preview(self, settings: FigureSettings, width: int) -> tuple[Any, ...]:
        return exports.preview_figure, str(self._session.path), settings.spec, settings.shown, width

    def copy(self, settings: FigureSettings, width: int, as_svg: bool) -> tuple[Any, ...]:
        return exports.copy_figure, str(self._session.path), settings.spec, settings.shown, width, as_svg

    def write(self, settings: FigureSettings, out: str) -> tuple[Any, ...]:
        return exports.export_figure, str(self._session.path), out, settings.spec, settings.shown

    def keep(self, settings: FigureSettings) -> None:
        keep_figure(self._session, settings, self._shown)


class CurveSubject:
    """A curve beside the map; its settings are kept in the session, apart from the map's."""

    heading = "Export curve"
    name = "curve"
    is_map = False

    def __init__(self, session: Session, curve: CurvePicture) -> None:
        self._session = session
        self._curve = curve
        self.settings = kept_curve(session) or FigureSettings(FigureSpec(89.0, 60.0))

    def preview(self, settings: FigureSettings, width: int) -> tuple[Any, ...]:
        return curves.preview_curve, self._curve, settings.spec, width

    def copy(self, settings: FigureSettings, width: int, as_svg: bool) -> tuple[Any, ...]:
        return curves.copy_curve, self._curve, settings.spec, width, as_svg

    def write(self, settings: FigureSettings, out: str) -> tuple[Any, ...]:
        return curves.export_curve, self._curve, out, settings.spec

    def keep(self, settings: FigureSettings) -> None:
        keep_curve(self._session, settings)
