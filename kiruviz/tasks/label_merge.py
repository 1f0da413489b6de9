"""Two people's labels of the same rows: how far they agree, where they differ, and both made one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.agreement import Agreement, agreement
from kiruviz.analysis.carry import carry_over
from kiruviz.analysis.row_match import Positions, RowNames
from kiruviz.errors import UserError
from kiruviz.progress import Progress
from kiruviz.session.labels import Answer, LabelSet
from kiruviz.session.store import Session
from kiruviz.tasks.label_join import Labelled, labelled_of, matched_rows, names_of, read_labelled

Kind = Literal["different names", "resists or named", "no such cluster", "only theirs", "only mine", "note"]
Choice = Literal["mine", "theirs", "both"]
# What differs in what is said has no right answer: a person chooses. The others have one that loses nothing.
DEFAULTS: dict[Kind, Choice | None] = {
    "different names": None,
    "resists or named": None,
    "no such cluster": None,
    "only theirs": "theirs",
    "only mine": "mine",
    "note": "both",
}
COMPARED = "names are compared without regard to case and outer spaces; “resists naming” counts as a label"
_SAMPLE = 6


@dataclass(frozen=True, eq=False)
class Conflict:
    """A cluster on which the two do not say the same.

    mine, theirs        the numbers of the clusters that match, None where there is none
    my_answer, their_answer  what each says
    overlap             Jaccard overlap of the two, over the rows both have; 0 where one is missing
    rows                where the other's cluster has no match here: the positions of its rows among mine
    size, members       how many rows it has here, and the first of them
    """

    kind: Kind
    mine: int | None
    theirs: int | None
    my_answer: Answer
    their_answer: Answer
    overlap: float
    rows: Positions
    size: int
    members: str


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two labellings side by side.

    set_id           of my labels, which the choices are for
    agreement        over the rows that both have and both gave an answer
    shared           rows that both have; `only_mine` and `only_theirs` how many are in one alone
    same             clusters on which both say the same
    conflicts        all others that either answered, those that a person has to decide on first
    """

    set_id: int
    source: str
    agreement: Agreement
    shared: int
    only_mine: int
    only_theirs: int
    same: int
    conflicts: tuple[Conflict, ...]

    def sentence(self, sides: tuple[str, str] = ("mine", "theirs")) -> str:
        """The agreement in words; `sides` is what the two are called."""
        found = self.agreement
        if not found.rows:
            said = "No row has an answer from both, so there is no agreement to tell"
        else:
            kappa = "not defined (one label throughout)" if found.kappa is None else f"{found.kappa:.3f}"
            said = (
                f"Cohen's kappa {kappa}; {found.agreeing:,} of {found.rows:,} rows labelled alike "
                f"({100 * found.agreeing / found.rows:.1f} %)"
            )
        apart = [f"{n:,} only in {who}" for n, who in zip((self.only_mine, self.only_theirs), sides, strict=True) if n]
        rows = f"{self.shared:,} rows in both{''.join(f', {text}' for text in apart)}"
        return f"{said}; {rows}."


def compare(mine: Labelled, theirs: Labelled) -> Comparison:
    """Compare two people's labels. UserError where they have no row in common."""
    here, there = matched_rows(mine.rows, theirs, f"the map of {mine.source}")
    own, other = mine.labels, theirs.labels
    one, two = own.assignment[here].astype(np.int64), other.assignment[there].astype(np.int64)
    found = agreement(_labels(own, one), _labels(other, two))
    places = RowNames([str(i) for i in range(len(one))])  # the rows are matched already
    over = carry_over(places, one, places, two, answered=_answered(own))
    pairs = {pair.old: (pair.new, pair.jaccard) for pair in over.carried}
    conflicts, same = [], 0
    for i in own.order:
        j, overlap = pairs.get(i, (None, 0.0))
        answers = Answer.of(own.clusters[i]), Answer() if j is None else Answer.of(other.clusters[j])
        kind = _kind(*answers)
        same += kind is None and answers[0].status != "unnamed"
        if kind is not None:
            conflicts.append(_conflict(mine, kind, i, j, answers, overlap, own.members(i)))
    for j in sorted(_answered(other) - set(over.mapping)):
        rows = np.sort(here[two == j])
        if len(rows):
            answers = Answer(), Answer.of(other.clusters[j])
            conflicts.append(_conflict(mine, "no such cluster", None, j, answers, 0.0, rows))
    order = list(DEFAULTS)
    conflicts.sort(key=lambda conflict: order.index(conflict.kind))
    rest = len(mine.rows) - len(here), len(theirs.rows) - len(there)
    return Comparison(own.set_id, theirs.source, found, len(here), *rest, same, tuple(conflicts))


def _answered(labels: LabelSet) -> set[int]:
    return {i for i, cluster in labels.clusters.items() if cluster.status != "unnamed"}


def _labels(labels: LabelSet, owners: npt.NDArray[np.int64]) -> list[tuple[str, str] | None]:
    """The label of each row, None where its cluster has no answer."""
    said = {i: _said(Answer.of(cluster)) for i, cluster in labels.clusters.items()}
    return [said.get(owner) for owner in owners.tolist()]


def _said(answer: Answer) -> tuple[str, str] | None:
    if answer.status == "unnamed":
        return None
    return (answer.status, answer.name.strip().casefold())


def _kind(mine: Answer, theirs: Answer) -> Kind | None:
    """In which way two answers on one cluster differ, None where they do not."""
    one, two = _said(mine), _said(theirs)
    if one is None and two is None:
        return None
    if one is None:
        return "only theirs"
    if two is None:
        return "only mine"
    if one != two:
        return "different names" if mine.status == theirs.status else "resists or named"
    other = (theirs.note and theirs.note != mine.note) or theirs.confidence not in (0, mine.confidence)
    return "note" if other else None


def _conflict(
    mine: Labelled,
    kind: Kind,
    i: int | None,
    j: int | None,
    answers: tuple[Answer, Answer],
    overlap: float,
    rows: Positions,
) -> Conflict:
    members = names_of(mine.rows, rows.tolist(), _SAMPLE)
    alone = rows if i is None else np.empty(0, np.int64)
    return Conflict(kind, i, j, *answers, overlap, alone, len(rows), members)


@dataclass(frozen=True, eq=False)
class Merged:
    """What choices come to: answers for clusters that are here, and clusters to be made of rows."""

    answers: dict[int, Answer]
    revived: tuple[tuple[Positions, Answer], ...]


def resolve(conflicts: Sequence[Conflict], choices: Mapping[int, Choice]) -> Merged:
    """What the choices, by the conflicts' places, come to. One without a choice stays as it is here."""
    answers: dict[int, Answer] = {}
    revived: list[tuple[Positions, Answer]] = []
    for place, conflict in enumerate(conflicts):
        choice = choices.get(place, "mine")
        if choice == "mine":
            continue
        answer = conflict.their_answer if choice == "theirs" else both(conflict)
        if conflict.mine is not None:
            answers[conflict.mine] = answer
        else:
            revived.append((conflict.rows, answer))
    return Merged(answers, tuple(revived))


def both(conflict: Conflict) -> Answer:
    """My answer, with theirs in the note; theirs where I gave none."""
    mine, theirs = conflict.my_answer, conflict.their_answer
    if _said(mine) is None:
        return replace(theirs, note=_lines(mine.note, theirs.note))
    other = f"also: {theirs.title}" if _said(theirs) not in (None, _said(mine)) else ""
    return replace(mine, note=_lines(mine.note, other, theirs.note), confidence=mine.confidence or theirs.confidence)


def _lines(*notes: str) -> str:
    return "\n".join(dict.fromkeys(note for note in notes if note))


def compare_with(progress: Progress, session_path: str, path: str) -> Comparison:
    """The labels of a session and those of another person's file or session."""
    progress.report(None, "Reading the labels")
    theirs = read_labelled(Path(path))
    with Session.open_readonly(session_path) as session:
        if session.labels is None:
            raise UserError("There are no clusters on the map yet; cluster it, or import the labels.")
        mine = labelled_of("this session", session.space(session.labels.space_id), session.labels)
    progress.report(None, "Comparing the labels")
    return compare(mine, theirs)
