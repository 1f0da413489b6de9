"""Two people's labels: the agreement, each kind of difference, and what each choice comes to."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from kiruviz.analysis.row_match import RowNames
from kiruviz.errors import UserError
from kiruviz.session import edits
from kiruviz.session.labels import Answer, Cluster, LabelSet
from kiruviz.tasks.label_join import Labelled
from kiruviz.tasks.label_merge import Choice, Comparison, compare, resolve

WORDS = [f"w{i}" for i in range(24)]
OWNERS = [i // 4 for i in range(24)]  # six clusters of four


def labelled(answers: dict[int, Answer], owners: list[int] = OWNERS, words: list[str] = WORDS) -> Labelled:
    clusters = {
        i: Cluster(i, a.status, a.name, a.note, a.confidence, color=i)
        for i in sorted(set(owners) - {-1})
        for a in [answers.get(i, Answer())]
    }
    return Labelled("b.csv", RowNames(words), LabelSet(1, 1, "kmeans", {}, np.array(owners), clusters), {})


MINE = labelled(
    {
        0: Answer("named", "months", "mine", 2),
        1: Answer("named", "days"),
        2: Answer("resists", "", "why"),
        3: Answer("named", "people", "", 1),
        4: Answer("named", "Food"),
    }
)
# The same clusters under other numbers.
THEIRS = labelled(
    {
        15: Answer("named", "calendar", "theirs", 3),
        13: Answer("named", "odd ones"),
        12: Answer("named", " PEOPLE ", "kings", 3),
        11: Answer("named", "food"),
        10: Answer("resists", "", "mixed"),
    },
    [15 - owner for owner in OWNERS],
)


def kinds(found: Comparison) -> dict[str, tuple[int | None, int | None]]:
    return {c.kind: (c.mine, c.theirs) for c in found.conflicts}


def after(found: Comparison, choices: dict[int, Choice]) -> LabelSet:
    merged = resolve(found.conflicts, choices)
    edit = edits.adopt(MINE.labels, merged.answers, merged.revived, "merge", 5.0)
    return MINE.labels if edit is None else edit.patch.apply(MINE.labels)


def choosing(found: Comparison, choice: Choice) -> dict[int, Answer]:
    labels = after(found, dict.fromkeys(range(len(found.conflicts)), choice))
    return {i: Answer.of(c) for i, c in labels.clusters.items()}


def test_each_kind_of_difference_is_found_those_to_decide_on_first() -> None:
    found = compare(MINE, THEIRS)
    assert kinds(found) == {
        "different names": (0, 15),
        "resists or named": (2, 13),
        "only theirs": (5, 10),
        "only mine": (1, 14),
        "note": (3, 12),
    }
    assert [c.kind for c in found.conflicts][:2] == ["different names", "resists or named"]
    assert found.same == 1
    assert all(c.overlap == 1.0 for c in found.conflicts)
    assert found.conflicts[0].members == "w0, w1, w2, w3"


def test_the_agreement_is_kappa_over_rows_that_both_answered() -> None:
    found = compare(MINE, THEIRS)
    mine = ["months"] * 4 + ["resists"] * 4 + ["people"] * 4 + ["food"] * 4
    theirs = ["calendar"] * 4 + ["odd ones"] * 4 + ["people"] * 4 + ["food"] * 4
    assert (found.agreement.rows, found.agreement.agreeing) == (16, 8)
    assert found.agreement.kappa == pytest.approx(cohen_kappa_score(mine, theirs))
    assert found.sentence() == (
        f"Cohen's kappa {cohen_kappa_score(mine, theirs):.3f}; 8 of 16 rows labelled alike (50.0 %); 24 rows in both."
    )


def test_mine_changes_nothing_and_neither_does_no_choice() -> None:
    found = compare(MINE, THEIRS)
    assert after(found, {}) is MINE.labels
    assert after(found, dict.fromkeys(range(5), "mine")) is MINE.labels


def test_theirs_takes_their_answers() -> None:
    said = choosing(compare(MINE, THEIRS), "theirs")
    assert said == {
        0: Answer("named", "calendar", "theirs", 3),
        1: Answer(),
        2: Answer("named", "odd ones"),
        3: Answer("named", "PEOPLE", "kings", 3),
        4: Answer("named", "Food"),
        5: Answer("resists", "", "mixed"),
    }


def test_both_loses_no_word_of_either() -> None:
    said = choosing(compare(MINE, THEIRS), "both")
    assert said == {
        0: Answer("named", "months", "mine\nalso: calendar\ntheirs", 2),
        1: Answer("named", "days"),
        2: Answer("resists", "", "why\nalso: odd ones"),
        3: Answer("named", "people", "kings", 1),
        4: Answer("named", "Food"),
        5: Answer("resists", "", "mixed"),
    }


def test_their_cluster_that_is_none_here_can_be_made() -> None:
    owners = [9 if i % 4 == 0 else 15 - owner for i, owner in enumerate(OWNERS)]
    theirs = labelled({9: Answer("named", "firsts", "", 2)}, owners)
    found = compare(labelled({}), theirs)
    (conflict,) = found.conflicts
    assert (conflict.kind, conflict.mine, conflict.rows.tolist()) == ("no such cluster", None, [0, 4, 8, 12, 16, 20])
    labels = after(found, {0: "theirs"})
    assert labels.members(6).tolist() == [0, 4, 8, 12, 16, 20]
    assert Answer.of(labels.clusters[6]) == Answer("named", "firsts", "", 2)


def test_rows_that_only_one_has_are_counted_and_not_compared() -> None:
    few = labelled({0: Answer("named", "x"), 1: Answer("named", "y")}, [0] * 4 + [1] * 4, [*WORDS[:6], "new", "newer"])
    found = compare(MINE, few)
    assert (found.shared, found.only_mine, found.only_theirs) == (6, 18, 2)
    assert "6 rows in both, 18 only in a, 2 only in b." in found.sentence(("a", "b"))


def test_nothing_in_common_is_refused() -> None:
    with pytest.raises(UserError, match=r"No row of b\.csv"):
        compare(MINE, labelled({}, [0], ["other"]))


def test_no_answer_of_both_is_no_agreement() -> None:
    found = compare(MINE, labelled({}))
    assert "No row has an answer from both" in found.sentence()
    assert {c.kind for c in found.conflicts} == {"only mine"}
