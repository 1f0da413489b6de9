"""Messages on the map, and the jobs in the status line."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPlainTextEdit

from kiruviz.jobs.helper import JobError
from kiruviz.ui.widgets.banner import Banner
from kiruviz.ui.window import MainWindow
from tests.jobs import tasks_for_tests as tasks
from tests.ui import driving
from tests.ui.driving import buttons, click, wait_rest, wait_until

pytestmark = pytest.mark.keeps_running


@pytest.fixture
def banner(window: MainWindow, qtbot: object) -> Banner:
    driving.wake(window)
    wait_rest(window)
    window.map_pane.banner.hide()
    return window.map_pane.banner


def details(banner: Banner) -> QPlainTextEdit | None:
    shown = [part for part in banner.findChildren(QPlainTextEdit) if part.isVisible()]
    return shown[0] if shown else None


def test_a_fault_is_one_sentence_with_its_details_in_a_fold(window: MainWindow, banner: Banner) -> None:
    window.show_error(JobError("The table could not be read.", "Traceback: line 1\nline 2"))
    assert banner.text == "The table could not be read."
    assert details(banner) is None
    low = banner.height()
    click(buttons(banner)["Details"])
    shown = details(banner)
    assert shown is not None
    assert "Traceback: line 1" in shown.toPlainText()
    assert banner.height() > low
    click(buttons(banner)["Close"])
    assert not banner.isVisible()


def test_a_sentence_of_the_persons_doing_has_no_details(window: MainWindow, banner: Banner) -> None:
    window.show_sentence("The file is empty.")
    assert "Details" not in buttons(banner)


def test_the_second_of_two_messages_is_the_one_shown(window: MainWindow, banner: Banner) -> None:
    window.show_error(JobError("First, which is long enough that it has to be broken into more than one line.", "x"))
    window.show_sentence("Second.")
    assert banner.text == "Second."
    QTest.qWait(50)
    assert [b for b in buttons(banner) if b == "Details"] == []
    assert banner.height() < 120


def test_a_message_that_looks_like_markup_is_shown_as_written(window: MainWindow, banner: Banner) -> None:
    window.show_sentence("The word “<b>x</b>” has no row.")
    assert any(part.text() == "The word “<b>x</b>” has no row." for part in banner.findChildren(QLabel))


def test_a_message_stays_inside_the_window_at_its_least_size(window: MainWindow, banner: Banner) -> None:
    window.show_sentence("A rather long sentence about what went wrong and what can be done. " * 4)
    before = window.size()
    window.resize(1280, 720)
    QTest.qWait(20)
    assert window.map_pane.canvas.rect().contains(banner.geometry())
    window.resize(before)


def test_a_job_shows_its_words_and_is_cancelled(window: MainWindow, banner: Banner) -> None:
    job = window.runner.start("paper", "Counting sheep", tasks.polite, 60.0, key="sheep")
    strip = window.strip
    wait_until(lambda: strip.isVisible() and "running" in strip.text, "the strip")
    over: list[bool] = []
    job.cancelled.connect(lambda: over.append(True))
    click(buttons(strip)["Cancel"])
    assert over == [True]
    assert not strip.isVisible()
    wait_rest(window)


def test_several_jobs_are_counted(window: MainWindow, banner: Banner) -> None:
    first = window.runner.start("paper", "First", tasks.polite, 60.0, key="first")
    second = window.runner.start("analysis", "Second", tasks.polite, 60.0, key="second")
    wait_until(lambda: "1 more" in window.strip.text, "the number of others")
    second.cancel()
    wait_until(lambda: "more" not in window.strip.text, "one job")
    first.cancel()
    assert not window.strip.isVisible()
    wait_rest(window)


def test_a_job_that_fails_is_said_on_the_map(window: MainWindow, banner: Banner) -> None:
    window.document.set_focus(None)
    job = window.runner.start("paper", "Failing", tasks.stumble, key="failing")
    job.failed.connect(window.show_error)
    wait_until(lambda: banner.text, "the sentence")
    assert "nothing you named is lost" in banner.text
    click(buttons(banner)["Details"])
    assert details(banner) is not None
    click(buttons(banner)["Close"])
