"""The panes, each a file of its own, and the one list that puts them into the window's docks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Side = Literal["left", "right"]


@dataclass(frozen=True)
class DockSpec:
    """A dock of the window: the panes in it, from top to bottom, by attribute name of the window; `beside` is
    the dock it is a tab of at first."""

    name: str
    title: str
    side: Side
    panes: tuple[str, ...]
    scrolls: bool
    beside: str = ""


DOCKS: tuple[DockSpec, ...] = (
    DockSpec("setup", "Model and map", "left", ("model_pane", "space_pane", "drawing_pane"), True),
    DockSpec("clusters", "Clusters", "right", ("clusters_pane", "this_cluster"), False),
    DockSpec("evidence", "Evidence", "right", ("evidence_pane",), True),
    DockSpec("members", "Members", "right", ("members_pane",), False, beside="evidence"),
    DockSpec("neighbors", "Neighbours", "right", ("neighbors_pane",), False, beside="evidence"),
)
