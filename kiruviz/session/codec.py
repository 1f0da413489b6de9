"""How arrays, names and JSON lie in the file: compressed at the fastest level, with a checksum (zlib's).

Floats do not compress (3 % for a hundred times the time): they are stored as they are, checksum included.
"""

from __future__ import annotations

import io
import json
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

_FAST = 1
_STORED = 0


def dumps(value: Any) -> str:
    """Canonical JSON in ASCII, so that any string Python can hold (half surrogates too) fits into the file."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def loads(text: str) -> Any:
    return json.loads(text)


def pack_array(array: npt.NDArray[Any]) -> bytes:
    """A numeric array of any shape as a compressed `.npy`; dtype and shape are kept."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return zlib.compress(buffer.getvalue(), _STORED if array.dtype.kind == "f" else _FAST)


def unpack_array(blob: bytes) -> npt.NDArray[Any]:
    """What `pack_array` packed, read-only. ValueError or zlib.error on a damaged blob."""
    array: npt.NDArray[Any] = np.load(io.BytesIO(zlib.decompress(blob)), allow_pickle=False)
    array.setflags(write=False)
    return array


def pack_ids(ids: npt.NDArray[np.integer]) -> bytes:
    """Cluster ids of (n,) rows, in the smallest integers that hold them: a quarter of the time of int32."""
    low, high = (int(ids.min()), int(ids.max())) if len(ids) else (0, 0)
    small = next(t for t in (np.int8, np.int16, np.int32) if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
    return pack_array(ids.astype(small))


def unpack_ids(blob: bytes) -> npt.NDArray[np.int32]:
    return unpack_array(blob).astype(np.int32)


def pack_strings(strings: list[str] | tuple[str, ...]) -> bytes:
    """Any strings, half surrogates included: their lengths, then all of them as one text."""
    lengths = pack_ids(np.fromiter(map(len, strings), np.int32, len(strings)))
    text = zlib.compress("".join(strings).encode("utf-8", "surrogatepass"), _FAST)
    return len(lengths).to_bytes(4, "little") + lengths + text


def unpack_strings(blob: bytes) -> list[str]:
    """What `pack_strings` packed. ValueError or zlib.error on a damaged blob."""
    start = 4 + int.from_bytes(blob[:4], "little")
    text = zlib.decompress(blob[start:]).decode("utf-8", "surrogatepass")
    ends = np.cumsum(unpack_ids(blob[4:start]), dtype=np.int64).tolist()
    if (ends[-1] if ends else 0) != len(text):
        raise ValueError(f"{len(text)} characters, the lengths add up to others")
    return [text[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=False)]


def pack_categories(values: list[str]) -> tuple[bytes, bytes]:
    """Strings of which few differ, as the different ones and each one's number among them."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    codes = np.fromiter(map(numbers.__getitem__, values), np.int32, len(values))
    return pack_strings(list(numbers)), pack_ids(codes)


def unpack_categories(categories: bytes, codes: bytes) -> npt.NDArray[np.str_]:
    return np.array(unpack_strings(categories), dtype=np.str_)[unpack_ids(codes)]
