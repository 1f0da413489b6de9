"""Files that are not what they should be, and places that cannot be written: one sentence, nothing touched."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from kiruviz.errors import UserError
from kiruviz.session import schema
from kiruviz.session.lock import FileLock
from kiruviz.session.store import Session
from tests.session.helpers import digest, filled
from tests.session.make_fixture import FOLDER


def _refused(action: Callable[[], object], path: Path) -> str:
    """The sentence with which `action` refuses: one, naming the file, and saying what to do."""
    with pytest.raises(UserError) as caught:
        action()
    sentence = str(caught.value)
    assert str(path) in sentence
    rest = sentence.replace(str(path), "FILE")
    assert re.fullmatch(r"[^.]*;[^.]*(\.kiru[^.]*)?\.", rest), "one sentence: what happened; what to do next"
    return rest


def _made(path: Path) -> Path:
    with filled(path) as session:
        session.rename(0, "months")
    return path


def _random(path: Path) -> None:
    path.write_bytes(os.urandom(20_000))


def _truncated(path: Path) -> None:
    content = _made(path).read_bytes()
    path.write_bytes(content[: len(content) // 2])


def _cut_header(path: Path) -> None:
    path.write_bytes(_made(path).read_bytes()[:50])


def _scribbled(path: Path) -> None:
    content = bytearray(_made(path).read_bytes())
    content[4096 : 4096 * 4] = os.urandom(4096 * 3)
    path.write_bytes(content)


def _damaged_labels(path: Path) -> None:
    with closing(sqlite3.connect(_made(path))) as connection, connection:
        connection.execute("UPDATE label_sets SET assignment = x'00ff'")


def _newer(path: Path) -> None:
    with closing(sqlite3.connect(_made(path))) as connection, connection:
        connection.execute(f"PRAGMA user_version={schema.VERSION + 1}")


def _foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE bookmarks (address TEXT)")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("way", [Session.open, Session.open_readonly])
@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_random, "damaged"),
        (_truncated, "damaged"),
        (_cut_header, "not a KiruViz session"),
        (_scribbled, "damaged"),
        (_damaged_labels, "damaged"),
        (_newer, "newer KiruViz"),
        (_foreign, "not a KiruViz session"),
        (_empty, "not a KiruViz session"),
    ],
)
def test_a_file_that_is_not_a_sound_session_is_refused_and_left_alone(
    tmp_path: Path, way: Callable[[Path], Session], spoil: Callable[[Path], None], says: str
) -> None:
    path = tmp_path / "a.kiru"
    spoil(path)
    before = digest(path)
    assert says in _refused(lambda: way(path), path)
    assert digest(path) == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.kiru"]
    lock = FileLock.acquire(path)
    assert lock is not None, "a refused file is not kept locked"
    lock.release()


def test_no_byte_of_a_file_can_be_spoilt_into_a_crash(tmp_path: Path) -> None:
    good = _made(tmp_path / "good.kiru").read_bytes()
    path = tmp_path / "a.kiru"
    for offset in range(0, len(good), 1499):
        path.write_bytes(good[:offset] + b"\xa5" * 16 + good[offset + 16 :])
        with suppress(UserError), Session.open_readonly(path) as session:
            session.space(1)
            session.label_sets()


@pytest.mark.parametrize("way", [Session.open, Session.open_readonly])
def test_a_folder_or_a_missing_file(tmp_path: Path, way: Callable[[Path], Session]) -> None:
    assert "is a folder" in _refused(lambda: way(tmp_path), tmp_path)
    assert "does not exist" in _refused(lambda: way(tmp_path / "no.kiru"), tmp_path / "no.kiru")
    _made(tmp_path / "a.kiru")
    _refused(lambda: way(tmp_path / "a.kiru" / "b.kiru"), tmp_path / "a.kiru" / "b.kiru")
    assert [p.name for p in tmp_path.iterdir()] == ["a.kiru"]


def test_a_session_is_not_made_over_another_file_or_below_one(tmp_path: Path) -> None:
    path = _made(tmp_path / "a.kiru")
    before = digest(path)
    assert "exists already" in _refused(lambda: Session.create(path), path)
    _refused(lambda: Session.create(path / "b.kiru"), path / "b.kiru")
    _refused(lambda: Session.create(tmp_path / "no" / "b.kiru"), tmp_path / "no" / "b.kiru")
    _refused(lambda: Session.create(tmp_path, overwrite=True), tmp_path)
    assert digest(path) == before
    with Session.create(path, overwrite=True) as session:
        assert session.labels is None
    assert [p.name for p in tmp_path.iterdir()] == ["a.kiru"]


@pytest.mark.parametrize("target", ["taken.kiru", "no/b.kiru", "taken.kiru/b.kiru", "folder"])
def test_a_failed_save_as_keeps_the_present_file_in_use(tmp_path: Path, target: str) -> None:
    taken = _made(tmp_path / "taken.kiru")
    (tmp_path / "folder").mkdir()
    before = digest(taken)
    with filled(tmp_path / "a.kiru") as session:
        _refused(lambda: session.save_as(tmp_path / target), tmp_path / target)
        session.rename(0, "after")
        assert session.path == tmp_path / "a.kiru"
    assert digest(taken) == before
    with Session.open(tmp_path / "a.kiru") as session:
        assert session.undo_title == "name cluster 0 “after”"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.kiru", "folder", "taken.kiru"]


def test_a_save_as_that_dies_at_the_last_step_leaves_both_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = _made(tmp_path / "taken.kiru")
    before = digest(taken)

    def fail(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    with filled(tmp_path / "a.kiru") as session:
        with monkeypatch.context() as patched:
            patched.setattr(Path, "replace", fail)
            _refused(lambda: session.save_as(taken, overwrite=True), taken)
        session.rename(0, "after")
        assert digest(taken) == before
        assert sorted(p.suffix for p in tmp_path.iterdir() if "taken" in p.name) == [".kiru"]


def test_a_write_that_fails_changes_neither_file_nor_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.kiru"
    with filled(path) as session:
        labels, pages = session.labels, session._connection.execute("PRAGMA page_count").fetchone()[0]
        session._connection.execute(f"PRAGMA max_page_count={pages}")
        assert "disk is full" in _refused(lambda: session.rename(0, "x" * 100_000), path)
        assert session.labels is labels
        assert not session.can_undo
        session._connection.execute("PRAGMA max_page_count=1000000")
        session.rename(0, "months")
    with Session.open(path) as session:
        assert len(session.history()) == 1


def test_two_sessions_cannot_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.kiru"
    link = tmp_path / "link.kiru"
    with filled(path) as session, filled(tmp_path / "b.kiru") as other:
        link.symlink_to(path)
        assert "open in another KiruViz" in _refused(lambda: Session.open(path), path)
        _refused(lambda: Session.open(link), path)
        _refused(lambda: Session.create(path, overwrite=True), path)
        _refused(lambda: other.save_as(path, overwrite=True), path)
        session.rename(0, "still mine")
    Session.open(path).close()


def test_another_process_is_told_that_the_file_is_open(tmp_path: Path) -> None:
    path = tmp_path / "a.kiru"
    code = (
        "import sys\nfrom kiruviz.errors import UserError\nfrom kiruviz.session.store import Session\n"
        "try:\n    Session.open(sys.argv[1])\nexcept UserError as error: print(error)\n"
        "with Session.open_readonly(sys.argv[1]) as s: print(s.labels.clusters[0].name)\n"
    )
    with filled(path) as session:
        session.rename(0, "months")
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, timeout=60
        )
        session.rename(1, "days")
    assert "open in another KiruViz" in done.stdout
    assert done.stdout.endswith("months\n")


def test_a_change_from_outside_is_noticed_before_it_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.kiru"
    with filled(path) as session:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE clusters SET name = 'theirs', status = 'named' WHERE cluster_id = 0")
        assert "changed by another program" in _refused(lambda: session.rename(0, "mine"), path)
    with Session.open(path) as session:
        assert session.labels is not None
        assert session.labels.clusters[0].name == "theirs"


@pytest.fixture
def nobody() -> Iterator[Path]:
    """A folder that all may read and write, and a process that is bound by permissions even if it is root's."""
    if sys.platform == "win32":
        pytest.skip("permission bits do not say who may write there")
    folder = Path(tempfile.mkdtemp(prefix="kiruviz-nobody-"))
    folder.chmod(0o777)
    was_root, home = os.geteuid() == 0, os.environ["KIRUVIZ_HOME"]
    os.environ["KIRUVIZ_HOME"] = str(folder / "home")
    if was_root:
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if was_root:
            os.seteuid(0)
        os.environ["KIRUVIZ_HOME"] = home
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o777)
        shutil.rmtree(folder)


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o777), (0o644, 0o555), (0o444, 0o555)])
def test_a_read_only_file_or_place_is_read_but_not_written(nobody: Path, file_mode: int, folder_mode: int) -> None:
    place = nobody / "place"
    place.mkdir()
    path = _made(place / "a.kiru")
    before = digest(path)
    path.chmod(file_mode)
    place.chmod(folder_mode)
    assert "read-only" in _refused(lambda: Session.open(path), path)
    with Session.open_readonly(path) as session:
        assert session.undo_title == "name cluster 0 “months”"
        session.save_as(nobody / "b.kiru")
        session.rename(1, "days")
        if folder_mode == 0o555:
            _refused(lambda: session.save_as(place / "c.kiru"), place / "c.kiru")
        session.rename(2, "years")
    assert digest(path) == before
    assert [p.name for p in place.iterdir()] == ["a.kiru"]


def test_a_kill_while_closing_is_played_back(tmp_path: Path) -> None:
    """A kill within the switch back from WAL leaves a hot rollback journal."""
    path = _made(tmp_path / "a.kiru")
    good = path.read_bytes()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size=1")
        connection.execute("BEGIN")
        connection.execute("UPDATE clusters SET note = 'half'")
        connection.execute("CREATE TABLE filler (content BLOB)")
        connection.execute("INSERT INTO filler VALUES (randomblob(400000))")
        half, journal = path.read_bytes(), Path(f"{path}-journal").read_bytes()
        connection.execute("ROLLBACK")
    assert half != good
    for way in (Session.open, Session.open_readonly):
        path.write_bytes(half)
        Path(f"{path}-journal").write_bytes(journal)
        with way(path) as session:
            assert session.undo_title == "name cluster 0 “months”"


def test_each_released_format_has_a_fixture() -> None:
    assert {p.name for p in FOLDER.glob("*.kiru")} >= {f"v{v}.kiru" for v in range(1, schema.VERSION + 1)}


@pytest.mark.parametrize("fixture", sorted(FOLDER.glob("*.kiru")), ids=lambda p: p.stem)
@pytest.mark.parametrize("way", [Session.open, Session.open_readonly])
def test_files_of_earlier_formats_keep_opening(tmp_path: Path, fixture: Path, way: Callable[[Path], Session]) -> None:
    path = tmp_path / "old.kiru"
    shutil.copyfile(fixture, path)
    with way(path) as session:
        assert session.labels is not None
        assert [c.title for c in session.labels.clusters.values()] == ["months", "resists naming"]
        assert session.labels.clusters[0].confidence == 3
        assert session.labels.assignment.tolist() == [0] * 6 + [1] * 5 + [-1]
        assert session.space(1).names[0] == "\n"
        latest = session.projection(1)
        assert latest is not None
        assert latest.coords[11, 1] == 23
        assert (session.redo_title, session.edits) == ("set aside 1 row", 6)
        assert (session.view("zoom"), list(session.saved_views)) == (2.5, ["Months"])
        if not session.read_only:
            while session.undo():
                pass
            assert session.labels.sizes() == {0: 4, 1: 4, 2: 4}


def test_a_migration_runs_once_and_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _made(tmp_path / "a.kiru")
    before = digest(path)
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    with monkeypatch.context() as broken:
        broken.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "CREATE TABLE extra (x); SYNTAX ERROR;"))
        _refused(lambda: Session.open(path), path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'").fetchone() == (0,)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "CREATE TABLE extra (x);"))
    with Session.open_readonly(path) as session:
        assert session.labels is not None
    Session.open(path).close()
    assert digest(path) != before
    with Session.open(path) as session:
        assert session.undo_title == "name cluster 0 “months”"
