"""The list of a cluster's members: order, checks, verbs, all by keyboard; and the whole vocabulary in it."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QScrollBar

from kiruviz.session.records import SpaceRecord
from kiruviz.space import Recipe
from kiruviz.ui.app import spare_start_up_objects
from kiruviz.ui.panes.members_model import DISTANCE, WORD, ZIPF, MembersModel
from kiruviz.ui.panes.members_table import MembersTable
from kiruviz.ui.theme import ThemeKeeper
from kiruviz.ui.window import MainWindow
from tests.session.helpers import record
from tests.ui import driving
from tests.ui.driving import press, press_focus, wait_until

Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture(autouse=True)
def fresh(request: pytest.FixtureRequest) -> Iterator[None]:
    """The list of the first cluster in focus, nothing checked, filtered or sorted; all undone afterwards."""
    if "window" not in request.fixturenames:
        yield
        return
    window: MainWindow = request.getfixturevalue("window")
    session, pane = window.document.session, window.members_pane
    assert session is not None
    window.document.select_cluster(0)
    driving.wake(window)
    wait_until(lambda: window.document.distances is not None, "distances")
    window.clusters_pane.table.setFocus()
    press_focus("l")
    pane.table.selectRow(0)
    yield
    pane.filter.clear()
    while session.can_undo:
        window.commands.undo()
    pane.model.uncheck_all()
    if pane.model.order != (DISTANCE, False):
        pane.sort_by(DISTANCE)
    pane.picker.hide()


def names(window: MainWindow) -> list[str]:
    record = window.document.record
    assert record is not None
    return [record.names[i] for i in window.members_pane.model.rows.tolist()]


def in_cluster(window: MainWindow, cluster_id: int) -> set[str]:
    record, labels = window.document.record, window.document.labels
    assert record is not None
    assert labels is not None
    return {record.names[i] for i in labels.members(cluster_id).tolist()}


keeps_running = pytest.mark.keeps_running


@keeps_running
def test_l_lists_all_members_nearest_the_centroid_first(window: MainWindow, qtbot: object) -> None:
    pane, distances = window.members_pane, window.document.distances
    assert pane.table.hasFocus()
    assert not pane.visibleRegion().isEmpty()
    assert set(names(window)) == in_cluster(window, 0)
    assert distances is not None
    listed = distances[pane.model.rows]
    assert (np.diff(listed) >= 0).all()
    wait_until(lambda: 0 in window.document.evidence, "evidence")
    assert pane.model.rows[:10].tolist() == list(window.document.evidence[0].nearest)
    assert pane.table.model().index(0, DISTANCE).data() == f"{listed[0]:.3f}"
    assert pane.count.text() == f"{len(listed)} members"


@keeps_running
def test_another_cluster_lists_its_own_members_and_lets_the_checks_go(window: MainWindow, qtbot: object) -> None:
    press_focus(Key.Key_Space)
    window.commands.go_to_cluster(3)
    assert set(names(window)) == in_cluster(window, 3)
    assert not len(window.members_pane.model.checked)


@keeps_running
def test_space_checks_and_unchecks_and_the_count_says_so(window: MainWindow, qtbot: object) -> None:
    pane = window.members_pane
    total = len(names(window))
    press_focus(Key.Key_Space, Key.Key_Down, Key.Key_Down, Key.Key_Space)
    assert sorted(pane.model.checked.tolist()) == sorted(pane.model.rows[[0, 2]].tolist())
    assert pane.count.text() == f"2 of {total} checked"
    press_focus(Key.Key_Space)
    assert pane.count.text() == f"1 of {total} checked"


@keeps_running
def test_a_box_is_checked_by_a_click(window: MainWindow, qtbot: object) -> None:
    pane = window.members_pane
    cell = pane.table.visualRect(pane.model.index(1, WORD))
    QTest.mouseClick(pane.table.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(cell.left() + 12, cell.center().y()))
    assert pane.model.checked.tolist() == [pane.model.rows[1]]


@keeps_running
def test_space_checks_all_that_is_selected(window: MainWindow, qtbot: object) -> None:
    press_focus(Key.Key_Down, Key.Key_Down, modifier=SHIFT)
    press_focus(Key.Key_Space)
    assert len(window.members_pane.model.checked) == 3


@keeps_running
def test_control_a_checks_all_and_escape_clears_then_leaves(window: MainWindow, qtbot: object) -> None:
    press_focus("a", modifier=CONTROL)
    assert len(window.members_pane.model.checked) == len(names(window))
    press_focus(Key.Key_Escape)
    assert not len(window.members_pane.model.checked)
    assert window.members_pane.table.hasFocus()
    press_focus(Key.Key_Escape)
    assert window.clusters_pane.table.hasFocus()


@keeps_running
def test_delete_sets_the_checked_aside_in_one_step(window: MainWindow, qtbot: object) -> None:
    first, second, third = names(window)[:3]
    press_focus(Key.Key_Space, Key.Key_Down, Key.Key_Down, Key.Key_Space, Key.Key_Delete)
    assert in_cluster(window, -1) == {first, third}
    assert second in names(window)
    assert first not in names(window)
    assert window.members_pane.table.hasFocus()
    press_focus("z", modifier=CONTROL)
    assert in_cluster(window, -1) == set()
    assert {first, third} <= set(names(window))


@keeps_running
def test_delete_without_a_check_takes_the_current_one_and_the_next_takes_its_place(
    window: MainWindow, qtbot: object
) -> None:
    listed = names(window)
    press_focus(Key.Key_Down, Key.Key_Delete, Key.Key_Delete)
    assert in_cluster(window, -1) == set(listed[1:3])
    at = window.members_pane.table.currentIndex().row()
    assert at == 1
    wait_until(lambda: window.document.distances is not None, "distances of the members that are left")
    distances = window.document.distances
    assert distances is not None
    assert (np.diff(distances[window.members_pane.model.rows]) >= 0).all()


@keeps_running
def test_m_moves_to_the_cluster_that_is_typed(window: MainWindow, qtbot: object) -> None:
    session = window.document.session
    assert session is not None
    window.document.label(lambda s: s.rename(5, "auxiliaries"))
    before = len(session.history())
    first = names(window)[0]
    press_focus(Key.Key_Space, "m")
    picker = window.members_pane.picker
    assert picker.field.hasFocus()
    assert picker.captions()[0] == "auxiliaries"
    press_focus("auxi")
    assert picker.captions() == ["auxiliaries"]
    press_focus(Key.Key_Return)
    assert first in in_cluster(window, 5)
    assert len(session.history()) == before + 1
    assert window.members_pane.table.hasFocus()
    assert window.document.cluster_id == 0


@keeps_running
def test_escape_in_the_list_of_clusters_moves_nothing(window: MainWindow, qtbot: object) -> None:
    before = window.document.labels
    press_focus("m", Key.Key_Down, Key.Key_Escape)
    assert not window.members_pane.picker.isVisible()
    assert window.members_pane.table.hasFocus()
    assert window.document.labels is before


@keeps_running
def test_what_no_cluster_is_called_takes_nothing(window: MainWindow, qtbot: object) -> None:
    before = window.document.labels
    press_focus("m", "no such cluster", Key.Key_Return)
    assert window.document.labels is before
    press_focus(Key.Key_Escape)


@keeps_running
def test_the_checked_become_a_cluster_of_their_own_which_is_shown(window: MainWindow, qtbot: object) -> None:
    chosen = set(names(window)[:2])
    press_focus(Key.Key_Space, Key.Key_Down, Key.Key_Space)
    driving.click(window.members_pane.new_button)
    assert window.document.cluster_id == 8
    assert in_cluster(window, 8) == chosen
    assert set(names(window)) == chosen
    press_focus("z", modifier=CONTROL)
    assert chosen <= in_cluster(window, 0)


@keeps_running
def test_rows_set_aside_are_listed_and_brought_back(window: MainWindow, qtbot: object) -> None:
    pane = window.members_pane
    assert not pane.aside_button.isVisible()
    chosen = set(names(window)[:2])
    press_focus(Key.Key_Delete, Key.Key_Delete)
    assert pane.aside_button.text() == "2 set aside"
    driving.click(pane.aside_button)
    assert set(names(window)) == chosen
    assert pane.count.text() == "2 set aside"
    assert not pane.set_aside_button.isEnabled()
    pane.table.setFocus()
    press_focus("a", modifier=CONTROL)
    press_focus("m", "unnamed 0", Key.Key_Return)
    assert chosen <= in_cluster(window, 0)
    assert not pane.aside_button.isVisible()
    assert set(names(window)) == in_cluster(window, 0)


@keeps_running
def test_enter_shows_the_row_on_the_map_and_its_neighbours(window: MainWindow, qtbot: object) -> None:
    press_focus(Key.Key_Down, Key.Key_Return)
    row = int(window.members_pane.model.rows[1])
    assert window.document.focus == row
    driving.still(window)
    assert window.map_pane.canvas.rect().contains(driving.pixel(window, row))
    assert window.members_pane.table.hasFocus()
    name = names(window)[1]
    wait_until(lambda: window.neighbors_pane.found and window.neighbors_pane.found.query == name, "neighbours")
    window.document.set_focus(None)


@keeps_running
def test_a_point_that_is_clicked_brings_its_neighbours_to_the_front_and_a_cluster_its_evidence(
    window: MainWindow, qtbot: object
) -> None:
    window.clusters_pane.table.setFocus()
    window.document.set_focus(5)
    wait_until(lambda: not window.neighbors_pane.visibleRegion().isEmpty(), "neighbours in front", 5)
    press_focus(Key.Key_Down)
    wait_until(lambda: not window.evidence_pane.visibleRegion().isEmpty(), "evidence in front", 5)
    press_focus("l")
    wait_until(lambda: not window.members_pane.visibleRegion().isEmpty(), "members in front", 5)
    window.clusters_pane.table.setFocus()
    press_focus(Key.Key_Down)
    assert not window.members_pane.visibleRegion().isEmpty()
    window.document.set_focus(None)


@keeps_running
def test_the_filter_lists_what_contains_it_and_checks_outlast_it(window: MainWindow, qtbot: object) -> None:
    pane = window.members_pane
    listed = names(window)
    part = listed[3].strip()[:3].upper()
    press_focus(Key.Key_Space)
    pane.filter.setFocus()
    press(pane.filter, part)
    assert names(window) == [name for name in listed if part.casefold() in name.casefold()]
    assert pane.count.text() == f"1 of {len(listed)} checked"
    pane.filter.clear()
    assert names(window) == listed
    assert pane.model.checked.tolist() == [pane.model.rows[0]]


@keeps_running
def test_each_column_sorts_both_ways(window: MainWindow, qtbot: object) -> None:
    pane, record = window.members_pane, window.document.record
    assert record is not None
    pane.sort_by(WORD)
    assert names(window) == sorted(names(window), key=lambda name: name.strip().casefold())
    pane.sort_by(ZIPF)
    zipf = record.columns["zipf"][pane.model.rows]
    assert (np.diff(zipf) <= 0).all()
    assert pane.model.headerData(ZIPF, Qt.Orientation.Horizontal) == "zipf ↓"
    pane.sort_by(ZIPF)
    assert (np.diff(record.columns["zipf"][pane.model.rows]) >= 0).all()


@keeps_running
def test_control_c_copies_the_checked_rows_as_a_table(window: MainWindow, qtbot: object) -> None:
    press_focus(Key.Key_Space, Key.Key_Down, Key.Key_Space)
    press_focus("c", modifier=CONTROL)
    rows = list(csv.reader(io.StringIO(QGuiApplication.clipboard().text()), delimiter="\t"))
    assert rows[0] == ["row_id", "token", "distance", "zipf"]
    assert [row[1] for row in rows[1:]] == names(window)[:2]
    distances = window.document.distances
    assert distances is not None
    assert float(rows[1][2]) == distances[window.members_pane.model.rows[0]]


@keeps_running
def test_the_list_is_saved_as_it_is_shown(
    window: MainWindow, qtbot: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "list.csv"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(out), "CSV (*.csv)"))
    window.members_pane.save()
    wait_until(lambda: window.status.text() == "Wrote list.csv", "the list")
    with out.open(encoding="utf-8", newline="") as file:
        assert [row["token"] for row in csv.DictReader(file)] == names(window)


@keeps_running
def test_the_labelling_keys_work_in_the_list_too(window: MainWindow, qtbot: object) -> None:
    press_focus("r")
    labels = window.document.labels
    assert labels is not None
    assert labels.clusters[0].status == "resists"
    press_focus("n")
    assert window.document.cluster_id == 1
    assert QApplication.focusWidget() is window.members_pane.table


# A whole vocabulary

ROWS, MEMBERS = 49_152, 20_000
STEPS = 200
SMOOTH_MS = 16  # a step of scrolling
TRIES = 5


def milliseconds(do: Callable[[], object]) -> float:
    """Of this thread's own time, which paints: other programs on the machine do not count."""
    start = time.thread_time()
    do()
    return 1000 * (time.thread_time() - start)


def stop(bar: QScrollBar, step: int) -> int:
    """Where a step of scrolling goes: one of the wheel, or a jump."""
    return bar.maximum() * step // STEPS if step % 2 else min(bar.value() + 78, bar.maximum())


def best(do: Callable[[], object], tries: int = TRIES) -> float:
    """The machine may be noisy, so the best counts."""
    return min(milliseconds(do) for _ in range(tries))


@pytest.fixture
def vocabulary() -> SpaceRecord:
    """As many rows as the starter's vocabulary has, named as tokens are."""
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    drawn = rng.choice(letters, (ROWS, 7))
    tokens = tuple(("" if i % 3 else " ") + "".join(drawn[i, : 2 + i % 6]) for i in range(ROWS))
    zipf = np.where(rng.random(ROWS) < 0.3, np.nan, rng.uniform(0, 7.5, ROWS))
    return SpaceRecord(Recipe("smollm2"), tokens, np.arange(ROWS), {"zipf": zipf}, "SmolLM2")


@pytest.mark.qt
def test_twenty_thousand_members_scroll_smoothly(qapp: QApplication, vocabulary: SpaceRecord) -> None:
    ThemeKeeper(qapp, "dark")  # a style sheet makes painting dearer
    model = MembersModel()
    table = MembersTable(model)
    table.resize(316, 560)
    table.show()
    assert QTest.qWaitForWindowExposed(table)
    members = np.sort(np.random.default_rng(1).permutation(ROWS)[:MEMBERS])
    distances = np.random.default_rng(2).uniform(0.5, 2, ROWS)
    spare_start_up_objects()

    def drawn(change: Callable[[], object]) -> Callable[[], object]:
        return lambda: (change(), table.viewport().repaint())

    def filled() -> None:
        model.set_record(vocabulary)
        model.set_members(members)

    down = Qt.SortOrder.DescendingOrder
    took = {
        "filling": best(drawn(filled)),
        "ordering by distance": best(drawn(lambda: model.set_distances(distances))),
        "sorting by word": best(drawn(lambda: model.sort(WORD))),
        "sorting by zipf": best(drawn(lambda: model.sort(ZIPF, down))),
        "filtering": best(drawn(lambda: (model.set_filter("ab"), model.set_filter("")))) / 2,
        "checking all": best(drawn(lambda: model.check(model.rows, True))),
    }
    for what, ms in took.items():
        print(f"{MEMBERS:,} members, {what}: {ms:.1f} ms")
    bar = table.verticalScrollBar()
    assert bar.maximum() > MEMBERS * 20

    def scrolled() -> list[float]:
        bar.setValue(0)
        return [milliseconds(drawn(lambda i=i: bar.setValue(stop(bar, i)))) for i in range(STEPS)]  # type: ignore[misc]

    steps = np.min([scrolled() for _ in range(TRIES)], axis=0)
    median, worst = float(np.median(steps)), float(steps.max())
    print(f"{MEMBERS:,} members, a step of scrolling: median {median:.1f} ms, worst {worst:.1f} ms of {STEPS}")
    table.close()
    table.deleteLater()
    assert max(took.values()) < 50
    assert worst < SMOOTH_MS


def test_distances_of_other_rows_that_come_late_are_none(qtbot: object) -> None:
    model = MembersModel()
    model.set_record(record())
    model.sort(DISTANCE)
    model.set_distances(np.arange(3.0))
    model.set_members(np.array([11, 2, 7]))
    assert model.rows.tolist() == [11, 2, 7]
    model.set_distances(np.arange(12.0)[::-1])
    assert model.rows.tolist() == [11, 7, 2]
