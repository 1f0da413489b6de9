"""What became of the names, and the former sets: listed, acted on, restored; nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog

from kiruviz.analysis.carry import overlaps
from kiruviz.analysis.grouping import ClusterSpec, KMeansParams
from kiruviz.session.labels import Answer, Cluster, LabelSet
from kiruviz.space import Recipe, Rows
from kiruviz.ui.conductor import MapChoice
from kiruviz.ui.former_sets import FormerSets
from kiruviz.ui.names_report import NamesReport
from kiruviz.ui.window import MainWindow
from tests.ui import driving
from tests.ui.driving import click, named, press, titles, wait_until

pytestmark = pytest.mark.keeps_running
EIGHT = ("months", "people", "colours", "places", "verbs", "numbers", "animals", "food")


@pytest.fixture(autouse=True)
def fresh(window: MainWindow, qtbot: object) -> Iterator[None]:
    """Eight clusters, all named."""
    window.conductor.choice = MapChoice()
    session = window.document.session
    assert session is not None
    for cluster_id, name in enumerate(EIGHT):
        window.document.label(lambda s, i=cluster_id, n=name: s.rename(i, n))
    yield
    for dialog in window.findChildren(QDialog):
        dialog.close()
    while session.can_undo:
        window.commands.undo()
    window.map_pane.banner.hide()


def labels_of(window: MainWindow) -> LabelSet:
    assert window.document.labels is not None
    return window.document.labels


def cluster(window: MainWindow, k: int, seed: int = 0) -> None:
    """Cluster anew as the pane does, and wait for it."""
    before = labels_of(window).set_id
    window.conductor.draw(MapChoice("umap", {}, ClusterSpec(KMeansParams(k=k, seed=seed))))
    wait_until(lambda: window.document.labels is not None and labels_of(window).set_id != before, "other clusters")


def opened_report(window: MainWindow) -> NamesReport:
    window.commands.labels.report()
    dialog = next(d for d in window.findChildren(NamesReport) if d.isVisible())
    wait_until(lambda: dialog.model.fates or "nothing to report" in dialog.summary.text(), "the report")
    return dialog


def opened_sets(window: MainWindow) -> FormerSets:
    window.commands.labels.former_sets()
    return next(d for d in window.findChildren(FormerSets) if d.isVisible())


def select_name(dialog: NamesReport, name: str) -> None:
    dialog.table.selectRow([fate.answer.name for fate in dialog.model.fates].index(name))


@pytest.mark.parametrize(("seed", "k"), [(1, 8), (2, 8), (0, 6), (0, 10), (3, 12), (7, 7), (5, 9), (4, 16), (1, 4)])
def test_every_name_half_alike_is_carried_reported_and_brought_back_by_undo(
    window: MainWindow, seed: int, k: int
) -> None:
    before = labels_of(window)
    cluster(window, k, seed)
    after = labels_of(window)

    table = overlaps(before.assignment.astype(np.int64), after.assignment.astype(np.int64), before.order, after.order)
    alike = [(before.clusters[i].name, j) for i in before.order for j in after.order if table[i, j] >= 0.5]
    report = opened_report(window)
    states = {row[0]: (row[3], row[4]) for row in report.model.rows}
    kept = sum(state == "carried over" for state, _ in states.values())
    print(f"seed {seed}, k {k}: {len(alike)} of 8 clusters at least half alike, {kept} names carried, "
          f"{len(states)} of 8 reported")  # fmt: skip
    assert sorted(states) == sorted(EIGHT)
    for name, new in alike:
        assert after.clusters[new].name == name
        assert states[name] == ("carried over", new)
    for name, (state, new) in states.items():
        assert (state == "no cluster") == (name not in named(window)) == (new is None)
    report.close()
    window.commands.undo()
    assert named(window) == list(EIGHT)
    assert labels_of(window).assignment.tolist() == before.assignment.tolist()


def test_few_clusters_and_many_again_lose_no_name(window: MainWindow) -> None:
    cluster(window, 2)
    assert len(named(window)) <= 2
    cluster(window, 8)
    assert sorted(named(window)) == sorted(EIGHT)
    assert "Back again: " in window.status.text()


def test_a_lost_name_is_told_with_a_way_to_the_report(window: MainWindow) -> None:
    cluster(window, 2)
    assert "No cluster for: " in window.map_pane.banner.text
    assert "without a cluster" in window.clusters_pane.report.text()
    click(driving.buttons(window.map_pane.banner)["What became of the names"])
    wait_until(lambda: any(d.isVisible() for d in window.findChildren(NamesReport)), "the report", 5)
    window.findChild(NamesReport).close()
    window.commands.undo()
    assert not window.clusters_pane.report.isVisible()


def test_a_message_after_another_is_shown_in_full(window: MainWindow) -> None:
    banner = window.map_pane.banner
    banner.say("One sentence.", choices=(("A choice", lambda: None),))
    height = banner.height()
    banner.say("Another one.", choices=(("Another choice", lambda: None),))
    assert banner.height() == height > 50


def test_names_carried_over_are_a_link_away_and_cover_nothing(window: MainWindow) -> None:
    labels = labels_of(window)
    cluster(window, 8, seed=1)
    if all(name in named(window) for name in EIGHT):
        assert not window.map_pane.banner.text
    assert window.clusters_pane.report.isVisible()
    click(window.clusters_pane.report)
    wait_until(lambda: any(d.isVisible() for d in window.findChildren(NamesReport)), "the report", 5)
    assert labels.set_id != labels_of(window).set_id


def test_the_report_goes_to_the_cluster(window: MainWindow) -> None:
    cluster(window, 6)
    report = opened_report(window)
    select_name(report, next(f.answer.name for f in report.model.fates if f.new is not None))
    fate = report.fate
    assert fate is not None
    press(report.table, Qt.Key.Key_Return)
    assert not report.isVisible()
    assert window.document.cluster_id == fate.new


def test_a_lost_name_is_given_to_a_chosen_cluster_and_the_name_there_stays_in_its_note(window: MainWindow) -> None:
    cluster(window, 4)
    report = opened_report(window)
    lost = report.model.fates[0]
    assert lost.new is None
    report.table.selectRow(0)
    target = next(c for c in labels_of(window).clusters.values() if c.status == "named")
    report.target.set_value(target.cluster_id)
    click(report.give)
    given = labels_of(window).clusters[target.cluster_id]
    assert given.name == lost.answer.name
    assert f"before: {target.name}" in given.note
    wait_until(lambda: any(r[3].startswith("now “") for r in report.model.rows), "a report that follows")
    press(report, "z", modifier=Qt.KeyboardModifier.ControlModifier)
    assert labels_of(window).clusters[target.cluster_id] == target


def test_the_rows_of_a_lost_name_come_back_as_one_step(window: MainWindow) -> None:
    former = labels_of(window)
    window.document.label(lambda s: s.set_note(0, "twelve of them"))
    window.document.label(lambda s: s.set_confidence(0, 2))
    cluster(window, 2)
    before = labels_of(window)
    report = opened_report(window)
    months = next(fate for fate in report.model.fates if fate.answer.name == "months")
    if months.new is not None:
        pytest.skip("the starter's first cluster is half of the map")
    select_name(report, "months")
    click(report.revive)
    made = next(c for c in labels_of(window).clusters.values() if c.name == "months")
    assert Answer.of(made) == Answer("named", "months", "twelve of them", 2)
    assert labels_of(window).members(made.cluster_id).tolist() == former.members(0).tolist()
    wait_until(lambda: report.fate is None or "months" not in
               [f.answer.name for f in report.model.fates if f.new is None], "a report that follows")  # fmt: skip
    window.commands.undo()
    assert labels_of(window).assignment.tolist() == before.assignment.tolist()
    assert labels_of(window).clusters == before.clusters


def test_the_report_restores_the_former_set(window: MainWindow) -> None:
    before = labels_of(window)
    cluster(window, 2)
    report = opened_report(window)
    report.table.selectRow(0)
    click(report.restore)
    assert labels_of(window).set_id == before.set_id
    assert named(window) == list(EIGHT)
    wait_until(lambda: "nothing to report" not in report.summary.text() and report.model.fates, "a report", 10)


def test_a_report_without_names_says_so(window: MainWindow) -> None:
    session = window.document.session
    assert session is not None
    while session.can_undo:
        window.commands.undo()
    report = opened_report(window)
    assert "nothing to report" in report.summary.text()
    assert not any(part.isEnabled() for part in (report.go, report.give, report.revive, report.restore))


# Former sets


def test_former_sets_are_listed_with_their_names_and_restored(window: MainWindow) -> None:
    before = labels_of(window)
    cluster(window, 6)
    cluster(window, 3)
    dialog = opened_sets(window)
    shown = [(row[1], row[3], row[4], row[6]) for row in dialog.model.rows if "k 8" in row[1] or "k 3" in row[1]]
    assert shown[-1] == ("k-means, k 8, n_init 10, seed 0", 200, 8, 8)
    assert dialog.model.rows[0][0].endswith("(present)")
    ids = [info.set_id for info in dialog._sets]
    dialog.table.selectRow(ids.index(before.set_id))
    assert [row[1] for row in dialog.names.rows] == list(EIGHT)
    press(dialog.table, Qt.Key.Key_Return)
    assert labels_of(window).set_id == before.set_id
    assert named(window) == list(EIGHT)
    assert not dialog.restore.isEnabled()
    window.commands.undo()
    assert len(titles(window)) == 3


def test_a_set_of_other_rows_brings_its_rows_and_its_map_back(window: MainWindow) -> None:
    record, before = window.document.record, labels_of(window)
    assert record is not None
    recipe = Recipe(record.recipe.model, rows=Rows(words=("king", "queen", "seven"), title="three"))
    window.commands.show_space(recipe)
    wait_until(lambda: window.document.record is not None and len(window.document.record) == 3, "three words")
    driving.wait_drawn(window)
    dialog = opened_sets(window)
    assert [row[3] for row in dialog.model.rows[:1]] == [3]
    dialog.table.selectRow([info.set_id for info in dialog._sets].index(before.set_id))
    click(dialog.restore)
    assert named(window) == list(EIGHT)
    assert window.document.record is not None
    assert len(window.document.record) == 200
    assert window.document.coords is not None
    assert len(window.map_pane.canvas.scene.coords) == 200


def test_names_of_a_former_set_go_onto_present_clusters_without_an_answer(window: MainWindow) -> None:
    before = labels_of(window)
    cluster(window, 8, seed=1)
    after = labels_of(window)
    kept = after.order[0]
    for cluster_id in after.order:
        change = (lambda s, i=cluster_id: s.rename(i, "mine")) if cluster_id == kept else (
            lambda s, i=cluster_id: s.clear(i)
        )  # fmt: skip
        window.document.label(change)
    cleared = labels_of(window)
    dialog = opened_sets(window)
    dialog.table.selectRow([info.set_id for info in dialog._sets].index(before.set_id))
    click(dialog.carry)
    wait_until(lambda: len(named(window)) > 1, "names carried over")
    assert labels_of(window).clusters[kept].name == "mine"
    assert set(named(window)) - {"mine"} <= set(EIGHT)
    assert "kept it" in window.status.text() or len(named(window)) == 8
    window.commands.undo()
    assert labels_of(window).clusters == cleared.clusters


def test_taking_a_name_over_drops_no_word() -> None:
    from kiruviz.ui.label_commands import taking_over

    there = Cluster(3, "named", "animals", "with tails", 1)
    assert taking_over(Answer("named", "Animals", "furry", 2), there) == Answer(
        "named", "Animals", "furry\nwith tails", 2
    )
    assert taking_over(Answer("named", "pets"), there).note == "with tails\nbefore: animals"
    assert taking_over(Answer("resists", "", "odd"), Cluster(1)).note == "odd"
