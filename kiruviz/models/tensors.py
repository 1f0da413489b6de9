"""Reading one named tensor at a time, by memory map: the words, and the reader of safetensors files.

The format is read here rather than through the `safetensors` package because its numpy side knows no
bfloat16 and copies what it reads. Source: https://github.com/huggingface/safetensors (format).
"""

from __future__ import annotations

import json
import math
import mmap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

HEADER_LIMIT = 100_000_000  # the format's own limit
_BLOCK_VALUES = 4 << 20
_BYTES = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1, "I64": 8, "I32": 4, "I16": 2,
    "I8": 1, "U64": 8, "U32": 4, "U16": 2, "U8": 1, "BOOL": 1,
}  # fmt: skip


@dataclass(frozen=True)
class TensorInfo:
    """A tensor as its file declares it: outermost dimension first, dtype in the file's own word."""

    name: str
    shape: tuple[int, ...]
    dtype: str


class NotFetchedError(UserError):
    """A tensor of a model of which only the table is on this computer."""


class TensorStore(Protocol):
    """The tensors of one model, wherever they lie."""

    @property
    def infos(self) -> dict[str, TensorInfo]:
        """Every tensor by name."""

    @property
    def headers(self) -> list[tuple[str, bytes]]:
        """(label, bytes) of what declares the tensors, for the model's identity."""

    @property
    def files(self) -> list[Path]:
        """The files the tensors are in."""

    def raw(self, name: str) -> memoryview:
        """The tensor's bytes as they are in the file."""

    def read(self, name: str) -> FloatArray:
        """The tensor as float32, read-only; zero-copy where the file stores float32."""


@dataclass(frozen=True)
class Slice:
    """Where a tensor lies in its file: `begin` to `end`, half-open, in bytes."""

    info: TensorInfo
    begin: int
    end: int


class SafetensorsFile:
    """One memory-mapped safetensors file.

    Attributes
    ----------
    header : the header's bytes
    slices : where each tensor lies in the file, checked against the file's size
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.buffer = map_file(path)
        self.header, declared = _header(path, self.buffer)
        start = 8 + len(self.header)
        self.slices = {
            name: place_of(path, name, entry, start, len(self.buffer))
            for name, entry in declared.items()
            if name != "__metadata__"
        }


class SafetensorsStore:
    """The tensors of one or several safetensors files, as one `TensorStore`."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._files = [SafetensorsFile(path) for path in paths]
        self._where = {name: file for file in self._files for name in file.slices}
        self.infos = {name: file.slices[name].info for name, file in self._where.items()}

    @property
    def headers(self) -> list[tuple[str, bytes]]:
        return [(f"header {i}", file.header) for i, file in enumerate(self._files)]

    @property
    def files(self) -> list[Path]:
        return [file.path for file in self._files]

    def raw(self, name: str) -> memoryview:
        file = self._where[name]
        place = file.slices[name]
        return memoryview(file.buffer)[place.begin : place.end]

    def read(self, name: str) -> FloatArray:
        """Raises `UserError` for a dtype that holds no plain numbers (8-bit floats, integers)."""
        info = self.infos[name]
        return as_float32(self.raw(name), info, self._where[name].path)


def map_file(path: Path) -> mmap.mmap | bytes:
    """The file's bytes by memory map (an empty file cannot be mapped and gives `b""`).

    Raises
    ------
    UserError : the file cannot be read
    """
    try:
        with path.open("rb") as file:
            if path.stat().st_size == 0:
                return b""
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); check the file and its permissions.") from error


def as_float32(raw: memoryview, info: TensorInfo, path: Path) -> FloatArray:
    """Bytes of a tensor as a read-only float32 array: a view where they are float32, else converted.

    16-bit tensors are converted in blocks, so that no second full-size copy exists on the way.
    """
    if info.dtype not in ("F64", "F32", "F16", "BF16"):
        raise UserError(
            f"{path}: tensor {info.name} is stored as {info.dtype}, which cannot be shown; "
            "bring the model in float32, float16 or bfloat16."
        )
    if info.dtype == "F32":
        view = np.frombuffer(raw, dtype="<f4").reshape(info.shape)
        if view.flags.aligned:
            view.flags.writeable = False
            return view
    kind = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}[info.dtype]
    source = np.frombuffer(raw, dtype=kind)
    out = np.empty(source.size, dtype=np.float32)
    for start in range(0, source.size, _BLOCK_VALUES):
        block = source[start : start + _BLOCK_VALUES]
        if info.dtype == "BF16":
            # bfloat16 is the upper half of a float32.
            out[start : start + block.size] = (block.astype(np.uint32) << 16).view(np.float32)
        else:
            with np.errstate(over="ignore"):
                out[start : start + block.size] = block
    out.flags.writeable = False
    return out.reshape(info.shape)


def rows_as_float32(raw: memoryview, info: TensorInfo, path: Path, rows: IntArray) -> FloatArray:
    """Some rows of a two-dimensional tensor as float32, (len(rows), d): only their bytes are read.

    Raises
    ------
    UserError : as `as_float32`
    """
    kind = {"F64": "<f8", "F32": "<f4", "F16": "<u2", "BF16": "<u2"}.get(info.dtype)
    picked = None if kind is None else np.frombuffer(raw, dtype=kind).reshape(info.shape)[rows]
    data = memoryview(b"") if picked is None else picked.view(np.uint8).data.cast("B")
    return as_float32(data, TensorInfo(info.name, (len(rows), *info.shape[1:]), info.dtype), path)


def write_safetensors(out: BinaryIO, name: str, values: FloatArray) -> None:
    """One float32 tensor as a safetensors file, its data aligned for a memory map."""
    extent = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [0, values.nbytes]}
    header = json.dumps({name: extent}).encode()
    header += b" " * (-len(header) % 64 + 56)
    out.write(len(header).to_bytes(8, "little") + header)
    out.write(np.ascontiguousarray(values, dtype="<f4").data)


def _header(path: Path, buffer: mmap.mmap | bytes) -> tuple[bytes, dict[str, Any]]:
    length = int.from_bytes(buffer[:8], "little")
    if len(buffer) < 8 or length > min(HEADER_LIMIT, len(buffer) - 8):
        raise UserError(f"{path} is not a whole safetensors file (its header is missing or cut off); fetch it again.")
    header = bytes(buffer[8 : 8 + length])
    return header, parse_header(path, header)


def parse_header(path: Path, header: bytes) -> dict[str, Any]:
    """The entries of a safetensors header, unchecked. Raises `UserError` where it is none."""
    try:
        declared = json.loads(header)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is damaged: its safetensors header cannot be read; fetch it again.") from error
    if not isinstance(declared, dict):
        raise UserError(f"{path} is damaged: its safetensors header lists no tensors; fetch it again.")
    return declared


def place_of(path: Path, name: str, entry: Any, start: int, size: int) -> Slice:
    """One declared tensor, checked: dtype known, extent equal to the shape, inside the file."""
    try:
        dtype, shape, (begin, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
    except (TypeError, KeyError, ValueError) as error:
        raise UserError(f"{path} is damaged: its entry for tensor {name} is incomplete; fetch it again.") from error
    whole = all(type(value) is int and value >= 0 for value in (*shape, begin, end))
    if not whole or not isinstance(dtype, str) or begin > end:
        raise UserError(f"{path} is damaged: its entry for tensor {name} has impossible sizes; fetch it again.")
    if start + end > size:
        raise UserError(
            f"{path} is cut off: tensor {name} ends at byte {start + end}, the file at {size}; fetch it again."
        )
    if dtype in _BYTES and math.prod(shape) * _BYTES[dtype] != end - begin:
        raise UserError(
            f"{path} is damaged: tensor {name} of shape {list(shape)} and type {dtype} does not fit its "
            f"{end - begin} bytes; fetch it again."
        )
    return Slice(TensorInfo(name, shape, dtype), start + begin, start + end)
