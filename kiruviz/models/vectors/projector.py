"""The Embedding Projector's files: a TSV of numbers, a TSV of metadata, and `projector_config.json` naming both.

Source: the TensorFlow Embedding Projector's documentation and its `projector_config.pbtxt` conventions. Metadata of
one column has no heading, of several columns it has one; here either is taken where the rows come out exactly.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.models.vectors import columns
from kiruviz.models.vectors.table import (
    SeveralTablesError,
    TableChoice,
    VectorTable,
    frozen,
    lines,
    name_notes,
    opened,
    word,
)
from kiruviz.models.vectors.text import is_number, unescaped
from kiruviz.progress import Progress

CONFIG = "projector_config.json"
# The title under which KiruViz writes exact names, with their tabs and line ends escaped.
ESCAPED = "token (escaped)"
_PAIRS = (
    ("vectors", "metadata"), ("tensors", "metadata"), ("tensor", "metadata"), ("embeddings", "metadata"),
    ("vecs", "meta"), ("vectors", "labels"), ("X_tensor", "metadata"),
)  # fmt: skip


def read_pair(path: Path, metadata: Path | None, progress: Progress) -> VectorTable:
    """Read vectors, and their metadata if there are any.

    Raises
    ------
    UserError : a row that is not like the others, or another number of metadata lines than of vectors
    """
    vectors = _numbers(path, progress)
    if metadata is None:
        return VectorTable(vectors, ())
    names, found = _metadata(metadata, len(vectors), path)
    return VectorTable(vectors, names, found, name_notes(names, 0))


def metadata_beside(path: Path) -> Path | None:
    """The metadata file that usually stands beside a TSV of vectors."""
    stem = path.name.removesuffix(".gz").removesuffix(".tsv")
    for vectors, metadata in _PAIRS:
        if vectors.casefold() in stem.casefold():
            for name in (_swapped(stem, vectors, metadata), metadata):
                other = path.with_name(f"{name}.tsv")
                if other.is_file():
                    return other
    return None


def vectors_beside(path: Path) -> Path | None:
    """The vectors that usually stand beside a TSV of metadata."""
    stem = path.name.removesuffix(".tsv")
    for vectors, metadata in _PAIRS:
        if metadata.casefold() in stem.casefold():
            for name in (_swapped(stem, metadata, vectors), vectors):
                other = path.with_name(f"{name}.tsv")
                if other.is_file() and other != path:
                    return other
    return None


def _swapped(stem: str, old: str, new: str) -> str:
    at = stem.casefold().rindex(old.casefold())
    return stem[:at] + new + stem[at + len(old) :]


def read_config(path: Path, name: str | None, progress: Progress) -> VectorTable:
    """Read the embedding called `name` of a `projector_config.json` (its only one if None).

    Raises
    ------
    UserError : the config cannot be read, names a file outside its folder, or holds several embeddings
    """
    entries = _entries(path)
    if name is None and len(entries) > 1:
        raise SeveralTablesError(path, tuple(TableChoice(t, _shape(e), "text") for t, e in entries.items()))
    title = next(iter(entries)) if name is None else name
    if title not in entries:
        raise UserError(f"{path} names no embedding “{title}”; it has {', '.join(entries)}.")
    entry = entries[title]
    tensor = _inside(path, entry.get("tensorPath"))
    metadata = _inside(path, entry["metadataPath"]) if entry.get("metadataPath") else None
    if tensor.suffix == ".bytes":
        vectors = _raw(tensor, _shape(entry))
        names, found = _metadata(metadata, len(vectors), tensor) if metadata else ((), {})
        return VectorTable(vectors, names, found, name_notes(names, 0))
    return read_pair(tensor, metadata, progress)


def files_of(path: Path) -> tuple[Path, ...]:
    """The files that a config names, for those that are there."""
    named = [entry.get(key) for entry in _entries(path).values() for key in ("tensorPath", "metadataPath")]
    return tuple(_inside(path, name) for name in named if name)


def _entries(path: Path) -> dict[str, dict[str, Any]]:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path} cannot be read as JSON; bring the Embedding Projector's own config.") from error
    listed = data.get("embeddings") if isinstance(data, dict) else None
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        raise UserError(f"{path} names no embeddings; it should list them under “embeddings”.")
    return {str(one.get("tensorName") or f"embedding {i}"): one for i, one in enumerate(listed, 1)}


def _shape(entry: dict[str, Any]) -> tuple[int, ...]:
    shape = entry.get("tensorShape")
    whole = isinstance(shape, list) and all(type(one) is int and one > 0 for one in shape)
    return tuple(shape) if whole and isinstance(shape, list) else ()


def _inside(path: Path, named: Any) -> Path:
    """A file the config names, inside the config's own folder."""
    if not isinstance(named, str) or not named:
        raise UserError(f"{path} names no file of vectors (tensorPath); correct it.")
    if "://" in named:
        raise UserError(f"{path} names an address ({named}); fetch that file and name it by its path.")
    folder = path.parent.resolve()
    file = (folder / named).resolve()
    # Configs made for a web page name files from the page's root.
    file = file if file.is_file() else folder / Path(named).name
    if not file.resolve().is_relative_to(folder):
        raise UserError(f"{path} names a file outside its folder ({named}); put it beside the config.")
    if not file.is_file():
        raise UserError(f"{path} names {named}, which is not there; put it beside the config.")
    return file


def _raw(path: Path, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    size = path.stat().st_size
    if len(shape) != 2 or shape[0] * shape[1] * 4 != size:
        raise UserError(f"{path} holds {size:,} bytes, which its config's tensorShape {list(shape)} does not fit.")
    return frozen(np.fromfile(path, "<f4").reshape(shape), path)


def _numbers(path: Path, progress: Progress) -> npt.NDArray[np.float32]:
    rows: list[npt.NDArray[np.float32]] = []
    number, blank = 0, 0
    with opened(path) as stream:
        for batch in lines(stream, path):
            for line in batch:
                number += 1
                if not line.strip():
                    blank = blank or number
                    continue
                if blank:
                    raise UserError(f"{path}, line {blank}: a blank line among the vectors; take it out.")
                rows.append(_row(path, number, line, len(rows[0]) if rows else None))
            progress.report(None, f"Reading {path.name}: {len(rows):,} rows")
    if not rows:
        raise UserError(f"{path} is empty; bring a file with a vector on each line.")
    return frozen(np.stack(rows), path)


def _row(path: Path, number: int, line: bytes, size: int | None) -> npt.NDArray[np.float32]:
    fields = line.strip().split(b"\t")
    if size is not None and len(fields) != size:
        raise UserError(f"{path}, line {number}: {len(fields)} numbers, but the lines before have {size}; correct it.")
    try:
        return np.array([float(field) for field in fields], np.float32)
    except ValueError:
        bad = next(i for i, field in enumerate(fields) if not is_number(field))
        hint = "; a heading does not belong among vectors" if number == 1 else "; correct it"
        shown = word(fields[bad])[:24]
        raise UserError(f"{path}, line {number}, column {bad + 1}: “{shown}” is no number{hint}.") from None


def _metadata(path: Path, rows: int, vectors: Path) -> tuple[tuple[str, ...], dict[str, npt.NDArray[Any]]]:
    """Names and columns of each row; blank lines count, so that no label moves to another row."""
    with opened(path) as stream:
        texts = [word(line) for batch in lines(stream, path) for line in batch]
    # A line end at the very end is no line of its own, which `lines` has seen to; editors add blank ones.
    while len(texts) > rows + 1 and not texts[-1].strip():
        texts.pop()
    several = any("\t" in text for text in texts[:2])
    if len(texts) not in (rows, rows + 1):
        raise UserError(
            f"{path} has {len(texts):,} lines for the {rows:,} vectors of {vectors.name}; it needs one for each, "
            "and a heading where it has several columns."
        )
    heading = len(texts) == rows + 1 and (several or bool(texts[-1].strip()) or not texts[0].strip())
    if len(texts) == rows + 1 and not heading:
        texts.pop()
    cells = [text.split("\t") for text in texts]
    width = max(map(len, cells[:2]))
    for number, row in enumerate(cells, 1):
        if len(row) != width and not (width > 1 and row == [""]):
            raise UserError(f"{path}, line {number}: {len(row)} columns, expected {width}; correct it.")
    titles = cells.pop(0) if heading else [f"column {i + 1}" for i in range(width)]
    full = [row if len(row) == width else [""] * width for row in cells]
    return _columns(titles, full)


def _columns(titles: list[str], cells: list[list[str]]) -> tuple[tuple[str, ...], dict[str, npt.NDArray[Any]]]:
    found: dict[str, npt.NDArray[Any]] = {}
    texts: dict[str, list[str]] = {}
    own = ESCAPED in titles  # as KiruViz writes them
    for i, title in enumerate(titles):
        name = title if title and title not in found and title not in texts else f"{title} ({i + 1})".strip()
        values = [unescaped(row[i]) if own else row[i] for row in cells]
        filled = [value for value in values if value.strip()]
        if filled and all(map(is_number, filled)) and len(titles) > 1 and title != ESCAPED:
            found[name] = np.array([float(value) if value.strip() else np.nan for value in values], np.float64)
        else:
            texts[name] = values
    title_of_names = ESCAPED if own else columns.name_column(list(texts))
    names = () if title_of_names is None else tuple(texts.pop(title_of_names))
    return names, {**{name: np.array(values, np.str_) for name, values in texts.items()}, **found}


def escaped(name: str) -> str:
    """A name without tabs and line ends, from which `text.unescaped` makes it again: JSON without its quotes."""
    return json.dumps(name, ensure_ascii=False)[1:-1]
