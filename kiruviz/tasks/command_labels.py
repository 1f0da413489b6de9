"""`kiruviz labels A B`: how far two people's labels agree, where they differ, and both in one file."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kiruviz.errors import UserError
from kiruviz.figures import label_files
from kiruviz.figures.label_files import Label, Labels
from kiruviz.progress import Progress
from kiruviz.session import edits
from kiruviz.session.labels import ASIDE, Answer, LabelSet
from kiruviz.space import display_name
from kiruviz.tasks.exports import check_outputs
from kiruviz.tasks.label_join import Labelled, read_labelled
from kiruviz.tasks.label_merge import DEFAULTS, Choice, Comparison, Conflict, Kind, both, compare, resolve

Side = Literal["a", "b"]
_SHOWN = 3
_KINDS: dict[Kind, str] = {
    "different names": "different names",
    "resists or named": "resists or named",
    "no such cluster": "no such cluster in a",
    "only theirs": "only b",
    "only mine": "only a",
    "note": "note or confidence",
}


@dataclass(frozen=True)
class LabelsOrder:
    """What `kiruviz labels` is asked: two files of labels or sessions, where to write both as one, and whose
    answer counts where they differ (None: that is refused)."""

    a: Path
    b: Path
    merge: Path | None = None
    prefer: Side | None = None
    overwrite: bool = False


@dataclass(frozen=True, eq=False)
class LabelsSummary:
    """What came of it; `notes` say what could not be kept."""

    comparison: Comparison
    written: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def rows(self) -> list[tuple[str, ...]]:
        """A line for each difference: cluster in a and b, what each says, kind, rows."""
        return [
            (
                _number(c.mine), _number(c.theirs), _said(c.my_answer), _said(c.their_answer), _KINDS[c.kind],
                f"{c.overlap:.2f}" if c.overlap else "–", str(c.size),
            )
            for c in self.comparison.conflicts
        ]  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        found = self.comparison
        return {
            "kappa": found.agreement.kappa,
            "rows": found.agreement.rows,
            "agreeing": found.agreement.agreeing,
            "agreement": found.agreement.share,
            "shared_rows": found.shared,
            "only_a": found.only_mine,
            "only_b": found.only_theirs,
            "same": found.same,
            "conflicts": [_conflict_json(conflict) for conflict in found.conflicts],
            "written": list(self.written),
            "notes": list(self.notes),
        }


def run(progress: Progress, order: LabelsOrder) -> LabelsSummary:
    """Compare, and write both as one if asked. UserError where they do not fit, or where both answered differently
    and nobody says whose answer counts."""
    if order.prefer is not None and order.merge is None:
        raise UserError("--prefer says whose answer --merge takes; give --merge OUT.csv as well.")
    check_outputs([(order.merge, label_files.SUFFIXES)], order.overwrite)
    progress.report(None, "Reading the labels")
    mine, theirs = read_labelled(order.a), read_labelled(order.b)
    progress.report(None, "Comparing the labels")
    found = compare(mine, theirs)
    if order.merge is None:
        return LabelsSummary(found)
    choices = {i: _choice(conflict, order) for i, conflict in enumerate(found.conflicts)}
    undecided = [found.conflicts[i] for i, choice in choices.items() if choice is None]
    if undecided:
        raise UserError(_undecided(undecided, order))
    decided = {i: choice for i, choice in choices.items() if choice is not None}
    merged = _apply(mine.labels, found, decided, order)
    label_files.write_labels(order.merge, _to_write(mine, merged), order.overwrite)
    left = [c.their_answer.title for i, c in enumerate(found.conflicts) if c.mine is None and decided[i] == "mine"]
    notes = (f"left out, since {order.a.name} has no such cluster: {', '.join(left)}",) if left else ()
    return LabelsSummary(found, (str(order.merge),), notes)


def _choice(conflict: Conflict, order: LabelsOrder) -> Choice | None:
    """The preferred answer, and the other one in the note, so that nothing is lost."""
    default = DEFAULTS[conflict.kind]
    if default is not None or order.prefer is None:
        return default
    if conflict.mine is None:
        return "mine" if order.prefer == "a" else "theirs"
    return "both" if order.prefer == "a" else "theirs"


def _apply(labels: LabelSet, found: Comparison, choices: dict[int, Choice], order: LabelsOrder) -> LabelSet:
    merged = resolve(found.conflicts, choices)
    answers = dict(merged.answers)
    for i, conflict in enumerate(found.conflicts):
        if order.prefer == "b" and conflict.mine is not None and DEFAULTS[conflict.kind] is None and i in choices:
            turned = replace(conflict, my_answer=conflict.their_answer, their_answer=conflict.my_answer)
            answers[conflict.mine] = both(turned)
    edit = edits.adopt(labels, answers, merged.revived, "merge", 0.0)
    return labels if edit is None else edit.patch.apply(labels)


def _undecided(conflicts: list[Conflict], order: LabelsOrder) -> str:
    shown = "; ".join(f"“{_said(c.my_answer)}” and “{_said(c.their_answer)}”" for c in conflicts[:_SHOWN])
    more = "; …" if len(conflicts) > _SHOWN else ""
    number = "1 cluster" if len(conflicts) == 1 else f"{len(conflicts)} clusters"
    return (
        f"{order.a.name} and {order.b.name} differ on {number} ({shown}{more}); say whose answer counts with "
        "--prefer a or b, or choose one by one in the window."
    )


def _to_write(mine: Labelled, labels: LabelSet) -> Labels:
    ids = mine.rows.row_ids

    def rows(cluster_id: int) -> tuple[tuple[str, ...], tuple[int | None, ...]]:
        members = np.flatnonzero(labels.assignment == cluster_id).tolist()
        numbers = () if ids is None else tuple(int(ids[i]) if ids[i] >= 0 else None for i in members)
        return tuple(mine.rows.names[i] for i in members), numbers

    made = tuple(
        Label(i, c.name, c.status, c.confidence or None, c.note, *rows(i), c.color if c.color >= 0 else None)
        for i, c in sorted(labels.clusters.items())
    )
    without = rows(ASIDE)
    return Labels(made, mine.recipe, label_files.aside(*without) if without[0] else None)


def _number(cluster_id: int | None) -> str:
    return "–" if cluster_id is None else str(cluster_id)


def _said(answer: Answer) -> str:
    return "–" if answer.status == "unnamed" else display_name(answer.title)


def _conflict_json(conflict: Conflict) -> dict[str, Any]:
    sides = {"a": (conflict.mine, conflict.my_answer), "b": (conflict.theirs, conflict.their_answer)}
    return {
        "kind": _KINDS[conflict.kind].replace(" ", "_"),
        **{side: {"cluster": number, **asdict(answer)} for side, (number, answer) in sides.items()},
        "overlap": conflict.overlap,
        "rows": conflict.size,
    }
