from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from kiruviz.models import hub_http, hub_look
from kiruviz.models.opening import open_model
from tests.models.hub_driving import (
    REPO,
    ROWS,
    TABLE,
    WIDTH,
    header_length,
    look,
    make_llama,
    sentence,
    small_bytes,
    talk,
)
from tests.models.hub_server import HubServer


def test_a_look_fetches_header_table_and_small_files_and_not_a_byte_more(server: HubServer, llama: Path) -> None:
    fetched = look()
    weights = llama / "model.safetensors"
    expected = header_length(weights) + ROWS * WIDTH * 2 + small_bytes(llama)
    assert server.total == expected
    assert fetched.received == expected + server.sent["api"]
    assert expected < weights.stat().st_size
    assert set(server.sent) == {"api", "config.json", "generation_config.json", "vocab.json", "merges.txt",
                                "model.safetensors"}  # fmt: skip


def test_the_rows_of_a_look_are_the_full_files_and_open_offline_under_the_same_identity(
    server: HubServer, llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look()
    before = len(server.requests)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    seen, full = open_model(REPO), open_model(str(llama))
    assert len(server.requests) == before
    np.testing.assert_array_equal(seen.table(), full.table())
    assert seen.identity == full.identity
    assert seen.vocabulary().text == full.vocabulary().text
    assert (seen.card.tied, seen.card.num_layers, seen.card.rows_without_token) == (True, 2, 12)
    assert seen.card.name == REPO
    assert "looked at without downloading" in seen.card.notes[0]
    assert "kiruviz fetch people/tiny" in sentence(seen.tensor, "model.norm.weight")


@pytest.mark.parametrize("tied", [True, False])
def test_a_sharded_look_reads_every_header_and_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path, tied: bool
) -> None:
    folder = make_llama(tmp_path / "sharded", shards=2, tied=tied, rows=1024)
    parts = sorted(folder.glob("model-*.safetensors"))
    assert len(parts) > 1
    served = HubServer({"people/sharded": folder})
    monkeypatch.setenv("HF_ENDPOINT", served.url)
    try:
        look("people/sharded")
    finally:
        served.close()
    headers = sum(header_length(path) for path in parts)
    # An output table of its own is told from a copy by its first 64 KiB.
    compared = 0 if tied else 1 << 16
    index = (folder / "model.safetensors.index.json").stat().st_size
    assert served.total == headers + 1024 * WIDTH * 2 + small_bytes(folder) + index + compared
    seen, full = open_model("people/sharded"), open_model(str(folder))
    np.testing.assert_array_equal(seen.table(), full.table())
    assert seen.identity == full.identity
    assert seen.card.tied is full.card.tied is tied
    if not tied:
        assert "looked at without downloading" in sentence(seen.table, "output")


def test_a_tied_table_that_is_stored_twice_is_seen_as_tied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path, llama: Path
) -> None:
    folder = tmp_path / "twice"
    shutil.copytree(llama, folder)
    tensors = _as_f32(llama)
    save_file({**tensors, "lm_head.weight": tensors[TABLE].copy()}, folder / "model.safetensors")
    served = HubServer({"people/twice": folder})
    monkeypatch.setenv("HF_ENDPOINT", served.url)
    try:
        look("people/twice")
    finally:
        served.close()
    seen = open_model("people/twice")
    assert seen.card.tied is True
    assert seen.table("output") is seen.table("token")
    assert seen.identity == open_model(str(folder)).identity


def _as_f32(folder: Path) -> dict[str, Any]:
    store = open_model(str(folder))
    return {name: store.tensor(name).copy() for name in store.tensors}


def test_a_dropped_connection_goes_on_at_the_next_byte(server: HubServer, llama: Path) -> None:
    server.drop_after["model.safetensors"] = [8, 100, 1000, 20_000, 1, 30_000]
    look()
    weights = llama / "model.safetensors"
    assert server.sent["model.safetensors"] == header_length(weights) + ROWS * WIDTH * 2
    np.testing.assert_array_equal(open_model(REPO).table(), open_model(str(llama)).table())


def test_a_connection_that_brings_nothing_is_given_up(server: HubServer) -> None:
    server.drop_after["model.safetensors"] = [8, *[0] * 20]
    assert "broke off 5 times while people/tiny was fetched" in sentence(look)
    assert len(server.drop_after["model.safetensors"]) == 15


def test_a_cancelled_look_goes_on_where_it_stopped(server: HubServer, llama: Path) -> None:
    table = ROWS * WIDTH * 2
    server.drop_after["model.safetensors"] = [8, 1 << 20, table // 2, 0, 0, 0, 0, 0]
    assert "broke off" in sentence(look)
    assert "fetch" in sentence(open_model, REPO)
    sent = server.sent["model.safetensors"]
    server.drop_after.clear()
    look()
    again = server.sent["model.safetensors"] - sent
    assert again == header_length(llama / "model.safetensors") + table - table // 2
    np.testing.assert_array_equal(open_model(REPO).table(), open_model(str(llama)).table())


def test_a_server_that_ignores_ranges_is_noticed_before_the_file_is_read(
    server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.ignore_range = True
    monkeypatch.setattr(hub_http, "SMALL", 10_000)
    with talk() as conversation:
        said = sentence(hub_look.plan_look, conversation)
        assert conversation.received == server.sent["api"] + server.sent["config.json"]
    assert "sends whole files where a part is asked for" in said
    assert "kiruviz fetch people/tiny" in said


def test_a_small_file_is_read_whole_where_ranges_are_ignored(server: HubServer, llama: Path) -> None:
    server.ignore_range = True
    look()
    np.testing.assert_array_equal(open_model(REPO).table(), open_model(str(llama)).table())


def test_a_range_beyond_the_file_is_one_sentence(server: HubServer) -> None:
    server.status["content:model.safetensors"] = (416, "")
    assert "is shorter than its own list says (416)" in sentence(look)


def test_a_model_of_ggufs_is_not_looked_at(server: HubServer, tmp_path: Path) -> None:
    folder = tmp_path / "quantised"
    folder.mkdir()
    (folder / "tiny-q8.gguf").write_bytes(b"GGUF" + bytes(100))
    server.models["people/quantised"] = folder
    assert "comes as GGUF" in sentence(look, "people/quantised")


def test_the_full_file_equals_what_the_library_reads(server: HubServer, llama: Path) -> None:
    """The judge of the rows is transformers' own loading of the same files."""
    from transformers import AutoModelForCausalLM

    look()
    model = AutoModelForCausalLM.from_pretrained(llama)
    expected = model.get_input_embeddings().weight.detach().float().numpy()
    np.testing.assert_array_equal(open_model(REPO).table(), expected)
