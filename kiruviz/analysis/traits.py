"""What the members of a cluster share: counted, held beside the whole map, and said only where chance would not do."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]

# A fact is told where so many members, drawn from the map at random, would have it less often than this.
CHANCE = 0.01
# Nor is what the whole map has nearly as often, however surely it is no chance.
LIFT = 1.5
_MOST = 0.7  # share of the members from which a property of spelling is worth saying
_SOME = 0.3  # an ending is telling long before most members have it
_FEW = 0.2  # and so is a list of words
_ENDINGS = (2, 3, 4)  # letters of an ending or a beginning
_LIMIT = 6
_BANDS = (
    (5.5, math.inf, "are very common words (Zipf 5.5 and up)"),
    (4.0, 5.5, "are common words (Zipf 4 to 5.5)"),
    (3.0, 4.0, "are less common words (Zipf 3 to 4)"),
    (-math.inf, 3.0, "are rare words (Zipf below 3)"),
)


@dataclass(frozen=True)
class WordList:
    """Words of one sort.

    Attributes
    ----------
    label : str
        What a cluster of them could be called.
    fact : str
        What is said of its words: "are months".
    source : str
        What sort of list: "word class" (part of speech) or "word list".
    words : frozenset of str
        Those with a capital match only with one.
    parts : tuple of str
        Labels of the lists it is made of, empty for one of its own.
    """

    label: str
    fact: str
    source: str
    words: frozenset[str]
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trait:
    """A fact about a cluster: `part` of its `whole` members have it, and `share` (0 to 1) of all rows of the map.

    `source` says where it is known from, `label` what a cluster of such members could be called, if anything;
    `parts` as in `WordList`; `members` the places in the cluster that have it, for lists only.
    """

    fact: str
    part: int
    whole: int
    share: float
    source: str
    label: str = ""
    parts: tuple[str, ...] = ()
    members: frozenset[int] = frozenset()

    @property
    def text(self) -> str:
        """`12 of 19 are months`, `all are months`"""
        return f"all {self.fact}" if self.part == self.whole else f"{self.part:,} of {self.whole:,} {self.fact}"

    @property
    def lift(self) -> float:
        """How many times the map's share the cluster's is."""
        return self.part / self.whole / self.share if self.share else math.inf


@dataclass(frozen=True, eq=False)
class _Feature:
    """A property of rows: whether each of the map has it, and the share of members from which it is told."""

    fact: str
    has: BoolArray
    source: str
    least: float
    label: str = ""
    parts: tuple[str, ...] = ()


class Traits:
    """The properties of the rows of a map, of which `of` tells those that a cluster's members share.

    Parameters
    ----------
    names : n exact texts, leading spaces included
    kinds, scripts : n strings each, optional
        Kind and script of each name.
    zipf : (n,) float64, optional
        Zipf frequency (log10 per billion words), NaN where unknown.
    lists : sequence of WordList
    """

    def __init__(
        self,
        names: Sequence[str],
        kinds: Iterable[str] | None = None,
        scripts: Iterable[str] | None = None,
        zipf: npt.ArrayLike | None = None,
        lists: Sequence[WordList] = (),
    ) -> None:
        self._words = [name.strip() for name in names]
        self._size = len(names)
        self._features = [*_spelling(names, self._words), *_lengths(self._words), *_listed(self._words, lists)]
        if kinds is not None:
            self._features += _values(kinds, "are of the kind {}", "token kind")
        if scripts is not None:
            self._features += _values(scripts, "are {} script", "script", "{} script")
        if zipf is not None:
            self._features += _bands(np.asarray(zipf, np.float64))
        self._ends = {n: self._cut(lambda word, n=n: word[-n:], n) for n in _ENDINGS}  # type: ignore[misc]
        self._starts = {n: self._cut(lambda word, n=n: word[:n], n) for n in _ENDINGS}  # type: ignore[misc]
        self._end_counts = {n: Counter(found) for n, found in self._ends.items()}
        self._start_counts = {n: Counter(found) for n, found in self._starts.items()}

    def _cut(self, cut: Callable[[str], str], length: int) -> list[str]:
        """The ending (or beginning) of each word; empty for one as short as it, or not of letters."""
        return [cut(word.lower()) if len(word) > length and word.isalpha() else "" for word in self._words]

    def of(self, members: npt.NDArray[np.int64]) -> tuple[Trait, ...]:
        """What the rows at these positions share, the least likely by chance first; at most six facts."""
        whole = len(members)
        if whole < 2:
            return ()
        found: list[tuple[float, Trait]] = []
        for feature in self._features:
            has = feature.has[members]
            part = int(has.sum())
            if part < max(min(3, whole), feature.least * whole):
                continue
            share = float(feature.has.mean())
            places = frozenset(np.flatnonzero(has).tolist()) if feature.source in _LISTS else frozenset()
            trait = Trait(feature.fact, part, whole, share, feature.source, feature.label, feature.parts, places)
            self._tell(found, trait)
        for cuts, counts, fact in (
            (self._ends, self._end_counts, "end in -{}"),
            (self._starts, self._start_counts, "begin with {}-"),
        ):
            best = self._best_cut(members, cuts, counts, fact)
            if best is not None:
                self._tell(found, best)
        found.sort(key=lambda item: (item[0], -item[1].lift))
        return _without_repeats([trait for _, trait in found])[:_LIMIT]

    def _tell(self, found: list[tuple[float, Trait]], trait: Trait) -> None:
        chance = _chance(trait.part, trait.whole, trait.share)
        if chance < CHANCE and trait.lift >= LIFT:
            found.append((chance, trait))

    def _best_cut(
        self,
        members: npt.NDArray[np.int64],
        cuts: dict[int, list[str]],
        counts: dict[int, Counter[str]],
        fact: str,
    ) -> Trait | None:
        """The ending or beginning that tells most: its letters times the words that share it."""
        whole, best, best_worth = len(members), None, 0.0
        for length in _ENDINGS:
            shared = Counter(found for i in members.tolist() if (found := cuts[length][i]))
            if not shared:
                continue
            ending, part = min(shared.items(), key=lambda item: (-item[1], item[0]))
            worth = part * length**0.5
            if part >= max(3, _SOME * whole) and worth > best_worth:
                share = counts[length][ending] / self._size
                label = fact.format(ending).replace("end in", "ends in").replace("begin with", "begins with")
                best, best_worth = Trait(fact.format(ending), part, whole, share, "spelling", label), worth
        return best


_LISTS = ("word list", "word class")


def _chance(part: int, whole: int, share: float) -> float:
    """How likely at least `part` of `whole` rows drawn from the map have what `share` of it has. Drawn with
    replacement, which makes it likelier than it is: what is told is never overclaimed."""
    from scipy.special import bdtrc

    return float(bdtrc(part - 1, whole, min(share, 1.0)))


def _without_repeats(traits: list[Trait]) -> tuple[Trait, ...]:
    """A list made of others says nothing that one of them does not say of the same members."""
    kept: list[Trait] = []
    for trait in traits:
        if not any(trait.parts and other.label in trait.parts and other.part == trait.part for other in traits):
            kept.append(trait)
    return tuple(kept)


def _spelling(names: Sequence[str], words: Sequence[str]) -> list[_Feature]:
    def having(holds: Callable[[str], bool], values: Sequence[str] = words) -> BoolArray:
        return np.fromiter(map(holds, values), np.bool_, len(values))

    upper, lower = [word.upper() for word in words], [word.lower() for word in words]
    cased = np.fromiter((u != low for u, low in zip(upper, lower, strict=True)), np.bool_, len(words))
    return [
        _Feature("start with a space", having(_spaced, names), "leading space", _MOST),
        _Feature("are numbers in digits", having(_is_number), "spelling", _MOST, "numbers in digits"),
        _Feature("are punctuation", having(_is_punctuation), "spelling", _MOST, "punctuation"),
        _Feature("are lower case", cased & having(str.islower), "case", _MOST),
        _Feature("are capitalised", having(_is_capitalised), "case", _MOST, "capitalised words"),
        _Feature("are in capitals", cased & having(_is_capitals), "case", _MOST, "words in capitals"),
    ]


def _spaced(name: str) -> bool:
    return name[:1] == " " and name.strip() != ""


def _is_number(word: str) -> bool:
    return word.replace(",", "").replace(".", "").isnumeric()


def _is_punctuation(word: str) -> bool:
    return word != "" and not any(c.isalnum() for c in word)


def _is_capitalised(word: str) -> bool:
    return word[:1].isupper() and word[1:].islower()


def _is_capitals(word: str) -> bool:
    return len(word) > 1 and word.isupper()


def _lengths(words: Sequence[str]) -> list[_Feature]:
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    exact = [_Feature(f"have {n} letters", lengths == n, "length", _MOST) for n in range(2, 13)]
    return [
        _Feature("are single characters", lengths == 1, "length", _MOST, "single characters"),
        *exact,
        _Feature("have at most 3 letters", lengths <= 3, "length", _MOST),
        _Feature("have 8 letters or more", lengths >= 8, "length", _MOST),
    ]


def _listed(words: Sequence[str], lists: Sequence[WordList]) -> list[_Feature]:
    where: dict[str, list[int]] = {}
    for i, one in enumerate(lists):
        for word in one.words:
            where.setdefault(word, []).append(i)
    has = np.zeros((len(lists), len(words)), np.bool_)
    for place, word in enumerate(words):
        # As written; in lower case; and, all in capitals, as a word with a capital.
        for form in {word, word.lower(), word.capitalize() if _is_capitals(word) else word}:
            for i in where.get(form, ()):
                has[i, place] = True
    return [_Feature(one.fact, has[i], one.source, _FEW, one.label, one.parts) for i, one in enumerate(lists)]


def _values(values: Iterable[str], fact: str, source: str, label: str = "") -> list[_Feature]:
    array = np.asarray(list(values), dtype=np.str_)
    return [
        _Feature(fact.format(value), array == value, source, _MOST, label.format(value))
        for value in dict.fromkeys(array.tolist())
        if value
    ]


def _bands(zipf: npt.NDArray[np.float64]) -> list[_Feature]:
    return [_Feature(fact, (zipf >= low) & (zipf < high), "frequency", _MOST) for low, high, fact in _BANDS]
