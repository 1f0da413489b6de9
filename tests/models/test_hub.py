from __future__ import annotations

import json
import shutil
import socket
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiruviz.errors import Cancelled
from kiruviz.models import hub, hub_http, hub_place
from kiruviz.models.opening import open_model
from tests.models.hub_driving import (
    REPO,
    Stops,
    fetch,
    look,
    sentence,
    talk,
)
from tests.models.hub_server import HubServer


def test_a_download_says_its_size_first_and_takes_no_programs(server: HubServer, llama: Path) -> None:
    with talk() as conversation:
        plan = hub.plan(conversation)
        assert server.total == 0
        fetched = hub.download(conversation, plan)
    names = {file.path for file in plan.files}
    assert names == {"config.json", "generation_config.json", "vocab.json", "merges.txt", "model.safetensors"}
    assert plan.size == plan.missing == sum((llama / name).stat().st_size for name in names) == server.total
    assert {path.name for path in fetched.folder.iterdir()} == names
    np.testing.assert_array_equal(open_model(REPO).table(), open_model(str(llama)).table())
    assert open_model(REPO).identity == open_model(str(llama)).identity


def test_a_download_lies_in_the_cache_as_the_library_lays_it(server: HubServer) -> None:
    from huggingface_hub import scan_cache_dir, try_to_load_from_cache

    folder = fetch().folder
    cache = hub_place.hub_cache()
    found = scan_cache_dir(cache)
    assert [str(warning) for warning in found.warnings] == []
    (repo,) = found.repos
    (revision,) = repo.revisions
    assert (repo.repo_id, revision.refs, revision.snapshot_path) == (REPO, {"main"}, folder.resolve())
    assert try_to_load_from_cache(REPO, "config.json", cache_dir=cache) == str(folder / "config.json")
    assert (folder / "model.safetensors").is_symlink()


def test_what_is_here_is_not_fetched_again(server: HubServer) -> None:
    fetch()
    sent = server.total
    with talk() as conversation:
        assert hub.plan(conversation).missing == 0
    fetch()
    assert server.total == sent


def test_a_cancelled_download_resumes_and_shows_no_model_meanwhile(server: HubServer, llama: Path) -> None:
    size = (llama / "model.safetensors").stat().st_size
    server.drop_after["model.safetensors"] = [size // 3]
    with pytest.raises(Cancelled):
        fetch(progress=Stops(lambda: server.sent["model.safetensors"] > 0))
    assert "not on this computer" in sentence(open_model, REPO)
    server.drop_after.clear()
    blobs = hub_place.hub_cache() / "models--people--tiny/blobs"
    (partial,) = blobs.glob("*.incomplete")
    kept, sent = partial.stat().st_size, server.sent["model.safetensors"]
    fetch()
    assert server.sent["model.safetensors"] - sent == size - kept
    assert open_model(REPO).identity == open_model(str(llama)).identity
    assert not list(blobs.glob("*.incomplete"))


def test_a_download_begins_again_where_the_server_cannot_go_on_in_the_middle(
    server: HubServer, llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_http, "SMALL", 1000)
    server.ignore_range = True
    server.drop_after["model.safetensors"] = [5000]
    fetch()
    assert open_model(REPO).identity == open_model(str(llama)).identity


def test_what_arrives_damaged_is_refused_and_not_kept(server: HubServer, llama: Path) -> None:
    damaged = server.entries(REPO)
    for entry in damaged:
        if entry["path"] == "model.safetensors":
            entry["lfs"]["oid"] = "0" * 64
    server.entries = lambda repo: damaged  # type: ignore[method-assign]
    assert "model.safetensors of people/tiny arrived damaged" in sentence(fetch)
    assert "not on this computer" in sentence(open_model, REPO)
    assert not list((hub_place.hub_cache() / "models--people--tiny/blobs").glob("*.incomplete"))


def test_of_several_weights_one_is_named(server: HubServer, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for name in ("a-q4.gguf", "a-q8.gguf"):
        (folder / name).write_bytes(b"GGUF" + bytes(5000))
    server.models["people/many"] = folder
    said = sentence(fetch, "people/many")
    assert "name one of them with --file: a-q4.gguf (5.0 kB), a-q8.gguf (5.0 kB)" in said
    assert [path.name for path in fetch("people/many", only="a-q8.gguf").folder.iterdir()] == ["a-q8.gguf"]
    assert "has no weight file 'b.gguf'" in sentence(fetch, "people/many", None, "b.gguf")


def test_pickled_weights_are_not_fetched(server: HubServer, tmp_path: Path) -> None:
    folder = tmp_path / "pickled"
    folder.mkdir()
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04")
    server.models["people/pickled"] = folder
    assert "has its weights only as pytorch_model.bin" in sentence(fetch, "people/pickled")


def test_a_revision_is_fetched_by_its_commit(server: HubServer) -> None:
    commit = server.commit(REPO)
    fetch(f"{REPO}@{commit}")
    assert open_model(f"{REPO}@{commit[:8]}").card.name == REPO
    assert open_model(REPO).card.name == REPO  # the only one there is
    assert "not on this computer" in sentence(open_model, f"{REPO}@other")


# Tokens and redirects


def test_the_token_goes_to_the_hub_and_never_to_the_content_server(
    server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.token = "hf_secret"
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    fetch()
    by_host: dict[str, set[str | None]] = {"hub": set(), "content": set()}
    for _, host, _, headers in server.requests:
        by_host[host].add(headers.get("authorization"))
    assert by_host == {"hub": {"Bearer hf_secret"}, "content": {None}}


def test_the_token_of_the_login_file_is_used(server: HubServer, home: Path) -> None:
    server.token = "hf_kept"
    place = home / ".cache/huggingface/token"
    place.parent.mkdir(parents=True)
    place.write_text("hf_kept\n")
    assert fetch().received > 0


def test_the_token_is_not_sent_to_the_hub_of_an_address(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("HF_ENDPOINT", "http://localhost:9")
    fetch(f"{server.url}/{REPO}")
    assert {headers.get("authorization") for _, _, _, headers in server.requests} == {None}


# What goes wrong, each its own sentence


@pytest.mark.parametrize("doing", [look, fetch])
def test_a_gated_model_says_where_to_accept_its_terms(server: HubServer, doing: Any) -> None:
    server.token = "other"
    said = sentence(doing)
    assert said.startswith("people/tiny is gated: accept its terms at ")
    assert "set HF_TOKEN" in said


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (401, "", "people/tiny is private or does not exist"),
        (403, "", "people/tiny is gated"),
        (403, "GatedRepo", "people/tiny is gated"),
        (404, "RepoNotFound", "There is no model people/tiny on 127.0.0.1"),
        (404, "RevisionNotFound", "people/tiny has no revision main"),
        (407, "", "does not let people/tiny through (it asks for a name and password)"),
        (429, "", "has had too many requests (429)"),
        (418, "", "refuses (HTTP 418)"),
        (503, "", "is out of order (HTTP 503)"),
    ],
)
def test_each_refusal_is_a_sentence_of_its_own(server: HubServer, status: int, code: str, words: str) -> None:
    server.status["api"] = (status, code)
    assert words in sentence(fetch)


def test_a_refused_token_is_said(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    server.status["api"] = (401, "")
    said = sentence(fetch)
    assert "does not accept the token for people/tiny" in said
    assert "hf_secret" not in said


def test_a_content_server_that_refuses_is_not_taken_for_a_gate(server: HubServer) -> None:
    server.status["content:model.safetensors"] = (403, "")
    assert "refuses (HTTP 403); fetch it again" in sentence(fetch)


def test_a_missing_file_is_named(server: HubServer) -> None:
    server.extra = [{"type": "file", "path": "special_tokens_map.json", "size": 7, "oid": "1" * 40}]
    assert "people/tiny has no file special_tokens_map.json" in sentence(fetch)


def test_a_model_that_is_not_there_is_named(server: HubServer) -> None:
    assert "There is no model people/nobody on 127.0.0.1" in sentence(fetch, "people/nobody")


def test_no_network_is_said(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{taken.getsockname()[1]}")
        assert "cannot be reached, so people/tiny was not fetched; check that this computer is online" in sentence(
            fetch
        )


def test_a_proxy_that_is_not_there_is_said(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "")
    said = sentence(fetch)
    assert said.startswith("The proxy 127.0.0.1:9 does not let people/tiny through")
    assert server.requests == []


def test_a_setting_that_is_no_address_is_said(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "hub.example")
    assert "hub.example is not the address of a Hub; set HF_ENDPOINT" in sentence(fetch)


def test_offline_mode_lets_nothing_out(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "HF_HUB_OFFLINE is set, so nothing may be fetched" in sentence(fetch)
    assert server.requests == []


def test_a_server_that_is_no_hub_is_said(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "commit", lambda repo: "main")
    assert "does not answer as a Hub should about people/tiny (it names no commit)" in sentence(fetch)


@pytest.mark.parametrize("doing", [look, fetch])
def test_a_disk_without_room_is_said_before_anything_large_is_fetched(
    server: HubServer, monkeypatch: pytest.MonkeyPatch, doing: Any
) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(hub.shutil, "disk_usage", lambda path: usage._replace(free=1000))
    assert "and the disk has 1.0 kB free; free some space" in sentence(doing)
    assert server.sent["model.safetensors"] < 10_000


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_becomes_full_is_said(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = hub_place.hub_cache() / "models--people--tiny/blobs"
    blobs.mkdir(parents=True)
    with talk() as conversation:
        plan = hub.plan(conversation)
        weights = next(file for file in plan.files if file.path == "model.safetensors")
        (blobs / f"{weights.digest}.incomplete").symlink_to("/dev/full")
        monkeypatch.setattr(hub, "_restored", lambda out, file: 0)
        assert "The disk became full while people/tiny was fetched" in sentence(hub.download, conversation, plan)


def test_two_fetches_of_one_model_wait_for_each_other(server: HubServer) -> None:
    results: list[hub.Fetched] = []
    threads = [threading.Thread(target=lambda: results.append(fetch())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2
    assert open_model(REPO).card.name == REPO


# What a server may not do


@pytest.mark.parametrize("path", ["../evil.json", "/etc/evil.json", "a/../../evil.json", "a\\..\\evil.json", "C:evil"])
@pytest.mark.parametrize("doing", [look, fetch])
def test_a_file_list_that_leads_out_of_the_folder_is_refused(server: HubServer, path: str, doing: Any) -> None:
    server.extra = [{"type": "file", "path": path, "size": 3, "oid": "1" * 40}]
    said = sentence(doing)
    assert f"names a file outside its folder ({path!r}), so nothing was fetched" in said
    assert server.total == 0


@pytest.mark.parametrize("name", ["../x.safetensors", "/x.safetensors", "deep/x.safetensors", "..", ""])
@pytest.mark.parametrize("doing", [look, fetch])
def test_an_index_that_leads_out_of_the_folder_is_refused(
    server: HubServer, tmp_path: Path, name: str, doing: Any
) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": name}}))
    server.models["people/index"] = folder
    assert "names a file outside its folder" in sentence(doing, "people/index")


def test_a_digest_that_is_a_path_is_refused(server: HubServer) -> None:
    server.extra = [{"type": "file", "path": "tokenizer.json", "size": 3, "oid": "../../../evil"}]
    assert "its file list is incomplete at tokenizer.json" in sentence(fetch)


def test_a_model_with_code_of_its_own_opens_as_data_and_says_so(server: HubServer, tmp_path: Path, llama: Path) -> None:
    folder = tmp_path / "coded"
    shutil.copytree(llama, folder)
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {"AutoModelForCausalLM": "modeling_tiny.Tiny", "AutoConfig": "other/repo--configuration_x.X"}
    (folder / "config.json").write_text(json.dumps(config))
    settings = {"auto_map": {"AutoTokenizer": ["tokenization_tiny.T", None]}}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    server.models["people/coded"] = folder
    fetched = fetch("people/coded").folder
    assert not list(fetched.glob("*.py"))
    (note,) = open_model("people/coded").card.notes
    assert note == (
        "people/coded brings code of its own (configuration_x.py, modeling_tiny.py, tokenization_tiny.py), which was "
        "not run: only its data was read."
    )
    np.testing.assert_array_equal(open_model(str(folder)).table(), open_model(str(llama)).table())
