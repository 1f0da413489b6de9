r"""Tables a person takes away: the map row by row, and the labels cluster by cluster.

CSV is RFC 4180 in UTF-8 with `\n` line ends, written so that a newline, a quote or a lone space as a token
keeps its row and reads back exactly. Parquet holds the same columns with their types.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol, TextIO, cast

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.figures.files import replacing, suffix_of

Columns = Mapping[str, Sequence[Any] | npt.NDArray[Any]]

_LABEL_COLUMNS = ("cluster", "name", "status", "confidence", "note", "size", "members")


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


@dataclass(frozen=True)
class Label:
    """A row of a labels file: what was decided about one cluster, and its members' exact names."""

    cluster: int
    name: str
    status: str
    confidence: int | None
    note: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Labels:
    """A labels file: the clusters, and (JSON only) the recipe of the map they belong to."""

    clusters: tuple[Label, ...]
    recipe: dict[str, str] = field(default_factory=dict)


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
            _write_csv(temporary, columns)
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


def _write_csv(path: Path, columns: Columns) -> None:
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


def write_labels(
    path: Path,
    clusters: Iterable[ClusterLike],
    members: Mapping[int, Sequence[str]],
    recipe: Mapping[str, str] | None = None,
    overwrite: bool = False,
) -> Path:
    """Write what was decided about each cluster, as `.csv` or `.json`; see `read_labels`.

    members  cluster id -> its members' exact names
    recipe   how the map was made; kept in JSON only, since CSV has no place for it
    """
    path = Path(path)
    suffix = suffix_of(path, (".csv", ".json"))
    labels = [
        Label(c.cluster_id, c.name, c.status, c.confidence, c.note, tuple(members.get(c.cluster_id, ())))
        for c in clusters
    ]
    rows = [{**asdict(label), "size": len(label.members), "members": list(label.members)} for label in labels]
    with replacing(path, overwrite) as temporary:
        if suffix == ".json":
            whole = {"kiruviz_labels": 1, "recipe": dict(recipe or {}), "clusters": rows}
            temporary.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8", newline="\n")
        else:
            columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in _LABEL_COLUMNS}
            columns["members"] = [json.dumps(names, ensure_ascii=False) for names in columns["members"]]
            _write_csv(temporary, columns)
    return path


def read_labels(path: Path) -> Labels:
    """What `write_labels` wrote. `UserError` names the file, and the row where one is wrong."""
    path = Path(path)
    suffix = suffix_of(path, (".csv", ".json"))
    try:
        # Spreadsheets put a byte order mark before what they save.
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read as labels ({error}): is it the right file?") from error
    if suffix == ".json":
        return _labels_from_json(path, text)
    with path.open(encoding="utf-8-sig", newline="") as file:
        return Labels(tuple(_label(path, number, row) for number, row in enumerate(_csv_rows(path, file), start=1)))


def _csv_rows(path: Path, file: Iterable[str]) -> list[dict[str, Any]]:
    reader = csv.DictReader(file)
    missing = [name for name in _LABEL_COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise UserError(f"{path} has no column {missing[0]!r}: labels have {', '.join(_LABEL_COLUMNS)}.")
    return [dict(row) for row in reader]


def _labels_from_json(path: Path, text: str) -> Labels:
    try:
        whole = json.loads(text)
        rows, recipe = whole["clusters"], whole.get("recipe", {})
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is not a labels file of KiruViz: export the labels anew.") from error
    labels = tuple(_label(path, number, row) for number, row in enumerate(rows, start=1))
    return Labels(labels, {str(key): str(value) for key, value in recipe.items()})


def _label(path: Path, number: int, row: dict[str, Any]) -> Label:
    try:
        members = row["members"]
        names = cast(list[str], json.loads(members) if isinstance(members, str) else members)
        confidence = None if row["confidence"] in (None, "") else int(row["confidence"])
        label = Label(int(row["cluster"]), row["name"], row["status"], confidence, row["note"], tuple(names))
    except (ValueError, LookupError, TypeError) as error:
        raise UserError(f"{path}, label {number}: {error}: correct that row, or export the labels anew.") from error
    if label.status not in ("unnamed", "named", "resists"):
        raise UserError(f"{path}, label {number}: the status {label.status!r} should be unnamed, named or resists.")
    return label
