"""What is done to vectors before any distance: centring, all-but-the-top, unit length.

Everything is fitted on the whole table, never on the rows drawn, so hiding rows changes no neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kiruviz.analysis.threads import one_thread
from kiruviz.errors import UserError
from kiruviz.progress import Progress, Silent
from kiruviz.space import FloatArray, Transform

_BLOCK_VALUES = 500_000  # values per row block: 4 MB in float64, what a processor's cache holds


@dataclass(frozen=True, eq=False)
class TableTransform:
    """A transform fitted on one table.

    Attributes
    ----------
    transform : Transform
        What was asked for.
    mean : (d,) float64 or None
        The table's mean vector; None where nothing is subtracted.
    directions : (D, d) float64
        Orthonormal principal directions taken out of the centred rows; D may be 0.
    """

    transform: Transform
    mean: npt.NDArray[np.float64] | None
    directions: npt.NDArray[np.float64]

    def apply(self, vectors: npt.ArrayLike, progress: Progress | None = None) -> FloatArray:
        """Transform rows of the same table, or any vectors of its width.

        Parameters
        ----------
        vectors : (m, d) float32
        progress : Progress, optional
            Asked between row blocks.

        Returns
        -------
        (m, d) float32, always a copy. Rows of zero length stay zero under `normalize`.
        """
        rows = np.asarray(vectors)
        out = np.array(rows, dtype=np.float32, order="C")
        if self.mean is None and not self.transform.normalize:
            return out
        # Rows that are not finite are left out by the caller; they may pass through here without a warning.
        with np.errstate(invalid="ignore"):
            for start, stop in row_blocks(*out.shape):
                if progress is not None:
                    progress.check()
                out[start:stop] = self._apply_block(out[start:stop].astype(np.float64))
        return out

    def _apply_block(self, block: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        if self.mean is not None:
            block -= self.mean
        if len(self.directions):
            with one_thread():
                block -= (block @ self.directions.T) @ self.directions
        if self.transform.normalize:
            lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
            lengths[lengths == 0.0] = 1.0
            block /= lengths[:, None]
        return block


def row_blocks(rows: int, width: int) -> list[tuple[int, int]]:
    """Bounds of row blocks small enough to be held in float64."""
    step = max(1, _BLOCK_VALUES // max(width, 1))
    return [(start, min(start + step, rows)) for start in range(0, rows, step)]


def fit(
    table: FloatArray,
    keep: npt.NDArray[np.bool_],
    transform: Transform,
    progress: Progress | None = None,
) -> TableTransform:
    """Fit a transform on the kept rows of a whole table.

    Mean and principal directions are found in float64, block by block, so that a memory-mapped table is
    read through once (twice with directions) and never copied whole. All-but-the-top is Mu & Viswanath
    (2018), "All-but-the-Top: Simple and Effective Postprocessing for Word Representations": subtract the
    mean, then take out the projections on the top D principal directions of the centred rows.

    Parameters
    ----------
    table : (V, d) float32
    keep : (V,) bool
        Rows to fit on: finite rows that a token points to.
    transform : Transform
    progress : Progress, optional

    Returns
    -------
    TableTransform

    Raises
    ------
    UserError
        `remove_top` is negative or not smaller than the vector size; or there is no row to fit on.
    """
    progress = progress or Silent()
    width = table.shape[1]
    top = transform.remove_top
    if not 0 <= top < max(width, 1):
        raise UserError(
            f"All-but-the-top must take out between 0 and {width - 1} directions of these {width}-number "
            f"vectors, not {top}."
        )
    none = np.zeros((0, width))
    if not (transform.center or top):
        return TableTransform(transform, None, none)
    kept = int(np.count_nonzero(keep))
    if kept == 0:
        raise UserError("Centring needs at least one usable row, and this table has none.")
    mean = _mean(table, keep, kept, progress)
    if not top:
        return TableTransform(transform, mean, none)
    with one_thread():
        directions = _top_directions(table, keep, mean, top, progress)
    return TableTransform(transform, mean, directions)


def _mean(table: FloatArray, keep: npt.NDArray[np.bool_], kept: int, progress: Progress) -> npt.NDArray[np.float64]:
    total = np.zeros(table.shape[1])
    for start, stop in row_blocks(*table.shape):
        progress.check()
        total += table[start:stop][keep[start:stop]].sum(axis=0, dtype=np.float64)
    return total / kept


def _top_directions(
    table: FloatArray,
    keep: npt.NDArray[np.bool_],
    mean: npt.NDArray[np.float64],
    top: int,
    progress: Progress,
) -> npt.NDArray[np.float64]:
    scatter = np.zeros((table.shape[1], table.shape[1]))
    for start, stop in row_blocks(*table.shape):
        progress.check()
        block = table[start:stop][keep[start:stop]] - mean
        scatter += block.T @ block
    # eigh returns ascending eigenvalues: the last columns are the top directions.
    _, vectors = np.linalg.eigh(scatter)
    return np.ascontiguousarray(vectors[:, ::-1][:, :top].T)
