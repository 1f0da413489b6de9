"""The untitled sessions that a crash or a kill left behind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kiruviz import paths
from kiruviz.errors import UserError
from kiruviz.session.lock import FileLock
from kiruviz.session.store import Session


@dataclass(frozen=True)
class UntitledInfo:
    """An untitled session to offer back: `time` is that of its last action, `named` and `resists` count its
    current clusters, `space_title` is the model and the rows they are of."""

    path: Path
    time: float
    named: int
    resists: int
    space_title: str


def find_untitled() -> list[UntitledInfo]:
    """The untitled sessions with at least one action or saved view that no living process has open, newest first;
    damaged ones and those of a newer version are passed over and stay where they are."""
    found = []
    for path in paths.data_dir("untitled").glob("*.kiru"):
        lock = FileLock.acquire(path)
        if lock is None:
            continue
        try:
            with Session.open_readonly(path) as session:
                info = _describe(session)
        except UserError:
            continue
        finally:
            lock.release()
        if info is not None:
            found.append(info)
    return sorted(found, key=lambda info: info.time, reverse=True)


def _describe(session: Session) -> UntitledInfo | None:
    labels, history = session.labels, session.history()
    if labels is None or not (history or session.saved_views):
        return None
    progress = labels.progress()
    space = session.space(labels.space_id)
    title = ", ".join(part for part in (space.model_title, space.recipe.rows.title) if part)
    return UntitledInfo(
        session.path, history[-1].time if history else labels.created, progress.named, progress.resists, title
    )
