"""A kill at any moment: no edit that had returned is lost, and the file opens."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kiruviz.session.recover import find_untitled
from kiruviz.session.store import Session
from tests.session.helpers import act, filled, record

EDITS = 100
ROUNDS = int(os.environ.get("KIRUVIZ_KILLS", "15"))  # 200 before a release

# The child says which actions have returned, then closes and says so.
CHILD = """
import os, sys
from kiruviz.session.store import Session
from tests.session.helpers import act
session = Session.open(sys.argv[1])
os.write(1, b"ready\\n")
for i in range(int(sys.argv[2])):
    act(session, int(sys.argv[3]), i)
    os.write(1, b"%d\\n" % (i + 1))
session.close()
os.write(1, b"closed\\n")
"""


def killed(path: Path, seed: int, after_edits: float, delay: float) -> int:
    """Start a child on the session at `path`, kill it `delay` seconds after it reported `after_edits` actions;
    how many it had reported as returned."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path), str(EDITS), str(seed)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        said = [child.stdout.readline()]
        assert said == ["ready\n"]
        while len(said) <= after_edits:
            said.append(child.stdout.readline())
        time.sleep(delay)
        child.kill()
        said += child.stdout.read().splitlines(keepends=True)
    whole = [line for line in said if line.strip().isdigit() and line.endswith("\n")]
    return int(whole[-1]) if whole else 0


def start(path: Path) -> None:
    path.unlink(missing_ok=True)
    with filled(path, [0, 0, 0, 1, 1, 1, 0, 1, 2, 2, 2, 2]):
        pass


def state(session: Session) -> tuple[Any, ...]:
    """What a person would see: clusters with their labels, members, what undo and redo would do."""
    labels = session.labels
    assert labels is not None
    clusters = {i: replace(cluster, time=0.0) for i, cluster in labels.clusters.items()}
    history = [(entry.title, entry.undone) for entry in session.history()]
    return clusters, labels.assignment.tolist(), history


def check_one_kill(path: Path, chance: random.Random) -> int:
    """One round in a fresh file at `path`: the number of actions that had returned."""
    seed = chance.randrange(1000)
    start(path)
    returned = killed(path, seed, chance.choice([0, chance.randrange(EDITS), EDITS]), chance.random() * 0.004)
    with Session.open_readonly(path) as session:
        seen = state(session)
    with Session.open(path) as session:
        assert state(session) == seen
        while session.undo():
            pass
        assert session.labels is not None
        assert session.labels.sizes() == {0: 4, 1: 4, 2: 4}
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    start(path)
    with Session.open(path) as session:
        for i in range(returned):
            act(session, seed, i)
        if seen != state(session):  # the one under way may be there or not
            act(session, seed, returned)
            assert seen == state(session), f"after {returned} actions of seed {seed}"
    return returned


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
def test_a_kill_at_any_moment_loses_no_edit_that_had_returned(tmp_path: Path) -> None:
    chance = random.Random(20)
    returned = [check_one_kill(tmp_path / "a.kiru", chance) for _ in range(ROUNDS)]
    print(f"killed after {sorted(returned)} edits")
    assert len(set(returned)) > 3, "the kills should fall at different moments"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
def test_an_untitled_session_is_offered_back_after_a_kill(tmp_path: Path) -> None:
    session = Session.untitled()
    session.set_clusters(session.add_space(record()), "kmeans", {}, [0, 1, 2] * 4)
    session.close()
    shutil.copy(session.path, tmp_path / "twin.kiru")
    returned = killed(session.path, 0, 9, 0.0)
    assert returned >= 9
    (info,) = find_untitled()
    assert info.path == session.path
    answered = []  # after the actions that returned, and after the one that was under way
    with Session.open(tmp_path / "twin.kiru") as twin:
        for turn in range(returned + 1):
            act(twin, 0, turn)
            assert twin.labels is not None
            answered.append((twin.labels.progress().named, twin.labels.progress().resists))
    assert (info.named, info.resists) in answered[-2:]
    assert sum(answered[-2]) > 0
    assert Path(f"{session.path}-wal").exists(), "looking at it did not change what the crash left"
    Session.open(info.path).discard()
    assert find_untitled() == []
