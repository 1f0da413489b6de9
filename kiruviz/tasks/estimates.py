"""Memory is estimated before it is taken."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from kiruviz.errors import UserError
from kiruviz.space import Space

_SHARE = 0.8
_TITLES = {
    "pca": "PCA",
    "umap": "UMAP",
    "kmeans": "k-means",
    "hdbscan": "HDBSCAN",
    "agglomerative": "agglomerative clustering",
    "evoc": "EVoC",
}
_ELSE = {
    "hdbscan": "choose EVoC, which is made for so many rows, or k-means, or fewer rows",
    "agglomerative": "choose EVoC, which is made for so many rows, or k-means, or fewer rows",
}


def memory_needed(rows: int, size: int, method: str, params: dict[str, Any], copies: int = 1) -> int:
    """Bytes a method takes beyond the rows themselves, from above.

    k-means and PCA centre a copy of the rows; UMAP keeps a neighbour graph (index, distance, weights of both
    directions, epochs of each edge) and one block of the score matrix. HDBSCAN keeps the distances of all pairs
    (`copies` of them) and works on as much again; agglomerative clustering keeps one of each pair, twice, but for
    single linkage. EVoC keeps a copy, its neighbour graph both ways and its own coordinates.
    """
    copy = rows * size * 4
    if method == "umap":
        neighbors = min(int(params.get("n_neighbors", 15)), rows)
        return copy + rows * neighbors * 2 * 40 + min(rows * rows * 4, 1 << 28)
    if method == "hdbscan":
        return 2 * copy + rows * rows * 8 * (1 + copies)
    if method == "agglomerative":
        return 2 * copy + (0 if params.get("linkage") == "single" else rows * rows * 8)
    if method == "evoc":
        return 2 * copy + rows * int(params.get("n_neighbors", 15)) * 200
    return 2 * copy


def memory_available() -> int | None:
    """Bytes of memory that can be taken now, or None where the system does not tell."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def refuse_if_too_large(space: Space, method: str, params: dict[str, Any], copies: int = 1) -> None:
    """Raise UserError, with both figures, where a job would not fit the memory at hand."""
    available = memory_available()
    needed = memory_needed(len(space), space.vectors.shape[1], method, params, copies)
    if available is not None and needed > _SHARE * available:
        raise UserError(
            f"{_TITLES.get(method, method)} on {len(space):,} rows would take about {_size(needed)} and "
            f"{_size(available)} are free; {_ELSE.get(method, 'filter the rows or close other programs')}."
        )


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
