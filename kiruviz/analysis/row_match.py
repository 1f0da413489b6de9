"""Which rows of one list are which rows of another: by their place in a table, else by their words."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.int64]
_Keys = Iterable[Hashable | None]


@dataclass(frozen=True, eq=False)
class RowNames:
    """What is known of `n` rows to find them again elsewhere.

    Attributes
    ----------
    names : n exact names
    row_ids : (n,) int, the row of a model's table, -1 where it is none; None where no ids are known
    kinds : n token kinds (`piece` is a part of a word); None where they are not known
    table : what `row_ids` count in, such as a model's identity; empty where that is not known
    """

    names: Sequence[str]
    row_ids: npt.NDArray[np.integer] | None = None
    kinds: Sequence[str] | None = None
    table: str = ""

    def __len__(self) -> int:
        return len(self.names)


def match_rows(one: RowNames, two: RowNames) -> tuple[Positions, Positions]:
    """Pair the rows that both lists have, each at most once.

    The surest sign comes first, and what it pairs takes no part in the next: the row number in the same table;
    number and name where a table is not named; the exact name; the word without the mark by which a
    vocabulary tells that it begins or goes on (a leading space, `##`); that in any case of letters. A part of a
    word and a whole word of the same letters are paired last. So `" king"` of a byte-level vocabulary is `"king"`
    of a WordPiece one and of a list of words. Rows alike in a sign are paired in their order.

    Returns
    -------
    (m,) int64 positions in `one`, ascending, and those of the same rows in `two`
    """
    if one is two:
        every = np.arange(len(one), dtype=np.int64)
        return every, every
    free_one, free_two = dict.fromkeys(range(len(one))), dict.fromkeys(range(len(two)))
    pairs: list[tuple[int, int]] = []
    for keys_one, keys_two in _signs(one, two):
        if not free_one or not free_two:
            break
        found = _paired(keys_one, keys_two, free_one, free_two)
        pairs += found
        for i, j in found:
            del free_one[i], free_two[j]
    pairs.sort()
    array = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return array[:, 0], array[:, 1]


def _signs(one: RowNames, two: RowNames) -> Iterable[tuple[_Keys, _Keys]]:
    """For each sign the keys of both lists, made only when their turn comes; a row without it has None."""
    known = bool(one.table and two.table)
    if one.row_ids is not None and two.row_ids is not None:
        if known and one.table == two.table:
            yield _numbers(one), _numbers(two)
        elif not known:
            yield _numbered(one), _numbered(two)
    flags = one.kinds is not None and two.kinds is not None
    parts_one, parts_two = _parts(one, flags), _parts(two, flags)
    yield zip(parts_one, one.names, strict=True), zip(parts_two, two.names, strict=True)
    cores_one, cores_two = _cores(one), _cores(two)
    yield zip(parts_one, cores_one, strict=True), zip(parts_two, cores_two, strict=True)
    cores_one, cores_two = [c.casefold() for c in cores_one], [c.casefold() for c in cores_two]
    yield zip(parts_one, cores_one, strict=True), zip(parts_two, cores_two, strict=True)
    yield cores_one, cores_two


def _numbers(rows: RowNames) -> list[int | None]:
    assert rows.row_ids is not None
    return [None if number < 0 else number for number in rows.row_ids.tolist()]


def _numbered(rows: RowNames) -> list[tuple[int, str] | None]:
    return [None if n is None else (n, name) for n, name in zip(_numbers(rows), rows.names, strict=True)]


def _parts(rows: RowNames, known: bool) -> list[bool]:
    if not known or rows.kinds is None:
        return [False] * len(rows)
    return [kind == "piece" for kind in rows.kinds]


def _cores(rows: RowNames) -> list[str]:
    """The names without one leading space and without WordPiece's mark; a name of nothing else stays."""
    return [_core(name) for name in rows.names]


def _core(name: str) -> str:
    bare = name.removeprefix(" ") if name.startswith(" ") else name.removeprefix("##")
    return bare or name


def _paired(
    keys_one: _Keys, keys_two: _Keys, free_one: dict[int, None], free_two: dict[int, None]
) -> list[tuple[int, int]]:
    waiting: dict[Hashable, list[int]] = {}
    for j, key in enumerate(keys_two):
        if key is not None and j in free_two:
            waiting.setdefault(key, []).append(j)
    for places in waiting.values():
        places.reverse()
    found = []
    for i, key in enumerate(keys_one):
        if key is not None and i in free_one and (places := waiting.get(key, [])):
            found.append((i, places.pop()))
    return found
