"""Columns about every row of a model's table: what each token is, how common, how long its vector is."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.models import cache, frequency, token_text
from kiruviz.models.tokenizer import Tokenizer
from kiruviz.progress import Progress

FloatArray = npt.NDArray[np.float32]

# Part of the cached file's name: raise it whenever a column is computed in another way.
_VERSION = 1
_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """One entry for each of the V rows of the input table.

    text    exact text: spaces and newlines as they are, partial UTF-8 as `<0xE2 0x80>`, `##` kept
    raw     the vocabulary's own string
    kind    (V,) str, one of `token_text.KINDS`
    script  (V,) str, `` where there are no letters
    zipf    (V,) float64, NaN where not a word or not in wordfreq's list
    rank    (V,) int64, place in wordfreq's English list from 1, 0 for none
    norm    (V,) float64, length of the row
    finite  (V,) bool, no NaN and no infinity in the row
    """

    text: tuple[str, ...]
    raw: tuple[str, ...]
    kind: npt.NDArray[np.str_]
    script: npt.NDArray[np.str_]
    zipf: npt.NDArray[np.float64]
    rank: npt.NDArray[np.int64]
    norm: npt.NDArray[np.float64]
    finite: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.text)

    @property
    def named(self) -> npt.NDArray[np.bool_]:
        """(V,) bool: rows that a token points to."""
        named: npt.NDArray[np.bool_] = self.kind != "padding"
        return named

    @cached_property
    def _rows(self) -> dict[str, int]:
        # Of tokens with the same text the first row is meant.
        return {text: row for row, text in reversed(list(enumerate(self.text)))}

    def find_exact(self, text: str) -> int | None:
        """The row whose token is exactly this text."""
        row = self._rows.get(text)
        return row if row is not None and self.kind[row] != "padding" else None

    def find(self, text: str) -> int | None:
        """The row of the exact token, else of the token with a leading space; None if there is neither."""
        exact = self.find_exact(text)
        return self.find_exact(" " + text) if exact is None else exact


def row_norms(table: FloatArray) -> npt.NDArray[np.float64]:
    """Euclidean length of each row, summed in float64: (V, d) float32 -> (V,) float64."""
    norms = np.empty(len(table))
    for start in range(0, len(table), _ROWS):
        with np.errstate(invalid="ignore"):  # a signalling NaN warns when it is converted
            block = table[start : start + _ROWS].astype(np.float64)
        norms[start : start + _ROWS] = np.sqrt(np.einsum("ij,ij->i", block, block))
    return norms


def make(norm: npt.NDArray[np.float64], tokenizer: Tokenizer | None, progress: Progress) -> Vocabulary:
    """All columns, computed.

    Parameters
    ----------
    norm : (V,) float64, the length of each row
    tokenizer : None gives rows named by number
    """
    progress.report(0.0, "Reading the vocabulary")
    text, raw, kind = _describe(len(norm), tokenizer)
    progress.report(0.4, "Looking up word frequencies")
    words = [one if what == "word" else "" for one, what in zip(text, kind, strict=True)]
    zipf, rank = frequency.look_up(words)
    script = [token_text.script_of(one) if what in _LETTERED else "" for one, what in zip(text, kind, strict=True)]
    return Vocabulary(tuple(text), tuple(raw), np.array(kind), np.array(script), zipf, rank, norm, np.isfinite(norm))


_LETTERED = frozenset(("word", "piece", "other"))


def _describe(rows: int, tokenizer: Tokenizer | None) -> tuple[list[str], list[str], list[str]]:
    """Text, raw string and kind of each row."""
    if tokenizer is None:
        names = [f"[row {row}]" for row in range(rows)]
        return names, [""] * rows, ["other"] * rows
    text = [f"[row {row}]" for row in range(rows)]
    raw, kind = [""] * rows, ["padding"] * rows
    flavour, continuation = tokenizer.flavour, tokenizer.continuation
    for row, token in tokenizer.tokens.items():
        if not 0 <= row < rows:
            continue
        raw[row] = token
        if row in tokenizer.special:
            text[row], kind[row] = token, token_text.kind_of_special(token)
            continue
        shown, partial = (token, False) if row in tokenizer.added else token_text.decode(token, flavour)
        text[row] = shown
        kind[row] = "byte" if partial else token_text.kind_of(shown, flavour, continuation)
    return text, raw, kind


def cached(folder: Path, compute: Any) -> Vocabulary:
    """The vocabulary from the model's cache folder; computed and kept there if it is not yet.

    Parameters
    ----------
    folder : the model's cache folder
    compute : () -> Vocabulary
    """
    path = _path(folder)
    try:
        return _load(path)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        made: Vocabulary = compute()
    cache.write_quietly(path, lambda out: _save(made, out))
    return made


def forget(folder: Path) -> None:
    """Have the columns computed anew, since the model's tokenizer is another."""
    _path(folder).unlink(missing_ok=True)


def _path(folder: Path) -> Path:
    return folder / f"vocabulary-{_VERSION}.npz"


def _save(vocabulary: Vocabulary, out: Any) -> None:
    columns: dict[str, npt.NDArray[Any]] = {
        "text": packed(vocabulary.text),
        "raw": packed(vocabulary.raw),
        "kind": _codes(vocabulary.kind),
        "kinds": np.unique(vocabulary.kind),
        "script": _codes(vocabulary.script),
        "scripts": np.unique(vocabulary.script),
        "zipf": vocabulary.zipf,
        "rank": vocabulary.rank,
        "norm": vocabulary.norm,
    }
    held = io.BytesIO()
    np.savez(held, **columns)  # type: ignore[arg-type]
    out.write(held.getvalue())


def _load(path: Path) -> Vocabulary:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
        text, raw = unpacked(data["text"]), unpacked(data["raw"])
        kind, script = data["kinds"][data["kind"]], data["scripts"][data["script"]]
        norm = data["norm"]
        loaded = Vocabulary(text, raw, kind, script, data["zipf"], data["rank"], norm, np.isfinite(norm))
    if not len(text) == len(raw) == len(kind) == len(script) == len(norm):
        raise ValueError("columns of different length")
    return loaded


def packed(strings: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Strings as bytes of JSON: a numpy string array would drop trailing NULs and take many times the room."""
    return np.frombuffer(json.dumps(list(strings)).encode("ascii"), dtype=np.uint8)


def unpacked(data: npt.NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(json.loads(data.tobytes()))


def _codes(column: npt.NDArray[np.str_]) -> npt.NDArray[np.int16]:
    return np.unique(column, return_inverse=True)[1].astype(np.int16)
