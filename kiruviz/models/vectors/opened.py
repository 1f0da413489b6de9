"""A file of vectors as a `Checkpoint`: one table, names in place of a tokenizer, columns beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.models import cache, vocabulary
from kiruviz.models.checkpoint import Card, Checkpoint
from kiruviz.models.identity import hash_parts
from kiruviz.models.layout import Layout
from kiruviz.models.tensors import FloatArray, SafetensorsStore, TensorInfo, write_safetensors
from kiruviz.models.vectors import arrays, delimited, fasttext, parquet, projector, text, word2vec
from kiruviz.models.vectors.sniff import Format, format_of
from kiruviz.models.vectors.table import VectorTable
from kiruviz.progress import Progress

VECTOR_FORMATS: tuple[Format, ...] = (
    "npy", "npz", "parquet", "fasttext", "word2vec", "projector", "config", "delimited", "text"
)  # fmt: skip
_TABLE = "vectors"
_DTYPES = {"npy": "F32", "npz": "F32", "parquet": "F32", "fasttext": "F32", "word2vec": "F32"}
# Raise it whenever a reader reads otherwise, so that what was kept is read anew.
_VERSION = 1


@dataclass(frozen=True)
class _Source:
    """A file to be read: which reader, the table wanted in it, and the files it is made of."""

    path: Path
    format: Format
    name: str | None
    files: tuple[Path, ...]


def open_vectors(path: Path, name: str | None, ref: str, progress: Progress) -> Checkpoint:
    """Open a file of vectors; what is slow to read is converted once and then mapped from the cache.

    Parameters
    ----------
    path : the file
    name : the table wanted, where the file holds several
    ref : what the person named

    Raises
    ------
    UserError : as its reader does; SeveralTablesError where it holds several tables and none is named
    """
    source = _source(path, name)
    kept = _Kept(source, progress)
    memo = cache.remembered(f"vectors-{_VERSION} {source.format} {name or ''}", source.files, kept.describe)
    kept.identity = memo["identity"]
    card = Card(
        name=path.name if name is None else f"{path.name}, {name}",
        identity=memo["identity"],
        model_type=None,
        vocab_size=memo["rows"],
        hidden_size=memo["size"],
        num_layers=None,
        num_heads=None,
        num_kv_heads=None,
        head_dim=None,
        tied=None,
        position_scheme="none",
        rope_theta=None,
        max_positions=None,
        dtype=_DTYPES.get(source.format, "text"),
        rows_without_token=0,
        path=str(path.absolute()),
        file_bytes=sum(file.stat().st_size for file in source.files),
        source=ref,
    )
    return VectorCheckpoint(card, kept)


def read_table(path: Path, name: str | None, progress: Progress) -> VectorTable:
    """Read a file of vectors without keeping anything in the cache; raises as `open_vectors`."""
    return _read(_source(path, name), progress)


def _source(path: Path, name: str | None) -> _Source:
    found = format_of(path)
    if found not in VECTOR_FORMATS:
        raise UserError(f"{path} is no file of vectors that is known; bring word2vec, GloVe, fastText, TSV, CSV, npz.")
    if found == "projector":
        vectors = path
        metadata = projector.metadata_beside(path)
        if metadata is None and (other := projector.vectors_beside(path)) is not None:
            vectors, metadata = other, path
        files = (vectors,) if metadata is None else (vectors, metadata)
        return _Source(vectors, found, name, files)
    if found == "config":
        return _Source(path, found, name, (path, *projector.files_of(path)))
    if found == "npy":
        return _Source(path, found, name, (path, *arrays.sidecars(path)))
    return _Source(path, found, name, (path,))


def _read(source: _Source, progress: Progress) -> VectorTable:
    path, name = source.path, source.name
    readers: dict[str, Callable[[], VectorTable]] = {
        "npy": lambda: arrays.read_npy(path, progress),
        "npz": lambda: arrays.read_npz(path, name, progress),
        "parquet": lambda: parquet.read(path, name, progress),
        "fasttext": lambda: fasttext.read(path, progress),
        "word2vec": lambda: word2vec.read(path, progress),
        "config": lambda: projector.read_config(path, name, progress),
        "projector": lambda: projector.read_pair(path, next(iter(source.files[1:]), None), progress),
        "delimited": lambda: delimited.read(path, progress),
        "text": lambda: text.read(path, progress),
    }
    return readers[source.format]()


class _Kept:
    """The table of a source, read when it is first needed, and kept in the cache where that was slow.

    Attributes
    ----------
    identity : of the vectors and names, set once it is known
    """

    def __init__(self, source: _Source, progress: Progress) -> None:
        self._source, self._progress = source, progress
        self.identity = ""
        self._held: VectorTable | None = None

    @property
    def files(self) -> list[Path]:
        return list(self._source.files)

    def describe(self) -> dict[str, Any]:
        """Identity and sizes, for which the whole file has to be read once."""
        table = self._held = _read(self._source, self._progress)
        names = "\0".join(table.names).encode("utf-8", "surrogatepass")
        parts: list[tuple[str, bytes | memoryview]] = [("names", names), ("table", table.vectors.view(np.uint8).data)]
        identity = hash_parts(parts, self._progress)
        rows, size = table.vectors.shape
        return {"identity": identity, "rows": rows, "size": size, "notes": list(table.notes)}

    @cached_property
    def table(self) -> VectorTable:
        if self._source.format == "npy":  # mapped as it is
            return self._held or _read(self._source, self._progress)
        folder = cache.model_folder(self.identity)
        kept = _load(folder)
        if kept is None:
            made = self._held or _read(self._source, self._progress)
            kept = _keep(folder, made) or made
        self._held = None
        return kept


def _keep(folder: Path, table: VectorTable) -> VectorTable | None:
    """Write a table to the cache and map it from there; None if there is no room."""
    entries: dict[str, npt.NDArray[Any]] = {
        "names": vocabulary.packed(table.names),
        "titles": vocabulary.packed(list(table.columns)),
    }
    for i, column in enumerate(table.columns.values()):
        is_text = column.dtype.kind == "U"
        entries[f"{'text' if is_text else 'number'} {i}"] = vocabulary.packed(column.tolist()) if is_text else column
    beside = folder / "columns.npz"
    if not cache.write_quietly(beside, lambda out: np.savez(out, **entries)):  # type: ignore[arg-type]
        return None
    path = folder / f"{_TABLE}.safetensors"
    if not cache.write_quietly(path, lambda out: write_safetensors(out, _TABLE, table.vectors)):
        return None
    return _load(folder)


def _load(folder: Path) -> VectorTable | None:
    try:
        vectors = SafetensorsStore([folder / f"{_TABLE}.safetensors"]).read(_TABLE)
        with (folder / "columns.npz").open("rb") as file, np.load(file, allow_pickle=False) as held:
            names = vocabulary.unpacked(held["names"])
            columns: dict[str, npt.NDArray[Any]] = {}
            for i, title in enumerate(vocabulary.unpacked(held["titles"])):
                numbers = held.get(f"number {i}")
                columns[title] = (
                    np.array(vocabulary.unpacked(held[f"text {i}"]), np.str_) if numbers is None else numbers
                )
        return VectorTable(vectors, names, columns)
    except (UserError, OSError, ValueError, KeyError, EOFError):
        return None


class VectorCheckpoint(Checkpoint):
    """A file of vectors, as the rest of the program sees a model."""

    def __init__(self, card: Card, kept: _Kept) -> None:
        self._kept = kept
        super().__init__(
            card, {}, _Store(kept, card), Layout(_TABLE, None), self._word_list, lambda _: kept.table.vectors
        )

    def _word_list(self) -> Any:
        return WordList(self._kept.table.names) if self._kept.table.names else None

    @property
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """What the file says of each row besides its name."""
        return self._kept.table.columns


class _Store:
    """The one table, as a `TensorStore`."""

    def __init__(self, kept: _Kept, card: Card) -> None:
        self._kept = kept
        self.infos = {_TABLE: TensorInfo(_TABLE, (card.vocab_size, card.hidden_size), "F32")}
        self.headers: list[tuple[str, bytes]] = []

    @property
    def files(self) -> list[Path]:
        return self._kept.files

    def raw(self, name: str) -> memoryview:  # noqa: ARG002 - there is one table
        return self._kept.table.vectors.view(np.uint8).data

    def read(self, name: str) -> FloatArray:  # noqa: ARG002 - there is one table
        return self._kept.table.vectors


class WordList:
    """Names looked up as they are, in the place of a tokenizer: what is not a name has no row."""

    flavour = "plain"
    continuation = ""
    unknown: int | None = None

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    @cached_property
    def tokens(self) -> dict[int, str]:
        return dict(enumerate(self._names))

    added: frozenset[int] = frozenset()
    special: frozenset[int] = frozenset()

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {name: row for row, name in reversed(list(enumerate(self._names)))}

    def encode(self, text: str) -> list[int]:
        """The row of the name `text`, else of each of its words that is a name."""
        if text in self._rows:
            return [self._rows[text]]
        return [self._rows[one] for one in text.split() if one in self._rows]

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.encode(one) for one in texts]
