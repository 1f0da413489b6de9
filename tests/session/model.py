"""What a session should do, written as plainly as can be: lists, dicts, whole copies for undo.

It shares no code with `kiruviz.session`; the property test holds the one against the other.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field


@dataclass
class Label:
    status: str = "unnamed"
    name: str = ""
    note: str = ""
    confidence: int = 0
    color: int = 0


@dataclass
class Clusters:
    owners: list[int]
    labels: dict[int, Label]

    def members(self, cluster_id: int) -> list[int]:
        return [row for row, owner in enumerate(self.owners) if owner == cluster_id]

    def free_color(self) -> int:
        return min(set(range(len(self.labels) + 1)) - {label.color for label in self.labels.values()})

    def drop_empty(self) -> None:
        self.labels = {i: label for i, label in self.labels.items() if i in self.owners}


Answer = tuple[str, str, str, int]  # status, name, note, confidence
State = tuple[int, dict[int, Clusters]]  # the current set, all sets


@dataclass
class Model:
    """The two stacks hold whole former and later states; `made` each set as it was when it was made."""

    current: int
    sets: dict[int, Clusters]
    made: dict[int, Clusters] = field(default_factory=dict)
    before: list[State] = field(default_factory=list)
    after: list[State] = field(default_factory=list)

    @classmethod
    def start(cls, owners: list[int]) -> Model:
        first = Clusters(list(owners), {i: Label(color=n) for n, i in enumerate(sorted(set(owners) - {-1}))})
        return cls(1, {1: first}, {1: deepcopy(first)})

    @property
    def now(self) -> Clusters:
        return self.sets[self.current]

    def act(self, kind: str, *values: object) -> None:
        """Do an action; it counts as one only if it changed something."""
        state = (self.current, deepcopy(self.sets))
        getattr(self, f"_{kind}")(*values)
        self.now.drop_empty()
        if (self.current, self.sets) != state:
            self.before.append(state)
            self.after.clear()

    def undo(self) -> None:
        self._travel(self.before, self.after)

    def redo(self) -> None:
        self._travel(self.after, self.before)

    def _travel(
        self, there: list[tuple[int, dict[int, Clusters]]], back: list[tuple[int, dict[int, Clusters]]]
    ) -> None:
        if there:
            back.append((self.current, deepcopy(self.sets)))
            self.current, sets = there.pop()
            self.sets = {**deepcopy(self.made), **deepcopy(sets)}  # a set that was made is never gone

    def _rename(self, cluster_id: int, name: str) -> None:
        if name.strip():
            self.now.labels[cluster_id].status = "named"
            self.now.labels[cluster_id].name = name.strip()
        else:
            self._clear(cluster_id)

    def _resist(self, cluster_id: int, note: str | None) -> None:
        label = self.now.labels[cluster_id]
        label.status, label.name = "resists", ""
        if note is not None:
            label.note = note.strip()

    def _clear(self, cluster_id: int) -> None:
        label = self.now.labels[cluster_id]
        if label.status != "unnamed":
            label.status, label.name, label.confidence = "unnamed", "", 0

    def _set_note(self, cluster_id: int, note: str) -> None:
        self.now.labels[cluster_id].note = note.strip()

    def _set_confidence(self, cluster_id: int, confidence: int) -> None:
        self.now.labels[cluster_id].confidence = confidence

    def _merge(self, ids: list[int]) -> None:
        labels = self.now.labels
        if len(set(ids)) > 1:
            labelled = [i for i in ids if labels[i].status != "unnamed"]
            labels[ids[0]] = labels[labelled[0] if labelled else ids[0]]
            self.now.owners = [ids[0] if owner in ids else owner for owner in self.now.owners]

    def _split(self, cluster_id: int, parts: list[int]) -> None:
        members = self.now.members(cluster_id)
        numbers = sorted(set(parts) - {-1})
        largest = max(numbers, key=lambda number: (parts.count(number), -number), default=None)
        places = {-1: -1, largest: cluster_id}
        top = max(self.now.labels)
        for offset, number in enumerate([number for number in numbers if number != largest]):
            places[number] = top + 1 + offset
            self.now.labels[places[number]] = Label(color=self.now.free_color())
        for row, part in zip(members, parts, strict=True):
            self.now.owners[row] = places[part]

    def _new_cluster(self, rows: list[int]) -> None:
        if rows and not any(set(rows) == set(self.now.members(i)) for i in self.now.labels):
            made = max(self.now.labels, default=-1) + 1
            self.now.labels[made] = Label(color=self.now.free_color())
            self._move(rows, made)

    def _adopt(self, answers: dict[int, Answer], revived: list[tuple[list[int], Answer]]) -> None:
        first = max(self.now.labels, default=-1) + 1
        taken = {label.color for label in self.now.labels.values()}
        fresh = [(first + i, color) for i, color in enumerate(sorted(set(range(len(taken) + 9)) - taken)[:9])]
        for cluster_id, answer in answers.items():
            self._answer(cluster_id, answer)
        for rows, answer in revived:
            alone = [i for i in self.now.labels if rows and set(rows) == set(self.now.members(i))]
            if rows and not alone:
                alone = [fresh[0][0]]
                self.now.labels[alone[0]] = Label(color=fresh.pop(0)[1])
                self._move(rows, alone[0])
            for cluster_id in alone:
                self._answer(cluster_id, answer)

    def _answer(self, cluster_id: int, answer: Answer) -> None:
        label = self.now.labels[cluster_id]
        label.status, name, note, label.confidence = answer
        label.name = name.strip() if label.status == "named" else ""
        label.note = note.strip()
        if label.status == "named" and not label.name:
            label.status = "unnamed"

    def _move(self, rows: list[int], cluster_id: int) -> None:
        for row in rows:
            self.now.owners[row] = cluster_id

    def _set_aside(self, rows: list[int]) -> None:
        self._move(rows, -1)

    def _set_clusters(self, owners: list[int], carried: dict[int, int]) -> None:
        clusters = Clusters(list(owners), {})
        ids = sorted(set(owners) - {-1})
        for i in ids:
            if carried.get(i) in self.now.labels:
                clusters.labels[i] = deepcopy(self.now.labels[carried[i]])
        for i in ids:
            if i not in clusters.labels:
                clusters.labels[i] = Label(color=clusters.free_color())
        if clusters != self.now:
            self.current = max(self.sets) + 1
            self.sets[self.current] = clusters
            self.made[self.current] = deepcopy(clusters)

    def _restore_set(self, set_id: int) -> None:
        self.current = set_id
