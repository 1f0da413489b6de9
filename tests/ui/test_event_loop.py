"""The window answers while it works: no gap of the event loop above 50 ms, cancel and close are quick.

Each gap is measured by a 1 ms timer in the real window with real helpers; the figures are printed (pytest -s
or -rP). The machine may be noisy, so the best of three counts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from PySide6.QtCore import Qt, QTimer

from kiruviz.analysis.grouping import ClusterSpec, KMeansParams
from kiruviz.figures.spec import FigureSpec
from kiruviz.session.records import SpaceRecord
from kiruviz.session.store import Session
from kiruviz.space import Recipe, Rows
from kiruviz.tasks import exports
from kiruviz.ui.app import spare_start_up_objects
from kiruviz.ui.conductor import MapChoice
from kiruviz.ui.settings import Settings
from kiruviz.ui.theme import ThemeKeeper
from kiruviz.ui.window import MainWindow

LONGEST_GAP_MS = 50
WAIT_MS = 400_000
TRIES = 3

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


class GapMeter:
    """The longest time between two ticks of a 1 ms timer."""

    def __init__(self) -> None:
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(1)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        spare_start_up_objects()  # as the program does; pytest's own objects are many times the window's
        self.longest = 0.0
        self._last = time.perf_counter()
        self._timer.start()

    def stop(self) -> float:
        """Milliseconds."""
        self._tick()
        self._timer.stop()
        return 1000 * self.longest

    def _tick(self) -> None:
        now = time.perf_counter()
        self.longest = max(self.longest, now - self._last)
        self._last = now


@pytest.fixture
def window(qtbot, qapp) -> Iterator[MainWindow]:
    made = MainWindow(ThemeKeeper(qapp, "dark"), Settings())
    made.resize(1440, 900)
    with qtbot.waitExposed(made):
        made.show()
    failures: list[str] = []
    made.conductor.failed.connect(lambda error: failures.append(error.sentence + error.details))
    yield made
    made.close()
    made.deleteLater()
    assert not failures


def open_starter(qtbot, window: MainWindow) -> None:
    with qtbot.waitSignals([window.document.labels_changed, window.document.coords_changed], timeout=WAIT_MS):
        window.start(None)


def show_vocabulary(qtbot, window: MainWindow) -> None:
    """The whole vocabulary by PCA, with few clusters so that it is there soon."""
    record = window.document.record
    assert record is not None
    window.conductor.choice = MapChoice("pca", {}, ClusterSpec(KMeansParams(2, 1, 0)))
    with qtbot.waitSignals([window.document.labels_changed, window.document.coords_changed], timeout=WAIT_MS):
        window.conductor.show_space(replace(record.recipe, rows=Rows()))
    qtbot.waitUntil(lambda: bool(window.document.evidence), timeout=WAIT_MS)


def best_gap(what: str, measure: Callable[[], float]) -> None:
    """Measure up to three times; the best counts."""
    gaps: list[float] = []
    while len(gaps) < TRIES and (not gaps or min(gaps) > LONGEST_GAP_MS):
        gaps.append(measure())
    print(f"longest gap while {what}: {min(gaps):.0f} ms (of {', '.join(f'{gap:.0f}' for gap in gaps)})")
    assert min(gaps) <= LONGEST_GAP_MS


def leave_session() -> None:
    """An untitled session with a name in it, as a crash leaves it."""
    session = Session.untitled()
    rows = np.arange(300)
    recipe = Recipe("smollm2", rows=Rows(words=("a",), title="left over"))
    session.add_space(SpaceRecord(recipe, tuple(map(str, rows)), rows, {}, "SmolLM2"))
    session.set_clusters(1, "kmeans", {}, rows % 8)
    session.rename(0, "left over")
    session.close()


def cluster_all(window: MainWindow, seed: int) -> None:
    window.conductor.draw(MapChoice("pca", {}, ClusterSpec(KMeansParams(8, 3, seed))))


def unfold_all(window: MainWindow, epochs: int, seed: int) -> None:
    window.conductor.draw(MapChoice("umap", {"n_epochs": epochs, "seed": seed}, window.conductor.choice.clusters))


def export(window: MainWindow, out: Path) -> None:
    window.commands.run_export("Export figure", exports.export_figure, str(out), FigureSpec(), window.map_pane.view())


def running(window: MainWindow, key: str):
    return window.runner.job(key)


def measured_start(qtbot, qapp) -> tuple[float, MainWindow]:
    """The longest gap from the moment a window is on screen to its map, and the window."""
    made = MainWindow(ThemeKeeper(qapp, "dark"), Settings())
    made.resize(1440, 900)
    with qtbot.waitExposed(made):
        made.show()
    meter = GapMeter()
    meter.start()
    open_starter(qtbot, made)
    return meter.stop(), made


def test_gap_while_the_starter_opens_for_the_first_time(qtbot, qapp, own_cache):
    def measure() -> float:
        gap, made = measured_start(qtbot, qapp)
        made.close()
        made.deleteLater()
        for path in own_cache.glob("m*/*"):  # the next try opens for the first time as well
            if path.is_file():
                path.unlink()
        return gap

    best_gap("the starter opens for the first time", measure)


def test_gaps_while_the_whole_vocabulary_is_worked_on(qtbot, window, tmp_path):
    open_starter(qtbot, window)
    show_vocabulary(qtbot, window)
    meter = GapMeter()
    seeds = iter(range(1, 100))

    def clusters() -> float:
        meter.start()
        with qtbot.waitSignal(window.document.labels_changed, timeout=WAIT_MS):
            cluster_all(window, next(seeds))
        return meter.stop()

    def figure() -> float:
        meter.start()
        export(window, tmp_path / "map.svg")
        with qtbot.waitSignal(running(window, "export").succeeded, timeout=WAIT_MS):
            pass
        return meter.stop()

    def umap() -> float:
        meter.start()
        unfold_all(window, 30, next(seeds))
        with qtbot.waitSignal(window.document.coords_changed, timeout=WAIT_MS, check_params_cb=lambda final: final):
            pass
        return meter.stop()

    best_gap("k-means groups the whole vocabulary", clusters)
    best_gap("the figure of the whole vocabulary is written", figure)
    best_gap("UMAP unfolds the whole vocabulary", umap)


def test_gap_while_the_whole_vocabulary_comes_onto_the_map(qtbot, window):
    open_starter(qtbot, window)
    everyday = window.document.record.recipe
    meter = GapMeter()

    def vocabulary() -> float:
        meter.start()
        show_vocabulary(qtbot, window)
        gap = meter.stop()
        with qtbot.waitSignal(window.document.labels_changed, timeout=WAIT_MS):
            window.conductor.show_space(everyday)
        return gap

    best_gap("the whole vocabulary comes onto the map", vocabulary)


def test_gap_at_a_start_with_many_sessions_left_over(qtbot, qapp):
    for _ in range(20):
        leave_session()

    def measure() -> float:
        gap, made = measured_start(qtbot, qapp)
        assert "A session without a name" in made.map_pane.banner.text
        made.close()
        made.deleteLater()
        return gap

    best_gap("a start finds 20 sessions left over", measure)


def test_cancel_ends_each_job_within_a_second_and_keeps_the_warm_helper_where_it_can(qtbot, window, tmp_path):
    open_starter(qtbot, window)
    show_vocabulary(qtbot, window)
    cases = {
        "k-means": ("analysis", "clusters", lambda: cluster_all(window, 7)),
        "UMAP": ("layout", "projection", lambda: unfold_all(window, 30, 7)),
        "figure": ("paper", "export", lambda: export(window, tmp_path / "map.pdf")),
    }
    for name, (lane, key, start) in cases.items():
        start()
        qtbot.waitUntil(lambda lane=lane: window.runner.lane(lane).is_at_work, timeout=WAIT_MS)
        if name == "UMAP":
            # The kernel is compiled first; cancelling is about the running job.
            with qtbot.waitSignal(running(window, key).progressed, timeout=WAIT_MS):
                pass
        pid = window.runner.lane(lane).pid
        began = time.monotonic()
        running(window, key).cancel()
        qtbot.waitUntil(lambda lane=lane: window.runner.lane(lane).is_idle, timeout=5000)
        took = time.monotonic() - began
        kept = window.runner.lane(lane).pid == pid
        print(f"cancelling {name}: {took:.2f} s, helper {'kept' if kept else 'replaced'}")
        assert took <= 1.0
        assert kept or name == "figure"  # one call of matplotlib cannot be interrupted


@pytest.mark.parametrize("job", ["open", "UMAP", "k-means", "figure"])
def test_closing_during_a_job_ends_everything_within_two_seconds(qtbot, window, tmp_path, job):
    if job == "open":
        window.start(None)
        qtbot.waitUntil(lambda: window.runner.lane("model").is_at_work, timeout=WAIT_MS)
    else:
        open_starter(qtbot, window)
        show_vocabulary(qtbot, window)
        lane = {"UMAP": "layout", "k-means": "analysis", "figure": "paper"}[job]
        {
            "UMAP": lambda: unfold_all(window, 30, 7),
            "k-means": lambda: cluster_all(window, 7),
            "figure": lambda: export(window, tmp_path / "map.pdf"),
        }[job]()
        qtbot.waitUntil(lambda: window.runner.lane(lane).is_at_work, timeout=WAIT_MS)
    began = time.monotonic()
    window.close()
    took = time.monotonic() - began
    print(f"closing during {job}: {took:.2f} s")
    assert took <= 2
    left = [p for p in psutil.Process().children(recursive=True) if "resource_tracker" not in " ".join(p.cmdline())]
    assert not left


def test_a_helper_killed_from_outside_costs_its_job_and_says_so(qtbot, window):
    open_starter(qtbot, window)
    sentences: list[str] = []
    window.conductor.failed.disconnect()
    window.conductor.failed.connect(lambda error: sentences.append(error.sentence))
    window.conductor.failed.connect(window.show_error)
    labels = window.document.labels
    show = MapChoice("pca", {}, ClusterSpec(KMeansParams(9, 10, 0)))
    window.runner.cancel("stability")
    window.runner.cancel("effect")
    window.runner.cancel("evidence")
    qtbot.waitUntil(lambda: window.runner.lane("analysis").is_idle, timeout=WAIT_MS)
    window.conductor.draw(replace(show, method=window.conductor.choice.method))
    qtbot.waitUntil(lambda: window.runner.lane("analysis").is_at_work, timeout=WAIT_MS)
    pid = window.runner.lane("analysis").pid
    assert pid is not None
    os.kill(pid, 9)
    qtbot.waitUntil(lambda: bool(sentences), timeout=WAIT_MS)
    assert "nothing you named is lost" in sentences[0]
    assert window.map_pane.banner.text == sentences[0]
    assert window.document.labels is labels
    with qtbot.waitSignal(window.document.labels_changed, timeout=WAIT_MS):
        window.conductor.draw(MapChoice(window.conductor.choice.method, {}, ClusterSpec(KMeansParams(7, 10, 0))))


def test_the_window_process_imports_none_of_the_heavy_libraries(qtbot, window):
    import subprocess
    import sys

    script = (
        "import sys\n"
        "from PySide6.QtCore import QTimer\n"
        "from kiruviz.ui import app as application\n"
        "from kiruviz.ui.settings import Settings\n"
        "from kiruviz.ui.theme import ThemeKeeper\n"
        "from kiruviz.ui.window import MainWindow\n"
        "def main():\n"
        "    app = application.make_app()\n"
        "    window = MainWindow(ThemeKeeper(app, 'dark'), Settings())\n"
        "    window.show()\n"
        "    def report():\n"
        "        print(sorted({name.split('.')[0] for name in sys.modules}))\n"
        "        window.close()\n"
        "    window.document.labels_changed.connect(lambda: QTimer.singleShot(500, report))\n"
        "    QTimer.singleShot(0, lambda: window.start(None))\n"
        "    app.exec()\n"
        "if __name__ == '__main__':\n"
        "    main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    loaded = set(eval(done.stdout))
    heavy = {"torch", "transformers", "umap", "evoc", "sklearn", "matplotlib", "numba", "scipy", "pyarrow", "wordfreq"}
    assert "PySide6" in loaded
    assert not loaded & heavy
