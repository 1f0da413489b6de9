"""Results that were computed before, so that a map once seen is there at once the next time.

A result is known by everything that shaped it: recipe (with the model's identity), parameters, and the
versions of the packages that computed it. Only small arrays are kept, and only so many of them.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz import __version__
from kiruviz.paths import cache_dir
from kiruviz.space import Recipe

# About 20 MB at most for everyday maps; a whole vocabulary's coordinates are 0.4 MB.
_MOST_FILES = 100
_PACKAGES = ("numpy", "scikit-learn", "umap-learn", "numba", "evoc")


def recall(what: str, recipe: Recipe, params: dict[str, Any]) -> dict[str, npt.NDArray[Any]] | None:
    """The arrays kept for this very computation, or None."""
    path = _path(what, recipe, params)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            arrays = {name: kept[name] for name in kept.files}
        path.touch()
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None
    return arrays


def keep(what: str, recipe: Recipe, params: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Keep the result of a computation. A full or read-only disk only means that it is computed again."""
    path = _path(what, recipe, params)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        with part.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        part.replace(path)
        _forget_oldest(path.parent)


def _path(what: str, recipe: Recipe, params: dict[str, Any]) -> Path:
    versions = {name: importlib.metadata.version(name) for name in _PACKAGES}
    key = json.dumps([what, recipe.to_json(), params, __version__, versions], sort_keys=True)
    return cache_dir("maps") / f"{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}.npz"


def _forget_oldest(folder: Path) -> None:
    files = sorted(folder.glob("*.npz"), key=lambda path: path.stat().st_mtime)
    for path in files[:-_MOST_FILES]:
        path.unlink(missing_ok=True)
