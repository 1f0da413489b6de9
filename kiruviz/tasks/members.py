"""The jobs behind the list of a cluster's members."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.grouping import ClusterMetric, as_measured
from kiruviz.analysis.members import centroid_distances
from kiruviz.analysis.row_match import match_rows
from kiruviz.analysis.suggestions import Suggestion
from kiruviz.figures import tables
from kiruviz.progress import Progress
from kiruviz.session.journal import LabelSetInfo
from kiruviz.session.store import Session
from kiruviz.space import Recipe
from kiruviz.tasks.carrying import former_sets, row_names
from kiruviz.tasks.spaces import space

_LEAST = 0.3  # the overlap from which a former name is worth suggesting
_MOST = 2  # former names for one cluster

Assignment = npt.NDArray[np.int32]


def member_distances(
    progress: Progress, recipe: Recipe, assignment: Assignment, metric: ClusterMetric = "euclidean"
) -> npt.NDArray[np.float64]:
    """Euclidean distance of each row, as it was clustered, to the centroid of its cluster; see
    `analysis.members.centroid_distances`."""
    return centroid_distances(as_measured(space(recipe).vectors, metric), assignment, progress)


def write_members(progress: Progress, columns: dict[str, list[Any]], out: str, overwrite: bool = False) -> str:
    """Write a list of members as CSV or Parquet; the path written."""
    progress.report(None, "Writing the list")
    return str(tables.write_table(Path(out), columns, overwrite))


@dataclass(frozen=True)
class FormerNames:
    """Names that clusters of former sets had, for the clusters of the set `set_id`: best overlap first."""

    set_id: int
    by_cluster: dict[int, tuple[Suggestion, ...]]


def former_names(progress: Progress, session_path: str) -> FormerNames | None:
    """Names given in a session's former sets to clusters that overlap with the present ones, also over other rows
    and in other models; None where there are no clusters. The overlap is Jaccard's over the rows both have."""
    progress.report(None, "Looking through former names")
    with Session.open_readonly(session_path) as session:
        labels = session.labels
        if labels is None:
            return None
        infos = {info.set_id: info for info in session.label_sets()}
        named = [i for i in sorted(infos, reverse=True) if infos[i].named and i != labels.set_id]
        sets = former_sets(session, named)
        record = session.space(labels.space_id)
        titles = {s.labels.set_id: session.space(s.labels.space_id).model_title for s in sets}
    rows, present = row_names(record), labels.assignment.astype(np.int64)
    found: dict[int, dict[str, tuple[float, Suggestion]]] = {}
    for former in sets:
        progress.check()
        here, there = (None, None) if former.labels.space_id == labels.space_id else match_rows(former.rows, rows)
        one = former.assignment if here is None else former.assignment[here]
        two = present if there is None else present[there]
        title = titles[former.labels.set_id]
        model = "" if title == record.model_title else title
        for old, new, overlap in _overlaps(one, two):
            answer = former.answers.get(old)
            if answer is None or answer.status != "named":
                continue
            names = found.setdefault(new, {})
            key = answer.name.casefold()
            if key not in names or names[key][0] < overlap:
                names[key] = (overlap, _former(answer.name, overlap, model, infos[former.labels.set_id]))
    return FormerNames(
        labels.set_id,
        {new: tuple(s for _, s in sorted(names.values(), key=lambda n: -n[0])[:_MOST]) for new, names in found.items()},
    )


def _overlaps(one: npt.NDArray[np.int64], two: npt.NDArray[np.int64]) -> list[tuple[int, int, float]]:
    """Pairs of clusters of two groupings of the same rows, and their overlap where it is worth a suggestion."""
    sizes_one, sizes_two = (dict(zip(*np.unique(g, return_counts=True), strict=True)) for g in (one, two))
    both = (one >= 0) & (two >= 0)
    pairs, counts = np.unique(np.stack([one[both], two[both]]), axis=1, return_counts=True)
    found = []
    for (old, new), shared in zip(pairs.T.tolist(), counts.tolist(), strict=True):
        overlap = shared / (int(sizes_one[old]) + int(sizes_two[new]) - shared)
        if overlap >= _LEAST:
            found.append((old, new, overlap))
    return found


def _former(name: str, overlap: float, model: str, info: LabelSetInfo) -> Suggestion:
    shown = f"{overlap:.2f}".removeprefix("0")
    when = datetime.fromtimestamp(info.time).strftime("%d %B, %H:%M")
    why = f"The name of a cluster of {info.title} ({info.space_title}, {when}); overlap (Jaccard) {shown}."
    return Suggestion(name, f"{model or 'former set'}, {shown}", why)
