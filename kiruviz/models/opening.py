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
from kiruviz.models import cache, facts, gguf_model, hub_look, hub_place, inside, weights
from kiruviz.models import tokenizer as tokenizers
from kiruviz.models.attach import attached
from kiruviz.models.checkpoint import Card, Checkpoint
from kiruviz.models.gguf_file import GgufFile
from kiruviz.models.identity import hash_parts
from kiruviz.models.layout import Layout, find_layout
from kiruviz.models.starters import STARTERS, locate
from kiruviz.models.tensors import FloatArray, SafetensorsStore, TensorStore, write_safetensors
from kiruviz.models.tokenizer import Tokenizer
from kiruviz.models.tokenizer_json import json_object, read_bytes
from kiruviz.models.torch_file import TorchStore
from kiruviz.models.vectors import projector
from kiruviz.models.vectors.opened import VECTOR_FORMATS, open_vectors
from kiruviz.models.vectors.sniff import format_of, is_only_words
from kiruviz.progress import Progress, Silent

_OPENABLE = (
    "a model folder (config.json and weights), a .safetensors, .gguf or PyTorch file, or a file of vectors (word2vec, "
    "GloVe, fastText, Embedding Projector TSV, CSV, Parquet, .npy, .npz)"
)


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
        return _open_path(path, None, ref, None, progress)
    before, _, table = ref.rpartition("::")
    if before and _exists(path := Path(before).expanduser()):
        return _open_path(path, table, ref, None, progress)
    starter = STARTERS.get(ref)
    if starter is not None:
        file = locate(starter, progress)
        place = file.parent if file.suffix == ".safetensors" else file
        return _open_path(place, None, ref, starter.title, progress)
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
        return _open_path(fetched, None, ref, name.repo, progress)
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


def _open_path(path: Path, table: str | None, ref: str, title: str | None, progress: Progress) -> Checkpoint:
    inside.check_links(path)
    if path.is_dir() and (path / projector.CONFIG).is_file():
        return open_vectors(path / projector.CONFIG, table, ref, progress)
    if hub_look.is_look(path):
        parts = _looked(path)
    elif path.is_dir():
        parts = _folder(path)
    elif path.name == "config.json":
        parts = _folder(path.parent)
    elif not path.name.endswith(weights.INDEX) and (found := format_of(path)) in VECTOR_FORMATS:
        if found == "text" and is_only_words(path):
            raise UserError(f"{path} is not a model that can be opened; bring {_OPENABLE}.")
        return open_vectors(path, table, ref, progress)
    else:
        parts = _file(path)
    return _checkpoint(parts, table, ref, title or parts.name, progress)


def _looked(folder: Path) -> _Parts:
    """A model of which the table was fetched, and nothing else of its weights."""
    store = hub_look.LookedStore(folder)
    parts = _beside(store.files[0], store, store.repo)
    return replace(parts, notes=(*parts.notes, store.note))


def _folder(folder: Path) -> _Parts:
    """A Hugging Face folder; with a configuration and no weights it still has a card."""
    found = weights.find(folder)
    if found is not None:
        return _file(found)
    if (folder / "config.json").is_file():
        return _beside(folder / "config.json", weights.NoWeights())
    raise UserError(f"{folder} holds no weights and no config.json; bring {_OPENABLE}.")


def _file(path: Path) -> _Parts:
    """A file of weights, with what stands beside it."""
    if path.name.endswith(weights.INDEX):
        return _beside(path, weights.sharded(path))
    found = format_of(path)
    if found == "gguf":  # by its first bytes: Ollama's files have no ending
        return _gguf(path)
    if found == "torch":
        return _beside(path, TorchStore([path]))
    if found == "safetensors":
        return _beside(path, SafetensorsStore([path]))
    raise UserError(f"{path} is not a model that can be opened; bring {_OPENABLE}.")


def _beside(path: Path, store: TensorStore, name: str | None = None) -> _Parts:
    """Weights with config.json and the tokenizer in the same folder, as far as they are there."""
    folder = path.resolve().parent if path.parent == Path() else path.parent
    config = folder / "config.json"
    beside = tuple(folder / file for file in tokenizers.FILES if (folder / file).is_file())
    has_config = config.is_file()
    name = name or _folder_name(folder)
    return _Parts(
        name=name,
        path=path,
        config=json_object(config) if has_config else {},
        config_bytes=config.read_bytes() if has_config else b"",
        store=store,
        tokenizer_bytes=lambda: b"\0".join(read_bytes(file) for file in beside),
        tokenizer=lambda: tokenizers.from_folder(folder),
        extra_files=(*([config] if has_config else ()), *beside),
        notes=_notes(name, folder, config) if has_config else (),
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


def _checkpoint(parts: _Parts, table: str | None, ref: str, name: str, progress: Progress) -> Checkpoint:
    layout = _layout(parts, table)
    files = [*parts.store.files, *parts.extra_files]
    what = "identity-1" if table is None else f"identity-1 {table}"
    memo = cache.remembered(what, files, lambda: _identify(parts, layout, progress))
    card = _card(parts, layout, ref, name, memo)
    folder = cache.model_folder(card.identity)
    if isinstance(parts.store, GgufFile):
        store = parts.store
        return Checkpoint(
            card, parts.config, store, layout,
            lambda: _cached_tokenizer(folder, parts),
            lambda tensor: _cached_table(folder, store, tensor),
        )  # fmt: skip
    return Checkpoint(
        card, parts.config, parts.store, layout, lambda: parts.tokenizer() or attached(card.identity), parts.store.read
    )


def _layout(parts: _Parts, table: str | None) -> Layout | None:
    """The tables: those recognised, or the one the person named; None for a folder without weights."""
    infos = parts.store.infos
    if not infos:
        return None
    if table is None:
        return find_layout(parts.store, parts.config, parts.path)
    if table not in infos or len(infos[table].shape) != 2:
        raise UserError(f"{parts.path} has no tensor {table!r} of two dimensions; it lists what it has without “::”.")
    return Layout(table, None)


def _identify(parts: _Parts, layout: Layout | None, progress: Progress) -> dict[str, Any]:
    """Identity and the number of rows without a token: both need a look at whole files."""
    labelled: list[tuple[str, bytes | memoryview]] = [
        ("config", parts.config_bytes),
        ("tokenizer", parts.tokenizer_bytes()),
        *parts.store.headers,
    ]
    if layout is None:
        return {"identity": hash_parts(labelled, progress), "rows_without_token": 0}
    identity = hash_parts([*labelled, ("table", parts.store.raw(layout.token))], progress)
    tokenizer, rows = parts.tokenizer(), parts.store.infos[layout.token].shape[0]
    pointed = rows if tokenizer is None else sum(0 <= row < rows for row in tokenizer.tokens)
    return {"identity": identity, "rows_without_token": rows - pointed}


def _card(parts: _Parts, layout: Layout | None, ref: str, name: str, memo: dict[str, Any]) -> Card:
    config = parts.config
    table = None if layout is None else parts.store.infos[layout.token]
    scheme = facts.position_scheme(config, parts.store.infos)
    return Card(
        name=name,
        identity=memo["identity"],
        model_type=facts.declared_type(config),
        vocab_size=table.shape[0] if table is not None else facts.vocab_size(config) or 0,
        hidden_size=facts.hidden_size(config) or (table.shape[1] if table is not None else 0),
        num_layers=facts.num_layers(config),
        num_heads=facts.num_heads(config),
        num_kv_heads=facts.num_kv_heads(config),
        head_dim=facts.head_dim(config),
        tied=layout.tied if layout is not None else (facts.ties(config) if facts.has_head(config) else None),
        position_scheme=scheme,
        rope_theta=facts.rope_theta(config) if scheme == "rotary" else None,
        max_positions=facts.max_positions(config, scheme),
        dtype=table.dtype if table is not None else "no weights",
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
