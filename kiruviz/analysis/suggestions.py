"""Names a cluster could be given, each with where it comes from. Nothing here is ever applied by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kiruviz.analysis.traits import Trait

_MOST = 0.6  # share of the members from which a list's label is a name for the cluster
_TOGETHER = 0.75  # two lists that do so only together
_EACH = 0.2
_FROM_LISTS = 2
_LIFT = 2.0  # a property of spelling that the whole map has half as often is no name


@dataclass(frozen=True)
class Suggestion:
    """A name, its source in a few words ("word list, 12 of 12"), and why in a sentence."""

    name: str
    source: str
    why: str


def suggestions(traits: Sequence[Trait], nearest: Sequence[str]) -> tuple[Suggestion, ...]:
    """Names for a cluster from what its members share, and from the words nearest its centroid.

    Parameters
    ----------
    traits : as `Traits.of` gives them
    nearest : names of the rows nearest the centroid, nearest first
    """
    found = _from_lists(traits)
    # Where the words are known, that they are capitalised is no name for them; an ending still may be.
    found += [s for s in _from_spelling(traits) if not found or s.source.startswith("suffix")]
    words = list(dict.fromkeys(word for name in nearest if (word := name.strip()).isalnum()))[:2]
    if words:
        why = "The words nearest the centroid." if len(words) > 1 else "The word nearest the centroid."
        found.append(Suggestion(", ".join(words), "nearest words", why))
    by_name: dict[str, Suggestion] = {}
    for one in found:
        by_name.setdefault(one.name.casefold(), one)
    return tuple(by_name.values())


def _from_lists(traits: Sequence[Trait]) -> list[Suggestion]:
    listed = [trait for trait in traits if trait.members]
    named = [trait for trait in listed if trait.part >= _MOST * trait.whole]
    named.sort(key=lambda trait: -trait.part)
    found = [_listed(trait) for trait in named[:_FROM_LISTS]]
    if not named or named[0].part < 0.85 * named[0].whole:
        pair = _pair(listed)
        if pair is not None:
            found.insert(0, pair)
    return found


def _listed(trait: Trait) -> Suggestion:
    why = f"{trait.part:,} of {trait.whole:,} members {trait.fact} by KiruViz's {trait.source}."
    return Suggestion(trait.label, f"{trait.source}, {trait.part:,} of {trait.whole:,}", why)


def _pair(listed: Sequence[Trait]) -> Suggestion | None:
    """Two lists that have few words in common here and together most members: months and days."""
    best: tuple[int, Trait, Trait] | None = None
    plain = [trait for trait in listed if not trait.parts]
    for i, one in enumerate(plain):
        for two in plain[i + 1 :]:
            both = len(one.members | two.members)
            apart = both >= 0.9 * (one.part + two.part)
            enough = both >= _TOGETHER * one.whole and min(one.part, two.part) >= _EACH * one.whole
            if apart and enough and (best is None or both > best[0]):
                best = (both, *sorted((one, two), key=lambda trait: -trait.part))  # type: ignore[assignment]
    if best is None:
        return None
    both, one, two = best
    why = f"{one.part:,} of {one.whole:,} members {one.fact}, {two.part:,} {two.fact}, by KiruViz's word lists."
    return Suggestion(f"{one.label} and {two.label}", f"word lists, {both:,} of {one.whole:,}", why)


def _from_spelling(traits: Sequence[Trait]) -> list[Suggestion]:
    return [
        Suggestion(trait.label, _short(trait), f"{trait.part:,} of {trait.whole:,} members {trait.fact}.")
        for trait in traits
        if trait.label and not trait.members and trait.part >= _MOST * trait.whole and trait.lift >= _LIFT
    ][:2]


def _short(trait: Trait) -> str:
    if trait.label.startswith("ends in"):
        return f"suffix, {trait.part:,} of {trait.whole:,}"
    return f"{trait.source}, {trait.part:,} of {trait.whole:,}"
