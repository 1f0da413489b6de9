"""Labels of a file, or of another session, brought to the rows of a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.row_match import Positions, RowNames, match_rows
from kiruviz.errors import UserError
from kiruviz.figures.label_files import READABLE, Label, Labels, read_labels
from kiruviz.progress import Progress
from kiruviz.session.labels import ASIDE, Cluster, LabelSet, Status
from kiruviz.session.records import SpaceRecord
from kiruviz.session.store import Session
from kiruviz.space import display_name
from kiruviz.tasks.carrying import row_names
from kiruviz.tasks.exports import read_map, recipe_lines

_SHOWN = 3


@dataclass(frozen=True, eq=False)
class Labelled:
    """What one person said of rows: `labels` are over `rows`, `source` is the file's name, `recipe` how the map was
    made, as files of labels tell it (empty for a session)."""

    source: str
    rows: RowNames
    labels: LabelSet
    recipe: dict[str, str]


@dataclass(frozen=True, eq=False)
class ImportPlan:
    """A file's labels on the rows of a map.

    space_id     the rows; `assignment` (n,) int32 their clusters, -1 for those that the file has in none
    clusters     the file's clusters that have a row here, by number
    matched      rows of the map that are in the file; `not_in_file` how many are not
    not_on_map   how many rows of the file are not on the map, and `examples` of them
    without      titles of answered clusters that have no row here
    """

    source: str
    space_id: int
    assignment: npt.NDArray[np.int32]
    clusters: dict[int, Cluster]
    matched: int
    not_in_file: int
    not_on_map: int
    examples: tuple[str, ...]
    without: tuple[str, ...]

    def sentence(self) -> str:
        """What came of it, counted."""
        answered = sum(cluster.status != "unnamed" for cluster in self.clusters.values())
        parts = [
            f"{self.source}: {_count(len(self.clusters), 'cluster')}, {answered} of them with an answer, on "
            f"{_count(self.matched, 'row')}."
        ]
        if self.not_on_map:
            more = ", …" if self.not_on_map > len(self.examples) else ""
            parts.append(
                f"{_count(self.not_on_map, 'row')} of the file not on the map ({', '.join(self.examples)}{more})."
            )
        if self.not_in_file:
            parts.append(f"{_count(self.not_in_file, 'row')} of the map not in the file, so in no cluster.")
        if self.without:
            parts.append(f"No row here for: {', '.join(self.without)}.")
        return " ".join(parts)


def read_labelled(path: Path) -> Labelled:
    """One person's labels from a file of labels or from a session. UserError names the file and what is wrong."""
    if path.suffix.lower() == ".kiru":
        with Session.open_readonly(path) as session:
            if session.labels is None:
                raise UserError(f"{path} has no clusters yet, so there are no labels in it.")
            labelled = labelled_of(path.name, session.space(session.labels.space_id), session.labels)
            return replace(labelled, recipe=_recipe(session))
    if path.suffix.lower() not in READABLE:
        raise UserError(f"{path} should end in .csv, .json or .kiru: a file of labels or a session.")
    return _of_file(path.name, read_labels(path))


def _recipe(session: Session) -> dict[str, str]:
    try:
        return recipe_lines(read_map(session)[0])
    except UserError:  # clusters without a picture have labels all the same
        return {}


def labelled_of(source: str, record: SpaceRecord, labels: LabelSet) -> Labelled:
    """The labels of a session."""
    return Labelled(source, row_names(record), labels, {})


def _of_file(source: str, labels: Labels) -> Labelled:
    groups = labels.groups
    names = [name for group in groups for name in group.members]
    numbers = [n for group in groups for n in (group.row_ids or (None,) * len(group.members))]
    known = any(group.row_ids for group in groups)
    row_ids = np.array([-1 if n is None else n for n in numbers], np.int64) if known else None
    owners = [group.cluster for group in groups for _ in group.members]
    clusters = {label.cluster: _cluster(label) for label in labels.clusters}
    rows = RowNames(names, row_ids, None, labels.recipe.get("identity", ""))
    label_set = LabelSet(0, 0, "import", {"file": source}, np.array(owners, np.int32), clusters)
    return Labelled(source, rows, label_set, labels.recipe)


def _cluster(label: Label) -> Cluster:
    status: Status = "named" if label.status == "named" else "resists" if label.status == "resists" else "unnamed"
    color = -1 if label.color is None else label.color  # the session gives it one
    return Cluster(label.cluster, status, label.name, label.note, label.confidence or 0, color)


def plan_import(progress: Progress, session_path: str, path: str) -> ImportPlan:
    """Bring a file's labels to the rows on the map of a session.

    Raises UserError where the file is wrong (see `label_files.read_labels`) or none of its rows is on the map.
    """
    progress.report(None, "Reading the labels")
    theirs = read_labelled(Path(path))
    with Session.open_readonly(session_path) as session:
        space_id = session.labels.space_id if session.labels is not None else session.view("space_id")
        if space_id is None:
            raise UserError("There are no rows on the map yet, so labels cannot be brought to them.")
        rows = row_names(session.space(space_id))
    here, there = matched_rows(rows, theirs, "the map")
    assignment = np.full(len(rows), ASIDE, np.int32)
    assignment[here] = theirs.labels.assignment[there]
    present = set(assignment.tolist())
    clusters = theirs.labels.clusters
    missing = np.setdiff1d(np.arange(len(theirs.rows)), there)
    return ImportPlan(
        theirs.source,
        space_id,
        assignment,
        {i: cluster for i, cluster in clusters.items() if i in present},
        matched=len(here),
        not_in_file=len(rows) - len(here),
        not_on_map=len(missing),
        examples=tuple(display_name(theirs.rows.names[i]) for i in missing[:_SHOWN].tolist()),
        without=tuple(c.title for i, c in clusters.items() if i not in present and c.status != "unnamed"),
    )


def matched_rows(rows: RowNames, theirs: Labelled, place: str) -> tuple[Positions, Positions]:
    """Positions of the rows that both have, in `rows` and in `theirs`; UserError where there is none."""
    here, there = match_rows(rows, theirs.rows)
    if not len(here):
        shown = ", ".join(f"“{display_name(name)}”" for name in theirs.rows.names[:_SHOWN])
        raise UserError(
            f"No row of {theirs.source} ({shown}, …) is on {place}; show the rows it was made of, or choose another "
            "file."
        )
    return here, there


def names_of(rows: RowNames, positions: Sequence[int], most: int) -> str:
    """The first rows' names, as they are shown."""
    shown = ", ".join(display_name(rows.names[i]) for i in positions[:most])
    return f"{shown}, …" if len(positions) > most else shown


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
