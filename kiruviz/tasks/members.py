"""The jobs behind the list of a cluster's members."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.grouping import ClusterMetric, as_measured
from kiruviz.analysis.members import centroid_distances
from kiruviz.figures import tables
from kiruviz.progress import Progress
from kiruviz.space import Recipe
from kiruviz.tasks.spaces import space

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
