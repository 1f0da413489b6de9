"""Where the clusters' names belong: found once, and again only for clusters whose members or places changed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.placement import densest_spot
from kiruviz.session.labels import LabelSet

# Found in one go: some 15 ms. 500 at once would hold the window for too long.
AT_ONCE = 60


class Spots:
    """The densest spot of each cluster, by its id."""

    def __init__(self) -> None:
        self._coords: npt.NDArray[np.float32] | None = None
        self._labels: LabelSet | None = None
        self._spots: dict[int, tuple[float, float]] = {}

    def follow(self, coords: npt.NDArray[np.float32], labels: LabelSet) -> None:
        """Forget the spots of clusters that are no longer where they were."""
        before, self._labels = self._labels, labels
        if coords is not self._coords or before is None or len(before.assignment) != len(labels.assignment):
            self._coords = coords
            self._spots.clear()
            return
        moved = np.flatnonzero(before.assignment != labels.assignment)
        for owners in (before.assignment[moved], labels.assignment[moved]):
            for cluster_id in set(owners.tolist()):
                self._spots.pop(cluster_id, None)

    def find(self, wanted: Iterable[int]) -> bool:
        """Find those of `wanted` that are not known, up to `AT_ONCE`; whether all are known then."""
        missing = [cluster_id for cluster_id in wanted if cluster_id not in self._spots]
        assert self._labels is not None
        assert self._coords is not None
        for cluster_id in missing[:AT_ONCE]:
            members = self._labels.members(cluster_id)
            x, y = densest_spot(self._coords[members]).tolist()
            self._spots[cluster_id] = (x, y)
        return len(missing) <= AT_ONCE

    def at(self, cluster_id: int) -> tuple[float, float] | None:
        """The spot of a cluster, None while it is not known."""
        return self._spots.get(cluster_id)
