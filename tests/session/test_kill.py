"""A kill at any moment: no edit that had returned is lost, and the file opens."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kiruviz.session.recover import find_untitled
from kiruviz.session.store import Session
from tests.session.helpers import filled, record

EDITS = 100
ROUNDS = int(os.environ.get("KIRUVIZ_KILLS", "15"))  # 200 before a release

# Each edit adds one to the history; the child says which have returned, then closes and says so.
CHILD = """
import os, sys
from kiruviz.session.store import Session
session = Session.open(sys.argv[1])
os.write(1, b"ready\\n")
for i in range(int(sys.argv[2])):
    if i % 5 == 4: session.move([i % 12], 0 if session.labels.assignment[i % 12] else 1)
    elif i % 7 == 6: session.resist(i % 2, f"note {i}")
    else: session.rename(i % 2, f"name {i}")
    os.write(1, b"%d\\n" % (i + 1))
session.close()
os.write(1, b"closed\\n")
"""


def killed(path: Path, after_edits: float, delay: float) -> int:
    """Start a child on the session at `path`, kill it `delay` seconds after it reported `after_edits` edits;
    how many it had reported as returned."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path), str(EDITS)], stdout=subprocess.PIPE, text=True
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


def check_one_kill(path: Path, chance: random.Random) -> int:
    """One round in a fresh file at `path`: the number of edits that had returned."""
    path.unlink(missing_ok=True)
    with filled(path, [0, 0, 0, 1, 1, 1, 0, 1, 2, 2, 2, 2]):
        pass
    returned = killed(path, chance.choice([0, chance.randrange(EDITS), EDITS]), chance.random() * 0.004)
    with Session.open_readonly(path) as session:
        seen = session.edits
    with Session.open(path) as session:
        assert returned <= session.edits == seen <= returned + 1, "the one under way may be there or not"
        assert session.edits == len(session.history())
        names = [entry.title for entry in session.history()]
        assert all(f"name {i}”" in names[i] for i in range(len(names)) if i % 5 != 4 and i % 7 != 6)
        while session.undo():
            pass
        assert session.labels is not None
        assert session.labels.sizes() == {0: 4, 1: 4, 2: 4}
    assert [p.name for p in path.parent.iterdir()] == [path.name]
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
def test_an_untitled_session_is_offered_back_after_a_kill() -> None:
    session = Session.untitled()
    session.set_clusters(session.add_space(record()), "kmeans", {}, [0, 1, 2] * 4)
    session.close()
    returned = killed(session.path, 9, 0.0)
    assert returned >= 9
    (info,) = find_untitled()
    assert info.path == session.path
    assert info.named + info.resists == 2
    assert Path(f"{session.path}-wal").exists(), "looking at it did not change what the crash left"
    Session.open(info.path).discard()
    assert find_untitled() == []
