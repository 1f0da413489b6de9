"""Vectors for other programs: Embedding Projector, embedding-atlas, word2vec text, NumPy.

Each comes back through this program's own readers row for row, names with tabs, line ends and lone spaces included.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kiruviz.models.cache import write_atomic
from kiruviz.models.vectors import projector, text
from kiruviz.models.vectors.table import EXACT_NAMES, VectorTable

VECTORS, METADATA = "vectors.tsv", "metadata.tsv"
_ROWS = 2048

Written = Callable[[float], None]


def to_projector(folder: Path, table: VectorTable, written: Written) -> list[Path]:
    """Write `vectors.tsv`, `metadata.tsv` and `projector_config.json` into an existing folder.

    Parameters
    ----------
    table : what to write; `columns` become columns of the metadata
    written : called with the share that is written, may raise to stop

    Returns
    -------
    the three files
    """
    titles = [projector.ESCAPED, *table.columns]
    cells = [map(projector.escaped, table.names), *(_shown(column) for column in table.columns.values())]
    metadata = [titles, *zip(*cells, strict=True)]
    config = {
        "embeddings": [
            {
                "tensorName": "KiruViz",
                "tensorShape": list(table.vectors.shape),
                "tensorPath": VECTORS,
                "metadataPath": METADATA,
            }
        ]
    }
    _write(folder / VECTORS, (_numbers(row, "\t") + "\n" for row in _counted(table, written)))
    _write(folder / METADATA, ("\t".join(row) + "\n" for row in metadata))
    _write(folder / projector.CONFIG, [json.dumps(config, indent=2) + "\n"])
    return [folder / VECTORS, folder / METADATA, folder / projector.CONFIG]


def to_word2vec(path: Path, table: VectorTable, written: Written) -> None:
    """Write word2vec's text format.

    Where a name holds white space or a backslash, which the format has no way to write, all names are escaped as
    in JSON and the header ends with a tab to say so: other readers see the escapes, this program the names.
    """
    rows, size = table.vectors.shape
    exact = all(map(text.is_plain, table.names))
    names = table.names if exact else tuple(map(text.escaped, table.names))
    header = f"{rows} {size}\n" if exact else f"{rows} {size}{text.ESCAPED}\n"
    lines = (f"{n} {_numbers(row, ' ')}\n" for n, row in zip(names, _counted(table, written), strict=True))
    _write(path, _chain(header, lines))


def to_npz(path: Path, table: VectorTable, written: Written) -> None:
    """Write a `.npz` with `vectors` (n, d) float32, `names` and one array for each column."""
    arrays: dict[str, npt.NDArray[Any]] = {"vectors": table.vectors, "names": np.array(table.names, np.str_)}
    if arrays["names"].tolist() != list(table.names):  # NumPy's strings lose NULs at their end
        arrays[EXACT_NAMES] = np.frombuffer(json.dumps(table.names).encode(), np.uint8)
    taken = set(arrays) | {"file"}
    columns = {(f"{name} (column)" if name in taken else name): a for name, a in table.columns.items()}
    written(0.0)
    write_atomic(path, lambda out: np.savez_compressed(out, **arrays, **columns))  # type: ignore[arg-type]
    written(1.0)


def to_atlas(path: Path, table: VectorTable, written: Written) -> None:
    """Write Parquet as embedding-atlas takes it: `text`, `vector` (a list column) and one column for each other."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    size = table.vectors.shape[1]
    flat = pa.array(np.ascontiguousarray(table.vectors).reshape(-1), pa.float32())
    columns: dict[str, Any] = {
        "text": pa.array(list(table.names), pa.string()),
        "vector": pa.FixedSizeListArray.from_arrays(flat, size),
    }
    columns |= {name: pa.array(column.tolist()) for name, column in table.columns.items() if name not in columns}
    written(0.0)
    write_atomic(path, lambda out: pq.write_table(pa.table(columns), out))
    written(1.0)


def _numbers(row: npt.NDArray[np.float32], separator: str) -> str:
    """A row's numbers in the fewest digits that give the same float32 again."""
    return separator.join(map(str, row))


def _counted(table: VectorTable, written: Written) -> Iterable[npt.NDArray[np.float32]]:
    for i, row in enumerate(table.vectors):
        if i % _ROWS == 0:
            written(i / len(table.vectors))
        yield row


def _shown(column: npt.NDArray[Any]) -> list[str]:
    if column.dtype.kind == "f":
        return ["" if np.isnan(v) else repr(v) for v in column.tolist()]
    return [projector.escaped(v) if isinstance(v, str) else str(v) for v in column.tolist()]


def _chain(first: str, rest: Iterable[str]) -> Iterable[str]:
    yield first
    yield from rest


def _write(path: Path, lines: Iterable[str]) -> None:
    def write(out: Any) -> None:
        for line in lines:
            out.write(line.encode("utf-8"))

    write_atomic(path, write)
