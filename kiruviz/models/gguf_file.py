"""Reading a GGUF file: its header quickly, and one tensor at a time.

`gguf.GGUFReader` makes an array for every element of the token list (about 5 s for the starter); here a
list of strings is walked over and decoded only when asked for. Quantised rows are turned into float32 by
`gguf.quants`, so that they equal the reference exactly.
Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kiruviz.errors import UserError
from kiruviz.models.tensors import FloatArray, TensorInfo, as_float32, map_file

_SCALARS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_STRING, _ARRAY = 8, 9

# id -> (name, values in a block, bytes of a block): GGML_QUANT_SIZES of the gguf package, held equal by a test.
GGML_TYPES: dict[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210), 16: ("IQ2_XXS", 256, 66),
    17: ("IQ2_XS", 256, 74), 18: ("IQ3_XXS", 256, 98), 19: ("IQ1_S", 256, 50), 20: ("IQ4_NL", 32, 18),
    21: ("IQ3_S", 256, 110), 22: ("IQ2_S", 256, 82), 23: ("IQ4_XS", 256, 136), 24: ("I8", 1, 1),
    25: ("I16", 1, 2), 26: ("I32", 1, 4), 27: ("I64", 1, 8), 28: ("F64", 1, 8), 29: ("IQ1_M", 256, 56),
    30: ("BF16", 1, 2), 34: ("TQ1_0", 256, 54), 35: ("TQ2_0", 256, 66), 39: ("MXFP4", 32, 17),
}  # fmt: skip

_ROWS = 4096


@dataclass(frozen=True)
class StringList:
    """A list of strings in the header, decoded on request."""

    buffer: mmap.mmap | bytes
    start: int
    count: int

    def __len__(self) -> int:
        return self.count

    def decode(self) -> list[str]:
        """The strings; bytes that are no UTF-8 come out as the replacement character."""
        out, at, buffer = [], self.start, self.buffer
        read = struct.Struct("<Q").unpack_from
        for _ in range(self.count):
            end = at + 8 + read(buffer, at)[0]
            out.append(buffer[at + 8 : end].decode("utf-8", "replace"))
            at = end
        return out


@dataclass(frozen=True)
class _Tensor:
    info: TensorInfo
    type_id: int
    begin: int
    end: int


class _Cursor:
    """Reads forward through the header and refuses to leave the file."""

    def __init__(self, buffer: mmap.mmap | bytes, path: Path) -> None:
        self.buffer, self.path, self.at, self.size = buffer, path, 0, len(buffer)

    def fail(self, what: str) -> UserError:
        return UserError(f"{self.path} is damaged or cut off ({what} at byte {self.at}); fetch it again.")

    def need(self, count: int, what: str) -> None:
        if count > self.size - self.at:
            raise self.fail(what)

    def scalar(self, form: str, what: str) -> Any:
        self.need(struct.calcsize(form), what)
        value = struct.unpack_from(form, self.buffer, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def string(self, what: str) -> str:
        length = self.scalar("<Q", what)
        self.need(length, what)
        self.at += length
        return self.buffer[self.at - length : self.at].decode("utf-8", "replace")

    def array(self, what: str) -> Any:
        kind, count = self.scalar("<I", what), self.scalar("<Q", what)
        if kind == _STRING:
            return self._strings(count, what)
        if kind not in _SCALARS:
            raise self.fail(f"{what}: unknown list type {kind}")
        form = _SCALARS[kind]
        # Compared before anything is made: a count may claim more than any memory holds.
        self.need(count * struct.calcsize(form), what)
        values = np.frombuffer(self.buffer, dtype=form.replace("?", "b"), count=count, offset=self.at)
        self.at += values.nbytes
        return values

    def _strings(self, count: int, what: str) -> StringList:
        self.need(count * 8, what)
        start, at, size, read = self.at, self.at, self.size, struct.Struct("<Q").unpack_from
        for _ in range(count):
            if at + 8 > size:
                raise self.fail(what)
            at += 8 + read(self.buffer, at)[0]
        if at > size:
            raise self.fail(what)
        self.at = at
        return StringList(self.buffer, start, count)

    def value(self, what: str) -> Any:
        kind = self.scalar("<I", what)
        if kind == _STRING:
            return self.string(what)
        if kind == _ARRAY:
            return self.array(what)
        if kind not in _SCALARS:
            raise self.fail(f"{what}: unknown value type {kind}")
        return self.scalar(_SCALARS[kind], what)


class GgufFile:
    """One memory-mapped GGUF file, as a `TensorStore`.

    Attributes
    ----------
    metadata : key -> number, string, numpy array or `StringList`
    infos : tensors by name, outermost dimension first (GGUF writes it last)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.buffer = map_file(path)
        cursor = _Cursor(self.buffer, path)
        tensor_count, value_count = _preamble(cursor)
        # A key takes at least 13 bytes and a tensor 24: counts beyond that are nonsense.
        cursor.need(value_count * 13 + tensor_count * 24, "its counts")
        self.metadata: dict[str, Any] = {}
        for _ in range(value_count):
            key = cursor.string("a metadata key")
            self.metadata[key] = cursor.value(key)
        self._tensors = _tensors(cursor, tensor_count, self.metadata.get("general.alignment", 32))
        self._header_end = cursor.at
        self.infos = {name: tensor.info for name, tensor in self._tensors.items()}

    @property
    def headers(self) -> list[tuple[str, bytes]]:
        return [("gguf header", bytes(self.buffer[: self._header_end]))]

    @property
    def files(self) -> list[Path]:
        return [self.path]

    def strings(self, key: str) -> list[str] | None:
        """The list of strings under a metadata key, or None."""
        value = self.metadata.get(key)
        return value.decode() if isinstance(value, StringList) else None

    def raw(self, name: str) -> memoryview:
        tensor = self._tensors[name]
        return memoryview(self.buffer)[tensor.begin : tensor.end]

    def read(self, name: str) -> FloatArray:
        """The tensor dequantised to float32, read-only.

        Raises
        ------
        UserError : a type that the gguf package cannot dequantise
        """
        tensor = self._tensors[name]
        if tensor.info.dtype in ("F32", "F16", "BF16", "F64"):
            return as_float32(self.raw(name), tensor.info, self.path)
        import gguf

        rows = math.prod(tensor.info.shape[:-1])
        data = np.frombuffer(self.raw(name), dtype=np.uint8).reshape(rows, -1)
        out = np.empty((rows, tensor.info.shape[-1]), dtype=np.float32)
        try:
            kind = gguf.GGMLQuantizationType(tensor.type_id)
            for start in range(0, rows, _ROWS):
                out[start : start + _ROWS] = gguf.quants.dequantize(data[start : start + _ROWS], kind)
        except (NotImplementedError, ValueError) as error:
            raise UserError(
                f"{self.path.name}: tensor {name} is stored as {tensor.info.dtype}, which cannot be read; "
                "bring the model in another quantisation, for example Q8_0."
            ) from error
        out.flags.writeable = False
        return out.reshape(tensor.info.shape)


def _preamble(cursor: _Cursor) -> tuple[int, int]:
    """Magic and version checked; the number of tensors and of metadata values."""
    if bytes(cursor.buffer[:4]) != b"GGUF":
        raise UserError(f"{cursor.path} is not a GGUF file (it does not start with GGUF); fetch it again.")
    cursor.at = 4
    version = cursor.scalar("<I", "its version")
    if version not in (2, 3):
        raise UserError(
            f"{cursor.path} is GGUF version {version}, and only versions 2 and 3 (little-endian) can be read; "
            "convert it again with a current llama.cpp."
        )
    return cursor.scalar("<Q", "its tensor count"), cursor.scalar("<Q", "its metadata count")


def _tensors(cursor: _Cursor, count: int, alignment: Any) -> dict[str, _Tensor]:
    """Tensor entries, each checked to lie inside the file."""
    if not isinstance(alignment, int) or not 0 < alignment <= 1 << 20:
        raise cursor.fail("general.alignment")
    declared = []
    for _ in range(count):
        name = cursor.string("a tensor's name")
        dimensions = cursor.scalar("<I", name)
        if dimensions > 4:
            raise cursor.fail(f"tensor {name} with {dimensions} dimensions")
        shape = tuple(cursor.scalar("<Q", name) for _ in range(dimensions))[::-1]
        declared.append((name, shape, cursor.scalar("<I", name), cursor.scalar("<Q", name)))
    data = -(-cursor.at // alignment) * alignment
    tensors = {}
    for name, shape, type_id, offset in declared:
        label, block, size = GGML_TYPES.get(type_id, (f"type {type_id}", 1, 0))
        if shape and shape[-1] % block:
            raise cursor.fail(f"tensor {name} of shape {list(shape)} and type {label}")
        begin, length = data + offset, math.prod(shape) // block * size
        if begin + length > cursor.size:
            raise UserError(
                f"{cursor.path} is cut off: tensor {name} ends at byte {begin + length}, the file at "
                f"{cursor.size}; fetch it again."
            )
        tensors[name] = _Tensor(TensorInfo(name, shape, label), type_id, begin, begin + length)
    return tensors
