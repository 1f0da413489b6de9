"""A map made again from one of its figures: the file says how, the model is opened and everything computed anew."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kiruviz.errors import UserError
from kiruviz.figures import curve_figure, map_figure
from kiruviz.figures.curve_figure import CurvePicture
from kiruviz.figures.recipe import read_origin
from kiruviz.figures.spec import FigureSpec
from kiruviz.models.starters import STARTERS
from kiruviz.progress import Progress
from kiruviz.session.labels import Cluster, LabelSet
from kiruviz.session.records import ProjectionRecord, SpaceRecord
from kiruviz.session.store import Session
from kiruviz.space import Recipe
from kiruviz.tasks import maps, spaces
from kiruviz.tasks.exports import (
    FIGURE_SUFFIXES,
    Exported,
    ExportOrder,
    SessionMap,
    check_outputs,
    digest,
    picture,
)
from kiruviz.tasks.kept_figure import FigureSettings, MapView, keep_figure


@dataclass(frozen=True, eq=False)
class Remade:
    """The map of a figure, how the figure showed it, and what a person should know of the making."""

    found: SessionMap
    view: MapView
    spec: FigureSpec
    notes: tuple[str, ...]


def remake(progress: Progress, path: Path, model: str | None = None) -> Remade:
    """Make the map of the figure `path` again; `model` says where its model is now, None where it was.

    Raises UserError where the file holds no such recipe, and where the model is not there or is another one.
    """
    origin = read_origin(path)
    if origin.get("kind") == "curve":
        raise UserError(f"{path} shows a curve: a map can be made again from a figure of a map only.")
    try:
        recipe = Recipe.from_json(json.dumps(origin["recipe"]))
        projection, view = origin["projection"], MapView.from_json(origin["view"])
        spec, labels = FigureSpec.from_json(origin["spec"]), _labels(origin["clusters"])
        method, params, places = projection["method"], projection["params"], projection["places"]
    except (LookupError, TypeError, ValueError, AttributeError, zlib.error) as error:
        raise UserError(f"{path} holds a recipe that cannot be read: make the picture again.") from error
    record = _record(progress, path, recipe, model)
    if labels is not None and len(labels.assignment) != len(record):
        raise UserError(
            f"{path} shows {len(labels.assignment):,} rows, its recipe gives {len(record):,}: export it anew."
        )
    coords = maps.project(progress, record.recipe, method, params).coords
    found = SessionMap(record, ProjectionRecord(0, 0, method, params, coords, 0.0), labels)
    return Remade(found, _within(view, len(record)), spec, _notes(path, digest(coords) == places, origin, record))


def _within(view: MapView, n: int) -> MapView:
    return replace(view, selected=tuple(row for row in view.selected if 0 <= row < n))


def _labels(kept: dict[str, Any] | None) -> LabelSet | None:
    if kept is None:
        return None
    assignment = np.frombuffer(zlib.decompress(base64.b64decode(kept["assignment"])), "<i4")
    clusters = {
        int(number): Cluster(int(number), status, str(name), color=int(color))
        for number, status, name, color in kept["labels"]
    }
    return LabelSet(0, 0, kept["method"], kept["params"], assignment, clusters)


def _record(progress: Progress, path: Path, recipe: Recipe, model: str | None) -> SpaceRecord:
    """The rows of `recipe`, looked up in the model it names, in a starter that is the same, or in `model`."""
    other = ""
    for ref in (model,) if model is not None else dict.fromkeys((recipe.model, *STARTERS)):
        try:
            identity = spaces.open_model(progress, ref).card.identity
        except UserError:
            continue
        if identity == recipe.identity:
            return spaces.pack_space(progress, replace(recipe, model=ref)).record
        other = other or ref
    named = model or recipe.model
    if other == named:
        raise UserError(
            f"{named} is not the model that {path.name} was made from (its identity differs): "
            "name the right one with --model."
        )
    raise UserError(f"The model of {path.name} is not at {named}: name its place with --model.")


def _notes(path: Path, same: bool, origin: dict[str, Any], record: SpaceRecord) -> tuple[str, ...]:
    if same:
        return ()
    then = origin.get("versions") or {}
    changed = [f"{name} {then[name]} then, {now} now" for name, now in record.versions.items() if then.get(name) != now]
    why = "; ".join(changed) or "another machine"
    return (f"the places differ in their last digits or more from those of {path.name} ({why})",)


def export_again(progress: Progress, order: ExportOrder) -> Exported:
    """Write the figure that `order` asks for, made again from the figure it names."""
    if order.table or order.labels or order.view:
        asked = "--table" if order.table else "--labels" if order.labels else "--view"
        raise UserError(f"{order.source} is a figure, which gives no {asked}: name the session, or ask for --figure.")
    if order.figure is None:
        raise UserError("Say what to export: --figure F.")
    check_outputs(((order.figure, FIGURE_SUFFIXES),), order.overwrite)
    if read_origin(order.source).get("kind") == "curve":
        return _curve_again(order, order.figure)
    made = remake(progress, order.source, order.model)
    view = replace(made.view, rectangle=None) if order.whole else made.view
    progress.report(None, "Drawing the figure")
    spec = replace(made.spec, **order.changes)
    written = map_figure.save(picture(made.found, view), spec, order.figure, order.overwrite)
    return Exported((str(written),), made.notes)


def open_figure(progress: Progress, path: str) -> tuple[str, tuple[str, ...]]:
    """The map of a figure in a new untitled session: the session's path, and what a person should know of it."""
    made = remake(progress, Path(path))
    found, labels = made.found, made.found.labels
    with Session.untitled() as session:
        space_id = session.add_space(found.record)
        session.set_view("space_id", space_id)
        session.set_view("map", {"color_by": made.view.color_by, "rectangle": made.view.rectangle})
        session.add_projection(space_id, found.projection.method, found.projection.params, found.projection.coords)
        shown = session.projections(space_id)[-1]
        keep_figure(session, FigureSettings(made.spec, made.view, "view" if made.view.rectangle else "all"), shown)
        if labels is not None:
            session.set_clusters(space_id, labels.method, labels.params, labels.assignment, given=labels.clusters)
        return str(session.path), made.notes


def _curve_again(order: ExportOrder, out: Path) -> Exported:
    """A curve's points are in its file: it needs no model."""
    origin = read_origin(order.source)
    try:
        curve, spec = CurvePicture.from_json(origin["curve"]), FigureSpec.from_json(origin["spec"])
    except (LookupError, TypeError, ValueError) as error:
        raise UserError(f"{order.source} holds a recipe that cannot be read: make the picture again.") from error
    return Exported((str(curve_figure.save(curve, replace(spec, **order.changes), out, order.overwrite)),))
