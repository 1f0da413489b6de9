"""Which rows stand on the map: words, the vocabulary, filters, transforms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from kiruviz.ui.panes.space import SpacePane
from kiruviz.ui.window import MainWindow
from tests.ui import driving
from tests.ui.driving import choose, click, named, press, wait_until

pytestmark = pytest.mark.keeps_running
Key = Qt.Key


@pytest.fixture
def pane(window: MainWindow) -> SpacePane:
    return window.space_pane


@pytest.fixture(autouse=True)
def everyday(window: MainWindow, qtbot: object) -> Iterator[None]:
    """The everyday words, raw, one cluster named; back to them afterwards by undo."""
    driving.wake(window)
    window.document.label(lambda s: s.rename(0, "kept"))
    yield
    driving.wait_drawn(window)
    session = window.document.session
    assert session is not None
    while session.can_undo:
        window.commands.undo()
    window.map_pane.banner.hide()
    driving.wait_drawn(window)
    window.space_pane._space_changed()


def changed(window: MainWindow, act: Callable[[], object]) -> None:
    """Do something and wait for the map and clusters of other rows."""
    before = window.document.space_id
    act()
    wait_until(lambda: window.document.space_id not in (before, None), "other rows")
    driving.wait_drawn(window)


def type_words(window: MainWindow, pane: SpacePane, *words: str) -> None:
    """Choose to type words and type them, one on each line."""
    pane._rows_chosen("pasted")
    pane.rows.set_value("pasted")
    pane._rows_chosen("pasted")
    pane.pasted.setPlainText("\n".join(words))
    wait_until(lambda: "row" in pane.count.text() and "200 rows" not in pane.count.text(), "a count")


def test_words_typed_are_counted_as_one_types(window: MainWindow, pane: SpacePane) -> None:
    type_words(window, pane, "king", "queen", "hippopotamuses", "xqzzy")
    wait_until(lambda: pane.count.text().startswith("4 rows"), "four rows")
    assert "2 of several tokens" in pane.count.text()


def test_words_of_several_tokens_are_left_out_if_one_wants(window: MainWindow, pane: SpacePane) -> None:
    type_words(window, pane, "king", "queen", "hippopotamuses")
    choose(pane.pieces, "leave_out")
    wait_until(lambda: pane.count.text().startswith("2 rows"), "two rows")
    assert "1 left out" in pane.count.text()
    assert "hippopotamuses" in pane.count.toolTip()


def test_a_word_that_looks_like_markup_is_shown_as_written(window: MainWindow, pane: SpacePane) -> None:
    type_words(window, pane, "king", "<b>loud</b>")
    choose(pane.pieces, "leave_out")
    wait_until(lambda: "left out" in pane.count.text(), "a word left out")
    assert "&lt;b&gt;" in pane.count.toolTip()


def test_typed_words_are_drawn_and_fewer_than_k_make_as_many_clusters(window: MainWindow, pane: SpacePane) -> None:
    type_words(window, pane, "king", "queen", "seven", "hippopotamuses")
    changed(window, lambda: click(pane.show_rows))
    record = window.document.record
    assert record is not None
    assert record.names == ("king", "queen", "seven", "hippopotamuses")
    assert len(driving.titles(window)) == 4
    assert "4 rows" in window.state_line()


def test_one_word_is_a_map_too(window: MainWindow, pane: SpacePane) -> None:
    type_words(window, pane, "king")
    changed(window, lambda: click(pane.show_rows))
    assert len(driving.titles(window)) == 1
    assert not window.map_pane.banner.isVisible()


def test_no_words_are_refused_in_a_sentence(window: MainWindow, pane: SpacePane) -> None:
    pane.rows.set_value("pasted")
    pane._rows_chosen("pasted")
    pane.pasted.setPlainText("")
    click(pane.show_rows)
    wait_until(lambda: window.map_pane.banner.text, "a sentence")
    record = window.document.record
    assert record is not None
    assert len(record) == 200


def test_undo_after_other_rows_brings_typed_words_back_into_the_field(window: MainWindow, pane: SpacePane) -> None:
    type_words(window, pane, "king", "queen", "man")
    changed(window, lambda: click(pane.show_rows))
    pane.pasted.setPlainText("something else")
    window.commands.undo()
    window.commands.redo()
    assert pane.pasted.toPlainText().split() == ["king", "queen", "man"]
    changed(window, lambda: click(pane.center))
    record = window.document.record
    assert record is not None
    assert record.names == ("king", "queen", "man")


def test_filters_show_their_count_at_once(window: MainWindow, pane: SpacePane) -> None:
    pane.filters.toggle()
    pane.pattern.setFocus()
    press(pane.pattern, "queen$")
    wait_until(lambda: pane.count.text().split(" · ")[0] == "1 row", "one row: queen")
    pane.pattern.clear()
    wait_until(lambda: pane.count.text().split(" · ")[0] == "200 rows", "all rows")
    pane.filters.toggle()


def test_an_invalid_expression_is_said_and_the_map_stays(window: MainWindow, pane: SpacePane) -> None:
    pane.filters.toggle()
    before = window.document.space_id
    pane.pattern.setFocus()
    press(pane.pattern, "([")
    wait_until(lambda: pane.pattern.property("invalid"), "a complaint")
    assert pane.count.text().endswith(".")
    press(pane.pattern, Key.Key_Return)
    wait_until(lambda: window.map_pane.banner.text, "a sentence")
    assert "Traceback" not in window.map_pane.banner.text
    assert window.document.space_id == before
    pane.pattern.clear()
    wait_until(lambda: not pane.pattern.property("invalid"), "no complaint any more")
    pane.filters.toggle()


def test_the_whole_vocabulary_is_counted_under_filters(window: MainWindow, pane: SpacePane) -> None:
    pane.rows.set_value("all")
    pane._rows = type(pane._rows)()
    pane.whole_words.setChecked(True)
    pane.rank.setValue(50)
    wait_until(lambda: pane.count.text().endswith("rows") and "200 rows" not in pane.count.text(), "a count")
    count = int(pane.count.text().split()[0].replace(",", ""))
    assert 20 < count < 400
    changed(window, lambda: click(pane.show_rows))
    record = window.document.record
    assert record is not None
    assert len(record) == count


@pytest.mark.parametrize(
    ("switch", "words"), [("center", "centred"), ("unit", "unit length"), ("top", "centred, all-but-the-top 2")]
)
def test_each_switch_makes_another_map_and_stands_in_the_status_line(
    window: MainWindow, pane: SpacePane, switch: str, words: str
) -> None:
    def act() -> None:
        if switch == "top":
            pane.remove_top.setValue(2)
        else:
            click({"center": pane.center, "unit": pane.unit}[switch])

    changed(window, act)
    wait_until(lambda: words in window.state_line(), "the transform, once what was carried over has been told")


def test_names_are_carried_to_other_rows_and_undo_brings_rows_and_names_back(
    window: MainWindow, pane: SpacePane
) -> None:
    before = window.document.space_id
    labels = window.document.labels
    assert labels is not None
    assert named(window) == ["kept"]
    changed(window, lambda: click(pane.center))
    assert named(window) == ["kept"]
    window.commands.undo()
    assert window.document.space_id == before
    assert not pane.center.isChecked()
    assert window.document.labels is not None
    assert (window.document.labels.assignment == labels.assignment).all()
    assert named(window) == ["kept"]
    assert len(window.map_pane.canvas.scene.coords) == 200


def test_undo_while_other_rows_are_on_their_way_does_no_harm(window: MainWindow, pane: SpacePane) -> None:
    type_words(window, pane, "king", "queen", "man", "woman", "seven", "eight")
    before = window.document.space_id
    click(pane.show_rows)
    wait_until(lambda: window.document.space_id not in (before, None), "other rows")
    window.commands.undo()
    driving.wait_rest(window)
    assert not window.map_pane.banner.text
    record, coords, labels = window.document.record, window.document.coords, window.document.labels
    assert record is not None
    assert coords is not None
    assert labels is not None
    assert len(record) == len(coords) == len(labels.assignment)


def test_the_output_embedding_is_a_table_to_choose(window: MainWindow, pane: SpacePane) -> None:
    assert [pane.table.itemData(i) for i in range(pane.table.count())] == ["token", "output"]
    changed(window, lambda: choose(pane.table, "output"))
    assert "output embedding" in window.state_line()


def test_words_from_a_file(window: MainWindow, pane: SpacePane, tmp_path: Path) -> None:
    path = tmp_path / "my words.txt"
    path.write_bytes("\ufeffking\r\nqueen\r\n\r\nseven\r\n".encode())
    changed(window, lambda: window.commands.open_path(path))
    record = window.document.record
    assert record is not None
    assert record.names == ("king", "queen", "seven")
    assert pane.rows.value == "file"


def test_a_file_that_holds_no_text_is_refused_in_a_sentence(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "picture.txt"
    path.write_bytes(bytes(range(256)))
    window.commands.open_path(path)
    wait_until(lambda: window.map_pane.banner.text, "a sentence")
    assert "picture.txt" in window.map_pane.banner.text
    assert window.document.record is not None


def test_rows_that_come_back_bring_their_names_back(window: MainWindow, pane: SpacePane) -> None:
    record = window.document.record
    assert record is not None
    everyday = record.recipe
    type_words(window, pane, "king", "queen", "seven")
    changed(window, lambda: click(pane.show_rows))
    assert len(driving.titles(window)) == 3
    changed(window, lambda: window.commands.show_space(everyday))
    assert named(window) == ["kept"]
    assert len(driving.titles(window)) == 8
    assert "are back" in window.status.text()
    window.commands.undo()
    record = window.document.record
    assert record is not None
    assert record.names == ("king", "queen", "seven")


def test_words_dropped_while_no_model_is_open_are_answered(window: MainWindow, pane: SpacePane, tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("king\nqueen\n")
    info, pane._info = pane._info, None
    try:
        pane.read_file(path)
    finally:
        pane._info = info
    assert "open one from the Model menu" in window.map_pane.banner.text
