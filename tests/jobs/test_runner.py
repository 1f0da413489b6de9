"""Lanes, helpers and the job contract, with real processes."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from kiruviz.jobs.lane import Job
from kiruviz.jobs.runner import JobRunner

sys.path.insert(0, str(Path(__file__).parent))  # the helper imports the jobs by name, as it inherits the path
import tasks_for_tests as tasks

WAIT = 20_000


@pytest.fixture
def runner(qtbot, tmp_path: Path) -> Iterator[JobRunner]:
    made = JobRunner(str(tmp_path / "numba"))
    yield made
    made.close()


def result(qtbot, job: Job) -> object:
    with qtbot.waitSignal(job.succeeded, timeout=WAIT) as caught:
        pass
    return caught.args[0]


def error(qtbot, job: Job):
    with qtbot.waitSignal(job.failed, timeout=WAIT) as caught:
        pass
    return caught.args[0]


def is_dead(pid: int) -> bool:
    """Whether a process has ended, its parent having noticed or not."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def helper_pid(qtbot, runner: JobRunner) -> int:
    return result(qtbot, runner.start("model", "who", tasks.process_id))


def test_a_job_runs_in_another_process_and_its_result_arrives(qtbot, runner):
    assert result(qtbot, runner.start("model", "add", tasks.add, 2, 3)) == 5
    assert helper_pid(qtbot, runner) != os.getpid()


def test_progress_arrives_in_the_main_thread(qtbot, runner):
    job = runner.start("model", "add", tasks.add, 2, 3)
    said = []
    job.progressed.connect(lambda fraction, message: said.append((fraction, message)))
    result(qtbot, job)
    assert said == [(0.5, "adding")]


def test_of_many_partial_results_the_last_one_is_seen(qtbot, runner):
    job = runner.start("model", "pictures", tasks.pictures, 200)
    seen = []
    job.partial.connect(lambda value: seen.append(value[0, 0]))
    result(qtbot, job)
    assert seen == sorted(seen)
    assert seen[-1] == 199


def test_a_cancelled_job_stops_and_its_helper_stays_warm(qtbot, runner):
    pid = helper_pid(qtbot, runner)
    job = runner.start("model", "polite", tasks.polite, 60)
    with qtbot.waitSignal(job.progressed, timeout=WAIT):
        pass
    started = time.monotonic()
    job.cancel()
    assert helper_pid(qtbot, runner) == pid
    assert time.monotonic() - started < 1


def test_a_job_that_does_not_listen_is_killed_within_a_second(qtbot, runner):
    pid = helper_pid(qtbot, runner)
    job = runner.start("model", "deaf", tasks.deaf, 60)
    with qtbot.waitSignal(job.progressed, timeout=WAIT):
        pass
    started = time.monotonic()
    job.cancel()
    qtbot.waitUntil(lambda: not psutil.pid_exists(pid), timeout=WAIT)
    assert time.monotonic() - started < 1.2
    assert helper_pid(qtbot, runner) != pid


def test_a_new_start_replaces_the_old_one_and_drops_its_late_result(qtbot, runner):
    old = runner.start("model", "polite", tasks.polite, 0.5, key="map")
    outcome = []
    old.succeeded.connect(outcome.append)
    old.cancelled.connect(lambda: outcome.append("cancelled"))
    new = runner.start("model", "add", tasks.add, 1, 1, key="map")
    assert result(qtbot, new) == 2
    assert outcome == ["cancelled"]


def test_a_refusal_is_the_one_sentence_without_a_traceback(qtbot, runner):
    got = error(qtbot, runner.start("model", "refuse", tasks.refuse))
    assert got.sentence == "The file words.txt has no words; put one word on each line."
    assert got.details == ""


def test_a_fault_is_one_sentence_with_the_traceback_in_the_details(qtbot, runner):
    got = error(qtbot, runner.start("model", "stumble", tasks.stumble))
    assert "a fault" in got.sentence
    assert "\n" not in got.sentence
    assert "Traceback" in got.details


def test_running_out_of_memory_is_said_and_the_helper_goes_on(qtbot, runner):
    pid = helper_pid(qtbot, runner)
    assert "memory" in error(qtbot, runner.start("model", "exhaust", tasks.exhaust)).sentence
    assert helper_pid(qtbot, runner) == pid


def test_a_helper_that_dies_costs_its_job_and_the_next_job_works(qtbot, runner):
    got = error(qtbot, runner.start("model", "die", tasks.die))
    assert "nothing you named is lost" in got.sentence
    assert result(qtbot, runner.start("model", "add", tasks.add, 2, 2)) == 4


def test_a_helper_killed_from_outside_while_idle_is_replaced(qtbot, runner):
    pid = helper_pid(qtbot, runner)
    os.kill(pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: is_dead(pid), timeout=WAIT)
    assert helper_pid(qtbot, runner) != pid


def test_closing_ends_a_deaf_job_and_leaves_no_process(qtbot, tmp_path):
    runner = JobRunner(str(tmp_path))
    pid = helper_pid(qtbot, runner)
    job = runner.start("model", "deaf", tasks.deaf, 60)
    with qtbot.waitSignal(job.progressed, timeout=WAIT):
        pass
    started = time.monotonic()
    runner.close()
    assert time.monotonic() - started < 2
    assert not psutil.pid_exists(pid)


def test_closing_at_once_after_the_start_is_clean(qtbot, tmp_path):
    runner = JobRunner(str(tmp_path))
    runner.start("model", "polite", tasks.polite, 60)
    runner.start("analysis", "polite", tasks.polite, 60)
    runner.close()
    assert not runner.busy


def test_the_helper_ends_when_the_window_process_is_killed(tmp_path):
    import subprocess

    script = (
        "import sys, time\n"
        "from PySide6.QtCore import QCoreApplication\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import tasks_for_tests as tasks\n"
        "from kiruviz.jobs.runner import JobRunner\n"
        "if __name__ == '__main__':\n"
        "    app = QCoreApplication([])\n"
        f"    runner = JobRunner({str(tmp_path)!r})\n"
        "    runner.lane('model').helper_started.connect(lambda pid: print(pid, flush=True))\n"
        "    runner.start('model', 'deaf', tasks.deaf, 120)\n"
        "    app.exec()\n"
    )
    path = tmp_path / "program.py"
    path.write_text(script)
    program = subprocess.Popen([sys.executable, str(path)], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    pid = int(program.stdout.readline())
    helper = psutil.Process(pid)
    program.kill()
    program.wait()
    program.stdout.close()
    psutil.wait_procs([helper], timeout=5)
    assert not helper.is_running()


def test_blas_threads_are_capped_in_a_helper(qtbot, runner):
    assert result(qtbot, runner.start("layout", "threads", tasks.threads)) == "1"
