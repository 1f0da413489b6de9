r"""The table a person takes away: the map row by row. Labels cluster by cluster are `label_files`.

CSV is RFC 4180 in UTF-8 with `\n` line ends, written so that a newline, a quote or a lone space as a token
keeps its row and reads back exactly. Parquet holds the same columns with their types.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TextIO

import numpy as np
import numpy.typing as npt

from kiruviz.figures.files import replacing, suffix_of

Columns = Mapping[str, Sequence[Any] | npt.NDArray[Any]]


class ClusterLike(Protocol):
    """What tables need of a cluster; the session's own clusters are such."""

    @property
    def cluster_id(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def confidence(self) -> int | None: ...
    @property
    def note(self) -> str: ...


def map_table(
    row_ids: npt.NDArray[np.int64],
    names: Sequence[str],
    pieces: npt.NDArray[Any],
    coords: npt.NDArray[np.float32],
    assignment: npt.NDArray[np.int32],
    clusters: Iterable[ClusterLike],
) -> dict[str, list[Any]]:
    """The columns of a map: `row_id, token, pieces, x, y, (z,) cluster, label, status, confidence, note`.

    coords is (n, 2) or (n, 3). `row_id` is None where it is -1 (a word that is several rows). Noise is
    cluster -1; it and clusters that `clusters` does not list have an empty label and status.
    """
    known = {cluster.cluster_id: cluster for cluster in clusters}
    per_row = [known.get(int(number)) for number in assignment]
    axes = {axis: list(coords[:, i]) for i, axis in enumerate("xyz"[: coords.shape[1]])}
    return {
        "row_id": [None if row < 0 else int(row) for row in row_ids],
        "token": list(names),
        "pieces": [int(count) for count in pieces],
        **axes,
        "cluster": [int(number) for number in assignment],
        "label": [cluster.name if cluster else "" for cluster in per_row],
        "status": [cluster.status if cluster else "" for cluster in per_row],
        "confidence": [cluster.confidence if cluster else None for cluster in per_row],
        "note": [cluster.note if cluster else "" for cluster in per_row],
    }


def write_table(path: Path, columns: Columns, overwrite: bool = False) -> Path:
    """Write columns of equal length as the suffix of `path` says: `.csv` or `.parquet`.

    None is an empty field in CSV and null in Parquet; so is NaN in CSV. Floats are the shortest text that
    reads back to the same number, float32 or float64. Raises `UserError` as `files.replacing` does.
    """
    path = Path(path)
    suffix = suffix_of(path, (".csv", ".parquet"))
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"the columns have different lengths: {sorted(lengths)}")
    with replacing(path, overwrite) as temporary:
        if suffix == ".csv":
            write_csv(temporary, columns)
        else:
            _write_parquet(temporary, columns)
    return path


class _UnixEnds:
    r"""A file for `csv.writer` that ends rows with `\n`.

    The writer itself has to believe in `\r\n`: it quotes a lone `\r` only if its own line end has one.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, row: str) -> int:
        return self._file.write(row.removesuffix("\r\n") + "\n")


def write_csv(path: Path, columns: Columns) -> None:
    """Write columns of equal length as CSV, whatever their text holds."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(_UnixEnds(file))
        writer.writerow(columns)
        writer.writerows(zip(*(map(_field, column) for column in columns.values()), strict=True))


def _field(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (float, np.floating)):
        # str of a NumPy float32 is the shortest text that reads back to that float32.
        return "" if np.isnan(value) else str(value)
    text = str(value)
    # Half a surrogate pair cannot be written as UTF-8 at all.
    return text.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else text


def _write_parquet(path: Path, columns: Columns) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {}
    for name, column in columns.items():
        values = [_field(v) for v in column] if len(column) and isinstance(column[0], str) else column
        arrays[name] = pa.array(values)
    pq.write_table(pa.table(arrays), path)
