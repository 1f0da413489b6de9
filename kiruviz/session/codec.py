"""How arrays, names and JSON lie in the file: compressed at the fastest level, with a checksum (zlib's)."""

from __future__ import annotations

import io
import json
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

_LEVEL = 1


def dumps(value: Any) -> str:
    """Canonical JSON in ASCII, so that any string Python can hold (half surrogates too) fits into the file."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def loads(text: str) -> Any:
    return json.loads(text)


def compress(content: bytes) -> bytes:
    return zlib.compress(content, _LEVEL)


def pack_array(array: npt.NDArray[Any]) -> bytes:
    """A numeric array of any shape as a compressed `.npy`; dtype and shape are kept."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return compress(buffer.getvalue())


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


def pack_strings(strings: list[str]) -> bytes:
    return compress(dumps(strings).encode("ascii"))


def unpack_strings(blob: bytes) -> list[str]:
    strings: list[str] = json.loads(zlib.decompress(blob))
    return strings
