"""Figures, tables and labels from a session: the same functions for the window and `kiruviz export`."""

from __future__ import annotations

import base64
import hashlib
import json
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from kiruviz.analysis.grouping import ClusterSpec, rest_title
from kiruviz.errors import UserError
from kiruviz.figures import files, fonts, label_files, map_figure, tables
from kiruviz.figures.label_files import Label, Labels
from kiruviz.figures.paper import Preview
from kiruviz.figures.recipe import FORMATS
from kiruviz.figures.spec import ClusterMark, FigureSpec, MapPicture
from kiruviz.progress import Progress
from kiruviz.session.labels import ASIDE, Assignment, Cluster, LabelSet
from kiruviz.session.records import ProjectionRecord, SpaceRecord
from kiruviz.session.store import Session
from kiruviz.tasks.kept_figure import MapView as MapView
from kiruviz.tasks.kept_figure import kept_figure
from kiruviz.tasks.saved_views import SavedView, shown_by

# What can be written, by suffix.
SESSION_SUFFIXES = (".kiru",)
FIGURE_SUFFIXES = FORMATS
TABLE_SUFFIXES = (".csv", ".parquet")
LABEL_SUFFIXES = label_files.SUFFIXES

# What the map can be coloured by besides the clusters: column and name in the legend.
VALUE_COLUMNS = {"norm": ("norm", "Norm of the row"), "frequency": ("zipf", "Word frequency (Zipf)")}


@dataclass(frozen=True, eq=False)
class SessionMap:
    """The map a session shows: its rows, their places and their labels."""

    record: SpaceRecord
    projection: ProjectionRecord
    labels: LabelSet | None


def read_map(session: Session, view_name: str | None = None) -> tuple[SessionMap, MapView]:
    """The current map of a session and how it was last looked at, or the saved view `view_name` on its own rows.

    Raises UserError where the session holds no map, or no view of that name.
    """
    values = session.view("map", {})
    if view_name is not None:
        saved = session.saved_views
        if view_name not in saved:
            known = ", ".join(saved) or "none"
            raise UserError(f"{session.path} has no view named “{view_name}”; it has {known}.")
        values = saved[view_name]
    kept = SavedView.of(values)
    shown = shown_by(session, kept)
    if shown is None or shown.projection is None:
        raise UserError(f"{session.path} holds no map yet; open it, let the map be drawn, and save it.")
    view = MapView.from_json(values) if view_name is None else kept.look(shown)
    return SessionMap(session.space(shown.space_id), shown.projection, shown.labels), view


def read_figure(session: Session, view_name: str | None = None) -> tuple[SessionMap, MapView, FigureSpec]:
    """The current map, and the view and settings of the session's last figure; without one, how the map was
    last looked at. A saved view `view_name` takes the place of the view. Raises as `read_map`."""
    found, view = read_map(session, view_name)
    settings = kept_figure(session, found.projection, view)
    if settings is None:
        return found, view, FigureSpec()
    return found, settings.shown if view_name is None else view, settings.spec


def picture(found: SessionMap, view: MapView) -> MapPicture:
    """What a figure of the map shows."""
    record = found.record
    assignment, clusters = _by_kind(record) if view.color_by == "kind" else _by_cluster(found)
    values, value_name = None, ""
    if view.color_by in VALUE_COLUMNS:
        column, value_name = VALUE_COLUMNS[view.color_by]
        values = np.asarray(record.columns[column], np.float64)
    return MapPicture(
        coords=found.projection.coords[:, :2],
        names=record.names,
        assignment=assignment,
        clusters=clusters,
        recipe_lines=recipe_lines(found),
        title=f"{record.model_title}: {record.recipe.rows.title}",
        values=values,
        value_name=value_name,
        view=view.rectangle,
        selected=view.selected,
        origin=origin_of(found, view),
        rest=rest_title(found.labels.method) if found.labels is not None else "no cluster",
    )


def _by_cluster(found: SessionMap) -> tuple[Assignment, tuple[ClusterMark, ...]]:
    labels = found.labels
    if labels is None:
        return np.full(len(found.record), -1, np.int32), ()
    clusters = (labels.clusters[i] for i in labels.order)
    return labels.assignment, tuple(ClusterMark(c.cluster_id, c.name, c.status, c.color) for c in clusters)


def _by_kind(record: SpaceRecord) -> tuple[Assignment, tuple[ClusterMark, ...]]:
    """Token kinds in place of clusters, the most frequent first, as the window colours them."""
    names, codes, counts = np.unique(record.columns["kind"], return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    marks = tuple(ClusterMark(i, str(names[code]), "named", i) for i, code in enumerate(order.tolist()))
    return place[codes], marks


def recipe_lines(found: SessionMap) -> dict[str, str]:
    """How the map was made, in words: for captions, metadata and label files."""
    projection, labels = found.projection, found.labels
    lines = space_lines(found.record)
    versions = lines.pop("versions")
    lines |= {"method": projection.method.upper(), "parameters": _parameters(projection.params)}
    if labels is not None:
        spec = ClusterSpec.read(labels.method, labels.params)
        lines["clusters"] = spec.describe() if spec else f"{labels.method}, {_parameters(labels.params)}"
    return lines | {"versions": versions}


def space_lines(record: SpaceRecord) -> dict[str, str]:
    """What the rows are and where they come from, in words."""
    recipe = record.recipe
    return {
        "model": record.model_title,
        "identity": recipe.identity,
        "space": f"{'input' if recipe.kind == 'token' else 'output'} embedding",
        "rows": f"{recipe.rows.title}, {len(record):,} rows",
        "transform": recipe.transform.describe(),
        "versions": ", ".join(f"{name} {version}" for name, version in sorted(record.versions.items())),
    }


def origin_of(found: SessionMap, view: MapView) -> dict[str, Any]:
    """All that a figure of the map is made from, as JSON values; `remake` makes the map again from it.

    Vectors and places are not in it, since recipe, method and parameters give them again; notes and confidence
    are the person's own business and no part of a picture.
    """
    record, projection, labels = found.record, found.projection, found.labels
    return {
        "kiruviz_figure": 1,
        "kind": "map",
        "recipe": json.loads(replace(record.recipe, model=portable(record.recipe.model)).to_json()),
        "model_title": record.model_title,
        "versions": record.versions,
        "projection": {"method": projection.method, "params": projection.params, "places": digest(projection.coords)},
        "clusters": None if labels is None else _packed_clusters(labels),
        "view": view.to_json(),
    }


def _packed_clusters(labels: LabelSet) -> dict[str, Any]:
    packed = zlib.compress(labels.assignment.astype("<i4").tobytes(), 9)
    return {
        "method": labels.method,
        "params": labels.params,
        "assignment": base64.b64encode(packed).decode("ascii"),
        "labels": [[c.cluster_id, c.status, c.name, c.color] for c in (labels.clusters[i] for i in labels.order)],
    }


def digest(coords: np.ndarray[Any, Any]) -> str:
    """What tells two sets of coordinates apart, bit for bit."""
    return hashlib.sha256(np.ascontiguousarray(coords, "<f4").tobytes()).hexdigest()[:16]


def portable(ref: str) -> str:
    """A model's reference as it may be passed on: a path from the home folder on, without naming it."""
    path = Path(ref).expanduser()
    try:
        if path.exists():
            return (Path("~") / path.resolve().relative_to(Path.home().resolve())).as_posix()
    except (OSError, ValueError):  # not below the home folder, or no path at all
        return str(path.resolve()) if path.is_absolute() else ref
    return ref


def _parameters(params: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in params.items() if value is not None)


def check_outputs(outputs: Sequence[tuple[Path | None, tuple[str, ...]]], overwrite: bool) -> None:
    """Raise UserError, before anything is computed or written, where one of several files could not be written.

    outputs  path (None: not wanted) and the suffixes it may have
    """
    wanted = [(path, suffixes) for path, suffixes in outputs if path is not None]
    for path, suffixes in wanted:
        if path.suffix.lower() not in suffixes:
            raise UserError(f"{path} should end in {' or '.join(suffixes)}, which says the format.")
        files.refuse(path, overwrite)
    places = [path.resolve() for path, _ in wanted]
    for i, (path, _) in enumerate(wanted):
        if places[i] in places[:i]:
            raise UserError(f"{path} is named for two outputs; give each a file of its own.")


@dataclass(frozen=True)
class _Label:
    """A cluster as tables take it: no confidence is None, an empty field."""

    cluster_id: int
    title: str
    name: str
    status: str
    confidence: int | None
    note: str

    @classmethod
    def of(cls, cluster: Cluster) -> _Label:
        return cls(
            cluster.cluster_id,
            cluster.title,
            cluster.name,
            cluster.status,
            cluster.confidence or None,
            cluster.note,
        )


def export_figure(
    progress: Progress,
    session_path: str,
    out: str,
    spec: FigureSpec,
    view: MapView | None = None,
    overwrite: bool = False,
    view_name: str | None = None,
) -> str:
    """Write the session's map as PNG, SVG or PDF, by default as it was last looked at; the path written."""
    progress.report(None, "Drawing the figure")
    return str(map_figure.save(_picture(session_path, view, view_name), spec, Path(out), overwrite))


def preview_figure(progress: Progress, session_path: str, spec: FigureSpec, view: MapView, width: int) -> Preview:
    """The figure as PNG `width` pixels wide, by the same drawing as the export."""
    progress.report(None, "Drawing the figure")
    return map_figure.preview(_picture(session_path, view), spec, width)


def copy_figure(
    progress: Progress, session_path: str, spec: FigureSpec, view: MapView, width: int, as_svg: bool
) -> tuple[bytes, bytes]:
    """The figure for the clipboard: PNG `width` pixels wide and, `as_svg`, the SVG file; else no bytes."""
    progress.report(None, "Drawing the figure")
    shown = _picture(session_path, view)
    png = map_figure.preview(shown, spec, width).png
    if not as_svg:
        return png, b""
    with tempfile.TemporaryDirectory(prefix="kiruviz-") as folder:
        return png, map_figure.save(shown, spec, Path(folder) / "figure.svg").read_bytes()


def figure_fonts(progress: Progress) -> tuple[str, ...]:
    """The font families of this computer that figures can be written in, Inter first."""
    progress.report(None, "Looking for fonts")
    return fonts.installed()


def _picture(session_path: str, view: MapView | None, view_name: str | None = None) -> MapPicture:
    """The map of the session, or the one that its saved view is of, looked at as in `view`."""
    with Session.open_readonly(session_path) as session:
        found, kept = read_map(session, view_name)
    return picture(found, view if view is not None else kept)


def export_table(
    progress: Progress, session_path: str, out: str, overwrite: bool = False, view_name: str | None = None
) -> str:
    """Write one row a word, as CSV or Parquet; the path written."""
    progress.report(None, "Writing the table")
    with Session.open_readonly(session_path) as session:
        found, _ = read_map(session, view_name)
    record, labels = found.record, found.labels
    columns = tables.map_table(
        record.row_ids,
        record.names,
        record.columns["pieces"],
        found.projection.coords,
        labels.assignment if labels is not None else np.full(len(record), -1, np.int32),
        [_Label.of(c) for c in labels.clusters.values()] if labels is not None else [],
    )
    return str(tables.write_table(Path(out), columns, overwrite))


def export_labels(
    progress: Progress, session_path: str, out: str, overwrite: bool = False, view_name: str | None = None
) -> str:
    """Write the labels with their members, as CSV, JSON or a page to print; the path written."""
    progress.report(None, "Writing the labels")
    with Session.open_readonly(session_path) as session:
        found, _ = read_map(session, view_name)
    if found.labels is None:
        raise UserError(f"{session_path} has no clusters yet, so there are no labels to write.")
    labels = labels_to_write(found.record, found.labels, recipe_lines(found))
    return str(label_files.write_labels(Path(out), labels, overwrite))


def labels_to_write(record: SpaceRecord, labels: LabelSet, recipe: dict[str, str]) -> Labels:
    """Labels as files hold them: enough to come back exactly."""

    def rows(cluster_id: int) -> tuple[tuple[str, ...], tuple[int | None, ...]]:
        members = labels.members(cluster_id)
        ids = record.row_ids[members].tolist()
        return tuple(record.names[i] for i in members.tolist()), tuple(None if i < 0 else i for i in ids)

    clusters = (labels.clusters[i] for i in labels.order)
    made = tuple(
        Label(c.cluster_id, c.name, c.status, c.confidence or None, c.note, *rows(c.cluster_id), c.color)
        for c in clusters
    )
    without = rows(ASIDE)
    return Labels(made, recipe, label_files.aside(*without) if without[0] else None)


@dataclass(frozen=True)
class ExportOrder:
    """What `kiruviz export` writes of a session, or again of a figure; `view` names a saved view.

    changes  settings of the figure (names of `FigureSpec`) that differ from those of the last one
    whole    the whole map, whatever part of it the view shows
    model    where the model of a figure is now, None for where it was
    """

    source: Path
    view: str | None = None
    figure: Path | None = None
    table: Path | None = None
    labels: Path | None = None
    overwrite: bool = False
    changes: dict[str, Any] = field(default_factory=dict)
    whole: bool = False
    model: str | None = None


@dataclass(frozen=True)
class Exported:
    """The paths written, and sentences on what a person should know of them."""

    written: tuple[str, ...]
    notes: tuple[str, ...] = ()


def export(progress: Progress, order: ExportOrder) -> Exported:
    """Write all that was asked for of a session."""
    outputs = ((order.figure, FIGURE_SUFFIXES), (order.table, TABLE_SUFFIXES), (order.labels, LABEL_SUFFIXES))
    if not (order.figure or order.table or order.labels):
        raise UserError("Say what to export: --figure F, --table F, --labels F, --projector DIR, --atlas F or --npz F.")
    check_outputs(outputs, order.overwrite)
    if order.model is not None:
        raise UserError(f"{order.source} is a session, which needs no --model to be exported.")
    path, written = str(order.source), []
    with Session.open_readonly(path) as session:
        _, view, spec = read_figure(session, order.view)  # refuses before the first file is written
    if order.figure:
        view = replace(view, rectangle=None) if order.whole else view
        spec = replace(spec, **order.changes)
        written.append(export_figure(progress, path, str(order.figure), spec, view, order.overwrite, order.view))
    if order.table:
        written.append(export_table(progress, path, str(order.table), order.overwrite, order.view))
    if order.labels:
        written.append(export_labels(progress, path, str(order.labels), order.overwrite, order.view))
    return Exported(tuple(written))
