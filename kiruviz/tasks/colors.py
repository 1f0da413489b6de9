"""Colours for new clusters, by where they lie on the map."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from kiruviz.analysis.coloring import IN_ORDER, color_clusters
from kiruviz.progress import Progress
from kiruviz.session.store import Session
from kiruviz.tasks.carrying import FormerLabels
from kiruviz.tasks.maps import Assignment, ClusterOutcome, Coords


def recolor(progress: Progress, coords: Coords, assignment: Assignment, fixed: Mapping[int, int]) -> dict[int, int]:
    """The palette's number for each cluster that is not in `fixed`, which maps cluster ids to the colours they keep."""
    progress.report(None, "Choosing colours")
    return color_clusters(coords, assignment, fixed, progress.check)


def with_colors(
    progress: Progress, outcome: ClusterOutcome, former: FormerLabels | None, places: Callable[[], Coords]
) -> ClusterOutcome:
    """`outcome` with colours for the clusters that take over none; `places` gives coordinates if they are needed."""
    if int(outcome.assignment.max(initial=-1)) < IN_ORDER:  # in order, as the session gives them by itself
        return outcome
    fixed = _carried(former, outcome)
    return replace(outcome, colors=recolor(progress, places(), outcome.assignment, fixed))


def _carried(former: FormerLabels | None, outcome: ClusterOutcome) -> dict[int, int]:
    """The colours of the clusters that continue a former one."""
    carried = outcome.carriage.carried
    if former is None or not carried:
        return {}
    with Session.open_readonly(former.session) as session:
        sets = {set_id: session.label_set(set_id) for set_id in sorted({set_id for set_id, _ in carried.values()})}
    found = {new: sets[set_id].clusters.get(old) for new, (set_id, old) in carried.items()}
    return {new: cluster.color for new, cluster in found.items() if cluster is not None and cluster.color >= 0}
