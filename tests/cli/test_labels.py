"""`kiruviz labels A B`: two people's labels compared and made one, and `kiruviz export --labels`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kiruviz.figures.label_files import Label, Labels, read_labels, write_labels
from kiruviz.session.store import Session
from tests.cli.conftest import Run

WORDS = [tuple(f"w{i}{j}" for j in range(5)) for i in range(4)]


def labels(*answers: tuple[str, str, str]) -> Labels:
    return Labels(tuple(Label(i, name, status, None, note, WORDS[i]) for i, (status, name, note) in enumerate(answers)))


NOBODY = ("unnamed", "", "")


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    one = labels(("named", "months", "a's"), ("named", "days", ""), ("resists", "", ""), NOBODY)
    two = labels(("named", "calendar", ""), ("named", " Days", ""), NOBODY, ("named", "food", "b's"))
    return write_labels(tmp_path / "a.csv", one), write_labels(tmp_path / "b.json", two)


def test_agreement_and_differences_are_printed(kiruviz: Run, pair: tuple[Path, Path]) -> None:
    ran = kiruviz("labels", *pair)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "Cohen's kappa 0.333; 5 of 10 rows labelled alike (50.0 %); 20 rows in both."
    assert "case and outer spaces" in lines[1]
    assert lines[3].split() == ["0", "0", "months", "calendar", "different", "names", "1.00", "5"]
    found = json.loads(kiruviz("labels", *pair, "--json").out)
    assert (found["rows"], found["agreeing"], found["agreement"], found["shared_rows"]) == (10, 5, 0.5, 20)
    assert found["kappa"] == pytest.approx(1 / 3)
    assert [c["kind"] for c in found["conflicts"]] == ["different_names", "only_b", "only_a"]
    assert found["conflicts"][0]["b"] == {
        "cluster": 0, "status": "named", "name": "calendar", "note": "", "confidence": 0,
    }  # fmt: skip


def test_no_name_is_chosen_unasked(kiruviz: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "both.csv"
    kiruviz("labels", *pair, "--merge", out).refused_with("“months” and “calendar”", "--prefer a or b")
    assert not out.exists()


@pytest.mark.parametrize(
    ("prefer", "name", "note"), [("a", "months", "a's\nalso: calendar"), ("b", "calendar", "also: months\na's")]
)
def test_both_are_written_as_one_and_nothing_is_lost(
    kiruviz: Run, pair: tuple[Path, Path], tmp_path: Path, prefer: str, name: str, note: str
) -> None:
    out = tmp_path / "both.csv"
    ran = kiruviz("labels", *pair, "--merge", out, "--prefer", prefer)
    assert ran.out.splitlines()[-1] == f"wrote {out}"
    merged = read_labels(out).clusters
    assert (merged[0].name, merged[0].note) == (name, note)
    assert [(c.status, c.name, c.note) for c in merged[1:]] == [
        ("named", "days", ""),
        ("resists", "", ""),
        ("named", "food", "b's"),
    ]
    assert [c.members for c in merged] == WORDS
    kiruviz("labels", *pair, "--merge", out, "--prefer", prefer).refused_with("exists already")
    assert kiruviz("labels", *pair, "--merge", out, "--prefer", prefer, "--overwrite").code == 0


def test_a_cluster_that_a_has_not_is_made_or_said_to_be_left_out(kiruviz: Run, tmp_path: Path) -> None:
    one = write_labels(tmp_path / "a.csv", labels(("named", "x", ""), ("named", "y", "")))
    firsts = (WORDS[0][0], WORDS[1][0])
    rest = tuple(word for words in WORDS for word in words if word not in firsts)
    across = Labels((Label(7, "firsts", "named", None, "", firsts), Label(0, "", "unnamed", None, "", rest)))
    two = write_labels(tmp_path / "b.csv", across)
    ran = kiruviz("labels", one, two, "--merge", tmp_path / "pa.csv", "--prefer", "a")
    assert "left out, since a.csv has no such cluster: firsts" in ran.out
    kiruviz("labels", one, two, "--merge", tmp_path / "pb.csv", "--prefer", "b")
    assert [(c.name, c.members) for c in read_labels(tmp_path / "pb.csv").clusters][-1] == ("firsts", firsts)


def test_a_session_and_its_own_labels_agree_wholly(kiruviz: Run, tmp_path: Path) -> None:
    session = tmp_path / "a.kiru"
    assert kiruviz("map", "smollm2", "--session", session).code == 0
    with Session.open(session) as opened:
        opened.rename(0, "one")
        opened.rename(1, "two")
    for suffix in (".csv", ".json", ".html"):
        assert kiruviz("export", session, "--labels", tmp_path / f"l{suffix}").code == 0
    assert "<h1>Labels: SmolLM2-135M-Instruct</h1>" in (tmp_path / "l.html").read_text(encoding="utf-8")
    for other in ("l.csv", "l.json"):
        found = json.loads(kiruviz("labels", session, tmp_path / other, "--json").out)
        assert (found["kappa"], found["conflicts"], found["shared_rows"], found["same"]) == (1.0, [], 200, 2)
    out = tmp_path / "merged.json"
    kiruviz("labels", session, tmp_path / "l.csv", "--merge", out)
    assert read_labels(out) == read_labels(tmp_path / "l.json")


def test_what_does_not_fit_is_one_sentence(kiruviz: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    one, two = pair
    kiruviz("labels", one, tmp_path / "gone.csv").refused_with("gone.csv cannot be read")
    kiruviz("labels", one, tmp_path / "gone.kiru").refused_with("gone.kiru")
    kiruviz("labels", one, two, "--prefer", "a").refused_with("--merge OUT.csv")
    kiruviz("labels", one, two, "--merge", tmp_path / "x.txt").refused_with("should end in .csv")
    strange = write_labels(tmp_path / "c.csv", Labels((Label(0, "x", "named", None, "", ("zzz",)),)))
    kiruviz("labels", one, strange).refused_with("No row of c.csv")
    bad = tmp_path / "bad.csv"
    bad.write_text("token,label\nMay\n", encoding="utf-8")
    kiruviz("labels", one, bad).refused_with("bad.csv, line 2, field label: is missing")
    kiruviz("labels", one).refused_with("The following arguments are required: B")
