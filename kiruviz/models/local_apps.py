"""The models of LM Studio and Ollama.

LM Studio keeps `publisher/model/*.gguf` in a models folder: `~/.lmstudio/models`, formerly
`~/.cache/lm-studio/models`, or where its settings (`downloadsFolder`) point; a pointer file names its home.
Ollama keeps manifests, small JSON files a tag, that name the model's GGUF file by its SHA-256 among the blobs.
Source: the folders these programs make; https://github.com/ollama/ollama/blob/main/docs/faq.md for its places.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from kiruviz.models.inside import leads_out
from kiruviz.models.local_entry import Found, LocalModel, file_sizes, folders

LM_STUDIO, OLLAMA = "LM Studio", "Ollama"

_DIGEST = re.compile(r"sha256[:-]([0-9a-f]{64})")
_MODEL_LAYER = "application/vnd.ollama.image.model"
_LARGEST_MANIFEST = 1 << 20
_MOST = 100_000  # folders: beyond, it is not a models folder that was pointed to


def add_lm_studio(found: Found) -> None:
    """List the models of LM Studio's folders."""
    seen: set[str] = set()
    for root in _lm_studio_folders():
        real = os.path.realpath(root)
        try:
            if real in seen or not root.is_dir():
                continue
        except OSError:  # no name of a folder at all
            continue
        seen.add(real)
        for title, folder in _two_deep(found, root):
            try:
                sizes, lost = file_sizes(folder, [Path(real)])
            except OSError as error:
                found.skip(title, f"its folder cannot be read ({error.strerror})", LM_STUDIO)
                continue
            for name in lost:
                found.skip(f"{title} · {name}", "it is missing, or a link out of the models folder", LM_STUDIO)
            if any(name.endswith((".gguf", ".safetensors")) for name in sizes):
                found.add_folder(title, folder, sizes, LM_STUDIO)


def _two_deep(found: Found, root: Path) -> Iterator[tuple[str, Path]]:
    """(publisher/model, folder) of each model folder."""
    count = 0
    for publisher in _inner(found, root, root.name):
        for model in _inner(found, publisher, publisher.name):
            count += 1
            if count > _MOST:
                found.skip(str(root), "it holds too many folders to be LM Studio's; the rest is left out", LM_STUDIO)
                return
            yield f"{publisher.name}/{model.name}", model


def _inner(found: Found, folder: Path, title: str) -> Iterator[Path]:
    try:
        for entry in folders(folder):
            if entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)
            elif entry.is_symlink() and entry.is_dir():
                found.skip(f"{title}/{entry.name}", "its folder is a link, which is not followed", LM_STUDIO)
    except OSError as error:
        found.skip(title, f"its folder cannot be read ({error.strerror})", LM_STUDIO)


def _lm_studio_folders() -> Iterator[Path]:
    """Where LM Studio may keep its models: what its settings say, then the usual places."""
    home = Path.home()
    homes = [home / ".lmstudio", home / ".cache/lm-studio"]
    with suppress(OSError, UnicodeDecodeError, ValueError, IndexError):
        homes.insert(0, Path((home / ".lmstudio-home-pointer").read_text(encoding="utf-8").strip().splitlines()[0]))
    for settings in (*(one / "settings.json" for one in homes), _application_folder(home) / "LM Studio/settings.json"):
        with suppress(OSError, ValueError, TypeError, KeyError):
            named = Path(_small_json(settings)["downloadsFolder"]).expanduser()
            if named.is_absolute():
                yield named
    for one in homes:
        yield one / "models"


def _application_folder(home: Path) -> Path:
    """Where programs of this kind keep their settings on this system."""
    if sys.platform == "darwin":
        return home / "Library/Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or home / "AppData/Roaming")
    return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")


def _small_json(path: Path) -> Any:
    """A small JSON file. Raises `OSError` or `ValueError`."""
    if path.stat().st_size > _LARGEST_MANIFEST:
        raise ValueError("too large")
    try:
        return json.loads(path.read_bytes())
    except RecursionError as error:
        raise ValueError("nested without end") from error


def add_ollama(found: Found) -> None:
    """List the models that Ollama's manifests name."""
    for root in _ollama_folders():
        manifests = root / "manifests"
        if not manifests.is_dir():
            continue
        for path in _files_below(found, manifests):
            registry_path = path.relative_to(manifests).parts
            title = _ollama_title(registry_path)
            try:
                model = _ollama_model(root, path, title)
            except OSError as error:
                found.skip(title, f"it cannot be read ({error.strerror})", OLLAMA)
            except ValueError as error:
                found.skip(title, str(error), OLLAMA)
            else:
                found.models.append(model)


def _ollama_folders() -> list[Path]:
    named = os.environ.get("OLLAMA_MODELS")
    if named:
        return [Path(named).expanduser()]
    usual = [Path.home() / ".ollama/models"]
    if sys.platform == "linux":
        usual.append(Path("/usr/share/ollama/.ollama/models"))  # of its system service
    return usual


def _files_below(found: Found, folder: Path, depth: int = 6) -> Iterator[Path]:
    """Plain files below a folder; links are left out."""
    try:
        entries = list(folders(folder))
    except OSError as error:
        found.skip(folder.name, f"its folder cannot be read ({error.strerror})", OLLAMA)
        return
    for entry in entries:
        if entry.is_file(follow_symlinks=False):
            yield Path(entry.path)
        elif depth and entry.is_dir(follow_symlinks=False):
            yield from _files_below(found, Path(entry.path), depth - 1)


def _ollama_title(parts: tuple[str, ...]) -> str:
    """`model:tag` of Ollama's own library, else `namespace/model:tag`, as its list says it."""
    *path, tag = parts
    named = path[1:] if len(path) > 1 else path
    if len(named) > 1 and named[0] == "library":
        named = named[1:]
    return f"{'/'.join(named)}:{tag}"


def _ollama_model(root: Path, manifest: Path, title: str) -> LocalModel:
    """The model a manifest names. Raises `ValueError` with the reason, or `OSError`, where there is none."""
    try:
        layers = _small_json(manifest)["layers"]
        digests = [str(one["digest"]) for one in layers if one.get("mediaType") == _MODEL_LAYER]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError("its manifest cannot be understood") from error
    digest = _DIGEST.fullmatch(digests[0]) if digests else None
    if digest is None:
        raise ValueError("its manifest names no model file")
    blobs = root / "blobs"
    for name in (f"sha256-{digest[1]}", f"sha256:{digest[1]}"):
        blob = blobs / name
        if blob.is_file():
            if leads_out(blob, [Path(os.path.realpath(blobs))]):
                raise ValueError("its file is a link out of Ollama's folder")
            return LocalModel(title, str(blob), "GGUF", blob.stat().st_size, OLLAMA)
    raise ValueError("its file is missing; its download was not finished")
