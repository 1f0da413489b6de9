from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kiruviz.errors import UserError
from kiruviz.models import local
from kiruviz.models.local_entry import Found, LocalModel
from kiruviz.models.opening import open_model
from kiruviz.progress import Silent
from tests.models.test_gguf_file import write_gguf

MakeModel = Callable[..., Path]
COMMIT = "c" * 40


@pytest.fixture(autouse=True)
def no_ollama(monkeypatch: pytest.MonkeyPatch, home: Path, own_cache: Path) -> Path:
    """Ollama's folder in the test's home, not one that this computer may have."""
    place = home / ".ollama/models"
    monkeypatch.setenv("OLLAMA_MODELS", str(place))
    return place


def listed(place: str) -> list[LocalModel]:
    return [one for one in found().models if one.place == place]


def found() -> Found:
    return local.list_models(Silent())


def reasons(place: str) -> dict[str, str]:
    return {one.what: one.reason for one in found().skipped if one.place == place}


def in_hf_cache(home: Path, repo: str, files: dict[str, Path | bytes], commit: str = COMMIT, ref: str = "main") -> Path:
    """A revision as `huggingface_hub` keeps it: contents among the blobs, links in the revision's folder."""
    model = home / ".cache/huggingface/hub" / ("models--" + repo.replace("/", "--"))
    snapshot = model / "snapshots" / commit
    for folder in (model / "blobs", model / "refs", snapshot):
        folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        (model / "blobs" / digest).write_bytes(data)
        (snapshot / name).symlink_to(f"../../blobs/{digest}")
    if ref:
        (model / "refs" / ref).write_text(commit)
    return snapshot


def of_folder(folder: Path) -> dict[str, Path | bytes]:
    return {path.name: path for path in folder.iterdir()}


# Starters


def test_the_starters_are_listed_with_what_opens_them() -> None:
    assert [(one.title, one.ref, one.kind) for one in listed("starter")] == [
        ("SmolLM2-135M-Instruct", "smollm2", "GGUF"),
        ("all-MiniLM-L6-v2", "minilm", "safetensors"),
    ]


def test_on_a_computer_without_anything_else_only_starters_are_listed() -> None:
    assert {one.place for one in found().models} == {"starter"}
    assert found().skipped == []


# The Hugging Face cache


def test_a_revision_of_the_cache_opens_from_its_folder(home: Path, make_model: MakeModel) -> None:
    toy = make_model()
    snapshot = in_hf_cache(home, "people/toy", of_folder(toy))
    (one,) = listed("Hugging Face cache")
    assert (one.title, one.kind) == ("people/toy", "safetensors")
    assert one.size == (toy / "model.safetensors").stat().st_size
    assert Path(one.ref) == snapshot.resolve()
    opened = open_model(one.ref)
    assert opened.card.name == "people/toy"
    np.testing.assert_array_equal(opened.table(), open_model(str(toy)).table())
    assert open_model("people/toy").identity == opened.identity


def test_several_revisions_and_files_are_told_apart(home: Path, make_model: MakeModel) -> None:
    toy = of_folder(make_model())
    in_hf_cache(home, "people/toy", toy)
    in_hf_cache(home, "people/toy", toy, "d" * 40, "v2")
    in_hf_cache(home, "people/quantised", {"a-q4.gguf": b"GGUF4", "a-q8.gguf": b"GGUF8", "mmproj-a.gguf": b"GGUF"})
    assert [one.title for one in listed("Hugging Face cache")] == [
        "people/quantised · a-q4.gguf",
        "people/quantised · a-q8.gguf",
        "people/toy",
        "people/toy @ v2",
    ]
    with pytest.raises(UserError, match="not on this computer"):
        open_model("people/toy@v3")
    assert open_model("people/toy@v2").card.path.startswith(str(home))


def test_the_person_s_own_place_of_the_cache_is_looked_through(
    home: Path, make_model: MakeModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    in_hf_cache(home, "people/toy", of_folder(make_model()))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "moved"))
    assert listed("Hugging Face cache") == []
    shutil.move(home / ".cache/huggingface/hub", tmp_path / "moved")
    assert [one.title for one in listed("Hugging Face cache")] == ["people/toy"]


def test_what_is_broken_is_left_out_with_its_reason_and_the_rest_stays(home: Path, make_model: MakeModel) -> None:
    toy = of_folder(make_model())
    good = in_hf_cache(home, "people/good", toy)
    broken = in_hf_cache(home, "people/broken", toy)
    (broken / "model.safetensors").resolve().unlink()
    (good.parents[2] / "models--people--begun/blobs").mkdir(parents=True)
    in_hf_cache(home, "people/pickled", {"config.json": b"{}", "pytorch_model.bin": b"\x80"})
    in_hf_cache(home, "people/empty", {"config.json": b"{}"})
    half = in_hf_cache(home, "people/half", toy)
    bad = in_hf_cache(home, "people/half", toy, "d" * 40, "v2")
    (bad / "config.json").unlink()
    (bad / "config.json").symlink_to("../../blobs/gone")
    (half.parents[1] / "refs/lost").write_text("e" * 40)
    (good.parents[2] / "version.txt").write_text("1")
    assert [one.title for one in listed("Hugging Face cache")] == ["people/good", "people/half"]
    assert reasons("Hugging Face cache") == {
        "people/broken": "model.safetensors is missing, or a link out of the cache",
        "people/begun": "its download was not finished",
        "people/pickled": "its weights are pytorch_model.bin, which cannot be opened",
        "people/empty": "it holds no weights",
        "people/half": "config.json is missing, or a link out of the cache",
    }


def test_a_cache_that_the_library_cannot_read_is_listed_all_the_same(home: Path, make_model: MakeModel) -> None:
    from huggingface_hub import scan_cache_dir

    toy = of_folder(make_model())
    snapshot = in_hf_cache(home, "people/toy", toy)
    (snapshot.parents[1] / "refs/odd").write_bytes(b"\xff\xfe")
    with pytest.raises(UnicodeDecodeError):
        scan_cache_dir(home / ".cache/huggingface/hub")
    assert [one.title for one in listed("Hugging Face cache")] == ["people/toy"]


def test_a_link_out_of_the_cache_is_not_followed(home: Path, make_model: MakeModel, tmp_path: Path) -> None:
    toy = make_model()
    snapshot = in_hf_cache(home, "people/toy", of_folder(toy))
    outside = in_hf_cache(tmp_path / "elsewhere", "people/linked", of_folder(toy))
    (snapshot.parents[2] / "models--people--linked").symlink_to(outside.parents[1])
    (snapshot / "model.safetensors").unlink()
    (snapshot / "model.safetensors").symlink_to(toy / "model.safetensors")
    assert listed("Hugging Face cache") == []
    assert reasons("Hugging Face cache") == {
        "people/linked": "its folder is a link, which is not followed",
        "people/toy": "model.safetensors is missing, or a link out of the cache",
    }
    with pytest.raises(UserError, match=r"model\.safetensors is a link to .*, outside the model's folder"):
        open_model(str(snapshot))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_may_not_be_read_costs_only_itself(home: Path, make_model: MakeModel) -> None:
    toy = of_folder(make_model())
    in_hf_cache(home, "people/toy", toy)
    closed = in_hf_cache(home, "people/closed", toy).parent
    closed.chmod(0)
    try:
        assert [one.title for one in listed("Hugging Face cache")] == ["people/toy"]
        assert "cannot be read" in reasons("Hugging Face cache")["people/closed"]
    finally:
        closed.chmod(0o700)


def test_an_unreadable_folder_costs_only_itself(
    home: Path, make_model: MakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same where the tests run as root, who may read all: the system's answer is put in."""
    toy = of_folder(make_model())
    in_hf_cache(home, "people/toy", toy)
    closed = in_hf_cache(home, "people/closed", toy).parent
    scandir, stat = os.scandir, os.stat

    def refuse(path: object) -> None:
        if str(path).startswith(str(closed)):
            raise PermissionError(13, "Permission denied", str(path))

    def guarded_scandir(path: str = ".") -> object:
        refuse(path)
        return scandir(path)

    def guarded_stat(path: str, *rest: object, **named: object) -> object:
        if str(path) != str(closed):
            refuse(path)
        return stat(path, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "scandir", guarded_scandir)
    monkeypatch.setattr(os, "stat", guarded_stat)
    assert [one.title for one in listed("Hugging Face cache")] == ["people/toy"]
    assert reasons("Hugging Face cache") == {"people/closed": "its folder cannot be read (Permission denied)"}


def test_a_cache_of_many_files_is_listed_quickly(home: Path) -> None:
    for number in range(20):
        snapshot = in_hf_cache(home, f"people/m{number}", {"model.safetensors": b"x" * number})
        blob = (snapshot / "model.safetensors").readlink()
        for other in range(99):
            (snapshot / f"part-{other}.json").symlink_to(blob)
    local.list_models(Silent())  # imports the library
    began = time.process_time()
    models = listed("Hugging Face cache")
    took = time.process_time() - began
    assert len(models) == 20
    assert took < 1, took


def test_listing_opens_no_weights(home: Path, no_ollama: Path, make_model: MakeModel) -> None:
    """A pipe in the weights' place would hold forever whoever opened it."""
    snapshot = in_hf_cache(home, "people/toy", of_folder(make_model()))
    blob = (snapshot / "model.safetensors").resolve()
    blob.unlink()
    os.mkfifo(blob)
    models = home / ".lmstudio/models/people/tiny"
    models.mkdir(parents=True)
    os.mkfifo(models / "tiny.gguf")
    assert {one.place for one in found().models} >= {"starter"}


# LM Studio


@pytest.mark.parametrize("place", [".lmstudio/models", ".cache/lm-studio/models"])
def test_both_usual_places_of_lm_studio_are_looked_through(home: Path, place: str) -> None:
    folder = home / place / "people/tiny"
    folder.mkdir(parents=True)
    write_gguf(folder / "tiny-Q8_0.gguf")
    (folder / "mmproj-tiny.gguf").write_bytes(b"GGUF")
    (folder / "big-00001-of-00002.gguf").write_bytes(b"GGUF")
    (folder / "big-00002-of-00002.gguf").write_bytes(b"GGUF")
    (one,) = listed("LM Studio")
    assert (one.title, one.kind, Path(one.ref)) == ("people/tiny", "GGUF", folder / "tiny-Q8_0.gguf")
    assert open_model(one.ref).card.name == "Tiny"
    assert reasons("LM Studio") == {
        "people/tiny · big-00001-of-00002.gguf": "it lies in several parts, which cannot be opened"
    }


@pytest.mark.parametrize(
    "settings", [".lmstudio/settings.json", ".config/LM Studio/settings.json", "moved/settings.json"]
)
def test_where_the_settings_of_lm_studio_point_is_looked_through(home: Path, tmp_path: Path, settings: str) -> None:
    folder = tmp_path / "own place/people/tiny"
    folder.mkdir(parents=True)
    write_gguf(folder / "tiny.gguf")
    (home / ".lmstudio-home-pointer").write_text(f"{home / 'moved'}\n")
    (home / settings).parent.mkdir(parents=True)
    (home / settings).write_text(json.dumps({"downloadsFolder": str(tmp_path / "own place")}))
    assert [one.title for one in listed("LM Studio")] == ["people/tiny"]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"downloadsFolder": 3}', '{"downloadsFolder": "relative"}', "[" * 9999]
)
def test_damaged_settings_of_lm_studio_do_not_matter(home: Path, content: str) -> None:
    folder = home / ".lmstudio/models/people/tiny"
    folder.mkdir(parents=True)
    (folder / "tiny.gguf").write_bytes(b"GGUF")
    (home / ".lmstudio/settings.json").write_text(content)
    (home / ".lmstudio-home-pointer").write_text(content)
    assert [one.title for one in listed("LM Studio")] == ["people/tiny"]


def test_links_in_lm_studios_folder_are_not_followed(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside/tiny"
    outside.mkdir(parents=True)
    (outside / "tiny.gguf").write_bytes(b"GGUF")
    models = home / ".lmstudio/models"
    (models / "people/other").mkdir(parents=True)
    (models / "linked").symlink_to(outside.parent)
    (models / "people/tiny").symlink_to(outside)
    (models / "people/other/tiny.gguf").symlink_to(outside / "tiny.gguf")
    assert listed("LM Studio") == []
    assert reasons("LM Studio") == {
        "models/linked": "its folder is a link, which is not followed",
        "people/tiny": "its folder is a link, which is not followed",
        "people/other · tiny.gguf": "it is missing, or a link out of the models folder",
    }


# Ollama


def in_ollama(place: Path, name: str, layers: object, blob: bytes | None = None) -> Path:
    """A tag as Ollama keeps it."""
    manifest = place / "manifests" / name
    manifest.parent.mkdir(parents=True, exist_ok=True)
    (place / "blobs").mkdir(exist_ok=True)
    digest = hashlib.sha256(blob or b"").hexdigest()
    model = {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{digest}", "size": len(blob or b"")}
    manifest.write_text(json.dumps({"schemaVersion": 2, "layers": [model] if layers is None else layers}))
    path = place / "blobs" / f"sha256-{digest}"
    if blob is not None:
        path.write_bytes(blob)
    return path


def test_a_tag_of_ollama_opens_from_its_blob(no_ollama: Path, tmp_path: Path) -> None:
    write_gguf(tmp_path / "tiny.gguf")
    blob = in_ollama(no_ollama, "registry.example/library/tiny/1b", None, (tmp_path / "tiny.gguf").read_bytes())
    in_ollama(no_ollama, "registry.example/someone/tiny/latest", None, b"GGUF other")
    assert [(one.title, one.kind) for one in listed("Ollama")] == [("tiny:1b", "GGUF"), ("someone/tiny:latest", "GGUF")]
    first = listed("Ollama")[0]
    assert (Path(first.ref), first.size) == (blob, blob.stat().st_size)
    assert open_model(first.ref).identity == open_model(str(tmp_path / "tiny.gguf")).identity


def test_ollama_is_found_in_its_usual_place(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.delenv("OLLAMA_MODELS")
    in_ollama(home / ".ollama/models", "registry.example/library/tiny/1b", None, b"GGUF")
    assert "tiny:1b" in [one.title for one in listed("Ollama")]


def test_tags_of_ollama_that_cannot_be_opened_are_left_out_with_their_reason(no_ollama: Path, tmp_path: Path) -> None:
    layer = {"mediaType": "application/vnd.ollama.image.model"}
    in_ollama(no_ollama, "r/library/gone/1", None)
    in_ollama(no_ollama, "r/library/odd/1", "nothing")
    in_ollama(no_ollama, "r/library/none/1", [{"mediaType": "application/vnd.ollama.image.template", "digest": "x"}])
    in_ollama(no_ollama, "r/library/path/1", [layer | {"digest": "sha256:../../../secret"}])
    linked = in_ollama(no_ollama, "r/library/linked/1", None, b"GGUF linked")
    shutil.move(linked, tmp_path / "outside")
    linked.symlink_to(tmp_path / "outside")
    (no_ollama / "manifests/r/library/text").mkdir()
    (no_ollama / "manifests/r/library/text/1").write_text("no json")
    assert listed("Ollama") == []
    assert reasons("Ollama") == {
        "gone:1": "its file is missing; its download was not finished",
        "odd:1": "its manifest cannot be understood",
        "none:1": "its manifest names no model file",
        "path:1": "its manifest names no model file",
        "linked:1": "its file is a link out of Ollama's folder",
        "text:1": "its manifest cannot be understood",
    }


def test_the_list_says_what_it_says_as_json(no_ollama: Path) -> None:
    in_ollama(no_ollama, "r/library/tiny/1b", None, b"GGUF")
    made = found().to_json()
    assert set(made) == {"models", "skipped"}
    assert {"title": "tiny:1b", "kind": "GGUF", "size": 4, "place": "Ollama"}.items() <= made["models"][-1].items()
    json.dumps(made)
