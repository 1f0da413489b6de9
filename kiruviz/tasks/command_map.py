"""What `kiruviz map` does: the window's jobs one after the other, and their results in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kiruviz.errors import UserError
from kiruviz.figures.spec import FigureSpec
from kiruviz.models.rows import read_words
from kiruviz.paths import resource
from kiruviz.progress import Progress
from kiruviz.session.store import Session
from kiruviz.space import Kind, PieceRule, Recipe, Rows, Transform, display_name
from kiruviz.tasks import exports, maps, spaces
from kiruviz.tasks.maps import ClusterSpec, Method


@dataclass(frozen=True)
class MapOrder:
    """What to map and what to write; `params` are NAME=VALUE texts."""

    model: str
    kind: Kind = "token"
    words: Path | None = None
    whole: bool = False
    pieces: PieceRule = "mean"
    transform: Transform = field(default_factory=Transform)
    method: Method = "pca"
    params: tuple[str, ...] = ()
    clusters: int = 8
    seed: int = 0
    session: Path | None = None
    figure: Path | None = None
    table: Path | None = None
    overwrite: bool = False
    spec: FigureSpec = field(default_factory=FigureSpec)


@dataclass(frozen=True)
class ClusterLine:
    cluster_id: int
    size: int
    nearest: tuple[str, ...]


@dataclass(frozen=True)
class MapSummary:
    """What was made, for people and as JSON."""

    model: str
    identity: str
    rows: int
    size: int
    transform: str
    method: str
    params: dict[str, Any]
    clusters: tuple[ClusterLine, ...]
    written: tuple[str, ...]
    notes: tuple[str, ...]

    def sentence(self) -> str:
        return f"{self.model}: {self.rows:,} rows of {self.size}, {self.transform}, {self.method.upper()}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def make_map(progress: Progress, order: MapOrder) -> MapSummary:
    """Make the map in a session (a file if one is asked for) and write figure and table from it."""
    outputs = [path for path in (order.session, order.figure, order.table) if path is not None]
    for path in outputs:
        if path.exists() and not order.overwrite:
            raise UserError(f"{path} exists; choose another name or add --overwrite.")
    recipe = Recipe(order.model, kind=order.kind, rows=_rows(order), transform=order.transform)
    info = spaces.open_model(progress, order.model)
    if order.kind not in info.kinds:
        raise UserError(f"{info.card.name} has no {order.kind} embedding; it has {', '.join(info.kinds)}.")
    record = spaces.build_space(progress, recipe)
    recipe = record.recipe
    params = parse_params(order.method, order.params, len(record)) | _seeded(order)
    projected = maps.project(progress, recipe, order.method, params)
    grouped = maps.cluster(progress, recipe, ClusterSpec(k=order.clusters, seed=order.seed))
    found = maps.describe_clusters(progress, recipe, grouped.assignment)
    clear = getattr(progress, "clear", None)
    if clear is not None:
        clear()
    with _session(order) as session:
        space_id = session.add_space(record)
        session.set_view("space_id", space_id)
        session.add_projection(space_id, projected.method, projected.params, projected.coords)
        spec = grouped.spec
        session.set_clusters(
            space_id, "kmeans", {"k": spec.k, "n_init": spec.n_init, "seed": spec.seed}, grouped.assignment
        )
        written = _write(progress, order, session)
        if order.session is None:
            session.discard()
    lines = tuple(
        ClusterLine(c, e.size, tuple(display_name(record.names[i]) for i in e.nearest[:8])) for c, e in found.items()
    )
    return MapSummary(
        model=info.card.name,
        identity=info.card.identity,
        rows=len(record),
        size=info.card.hidden_size,
        transform=recipe.transform.describe(),
        method=projected.method,
        params=projected.params,
        clusters=lines,
        written=written,
        notes=_notes(progress, order, recipe),
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


def _value(text: str, value: str, default: Any) -> Any:
    kind = int if default is None else type(default)
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
    words = tuple(read_words(path))
    if not words:
        raise UserError(f"{path} has no words; put one word on each line.")
    return Rows(words=words, pieces=order.pieces, title=path.name)


def _session(order: MapOrder) -> Session:
    if order.session is None:
        return Session.untitled()
    return Session.create(order.session, overwrite=order.overwrite)


def _write(progress: Progress, order: MapOrder, session: Session) -> tuple[str, ...]:
    written = []
    path = str(session.path)
    if order.session is not None:
        written.append(str(order.session))
    if order.figure is not None:
        written.append(
            exports.export_figure(progress, path, str(order.figure), order.spec, overwrite=order.overwrite)
        )
    if order.table is not None:
        written.append(exports.export_table(progress, path, str(order.table), order.overwrite))
    return tuple(written)


def _notes(progress: Progress, order: MapOrder, recipe: Recipe) -> tuple[str, ...]:
    """What a person must know of the words: several tokens, left out."""
    counted = spaces.count_rows(progress, order.model, recipe.rows)
    notes = []
    if counted.several_pieces:
        rule = {"mean": "the mean of their rows", "first": "the row of their first token", "leave_out": "left out"}
        notes.append(f"{counted.several_pieces} words are several tokens: {rule[recipe.rows.pieces]}")
    notes += [f"left out “{word}”: {reason}" for word, reason in counted.dropped]
    return tuple(notes)
