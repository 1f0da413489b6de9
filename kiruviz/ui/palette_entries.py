"""What the command palette offers: actions, saved views, clusters and tokens, and how it ranks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from kiruviz.palette import Ground, cluster_color, neutral_color
from kiruviz.session.labels import Cluster, LabelSet
from kiruviz.session.records import SpaceRecord
from kiruviz.space import display_name
from kiruviz.ui.actions import ACTIONS, MENUS
from kiruviz.ui.finding import SCATTERED, WORD, TextIndex, top

# Menus of things that the palette offers by itself.
_LISTED_APART = ("Views",)


@dataclass(frozen=True)
class Entry:
    """One line of the palette.

    key       what it is remembered by
    text      what is shown and searched; `alias` is searched too, `detail` stands at the right
    shortcut  its key as this system writes it
    blocked   why it is not possible now, empty if it is
    color     its swatch, a ring for a cluster that resists naming
    exact     it is a token, whose text is shown in the tokens' font
    """

    key: str
    text: str
    run: Callable[[], object]
    detail: str = ""
    alias: str = ""
    shortcut: str = ""
    blocked: str = ""
    color: str = ""
    ring: bool = False
    exact: bool = False
    checked: bool = False

    @property
    def spoken(self) -> str:
        """The line for a screen reader."""
        parts = (self.text, "on" if self.checked else "", self.detail, self.shortcut, self.blocked)
        return ", ".join(part for part in parts if part)


def action_entries(menus: Mapping[str, QMenu], but: str) -> list[Entry]:
    """Everything that stands in the menus, in their order, but one action."""
    needs = {spec.name: spec.needs for spec in ACTIONS}
    found = []
    for title in MENUS:
        for path, action in _actions(menus[title], title):
            name = action.objectName()
            text = _caption(action)
            if name == but or not action.isVisible() or not text:
                continue
            shortcut = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            blocked = "" if action.isEnabled() else needs.get(name) or "not possible now"
            found.append(
                Entry(
                    f"action:{name or f'{path} {text}'}", text, action.trigger, path, f"{text} {path}", shortcut,
                    blocked, checked=action.isCheckable() and action.isChecked(),
                )
            )  # fmt: skip
    return found


def _actions(menu: QMenu, path: str) -> Iterator[tuple[str, QAction]]:
    for action in menu.actions():
        below = action.menu()
        if isinstance(below, QMenu):
            if below.title() not in _LISTED_APART:
                yield from _actions(below, f"{path} › {_caption(action)}")
        elif not action.isSeparator():
            yield path, action


def _caption(action: QAction) -> str:
    """What an action says, without the marks of menus."""
    return action.text().split("\t")[0].replace("&&", "\0").replace("&", "").replace("\0", "&")


def cluster_entries(labels: LabelSet, ground: Ground, go: Callable[[int], object]) -> list[Entry]:
    """The clusters in the order of the table."""
    sizes = labels.sizes()
    return [_cluster_entry(labels.clusters[c], labels.set_id, sizes[c], ground, go) for c in labels.order]


def _cluster_entry(c: Cluster, set_id: int, size: int, ground: Ground, go: Callable[[int], object]) -> Entry:
    resists = c.status == "resists"
    return Entry(
        f"cluster:{set_id}:{c.cluster_id}",
        c.title,
        lambda: go(c.cluster_id),
        f"cluster {c.cluster_id} · {size:,} rows" if size != 1 else f"cluster {c.cluster_id} · 1 row",
        f"cluster {c.cluster_id} {c.title}",
        color=neutral_color(ground) if resists else cluster_color(c.color, ground),
        ring=resists,
    )


def view_entries(views: Sequence[tuple[str, str, str]], go: Callable[[str], object]) -> list[Entry]:
    """Saved views: name, what they show, key."""
    return [
        Entry(f"view:{name}", name, partial(go, name), shows, f"view {name}", shortcut)
        for name, shows, shortcut in views
    ]


def row_entry(record: SpaceRecord, labels: LabelSet | None, row: int, go: Callable[[int], object]) -> Entry:
    """A row on the map."""
    cluster = labels.clusters.get(int(labels.assignment[row])) if labels is not None else None
    row_id = int(record.row_ids[row])
    parts = [cluster.title if cluster is not None else "", f"{row_id}" if row_id >= 0 else ""]
    return Entry(
        f"row:{row}",
        display_name(record.names[row]),
        lambda: go(row),
        " · ".join(part for part in parts if part),
        exact=True,
    )


@dataclass(frozen=True)
class Group:
    """Entries under a heading; `count` of them match where not all are listed. `best` is the best score."""

    title: str
    entries: Sequence[Entry]
    count: int
    best: int = 0


class Shelf:
    """Entries of one kind, to be searched by their text and their alias."""

    def __init__(self, title: str, entries: Sequence[Entry]) -> None:
        self.title = title
        self.entries = entries
        self._texts = TextIndex([entry.text for entry in entries])
        self._aliases = TextIndex([entry.alias for entry in entries])

    def find(self, typed: str, most: int, recent: Sequence[str] = ()) -> Group:
        """The best entries; of those that match alike the possible ones first, then those used last."""
        scores, aliases = self._texts.find(typed), self._aliases.find(typed)
        # Letters scattered over text and alias would be matches that nobody sees.
        aliases = np.where((aliases >= 0) & (aliases >> 24 < SCATTERED), np.maximum(aliases, WORD << 24), -1)
        scores = np.where(scores >= 0, scores, aliases)
        found, count = top(scores, most)
        entries = [(score, self.entries[at]) for score, at in found]
        place = {key: at for at, key in enumerate(recent)}
        ranked = sorted(entries, key=lambda e: (e[0] >> 24, bool(e[1].blocked), place.get(e[1].key, len(place))))
        return Group(self.title, [entry for _, entry in ranked], count, entries[0][0] if entries else 0)
