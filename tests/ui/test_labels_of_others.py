"""Labels of files and of other people in the window: imported, merged, exported; each one step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFileDialog

from kiruviz.figures.label_files import Label, Labels, read_labels, write_labels
from kiruviz.session.labels import Answer, LabelSet
from kiruviz.tasks import exports
from kiruviz.ui.merge_dialog import MergeDialog
from kiruviz.ui.window import MainWindow
from tests.ui import driving
from tests.ui.driving import click, named, press, titles, wait_until

pytestmark = pytest.mark.keeps_running


@pytest.fixture(autouse=True)
def fresh(window: MainWindow, qtbot: object) -> Iterator[None]:
    """Eight clusters; the first is “months”, the second resists, the third is “people”."""
    window.document.label(lambda s: s.rename(0, "months"))
    window.document.label(lambda s: s.resist(1, "mixed"))
    window.document.label(lambda s: s.rename(2, "people"))
    yield
    for dialog in window.findChildren(QDialog):
        dialog.close()
    session = window.document.session
    assert session is not None
    while session.can_undo:
        window.commands.undo()
    window.map_pane.banner.hide()


def labels_of(window: MainWindow) -> LabelSet:
    assert window.document.labels is not None
    return window.document.labels


def exported(window: MainWindow, path: Path) -> Path:
    window.commands.run_export("Export labels", exports.export_labels, str(path))
    wait_until(path.exists, "the file")
    return path


def changed(labels: Labels, **answers: tuple[str, str]) -> Labels:
    """The file with other answers: c3=("named", "colours")."""
    return Labels(
        tuple(
            label if f"c{label.cluster}" not in answers else Label(
                label.cluster, answers[f"c{label.cluster}"][1], answers[f"c{label.cluster}"][0], None, "theirs",
                label.members, label.row_ids, label.color,
            )
            for label in labels.clusters
        ),
        labels.recipe,
        labels.aside,
    )  # fmt: skip


def merging(window: MainWindow, path: Path) -> MergeDialog:
    window.commands.labels.merge_with(path)
    wait_until(lambda: any(d.isVisible() for d in window.findChildren(MergeDialog)), "the differences")
    return next(d for d in window.findChildren(MergeDialog) if d.isVisible())


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_exported_labels_are_imported_again_exactly_as_one_step(
    window: MainWindow, tmp_path: Path, suffix: str
) -> None:
    window.document.label(lambda s: s.set_aside([0, 1]))
    window.document.label(lambda s: s.new_cluster([5, 6, 7]))
    before = labels_of(window)
    path = exported(window, tmp_path / f"labels{suffix}")
    for _ in range(5):
        window.commands.undo()
    assert named(window) == []
    bare = labels_of(window)
    window.commands.labels.import_from(path)
    wait_until(lambda: named(window) == ["months", "people"], "the labels")
    after = labels_of(window)
    assert after.assignment.tolist() == before.assignment.tolist()
    assert {i: (Answer.of(c), c.color) for i, c in after.clusters.items()} == {
        i: (Answer.of(c), c.color) for i, c in before.clusters.items()
    }
    assert not window.map_pane.banner.text
    assert "200 rows" in window.status.text()
    window.commands.undo()
    assert labels_of(window).clusters == bare.clusters


def test_rows_that_do_not_fit_are_counted_and_said(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_bytes("\ufefftoken,label\r\nJuly,months\r\nking,people\r\nnowhere,people\r\n".encode())
    window.commands.labels.import_from(path)
    wait_until(lambda: window.map_pane.banner.text, "the counts")
    said = window.map_pane.banner.text
    assert "words.csv: 2 clusters, 2 of them with an answer, on 2 rows." in said
    assert "1 row of the file not on the map (nowhere)." in said
    assert "198 rows of the map not in the file" in said
    click(driving.buttons(window.map_pane.banner)["Undo"])
    assert len(titles(window)) == 8


def test_a_bad_file_is_one_sentence_and_changes_nothing(window: MainWindow, tmp_path: Path) -> None:
    before = labels_of(window)
    path = tmp_path / "bad.csv"
    path.write_text("token,label,confidence\nJuly,months,7\n", encoding="utf-8")
    window.commands.labels.import_from(path)
    wait_until(lambda: window.map_pane.banner.text, "a sentence")
    assert "bad.csv, line 2, field confidence: 7 should be 1, 2 or 3, or empty." in window.map_pane.banner.text
    assert labels_of(window) is before


def test_files_are_asked_for(window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = exported(window, tmp_path / "mine.csv")
    asked: list[str] = []

    def ask(_: object, title: str, *rest: str) -> tuple[str, str]:
        asked.append(title)
        return str(path), rest[-1]

    monkeypatch.setattr(QFileDialog, "getOpenFileName", ask)
    window.actions_by_name["merge_labels"].trigger()
    wait_until(lambda: any(d.isVisible() for d in window.findChildren(MergeDialog)), "the dialog")
    window.findChild(MergeDialog).close()
    window.actions_by_name["import_labels"].trigger()
    wait_until(lambda: "mine.csv" in window.status.text(), "an import")
    assert asked == ["Merge with another person's labels", "Import labels"]


def test_differences_are_chosen_with_keys_and_taken_as_one_step(window: MainWindow, tmp_path: Path) -> None:
    path = exported(window, tmp_path / "other.csv")
    theirs = changed(
        read_labels(path), c0=("named", "calendar"), c1=("named", "odd"), c2=("unnamed", ""), c3=("named", "colours")
    )
    write_labels(path, theirs, overwrite=True)
    before = labels_of(window)
    dialog = merging(window, path)
    assert [row[4] for row in dialog.model.rows] == [
        "different names", "one resists, one named", "only theirs named", "only mine named",
    ]  # fmt: skip
    assert "Cohen's kappa" in dialog.agreement.text()
    assert dialog.to_go.text() == "2 still to choose"
    assert not dialog.take.isEnabled()
    press(dialog.table, "3")
    assert dialog.table.currentIndex().row() == 1
    press(dialog.table, "2")
    assert dialog.take.isEnabled()
    click(dialog.take)
    said = {i: Answer.of(c) for i, c in labels_of(window).clusters.items()}
    assert said[0] == Answer("named", "months", "also: calendar\ntheirs")
    assert said[1] == Answer("named", "odd", "theirs")
    assert said[2] == Answer("named", "people")
    assert said[3] == Answer("named", "colours", "theirs")
    assert "3 clusters" in window.status.text()
    window.commands.undo()
    assert labels_of(window).clusters == before.clusters


def test_labels_without_a_difference_leave_nothing_to_take(window: MainWindow, tmp_path: Path) -> None:
    dialog = merging(window, exported(window, tmp_path / "same.json"))
    assert "Cohen's kappa 1.000" in dialog.agreement.text()
    assert dialog.about.text() == "Nothing differs."
    assert not dialog.take.isEnabled()
    press(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_a_session_of_another_person_can_be_merged(window: MainWindow, tmp_path: Path) -> None:
    import shutil

    from kiruviz.session.store import Session

    session = window.document.session
    assert session is not None
    session.save()
    other = Path(shutil.copy(session.path, tmp_path / "theirs.kiru"))
    with Session.open(other) as theirs:
        theirs.rename(5, "food")
    dialog = merging(window, other)
    assert [row[3] for row in dialog.model.rows] == ["food"]
    click(dialog.take)
    assert labels_of(window).clusters[5].name == "food"


def test_a_page_to_print_is_among_the_formats(window: MainWindow, tmp_path: Path) -> None:
    page = exported(window, tmp_path / "labels.html").read_text(encoding="utf-8")
    assert "months" in page
    assert "@media print" in page
