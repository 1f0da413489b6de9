"""Opening a model, making a Space from a recipe, and the questions one asks of a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kiruviz.analysis.neighbors import nearest
from kiruviz.analysis.quality import mean_random_cosine
from kiruviz.errors import UserError
from kiruviz.models.attach import attach
from kiruviz.models.checkpoint import Card, Checkpoint
from kiruviz.models.opening import fetched_folder
from kiruviz.models.opening import open_model as open_checkpoint
from kiruviz.models.rows import LeftOut, left_out, make_space, resolve_words, select
from kiruviz.models.vectors.opened import VectorCheckpoint
from kiruviz.models.vocabulary import Vocabulary
from kiruviz.progress import Progress, Silent
from kiruviz.session import records
from kiruviz.session.records import PackedSpace, SpaceRecord
from kiruviz.space import FloatArray, Kind, Metric, Recipe, Rows, Space, Transform, display_name


@dataclass(frozen=True)
class ModelInfo:
    """What the window needs to know of an open model.

    `kinds` are the tables it has; `token_kinds` and `scripts` what its vocabulary holds, most frequent first;
    `columns` what a file of vectors says of its rows, and `known_words` how many of the words asked for are among
    its names (None for a model, whose tokenizer can cut any word).
    """

    card: Card
    kinds: tuple[Kind, ...]
    token_kinds: tuple[str, ...]
    scripts: tuple[str, ...]
    has_tokenizer: bool
    columns: tuple[str, ...] = ()
    known_words: int | None = None


@dataclass(frozen=True)
class TokenPiece:
    """One token of a text: its row, its exact text, and how it stands in the vocabulary."""

    token_id: int
    text: str
    kind: str


@dataclass(frozen=True)
class RowCount:
    """How many rows a choice gives; `dropped` names each word left out, and why."""

    count: int
    dropped: tuple[tuple[str, str], ...] = ()
    several_pieces: int = 0


@dataclass(frozen=True)
class Neighbor:
    token_id: int
    token: str
    score: float


@dataclass(frozen=True)
class NeighborList:
    """The nearest rows of the whole table to one query.

    `baseline` is the mean cosine of random pairs of rows under the same transform, to judge scores by.
    """

    query: str
    metric: Metric
    transform: Transform
    neighbors: tuple[Neighbor, ...]
    baseline: float | None
    row_ids: tuple[int, ...] = field(default=())


def checkpoint(ref: str) -> Checkpoint:
    """The open checkpoint, kept while it is in use in this process."""
    return _checkpoint(ref, fetched_folder(ref))


@lru_cache(maxsize=2)
def _checkpoint(ref: str, fetched: Path | None) -> Checkpoint:  # noqa: ARG001 - part of the key
    """Kept by the folder too: a Hub name means another one once the model was downloaded."""
    return open_checkpoint(ref)


@lru_cache(maxsize=2)
def space(recipe: Recipe) -> Space:
    """The Space of a recipe, kept while it is in use in this process.

    Raises UserError where the model at hand is not the one the recipe was made on.
    """
    opened = checkpoint(recipe.model)
    if recipe.identity and recipe.identity != opened.identity:
        raise UserError(
            f"The model {recipe.model} is not the one this map was made from (its identity differs); "
            "open the original model to compute on, or start a new map."
        )
    return make_space(opened, recipe, Silent())


def open_model(progress: Progress, ref: str, words: tuple[str, ...] | None = None) -> ModelInfo:
    """Open a model or a file of vectors and read its card; `words` are looked for in a file of vectors."""
    progress.report(None, f"Opening {ref}")
    opened = checkpoint(ref)
    vocabulary = opened.vocabulary(progress)
    return ModelInfo(
        card=opened.card,
        kinds=opened.kinds,
        token_kinds=_by_count(vocabulary.kind),
        scripts=_by_count(vocabulary.script),
        has_tokenizer=opened.tokenizer is not None,
        columns=tuple(opened.columns),
        known_words=_known(vocabulary, words or ()) if isinstance(opened, VectorCheckpoint) else None,
    )


def _known(vocabulary: Vocabulary, words: tuple[str, ...]) -> int:
    return sum(vocabulary.find_exact(word) is not None for word in words)


def attach_tokenizer(progress: Progress, ref: str, path: str) -> ModelInfo:
    """Use the tokenizer in `path` for a model that came without one; the model's card and vocabulary then."""
    progress.report(None, "Reading the tokenizer")
    opened = checkpoint(ref)
    attach(opened.identity, opened.card.vocab_size, Path(path))
    for cached in (_checkpoint, space, _transformed_table, _baseline):
        cached.cache_clear()
    return open_model(progress, ref)


def build_space(progress: Progress, recipe: Recipe) -> SpaceRecord:
    """Everything about a Space but its vectors: what the window and the session keep."""
    progress.report(None, "Looking up the rows")
    opened = checkpoint(recipe.model)
    # Under its identity, as every later job asks for it: so it is made once.
    made = space(recipe if recipe.identity else recipe.with_identity(opened.identity))
    return SpaceRecord.of(made, opened.card.name, opened.card.to_json())


def pack_space(progress: Progress, recipe: Recipe) -> PackedSpace:
    """`build_space`, compressed for the session, so that the window need only write it."""
    return records.pack_space(build_space(progress, recipe))


def count_rows(progress: Progress, ref: str, rows: Rows) -> RowCount:
    """How many rows `rows` would give, without making them."""
    opened = checkpoint(ref)
    if rows.words is None:
        return RowCount(len(select(opened.vocabulary(progress), rows.filters)))
    resolved = resolve_words(opened, rows)
    return RowCount(
        count=len(resolved.names),
        dropped=tuple(resolved.dropped),
        several_pieces=int(np.count_nonzero(np.asarray(resolved.pieces) > 1)),
    )


def tokenize(progress: Progress, ref: str, text: str) -> tuple[TokenPiece, ...]:
    """The tokens of a text, without special tokens added."""
    opened = checkpoint(ref)
    tokenizer = opened.tokenizer
    if tokenizer is None:
        raise UserError(f"{opened.card.name} has no tokenizer beside its weights, so text cannot be looked up.")
    vocabulary = opened.vocabulary(progress)
    return tuple(TokenPiece(i, vocabulary.text[i], str(vocabulary.kind[i])) for i in tokenizer.encode(text))


def find_row(ref: str, token: str, by_id: bool = False) -> int:
    """The table row of a TOKEN as the command line takes it: the exact token, else with a leading space."""
    opened = checkpoint(ref)
    vocabulary = opened.vocabulary(Silent())
    if by_id:
        row = _number(token)
        if row is None or not 0 <= row < len(vocabulary):
            raise UserError(
                f"{opened.card.name} has no row “{display_name(token)}”; --id takes a number from 0 to "
                f"{len(vocabulary) - 1}."
            )
        return row
    row = vocabulary.find(token) if token else None
    if row is None:
        raise UserError(_not_a_token(opened, vocabulary, token))
    return row


def token_text(ref: str, row: int) -> str:
    """The exact text of a row's token."""
    return checkpoint(ref).vocabulary(Silent()).text[row]


def spaced_row(ref: str, row: int) -> int | None:
    """The row of the same token with a leading space, as it stands inside a text; None where there is none."""
    vocabulary = checkpoint(ref).vocabulary(Silent())
    return vocabulary.find_exact(" " + vocabulary.text[row])


def rows_left_out(ref: str, recipe: Recipe) -> LeftOut:
    """How many rows of the table no map of it shows, and why."""
    return left_out(checkpoint(ref), recipe)


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _not_a_token(opened: Checkpoint, vocabulary: Vocabulary, token: str) -> str:
    pieces = _pieces(opened, token)
    said = f"“{display_name(token)}” is not one token of {opened.card.name}"
    if not pieces:
        return f"{said}; name another token, or a row by its number with --id."
    shown = ", ".join(f"“{display_name(vocabulary.text[i])}” ({i})" for i in pieces[:6] if i < len(vocabulary))
    more = ", ..." if len(pieces) > 6 else ""
    if len(pieces) == 1:
        return f"{said}; its tokenizer reads it as {shown}, so name that one, by its number with --id."
    return f"{said} but {len(pieces)}: {shown}{more}; name one of them, by its number with --id."


def _pieces(opened: Checkpoint, text: str) -> list[int]:
    if opened.tokenizer is None:
        return []
    try:
        return opened.tokenizer.encode(text)
    except TypeError:  # bytes of a command line that are no text
        return []


def neighbors(
    progress: Progress,
    ref: str,
    kind: Kind,
    transform: Transform,
    row_ids: tuple[int, ...],
    query: str,
    metric: Metric = "cosine",
    k: int = 10,
) -> NeighborList:
    """The `k` nearest rows of the whole table to one row, or to the mean of several (a word of several tokens).

    Without `row_ids` the rows are those of the tokens of the word `query`. The transform is fitted on the whole
    table and applied to all of it, so that hiding rows on the map changes nothing. A query that is one row is
    left out itself.
    """
    if k < 1:
        raise UserError(f"The number of neighbours must be at least 1, not {k}.")
    row_ids = row_ids or _rows_of_word(ref, query)
    table, keep = _transformed_table(ref, kind, transform)
    wanted = np.asarray(row_ids, np.int64)
    vector = np.asarray(table[wanted], np.float64).mean(axis=0)
    exclude = row_ids if len(row_ids) == 1 else ()
    ids, scores = nearest(table, vector, metric, min(k, len(table)), exclude=exclude, keep=keep, progress=progress)
    vocabulary = checkpoint(ref).vocabulary(progress)
    return NeighborList(
        query=query,
        metric=metric,
        transform=transform,
        neighbors=tuple(Neighbor(int(i), vocabulary.text[int(i)], float(s)) for i, s in zip(ids, scores, strict=True)),
        baseline=_baseline(ref, kind, transform),
        row_ids=row_ids,
    )


def _rows_of_word(ref: str, word: str) -> tuple[int, ...]:
    resolved = resolve_words(checkpoint(ref), Rows(words=(word,)))
    if not resolved.piece_ids:
        raise UserError(f"“{display_name(word)}” has no row ({resolved.dropped[0][1]}); choose another word.")
    return tuple(int(i) for i in resolved.piece_ids[0])


@lru_cache(maxsize=2)
def _transformed_table(ref: str, kind: Kind, transform: Transform) -> tuple[FloatArray, np.ndarray[Any, Any]]:
    opened = checkpoint(ref)
    vocabulary = opened.vocabulary(Silent())
    table = opened.table(kind)
    finite = vocabulary.finite if opened.is_input(kind) else np.isfinite(opened.norms(kind))
    keep = vocabulary.named & finite
    if transform != Transform():
        from kiruviz.analysis.transforms import fit

        table = fit(table, keep, transform).apply(table)
    return table, keep


@lru_cache(maxsize=8)
def _baseline(ref: str, kind: Kind, transform: Transform) -> float | None:
    table, keep = _transformed_table(ref, kind, transform)
    return mean_random_cosine(table, seed=0, keep=keep)


def _by_count(values: Any) -> tuple[str, ...]:
    names, counts = np.unique(np.asarray(values), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return tuple(str(names[i]) for i in order if str(names[i]))
