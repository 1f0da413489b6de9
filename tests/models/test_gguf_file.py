from __future__ import annotations

import contextlib
import struct
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kiruviz.errors import UserError
from kiruviz.models.gguf_file import GGML_TYPES, GgufFile
from kiruviz.models.opening import open_model

fuzz = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

TOKENS = ["<unk>", "<s>", "</s>", "<0x0A>", "▁", "k", "i", "n", "g", "ki", "ng", "king", "▁king", "é", "[PAD14]"]
SCORES = [0, 0, 0, 0, -1000, -1001, -1002, -1003, -1004, -20, -21, -30, -31, -1005, 0]
TYPES = [2, 3, 3, 6, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5]


def write_gguf(path: Path, quantised: str = "Q8_0", untied: bool = False) -> np.ndarray[Any, Any]:
    """A tiny llama-like GGUF with a SentencePiece vocabulary; the table's values before quantisation."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("Tiny")
    writer.add_block_count(1)
    writer.add_context_length(32)
    writer.add_embedding_length(64)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_rope_freq_base(5e4)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(TOKENS)
    writer.add_token_scores(SCORES)
    writer.add_token_types(TYPES)
    values = np.random.default_rng(0).normal(size=(len(TOKENS), 64)).astype(np.float32)
    kind = gguf.GGMLQuantizationType[quantised]
    writer.add_tensor("token_embd.weight", gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.add_tensor("output_norm.weight", np.ones(64, dtype=np.float32))
    if untied:
        writer.add_tensor("output.weight", values[::-1].copy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return values


def test_block_sizes_equal_those_of_the_gguf_package() -> None:
    sizes = {int(kind): (kind.name, *extent) for kind, extent in gguf.GGML_QUANT_SIZES.items()}
    assert {kind: sizes[kind] for kind in GGML_TYPES} == GGML_TYPES


@pytest.mark.parametrize("quantised", ["Q8_0", "Q4_0", "F16", "F32", "BF16"])
def test_header_and_rows_equal_the_reference_reader(tmp_path: Path, quantised: str) -> None:
    path = tmp_path / "tiny.gguf"
    write_gguf(path, quantised)
    ours, theirs = GgufFile(path), gguf.GGUFReader(path)
    assert ours.metadata.keys() == {key for key in theirs.fields if not key.startswith("GGUF.")}
    for key, value in ours.metadata.items():
        expected = theirs.fields[key].contents()
        got = ours.strings(key) or (value.tolist() if isinstance(value, np.ndarray) else value)
        assert got == expected, key
    tensor = theirs.tensors[0]
    expected_rows = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
    np.testing.assert_array_equal(ours.read(tensor.name), expected_rows)
    assert ours.infos[tensor.name].shape == (15, 64)


def test_a_llama_like_file_opens_with_its_words(tmp_path: Path) -> None:
    write_gguf(tmp_path / "tiny.gguf")
    checkpoint = open_model(str(tmp_path / "tiny.gguf"))
    card, vocabulary = checkpoint.card, checkpoint.vocabulary()
    assert (card.name, card.model_type, card.tied, card.rope_theta) == ("Tiny", "llama", True, 5e4)
    assert (card.num_heads, card.num_kv_heads, card.head_dim, card.max_positions) == (4, 2, 16, 32)
    assert card.rows_without_token == 1
    assert vocabulary.text[12] == " king"
    assert vocabulary.kind[[0, 3, 4, 11, 12, 14]].tolist() == [
        "special", "byte", "space", "piece", "word", "padding",
    ]  # fmt: skip
    assert checkpoint.tokenizer is not None
    assert checkpoint.tokenizer.encode("king") == [12]


def test_an_untied_file_has_an_output_table_of_its_own(tmp_path: Path) -> None:
    values = write_gguf(tmp_path / "tiny.gguf", "F32", untied=True)
    checkpoint = open_model(str(tmp_path / "tiny.gguf"))
    assert checkpoint.card.tied is False
    np.testing.assert_array_equal(checkpoint.table("output"), values[::-1])


def test_a_table_is_converted_once_and_then_mapped(tmp_path: Path, own_cache: Path) -> None:
    write_gguf(tmp_path / "tiny.gguf")
    first = open_model(str(tmp_path / "tiny.gguf")).table()
    files = list(own_cache.rglob("token_embd.weight.safetensors"))
    assert len(files) == 1
    changed = files[0].stat().st_mtime_ns
    second = open_model(str(tmp_path / "tiny.gguf")).table()
    np.testing.assert_array_equal(first, second)
    assert files[0].stat().st_mtime_ns == changed
    assert not second.flags.owndata


def test_a_damaged_cached_table_is_made_again(tmp_path: Path, own_cache: Path) -> None:
    write_gguf(tmp_path / "tiny.gguf")
    first = np.array(open_model(str(tmp_path / "tiny.gguf")).table())
    next(own_cache.rglob("token_embd.weight.safetensors")).write_bytes(b"half")
    np.testing.assert_array_equal(open_model(str(tmp_path / "tiny.gguf")).table(), first)


@fuzz
@given(share=st.floats(0, 0.9999))
def test_a_file_cut_anywhere_gives_one_sentence(tmp_path: Path, share: float) -> None:
    path = tmp_path / "tiny.gguf"
    if not path.exists():
        write_gguf(path)
    data = path.read_bytes()
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(UserError, match=r"cut\.gguf") as caught:
        GgufFile(cut)
    assert "\n" not in str(caught.value)


@fuzz
@given(place=st.integers(0, 1200), value=st.integers(0, 255))
def test_a_flipped_byte_never_raises_anything_else(tmp_path: Path, place: int, value: int) -> None:
    path = tmp_path / "tiny.gguf"
    if not path.exists():
        write_gguf(path)
    data = bytearray(path.read_bytes())
    data[place] = value
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(data)
    with contextlib.suppress(UserError):
        checkpoint = open_model(str(broken))
        checkpoint.table()
        checkpoint.vocabulary()


@fuzz
@given(data=st.binary(max_size=120))
def test_random_bytes_never_raise_anything_else(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<I", 3) + data)
    with contextlib.suppress(UserError):
        GgufFile(path)


def test_counts_beyond_the_file_are_refused_before_memory_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    key = struct.pack("<Q", 1) + b"k"
    huge = struct.pack("<IIQ", 9, 8, 2**60)
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + key + huge + bytes(64))
    with pytest.raises(UserError, match=r"damaged or cut off \(k at byte"):
        GgufFile(path)
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 2**63, 2**63) + bytes(64))
    with pytest.raises(UserError, match="its counts"):
        GgufFile(path)


def test_other_versions_and_other_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<I", 1) + bytes(64))
    with pytest.raises(UserError, match="GGUF version 1"):
        GgufFile(path)
    path.write_bytes(b"")
    with pytest.raises(UserError, match="is not a GGUF file"):
        GgufFile(path)
