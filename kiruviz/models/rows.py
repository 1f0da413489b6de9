"""From a recipe to a Space: which rows of the table, under which names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.models import frequency, token_text
from kiruviz.models.checkpoint import Checkpoint
from kiruviz.models.tokenizer import Tokenizer
from kiruviz.models.tokenizer_json import read_bytes
from kiruviz.models.vocabulary import Vocabulary, row_norms
from kiruviz.progress import Progress, Silent
from kiruviz.space import Filters, FloatArray, IntArray, PieceRule, Recipe, Rows, Space, Transform

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ResolvedRows:
    """Words found in a vocabulary.

    names      n words, as they were given
    row_ids    (n,) int64, -1 for a word that is the mean of several rows
    piece_ids  for each word the rows its vector is made of
    pieces     (n,) int64, how many tokens the word is
    kinds      for each word one of `token_text.KINDS`
    zipf       (n,) float64, NaN for a word that is not in wordfreq's list
    dropped    (word, reason) of each word that was left out
    """

    names: tuple[str, ...]
    row_ids: IntArray
    piece_ids: list[tuple[int, ...]]
    pieces: IntArray
    kinds: tuple[str, ...]
    zipf: npt.NDArray[np.float64]
    dropped: list[tuple[str, str]]


_Found = tuple[str, tuple[int, ...], int]  # the word, the rows its vector is made of, its number of tokens


@dataclass(frozen=True)
class LeftOut:
    """Rows of a table that no Space shows: `not_finite` hold NaN or infinity, `without_token` have no token."""

    not_finite: int
    without_token: int


def parse_words(text: str, source: str) -> list[str]:
    """One word a line; blank lines and lines that start with `#` are no words.

    Parameters
    ----------
    text : the file's text, with any line ends and perhaps a byte-order mark
    source : what the person calls the list, for the sentence

    Raises
    ------
    UserError : no word in it
    """
    lines = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))
    words = [line.strip() for line in lines]
    words = [word for word in words if word and not word.startswith("#")]
    if not words:
        raise UserError(f"{source} holds no words; write one word a line.")
    return words


def read_words(path: Path) -> list[str]:
    """The words of a UTF-8 file; see `parse_words`.

    Raises
    ------
    UserError : unreadable, not UTF-8 (names the line), or no word in it
    """
    data = read_bytes(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UserError(f"{path}, line {line}: not UTF-8 text; save the file as UTF-8.") from error
    return parse_words(text, str(path))


def select(vocabulary: Vocabulary, filters: Filters) -> IntArray:
    """The rows that pass every filter: ascending int64.

    Raises
    ------
    UserError : `filters.pattern` is no regular expression
    """
    keep = np.ones(len(vocabulary), dtype=np.bool_) if filters.unused else vocabulary.named.copy()
    keep &= _passing(filters, vocabulary.text, vocabulary.kind, vocabulary.script, vocabulary.rank)
    return np.flatnonzero(keep).astype(np.int64)


def _passing(
    filters: Filters,
    texts: Sequence[str],
    kinds: npt.NDArray[np.str_],
    scripts: npt.NDArray[np.str_],
    ranks: IntArray,
) -> BoolArray:
    keep = np.ones(len(texts), dtype=np.bool_)
    if filters.whole_words:
        keep &= kinds == "word"
    if filters.kinds:
        keep &= np.isin(kinds, filters.kinds)
    if filters.scripts:
        keep &= np.isin(scripts, filters.scripts)
    if filters.max_rank is not None:
        keep &= (ranks > 0) & (ranks <= filters.max_rank)
    if filters.pattern:
        search = _compiled(filters.pattern).search
        keep &= np.fromiter((search(text) is not None for text in texts), np.bool_, len(texts))
    return keep


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        place = f" at position {error.pos}" if isinstance(error, re.error) and error.pos is not None else ""
        raise UserError(f"The pattern {pattern!r} is no regular expression ({error}){place}; correct it.") from error


def resolve_words(checkpoint: Checkpoint, rows: Rows) -> ResolvedRows:
    """Find the rows of `rows.words`.

    A word's row is that of its token with a leading space (in a WordPiece vocabulary, of the word itself),
    else that of its exact token. A word of several tokens goes by `rows.pieces`.

    Raises
    ------
    UserError : the model has no tokenizer, or a filter cannot be understood
    """
    tokenizer = checkpoint.tokenizer
    if tokenizer is None:
        raise UserError(
            f"{checkpoint.card.name} has no tokenizer beside its weights, so words cannot be looked up; put its "
            "tokenizer.json there, or choose rows by number."
        )
    vocabulary = checkpoint.vocabulary()
    words = list(dict.fromkeys(rows.words or ()))
    dropped = [(word, "listed twice") for word in _repeated(rows.words or ())]
    cut = _cut(words, tokenizer, vocabulary)
    found: list[_Found] = []
    for word, ids in zip(words, cut, strict=True):
        reason = _unusable(ids, tokenizer, vocabulary, rows.pieces)
        if reason:
            dropped.append((word, reason))
        else:
            found.append((word, ids[:1] if rows.pieces == "first" else ids, len(ids)))
    return _filtered(found, rows.filters, vocabulary, tokenizer, dropped)


def _repeated(words: Sequence[str]) -> list[str]:
    seen: set[str] = set()
    return [word for word in words if word in seen or seen.add(word)]  # type: ignore[func-returns-value]


def _cut(words: Sequence[str], tokenizer: Tokenizer, vocabulary: Vocabulary) -> list[tuple[int, ...]]:
    """The rows of each word, as it would stand inside a text."""
    plain = [tuple(ids) for ids in tokenizer.encode_many(words)]
    if tokenizer.flavour in ("wordpiece", "plain"):
        return plain
    spaced = [tuple(ids) for ids in tokenizer.encode_many([" " + word for word in words])]
    return [_better(*each, vocabulary) for each in zip(words, spaced, plain, strict=True)]


def _better(word: str, spaced: tuple[int, ...], plain: tuple[int, ...], vocabulary: Vocabulary) -> tuple[int, ...]:
    """The cut with a leading space unless it is in pieces and the exact token exists.

    Some tokenizers add the space themselves, so that the spaced text gets two: then the plain cut is right.
    """
    exact = vocabulary.find_exact(word)
    ids = plain if len(plain) < len(spaced) and _text(plain, vocabulary) == " " + word else spaced
    return (exact,) if len(ids) > 1 and exact is not None else ids


def _text(ids: tuple[int, ...], vocabulary: Vocabulary) -> str:
    return "".join(vocabulary.text[row] for row in ids if row < len(vocabulary))


def _unusable(ids: tuple[int, ...], tokenizer: Tokenizer, vocabulary: Vocabulary, rule: PieceRule) -> str:
    """Why a word has no vector, or nothing."""
    if not ids:
        return "the tokenizer makes nothing of it"
    if tokenizer.unknown in ids:
        return "unknown to the tokenizer"
    if max(ids) >= len(vocabulary):
        return "its token has no row in the table"
    if not vocabulary.finite[list(ids)].all():
        return "its row holds NaN or infinite values"
    if len(ids) > 1 and rule == "leave_out":
        return f"{len(ids)} tokens"
    return ""


def _filtered(
    found: list[_Found],
    filters: Filters,
    vocabulary: Vocabulary,
    tokenizer: Tokenizer,
    dropped: list[tuple[str, str]],
) -> ResolvedRows:
    """The words that pass the filters; a word of several tokens is judged by its own letters."""
    names = [word for word, _, _ in found]
    kinds = [
        str(vocabulary.kind[ids[0]]) if count == 1 else _kind_of_words(word, tokenizer) for word, ids, count in found
    ]
    scripts = np.array([token_text.script_of(name) for name in names], dtype=np.str_)
    zipf, rank = _frequencies(found, vocabulary)
    keep = _passing(filters, names, np.array(kinds, dtype=np.str_), scripts, rank)
    dropped = dropped + [(name, "left out by the filters") for name, kept in zip(names, keep, strict=True) if not kept]
    kept = [one for one, passes in zip(found, keep, strict=True) if passes]
    return ResolvedRows(
        names=tuple(word for word, _, _ in kept),
        row_ids=np.array([ids[0] if len(ids) == 1 else -1 for _, ids, _ in kept], dtype=np.int64),
        piece_ids=[ids for _, ids, _ in kept],
        pieces=np.array([count for _, _, count in kept], dtype=np.int64),
        kinds=tuple(kind for kind, passes in zip(kinds, keep, strict=True) if passes),
        zipf=zipf[keep],
        dropped=dropped,
    )


def _frequencies(found: list[_Found], vocabulary: Vocabulary) -> tuple[npt.NDArray[np.float64], IntArray]:
    """Zipf frequency and rank of each word.

    The vocabulary's columns know those that are one token: reading wordfreq's whole list takes over half a
    second and is left to lists that need it.
    """
    zipf, rank = np.full(len(found), np.nan), np.zeros(len(found), dtype=np.int64)
    others = []
    for i, (word, ids, count) in enumerate(found):
        row = ids[0]
        known = count == 1 and vocabulary.kind[row] == "word"
        if known and vocabulary.text[row].strip().casefold() == word.casefold():
            zipf[i], rank[i] = vocabulary.zipf[row], vocabulary.rank[row]
        else:
            others.append(i)
    if others:
        zipf[others], rank[others] = frequency.look_up([found[i][0] for i in others])
    return zipf, rank


def _kind_of_words(word: str, tokenizer: Tokenizer) -> str:
    return token_text.kind_of(" " + word if tokenizer.flavour != "wordpiece" else word, tokenizer.flavour)


def left_out(checkpoint: Checkpoint, recipe: Recipe) -> LeftOut:
    """How many rows of the recipe's table are never shown; said beside every picture of the whole."""
    vocabulary = checkpoint.vocabulary()
    finite = _finite(checkpoint, recipe)
    without = 0 if recipe.rows.filters.unused else int((~vocabulary.named).sum())
    return LeftOut(not_finite=int((~finite & vocabulary.named).sum()), without_token=without)


def make_space(
    checkpoint: Checkpoint,
    recipe: Recipe,
    progress: Progress = Silent(),  # noqa: B008 - Silent has no state
) -> Space:
    """The Space of a recipe; the same recipe on the same model gives the same Space.

    Without words, filters or transform the vectors are a view into the model's own table.

    Raises
    ------
    UserError : words or filters that leave no row, or a table the model has not
    """
    recipe = recipe.with_identity(checkpoint.identity)
    progress.report(None, "Choosing rows")
    if recipe.rows.words is None:
        vectors, row_ids, names, columns = _whole(checkpoint, recipe, progress)
    else:
        vectors, row_ids, names, columns = _words(checkpoint, recipe)
    if not names:
        raise UserError(f"No row of {checkpoint.card.name} is left for {recipe.rows.title!r}; widen the filters.")
    if recipe.transform != Transform():
        from kiruviz.analysis import transforms

        keep = checkpoint.vocabulary().named & _finite(checkpoint, recipe)
        fitted = transforms.fit(checkpoint.table(recipe.kind), keep, recipe.transform, progress)
        vectors = fitted.apply(vectors, progress)
    return Space(vectors, row_ids, names, columns, recipe)


_Made = tuple[FloatArray, IntArray, tuple[str, ...], dict[str, npt.NDArray[Any]]]


def _whole(checkpoint: Checkpoint, recipe: Recipe, progress: Progress) -> _Made:
    vocabulary = checkpoint.vocabulary(progress)
    ids = select(vocabulary, recipe.rows.filters)
    ids = ids[_finite(checkpoint, recipe)[ids]]
    # Most rows in order need no copy of a table that may be gigabytes; a few need not even the table.
    first = len(ids) > len(vocabulary) // 4 and int(ids[-1]) == len(ids) - 1
    vectors = checkpoint.table(recipe.kind)[: len(ids)] if first else checkpoint.rows(recipe.kind, ids)
    names = vocabulary.text if len(ids) == len(vocabulary) else tuple(vocabulary.text[row] for row in ids)
    columns = {
        "pieces": np.ones(len(ids), dtype=np.int64),
        "norm": vocabulary.norm[ids] if checkpoint.is_input(recipe.kind) else row_norms(vectors),
        "zipf": vocabulary.zipf[ids],
        "kind": vocabulary.kind[ids],
        "script": vocabulary.script[ids],
    }
    columns |= {_free(name): column[ids] for name, column in checkpoint.columns.items()}
    return vectors, ids, names, columns


def _free(name: str) -> str:
    """The title of a column of the file's own, which must not hide one that every Space has."""
    return f"{name} (file)" if name in ("pieces", "norm", "zipf", "kind", "script") else name


def _words(checkpoint: Checkpoint, recipe: Recipe) -> _Made:
    found = resolve_words(checkpoint, recipe.rows)
    if not found.names and found.dropped:
        word, reason = found.dropped[0]
        raise UserError(
            f"No word of {recipe.rows.title!r} is left in {checkpoint.card.name} ({word!r}: {reason}); choose other "
            "words or widen the filters."
        )
    every = np.array([row for ids in found.piece_ids for row in ids], dtype=np.int64)
    pieces = checkpoint.rows(recipe.kind, every)
    vectors = np.empty((len(found.names), pieces.shape[1]), dtype=np.float32)
    start = 0
    for i, ids in enumerate(found.piece_ids):
        its = pieces[start : start + len(ids)]
        vectors[i] = its[0] if len(ids) == 1 else its.mean(axis=0, dtype=np.float32)
        start += len(ids)
    columns = {
        "pieces": found.pieces,
        "norm": row_norms(vectors),
        "zipf": found.zipf,
        "kind": np.array(found.kinds, dtype=np.str_),
        "script": np.array([token_text.script_of(name) for name in found.names], dtype=np.str_),
    }
    for name, column in checkpoint.columns.items():
        columns[_free(name)] = _of_words(column, found)
    return vectors, found.row_ids, found.names, columns


def _of_words(column: npt.NDArray[Any], found: ResolvedRows) -> npt.NDArray[Any]:
    """A column of the file for words: a word of several rows has no value of its own."""
    first = column[[ids[0] for ids in found.piece_ids]]
    one = found.row_ids >= 0
    return np.where(one, first, "" if column.dtype.kind == "U" else np.nan)


def _finite(checkpoint: Checkpoint, recipe: Recipe) -> BoolArray:
    """(V,) bool: rows of the recipe's table without NaN and infinity."""
    if checkpoint.is_input(recipe.kind):
        return checkpoint.vocabulary().finite
    finite: BoolArray = np.isfinite(checkpoint.norms(recipe.kind))
    return finite
