"""A file's labels come back exactly on the same rows, and by name on others, with everything counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kiruviz.errors import UserError
from kiruviz.figures.label_files import Label, Labels, write_labels
from kiruviz.progress import Silent
from kiruviz.session.labels import Answer, Cluster
from kiruviz.session.store import Session
from kiruviz.space import Recipe
from kiruviz.tasks import exports, spaces
from kiruviz.tasks.label_join import plan_import, read_labelled


@pytest.fixture
def marked(session_file: Path) -> Path:
    """The session with notes, confidence, rows set aside, a cluster of its own and one merged away."""
    with Session.open(session_file) as session:
        session.set_aside([3, 77, 120])
        session.new_cluster([5, 6, 7])
        session.merge([2, 4])
        session.rename(3, 'a, "b"\nc')
        session.set_note(3, "line one\nline two")
        session.set_confidence(3, 1)
    return session_file


def imported(target: Path, file: Path) -> tuple[np.ndarray, dict[int, Cluster]]:
    """What the window does with a file."""
    plan = plan_import(Silent(), str(target), str(file))
    with Session.open(target) as session:
        session.set_clusters(plan.space_id, "import", {"file": file.name}, plan.assignment, given=plan.clusters)
        assert session.labels is not None
        return session.labels.assignment, session.labels.clusters


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_on_the_same_rows_labels_come_back_exactly(marked: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"labels{suffix}"
    exports.export_labels(Silent(), str(marked), str(out))
    with Session.open(marked) as session:
        before = session.labels
        assert before is not None
        session.set_clusters(before.space_id, "kmeans", {"k": 1}, np.zeros(200, int))
    assignment, clusters = imported(marked, out)
    assert assignment.tolist() == before.assignment.tolist()
    said = {i: (Answer.of(c), c.color) for i, c in clusters.items()}
    assert said == {i: (Answer.of(c), c.color) for i, c in before.clusters.items()}
    plan = plan_import(Silent(), str(marked), str(out))
    assert (plan.matched, plan.not_in_file, plan.not_on_map, plan.without) == (200, 0, 0, ())


def test_on_another_model_rows_are_matched_by_name_and_the_rest_is_counted(
    marked: Path, everyday: Recipe, tmp_path: Path
) -> None:
    out = tmp_path / "labels.json"
    exports.export_labels(Silent(), str(marked), str(out))
    other = tmp_path / "other.kiru"
    words = (*(everyday.rows.words or ())[:150], "photosynthesis")
    record = spaces.build_space(Silent(), Recipe("minilm", rows=everyday.rows.__class__(words=words)))
    with Session.create(other) as session:
        session.set_clusters(session.add_space(record), "kmeans", {}, np.zeros(len(record), int))
    plan = plan_import(Silent(), str(other), str(out))
    assert (plan.matched, plan.not_in_file, plan.not_on_map) == (150, 1, 50)
    theirs = read_labelled(out)
    owner = dict(zip(theirs.rows.names, theirs.labels.assignment.tolist(), strict=True))
    assert [owner.get(name, -1) for name in record.names] == plan.assignment.tolist()
    assert "50 rows of the file not on the map (" in plan.sentence()
    assert "1 row of the map not in the file" in plan.sentence()


def test_a_cluster_without_a_row_here_is_named(marked: Path, tmp_path: Path) -> None:
    labels = Labels((Label(0, "months", "named", None, "", ("July",)), Label(9, "gone", "named", None, "", ("zzz",))))
    plan = plan_import(Silent(), str(marked), str(write_labels(tmp_path / "a.csv", labels)))
    assert (plan.without, plan.examples) == (("gone",), ("zzz",))
    assert list(plan.clusters) == [0]
    assert "No row here for: gone." in plan.sentence()


def test_colours_that_a_file_does_not_say_are_free_ones(marked: Path, tmp_path: Path) -> None:
    labels = Labels(
        (Label(0, "months", "named", None, "", ("July",)), Label(1, "x", "named", None, "", ("king",), (), 0))
    )
    _, clusters = imported(marked, write_labels(tmp_path / "a.json", labels))
    assert {i: c.color for i, c in clusters.items()} == {0: 1, 1: 0}


def test_what_does_not_fit_is_refused_in_a_sentence(marked: Path, tmp_path: Path) -> None:
    strange = write_labels(tmp_path / "a.csv", Labels((Label(0, "x", "named", None, "", ("zzz", "yyy")),)))
    with pytest.raises(UserError, match=r"No row of a\.csv \(“zzz”, “yyy”, …\) is on the map"):
        plan_import(Silent(), str(marked), str(strange))
    Session.create(tmp_path / "empty.kiru").close()
    with pytest.raises(UserError, match="no rows on the map yet"):
        plan_import(Silent(), str(tmp_path / "empty.kiru"), str(strange))
    with pytest.raises(UserError, match="has no clusters yet"):
        read_labelled(tmp_path / "empty.kiru")
    with pytest.raises(UserError, match=r"should end in \.csv, \.json or \.kiru"):
        read_labelled(tmp_path / "labels.html")
