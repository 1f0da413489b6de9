"""The map: pan, zoom, hover, click, lasso, colours, words on it, search."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from kiruviz.tasks.spaces import TokenPiece
from kiruviz.ui.map.canvas import MapCanvas
from kiruviz.ui.map.hover_card import HoverCard
from kiruviz.ui.window import MainWindow
from tests.ui import driving
from tests.ui.driving import buttons, clear_row, click, drag, pixel, press, row_of, still, wait_until, wheel

pytestmark = pytest.mark.keeps_running
Key = Qt.Key
Mod = Qt.KeyboardModifier


@pytest.fixture(autouse=True)
def at_rest(window: MainWindow, qtbot: object) -> Iterator[None]:
    """The whole map, nothing selected, the hand to pan."""
    driving.wait_rest(window)
    driving.wake(window)
    session = window.document.session
    assert session is not None
    window.actions_by_name["pan"].trigger()
    window.document.set_lasso(np.zeros(0, np.int64))
    window.document.set_focus(None)
    window.map_pane.banner.hide()
    window.actions_by_name["fit"].trigger()
    still(window)
    yield
    window.search.leave()
    window.map_pane.set_color_by("cluster")
    while session.can_undo:
        window.commands.undo()


@pytest.fixture
def canvas(window: MainWindow) -> MapCanvas:
    return window.map_pane.canvas


def shown_facts(card: HoverCard) -> str:
    return "\n".join(part.text() for part in card.findChildren(QLabel) if part.isVisibleTo(card))


# Looking


def test_fit_shows_every_row(window: MainWindow, canvas: MapCanvas) -> None:
    for row in range(len(canvas.scene.coords)):
        assert canvas.rect().contains(pixel(window, row))


def test_dragging_pans_the_map_with_the_hand(window: MainWindow, canvas: MapCanvas) -> None:
    before = pixel(window, 0)
    start = QPoint(400, 800)
    drag(canvas, [start, start + QPoint(20, 10), start + QPoint(60, -30)])
    assert pixel(window, 0) - before == QPoint(60, -30)
    assert not canvas.is_whole


@pytest.mark.parametrize("steps", [1, 4, -2])
def test_the_wheel_zooms_about_the_pointer(canvas: MapCanvas, steps: int) -> None:
    at = QPoint(517, 311)
    before, scale = canvas.view.to_data(at.x(), at.y()), canvas.view.scale
    wheel(canvas, at, steps)
    assert canvas.view.to_data(at.x(), at.y()) == pytest.approx(before, rel=1e-6)
    assert canvas.view.scale == pytest.approx(scale * 1.2**steps)


def test_zoom_keys_zoom_in_and_out_and_fit_brings_all_back(canvas: MapCanvas) -> None:
    scale = canvas.view.scale
    canvas.setFocus()
    press(canvas, "=", modifier=Mod.ControlModifier)
    assert canvas.view.scale > scale
    press(canvas, "-", modifier=Mod.ControlModifier)
    assert canvas.view.scale == pytest.approx(scale)
    press(canvas, "0", modifier=Mod.ControlModifier)
    assert canvas.is_whole


def test_a_row_is_found_at_its_pixel_and_nothing_in_the_void(window: MainWindow, canvas: MapCanvas) -> None:
    row = clear_row(window)
    at = pixel(window, row)
    assert canvas.row_at(at.x(), at.y()) == row
    assert canvas.row_at(-400, -400) == -1


def test_a_double_click_zooms_in_there(canvas: MapCanvas) -> None:
    scale = canvas.view.scale
    QTest.mouseDClick(canvas, Qt.MouseButton.LeftButton, Mod.NoModifier, QPoint(300, 800))
    assert canvas.view.scale == pytest.approx(2 * scale)


# The words on it


def overlaps(boxes: np.ndarray) -> list[tuple[int, int]]:
    found = []
    for i, (x0, y0, x1, y1) in enumerate(boxes):
        for j in range(i + 1, len(boxes)):
            u0, v0, u1, v1 = boxes[j]
            if min(x1, u1) - max(x0, u0) > 0.01 and min(y1, v1) - max(y0, v0) > 0.01:
                found.append((i, j))
    return found


@pytest.mark.parametrize("zoom", [0.4, 1.0, 2.0, 6.0, 30.0])
def test_no_two_words_or_names_overlap(window: MainWindow, canvas: MapCanvas, zoom: float) -> None:
    for cluster_id, name in ((0, "a rather long name for a cluster"), (1, "short"), (2, "numbers and such")):
        window.document.label(lambda s, c=cluster_id, n=name: s.rename(c, n))
    window.document.label(lambda s: s.resist(3))
    canvas.zoom(zoom)
    shown = canvas.annotations
    boxes = [*shown.boxes.tolist(), *(list(box) for _, box, _ in shown.marks)]
    boxes.append([float(v) for v in (window.map_pane.toolbar.geometry().getCoords())])
    assert overlaps(np.array(boxes)) == []
    for x0, y0, x1, y1 in boxes:
        assert x0 >= 0
        assert y0 >= 0
        assert x1 <= canvas.width()
        assert y1 <= canvas.height()


def test_zooming_in_shows_a_larger_part_of_the_words_in_view(window: MainWindow, canvas: MapCanvas) -> None:
    row = row_of(window, "king")
    shares = []
    for _ in range(7):
        screen = canvas.view.to_screen(canvas.scene.coords)
        inside = ((screen > 0) & (screen < (canvas.width(), canvas.height()))).all(axis=1).sum()
        shares.append(len(canvas.annotations.rows) / max(int(inside), 1))
        wheel(canvas, pixel(window, row), 4)
    assert shares[-1] > shares[0]
    assert shares[-1] > 0.95


def test_named_and_resisting_clusters_have_their_names_on_the_map(window: MainWindow, canvas: MapCanvas) -> None:
    window.document.label(lambda s: s.rename(0, "first"))
    window.document.label(lambda s: s.resist(1))
    assert {mark.text for mark, _, _ in canvas.annotations.marks} == {"first", "resists naming"}


def test_a_click_on_a_name_selects_its_cluster(window: MainWindow, canvas: MapCanvas) -> None:
    window.document.label(lambda s: s.rename(2, "third"))
    window.document.select_cluster(0)
    _, box, _ = canvas.annotations.marks[0]
    QTest.mouseClick(
        canvas,
        Qt.MouseButton.LeftButton,
        Mod.NoModifier,
        QPoint(int((box[0] + box[2]) / 2), int((box[1] + box[3]) / 2)),
    )
    assert window.document.cluster_id == 2


# Hover and click


def test_the_card_tells_token_id_norm_frequency_cluster_and_the_nearest_five(window: MainWindow) -> None:
    record = window.document.record
    assert record is not None
    row = clear_row(window)
    driving.move_mouse(window.map_pane.canvas, pixel(window, row))
    card = window.map_pane.card
    assert card.isVisible()
    wait_until(lambda: "Nearest" in shown_facts(card), "the nearest five")
    facts = shown_facts(card)
    assert record.names[row] in facts
    assert f"id {int(record.row_ids[row])}" in facts
    assert f"norm {record.columns['norm'][row]:.2f}" in facts
    assert "Zipf" in facts
    labels = window.document.labels
    assert labels is not None
    assert labels.clusters[int(labels.assignment[row])].title in facts
    nearest = facts[facts.index("Nearest") + 7 :]
    assert len(re.findall(r" \.\d\d|1\.00", nearest)) == 5


def test_the_card_goes_when_the_pointer_leaves_the_row(window: MainWindow, canvas: MapCanvas) -> None:
    driving.move_mouse(canvas, pixel(window, clear_row(window)))
    assert window.map_pane.card.isVisible()
    driving.move_mouse(canvas, QPoint(2, canvas.height() - 2))
    assert not window.map_pane.card.isVisible()


def test_the_card_stays_inside_the_canvas(window: MainWindow, canvas: MapCanvas) -> None:
    right = int(np.argmax(canvas.view.to_screen(canvas.scene.coords)[:, 0]))
    canvas.hovered.emit(right)
    assert canvas.rect().contains(window.map_pane.card.geometry())
    canvas.hovered.emit(-1)


def test_a_click_selects_the_cluster_and_asks_for_the_neighbours(window: MainWindow, canvas: MapCanvas) -> None:
    record, labels = window.document.record, window.document.labels
    assert record is not None
    assert labels is not None
    row = clear_row(window)
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, Mod.NoModifier, pixel(window, row))
    assert window.document.focus == row
    assert window.document.cluster_id == int(labels.assignment[row])
    pane = window.neighbors_pane
    wait_until(lambda: pane.found is not None and pane.found.query == record.names[row], "neighbours")
    assert len(pane.model.rows) == 10
    assert record.names[row] in pane.section.heading.text()
    ids = [row_values[2] for row_values in pane.model.rows]
    assert int(record.row_ids[row]) not in ids


def test_metric_and_number_of_neighbours_are_followed(window: MainWindow) -> None:
    window.document.set_focus(row_of(window, "king"))
    pane = window.neighbors_pane
    pane.count.setValue(7)
    driving.choose(pane.metric_choice, "euclidean")
    wait_until(
        lambda: pane.found is not None and pane.found.metric == "euclidean" and len(pane.found.neighbors) == 7,
        "seven neighbours by another metric",
    )
    assert "Euclidean over the whole table" in pane.baseline.text()
    driving.choose(pane.metric_choice, "cosine")
    pane.count.setValue(10)


def test_enter_on_a_neighbour_shows_that_ones_neighbours(window: MainWindow) -> None:
    pane = window.neighbors_pane
    window.document.set_focus(row_of(window, "king"))
    wait_until(lambda: pane.found is not None and pane.found.query == "king", "neighbours of king")
    token = pane.model.rows[0][0]
    pane.table.selectRow(0)
    press(pane.table, Key.Key_Return)
    wait_until(lambda: pane.found is not None and pane.found.query.strip() == token.strip(), f"neighbours of {token}")


def test_a_click_into_the_void_lets_all_go(window: MainWindow, canvas: MapCanvas) -> None:
    window.document.set_focus(3)
    window.document.set_lasso(np.array([1, 2]))
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, Mod.NoModifier, QPoint(3, canvas.height() - 3))
    assert window.document.focus is None
    assert not len(window.document.lassoed)


# Lasso


def lasso(window: MainWindow, rows: list[int], modifier: Qt.KeyboardModifier = Mod.NoModifier) -> None:
    window.actions_by_name["lasso"].trigger()
    drag(window.map_pane.canvas, driving.box_around(window, rows), modifier)


def inside(window: MainWindow, rows: list[int]) -> list[int]:
    """The rows inside a box around `rows`."""
    places = [pixel(window, i) for i in range(len(window.map_pane.canvas.scene.coords))]
    box = driving.box_around(window, rows)
    return [i for i, p in enumerate(places) if box[0].x() < p.x() < box[2].x() and box[0].y() < p.y() < box[2].y()]


def far_apart(window: MainWindow) -> tuple[int, int]:
    coords = window.map_pane.canvas.scene.coords
    return int(coords[:, 0].argmin()), int(coords[:, 0].argmax())


def test_the_lasso_takes_rows_shift_adds_and_alt_takes_away(window: MainWindow) -> None:
    left, right = far_apart(window)
    lasso(window, [left])
    assert set(window.document.lassoed.tolist()) == set(inside(window, [left]))
    assert left in window.document.lassoed
    lasso(window, [right], Mod.ShiftModifier)
    assert {left, right} <= set(window.document.lassoed.tolist())
    lasso(window, [left], Mod.AltModifier)
    assert left not in window.document.lassoed
    assert right in window.document.lassoed
    lasso(window, [left])
    assert right not in window.document.lassoed


def test_the_lasso_draws_what_it_goes_round_and_tells_how_many(window: MainWindow, canvas: MapCanvas) -> None:
    left, _ = far_apart(window)
    lasso(window, [left])
    bar = window.map_pane.lasso_bar
    assert bar.isVisible()
    assert canvas.rect().contains(bar.geometry())
    assert any(part.text() == f"{len(window.document.lassoed)} lassoed" for part in bar.findChildren(QLabel))
    assert set(canvas.scene.selected.tolist()) == set(window.document.lassoed.tolist())


def test_lassoed_rows_become_a_cluster(window: MainWindow) -> None:
    rows = [row_of(window, name) for name in ("king", "queen", "prince")]
    window.document.set_lasso(np.array(sorted(rows)))
    click(buttons(window.map_pane.lasso_bar)["Make a cluster"])
    labels = window.document.labels
    assert labels is not None
    assert labels.members(8).tolist() == sorted(rows)
    assert window.document.cluster_id == 8
    assert not window.map_pane.lasso_bar.isVisible()


def test_lassoed_rows_move_to_another_cluster(window: MainWindow) -> None:
    labels = window.document.labels
    assert labels is not None
    row = int(labels.members(0)[0])
    window.document.set_lasso(np.array([row]))
    choice = window.map_pane.lasso_bar._move
    choice.setFocus()
    press(choice, Key.Key_Down)  # opens the list; nothing is moved on the way through it
    view = choice.view()
    wait_until(view.isVisible, "the list of clusters", 5)
    press(view, Key.Key_Down, Key.Key_Down, Key.Key_Down, Key.Key_Return)
    after = window.document.labels
    assert after is not None
    assert int(after.assignment[row]) == 2
    assert window.document.cluster_id == 2


def test_lassoed_rows_are_set_aside(window: MainWindow) -> None:
    window.document.set_lasso(np.array([1, 2]))
    click(buttons(window.map_pane.lasso_bar)["Set aside"])
    labels = window.document.labels
    assert labels is not None
    assert labels.members(-1).tolist() == [1, 2]


def test_a_dragged_lasso_survives_a_hair_of_a_move_only_as_a_click(window: MainWindow, canvas: MapCanvas) -> None:
    window.actions_by_name["lasso"].trigger()
    row = clear_row(window)
    drag(canvas, [pixel(window, row), pixel(window, row) + QPoint(1, 1)])
    assert window.document.focus == row
    assert not len(window.document.lassoed)


# Colours


@pytest.mark.parametrize("by", ["norm", "frequency", "kind"])
def test_each_colouring_changes_the_points_and_has_a_legend(window: MainWindow, canvas: MapCanvas, by: str) -> None:
    before = canvas.scene.colors.copy()
    window.actions_by_name[f"color_{by}"].trigger()
    assert not np.array_equal(canvas.scene.colors, before)
    assert window.map_pane.color_choice.value == by
    if by == "kind":
        assert window.map_pane.kinds.isVisible()
    else:
        assert canvas.scene.bar is not None
        assert float(canvas.scene.bar.low) < float(canvas.scene.bar.high)
    window.actions_by_name["color_cluster"].trigger()
    assert np.array_equal(canvas.scene.colors, before)
    assert canvas.scene.bar is None
    assert not window.map_pane.kinds.isVisible()


def test_the_toolbars_choice_and_the_menu_agree(window: MainWindow) -> None:
    driving.choose(window.map_pane.color_choice, "norm")
    assert window.map_pane.color_by == "norm"
    assert window.actions_by_name["color_norm"].isChecked()


def test_resisting_clusters_are_grey(window: MainWindow, canvas: MapCanvas) -> None:
    labels = window.document.labels
    assert labels is not None
    window.document.label(lambda s: s.resist(0))
    red, green, blue = (int(canvas.scene.colors[labels.members(0)[0]]) >> shift & 255 for shift in (16, 8, 0))
    assert max(red, green, blue) - min(red, green, blue) < 40


# Search


def test_a_search_lights_matches_and_lists_the_tokens_with_ids(window: MainWindow, canvas: MapCanvas) -> None:
    record = window.document.record
    assert record is not None
    press(canvas, "f", modifier=Mod.ControlModifier)
    assert window.search.hasFocus()
    press(window.search, "king")
    wait_until(lambda: len(canvas.scene.lit) and window.search.popup.lines, "matches and tokens")
    assert row_of(window, "king") in canvas.scene.lit
    assert all("king" in record.names[row] for row in canvas.scene.lit)
    assert re.fullmatch(r"king\s+\d+\s+.*", window.search.popup.lines[0])
    press(window.search, Key.Key_Escape)
    assert not len(canvas.scene.lit)
    assert not window.search.popup.isVisible()


def test_enter_flies_to_the_match_and_shows_its_neighbours(window: MainWindow, canvas: MapCanvas) -> None:
    window.search.start()
    press(window.search, "queen", Key.Key_Return)
    row = row_of(window, "queen")
    assert window.document.focus == row
    still(window)
    at = pixel(window, row)
    assert abs(at.x() - canvas.width() / 2) < 5
    assert abs(at.y() - canvas.height() / 2) < 5


def test_a_token_of_any_text_shows_its_neighbours(window: MainWindow) -> None:
    window.search.start()
    press(window.search, "hippopotamus zebra")
    wait_until(lambda: "".join(window.search.popup.lines).startswith("h"), "tokens")
    assert len(window.search.popup.lines) > 2
    line = window.search.popup.lines[0]
    click(buttons(window.search.popup)[line])
    token_id = int(line.split()[-2] if line.split()[-2].isdigit() else re.findall(r"\d+", line)[0])
    wait_until(
        lambda: window.neighbors_pane.found is not None and window.neighbors_pane.found.row_ids == (token_id,),
        "the token's neighbours",
    )


def test_odd_tokens_are_shown_as_plain_text(window: MainWindow) -> None:
    popup = window.search.popup
    pieces = tuple(TokenPiece(i, text, "word") for i, text in enumerate(("\n", " ", "\t", "<b>bold</b>", "R&D")))
    popup.show_tokens(pieces)
    shown = [line.split("    ")[0] for line in popup.lines]
    assert shown == ["↵", "·", "⇥", "<b>bold</b>", "R&D"]
    popup.hide()


def test_a_tag_as_a_token_is_not_rendered_anywhere(window: MainWindow) -> None:
    record = window.document.record
    assert record is not None
    odd = replace(record, names=("<b>x</b>", *record.names[1:]))
    window.map_pane.card.show_row(0, odd, window.document.labels, QPoint(50, 50))
    for part in window.map_pane.card.findChildren(QLabel):
        assert part.textFormat() == Qt.TextFormat.PlainText
    assert "<b>x</b>" in shown_facts(window.map_pane.card)
    window.map_pane.card.hide()
    for part in window.findChildren(QLabel):
        assert part.textFormat() == Qt.TextFormat.PlainText, part.text()


def test_a_note_that_looks_like_markup_is_shown_as_written(window: MainWindow) -> None:
    window.document.label(lambda s: s.set_note(0, "<b>sure?</b>"))
    model = window.clusters_pane.model
    tip = model.data(model.index(0, 1), Qt.ItemDataRole.ToolTipRole)
    assert "&lt;b&gt;sure?&lt;/b&gt;" in tip
