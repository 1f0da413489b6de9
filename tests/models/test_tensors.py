from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from kiruviz.errors import UserError
from kiruviz.models.tensors import SafetensorsStore, TensorInfo, as_float32, write_safetensors

fuzz = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _whole(path: Path) -> bytes:
    save_file({"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(4, dtype=np.float16)}, path)
    return path.read_bytes()


def test_float32_is_a_read_only_view_of_the_file(tmp_path: Path) -> None:
    _whole(tmp_path / "x.safetensors")
    store = SafetensorsStore([tmp_path / "x.safetensors"])
    values = store.read("a")
    np.testing.assert_array_equal(values, np.arange(6).reshape(2, 3))
    assert not values.flags.owndata
    assert not values.flags.writeable
    assert store.infos["b"] == TensorInfo("b", (4,), "F16")


@pytest.mark.parametrize(("kind", "label"), [("<f8", "F64"), ("<f4", "F32"), ("<f2", "F16")])
def test_every_float_type_comes_out_as_float32(kind: str, label: str) -> None:
    values = np.array([[1.5, -0.0, 1e-7], [65504.0, np.inf, -2.25]]).astype(kind)
    out = as_float32(memoryview(values.tobytes()), TensorInfo("x", (2, 3), label), Path("x"))
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, values.astype(np.float32))


def test_an_unaligned_tensor_is_still_read_right() -> None:
    data = b"?" + np.arange(4, dtype="<f4").tobytes()
    out = as_float32(memoryview(data)[1:], TensorInfo("x", (4,), "F32"), Path("x"))
    np.testing.assert_array_equal(out, np.arange(4))
    assert out.flags.aligned


def test_integers_and_eight_bit_floats_are_refused_by_name(tmp_path: Path) -> None:
    save_file({"ids": np.arange(4)}, tmp_path / "x.safetensors")
    with pytest.raises(UserError, match=r"x\.safetensors: tensor ids is stored as I64"):
        SafetensorsStore([tmp_path / "x.safetensors"]).read("ids")


def test_what_is_written_is_read_back_and_lies_aligned(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32)
    with (tmp_path / "x.safetensors").open("wb") as out:
        write_safetensors(out, "t", values)
    read = SafetensorsStore([tmp_path / "x.safetensors"]).read("t")
    np.testing.assert_array_equal(read, values)
    assert not read.flags.owndata


@fuzz
@given(cut=st.integers(0, 300))
def test_a_file_cut_anywhere_gives_one_sentence(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "x.safetensors"
    data = _whole(path)
    if cut >= len(data):
        return
    path.write_bytes(data[:cut])
    with pytest.raises(UserError, match=r"x\.safetensors") as caught:
        SafetensorsStore([path])
    assert "\n" not in str(caught.value)


@fuzz
@given(data=st.binary(max_size=200))
def test_random_bytes_never_raise_anything_else(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(data)
    with contextlib.suppress(UserError):
        SafetensorsStore([path])


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3)
)
_ENTRIES = st.dictionaries(st.sampled_from(["dtype", "shape", "data_offsets", "x"]), _VALUES) | _VALUES


@fuzz
@given(header=st.dictionaries(st.text(max_size=4), _ENTRIES, max_size=3))
def test_a_header_that_lies_never_raises_anything_else(tmp_path: Path, header: dict[str, Any]) -> None:
    path = tmp_path / "x.safetensors"
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(64))
    with contextlib.suppress(UserError):
        store = SafetensorsStore([path])
        for name in store.infos:
            store.read(name)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 12]}, "does not fit its 12 bytes"),
        ({"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16000]}, "is cut off: tensor t ends at byte"),
        ({"dtype": "F32", "shape": [-2, -2], "data_offsets": [0, 16]}, "impossible sizes"),
        ({"dtype": "F32", "shape": [2, 2]}, "entry for tensor t is incomplete"),
        ({"dtype": "F32", "shape": [2, 2], "data_offsets": [16, 0]}, "impossible sizes"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, entry: dict[str, Any], says: str) -> None:
    path = tmp_path / "x.safetensors"
    text = json.dumps({"t": entry}).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(16))
    with pytest.raises(UserError, match=says):
        SafetensorsStore([path])
