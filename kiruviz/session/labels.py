"""A cluster with what a person said about it, and a set of clusters over the rows of a space.

Immutable: an operation of `edits` makes a `Patch`, and a patch applied to a set makes the next set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Status = Literal["unnamed", "named", "resists"]
Assignment = npt.NDArray[np.int32]
Positions = npt.NDArray[np.int64]

ASIDE = -1  # the assignment of noise and of rows set aside


def distinct(
    numbers: npt.NDArray[np.integer],
) -> tuple[npt.NDArray[np.integer], Positions]:
    """The different numbers, ascending, and how often each occurs: np.unique without numpy.ma, which that
    imports at its first call, 30 ms that the window would stand still."""
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(first)
    return ordered[starts], np.diff(np.append(starts, len(ordered))).astype(np.int64)


@dataclass(frozen=True)
class Cluster:
    """One cluster's label. `confidence` is 1 to 3, 0 where none was given; `color` is an index of the palette;
    `time` is when the label last changed (seconds since the epoch)."""

    cluster_id: int
    status: Status = "unnamed"
    name: str = ""
    note: str = ""
    confidence: int = 0
    color: int = 0
    time: float = 0.0

    @property
    def title(self) -> str:
        """What stands for the cluster on screen and on paper."""
        if self.status == "named":
            return self.name
        return "resists naming" if self.status == "resists" else f"unnamed {self.cluster_id}"


@dataclass(frozen=True)
class Answer:
    """What a person says of a cluster, apart from which cluster it is; an unnamed one has at most a note."""

    status: Status = "unnamed"
    name: str = ""
    note: str = ""
    confidence: int = 0

    @classmethod
    def of(cls, cluster: Cluster) -> Answer:
        return cls(cluster.status, cluster.name, cluster.note, cluster.confidence)

    @property
    def title(self) -> str:
        if self.status == "named":
            return self.name
        return "resists naming" if self.status == "resists" else "unnamed"


@dataclass(frozen=True)
class LabelProgress:
    """How far the naming is, in clusters."""

    named: int
    resists: int
    unnamed: int
    total: int


@dataclass(frozen=True, eq=False)
class LabelSet:
    """The clusters over the `n` rows of one space, by one method.

    assignment  (n,) int32, read-only: the cluster id of each row, -1 for noise and rows set aside
    clusters    cluster id -> Cluster, exactly one for each id in `assignment`
    """

    set_id: int
    space_id: int
    method: str
    params: dict[str, Any]
    assignment: Assignment
    clusters: dict[int, Cluster]
    created: float = 0.0

    def __post_init__(self) -> None:
        frozen = np.array(self.assignment, dtype=np.int32)
        frozen.setflags(write=False)
        object.__setattr__(self, "assignment", frozen)

    def members(self, cluster_id: int) -> Positions:
        """The positions of a cluster's rows, ascending, int64; `members(-1)` are the rows set aside."""
        return np.flatnonzero(self.assignment == cluster_id).astype(np.int64)

    @cached_property
    def _sizes(self) -> dict[int, int]:
        owners = self.assignment[self.assignment >= 0]
        if not len(owners) or int(owners.max()) > 10 * len(owners) + 1000:
            ids, counts = distinct(owners)
            return dict(zip(ids.tolist(), counts.tolist(), strict=True))
        every = np.bincount(owners)  # a tenth of the time of sorting, and asked for after each edit
        found = np.flatnonzero(every)
        return dict(zip(found.tolist(), every[found].tolist(), strict=True))

    def sizes(self) -> dict[int, int]:
        """Cluster id -> number of rows; rows set aside are not counted."""
        return dict(self._sizes)

    @cached_property
    def order(self) -> list[int]:
        """The cluster ids as the table lists them: ascending."""
        return sorted(self.clusters)

    def progress(self) -> LabelProgress:
        """How many clusters are named, resist naming and are still to go."""
        statuses = [cluster.status for cluster in self.clusters.values()]
        named, resists = statuses.count("named"), statuses.count("resists")
        return LabelProgress(named, resists, len(statuses) - named - resists, len(statuses))

    def next_unnamed(self, after: int | None) -> int | None:
        """The next cluster without a label after `after` (None: from the start), wrapping around; None if
        there is none."""
        waiting = [c for c in self.order if self.clusters[c].status == "unnamed"]
        later = [c for c in waiting if after is None or c > after]
        return next(iter(later or waiting), None)


def _no_positions() -> Positions:
    return np.empty(0, np.int64)


def _no_ids() -> Assignment:
    return np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class Patch:
    """What one action changes, both ways: so every action can be undone alike.

    current   the current set before and after; a patch that switches sets changes nothing inside them
    clusters  cluster id -> the Cluster before and after, None where there is none
    positions (k,) int64 rows whose cluster changes; `before` and `after` (k,) int32 their cluster ids
    """

    current: tuple[int, int]
    clusters: Mapping[int, tuple[Cluster | None, Cluster | None]] = field(default_factory=dict)
    positions: Positions = field(default_factory=_no_positions)
    before: Assignment = field(default_factory=_no_ids)
    after: Assignment = field(default_factory=_no_ids)

    def inverse(self) -> Patch:
        """The patch that takes this one back."""
        return Patch(
            (self.current[1], self.current[0]),
            {cluster_id: (after, before) for cluster_id, (before, after) in self.clusters.items()},
            self.positions,
            self.after,
            self.before,
        )

    @property
    def switches(self) -> bool:
        return self.current[0] != self.current[1]

    def apply(self, labels: LabelSet) -> LabelSet:
        """`labels`, the set this patch was made for, after it."""
        clusters = dict(labels.clusters)
        for cluster_id, (_, after) in self.clusters.items():
            if after is None:
                clusters.pop(cluster_id, None)
            else:
                clusters[cluster_id] = after
        assignment = labels.assignment
        if len(self.positions):
            assignment = assignment.copy()
            assignment[self.positions] = self.after
        return replace(labels, assignment=assignment, clusters=clusters)
