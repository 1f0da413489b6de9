"""Finding texts by typing: all texts laid end to end and looked through at once with numpy.

A text matches where the letters typed occur in it in order. How well says its tier, the smaller the better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

# The text itself; its beginning; the beginning of a word; the first letters of words; inside a word; in order.
WHOLE, PREFIX, WORD, INITIALS, INSIDE, SCATTERED, NONE = range(7)

Codes = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]

_MOST = 4095  # of a span or length that counts in the ranking
_CHUNK = 16384


class TextIndex:
    """Texts to be searched, case apart. Spaces around a text count only where nothing else was typed."""

    def __init__(self, texts: Sequence[str]) -> None:
        lowered = [text.lower() for text in texts]
        lengths = np.fromiter(map(len, lowered), np.int64, len(lowered))
        self._codes = _codes("".join(lowered))
        self._ends = np.cumsum(lengths)
        self._begins = self._ends - lengths
        word, space = _kinds(self._codes)
        before = np.roll(word, 1)
        before[self._begins[lengths > 0]] = False
        self._starts = word & ~before
        self._start_places = np.flatnonzero(self._starts)
        self._first, self._last = self._trimmed(space)

    def __len__(self) -> int:
        return len(self._ends)

    def _trimmed(self, space: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """Where each text begins and ends without the spaces around it."""
        seen = np.concatenate([[0], np.cumsum(~space)])
        places = np.append(np.flatnonzero(~space), 0)
        blank = seen[self._begins] == seen[self._ends]
        first = np.where(blank, self._begins, places[np.minimum(seen[self._begins], len(places) - 1)])
        last = np.where(blank, self._ends, places[seen[self._ends] - 1] + 1)
        return first, last

    def find(self, typed: str, among: npt.NDArray[np.bool_] | None = None) -> Ints:
        """(n,) int64 a text: how well it matches, the smaller the better, -1 for not at all.

        Sorted by tier, then how far apart the letters are, then length. `among`: those that can match, where that
        is known.
        """
        wanted = typed.strip().lower() or typed.lower()
        self._among = np.ones(len(self), bool) if among is None else among
        tier = np.full(len(self), NONE, np.int64)
        spread = np.zeros(len(self), np.int64)
        self._together(_codes(wanted), tier)
        words = wanted.split()
        if len(words) == 1:
            self._apart(_codes(wanted), tier, spread)
        elif words:
            self._each_word(words, tier, spread)
        length = np.minimum(self._last - self._first, _MOST)
        score = (tier << 24) | (np.minimum(spread, _MOST) << 12) | length
        return np.where(tier == NONE, -1, score)

    def _each_word(self, words: Sequence[str], tier: Ints, spread: Ints) -> None:
        """Several words, in any order: as good as the worst of them, and no better than a word's beginning."""
        worst = np.full(len(self), WORD, np.int64)
        for word in words:
            one = np.full(len(self), NONE, np.int64)
            self._together(_codes(word), one)
            self._apart(_codes(word), one, spread)
            np.maximum(worst, one, out=worst)
        np.minimum(tier, worst, out=tier)

    def _together(self, wanted: Codes, tier: Ints) -> None:
        """The letters one after the other."""
        if not len(wanted):
            return
        at = np.flatnonzero(self._codes[: len(self._codes) - len(wanted) + 1] == wanted[0])
        for step, code in enumerate(wanted[1:].tolist(), 1):
            at = at[self._codes[at + step] == code]
        row = np.searchsorted(self._begins, at, "right") - 1
        inside = at + len(wanted) <= self._ends[row]
        at, row = at[inside], row[inside]
        first = at == self._first[row]
        for value, holds in (
            (INSIDE, np.ones(len(at), bool)),
            (WORD, self._starts[at]),
            (PREFIX, first),
            (WHOLE, first & (at + len(wanted) == self._last[row])),
        ):
            tier[row[holds]] = np.minimum(tier[row[holds]], value)

    def _apart(self, wanted: Codes, tier: Ints, spread: Ints) -> None:
        """The letters in order with others between, where they are not found together."""
        if len(wanted) < 2:
            return
        for value, allowed in ((INITIALS, self._start_places), (SCATTERED, None)):
            rows = np.flatnonzero((tier > value) & self._among)
            rows, first, last = self._in_order(wanted, rows, allowed)
            tier[rows] = value
            spread[rows] = last - first - len(wanted) + 1

    def _in_order(self, wanted: Codes, rows: Ints, allowed: Ints | None) -> tuple[Ints, Ints, Ints]:
        """Those of `rows` with the letters in order, at `allowed` places; where the first and the last stand."""
        at = self._begins[rows]
        first = at
        for step, code in enumerate(wanted.tolist()):
            hit = self._codes == code if allowed is None else self._codes[allowed] == code
            places = np.flatnonzero(hit) if allowed is None else allowed[hit]
            if not len(places) or not len(rows):
                return rows[:0], first[:0], at[:0]
            found = np.searchsorted(places, at)
            there = places[np.minimum(found, len(places) - 1)]
            keep = (found < len(places)) & (there < self._ends[rows])
            rows, there = rows[keep], there[keep]
            first = there if step == 0 else first[keep]
            at = there + 1
        return rows, first, at - 1


class LongIndex:
    """A `TextIndex` of many texts, made and searched piece by piece so that neither holds the event loop."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._parts: list[TextIndex] = []
        # What was typed before, and which texts of each piece matched it.
        self._typed = ""
        self._matching: dict[int, npt.NDArray[np.bool_]] = {}

    def extend(self) -> bool:
        """Index the next piece; whether there are more."""
        begin = len(self._parts) * _CHUNK
        if begin < len(self._texts):
            self._parts.append(TextIndex(self._texts[begin : begin + _CHUNK]))
        return len(self._parts) * _CHUNK < len(self._texts)

    def search(self, typed: str, most: int) -> Iterator[tuple[list[tuple[int, int]], int]]:
        """After each piece: the best (score, position) so far, at most `most`, and how many match."""
        # More letters match no text that fewer did not.
        former = self._matching if self._typed.strip() and typed.startswith(self._typed) else {}
        self._typed, self._matching = typed, {}
        best: list[tuple[int, int]] = []
        count = 0
        for number, part in enumerate(self._parts):
            scores = part.find(typed, former.get(number))
            self._matching[number] = scores >= 0
            found, matching = top(scores, most)
            count += matching
            best = sorted([*best, *((score, number * _CHUNK + at) for score, at in found)])[:most]
            yield best, count


def top(scores: Ints, most: int) -> tuple[list[tuple[int, int]], int]:
    """The best (score, position), at most `most`, earlier ones first where equal; and how many match."""
    rows = np.flatnonzero(scores >= 0)
    keys = (scores[rows] << 20) | rows
    kept = np.sort(np.partition(keys, most - 1)[:most] if len(keys) > most else keys)
    return [(key >> 20, key & 0xFFFFF) for key in kept.tolist()], len(rows)


def tier_of(score: int) -> int:
    return score >> 24


def places(text: str, typed: str) -> list[int]:
    """Which letters of `text` match what was typed, to be emphasised; none where it does not match."""
    # Letter by letter, since lower case may be longer than the letter.
    folded = "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
    wanted = typed.strip().lower() or typed.lower()
    at = _together_at(folded, wanted)
    if at is not None:
        return list(range(at, at + len(wanted)))
    found: set[int] = set()
    for word in wanted.split():
        at = _together_at(folded, word)
        one = list(range(at, at + len(word))) if at is not None else _in_order_at(folded, word)
        if not one:
            return []
        found.update(one)
    return sorted(found)


def _together_at(text: str, wanted: str) -> int | None:
    """Where the letters stand together, at the beginning of a word if they do so anywhere."""
    if not wanted:
        return None
    first = at = text.find(wanted)
    while at >= 0:
        if at == 0 or not text[at - 1].isalnum():
            return at
        at = text.find(wanted, at + 1)
    return first if first >= 0 else None


def _in_order_at(text: str, wanted: str) -> list[int]:
    """Where the letters stand in order: at first letters of words if possible."""
    for only_starts in (True, False):
        found: list[int] = []
        for at, letter in enumerate(text):
            start = at == 0 or not text[at - 1].isalnum()
            if len(found) < len(wanted) and letter == wanted[len(found)] and (start or not only_starts):
                found.append(at)
        if len(found) == len(wanted):
            return found
    return []


def _codes(text: str) -> Codes:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _kinds(codes: Codes) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which letters belong to words, and which are spaces."""
    present = np.flatnonzero(np.bincount(codes)) if len(codes) else np.zeros(0, np.int64)
    size = int(present[-1]) + 1 if len(present) else 1
    word, space = np.zeros(size, bool), np.zeros(size, bool)
    for code in present.tolist():
        letter = chr(code)
        word[code], space[code] = letter.isalnum(), letter.isspace()
    return word[codes], space[codes]
