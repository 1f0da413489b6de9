"""Evidence and suggestions beside the name: what is shown, and what taking one does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from kiruviz.analysis.grouping import ClusterSpec, KMeansParams
from kiruviz.analysis.suggestions import Suggestion
from kiruviz.ui.widgets.chips import Chips, ChipSpec
from kiruviz.ui.window import MainWindow
from tests.ui import driving
from tests.ui.driving import named, press, press_focus, titles, wait_until

pytestmark = pytest.mark.keeps_running
Key = Qt.Key
ALT, CONTROL = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ControlModifier


@pytest.fixture(autouse=True)
def fresh(window: MainWindow, qtbot: object) -> Iterator[None]:
    """The first cluster selected, its evidence there, the table in focus; all undone afterwards."""
    session = window.document.session
    assert session is not None
    window.document.select_cluster(0)
    driving.wake(window)
    window.clusters_pane.table.setFocus()
    wait_until(lambda: 0 in window.document.evidence, "evidence")
    yield
    while session.can_undo:
        window.commands.undo()


def chips(window: MainWindow) -> list[str]:
    return [chip.spec.text for chip in window.this_cluster.chips.shown]


def cluster_of(window: MainWindow, word: str) -> int:
    labels = window.document.labels
    assert labels is not None
    return int(labels.assignment[driving.row_of(window, word)])


def steps(window: MainWindow) -> int:
    assert window.document.session is not None
    return sum(not entry.undone for entry in window.document.session.history())


def test_nothing_is_named_by_itself(window: MainWindow) -> None:
    assert chips(window)
    assert named(window) == []


def test_the_months_and_days_are_suggested_by_that_name_with_the_source(window: MainWindow) -> None:
    window.commands.go_to_cluster(cluster_of(window, "October"))
    first = window.this_cluster.chips.shown[0]
    assert first.spec.text == "months and days"
    assert first.spec.source == "word lists, 19 of 19"
    assert "12 of 19 members are months" in first.toolTip()
    assert first.accessibleName() == "months and days, word lists, 19 of 19"


def test_a_click_names_the_cluster_in_one_step_and_leaves_the_keyboard_where_it_was(window: MainWindow) -> None:
    before, chosen = steps(window), chips(window)[0]
    driving.click(window.this_cluster.chips.shown[0])
    assert titles(window)[0] == chosen
    assert steps(window) == before + 1
    assert window.document.cluster_id == 0
    assert window.clusters_pane.table.hasFocus()
    assert chosen not in chips(window)
    press_focus("z", modifier=CONTROL)
    assert named(window) == []
    assert chips(window)[0] == chosen


def test_a_click_takes_the_place_of_what_is_being_typed(window: MainWindow) -> None:
    before, chosen = steps(window), chips(window)[0]
    press_focus(Key.Key_Return, "half a na")
    driving.click(window.this_cluster.chips.shown[0])
    assert titles(window)[0] == chosen
    assert window.this_cluster.name.text() == chosen
    assert steps(window) == before + 1
    assert window.clusters_pane.table.hasFocus()


@pytest.mark.parametrize("where", ["table", "map", "name"])
def test_alt_and_a_number_takes_that_suggestion(window: MainWindow, where: str) -> None:
    parts = {
        "table": window.clusters_pane.table,
        "map": window.map_pane.canvas,
        "name": window.this_cluster.name,
    }
    parts[where].setFocus()
    chosen = chips(window)[1]
    press(parts[where], "2", modifier=ALT)
    assert titles(window)[0] == chosen


def test_a_number_without_a_suggestion_says_so(window: MainWindow) -> None:
    press_focus("5", modifier=ALT)
    assert window.status.text() == "There is no suggestion 5 for this cluster."
    assert named(window) == []


def test_chips_are_reached_with_tab_and_pressed_with_space(window: MainWindow) -> None:
    chosen = chips(window)[0]
    press_focus(Key.Key_Return)
    for _ in range(6):
        if QApplication.focusWidget() is window.this_cluster.chips.shown[0]:
            break
        press_focus(Key.Key_Tab)
    press_focus(Key.Key_Space)
    assert titles(window)[0] == chosen
    assert window.clusters_pane.table.hasFocus()


def test_names_of_former_sets_are_suggested_with_their_overlap(window: MainWindow) -> None:
    assert window.document.session is not None
    months = cluster_of(window, "October")
    window.document.label(lambda s: s.rename(months, "the calendar"))
    window.document.label(lambda s: s.rename(cluster_of(window, "Germany"), "where people live"))
    before = window.conductor.choice
    window.conductor.draw(replace(before, clusters=ClusterSpec(KMeansParams(8, 3, 5))))
    wait_until(lambda: window.document.labels and window.document.labels.params.get("seed") == 5, "other clusters")
    months = cluster_of(window, "October")
    window.document.label(lambda s: s.clear(months))
    window.document.select_cluster(months)
    wait_until(lambda: months in window.document.former_names, "former names")
    first = window.document.suggestions(months)[0]
    assert first.name == "the calendar"
    assert first.source.startswith("former set, ")
    assert chips(window)[0] == "the calendar"
    window.conductor.choice = before


def test_the_evidence_names_the_nearest_clusters_and_a_click_goes_there(window: MainWindow) -> None:
    pane = window.evidence_pane
    wanted = [other for other, _ in window.document.evidence[0].next_clusters]
    assert [chip.spec.value for chip in pane.next.shown] == wanted
    driving.click(pane.next.shown[1])
    assert window.document.cluster_id == wanted[1]


def test_facts_stand_beside_the_share_of_the_whole_map(window: MainWindow) -> None:
    window.commands.go_to_cluster(cluster_of(window, "October"))
    pane = window.evidence_pane
    assert "12 of 19 are months" in pane.shared.texts
    fact, share = pane.shared._lines[pane.shared.texts.index("12 of 19 are months")]
    assert share.text() == "map 6.0 %"
    assert "10.5 times the map" in fact.toolTip()


def test_where_nothing_is_shared_resisting_is_offered_with_the_reason(window: MainWindow) -> None:
    document, pane = window.document, window.evidence_pane
    kept = document.evidence
    document.set_evidence({**kept, 0: replace(kept[0], traits=(), suggestions=())})
    assert pane.shared.nothing.isVisible()
    assert "contexts they appear in" in pane.why.text()
    assert pane.why.isVisible()
    driving.click(pane.resist)
    assert document.cluster is not None
    assert document.cluster.status == "resists"
    assert pane.why.isVisible()
    assert not pane.resist.isVisible()
    document.set_evidence(kept)


def test_a_resisting_cluster_says_why_such_clusters_are_interesting(window: MainWindow) -> None:
    assert not window.evidence_pane.why.isVisible()
    press_focus("r")
    assert window.evidence_pane.why.isVisible()


LONG = "a very long name that nobody would give but that somebody will paste " * 4


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_a_very_long_name_widens_nothing(window: MainWindow, size: tuple[int, int]) -> None:
    before = window.size()
    window.resize(*size)
    panels = (window.this_cluster, window.evidence_pane, window.members_pane, window.clusters_pane)
    widths = [panel.width() for panel in panels]
    window.document.label(lambda s: s.rename(0, LONG))
    for other, _ in window.document.evidence[0].next_clusters:
        window.document.label(lambda s, other=other: s.rename(other, LONG))  # type: ignore[misc]
    window.document.former_names = {0: (Suggestion(LONG + "more", "former set, .62", "Long."),)}
    window.document.evidence_changed.emit()
    QApplication.processEvents()
    assert [panel.width() for panel in panels] == widths
    assert window.size().toTuple() == size
    assert LONG.strip() in window.this_cluster.name.toolTip()
    for chip in (*window.this_cluster.chips.shown, *window.evidence_pane.next.shown):
        parent = chip.parentWidget()
        assert parent is not None
        assert chip.geometry().right() <= parent.width()
    window.document.former_names = {}
    window.resize(before)


@pytest.mark.parametrize("status", ["unnamed", "named", "resists"])
def test_at_1280x720_name_and_suggestions_are_whole_and_nothing_scrolls(window: MainWindow, status: str) -> None:
    before = window.size()
    window.resize(1280, 720)
    QApplication.processEvents()
    if status == "named":
        window.document.label(lambda s: s.rename(0, "calendar"))
    elif status == "resists":
        window.document.label(lambda s: s.resist(0))
    QApplication.processEvents()
    pane = window.this_cluster
    for part in (pane.name, pane.resists, pane.chips, *([pane.note] if status != "unnamed" else [])):
        assert part.visibleRegion().boundingRect().size() == part.size()
    shown = window.clusters_pane.table
    assert shown.viewport().height() >= 4 * shown.rowHeight(0)
    window.resize(before)


def test_chips_that_do_not_fit_are_not_there(qtbot: object) -> None:
    panel = QWidget()
    row = Chips("test", QLineEdit(panel), 2)
    row.setParent(panel)
    row.resize(288, row.height())
    row.set_chips([ChipSpec(f"a longer name {i}", "where it is from", "", i) for i in range(6)])
    assert len(row.shown) == 2
    assert [chip.isHidden() for chip in row._chips] == [False, False, True, True, True, True]
    panel.deleteLater()
