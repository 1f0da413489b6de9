"""The one idea: a Space is `n` vectors of `d` numbers, named rows, columns about them, and how it was made.

numpy only. Every picture, cluster, label, neighbour list and export works on a Space.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

Kind = Literal["token", "output"]
Metric = Literal["cosine", "euclidean", "dot"]
PieceRule = Literal["mean", "first", "leave_out"]

KINDS: tuple[Kind, ...] = ("token", "output")
METRICS: tuple[Metric, ...] = ("cosine", "euclidean", "dot")
PIECE_RULES: tuple[PieceRule, ...] = ("mean", "first", "leave_out")

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Filters:
    """Which rows of the vocabulary stay. Every condition that is set must hold.

    `kinds` and `scripts` are empty for "all". `max_rank` keeps the words among the `max_rank` most frequent
    of wordfreq's English list. `pattern` is a regular expression searched in the shown token text.
    Rows that no token points to (padding of the table) are out unless `unused` is set.
    """

    whole_words: bool = False
    kinds: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    pattern: str = ""
    max_rank: int | None = None
    unused: bool = False


@dataclass(frozen=True)
class Rows:
    """Which rows a Space has: `words` (their rows, by `pieces` where a word is several tokens) or, with
    `words` None, the whole vocabulary. `filters` apply to both. `title` is what a person calls the list."""

    words: tuple[str, ...] | None = None
    pieces: PieceRule = "mean"
    filters: Filters = field(default_factory=Filters)
    title: str = "Whole vocabulary"


@dataclass(frozen=True)
class Transform:
    """What is done to the vectors before any distance: all off by default.

    Fitted on the whole table (every finite row a token points to), never on the rows drawn, so that hiding
    rows changes no neighbour. Order: centre, all-but-the-top, unit length.

    center      subtract the table's mean vector
    remove_top  all-but-the-top (Mu & Viswanath 2018): number of principal directions taken out of the
                centred rows; implies centring
    normalize   divide each row by its length
    """

    center: bool = False
    remove_top: int = 0
    normalize: bool = False

    def describe(self) -> str:
        """The transform in words, for the status line, tables and captions: `raw`, `centred, unit length`..."""
        words = []
        if self.center or self.remove_top:
            words.append("centred")
        if self.remove_top:
            words.append(f"all-but-the-top {self.remove_top}")
        if self.normalize:
            words.append("unit length")
        return ", ".join(words) or "raw"


@dataclass(frozen=True)
class Recipe:
    """How a Space is made, in full: the same recipe on the same model gives the same Space.

    model     what `open_model` takes (starter name, folder or file)
    identity  the model's identity (see `models.identity`), empty until the model was opened
    """

    model: str
    identity: str = ""
    kind: Kind = "token"
    rows: Rows = field(default_factory=Rows)
    transform: Transform = field(default_factory=Transform)

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        data = cast(dict[str, Any], json.loads(text))
        rows = data.pop("rows")
        filters = rows.pop("filters")
        lists = {name: tuple(value) for name, value in filters.items() if isinstance(value, list)}
        filters = Filters(**(filters | lists))
        words = rows.pop("words")
        rows = Rows(words=None if words is None else tuple(words), filters=filters, **rows)
        return cls(rows=rows, transform=Transform(**data.pop("transform")), **data)

    def with_identity(self, identity: str) -> Recipe:
        return replace(self, identity=identity)


@dataclass(frozen=True, eq=False)
class Space:
    """`n` named vectors.

    vectors  (n, d) float32, finite, after the recipe's transform
    row_ids  (n,) int64, the row of the model's table; -1 for a word that is the mean of several rows
    names    n strings: the token's or word's exact text (newlines and lone spaces included)
    columns  name -> (n,) array: `pieces` int64 (tokens the name is made of), `norm` float64 (length of the
             untransformed vector), `zipf` float64 (wordfreq Zipf frequency, NaN where not a word), `kind` and
             `script` (str)
    """

    vectors: FloatArray
    row_ids: IntArray
    names: tuple[str, ...]
    columns: dict[str, npt.NDArray[Any]]
    recipe: Recipe

    def __post_init__(self) -> None:
        n = len(self.names)
        for what, got in [("vectors", len(self.vectors)), ("row_ids", len(self.row_ids))] + [
            (name, len(column)) for name, column in self.columns.items()
        ]:
            if got != n:
                raise ValueError(f"{what} has {got} rows, the space has {n} names")

    def __len__(self) -> int:
        return len(self.names)


def display_name(name: str) -> str:
    """How a name is shown: a leading space as a middle dot, line ends and tabs as their symbols."""
    shown = name.replace("\n", "↵").replace("\r", "␍").replace("\t", "⇥")
    stripped = shown.lstrip(" ")
    return "·" * (len(shown) - len(stripped)) + stripped
