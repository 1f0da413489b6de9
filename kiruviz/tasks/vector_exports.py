"""The rows of a map for other programs: Embedding Projector, embedding-atlas, word2vec text, NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kiruviz.errors import UserError
from kiruviz.models.vectors import projector, write
from kiruviz.models.vectors.table import VectorTable
from kiruviz.progress import Progress
from kiruviz.session.store import Session
from kiruviz.tasks.exports import SessionMap, read_map
from kiruviz.tasks.spaces import space

Target = Literal["projector", "atlas", "word2vec", "npz"]
TARGETS: tuple[Target, ...] = ("projector", "atlas", "word2vec", "npz")
SUFFIXES: dict[Target, tuple[str, ...]] = {
    "atlas": (".parquet",),
    "word2vec": (".txt", ".vec"),
    "npz": (".npz",),
}


def export_vectors(progress: Progress, session_path: str, target: Target, out: str, overwrite: bool = False) -> str:
    """Write the map's vectors, as they were mapped, with names, places and labels; the path written.

    `projector` writes three files into the folder `out`, which is made if it is not there; the others one file.

    Raises
    ------
    UserError : no map, its model is gone or another, or what is there may not be replaced
    """
    path = Path(out)
    check_target(target, path, overwrite)
    progress.report(None, "Reading the rows")
    with Session.open_readonly(session_path) as session:
        found, _ = read_map(session)
    table = _table(found)
    written: Callable[[float], None] = lambda share: progress.report(share, "Writing the vectors")  # noqa: E731
    try:
        if target == "projector":
            path.mkdir(exist_ok=True)
            write.to_projector(path, table, written)
        else:
            writers = {"atlas": write.to_atlas, "word2vec": write.to_word2vec, "npz": write.to_npz}
            writers[target](path, table, written)
    except OSError as error:
        raise UserError(
            f"{path} could not be written ({error.strerror}): free some space or choose another."
        ) from error
    return str(path)


def export_by_name(progress: Progress, session_path: str, out: str, overwrite: bool = False) -> str:
    """`export_vectors` to what the name `out` says by its suffix; one without a suffix is the projector's folder."""
    suffix = Path(out).suffix.lower()
    found = next((target for target, suffixes in SUFFIXES.items() if suffix in suffixes), None)
    if found is None and suffix:
        known = ", ".join(one for suffixes in SUFFIXES.values() for one in suffixes)
        raise UserError(f"{out} should end in {known}, or have no suffix for the Embedding Projector's folder.")
    return export_vectors(progress, session_path, found or "projector", out, overwrite)


def check_targets(source: Path, targets: Mapping[Target, Path], overwrite: bool) -> None:
    """`check_target` for all of them, before the first is written; vectors come from a session only."""
    if targets and source.suffix.lower() != ".kiru":
        raise UserError(f"{source} is no session (.kiru), and vectors are exported from one.")
    for target, path in targets.items():
        check_target(target, path, overwrite)


def check_target(target: Target, path: Path, overwrite: bool) -> None:
    """Raise UserError where writing there would fail or replace something unasked."""
    if not path.parent.is_dir():
        raise UserError(f"The folder {path.parent} does not exist: make it first, or choose another folder.")
    if target == "projector":
        if path.exists() and not path.is_dir():
            raise UserError(f"{path} is a file: give the name of a folder for the projector's files.")
        there = [name for name in (write.VECTORS, write.METADATA, projector.CONFIG) if (path / name).exists()]
        if there and not overwrite:
            raise UserError(f"{path} holds {there[0]} already: choose another folder, or allow it to be overwritten.")
        return
    if path.suffix.lower() not in SUFFIXES[target]:
        raise UserError(f"{path} should end in {' or '.join(SUFFIXES[target])}, which says the format.")
    if path.is_dir():
        raise UserError(f"{path} is a folder: give the name of a file in it.")
    if path.exists() and not overwrite:
        raise UserError(f"{path} exists already: choose another name, or allow it to be overwritten (--overwrite).")


def _table(found: SessionMap) -> VectorTable:
    record, labels = found.record, found.labels
    columns: dict[str, npt.NDArray[Any]] = {"row_id": record.row_ids.astype(np.float64)}
    for i, title in enumerate("xyz"[: found.projection.coords.shape[1]]):
        columns[title] = found.projection.coords[:, i].astype(np.float64)
    if labels is not None:
        names = {cluster_id: cluster.name for cluster_id, cluster in labels.clusters.items()}
        columns["cluster"] = labels.assignment.astype(np.float64)
        columns["label"] = np.array([names.get(i, "") for i in labels.assignment.tolist()], np.str_)
    columns |= {title: column for title, column in record.columns.items() if title not in columns}
    columns = {t: c if c.dtype.kind == "U" else c.astype(np.float64) for t, c in columns.items()}
    return VectorTable(space(record.recipe).vectors, record.names, columns)
