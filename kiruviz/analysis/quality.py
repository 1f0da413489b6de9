"""Figures that put other figures in proportion."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.space import FloatArray


def mean_random_cosine(
    table: FloatArray,
    seed: int = 0,
    pairs: int = 20_000,
    keep: npt.NDArray[np.bool_] | None = None,
) -> float | None:
    """Mean cosine of random pairs of rows: the baseline to hold beside every similarity.

    Embedding tables are anisotropic: two words taken at random need not have cosine 0 (Ethayarajh 2019).

    Parameters
    ----------
    table : (V, d) float32
    seed : int
    pairs : int
        Pairs drawn, each of two different rows.
    keep : (V,) bool, optional
        Rows to draw from. A pair with a row that has no direction (all zeros, or not finite) is left out.

    Returns
    -------
    float, or None where no pair with a defined cosine was drawn.
    """
    if pairs < 1:
        raise UserError(f"The number of random pairs must be at least 1, not {pairs}.")
    rng = np.random.default_rng(seed)
    rows = np.arange(len(table)) if keep is None else np.flatnonzero(keep)
    if len(rows) < 2:
        return None
    first = rng.integers(0, len(rows), pairs)
    second = (first + rng.integers(1, len(rows), pairs)) % len(rows)
    cosines: list[npt.NDArray[np.float64]] = []
    for start in range(0, pairs, 4096):
        one = table[rows[first[start : start + 4096]]].astype(np.float64)
        two = table[rows[second[start : start + 4096]]].astype(np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", one, one) * np.einsum("ij,ij->i", two, two))
        defined = np.isfinite(lengths) & (lengths > 0)
        cosines.append(np.einsum("ij,ij->i", one[defined], two[defined]) / lengths[defined])
    values = np.concatenate(cosines)
    return float(values.mean()) if len(values) else None
