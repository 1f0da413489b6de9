"""The watch over what tests leave behind sees it, names it, and lets what ends pass."""

from __future__ import annotations

import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QThread, QTimer
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests import leaks

pytestmark = pytest.mark.keeps_running  # these leave things behind on purpose


@pytest.fixture
def watch(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[leaks.Watch]:
    monkeypatch.setattr(leaks, "_GRACE", 0.1)
    return leaks.Watch(monkeypatch, qt=True)


def test_a_running_thread_is_named_with_the_line_that_started_it(watch: leaks.Watch) -> None:
    thread = QThread()
    thread.setObjectName("forgotten")
    thread.start()
    try:
        (words,) = watch.left()
    finally:
        thread.quit()
        thread.wait()
    assert words.startswith("QThread 'forgotten' started at")
    assert "test_leaks.py" in words
    assert watch.left() == []


def test_an_active_timer_is_named(watch: leaks.Watch) -> None:
    timer = QTimer()
    timer.start(10_000)
    (words,) = watch.left()
    assert words.startswith("QTimer")
    timer.stop()
    assert watch.left() == []


def test_a_leftover_window_is_named(watch: leaks.Watch) -> None:
    widget = QWidget()
    widget.setWindowTitle("still here")
    (words,) = watch.left()
    assert "still here" in words
    widget.deleteLater()
    assert watch.left() == []


def test_a_leftover_child_process_is_named(watch: leaks.Watch) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    (words,) = watch.left()
    assert str(child.pid) in words
    child.communicate()
    assert watch.left() == []


def test_the_network_is_out_of_reach(request: pytest.FixtureRequest) -> None:
    with pytest.raises(OSError, match="tests may not reach"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    with pytest.raises(OSError, match="refused"):  # by the closed door that the proxy variables lead to
        urllib.request.urlopen("http://example.org", timeout=1)
    # Seen above; without this the guard would fail the test for what it did.
    request.getfixturevalue("no_network").clear()


def test_loopback_is_within_reach() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass
