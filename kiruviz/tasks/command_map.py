"""What `kiruviz map` does: the window's jobs one after the other, and their results in files."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np

from kiruviz.analysis.grouping import (
    COSINE_MEANS,
    PARAMS,
    TITLES,
    ClusterMethod,
    ClusterMetric,
    ClusterSpec,
    cluster_spec,
    rest_title,
)
from kiruviz.errors import UserError
from kiruviz.figures.spec import FigureSpec
from kiruviz.models.rows import read_words
from kiruviz.paths import resource
from kiruviz.progress import Progress
from kiruviz.session.records import ProjectionRecord, SpaceRecord
from kiruviz.session.store import Session
from kiruviz.space import Kind, PieceRule, Recipe, Rows, Transform, display_name
from kiruviz.tasks import exports, maps, spaces
from kiruviz.tasks.colors import with_colors
from kiruviz.tasks.kept_figure import FigureSettings, keep_figure
from kiruviz.tasks.maps import ClusterOutcome, Method, ProjectionOutcome

_MOST_WORDS = 20  # words named in a note; all of them are in the JSON
_PIECES = {"mean": "the mean of their rows", "first": "the row of their first token", "leave_out": "left out"}


@dataclass(frozen=True)
class MapOrder:
    """What to map and what to write; `params` and `cluster_params` are NAME=VALUE texts. Without `clusters` a
    method that asks for a number of them takes its default, and without a metric the method's own."""

    model: str
    kind: Kind = "token"
    words: Path | None = None
    whole: bool = False
    pieces: PieceRule = "mean"
    transform: Transform = field(default_factory=Transform)
    method: Method = "pca"
    params: tuple[str, ...] = ()
    cluster_method: ClusterMethod = "kmeans"
    cluster_metric: ClusterMetric | None = None
    cluster_params: tuple[str, ...] = ()
    clusters: int | None = None
    seed: int = 0
    session: Path | None = None
    figure: Path | None = None
    table: Path | None = None
    overwrite: bool = False
    spec: FigureSpec = field(default_factory=FigureSpec)


@dataclass(frozen=True)
class ClusterLine:
    """One cluster: `nearest` are the exact names of the rows nearest its centre."""

    cluster_id: int
    size: int
    nearest: tuple[str, ...]


@dataclass(frozen=True)
class WordLeftOut:
    word: str
    reason: str


@dataclass(frozen=True)
class MapSummary:
    """What was made, for people and as JSON. `notes` are sentences for people on what `several_pieces` (words of
    several tokens) and `left_out` list. `noise` counts the rows in no cluster."""

    model: str
    identity: str
    rows: int
    size: int
    transform: str
    method: str
    params: dict[str, Any]
    clusters: tuple[ClusterLine, ...]
    clustering: dict[str, Any]
    noise: int
    several_pieces: tuple[str, ...]
    left_out: tuple[WordLeftOut, ...]
    written: tuple[str, ...]
    notes: tuple[str, ...]

    def sentence(self) -> str:
        return f"{self.model}: {self.rows:,} rows of {self.size}, {self.transform}, {self.method.upper()}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def make_map(progress: Progress, order: MapOrder) -> MapSummary:
    """Make the map in a session (a file if one is asked for) and write figure and table from it."""
    outputs = (
        (order.session, exports.SESSION_SUFFIXES),
        (order.figure, exports.FIGURE_SUFFIXES),
        (order.table, exports.TABLE_SUFFIXES),
    )
    exports.check_outputs(outputs, order.overwrite)
    recipe = Recipe(order.model, kind=order.kind, rows=_rows(order), transform=order.transform)
    info = spaces.open_model(progress, order.model)
    if order.kind not in info.kinds:
        raise UserError(f"{info.card.name} has no {order.kind} embedding; it has {', '.join(info.kinds)}.")
    record = spaces.build_space(progress, recipe)
    recipe = record.recipe
    params = _seeded(order) | parse_params(order.method, order.params, len(record))
    # Clusters before the map: they are quick, and what is wrong with their numbers shows at once.
    grouped = maps.cluster(progress, recipe, clustering_of(order))
    projected = maps.project(progress, recipe, order.method, params)
    grouped = with_colors(progress, grouped, None, lambda: projected.coords)
    found = maps.describe_clusters(progress, recipe, grouped.assignment, grouped.spec.metric)
    counted = spaces.count_rows(progress, order.model, recipe.rows)
    several = tuple(name for name, n in zip(record.names, record.columns["pieces"], strict=True) if n > 1)
    left_out = tuple(WordLeftOut(word, reason) for word, reason in counted.dropped)
    return MapSummary(
        model=info.card.name,
        identity=info.card.identity,
        rows=len(record),
        size=info.card.hidden_size,
        transform=recipe.transform.describe(),
        method=projected.method,
        params=projected.params,
        clusters=tuple(ClusterLine(c, e.size, tuple(record.names[i] for i in e.nearest[:8])) for c, e in found.items()),
        clustering={"method": grouped.spec.method, "metric": grouped.spec.metric, **asdict(grouped.spec.params)},
        noise=int(np.count_nonzero(grouped.assignment < 0)),
        several_pieces=several,
        left_out=left_out,
        written=_write(progress, order, record, projected, grouped),
        notes=(
            *_cluster_notes(grouped),
            *_notes(projected, recipe, several, left_out),
            *_rows_notes(recipe),
        ),
    )


def parse_params(method: Method, texts: Sequence[str], n_rows: int) -> dict[str, Any]:
    """NAME=VALUE texts as parameters, each read as the type of its default.

    Raises UserError naming the text for an unknown name or a value of another type.
    """
    defaults = maps.default_params(method, n_rows)
    params: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in defaults:
            known = ", ".join(defaults)
            raise UserError(f"“{text}” is not a parameter of {method}; write NAME=VALUE with one of: {known}.")
        params[name] = _value(text, value, defaults[name])
    return params


def clustering_of(order: MapOrder) -> ClusterSpec:
    """The clusterer that an order asks for.

    Raises UserError naming the text for a parameter that the method has not, or of another type, and for a number
    of clusters where the method finds it itself.
    """
    method, kind = order.cluster_method, PARAMS[order.cluster_method]
    known = [one.name for one in fields(kind)]
    params: dict[str, Any] = {"seed": order.seed} if "seed" in known else {}
    if order.clusters is not None:
        if "k" not in known:
            raise UserError(f"{TITLES[method]} finds the number of clusters itself; leave --clusters out.")
        params["k"] = order.clusters
    hints = get_type_hints(kind)
    for text in order.cluster_params:
        name, equals, value = text.partition("=")
        if not equals or name not in known:
            raise UserError(
                f"“{text}” is not a parameter of {TITLES[method]}; write NAME=VALUE with one of: {', '.join(known)}."
            )
        params[name] = _typed(text, value, _plain_type(hints[name]))
    return cluster_spec(method, order.cluster_metric, **params)


def _plain_type(hint: Any) -> type:
    """int, float or str for a hint such as `int | None` or a choice of words."""
    inner = [one for one in get_args(hint) if one is not type(None)] or [hint]
    return inner[0] if isinstance(inner[0], type) else str


def _value(text: str, value: str, default: Any) -> Any:
    return _typed(text, value, int if default is None else type(default))


def _typed(text: str, value: str, kind: type) -> Any:
    try:
        return kind(value)
    except ValueError:
        word = {int: "a whole number", float: "a number"}.get(kind, "a text")
        raise UserError(f"“{text}”: the value must be {word}.") from None


def _seeded(order: MapOrder) -> dict[str, Any]:
    return {"seed": order.seed} if order.method == "umap" else {}


def _rows(order: MapOrder) -> Rows:
    if order.whole:
        return Rows()
    path = order.words or resource("words", "everyday-200.txt")
    return Rows(words=tuple(read_words(path)), pieces=order.pieces, title=path.name)


def _write(
    progress: Progress,
    order: MapOrder,
    record: SpaceRecord,
    projected: ProjectionOutcome,
    grouped: ClusterOutcome,
) -> tuple[str, ...]:
    """Write what was asked for, each from the session; one that nobody asked for lives in a temporary folder."""
    if not (order.session or order.figure or order.table):
        return ()
    written = [] if order.session is None else [str(order.session)]
    with tempfile.TemporaryDirectory(prefix="kiruviz-") as folder:
        path = order.session or Path(folder) / "map.kiru"
        with Session.create(path, overwrite=order.overwrite) as session:
            shown = _fill(session, record, projected, grouped)
            if order.figure is not None:
                keep_figure(session, FigureSettings(order.spec, format=order.figure.suffix[1:].lower()), shown)
        if order.figure is not None:
            figure = str(order.figure)
            written.append(exports.export_figure(progress, str(path), figure, order.spec, overwrite=order.overwrite))
        if order.table is not None:
            written.append(exports.export_table(progress, str(path), str(order.table), order.overwrite))
    return tuple(written)


def _fill(
    session: Session, record: SpaceRecord, projected: ProjectionOutcome, grouped: ClusterOutcome
) -> ProjectionRecord:
    space_id = session.add_space(record)
    session.set_view("space_id", space_id)
    session.add_projection(space_id, projected.method, projected.params, projected.coords)
    spec = grouped.spec
    session.set_clusters(space_id, spec.method, spec.stored(), grouped.assignment, colors=grouped.colors)
    return session.projections(space_id)[-1]


def _cluster_notes(grouped: ClusterOutcome) -> list[str]:
    """How rows were grouped, where it is not by k-means as it comes, and how many rows are in no cluster."""
    spec, notes = grouped.spec, []
    if (spec.method, spec.metric) != ("kmeans", "euclidean"):
        meaning = f" ({COSINE_MEANS})" if spec.metric == "cosine" else ""
        notes.append(f"{spec.title} clusters, {spec.metric}{meaning}")
    rest = int(np.count_nonzero(grouped.assignment < 0))
    if rest:
        counted = "1 row is" if rest == 1 else f"{rest:,} rows are"
        title = rest_title(spec.method)
        notes.append(f"{counted} noise, in no cluster" if title == "noise" else f"{counted} in no cluster")
    return notes


def _notes(
    projected: ProjectionOutcome, recipe: Recipe, several: tuple[str, ...], left_out: tuple[WordLeftOut, ...]
) -> list[str]:
    """What a person must know of the words: how much the picture shows, several tokens, left out."""
    notes = [projected.note] if projected.note else []
    if several:
        said = "1 word is" if len(several) == 1 else f"{len(several):,} words are"
        notes.append(f"{said} several tokens, shown as {_PIECES[recipe.rows.pieces]}: {_named(several)}")
    reasons: dict[str, list[str]] = {}
    for one in left_out:
        reasons.setdefault(one.reason, []).append(one.word)
    for reason, words in reasons.items():
        said = "1 word" if len(words) == 1 else f"{len(words):,} words"
        notes.append(f"{said} left out ({reason}): {_named(words)}")
    return notes


def _named(words: Sequence[str]) -> str:
    shown = ", ".join(f"“{display_name(word)}”" for word in words[:_MOST_WORDS])
    return shown + (f" and {len(words) - _MOST_WORDS:,} more" if len(words) > _MOST_WORDS else "")


def _rows_notes(recipe: Recipe) -> list[str]:
    """Rows of the table that a map of the whole vocabulary leaves out."""
    if recipe.rows.words is not None:
        return []
    left_out = spaces.rows_left_out(recipe.model, recipe)
    counts = ((left_out.without_token, "no token there"), (left_out.not_finite, "NaN or infinity in the numbers"))
    return [
        f"{'1 row' if count == 1 else f'{count:,} rows'} of the table left out ({reason})"
        for count, reason in counts
        if count
    ]
