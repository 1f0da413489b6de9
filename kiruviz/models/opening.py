"""Opening what a person names: a starter, a Hugging Face folder, a safetensors or a GGUF file, a Hub name.

Nothing in a model's files is executed, and nothing is fetched: a path is a path, and a Hub name is what was
fetched before.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kiruviz.errors import UserError
from kiruviz.models import cache, facts, gguf_model, hub_look, hub_place, inside
from kiruviz.models import tokenizer as tokenizers
from kiruviz.models.checkpoint import Card, Checkpoint
from kiruviz.models.gguf_file import GgufFile
from kiruviz.models.identity import hash_parts
from kiruviz.models.layout import Layout, find_layout
from kiruviz.models.starters import STARTERS, locate
from kiruviz.models.tensors import FloatArray, SafetensorsStore, TensorStore, write_safetensors
from kiruviz.models.tokenizer import Tokenizer, json_object
from kiruviz.progress import Progress, Silent

_OPENABLE = "a folder with config.json and model.safetensors, a .safetensors file or a .gguf file"
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx", ".npz", ".pkl")


@dataclass(frozen=True)
class _Parts:
    """What every format comes down to before the card is made."""

    name: str
    path: Path
    config: dict[str, Any]
    config_bytes: bytes
    store: TensorStore
    tokenizer_bytes: Callable[[], bytes]
    tokenizer: Callable[[], Tokenizer | None]
    extra_files: tuple[Path, ...]
    notes: tuple[str, ...] = ()


def open_model(ref: str, progress: Progress = Silent()) -> Checkpoint:  # noqa: B008 - Silent has no state
    """Open a model: an existing path wins, then the starters `smollm2` and `minilm`, then a Hub name.

    A Hub name opens what was downloaded, else what was looked at; nothing is fetched.

    Parameters
    ----------
    ref : what the person named

    Raises
    ------
    UserError : nothing there, or nothing that can be opened
    """
    path = Path(ref).expanduser()
    if ref and _exists(path):
        return _open_path(path, ref, None, progress)
    starter = STARTERS.get(ref)
    if starter is not None:
        file = locate(starter, progress)
        inside = file.parent if file.suffix == ".safetensors" else file
        return _open_path(inside, ref, starter.title, progress)
    return _open_hub(ref, progress)


def fetched_folder(ref: str) -> Path | None:
    """Where a Hub name was downloaded to, else what was fetched by looking; None for all else, and a path is a path.

    Raises
    ------
    UserError : several revisions are there and none was named
    """
    if not ref or _exists(Path(ref).expanduser()) or ref in STARTERS:
        return None
    name = hub_place.parse(ref)
    return None if name is None else hub_place.snapshot(name) or hub_place.looked(name)


def _open_hub(ref: str, progress: Progress) -> Checkpoint:
    name, fetched = hub_place.parse(ref), fetched_folder(ref)
    if name and fetched:
        return _open_path(fetched, ref, name.repo, progress)
    if name and name.has_owner:
        raise UserError(
            f"{ref!r} is not on this computer, neither as a file or folder nor fetched from a Hub: "
            f"`kiruviz fetch {ref}` downloads it, with --look only its table, and a starter opens at once "
            f"({', '.join(STARTERS)})."
        )
    raise UserError(
        f"There is no file or folder {ref!r}; give the folder or file of a model, the name of a model on a Hub "
        f"(OWNER/NAME), or a starter ({', '.join(STARTERS)})."
    )


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long, or with a NUL, to be a path at all
        return False


def _open_path(path: Path, ref: str, title: str | None, progress: Progress) -> Checkpoint:
    inside.check_links(path)
    if hub_look.is_look(path):
        parts = _looked(path)
    elif path.is_dir():
        parts = _folder(path)
    elif path.suffix == ".safetensors":
        parts = _beside(path, [path])
    elif path.suffix == ".gguf" or _magic(path) == b"GGUF":  # Ollama's files have no ending
        parts = _gguf(path)
    elif path.name.endswith(".safetensors.index.json"):
        parts = _beside(path, _shards(path))
    else:
        raise UserError(f"{path} is not a model that can be opened; bring {_OPENABLE}.")
    return _checkpoint(parts, ref, title or parts.name, progress)


def _magic(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4)
    except OSError:
        return b""


def _looked(folder: Path) -> _Parts:
    """A model of which the table was fetched, and nothing else of its weights."""
    store = hub_look.LookedStore(folder)
    parts = _beside(store.files[0], store.files[:1], store.repo)
    return replace(parts, store=store, notes=(*parts.notes, store.note))


def _folder(folder: Path) -> _Parts:
    """A Hugging Face folder."""
    single, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if single.is_file():
        return _beside(single, [single])
    if index.is_file():
        return _beside(index, _shards(index))
    weights = sorted(folder.glob("*.safetensors"))
    if len(weights) == 1:
        return _beside(weights[0], weights)
    quantised = sorted(folder.glob("*.gguf"))
    if len(quantised) == 1:
        return _gguf(quantised[0])
    found = weights or quantised
    if found:
        names = ", ".join(file.name for file in found[:4])
        raise UserError(f"{folder} holds several weight files ({names}); open one of them by its own path.")
    other = sorted(file.name for file in folder.iterdir() if file.suffix in _OTHER_WEIGHTS)
    if other:
        raise UserError(f"{folder} holds {other[0]}, which cannot be opened; bring the model as safetensors or GGUF.")
    raise UserError(f"{folder} holds no weights (model.safetensors or a .gguf file); bring the whole model folder.")


def _beside(weights: Path, files: list[Path], name: str | None = None) -> _Parts:
    """Safetensors weights with config.json and the tokenizer in the same folder."""
    folder = weights.resolve().parent if weights.parent == Path() else weights.parent
    config = folder / "config.json"
    if not config.is_file():
        raise UserError(f"{folder} has no config.json beside {weights.name}; put the model's config.json there.")
    beside = tuple(folder / file for file in tokenizers.FILES if (folder / file).is_file())
    name = name or _folder_name(folder)
    return _Parts(
        name=name,
        path=weights,
        config=json_object(config),
        config_bytes=config.read_bytes(),
        store=SafetensorsStore(files),
        tokenizer_bytes=lambda: b"\0".join(tokenizers.read_bytes(file) for file in beside),
        tokenizer=lambda: tokenizers.from_folder(folder),
        extra_files=(config, *beside),
        notes=_notes(name, folder, config),
    )


def _notes(name: str, folder: Path, config: Path) -> tuple[str, ...]:
    settings: dict[str, Any] = {}
    with suppress(UserError):  # a damaged one matters only where the tokenizer is made from it
        settings = json_object(folder / "tokenizer_config.json")
    note = inside.code_note(name, json_object(config), settings)
    return () if note is None else (note,)


def _folder_name(folder: Path) -> str:
    """The folder's name; in a Hub cache the model's, which stands two folders up."""
    for part in (folder.name, *(parent.name for parent in folder.parents[:2])):
        if part.startswith("models--"):
            return part.removeprefix("models--").replace("--", "/")
    return folder.resolve().name


def _shards(index: Path) -> list[Path]:
    """The files an index names, all inside its own folder."""
    named = json_object(index).get("weight_map")
    if not isinstance(named, dict) or not named or not all(isinstance(name, str) for name in named.values()):
        raise UserError(f"{index} names no weight files (weight_map); fetch it again.")
    files = []
    for name in sorted(set(named.values())):
        if Path(name).name != name or "\\" in name or name in ("", ".", ".."):
            raise UserError(f"{index} names a file outside its folder ({name!r}); fetch the model again.")
        if not (index.parent / name).is_file():
            raise UserError(f"{index} names {name}, which is not in the folder; fetch the missing file.")
        files.append(index.parent / name)
    store = SafetensorsStore(files)
    missing = next((tensor for tensor in named if tensor not in store.infos), None)
    if missing is not None:
        raise UserError(f"{index} names tensor {missing}, which {named[missing]} does not hold; fetch that file again.")
    return files


def _gguf(path: Path) -> _Parts:
    file = GgufFile(path)
    title = file.metadata.get("general.name")
    return _Parts(
        name=title if isinstance(title, str) and title else path.stem,
        path=path,
        config=gguf_model.config_of(file),
        config_bytes=b"",
        store=file,
        tokenizer_bytes=lambda: b"",  # config and tokenizer are in the header, which is hashed
        tokenizer=lambda: _gguf_tokenizer(file),
        extra_files=(),
    )


def _gguf_tokenizer(file: GgufFile) -> Tokenizer | None:
    data = gguf_model.tokenizer_json(file)
    return None if data is None else Tokenizer(data, str(file.path))


def _checkpoint(parts: _Parts, ref: str, name: str, progress: Progress) -> Checkpoint:
    layout = find_layout(parts.store, parts.config, str(parts.path))
    files = [*parts.store.files, *parts.extra_files]
    memo = cache.remembered("identity-1", files, lambda: _identify(parts, layout, progress))
    card = _card(parts, layout, ref, name, memo)
    folder = cache.model_folder(card.identity)
    if isinstance(parts.store, GgufFile):
        store = parts.store
        return Checkpoint(
            card, parts.config, store, layout,
            lambda: _cached_tokenizer(folder, parts),
            lambda tensor: _cached_table(folder, store, tensor),
        )  # fmt: skip
    return Checkpoint(card, parts.config, parts.store, layout, parts.tokenizer, parts.store.read)


def _identify(parts: _Parts, layout: Layout, progress: Progress) -> dict[str, Any]:
    """Identity and the number of rows without a token: both need a look at whole files."""
    labelled: list[tuple[str, bytes | memoryview]] = [
        ("config", parts.config_bytes),
        ("tokenizer", parts.tokenizer_bytes()),
        *parts.store.headers,
        ("table", parts.store.raw(layout.token)),
    ]
    identity = hash_parts(labelled, progress)
    tokenizer, rows = parts.tokenizer(), parts.store.infos[layout.token].shape[0]
    pointed = rows if tokenizer is None else sum(0 <= row < rows for row in tokenizer.tokens)
    return {"identity": identity, "rows_without_token": rows - pointed}


def _card(parts: _Parts, layout: Layout, ref: str, name: str, memo: dict[str, Any]) -> Card:
    config, table = parts.config, parts.store.infos[layout.token]
    scheme = facts.position_scheme(config, parts.store.infos)
    return Card(
        name=name,
        identity=memo["identity"],
        model_type=facts.model_type(config),
        vocab_size=table.shape[0],
        hidden_size=facts.hidden_size(config) or table.shape[1],
        num_layers=facts.num_layers(config),
        num_heads=facts.num_heads(config),
        num_kv_heads=facts.num_kv_heads(config),
        head_dim=facts.head_dim(config),
        tied=layout.tied,
        position_scheme=scheme,
        rope_theta=facts.rope_theta(config) if scheme == "rotary" else None,
        max_positions=facts.max_positions(config, scheme),
        dtype=table.dtype,
        rows_without_token=memo["rows_without_token"],
        path=str(parts.path.absolute()),
        file_bytes=sum(file.stat().st_size for file in parts.store.files),
        source=ref,
        notes=parts.notes,
    )


def _cached_tokenizer(folder: Path, parts: _Parts) -> Tokenizer | None:
    """A GGUF file's tokenizer, kept as tokenizer.json."""
    path = folder / "tokenizer.json"
    if path.is_file():
        return Tokenizer(path.read_bytes(), str(parts.path))
    made = parts.tokenizer()
    if made is not None:
        cache.write_quietly(path, lambda out: out.write(made.data))
    return made


def _cached_table(folder: Path, store: GgufFile, name: str) -> FloatArray:
    """A GGUF tensor dequantised once, then memory-mapped from the cache."""
    if store.infos[name].dtype == "F32":
        return store.read(name)
    path = folder / f"{name}.safetensors"
    try:
        return SafetensorsStore([path]).read(name)
    except (UserError, KeyError):
        rows = store.read(name)
    if not cache.write_quietly(path, lambda out: write_safetensors(out, name, rows)):
        return rows
    return SafetensorsStore([path]).read(name)
