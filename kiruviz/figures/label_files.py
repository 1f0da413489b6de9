"""Files of labels, cluster by cluster: written as CSV, JSON or a page to print, and read back exactly.

CSV and JSON hold the clusters with their answers, colours and members, each member by its exact name and its row in
the model's table, and what was set aside. A plain table of one row a word (`token`, `label`, perhaps `row_id`), as a
spreadsheet or `kiruviz map --table` makes it, is read as well.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from kiruviz.errors import UserError
from kiruviz.figures.files import replacing, suffix_of
from kiruviz.figures.tables import write_csv

SUFFIXES = (".csv", ".json", ".html")
READABLE = (".csv", ".json")
STATUSES = ("unnamed", "named", "resists")
COLUMNS = ("cluster", "name", "status", "confidence", "note", "size", "members", "row_ids", "color")
_NEEDED = ("cluster", "name", "status", "confidence", "note", "members")
_VERSION = 1
_ASIDE = "aside"


@dataclass(frozen=True)
class Label:
    """What was decided about one cluster.

    members  its rows' exact names; row_ids of each the row of the table, None for a row that is none; empty where
             the file does not say
    color    index of the palette, None where the file does not say
    """

    cluster: int
    name: str
    status: str
    confidence: int | None
    note: str
    members: tuple[str, ...]
    row_ids: tuple[int | None, ...] = ()
    color: int | None = None


@dataclass(frozen=True)
class Labels:
    """A file of labels: the clusters, the rows that are in none (cluster -1), and in JSON how the map was made."""

    clusters: tuple[Label, ...]
    recipe: dict[str, str] = field(default_factory=dict)
    aside: Label | None = None

    @property
    def groups(self) -> tuple[Label, ...]:
        """The clusters, and what was set aside if there is any."""
        return self.clusters if self.aside is None else (*self.clusters, self.aside)


def write_labels(path: Path, labels: Labels, overwrite: bool = False) -> Path:
    """Write labels as the suffix of `path` says: `.csv`, `.json` or `.html` (a page to print; see `label_page`).

    CSV has no place for the recipe. Raises `UserError` as `files.replacing` does.
    """
    path = Path(path)
    suffix = suffix_of(path, SUFFIXES)
    rows = [_row(label) for label in labels.groups]
    with replacing(path, overwrite) as temporary:
        if suffix == ".html":
            from kiruviz.figures.label_page import page

            temporary.write_text(page(labels), encoding="utf-8", errors="replace", newline="\n")
        elif suffix == ".json":
            whole = {"kiruviz_labels": _VERSION, "recipe": labels.recipe, "clusters": rows}
            temporary.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8", newline="\n")
        else:
            columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in COLUMNS}
            columns["members"] = [json.dumps(names, ensure_ascii=False) for names in columns["members"]]
            columns["row_ids"] = [json.dumps(ids) for ids in columns["row_ids"]]
            write_csv(temporary, columns)
    return path


def _row(label: Label) -> dict[str, Any]:
    return {
        "cluster": label.cluster,
        "name": label.name,
        "status": label.status,
        "confidence": label.confidence,
        "note": label.note,
        "size": len(label.members),
        "members": list(label.members),
        "row_ids": list(label.row_ids),
        "color": label.color,
    }


def aside(members: Sequence[str], row_ids: Sequence[int | None]) -> Label:
    """The rows that are in no cluster, as a file of labels has them."""
    return Label(-1, "", _ASIDE, None, "", tuple(members), tuple(row_ids))


def read_labels(path: Path) -> Labels:
    """Labels from a file that `write_labels` wrote as CSV or JSON, or from a CSV of one row a word.

    A byte order mark, Windows line ends, and semicolons or tabs between the columns are no hindrance. A cluster
    that was given a name by hand while its status still says `unnamed` is named. `UserError` names the file, the
    line (in JSON the entry) and the field of what is wrong.
    """
    path = Path(path)
    suffix = suffix_of(path, READABLE)
    text = _text(path)
    labels = _from_json(path, text) if suffix == ".json" else _from_csv(path, text)
    if not labels.groups:
        raise UserError(f"{path} holds no labels; export them anew or choose another file.")
    return labels


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); choose another file.") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UserError(f"{path}, line {line}: not UTF-8 text; save the file as UTF-8.") from error
    if not text.strip():
        raise UserError(f"{path} is empty; choose a file of labels.")
    return text


# CSV


def _from_csv(path: Path, text: str) -> Labels:
    lines = _lines(path, text)
    _, header = next(lines)
    names = [name.strip().casefold() for name in header]
    if "token" in names and "label" in names and "members" not in names:
        return _from_words(path, names, lines)
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise UserError(
            f"{path}, line 1: there is no column “{missing[0]}”; labels have the columns {', '.join(_NEEDED)}, "
            "a table of words has token and label."
        )
    collect = _Collector()
    for line, values in lines:
        fail = _failing(f"{path}, line {line}")
        row: dict[str, Any] = _as_row(names, values, fail)
        for name in ("members", "row_ids"):
            row[name] = _json_list(row.get(name) or "[]", name, fail)
        collect.add(row, fail)
    return collect.labels({})


def _lines(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """(line in the file, fields) of every row that is not blank."""
    csv.field_size_limit(2**31 - 1)  # the members of a cluster are one field
    first = text.lstrip().split("\n", 1)[0]
    delimiter = "," if "," in first else next((mark for mark in ";\t" if mark in first), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    start = 1
    try:
        for values in reader:
            if any(value.strip() for value in values):
                yield start, values
            start = reader.line_num + 1
    except csv.Error as error:
        raise UserError(f"{path}, line {start}: {error}; correct that line, or export the labels anew.") from error


def _as_row(names: list[str], values: list[str], fail: Fail) -> dict[str, Any]:
    if len(values) < len(names):
        fail(names[len(values)], "is missing")
    if len(values) > len(names):
        fail(names[-1], f"is followed by {len(values) - len(names)} more; put quotes around what holds a comma")
    return dict(zip(names, values, strict=True))


def _from_words(path: Path, names: list[str], lines: Iterator[tuple[int, list[str]]]) -> Labels:
    """A table of one row a word: rows of the same cluster, or else of the same label, belong together."""
    collect, groups = _Collector(), _Groups()
    for line, values in lines:
        groups.add(_as_row(names, values, fail := _failing(f"{path}, line {line}")), fail)
    for row, fail in groups.found.values():
        collect.add(row, fail)
    return collect.labels({})


class _Groups:
    """Rows of words put together; what is said of a cluster stands in each of its rows and must be the same."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[dict[str, Any], Fail]] = {}

    def add(self, row: dict[str, str], fail: Fail) -> None:
        label, cluster = row["label"].strip(), row.get("cluster", "").strip()
        key = cluster or (f"label {label}" if label or row.get("status", "").strip() == "resists" else "-1")
        said = {
            "cluster": cluster or (str(len(self.found)) if key != "-1" else "-1"),
            "name": label,
            "status": row.get("status", "").strip() or ("named" if label else "unnamed"),
            "confidence": row.get("confidence", ""),
            "note": row.get("note", ""),
        }
        if key == "-1":
            said = said | {"name": "", "status": _ASIDE}
        group, _ = self.found.setdefault(key, (said | {"members": [], "row_ids": []}, fail))
        for name in ("name", "status", "confidence", "note"):
            if group[name] != said[name]:
                fail("label" if name == "name" else name, f"is not that of the rows of cluster {key} above")
        group["members"].append(row["token"])
        if "row_id" in row:
            group["row_ids"].append(_whole(row["row_id"], "row_id", fail) if row["row_id"].strip() else None)


# JSON


def _from_json(path: Path, text: str) -> Labels:
    try:
        whole = json.loads(text)
        rows, recipe, version = whole["clusters"], whole.get("recipe") or {}, whole.get("kiruviz_labels", _VERSION)
        recipe = {str(key): str(value) for key, value in recipe.items()}
        newer = int(version) > _VERSION
        entries = list(rows)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(f"{path} is not a labels file of KiruViz; export the labels anew.") from error
    if newer:
        raise UserError(f"{path} was written by a newer KiruViz; update KiruViz to read it.")
    collect = _Collector()
    for number, row in enumerate(entries):
        fail = _failing(f"{path}, clusters[{number}]")
        if not isinstance(row, dict):
            fail("cluster", "should be in an object with the fields of a cluster")
        for name in _NEEDED:
            if name not in row:
                fail(name, "is missing")
        collect.add(row, fail)
    return collect.labels(recipe)


def _json_list(text: str, name: str, fail: Fail) -> list[Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        fail(name, 'should be a JSON list such as ["king", "queen"]')
    if not isinstance(value, list):
        fail(name, 'should be a JSON list such as ["king", "queen"]')
    return value


# One cluster

Fail = Callable[[str, str], NoReturn]


def _failing(place: str) -> Fail:
    def fail(name: str, what: str) -> NoReturn:
        raise UserError(f"{place}, field {name}: {what}.")

    return fail


class _Collector:
    """Clusters one by one, checked each and against those before."""

    def __init__(self) -> None:
        self._clusters: dict[int, Label] = {}
        self._owners: dict[object, int] = {}

    def add(self, row: Mapping[str, Any], fail: Fail) -> None:
        label = _label(row, fail)
        if label.cluster in self._clusters:
            fail("cluster", f"{label.cluster} is there twice")
        self._clusters[label.cluster] = label
        ids = label.row_ids or (None,) * len(label.members)
        for name, number in zip(label.members, ids, strict=True):
            if (name, number) in self._owners:
                fail("members", f"“{name}” is a member of cluster {self._owners[name, number]} already")
            self._owners[name, number] = label.cluster

    def labels(self, recipe: dict[str, str]) -> Labels:
        clusters = tuple(label for label in self._clusters.values() if label.cluster >= 0)
        return Labels(clusters, recipe, self._clusters.get(-1))


def _label(row: Mapping[str, Any], fail: Fail) -> Label:
    number = _whole(row["cluster"], "cluster", fail)
    if number < -1:
        fail("cluster", f"{number} should be 0 or more, or -1 for what was set aside")
    name, note = _string(row["name"], "name", fail).strip(), _string(row["note"], "note", fail)
    members, row_ids = row["members"], row.get("row_ids") or []
    if not isinstance(members, list) or not all(isinstance(member, str) for member in members):
        fail("members", "should be a list of names")
    if not isinstance(row_ids, list) or not all(n is None or _is_whole(n) for n in row_ids):
        fail("row_ids", "should be a list of row numbers or null")
    if row_ids and len(row_ids) != len(members):
        fail("row_ids", f"has {len(row_ids)} numbers for {len(members)} members")
    color = row.get("color")
    return Label(
        number,
        name,
        _status(row["status"], name, number, fail),
        _confidence(row["confidence"], fail),
        note,
        tuple(members),
        tuple(row_ids),
        None if color in (None, "") else max(_whole(color, "color", fail), 0),
    )


def _status(value: object, name: str, number: int, fail: Fail) -> str:
    status = value.strip().casefold() if isinstance(value, str) else value
    if number == -1:
        if status not in (_ASIDE, "", None, "unnamed"):
            fail("status", f"“{value}” of cluster -1 should be {_ASIDE}: its rows are in no cluster")
        return _ASIDE
    if status not in STATUSES:
        fail("status", f"“{value}” should be unnamed, named or resists")
    if status == "named" and not name:
        fail("name", "is empty although the status is named")
    if status == "resists" and name:
        fail("status", f"resists naming, yet there is the name “{name}”")
    return "named" if name else str(status)


def _confidence(value: object, fail: Fail) -> int | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    number = _whole(value, "confidence", fail)
    if number not in (1, 2, 3):
        fail("confidence", f"{number} should be 1, 2 or 3, or empty")
    return number


def _string(value: object, name: str, fail: Fail) -> str:
    if not isinstance(value, str):
        fail(name, "should be text")
    return value


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _whole(value: object, name: str, fail: Fail) -> int:
    """A whole number, also as the text that spreadsheets make of it (`3.0`)."""
    if _is_whole(value):
        assert isinstance(value, int)
        return value
    try:
        number = float(value) if isinstance(value, (str, float)) else float("nan")
    except ValueError:
        number = float("nan")
    if not number.is_integer() or abs(number) > 2**31:
        fail(name, f"“{value}” should be a whole number")
    return int(number)
