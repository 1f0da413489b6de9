"""Labelling with the keyboard: in the table and on the map."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtWidgets import QApplication

from kiruviz.ui.window import MainWindow
from tests.ui import driving
from tests.ui.driving import named, press, press_focus, titles, wait_until

pytestmark = pytest.mark.keeps_running
Key = Qt.Key
NO_ROWS = np.zeros(0, np.int64)


@pytest.fixture(autouse=True)
def fresh(window: MainWindow, qtbot: object) -> Iterator[None]:
    """Eight unnamed clusters, the first one selected, the table in focus."""
    session = window.document.session
    assert session is not None
    window.document.set_lasso(NO_ROWS)
    window.document.select_cluster(0)
    driving.wake(window)
    window.clusters_pane.table.setFocus()
    yield
    while session.can_undo:
        window.commands.undo()


def selected(window: MainWindow) -> int | None:
    return window.document.cluster_id


def status(window: MainWindow, cluster_id: int) -> str:
    labels = window.document.labels
    assert labels is not None
    return labels.clusters[cluster_id].status


def select_in_table(window: MainWindow, *ids: int) -> None:
    table, model = window.clusters_pane.table, window.clusters_pane.model
    rows = [row[0] for row in model.rows]
    flag = QItemSelectionModel.SelectionFlag
    table.selectionModel().setCurrentIndex(model.index(rows.index(ids[0]), 0), flag.ClearAndSelect | flag.Rows)
    for cluster_id in ids[1:]:
        table.selectionModel().select(model.index(rows.index(cluster_id), 0), flag.Select | flag.Rows)


@pytest.mark.parametrize("where", ["table", "map"])
def test_up_and_down_move_through_the_clusters_and_the_map_flies_there(window: MainWindow, where: str) -> None:
    place = window.clusters_pane.table if where == "table" else window.map_pane.canvas
    place.setFocus()
    press(place, Key.Key_Down, Key.Key_Down)
    assert selected(window) == 2
    driving.still(window)
    members = window.document.selected_rows
    shown = [window.map_pane.canvas.rect().contains(driving.pixel(window, int(row))) for row in members]
    assert all(shown)
    press(place, Key.Key_Up)
    assert selected(window) == 1


def test_enter_edits_the_name_and_enter_again_keeps_it_and_goes_to_the_next_unnamed(window: MainWindow) -> None:
    press_focus(Key.Key_Return)
    assert window.this_cluster.name.hasFocus()
    press_focus("people", Key.Key_Return)
    assert titles(window)[0] == "people"
    assert selected(window) == 1
    assert window.clusters_pane.table.hasFocus()


def test_a_named_cluster_is_passed_over(window: MainWindow) -> None:
    press_focus(Key.Key_Down, Key.Key_Return, "second", Key.Key_Return)
    window.document.select_cluster(0)
    press_focus("n")
    assert selected(window) == 2


def test_escape_leaves_the_name_as_it_was(window: MainWindow) -> None:
    press_focus(Key.Key_Return, "half a na", Key.Key_Escape)
    assert titles(window)[0] == "unnamed 0"
    assert window.this_cluster.name.text() == ""
    assert window.clusters_pane.table.hasFocus()


def test_r_marks_as_resisting_and_r_again_takes_it_back(window: MainWindow) -> None:
    press_focus("r")
    assert status(window, 0) == "resists"
    press_focus("r")
    assert status(window, 0) == "unnamed"


def test_a_resisting_cluster_takes_a_note(window: MainWindow) -> None:
    press_focus("r")
    note = window.this_cluster.note
    assert note.isVisible()
    driving.click(note)
    press_focus("function words of all kinds", Key.Key_Return)
    labels = window.document.labels
    assert labels is not None
    assert labels.clusters[0].note == "function words of all kinds"
    assert window.clusters_pane.table.hasFocus()


@pytest.mark.parametrize("where", ["table", "map"])
def test_n_goes_round_the_unnamed_ones(window: MainWindow, where: str) -> None:
    place = window.clusters_pane.table if where == "table" else window.map_pane.canvas
    place.setFocus()
    for expected in (1, 2, 3, 4, 5, 6, 7, 0):
        press(place, "n")
        assert selected(window) == expected


def test_one_two_three_set_how_sure_one_is(window: MainWindow) -> None:
    labels = window.document.labels
    for key, value in (("1", 1), ("2", 2), ("3", 3)):
        press_focus(key)
        labels = window.document.labels
        assert labels is not None
        assert labels.clusters[0].confidence == value


def test_u_takes_the_label_away(window: MainWindow) -> None:
    press_focus(Key.Key_Return, "wrong", Key.Key_Return)
    window.document.select_cluster(0)
    press_focus("u")
    assert titles(window)[0] == "unnamed 0"


def test_m_merges_the_selected_clusters_into_the_first(window: MainWindow) -> None:
    before = window.document.labels
    assert before is not None
    total = sum(before.sizes()[c] for c in (1, 3, 4))
    select_in_table(window, 1, 3, 4)
    press_focus("m")
    after = window.document.labels
    assert after is not None
    assert after.order == [0, 1, 2, 5, 6, 7]
    assert after.sizes()[1] == total
    assert selected(window) == 1
    press_focus("z", modifier=Qt.KeyboardModifier.ControlModifier)
    assert window.document.labels is not None
    assert np.array_equal(window.document.labels.assignment, before.assignment)


def test_m_with_one_cluster_says_what_to_do(window: MainWindow) -> None:
    select_in_table(window, 1)
    press_focus("m")
    assert "Select two or more clusters" in window.status.text()
    assert len(titles(window)) == 8


def test_s_splits_the_cluster_again(window: MainWindow) -> None:
    before = window.document.labels
    assert before is not None
    members = set(before.members(0).tolist())
    press_focus("s")
    wait_until(lambda: len(titles(window)) > 8, "a split cluster", 30)
    after = window.document.labels
    assert after is not None
    parts = [0, *(c for c in after.order if c not in before.order)]
    assert set().union(*(after.members(c).tolist() for c in parts)) == members


def test_delete_sets_the_lassoed_rows_aside(window: MainWindow) -> None:
    rows = np.array([3, 5, 8])
    window.document.set_lasso(rows)
    window.map_pane.canvas.setFocus()
    press_focus(Key.Key_Delete)
    labels = window.document.labels
    assert labels is not None
    assert labels.members(-1).tolist() == rows.tolist()
    assert not len(window.document.lassoed)


def test_delete_without_a_lasso_changes_nothing_and_says_so(window: MainWindow) -> None:
    before = window.document.labels
    press_focus(Key.Key_Delete)
    assert window.document.labels is before
    assert "Lasso rows on the map first" in window.status.text()


def test_escape_lets_the_lasso_go(window: MainWindow) -> None:
    window.document.set_lasso(np.array([3, 5, 8]))
    press_focus(Key.Key_Escape)
    assert not len(window.document.lassoed)
    assert not window.map_pane.lasso_bar.isVisible()


def test_letters_in_the_name_are_letters(window: MainWindow) -> None:
    session = window.document.session
    assert session is not None
    before = len(session.history())
    press_focus(Key.Key_Return, "nursms123u", Key.Key_Delete)
    assert window.this_cluster.name.text() == "nursms123u"
    assert selected(window) == 0
    assert len(session.history()) == before
    press_focus(Key.Key_Return)
    assert titles(window)[0] == "nursms123u"


@pytest.mark.parametrize("field", ["search", "pattern", "pasted"])
def test_letters_in_other_fields_are_letters(window: MainWindow, field: str) -> None:
    session = window.document.session
    assert session is not None
    before = len(session.history())
    if field != "search":
        window.space_pane.filters.content.show()
        window.space_pane.words_box.show()
    widget = {"search": window.search, "pattern": window.space_pane.pattern, "pasted": window.space_pane.pasted}[field]
    widget.setFocus()
    press(widget, "rnmsu123")
    assert selected(window) == 0
    assert len(session.history()) == before
    widget.clear()


def test_every_step_is_undone_and_redone_by_its_keys(window: MainWindow) -> None:
    control = Qt.KeyboardModifier.ControlModifier
    press_focus(Key.Key_Return, "one", Key.Key_Return, Key.Key_Return, "two", Key.Key_Return, "r")
    assert (named(window), status(window, 2)) == (["one", "two"], "resists")
    press_focus("z", "z", modifier=control)
    assert (named(window), status(window, 2)) == (["one"], "unnamed")
    press_focus("z", "z", modifier=control | Qt.KeyboardModifier.ShiftModifier)
    assert (named(window), status(window, 2)) == (["one", "two"], "resists")


def test_undo_tells_in_the_menu_what_it_would_take_back(window: MainWindow) -> None:
    press_focus(Key.Key_Return, "salt & pepper", Key.Key_Return)
    undo = window.actions_by_name["undo"]
    assert undo.isEnabled()
    assert "salt && pepper" in undo.text()  # a lone & would be taken for a mnemonic


def test_eight_clusters_are_named_by_keyboard_with_two_keys_beside_the_names(window: MainWindow) -> None:
    words = ["royalty", "numbers", "animals", "places", "colours", "verbs", "food", "grammar"]
    pressed = 0
    for word in words:
        for key in (Key.Key_Return, word, Key.Key_Return):
            press_focus(key)
            pressed += len(key) if isinstance(key, str) else 1
    assert named(window) == words
    assert pressed <= sum(len(word) + 2 for word in words)
    assert "8 of 8 named" in window.clusters_pane.progress.text()
    assert "done" in window.clusters_pane.progress.text()


def test_with_none_left_n_says_so(window: MainWindow) -> None:
    for _ in range(8):
        press_focus("r", "n")
    press_focus("n")
    assert "Every cluster has an answer" in window.status.text()
    assert window.clusters_pane.progress.text() == "0 of 8 named · 8 resist · done"


def test_the_table_keeps_its_order_and_the_selection_when_names_change(window: MainWindow) -> None:
    pane = window.clusters_pane
    pane._sort_by(2)
    order = [row[2] for row in pane.model.rows]
    assert order == sorted(order)
    first = pane.model.rows[0][0]
    window.document.select_cluster(first)
    press_focus(Key.Key_Down)
    assert selected(window) == pane.model.rows[1][0]
    pane._sort_by(0)


def test_a_name_stays_on_screen_when_labels_change_while_it_is_typed(window: MainWindow) -> None:
    press_focus(Key.Key_Return, "still typ")
    window.document.evidence_changed.emit()
    window.document.labels_changed.emit()
    press_focus("ing", Key.Key_Return)
    assert titles(window)[0] == "still typing"


def test_the_selected_cluster_shows_its_evidence(window: MainWindow) -> None:
    wait_until(lambda: 0 in window.document.evidence, "evidence")
    pane, found = window.evidence_pane, window.document.evidence[0]
    record = window.document.record
    assert record is not None
    assert not pane.nearest.visibleRegion().isEmpty()
    assert pane.nearest.text().split(", ")[:2] == [record.names[i].strip() for i in found.nearest[:2]]
    assert pane.shared.texts == [trait.text for trait in found.traits]
    assert pane.figures.text().startswith("silhouette .")


def test_focus_is_never_lost_while_labelling(window: MainWindow) -> None:
    for keys in ("r", "n", "r", "1", "u"):
        press_focus(keys)
        assert QApplication.focusWidget() is window.clusters_pane.table


def test_a_name_that_is_typed_is_kept_when_one_goes_on_without_enter(window: MainWindow) -> None:
    press(window.clusters_pane.table, Key.Key_Return)
    press(window.this_cluster.name, *"calendar")
    window.commands.go_to_cluster(3)
    labels = window.document.labels
    assert labels is not None
    assert labels.clusters[0].name == "calendar"
    assert status(window, 3) == "unnamed"
    assert window.this_cluster.name.text() == ""


def test_a_name_that_is_typed_is_kept_when_the_focus_goes_elsewhere(window: MainWindow) -> None:
    press(window.clusters_pane.table, Key.Key_Return)
    press(window.this_cluster.name, *"calendar")
    window.search.setFocus(Qt.FocusReason.MouseFocusReason)
    assert named(window) == ["calendar"]
    window.commands.undo()
    assert named(window) == []


def test_a_name_that_is_left_with_esc_is_not_kept(window: MainWindow) -> None:
    press(window.clusters_pane.table, Key.Key_Return)
    press(window.this_cluster.name, *"calendar", Key.Key_Escape)
    window.commands.go_to_cluster(3)
    assert named(window) == []


def test_enter_without_a_change_takes_no_answer_away(window: MainWindow) -> None:
    window.commands.resist()
    press(window.clusters_pane.table, Key.Key_Return)
    press(window.this_cluster.name, Key.Key_Return)
    assert status(window, 0) == "resists"
