"""How far two people's labels of the same rows agree."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Agreement:
    """Two people's labels compared row by row.

    Attributes
    ----------
    rows : rows that both labelled; the rest is not compared
    agreeing : those with the same label
    kappa : Cohen's kappa, None where it is not defined (no rows, or both used one and the same label throughout)
    """

    rows: int
    agreeing: int
    kappa: float | None

    @property
    def share(self) -> float | None:
        """The share of compared rows with the same label."""
        return self.agreeing / self.rows if self.rows else None


def agreement(one: Sequence[Hashable | None], two: Sequence[Hashable | None]) -> Agreement:
    """Compare two labellings; a row that is None in either is left out.

    Cohen's kappa (Cohen 1960, "A coefficient of agreement for nominal scales") is (p - e) / (1 - e), with p the
    share of rows labelled alike and e the share to be expected if each had given their labels at random, as often
    as they did.

    Parameters
    ----------
    one, two : n labels each

    Returns
    -------
    Agreement
    """
    pairs = [(a, b) for a, b in zip(one, two, strict=True) if a is not None and b is not None]
    codes: dict[Hashable, int] = {}
    numbers = np.array([[codes.setdefault(label, len(codes)) for label in pair] for pair in pairs], np.int64)
    if not pairs:
        return Agreement(0, 0, None)
    first, second = (np.bincount(column, minlength=len(codes)) for column in numbers.T)
    rows, agreeing = len(pairs), int((numbers[:, 0] == numbers[:, 1]).sum())
    by_chance = int((first * second).sum())  # of rows squared, in whole numbers
    if by_chance == rows * rows:
        return Agreement(rows, agreeing, None)
    return Agreement(rows, agreeing, (agreeing * rows - by_chance) / (rows * rows - by_chance))
