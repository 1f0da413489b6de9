"""What the list of models on this computer is made of."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kiruviz.models.inside import leads_out

_INDEX, _SINGLE = "model.safetensors.index.json", "model.safetensors"
_PART = re.compile(r"-(\d{5})-of-\d{5}\.gguf$")
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx", ".npz", ".pkl")
# Files of whole model folders that are no language model: the picture encoders that lie beside one.
_NO_MODEL = ("mmproj",)


@dataclass(frozen=True)
class LocalModel:
    """A model on this computer.

    title  what a person calls it
    ref    what `open_model` takes
    kind   `safetensors` or `GGUF`
    size   bytes of its weights
    place  which program, or which cache, has it
    """

    title: str
    ref: str
    kind: str
    size: int
    place: str


@dataclass(frozen=True)
class Skipped:
    """Something that looked like a model and is not listed, and why."""

    what: str
    reason: str
    place: str


@dataclass
class Found:
    """The list while it grows."""

    models: list[LocalModel] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def skip(self, what: str, reason: str, place: str) -> None:
        self.skipped.append(Skipped(what, reason, place))

    def to_json(self) -> dict[str, Any]:
        """The keys of `kiruviz models --json`."""
        return {"models": [asdict(one) for one in self.models], "skipped": [asdict(one) for one in self.skipped]}

    def add_folder(self, title: str, folder: Path, sizes: Mapping[str, int], place: str) -> None:
        """List what a model's folder holds: its safetensors as one model, each GGUF file as one of its own.

        Parameters
        ----------
        sizes : bytes of each file right in the folder, by name
        """
        before = len(self.models)
        tensors = {name: size for name, size in sizes.items() if name.endswith(".safetensors")}
        if _SINGLE in sizes:
            self._add(title, folder, "safetensors", sizes[_SINGLE], place)
        elif _INDEX in sizes or len(tensors) == 1:
            self._add(title, folder, "safetensors", sum(tensors.values()), place)
        else:
            for name in sorted(tensors):
                self._add(f"{title} · {name}", folder / name, "safetensors", tensors[name], place)
        self._add_ggufs(title, folder, sizes, place)
        other = next((name for name in sorted(sizes) if name.endswith(_OTHER_WEIGHTS)), None)
        if len(self.models) == before:
            what = "it holds no weights" if other is None else f"its weights are {other}, which cannot be opened"
            self.skip(title, what, place)

    def _add_ggufs(self, title: str, folder: Path, sizes: Mapping[str, int], place: str) -> None:
        files = sorted(name for name in sizes if name.endswith(".gguf") and not name.startswith(_NO_MODEL))
        parts = [name for name in files if _PART.search(name)]
        for name in parts:
            if _PART.search(name)[1] == "00001":  # type: ignore[index]
                self.skip(f"{title} · {name}", "it lies in several parts, which cannot be opened", place)
        whole = [name for name in files if name not in parts]
        for name in whole:
            shown = title if len(whole) == 1 else f"{title} · {name}"
            self._add(shown, folder / name, "GGUF", sizes[name], place)

    def _add(self, title: str, path: Path, kind: str, size: int, place: str) -> None:
        self.models.append(LocalModel(title, str(path), kind, size, place))


def folders(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The entries of a folder, by name; hidden ones are left out. Raises `OSError` where it cannot be read."""
    with os.scandir(folder) as entries:
        yield from sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda entry: entry.name)


def file_sizes(folder: Path, allowed: list[Path]) -> tuple[dict[str, int], list[str]]:
    """Bytes of each file right in a folder; and the names of those that are gone, or are links out of `allowed`."""
    sizes, lost = {}, []
    for entry in folders(folder):
        try:
            if entry.is_symlink() and leads_out(Path(entry.path), allowed):
                lost.append(entry.name)
            elif entry.is_file():
                sizes[entry.name] = entry.stat().st_size
            elif entry.is_symlink() and not entry.is_dir():
                lost.append(entry.name)
        except OSError:
            lost.append(entry.name)
    return sizes, lost
