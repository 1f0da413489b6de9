"""The Session: one `.kiru` file, a mirror of it in memory, and every action one transaction.

What returned is in the file: a kill or a crash right after loses nothing, so there is no autosave.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.session import codec, edits, files, journal, records
from kiruviz.session.base import SessionFile
from kiruviz.session.edits import Edit
from kiruviz.session.journal import Entry, HistoryEntry, LabelSetInfo
from kiruviz.session.labels import ASIDE, Answer, Cluster, LabelSet, Patch
from kiruviz.session.records import PackedSpace, ProjectionRecord, SpaceRecord
from kiruviz.space import FloatArray, Space


class Session(SessionFile):
    """The labels, spaces and projections of one file. To be used in the thread that made it.

    Attributes:
        labels: the current LabelSet, None before the first clustering
        edits: how many undoable actions were ever taken: 0 means there is nothing worth keeping

    Everything that is wrong with the file, or goes wrong in writing it, raises UserError; an action that
    failed changed neither the file nor the memory.
    """

    def _load(self, connection: sqlite3.Connection) -> None:
        self._spaces: dict[int, SpaceRecord] = {}
        self._projections: dict[int, list[ProjectionRecord]] = {}
        current = journal.current_set(connection)
        self.labels: LabelSet | None = None if current is None else journal.load_set(connection, current)
        self._history: list[Entry] = journal.entries(connection)
        self.edits: int = journal.edits_ever(connection)
        self._view = {key: codec.loads(value) for key, value in connection.execute("SELECT * FROM view")}
        self._saved_views = {
            name: codec.loads(value) for name, value in connection.execute("SELECT * FROM saved_views")
        }

    # --- spaces and projections

    def add_space(
        self, space: Space | SpaceRecord | PackedSpace, model_title: str = "", card: dict[str, Any] | None = None
    ) -> int:
        """Keep a space and return its id; the same one again is free. The vectors are not kept. `model_title`
        and `card` (the model's card, JSON values) belong to a Space; a SpaceRecord has its own. One packed
        elsewhere is added in a few milliseconds, however large."""
        if isinstance(space, Space):
            space = SpaceRecord.of(space, model_title, card)
        packed = records.pack_space(space) if isinstance(space, SpaceRecord) else space
        with self._transaction() as connection:
            space_id, kept = records.add_space(connection, packed)
        self._spaces[space_id] = kept
        self._notify("space")
        return space_id

    def space(self, space_id: int) -> SpaceRecord:
        """A kept space. KeyError if there is none of that id."""
        if space_id not in self._spaces:
            with files.reading(self.path):
                self._spaces[space_id] = records.load_space(self._connection, space_id)
        return self._spaces[space_id]

    def add_projection(self, space_id: int, method: str, params: dict[str, Any], coords: FloatArray) -> int:
        """Keep coordinates (n, 2) or (n, 3) of a space's rows, in place of those of the same method and
        parameters; returns their id. ValueError on another shape."""
        rows = len(self.space(space_id))
        if coords.shape not in ((rows, 2), (rows, 3)):
            raise ValueError(f"coords has shape {coords.shape}, the space has {rows} rows")
        with self._transaction() as connection:
            record = records.add_projection(connection, space_id, method, params, coords)
        kept = [p for p in self.projections(space_id) if (p.method, p.params) != (record.method, record.params)]
        self._projections[space_id] = [*kept, record]
        self._notify("projection")
        return record.projection_id

    def projection(self, space_id: int, method: str | None = None) -> ProjectionRecord | None:
        """The latest projection of a space, by any method or by the given one."""
        fitting = [p for p in self.projections(space_id) if method in (None, p.method)]
        return fitting[-1] if fitting else None

    def projections(self, space_id: int) -> list[ProjectionRecord]:
        """The latest projection for each method and parameters, oldest first."""
        if space_id not in self._projections:
            with files.reading(self.path):
                self._projections[space_id] = records.load_projections(self._connection, space_id)
        return list(self._projections[space_id])

    # --- sets of clusters

    def set_clusters(
        self,
        space_id: int,
        method: str,
        params: dict[str, Any],
        assignment: npt.ArrayLike,
        carried: Mapping[int, Sequence[int]] | None = None,
        given: Mapping[int, Cluster] | None = None,
        title: str = "",
        colors: Mapping[int, int] | None = None,
    ) -> LabelSet:
        """Make a new set of clusters the current one; undoable, unless it is the session's first.

        assignment  (n,) integers, -1 for noise
        given       new cluster id -> the label and color it is to have, the most important first
        title       what the history calls it
        colors      new cluster id -> color, for those that take over none
        carried     new cluster id -> ids of clusters of the former current set whose label and color it takes
                    over (see `edits.new_clusters`); all others are unnamed with the smallest free colors

        The former set is kept (`label_sets`). The same clusters with the same labels again change nothing.
        """
        owners = np.asarray(assignment).astype(np.int32)
        if owners.shape != (len(self.space(space_id)),) or (len(owners) and owners.min() < ASIDE):
            raise ValueError(f"assignment of shape {owners.shape} does not fit space {space_id}")
        former, now = self.labels, time.time()
        ancestors = former.clusters if former is not None else {}
        clusters = edits.new_clusters(owners, carried or {}, ancestors, now, given, colors)
        if former is not None and _same(former, space_id, method, params, owners, clusters):
            return former
        entry = None
        with self._transaction() as connection:
            labels = journal.insert_set(connection, space_id, method, params, owners, clusters, now)
            if former is not None:
                verb = "re-cluster" if former.space_id == space_id else "cluster"
                switch = Patch((former.set_id, labels.set_id))
                entry = journal.append(connection, title or f"{verb} into {len(clusters)}", switch, now)
            journal.set_current(connection, labels.set_id)
        self._done(labels, entry)
        return labels

    @property
    def set_count(self) -> int:
        """How many sets of clusters were ever made."""
        with files.reading(self.path):
            return journal.count_sets(self._connection)

    def label_sets(self) -> list[LabelSetInfo]:
        """All sets of clusters ever made, oldest first."""
        with files.reading(self.path):
            return journal.list_sets(self._connection)

    def label_set(self, set_id: int) -> LabelSet:
        """A set of clusters as it is kept. KeyError if there is none of that id."""
        if self.labels is not None and self.labels.set_id == set_id:
            return self.labels
        with files.reading(self.path):
            return journal.load_set(self._connection, set_id)

    def ancestry(self) -> list[int]:
        """The ids of the sets that were current one after the other, the present one first."""
        with files.reading(self.path):
            return journal.ancestry(self._connection)

    def answered_set(self, space_id: int) -> int | None:
        """The newest set of clusters over these rows in which one is named or resists, to `restore_set`."""
        with files.reading(self.path):
            return journal.latest_answered(self._connection, space_id)

    def restore_set(self, set_id: int) -> LabelSet:
        """Make an earlier set the current one again; undoable. KeyError if there is none of that id."""
        former = self._current()
        if set_id == former.set_id:
            return former
        with files.reading(self.path):
            labels = journal.load_set(self._connection, set_id)
        title = f"restore {labels.method} with {len(labels.clusters)} clusters"
        return self._perform(Edit(title, Patch((former.set_id, set_id))))

    # --- labelling: each returns the set after it; what changes nothing writes nothing (see `edits`)

    def rename(self, cluster_id: int, name: str) -> LabelSet:
        return self._perform(edits.rename(self._current(), cluster_id, name, time.time()))

    def resist(self, cluster_id: int, note: str | None = None) -> LabelSet:
        return self._perform(edits.resist(self._current(), cluster_id, note, time.time()))

    def clear(self, cluster_id: int) -> LabelSet:
        return self._perform(edits.clear(self._current(), cluster_id, time.time()))

    def set_note(self, cluster_id: int, note: str) -> LabelSet:
        return self._perform(edits.set_note(self._current(), cluster_id, note, time.time()))

    def set_confidence(self, cluster_id: int, confidence: int) -> LabelSet:
        return self._perform(edits.set_confidence(self._current(), cluster_id, confidence, time.time()))

    def merge(self, cluster_ids: Sequence[int]) -> LabelSet:
        return self._perform(edits.merge(self._current(), cluster_ids, time.time()))

    def split(self, cluster_id: int, parts: npt.NDArray[np.integer], colors: Sequence[int] = ()) -> LabelSet:
        return self._perform(edits.split(self._current(), cluster_id, parts, time.time(), colors))

    def new_cluster(self, positions: npt.ArrayLike, colors: Sequence[int] = ()) -> LabelSet:
        return self._perform(edits.new(self._current(), positions, time.time(), colors))

    def recolor(self, colors: Mapping[int, int]) -> LabelSet:
        return self._perform(edits.recolor(self._current(), colors, time.time()))

    def move(self, positions: npt.ArrayLike, cluster_id: int) -> LabelSet:
        return self._perform(edits.move(self._current(), positions, cluster_id, time.time()))

    def set_aside(self, positions: npt.ArrayLike) -> LabelSet:
        return self._perform(edits.set_aside(self._current(), positions, time.time()))

    def adopt(
        self,
        answers: Mapping[int, Answer],
        revived: Sequence[tuple[npt.ArrayLike, Answer]] = (),
        title: str = "take over labels",
    ) -> LabelSet:
        """Several answers, and clusters made anew of rows with theirs, as one action (see `edits.adopt`)."""
        return self._perform(edits.adopt(self._current(), answers, revived, title, time.time()))

    # --- undo and redo

    @property
    def undo_title(self) -> str | None:
        entry = self._last_done()
        return None if entry is None else self._history[entry].title

    @property
    def redo_title(self) -> str | None:
        entry = self._first_undone()
        return None if entry is None else self._history[entry].title

    @property
    def can_undo(self) -> bool:
        return self._last_done() is not None

    @property
    def can_redo(self) -> bool:
        return self._first_undone() is not None

    def undo(self) -> str | None:
        """Take the last action back; its title, or None if there was none."""
        return self._travel(self._last_done(), back=True)

    def redo(self) -> str | None:
        """Do the action undone last again; its title, or None if there was none."""
        return self._travel(self._first_undone(), back=False)

    def history(self) -> list[HistoryEntry]:
        """All actions, oldest first."""
        return [HistoryEntry(entry.title, entry.time, entry.undone) for entry in self._history]

    # --- view state: kept, but neither undoable nor told to observers

    def view(self, key: str, default: Any = None) -> Any:
        return self._view.get(key, default)

    def set_view(self, key: str, value: Any) -> None:
        """Keep a JSON value of the window under `key`."""
        self._keep("view", "key", self._view, key, value)

    @property
    def saved_views(self) -> dict[str, Any]:
        """Name -> JSON value of the views saved by name."""
        return dict(self._saved_views)

    def save_view(self, name: str, value: Any) -> None:
        """Save a view by name, in place of one of the same name."""
        self._keep("saved_views", "name", self._saved_views, name, value)

    def delete_view(self, name: str) -> None:
        with self._transaction() as connection:
            connection.execute("DELETE FROM saved_views WHERE name = ?", (name,))
        self._saved_views.pop(name, None)

    # --- inside

    def _current(self) -> LabelSet:
        if self.labels is None:
            raise UserError(f"{self.path} has no clusters yet; cluster the map first.")
        return self.labels

    def _perform(self, edit: Edit | None) -> LabelSet:
        """Do an edit and put it into the history, as one transaction."""
        if edit is None:
            return self._current()
        labels = self._after(edit.patch)
        with self._transaction() as connection:
            journal.write_patch(connection, edit.patch, labels)
            entry = journal.append(connection, edit.title, edit.patch, time.time())
        self._done(labels, entry)
        return labels

    def _done(self, labels: LabelSet, entry: Entry | None) -> None:
        self.labels = labels
        if entry is not None:
            self._history = [*(e for e in self._history if not e.undone), entry]
            self.edits = entry.entry_id
        self._notify("labels")

    def _travel(self, index: int | None, back: bool) -> str | None:
        """Undo (`back`) or redo the history entry at `index`."""
        if index is None:
            return None
        entry = self._history[index]
        with files.reading(self.path):
            patch = journal.load_patch(self._connection, entry.entry_id)
        patch = patch.inverse() if back else patch
        labels = self._after(patch)
        with self._transaction() as connection:
            journal.write_patch(connection, patch, labels)
            journal.mark(connection, entry.entry_id, undone=back)
        self._history[index] = replace(entry, undone=back)
        self.labels = labels
        self._notify("labels")
        return entry.title

    def _after(self, patch: Patch) -> LabelSet:
        if not patch.switches:
            return patch.apply(self._current())
        with files.reading(self.path):
            return journal.load_set(self._connection, patch.current[1])

    def _last_done(self) -> int | None:
        return next((i for i in reversed(range(len(self._history))) if not self._history[i].undone), None)

    def _first_undone(self) -> int | None:
        last = self._last_done()
        after = 0 if last is None else last + 1
        return after if after < len(self._history) else None

    def _keep(self, table: str, column: str, mirror: dict[str, Any], key: str, value: Any) -> None:
        text = codec.dumps(value)
        if key in mirror and codec.dumps(mirror[key]) == text:
            return
        with self._transaction() as connection:
            connection.execute(f"INSERT OR REPLACE INTO {table} ({column}, value) VALUES (?, ?)", (key, text))  # noqa: S608
        mirror[key] = codec.loads(text)


def _same(
    labels: LabelSet,
    space_id: int,
    method: str,
    params: dict[str, Any],
    assignment: npt.NDArray[np.int32],
    clusters: dict[int, Cluster],
) -> bool:
    """Whether a new set would say just what `labels` says."""
    made = (labels.space_id, labels.method, codec.dumps(labels.params))
    if made != (space_id, method, codec.dumps(params)) or not np.array_equal(labels.assignment, assignment):
        return False
    return all(replace(labels.clusters[i], time=cluster.time) == cluster for i, cluster in clusters.items())
