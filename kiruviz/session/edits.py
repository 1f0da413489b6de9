"""The label operations: a LabelSet in, an Edit (title and Patch) out, or None where nothing would change.

Pure. A cluster that loses its last row vanishes from the set; the patch keeps its label, so that undo brings
it back with its name. A cluster id that is not in the set raises UserError, positions outside it ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.palette import ALL_DIFFERENT
from kiruviz.session.labels import ASIDE, Answer, Assignment, Cluster, LabelSet, Patch, Positions, distinct


@dataclass(frozen=True)
class Edit:
    """One action: what the history calls it, and what it changes."""

    title: str
    patch: Patch


def rename(labels: LabelSet, cluster_id: int, name: str, now: float) -> Edit | None:
    """Name a cluster; the name is trimmed, an empty one clears the label."""
    name = _clean(name)
    if not name:
        return clear(labels, cluster_id, now)
    cluster = replace(_cluster(labels, cluster_id), status="named", name=name)
    return _edit(labels, f"name cluster {cluster_id} “{name}”", now, changed=[cluster])


def resist(labels: LabelSet, cluster_id: int, note: str | None, now: float) -> Edit | None:
    """Mark a cluster as resisting a name; `note` says why, None leaves the note as it is."""
    former = _cluster(labels, cluster_id)
    kept = former.note if note is None else _clean(note)
    cluster = replace(former, status="resists", name="", note=kept)
    return _edit(labels, f"mark {cluster_id} as resisting", now, changed=[cluster])


def clear(labels: LabelSet, cluster_id: int, now: float) -> Edit | None:
    """Take a label away, with its confidence; the note is about the cluster and stays."""
    former = _cluster(labels, cluster_id)
    if former.status == "unnamed":
        return None
    cluster = replace(former, status="unnamed", name="", confidence=0)
    return _edit(labels, f"clear the label of {cluster_id}", now, changed=[cluster])


def set_note(labels: LabelSet, cluster_id: int, note: str, now: float) -> Edit | None:
    """Write a cluster's note (trimmed; empty takes it away)."""
    cluster = replace(_cluster(labels, cluster_id), note=_clean(note))
    return _edit(labels, f"note on {cluster_id}", now, changed=[cluster])


def set_confidence(labels: LabelSet, cluster_id: int, confidence: int, now: float) -> Edit | None:
    """Say how sure the label is, 1 to 3; 0 takes it away. ValueError outside that."""
    if confidence not in range(4):
        raise ValueError(f"confidence is 0 to 3, not {confidence}")
    cluster = replace(_cluster(labels, cluster_id), confidence=int(confidence))
    return _edit(labels, f"confidence {confidence} for {cluster_id}", now, changed=[cluster])


def merge(labels: LabelSet, cluster_ids: Sequence[int], now: float) -> Edit | None:
    """Put clusters together into the first, which keeps its label and color. Where the first has no label it
    takes over that of the first one that has: a merge should not lose the only name."""
    clusters = [_cluster(labels, cluster_id) for cluster_id in dict.fromkeys(cluster_ids)]
    if len(clusters) < 2:
        return None
    first = clusters[0].cluster_id
    ids = [cluster.cluster_id for cluster in clusters]
    assignment = np.where(np.isin(labels.assignment, ids), first, labels.assignment)
    title = f"merge {', '.join(map(str, ids[:-1]))} and {ids[-1]}"
    return _edit(labels, title, now, assignment, [replace(_heir(clusters), cluster_id=first)])


def split(
    labels: LabelSet, cluster_id: int, parts: npt.NDArray[np.integer], now: float, colors: Sequence[int] = ()
) -> Edit | None:
    """Split a cluster by `parts`, one number for each of its members in the order of `LabelSet.members`.

    The largest part (the first of equal ones) keeps the id and the label, the others become new clusters in
    the order of their numbers, coloured by `colors`; members with part -1 are set aside. ValueError on another length.
    """
    _cluster(labels, cluster_id)
    members = labels.members(cluster_id)
    parts = np.asarray(parts)
    if parts.shape != members.shape:
        raise ValueError(f"cluster {cluster_id} has {len(members)} members, parts has shape {parts.shape}")
    values, counts = distinct(parts[parts != ASIDE])
    assignment = labels.assignment.copy()
    assignment[members[parts == ASIDE]] = ASIDE
    others = np.delete(values, np.argmax(counts)) if len(values) else values
    fresh = _fresh(labels, len(others), colors)
    for value, cluster in zip(others, fresh, strict=True):
        assignment[members[parts == value]] = cluster.cluster_id
    return _edit(labels, f"split {cluster_id} into {max(len(values), 1)}", now, assignment, fresh)


def new(labels: LabelSet, positions: npt.ArrayLike, now: float, colors: Sequence[int] = ()) -> Edit | None:
    """Make a cluster of the rows at `positions`, in the first of `colors`; nothing changes where they are a cluster
    of their own already."""
    rows = _positions(labels, positions)
    if not len(rows) or _alone(labels, rows) is not None:
        return None
    cluster = _fresh(labels, 1, colors)[0]
    assignment = _assigned(labels, rows, cluster.cluster_id)
    return _edit(labels, f"new cluster {cluster.cluster_id} of {_rows(rows)}", now, assignment, [cluster])


def move(labels: LabelSet, positions: npt.ArrayLike, cluster_id: int, now: float) -> Edit | None:
    """Move rows into a cluster, from whatever cluster or from those set aside."""
    _cluster(labels, cluster_id)
    rows = _positions(labels, positions)
    return _edit(labels, f"move {_rows(rows)} to {cluster_id}", now, _assigned(labels, rows, cluster_id))


def set_aside(labels: LabelSet, positions: npt.ArrayLike, now: float) -> Edit | None:
    """Take rows out of their clusters."""
    rows = _positions(labels, positions)
    return _edit(labels, f"set aside {_rows(rows)}", now, _assigned(labels, rows, ASIDE))


def recolor(labels: LabelSet, colors: Mapping[int, int], now: float) -> Edit | None:
    """Give clusters other colors; ids that are not in the set are passed over."""
    changed = [replace(labels.clusters[i], color=int(color)) for i, color in colors.items() if i in labels.clusters]
    return _edit(labels, "recolour the clusters", now, changed=changed)


def adopt(
    labels: LabelSet,
    answers: Mapping[int, Answer],
    revived: Sequence[tuple[npt.ArrayLike, Answer]],
    title: str,
    now: float,
) -> Edit | None:
    """Give several clusters their answers and make clusters of rows with theirs, as one action.

    answers  cluster id -> its answer, in place of the one it has
    revived  positions of rows, taken out of whatever cluster they are in, and the answer of the new cluster.
             Rows that are a cluster of their own already give that cluster the answer; of rows given twice
             the last counts.
    """
    changed = {i: _answering(_cluster(labels, i), answer) for i, answer in answers.items()}
    step, added = labels, len(revived)
    fresh = iter(_fresh(labels, added))
    for positions, answer in revived:
        rows = _positions(labels, positions)
        if not len(rows):
            continue
        alone = _alone(step, rows)
        cluster = step.clusters[alone] if alone is not None else next(fresh)
        changed[cluster.cluster_id] = _answering(cluster, answer)
        clusters = {**step.clusters, cluster.cluster_id: changed[cluster.cluster_id]}
        step = replace(step, assignment=_assigned(step, rows, cluster.cluster_id), clusters=clusters)
    remaining = set(distinct(step.assignment)[0].tolist())
    kept = [cluster for i, cluster in changed.items() if i in remaining]
    return _edit(labels, title, now, step.assignment, kept)


def new_clusters(
    assignment: Assignment,
    carried: Mapping[int, Sequence[int]],
    former: Mapping[int, Cluster],
    now: float,
    given: Mapping[int, Cluster] | None = None,
    colors: Mapping[int, int] | None = None,
) -> dict[int, Cluster]:
    """The clusters of a new assignment.

    `given` has whole clusters for new ids, the most important first: a color below 0 is replaced, and while there are
    few one that a former has as well (many share colors on purpose); a time of 0 is now. `colors` are for those that
    take over none.
    `carried` maps a new cluster id to the ids, best first, of the `former` clusters it descends from: it takes
    over label and color of the first that has a label, else of the first. All others are unnamed and get the
    smallest colors not in use where `colors` has none for them. Ids that are in neither are left out.
    """
    colors = colors or {}
    ids = [i for i in distinct(assignment)[0].tolist() if i != ASIDE]
    present = set(ids)
    clusters: dict[int, Cluster] = {}
    colorless: list[Cluster] = []
    for cluster_id, cluster in (given or {}).items():
        if cluster_id not in present:
            continue
        made = replace(_answering(cluster, Answer.of(cluster)), cluster_id=cluster_id, time=cluster.time or now)
        taken = len(ids) <= ALL_DIFFERENT and cluster.color in [c.color for c in clusters.values()]
        clusters[cluster_id] = made
        if cluster.color < 0 or taken:
            colorless.append(clusters.pop(cluster_id))
    waiting = {cluster.cluster_id for cluster in colorless}
    for cluster_id in ids:
        ancestors = [former[i] for i in carried.get(cluster_id, ()) if i in former]
        if ancestors and cluster_id not in clusters and cluster_id not in waiting:
            clusters[cluster_id] = replace(_heir(ancestors), cluster_id=cluster_id)
    used = {cluster.color for cluster in clusters.values()} | set(colors.values())
    free = (color for color in count() if color not in used)
    for cluster in colorless:
        color = colors.get(cluster.cluster_id)
        clusters[cluster.cluster_id] = replace(cluster, color=next(free) if color is None else color)
    for cluster_id in ids:
        if cluster_id not in clusters:
            color = colors.get(cluster_id)
            clusters[cluster_id] = Cluster(cluster_id, color=next(free) if color is None else color, time=now)
    return clusters


def _edit(
    labels: LabelSet,
    title: str,
    now: float,
    assignment: npt.NDArray[np.integer] | None = None,
    changed: Sequence[Cluster] = (),
) -> Edit | None:
    """The edit that gives `labels` a new assignment and the `changed` clusters, stamped with the time."""
    clusters: dict[int, tuple[Cluster | None, Cluster | None]] = {}
    for cluster in changed:
        former = labels.clusters.get(cluster.cluster_id)
        if former is None or replace(cluster, time=former.time) != former:
            # A colour says nothing: `time` stays that of the label (`tasks.carrying` goes by it).
            recolored = former is not None and replace(cluster, color=former.color, time=former.time) == former
            time = former.time if former is not None and recolored else now
            clusters[cluster.cluster_id] = (former, replace(cluster, time=time))
    rows = np.empty(0, np.int64)
    after = np.empty(0, np.int32)
    if assignment is not None:
        rows = np.flatnonzero(labels.assignment != assignment).astype(np.int64)
        after = assignment[rows].astype(np.int32)
        remaining = set(distinct(assignment)[0].tolist())
        for cluster_id, former in labels.clusters.items():
            if cluster_id not in remaining:
                clusters[cluster_id] = (former, None)
    if not clusters and not len(rows):
        return None
    current = (labels.set_id, labels.set_id)
    return Edit(title, Patch(current, clusters, rows, labels.assignment[rows], after))


def _alone(labels: LabelSet, rows: Positions) -> int | None:
    """The cluster that just these rows are already, if they are one."""
    owners, _ = distinct(labels.assignment[rows])
    if len(owners) != 1 or owners[0] == ASIDE:
        return None
    owner = int(owners[0])
    return owner if labels.sizes()[owner] == len(rows) else None


def _answering(cluster: Cluster, answer: Answer) -> Cluster:
    """`cluster` with an answer as the other operations would leave it: trimmed, an empty name is none."""
    name, confidence = _clean(answer.name), answer.confidence
    if confidence not in range(4):
        raise ValueError(f"confidence is 0 to 3, not {confidence}")
    status = "unnamed" if answer.status == "named" and not name else answer.status
    if status != "named":
        name = ""
    return replace(cluster, status=status, name=name, note=_clean(answer.note), confidence=int(confidence))


def _cluster(labels: LabelSet, cluster_id: int) -> Cluster:
    if cluster_id not in labels.clusters:
        raise UserError(f"Cluster {cluster_id} is no longer in the current set; choose one from the table.")
    return labels.clusters[cluster_id]


def _heir(clusters: Sequence[Cluster]) -> Cluster:
    """The cluster whose label survives when several become one."""
    return next((cluster for cluster in clusters if cluster.status != "unnamed"), clusters[0])


def _fresh(labels: LabelSet, number: int, colors: Sequence[int] = ()) -> list[Cluster]:
    """New unnamed clusters, with ids after all others, in `colors` and then the smallest colors not in use."""
    first = max(labels.clusters, default=-1) + 1
    used = {cluster.color for cluster in labels.clusters.values()} | set(colors)
    free = chain(colors, (color for color in count() if color not in used))
    return [Cluster(first + i, color=next(free)) for i in range(number)]


def _positions(labels: LabelSet, positions: npt.ArrayLike) -> Positions:
    rows = distinct(np.asarray(positions, dtype=np.int64))[0].astype(np.int64)
    if len(rows) and not 0 <= rows[0] <= rows[-1] < len(labels.assignment):
        raise ValueError(f"positions {rows[0]} to {rows[-1]}, the set has {len(labels.assignment)} rows")
    return rows


def _assigned(labels: LabelSet, rows: Positions, cluster_id: int) -> Assignment:
    assignment = labels.assignment.copy()
    assignment[rows] = cluster_id
    return assignment


def _rows(rows: Positions) -> str:
    return f"{len(rows)} row" if len(rows) == 1 else f"{len(rows)} rows"


def _clean(text: str) -> str:
    """`text` trimmed; half characters, which a paste can bring and no UTF-8 file can hold, become `?`."""
    return text.encode("utf-8", "replace").decode("utf-8").strip()
