"""Choosing the clusters' colours anew, after the map changed."""

from __future__ import annotations

import numpy as np

from kiruviz.session.labels import LabelSet
from kiruviz.tasks import colors
from kiruviz.ui.conductor import Conductor


def recolor(conductor: Conductor, everything: bool) -> None:
    """Choose colours by where the clusters lie now; unless `everything`, a colour that goes with a name stays."""
    document = conductor.document
    labels, coords = document.labels, document.coords
    if labels is None or coords is None:
        conductor.told.emit("There are no clusters on the map yet.")
        return
    clusters = labels.clusters.values()
    fixed = {} if everything else {c.cluster_id: c.color for c in clusters if c.status == "named"}
    if len(fixed) == len(labels.clusters):
        conductor.told.emit("Every cluster has a name and keeps its colour; “Recolour named ones too” changes them.")
        return
    job = conductor.runner.start(
        "analysis", "Choosing colours", colors.recolor, coords, labels.assignment, fixed, key="recolor"
    )
    job.succeeded.connect(lambda found: _recolored(conductor, labels, found))
    job.failed.connect(conductor.failed)


def _recolored(conductor: Conductor, labels: LabelSet, found: dict[int, int]) -> None:
    """Take the colours if the clusters are still those they were chosen for."""
    document = conductor.document
    now = document.labels
    if now is None or now.set_id != labels.set_id or not np.array_equal(now.assignment, labels.assignment):
        return
    document.label(lambda session: session.recolor(found))
    changed = document.labels is not now
    conductor.told.emit("The clusters have other colours." if changed else "The colours suit the map as they are.")
