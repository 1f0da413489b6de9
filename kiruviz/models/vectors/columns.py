"""Which columns of a table are the numbers of a vector, which the name, and which say something of the row."""

from __future__ import annotations

import re
from collections.abc import Sequence

# What a column of names is called, best first.
_NAMES = ("token", "word", "name", "term", "text", "title", "sentence", "label", "key", "id")
_VECTORS = ("embedding", "embeddings", "vector", "vectors", "emb", "vec", "features")
_NUMBERED = re.compile(r"(?P<stem>.*?)[_\-. \[]*(?P<number>\d+)\]?", re.DOTALL)


def name_column(texts: Sequence[str]) -> str | None:
    """Of the columns with texts, the one whose entries name the rows: a usual title, else the first."""
    lower = {title.strip().casefold(): title for title in reversed(texts)}
    return next((lower[usual] for usual in _NAMES if usual in lower), texts[0] if texts else None)


def likely_first(titles: Sequence[str]) -> list[str]:
    """Columns that hold whole vectors, usual titles first."""

    def place(title: str) -> tuple[int, int]:
        low = title.strip().casefold()
        return (_VECTORS.index(low) if low in _VECTORS else len(_VECTORS), titles.index(title))

    return sorted(titles, key=place)


def dimensions(numeric: Sequence[str], fractional: Sequence[str]) -> list[str]:
    """The number columns that are the dimensions of a vector, in order.

    Those that share a stem and count up (`0`, `1`, ...; `dim_0`, `x1`, ...) are, the largest such family of at
    least two; else all that hold fractions; else all.

    numeric     titles of all columns of numbers
    fractional  those among them with a value that is no whole number
    """
    families: dict[str, list[tuple[int, str]]] = {}
    for title in numeric:
        found = _NUMBERED.fullmatch(title.strip())
        if found is not None and len(found["number"]) < 9:
            families.setdefault(found["stem"].casefold(), []).append((int(found["number"]), title))
    largest = max(families.values(), key=len, default=[])
    counts = sorted(number for number, _ in largest)
    if len(counts) >= 2 and counts == list(range(counts[0], counts[0] + len(counts))):
        return [title for _, title in sorted(largest)]
    return list(fractional) if len(fractional) >= 2 else list(numeric)
