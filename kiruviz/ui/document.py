"""What is open: the session, the rows on the map, where they stand, their labels, and what is selected.

The document does no work of its own beyond bookkeeping; `ui.conductor` starts the jobs and gives it their
results. Every pane reads it and listens to its signals.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, Signal

from kiruviz.analysis.coloring import colors_beside
from kiruviz.analysis.effect import Effect
from kiruviz.analysis.evidence import Evidence
from kiruviz.analysis.grouping import ClusterSpec
from kiruviz.analysis.suggestions import Suggestion
from kiruviz.session.labels import Cluster, LabelSet
from kiruviz.session.records import PackedSpace, ProjectionRecord, SpaceRecord
from kiruviz.session.store import Session
from kiruviz.tasks.label_join import ImportPlan
from kiruviz.tasks.maps import ClusterOutcome, ProjectionOutcome
from kiruviz.tasks.members import FormerNames

Rows = npt.NDArray[np.int64]


class Document(QObject):
    """The open session and what hangs on it.

    space_changed       other rows are on the map
    coords_changed      (bool: they are final) the rows have other places
    labels_changed      any label, cluster or assignment changed
    selection_changed   another cluster, lasso or focus row
    members_changed     rows moved between the clusters that are shown
    evidence_changed    what is known about the clusters changed
    distances_changed   the rows' distances to their centroids came, or are no longer those
    effects_changed     what other values of the clusterer would give became known
    session_changed     another session, title or undo state
    """

    space_changed = Signal()
    coords_changed = Signal(bool)
    labels_changed = Signal()
    selection_changed = Signal()
    members_changed = Signal()
    evidence_changed = Signal()
    distances_changed = Signal()
    effects_changed = Signal()
    session_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.session: Session | None = None
        self.record: SpaceRecord | None = None
        self.space_id: int | None = None
        self.coords: npt.NDArray[np.float32] | None = None
        self.projection: tuple[str, dict[str, Any]] | None = None
        self.projection_note = ""
        self.cluster_id: int | None = None
        self.lassoed: Rows = np.zeros(0, np.int64)
        self.focus: int | None = None
        self.evidence: dict[int, Evidence] = {}
        self.stability: dict[int, float] = {}
        self.distances: npt.NDArray[np.float64] | None = None
        self.effects: dict[ClusterSpec, Effect] = {}
        self.former_names: dict[int, tuple[Suggestion, ...]] = {}

    @property
    def labels(self) -> LabelSet | None:
        """The clusters and their labels, if they belong to the rows on the map."""
        if self.session is None or self.session.labels is None:
            return None
        return self.session.labels if self.session.labels.space_id == self.space_id else None

    @property
    def cluster_spec(self) -> ClusterSpec | None:
        """How the clusters on screen were made; None without clusters, or by a method of a newer program."""
        labels = self.labels
        return None if labels is None else ClusterSpec.read(labels.method, labels.params)

    @property
    def cluster(self) -> Cluster | None:
        """The selected cluster."""
        labels = self.labels
        return None if labels is None or self.cluster_id is None else labels.clusters.get(self.cluster_id)

    @property
    def selected_rows(self) -> Rows:
        """The lassoed rows, else the selected cluster's members."""
        if len(self.lassoed):
            return self.lassoed
        labels = self.labels
        if labels is None or self.cluster is None or self.cluster_id is None:
            return np.zeros(0, np.int64)
        return labels.members(self.cluster_id)

    # Sessions

    def use_session(self, session: Session) -> None:
        """Continue with another session; the former one is closed."""
        self.close()
        self.session = session
        self._forget_space()
        self.session_changed.emit()
        self._follow_labels()

    def close(self) -> None:
        """Close the session; an untitled one in which nothing was done or saved leaves no file."""
        if self.session is None:
            return
        if self.session.is_untitled and not self.session.edits and not self.session.saved_views:
            self.session.discard()
        else:
            self.session.close()
        self.session = None

    def save_as(self, path: Path) -> None:
        """Continue in the file `path`, which is replaced if it exists (the dialog has asked)."""
        assert self.session is not None
        self.session.save_as(path, overwrite=True)
        self.session_changed.emit()

    # What jobs bring

    def set_space(self, packed: PackedSpace) -> None:
        """Other rows: they are kept in the session, and wait for places and clusters."""
        if self.session is None:
            self.session = Session.untitled()
        self.space_id = self.session.add_space(packed)
        self.session.set_view("space_id", self.space_id)
        self._show_space(packed.record)
        self.session_changed.emit()

    def set_partial_coords(self, coords: npt.NDArray[np.float32]) -> None:
        """Places that are still on their way."""
        self.coords = coords
        self.coords_changed.emit(False)

    def set_projection(self, outcome: ProjectionOutcome) -> None:
        """Places that stay."""
        assert self.session is not None
        assert self.space_id is not None
        self.session.add_projection(self.space_id, outcome.method, outcome.params, outcome.coords)
        self.coords = outcome.coords
        self.projection = (outcome.method, outcome.params)
        self.projection_note = outcome.note
        self.coords_changed.emit(True)

    def show_projection(self, kept: ProjectionRecord) -> None:
        """Places of before; being shown, they are the latest again, which exports draw."""
        assert self.session is not None
        assert self.space_id is not None
        self.session.add_projection(self.space_id, kept.method, kept.params, kept.coords)
        self.coords = kept.coords
        self.projection = (kept.method, kept.params)
        self.projection_note = ""
        self.coords_changed.emit(True)

    def set_clusters(self, outcome: ClusterOutcome) -> None:
        """Other clusters; names are carried over as the outcome says. Can be undone."""
        assert self.session is not None
        assert self.space_id is not None
        spec = outcome.spec
        given = self.heirs(outcome.carriage.carried)
        self.session.set_clusters(
            self.space_id, spec.method, spec.stored(), outcome.assignment, given=given, colors=outcome.colors
        )
        self._labels_replaced()

    def heirs(self, carried: dict[int, tuple[int, int]]) -> dict[int, Cluster]:
        """The clusters, as they are called now, that (set, cluster) refer to, by the new clusters' ids."""
        assert self.session is not None
        sets = {set_id: self.session.label_set(set_id) for set_id, _ in carried.values()}
        found = {new: sets[set_id].clusters.get(old) for new, (set_id, old) in carried.items()}
        return {new: cluster for new, cluster in found.items() if cluster is not None}

    def import_labels(self, plan: ImportPlan) -> None:
        """Another person's clusters and labels on the rows on the map. Can be undone."""
        assert self.session is not None
        before = self.labels
        params = {"file": plan.source}
        title = f"import labels of {plan.source}"
        self.session.set_clusters(plan.space_id, "import", params, plan.assignment, given=plan.clusters, title=title)
        self._labels_replaced(before)

    def restore_answers(self) -> bool:
        """Bring back the clusters that were named on these rows earlier, if any were. Can be undone."""
        if self.session is None or self.space_id is None:
            return False
        earlier = self.session.answered_set(self.space_id)
        if earlier is None:
            return False
        self.restore_set(earlier)
        return True

    def restore_set(self, set_id: int) -> None:
        """Go back to a former set of clusters, whatever rows it is of. Can be undone."""
        assert self.session is not None
        before = self.labels
        self.session.restore_set(set_id)
        self._labels_replaced(before)

    def set_evidence(self, evidence: dict[int, Evidence]) -> None:
        self.evidence = evidence
        self.evidence_changed.emit()

    def set_stability(self, stability: dict[int, float]) -> None:
        self.stability = stability
        self.evidence_changed.emit()

    def set_effect(self, effect: Effect) -> None:
        """What a clusterer's values would give, whole or so far; less than is known already is let go."""
        known = self.effects.get(effect.spec)
        if known is None or effect.complete or len(effect.points) > len(known.points):
            self.effects[effect.spec] = effect
            self.effects_changed.emit()

    def set_former_names(self, found: FormerNames | None) -> None:
        """Names that overlapping clusters of former sets had, if they are of the present set."""
        if found is not None and self.labels is not None and found.set_id == self.labels.set_id:
            self.former_names = found.by_cluster
            self.evidence_changed.emit()

    def suggestions(self, cluster_id: int) -> list[Suggestion]:
        """Names to suggest for a cluster: former ones first, then those its members speak for."""
        found = self.evidence.get(cluster_id)
        labels = self.labels
        own = "" if labels is None or cluster_id not in labels.clusters else labels.clusters[cluster_id].name
        seen = {own.casefold()}
        out = []
        for one in (*self.former_names.get(cluster_id, ()), *(found.suggestions if found is not None else ())):
            if one.name.casefold() not in seen:
                seen.add(one.name.casefold())
                out.append(one)
        return out

    def set_distances(self, distances: npt.NDArray[np.float64]) -> None:
        """(n,) distance of each row to the centroid of its cluster."""
        self.distances = distances
        self.distances_changed.emit()

    # Selection

    def select_cluster(self, cluster_id: int | None) -> None:
        """Select a cluster, and let a lasso go."""
        if cluster_id == self.cluster_id and not len(self.lassoed):
            return
        self.cluster_id = cluster_id
        self.lassoed = np.zeros(0, np.int64)
        self.selection_changed.emit()

    def set_lasso(self, rows: Rows, mode: str = "replace") -> None:
        """Lasso rows; `add` and `take` change the lasso that is there."""
        if mode == "add":
            rows = np.union1d(self.lassoed, rows)
        elif mode == "take":
            rows = np.setdiff1d(self.lassoed, rows)
        self.lassoed = np.asarray(rows, np.int64)
        self.selection_changed.emit()

    def set_focus(self, row: int | None) -> None:
        """The row whose neighbours are shown."""
        if row != self.focus:
            self.focus = row
            self.selection_changed.emit()

    def new_colors(self, rows: Rows, number: int = 1) -> list[int]:
        """Colours for clusters to be made of `rows`, unlike those beside them on the map."""
        if self.labels is None or self.coords is None:
            return []
        clusters = {c.cluster_id: c.color for c in self.labels.clusters.values()}
        return colors_beside(self.coords, self.labels.assignment, clusters, rows, number)

    # Labelling. Each is one transaction, on disk when it returns, and can be undone.

    def label(self, change: Callable[[Session], object]) -> None:
        """Do one labelling action on the session and tell everybody."""
        if self.session is None or self.labels is None:
            return
        before = self.labels
        change(self.session)
        if self.labels is not before:
            self._labels_replaced(before)

    def undo(self) -> str | None:
        """Take back the last action; its title."""
        return self._step("undo")

    def redo(self) -> str | None:
        return self._step("redo")

    def _step(self, which: str) -> str | None:
        if self.session is None:
            return None
        before = self.labels
        title: str | None = self.session.undo() if which == "undo" else self.session.redo()
        if title is not None:
            self._labels_replaced(before)
        return title

    # Within

    def _labels_replaced(self, before: LabelSet | None = None) -> None:
        """Labels changed, from `before` if it was the same set; evidence of other members is let go."""
        after = self.session.labels if self.session is not None else None
        same_set = before is not None and after is not None and before.set_id == after.set_id
        moved = not same_set or not np.array_equal(before.assignment, after.assignment)  # type: ignore[union-attr]
        if moved:
            self.evidence = {}
            self.stability = {}
            self.distances = None
            self.former_names = {}
            self.distances_changed.emit()
        self._follow_labels()
        if self.cluster is None:
            labels = self.labels
            self.cluster_id = labels.order[0] if labels is not None and labels.order else None
            self.selection_changed.emit()
        self.labels_changed.emit()
        self.session_changed.emit()
        if moved:
            self.members_changed.emit()

    def _follow_labels(self) -> None:
        """Show the rows that the current labels belong to (undo may go back to another space)."""
        session = self.session
        if session is None:
            return
        space_id = session.labels.space_id if session.labels is not None else session.view("space_id")
        if space_id is not None:
            self.show_kept(space_id)

    def show_kept(self, space_id: int) -> None:
        """Show rows that the session holds, where they stand, and their labels if those are the current ones."""
        session = self.session
        if session is None or space_id == self.space_id:
            return
        self.space_id = space_id
        session.set_view("space_id", space_id)
        self._show_space(session.space(space_id))
        found = session.projection(self.space_id)
        if found is not None:
            self.coords = found.coords
            self.projection = (found.method, found.params)
            self.coords_changed.emit(True)
        self.labels_changed.emit()

    def _show_space(self, record: SpaceRecord) -> None:
        space_id = self.space_id
        self._forget_space()
        self.space_id = space_id
        self.record = record
        self.space_changed.emit()
        self.selection_changed.emit()

    def _forget_space(self) -> None:
        self.record = None
        self.space_id = None
        self.coords = None
        self.projection = None
        self.projection_note = ""
        self.cluster_id = None
        self.lassoed = np.zeros(0, np.int64)
        self.focus = None
        self.evidence = {}
        self.stability = {}
        self.distances = None
        self.effects = {}
        self.former_names = {}
