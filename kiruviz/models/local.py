"""The models that are on this computer already, wherever another program put them.

Listing reads names, sizes and small manifests; it opens no weights and follows no link out of the folders it
looks through, but for the Hugging Face cache's links to its own contents. What cannot be read is left out
with its reason, and costs the rest of the list nothing.
"""

from __future__ import annotations

from pathlib import Path

from kiruviz.errors import UserError
from kiruviz.models import local_apps, local_hf, starters
from kiruviz.models.hub import SINGLE
from kiruviz.models.hub_look import is_look, looked_repo
from kiruviz.models.local_entry import Found, LocalModel, folders
from kiruviz.paths import cache_dir
from kiruviz.progress import Progress

STARTER, LOOKED = "starter", "looked at"


def list_models(progress: Progress) -> Found:
    """Every model on this computer, place by place: starters, what was looked at, Hugging Face, LM Studio, Ollama."""
    found = Found()
    steps = (_add_starters, _add_looked, local_hf.add_models, local_apps.add_lm_studio, local_apps.add_ollama)
    for number, step in enumerate(steps):
        progress.report(number / len(steps), "Looking for models on this computer")
        step(found)
    return found


def _add_starters(found: Found) -> None:
    for starter in starters.STARTERS.values():
        path = starters.find(starter)
        if path is None:
            found.skip(starter.title, f"it is not installed; `{starter.install_command}` gets it", STARTER)
            continue
        kind = "GGUF" if path.suffix == ".gguf" else "safetensors"
        found.models.append(LocalModel(starter.title, starter.name, kind, path.stat().st_size, STARTER))


def _add_looked(found: Found) -> None:
    for repo in folders(cache_dir("hub")):
        for commit in folders(Path(repo.path)) if repo.is_dir(follow_symlinks=False) else ():
            folder = Path(commit.path)
            if not is_look(folder):
                continue
            try:
                title = looked_repo(folder)
            except UserError as error:
                found.skip(repo.name.replace("--", "/"), str(error), LOOKED)
                continue
            size = (folder / SINGLE).stat().st_size
            found.models.append(LocalModel(title, str(folder), "safetensors", size, LOOKED))
