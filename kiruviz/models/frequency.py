"""How common English words are: wordfreq's list, read once.

Source: Speer (2022), wordfreq 3.0, https://doi.org/10.5281/zenodo.7199437
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt


@cache
def _english() -> dict[str, tuple[float, int]]:
    """word -> (Zipf frequency, rank from 1): log10 of occurrences per thousand million words."""
    import wordfreq

    listed = wordfreq.get_frequency_dict("en", wordlist="best")
    return {word: (math.log10(share) + 9.0, rank) for rank, (word, share) in enumerate(listed.items(), 1)}


def look_up(words: Sequence[str]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Zipf frequency and rank of words; a word is compared without case or surrounding space.

    Parameters
    ----------
    words : n strings; an empty one is never in the list

    Returns
    -------
    zipf : (n,) float64, NaN for a word that is not in the list
    rank : (n,) int64 from 1, 0 for a word that is not in the list
    """
    zipf = np.full(len(words), np.nan)
    rank = np.zeros(len(words), dtype=np.int64)
    english = _english()
    for i, word in enumerate(words):
        # wordfreq's own preparation of an English word.
        found = english.get(unicodedata.normalize("NFC", word.strip()).casefold())
        if found is not None:
            zipf[i], rank[i] = found
    return zipf, rank
