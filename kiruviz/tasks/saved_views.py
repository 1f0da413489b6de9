"""Views saved by name: what one holds, and the rows, places and clusters of the session that it shows.

The same for the window, which goes there, and for `kiruviz export --view`, which draws it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from kiruviz.session.labels import LabelSet
from kiruviz.session.records import ProjectionRecord
from kiruviz.session.store import Session
from kiruviz.tasks.kept_figure import MapView

T = TypeVar("T")


@dataclass(frozen=True)
class SavedView:
    """How a map was looked at, and on which one.

    rectangle      the data rectangle x0, y0, x1, y1; None for the whole map
    space_id       the rows it was made on, `method` and `params` the projection; None, "" in views of no session
    set_id, cluster_id, cluster_name   the selected cluster, its name empty while it has none
    members        positions of the cluster's rows then, which stand for it where it is gone
    lasso, focus   positions of the lassoed rows, and of the one whose neighbours are shown
    place          where it stands in the list of views
    """

    color_by: str = "cluster"
    rectangle: tuple[float, float, float, float] | None = None
    workspace: str = "map"
    space_id: int | None = None
    method: str = ""
    params: dict[str, Any] | None = None
    set_id: int | None = None
    cluster_id: int | None = None
    cluster_name: str = ""
    members: tuple[int, ...] = ()
    lasso: tuple[int, ...] = ()
    focus: int | None = None
    place: int = 0
    time: float = 0.0

    def look(self, shown: Shown) -> MapView:
        """How a figure shows the view on the rows and places of `shown`."""
        rows = len(shown.projection.coords) if shown.projection is not None else 0
        selected = tuple(row for row in self.lasso or self.members if row < rows)
        return MapView(self.color_by, self.rectangle if shown.same_places else None, selected)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, value: object) -> SavedView:
        """The view of a JSON value; what is missing or makes no sense is as in a view of the whole map."""
        kept = value if isinstance(value, dict) else {}
        return cls(
            color_by=_read(kept, "color_by", str, "cluster"),
            rectangle=_rectangle(kept.get("rectangle")),
            workspace=_read(kept, "workspace", str, "map"),
            space_id=_read(kept, "space_id", int, None),
            method=_read(kept, "method", str, ""),
            params=_read(kept, "params", dict, None),
            set_id=_read(kept, "set_id", int, None),
            cluster_id=_read(kept, "cluster_id", int, None),
            cluster_name=_read(kept, "cluster_name", str, ""),
            members=_positions(kept.get("members")),
            lasso=_positions(kept.get("lasso")),
            focus=_read(kept, "focus", int, None),
            place=_read(kept, "place", int, 0),
            time=float(_read(kept, "time", (int, float), 0.0)),
        )


def _read(kept: dict[str, Any], name: str, kind: Any, default: Any) -> Any:
    value = kept.get(name)
    return value if isinstance(value, kind) and not isinstance(value, bool) else default


def _rectangle(value: object) -> tuple[float, float, float, float] | None:
    if not isinstance(value, list | tuple) or len(value) != 4 or not all(isinstance(v, int | float) for v in value):
        return None
    x0, y0, x1, y1 = (float(v) for v in value)
    return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None  # NaN is in no order either


def _positions(value: object) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(v, int) and v >= 0 for v in value):
        return ()
    return tuple(value)


@dataclass(frozen=True, eq=False)
class Shown:
    """What a view shows of a session: the rows' id, their places and clusters, None where there are none.

    `same_places` says whether the places are those the view was made on: on others its rectangle means nothing.
    """

    space_id: int
    projection: ProjectionRecord | None
    labels: LabelSet | None
    same_places: bool


def named_views(session: Session) -> dict[str, SavedView]:
    """The session's views by name, in the order of their list."""
    views = [(name, SavedView.of(value)) for name, value in session.saved_views.items()]
    return dict(sorted(views, key=lambda pair: (pair[1].place, pair[0])))


def shown_by(session: Session, view: SavedView) -> Shown | None:
    """What a view shows: the rows it was made on, else the current ones; None where there are no rows at all.

    Of these rows' clusters it is the current set if that is of these rows, else the view's own, else the last one
    with names.
    """
    current = session.labels
    space_id = current.space_id if current is not None else session.view("space_id")
    if view.space_id is not None and _found(session.space, view.space_id) is not None:
        space_id = view.space_id
    if space_id is None:
        return None
    kept = session.projections(space_id)
    fitting = [p for p in kept if (p.method, p.params) == (view.method, view.params)]
    known = bool(view.method)  # a view of before, or by another program, says nothing about its places
    projection = fitting[-1] if fitting else kept[-1] if kept else None
    return Shown(space_id, projection, _labels(session, space_id, view.set_id), bool(fitting) or not known)


def _labels(session: Session, space_id: int, set_id: int | None) -> LabelSet | None:
    if session.labels is not None and session.labels.space_id == space_id:
        return session.labels
    for number in (set_id, session.answered_set(space_id)):
        found = _found(session.label_set, number) if number is not None else None
        if found is not None and found.space_id == space_id:
            return found
    return None


def _found(look: Callable[[int], T], number: int) -> T | None:
    try:
        return look(number)
    except KeyError:
        return None
