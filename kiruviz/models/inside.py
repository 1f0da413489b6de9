"""Keeping to the folder that was opened: a link in it that leads elsewhere is refused, and code is never run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kiruviz.errors import UserError

_DATA = (
    *(".json", ".txt", ".model", ".safetensors", ".gguf", ".bin", ".pt", ".pth", ".npy", ".npz"),
    *(".vec", ".tsv", ".csv", ".parquet", ".gz", ".jinja"),
)
_CODE_KEYS = ("auto_map", "custom_pipelines")


def check_links(path: Path) -> None:
    """Refuse a folder (or the folder of a file) in which a data file is a link out of it.

    The one exception is the Hugging Face cache, whose revisions consist of links to the cache's own contents.
    A file that the person named is theirs to name, wherever it leads.

    Raises
    ------
    UserError : names the link and what it leads to
    """
    folder = path if path.is_dir() else path.parent
    allowed = roots(folder)
    try:
        with os.scandir(folder) as entries:
            links = [Path(entry.path) for entry in entries if entry.is_symlink() and entry.name.endswith(_DATA)]
    except OSError as error:
        raise UserError(f"{folder} cannot be read ({error.strerror}); check the folder and its permissions.") from error
    for link in sorted(links):
        if link == path:
            continue
        if leads_out(link, allowed):
            raise UserError(
                f"{link} is a link to {os.path.realpath(link)}, outside the model's folder, and is not followed; "
                "put the file itself there, or open the folder it belongs to."
            )


def leads_out(path: Path, allowed: list[Path]) -> bool:
    """Whether a path, all links followed, lies in none of the `allowed` folders (which are real paths)."""
    target = os.path.realpath(path)
    return not any(target == str(root) or target.startswith(f"{root}{os.sep}") for root in allowed)


def roots(folder: Path) -> list[Path]:
    """Where files of a folder may lie: in it, and for a revision in a Hugging Face cache in the cache's contents."""
    real = Path(os.path.realpath(folder))
    model = real.parent.parent
    if real.parent.name == "snapshots" and model.name.startswith("models--"):
        # A newer cache shares contents between models, in a folder of its own beside them.
        return [real, model / "blobs", model.parent / "blobs"]
    return [real]


def code_note(name: str, *configs: Mapping[str, Any]) -> str | None:
    """The note for a model that brings code of its own: it is opened as data, its code is not run."""
    named = sorted({module for config in configs for module in _modules(config)})
    if not named:
        return None
    shown = ", ".join(named[:3]) + (", ..." if len(named) > 3 else "")
    return f"{name} brings code of its own ({shown}), which was not run: only its data was read."


def _modules(config: Mapping[str, Any]) -> list[str]:
    found = []
    for key in _CODE_KEYS:
        value = config.get(key)
        entries = list(value.values()) if isinstance(value, Mapping) else [value]
        flat = [one for entry in entries for one in (entry if isinstance(entry, list) else [entry])]
        # "owner/name--module.Class": the module is what would be run.
        found += [one.rpartition("--")[2].partition(".")[0] + ".py" for one in flat if isinstance(one, str) and one]
    return found
