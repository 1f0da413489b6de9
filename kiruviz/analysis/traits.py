"""Plain facts that the names of a cluster's members share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

_MOST = 0.7  # share of the members from which a property is worth saying
_ENDING = 0.3  # an ending is telling long before most members have it
_ENDINGS = (2, 3, 4)  # letters of an ending or a beginning
_LIMIT = 6


def shared_traits(
    names: Sequence[str],
    kinds: Sequence[str] | None = None,
    scripts: Sequence[str] | None = None,
    zipf: npt.ArrayLike | None = None,
) -> list[str]:
    """Facts about a group of tokens or words: spaces, case, numbers, endings, script, frequency.

    Parameters
    ----------
    names : sequence of str
        Exact texts, leading spaces included.
    kinds, scripts : sequences of str, optional
        Kind and script of each name.
    zipf : (n,) float64, optional
        Zipf frequency (log10 per billion words), NaN where unknown.

    Returns
    -------
    list of str
        At most six, such as "all start with a space", "4 of 10 end in -er"; none for fewer than two names.
    """
    if len(names) < 2:
        return []
    words = [name.strip() for name in names]
    facts = [
        _share(names, lambda name: name[:1] == " " and name.strip() != "", "start with a space"),
        _share(words, _is_number, "are numbers"),
        _share(words, lambda word: word != "" and not any(c.isalnum() for c in word), "are punctuation"),
        *_cases(words),
        _share(words, lambda word: len(word) == 1, "are single characters"),
        _most_common(kinds, "are of the kind {}") if kinds is not None else "",
        _most_common(scripts, "are {} script", usual="Latin") if scripts is not None else "",
        _ends(words, "end in -{}", lambda word, n: word[-n:]),
        _ends(words, "begin with {}-", lambda word, n: word[:n]),
        _frequency(zipf) if zipf is not None else "",
    ]
    return [fact for fact in facts if fact][:_LIMIT]


def _count(part: int, whole: int, fact: str) -> str:
    return f"all {fact}" if part == whole else f"{part:,} of {whole:,} {fact}"


def _share(values: Sequence[str], holds: Callable[[str], bool], fact: str) -> str:
    part = sum(map(holds, values))
    return _count(part, len(values), fact) if part >= _MOST * len(values) else ""


def _is_number(word: str) -> bool:
    digits = word.replace(",", "").replace(".", "")
    return digits.isnumeric()


def _cases(words: Sequence[str]) -> list[str]:
    """Lower case, capitalised or capitals, among the words that have letters with a case."""
    cased = [word for word in words if word.lower() != word.upper()]
    if len(cased) < 2 or len(cased) < _MOST * len(words):
        return []
    return [
        _share(cased, str.islower, "are lower case"),
        _share(cased, lambda word: word[:1].isupper() and word[1:].islower(), "are capitalised"),
        _share(cased, lambda word: len(word) > 1 and word.isupper(), "are in capitals"),
    ]


def _most_common(values: Sequence[str], fact: str, usual: str = "") -> str:
    value, part = Counter(values).most_common(1)[0]
    if not value or value.lower() == usual.lower() or part < _MOST * len(values):
        return ""
    return _count(part, len(values), fact.format(value))


def _ends(words: Sequence[str], fact: str, cut: Callable[[str, int], str]) -> str:
    """The ending (or beginning) that tells most: shared letters times the words that share them."""
    whole = [word.lower() for word in words if word.isalpha()]
    best, best_worth, best_part = "", 0.0, 0
    for length in _ENDINGS:
        # A word as short as its ending has none.
        counts = Counter(cut(word, length) for word in whole if len(word) > length)
        if not counts:
            continue
        ending, part = min(counts.items(), key=lambda item: (-item[1], item[0]))
        worth = part * length**0.5
        if part >= max(3, _ENDING * len(words)) and worth > best_worth:
            best, best_worth, best_part = ending, worth, part
    return _count(best_part, len(words), fact.format(best)) if best else ""


def _frequency(zipf: npt.ArrayLike) -> str:
    values = np.asarray(zipf, dtype=np.float64)
    known = values[np.isfinite(values)]
    if len(known) < 2 or len(known) < len(values) / 2:
        return ""
    middle = float(np.median(known))
    if middle >= 5.5:
        return f"mostly very common words (median Zipf {middle:.1f})"
    if middle < 3.0:
        return f"mostly rare words (median Zipf {middle:.1f})"
    return ""
