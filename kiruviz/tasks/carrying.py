"""What becomes of the names: carried onto new clusters, back from former sets, or waiting for a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.carry import CarryOver, carry_over
from kiruviz.analysis.row_match import Positions, RowNames, match_rows
from kiruviz.progress import Progress
from kiruviz.session.labels import Answer, Cluster, LabelSet
from kiruviz.session.records import SpaceRecord
from kiruviz.session.store import Session

# So many former sets with answers are looked through, the latest first.
MOST_SETS = 12
_MOST_HEIRS = 3


@dataclass(frozen=True)
class FormerLabels:
    """Where the names come from: a session's file, whose present set and former ones are looked through."""

    session: str


def _no_rows() -> Positions:
    return np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Fate:
    """What became of one answered cluster of a former set.

    set_id, cluster_id  which it was; `answer` what was said of it, `size` its rows
    new, overlap        the cluster that continues it and by how much (Jaccard, over the rows both have), or None
    heirs               where its rows are now: (cluster, rows), the most first; rows in no cluster are not counted
    rows                of one that nothing continues, the positions of its rows among the present ones
    """

    set_id: int
    cluster_id: int
    answer: Answer
    size: int
    new: int | None
    overlap: float
    heirs: tuple[tuple[int, int], ...] = ()
    rows: Positions = field(default_factory=_no_rows)


@dataclass(frozen=True)
class Carriage:
    """Which former cluster each new one continues, (set, cluster), in order of importance; and the fates of all
    answers, those of the latest set first."""

    carried: dict[int, tuple[int, int]] = field(default_factory=dict)
    fates: tuple[Fate, ...] = ()


@dataclass(frozen=True, eq=False)
class FormerSet:
    """A set of clusters over rows, and the answers of those that have one."""

    labels: LabelSet
    rows: RowNames
    answers: dict[int, Answer]

    @property
    def assignment(self) -> npt.NDArray[np.int64]:
        return self.labels.assignment.astype(np.int64)

    def outdates(self, cluster_id: int, answer: Cluster) -> bool:
        """Whether what this set says of a cluster was said after `answer`; nothing may have been said at all."""
        cluster = self.labels.clusters[cluster_id]
        untouched = cluster.status == "unnamed" and cluster.time == self.labels.created
        return not untouched and cluster.time >= answer.time


@dataclass(frozen=True)
class Whereabouts:
    """The fates of all names in the set that a session shows, and what its clusters are called now.

    set_id, space_id  the present set and what it is of; `clusters` its clusters' answers
    """

    set_id: int
    space_id: int
    clusters: dict[int, Answer]
    fates: tuple[Fate, ...]


def row_names(record: SpaceRecord) -> RowNames:
    """What is known of the rows of a space to find them in another."""
    kinds = record.columns.get("kind")
    return RowNames(record.names, record.row_ids, None if kinds is None else kinds.tolist(), record.recipe.identity)


def names_onto(progress: Progress, former: FormerLabels, rows: RowNames, assignment: npt.ArrayLike) -> Carriage:
    """The names of a session for a new grouping of rows, read from its file."""
    progress.report(None, "Carrying names over")
    with Session.open_readonly(former.session) as session:
        sets = former_sets(session, session.ancestry())
    return carry(sets, rows, np.asarray(assignment, np.int64))


def whereabouts(progress: Progress, session_path: str, set_id: int | None = None) -> Whereabouts | None:
    """What became of the names of all former sets in the present one, or where those of the set `set_id` belong
    in it; None where there are no clusters."""
    progress.report(None, "Comparing the clusters")
    with Session.open_readonly(session_path) as session:
        labels = session.labels
        if labels is None:
            return None
        sets = former_sets(session, session.ancestry()[1:] if set_id is None else [set_id])
        rows = row_names(session.space(labels.space_id))
    fates = carry(sets, rows, labels.assignment.astype(np.int64)).fates
    return Whereabouts(labels.set_id, labels.space_id, {i: Answer.of(c) for i, c in labels.clusters.items()}, fates)


def former_sets(session: Session, set_ids: Sequence[int]) -> list[FormerSet]:
    """The sets to look through: the first, whose colours count as well, and the answered ones after it."""
    rows: dict[int, RowNames] = {}
    found: list[FormerSet] = []
    for place, set_id in enumerate(set_ids):
        labels = session.label_set(set_id)
        answers = answers_of(labels)
        if place and not answers:
            continue
        if labels.space_id not in rows:
            rows[labels.space_id] = row_names(session.space(labels.space_id))
        found.append(FormerSet(labels, rows[labels.space_id], answers))
        if len(found) == MOST_SETS:
            break
    return found


def answers_of(labels: LabelSet) -> dict[int, Answer]:
    """The answers of the clusters that are named or resist."""
    return {i: Answer.of(cluster) for i, cluster in labels.clusters.items() if cluster.status != "unnamed"}


def carry(sets: Sequence[FormerSet], rows: RowNames, assignment: npt.NDArray[np.int64]) -> Carriage:
    """Carry the clusters of the first set onto new ones, and the answers that wait in the others.

    An answer of an older set waits unless a later set took its cluster over: then what the person made of it
    there counts, be it another name or none. Where they left it as it was, it is one answer seen twice, and
    either cluster may lead to its place. Each new cluster takes one answer, those of later sets first.

    sets        the former sets, the latest first
    rows        the new rows; `assignment` (n,) their clusters, -1 for none
    """
    carrier = _Carrier(sets, rows, assignment)
    for place in range(len(sets)):
        carrier.take(place)
    return Carriage(carrier.carried, tuple(carrier.fates()))


class _Carrier:
    """The work of `carry`. A key (place of the set, cluster) stands for an answer: its latest cluster."""

    def __init__(self, sets: Sequence[FormerSet], rows: RowNames, assignment: npt.NDArray[np.int64]) -> None:
        self._sets, self._rows, self._assignment = sets, rows, assignment
        self._keys: dict[tuple[int, int], tuple[int, int] | None] = {}
        self._steps: dict[tuple[int, int], CarryOver] = {}
        self._placed: dict[tuple[int, int], tuple[int, float]] = {}
        self.carried: dict[int, tuple[int, int]] = {}
        self._answered: set[int] = set()

    def take(self, place: int) -> None:
        """Find new clusters for the answers of the set at `place`; for the first one also for the others."""
        former = self._sets[place]
        for cluster_id in sorted(former.answers):
            self._keys[place, cluster_id] = self._key(place, cluster_id)
        waiting = {i: key for i in former.answers if (key := self._keys[place, i]) and key not in self._placed}
        old, new = former.assignment, self._assignment
        if place:
            if not waiting:
                return
            old = np.where(np.isin(old, list(waiting)), old, -1)
            new = np.where(np.isin(new, list(self._answered)), -1, new)
        over = carry_over(former.rows, old, self._rows, new, answered=former.answers.keys())
        for pair in over.carried:
            if place == 0 or pair.old in waiting:
                self.carried.pop(pair.new, None)  # what comes later in the order gives way where colours collide
                self.carried[pair.new] = (former.labels.set_id, pair.old)
            if pair.old in waiting:
                self._answered.add(pair.new)
                self._placed[waiting[pair.old]] = (pair.new, pair.jaccard)

    def _key(self, place: int, cluster_id: int) -> tuple[int, int] | None:
        """Which answer this is: an own one, that of a later set that took it over, or None: no longer given."""
        answer = self._sets[place].labels.clusters[cluster_id]
        for later in range(place - 1, -1, -1):
            heir = next((new for new, old in self._step(place, later).mapping.items() if old == cluster_id), None)
            if heir is None:
                continue
            said = self._sets[later].labels.clusters[heir]
            if (said.status, said.name.casefold()) == (answer.status, answer.name.casefold()):
                return self._keys[later, heir]
            if self._sets[later].outdates(heir, answer):
                return None
        return (place, cluster_id)

    def _step(self, place: int, later: int) -> CarryOver:
        """How the clusters of one former set continue in a later one."""
        if (place, later) not in self._steps:
            one, two = self._sets[place], self._sets[later]
            self._steps[place, later] = carry_over(
                one.rows, one.assignment, two.rows, two.assignment, answered=one.answers.keys()
            )
        return self._steps[place, later]

    def fates(self) -> list[Fate]:
        """What became of each answer, those of the latest set first."""
        matched: dict[int, tuple[Positions, Positions]] = {}
        made = []
        for (place, cluster_id), key in self._keys.items():
            if key != (place, cluster_id):
                continue
            former = self._sets[place]
            if id(former.rows) not in matched:
                matched[id(former.rows)] = match_rows(former.rows, self._rows)
            here, there = matched[id(former.rows)]
            members = former.assignment == cluster_id
            rows = np.sort(there[members[here]])
            heirs = _heirs(self._assignment[rows])
            new, overlap = self._placed.get(key, (None, 0.0))
            made.append(
                Fate(
                    former.labels.set_id,
                    cluster_id,
                    former.answers[cluster_id],
                    int(members.sum()),
                    new,
                    overlap,
                    heirs,
                    rows if new is None else _no_rows(),
                )
            )
        return made


def _heirs(owners: npt.NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    ids, counts = np.unique(owners[owners >= 0], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_MOST_HEIRS]
    return tuple((int(ids[i]), int(counts[i])) for i in order)
