"""Fetching a model from a Hub: its size first, then its files into the Hugging Face cache.

What is fetched is data: the configuration, the tokenizer's files and the weights; never program files. The
files lie in the cache as `huggingface_hub` lays them, so that every other program finds them there.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from kiruviz.errors import UserError
from kiruviz.models import hub_place
from kiruviz.models.hub_http import Hub, RangeIgnoredError
from kiruviz.models.hub_place import COMMIT, HubName
from kiruviz.models.tokenizer import FILES as TOKENIZER_FILES
from kiruviz.progress import Progress

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"

_SMALL = frozenset(
    (
        *TOKENIZER_FILES,
        *("config.json", "generation_config.json", "special_tokens_map.json", "added_tokens.json"),
        *("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "modules.json"),
        *("sentence_bert_config.json", "config_sentence_transformers.json", "1_Pooling/config.json"),
    )
)
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx", ".npz", ".pkl")
_SMALL_FILE = 1 << 30  # no tokenizer is larger
_ROOM_LEFT = 64 << 20
_DIGEST = re.compile(r"[0-9a-f]{64}|[0-9a-f]{40}")
_PART_OF_GGUF = re.compile(r"-\d{5}-of-\d{5}\.gguf$")


@dataclass(frozen=True)
class RemoteFile:
    """A file of a model on a Hub.

    digest : SHA-256 of a large file (64 digits), git's SHA-1 of a small one (40 digits); its name in the cache
    """

    path: str
    size: int
    digest: str


@dataclass(frozen=True)
class Listing:
    """What a Hub has of one revision. `commit` is the revision's 40 digits."""

    name: HubName
    commit: str
    files: tuple[RemoteFile, ...]

    def file(self, path: str) -> RemoteFile | None:
        return next((file for file in self.files if file.path == path), None)


@dataclass(frozen=True)
class Plan:
    """What a download would fetch. `missing` are the bytes that are not on this computer yet."""

    listing: Listing
    files: tuple[RemoteFile, ...]
    missing: int
    folder: Path

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


@dataclass(frozen=True)
class Fetched:
    """What a download left: the folder to open, and the bytes that came over the network."""

    folder: Path
    received: int


def hub_name(ref: str) -> HubName:
    """`ref` as a name to fetch. Raises `UserError` where it is none."""
    name = hub_place.parse(ref)
    if name is None or not name.has_owner:
        raise UserError(f"{ref!r} is not the name of a model on a Hub; give OWNER/NAME, or OWNER/NAME@REVISION.")
    return name


def list_files(hub: Hub) -> Listing:
    """The files of a revision, each name checked to lie inside the model's folder.

    Raises
    ------
    UserError : no such model, no access, no network, or a list that is none
    """
    from urllib.parse import quote

    name = hub.name
    hub.progress.report(None, f"Asking for the files of {name}")
    facts = hub.api(f"revision/{quote(name.revision or hub_place.DEFAULT_REVISION, safe='')}")
    commit = facts.get("sha") if isinstance(facts, dict) else None
    if not isinstance(commit, str) or not COMMIT.fullmatch(commit):
        raise hub.unexpected("it names no commit")
    entries = hub.api_pages(f"tree/{commit}?recursive=true")
    files = [_remote_file(hub, entry) for entry in entries if _is_file(entry)]
    return Listing(name, commit, tuple(files))


def _is_file(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.get("type") == "file"


def _remote_file(hub: Hub, entry: dict[str, Any]) -> RemoteFile:
    pointed = entry.get("lfs")
    large: dict[str, Any] = pointed if isinstance(pointed, dict) else {}
    path, size = entry.get("path"), large.get("size", entry.get("size"))
    digest = large.get("oid") or entry.get("oid")
    if not isinstance(path, str) or not is_inside(path):
        raise UserError(
            f"The file list of {hub.name} names a file outside its folder ({path!r}), so nothing was fetched; "
            "take the model from another place."
        )
    if type(size) is not int or size < 0 or not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise hub.unexpected(f"its file list is incomplete at {path}")
    return RemoteFile(path, size, digest)


def is_inside(path: str) -> bool:
    """Whether a name in somebody's list is a plain relative path that stays in its folder, on every system."""
    parts = path.split("/")
    odd = any(sign in path for sign in ("\\", ":", "\0")) or any(ord(sign) < 32 for sign in path)
    return not odd and len(path) < 1000 and all(part not in ("", ".", "..") for part in parts)


def choose(listing: Listing, hub: Hub, only: str | None = None) -> tuple[RemoteFile, ...]:
    """The files that opening needs: small ones, then the weights as safetensors, else as one GGUF file.

    Parameters
    ----------
    only : the weight file to take, where there are several

    Raises
    ------
    UserError : no weights that can be opened, or several and none named
    """
    small = [file for file in listing.files if file.path in _SMALL and file.size <= _SMALL_FILE]
    if only is not None:
        named = listing.file(only)
        if named is None or not only.endswith((".safetensors", ".gguf")):
            raise UserError(f"{listing.name} has no weight file {only!r}; it has {_some(_weights(listing))}.")
        return (*small, named)
    index = listing.file(INDEX)
    if listing.file(SINGLE) is None and index is not None:
        return (*small, index, *shards(listing, index, whole(hub, listing, index)))
    return (*small, _one_weight(listing))


def _one_weight(listing: Listing) -> RemoteFile:
    single = listing.file(SINGLE)
    if single is not None:
        return single
    weights = _weights(listing)
    for kind in (".safetensors", ".gguf"):
        found = [file for file in weights if file.path.endswith(kind)]
        if len(found) == 1:
            return found[0]
        if found:
            raise UserError(f"{listing.name} has several weight files; name one of them with --file: {_some(found)}.")
    other = next((file.path for file in listing.files if file.path.endswith(_OTHER_WEIGHTS)), None)
    held = "no weights" if other is None else f"its weights only as {other}"
    raise UserError(f"{listing.name} has {held}; look for the same model as safetensors or GGUF.")


def _weights(listing: Listing) -> list[RemoteFile]:
    return [
        file
        for file in listing.files
        if "/" not in file.path
        and file.path.endswith((".safetensors", ".gguf"))
        and not _PART_OF_GGUF.search(file.path)
    ]


def _some(files: list[RemoteFile]) -> str:
    shown = ", ".join(f"{file.path} ({megabytes(file.size)})" for file in files[:8]) or "none"
    return shown + (", ..." if len(files) > 8 else "")


def megabytes(size: int) -> str:
    """A number of bytes for a person."""
    if size >= 1e9:
        return f"{size / 1e9:,.1f} GB"
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.1f} kB"


def shards(listing: Listing, index: RemoteFile, data: bytes) -> list[RemoteFile]:
    """The weight files an index names, all beside it and all on the Hub.

    Raises
    ------
    UserError : the index is no index, or names what is not there
    """
    import json

    try:
        named = json.loads(data)["weight_map"]
        names = sorted(set(named.values()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(f"{index.path} of {listing.name} names no weight files (weight_map); it is damaged.") from error
    found = []
    for name in names:
        if not isinstance(name, str) or not is_inside(name) or "/" in name:
            raise UserError(
                f"{index.path} of {listing.name} names a file outside its folder ({name!r}), so nothing was fetched; "
                "take the model from another place."
            )
        file = listing.file(name)
        if file is None:
            raise UserError(f"{index.path} of {listing.name} names {name}, which {listing.name} does not have.")
        found.append(file)
    return found


def whole(hub: Hub, listing: Listing, file: RemoteFile) -> bytes:
    """A small file's bytes, checked. Raises `UserError`."""
    data = bytearray()
    if file.size > _SMALL_FILE:
        raise UserError(f"{file.path} of {listing.name} is too large to be what its name says; nothing was fetched.")
    if file.size:
        try:
            hub.fetch(file.path, listing.commit, 0, file.size, data.extend, file.size)
        except RangeIgnoredError as error:
            raise hub.unexpected(f"it sends {file.path} in another size than it lists") from error
    digest = new_digest(file)
    digest.update(data)
    check_digest(listing, file, digest.hexdigest())
    return bytes(data)


def plan(hub: Hub, only: str | None = None) -> Plan:
    """What fetching a model would take, before anything large is fetched."""
    listing = list_files(hub)
    files = choose(listing, hub, only)
    cache = hub_place.repo_folder(hub.name)
    missing = sum(file.size - _present(cache, listing.commit, file) for file in files)
    return Plan(listing, files, missing, cache / "snapshots" / listing.commit)


def _present(cache: Path, commit: str, file: RemoteFile) -> int:
    """Bytes of a file that are there already, whole or in part."""
    for path in (cache / "snapshots" / commit / file.path, cache / "blobs" / file.digest, _partial(cache, file)):
        with contextlib.suppress(OSError):
            return min(path.stat().st_size, file.size)
    return 0


def _partial(cache: Path, file: RemoteFile) -> Path:
    return cache / "blobs" / f"{file.digest}.incomplete"


def download(hub: Hub, plan: Plan) -> Fetched:
    """Fetch what is missing; what was begun before goes on where it stopped.

    Cancelling, a broken connection or a full disk leave what came so far, for the next time. The revision
    appears in the cache only once every file is there and has the digest the Hub lists.

    Raises
    ------
    UserError : one sentence for what went wrong
    Cancelled : from the progress
    """
    cache, listing = hub_place.repo_folder(hub.name), plan.listing
    with disk_errors(hub.name, cache), locked(hub, cache):
        (cache / "blobs").mkdir(parents=True, exist_ok=True)
        check_room(hub.name, cache, sum(file.size - _present(cache, listing.commit, file) for file in plan.files))
        meter = Meter(hub.progress, plan.size, f"Fetching {hub.name}")
        for file in plan.files:
            _fetch_blob(hub, listing, cache, file, meter)
        for file in plan.files:
            _point(cache, listing.commit, file)
        _name_revision(cache, listing)
    return Fetched(plan.folder, hub.received)


class Meter:
    """Bytes so far of a known number, told to a `Progress`."""

    def __init__(self, progress: Progress, total: int, what: str) -> None:
        self._progress, self._total, self._what, self._done = progress, total, what, 0
        self._told = 0.0

    def add(self, count: int) -> None:
        """Count bytes; told ten times a second at most. Raises `Cancelled`."""
        self._done += count
        self._progress.check()
        now = time.monotonic()
        if now - self._told < 0.1 and self._done < self._total:
            return
        self._told = now
        share = self._done / self._total if self._total else 1.0
        self._progress.report(
            min(max(share, 0.0), 1.0), f"{self._what}: {megabytes(self._done)} of {megabytes(self._total)}"
        )


def _fetch_blob(hub: Hub, listing: Listing, cache: Path, file: RemoteFile, meter: Meter) -> None:
    done = (cache / "snapshots" / listing.commit / file.path, cache / "blobs" / file.digest)
    if any(path.is_file() and path.stat().st_size == file.size for path in done):
        meter.add(file.size)
        return
    partial = _partial(cache, file)
    digest = resume(hub, listing, file, partial, meter)
    if digest != file.digest:
        partial.unlink()
    check_digest(listing, file, digest)
    partial.replace(cache / "blobs" / file.digest)


def resume(hub: Hub, listing: Listing, file: RemoteFile, partial: Path, meter: Meter) -> str:
    """Fetch the rest of a file into `partial`; its digest, for the caller to judge.

    A server that ignores ranges sends it from the start again.
    """
    with partial.open("a+b") as out:
        digest, have = new_digest(file), _restored(out, file)
        _hash_beginning(out, digest, have, hub.progress)
        meter.add(have)

        def take(piece: bytes) -> None:
            out.write(piece)
            digest.update(piece)
            meter.add(len(piece))

        try:
            if have < file.size:
                hub.fetch(file.path, listing.commit, have, file.size, take, file.size)
        except RangeIgnoredError:
            meter.add(-out.tell())
            out.truncate(0)
            digest = new_digest(file)
            _from_the_start(hub, listing, file, take)
        return str(digest.hexdigest())


def _from_the_start(hub: Hub, listing: Listing, file: RemoteFile, take: Callable[[bytes], object]) -> None:
    try:
        hub.fetch(file.path, listing.commit, 0, file.size, take, file.size)
    except RangeIgnoredError as error:
        raise UserError(
            f"The connection broke off while {file.path} of {listing.name} was fetched, and the server cannot go on "
            "in the middle of a file; fetch it again from a better network."
        ) from error


def _restored(out: BinaryIO, file: RemoteFile) -> int:
    """The length of what was fetched before; a part longer than the file is none of it."""
    have = out.seek(0, os.SEEK_END)
    if have > file.size:
        out.truncate(0)
        return 0
    return have


def new_digest(file: RemoteFile) -> Any:
    """The digest that a Hub lists for a file, to be fed with its bytes."""
    if len(file.digest) == 64:
        return hashlib.sha256()
    # Not for safety: it is how git names a file's content. https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
    return hashlib.sha1(f"blob {file.size}\0".encode(), usedforsecurity=False)


def _hash_beginning(out: BinaryIO, digest: Any, have: int, progress: Progress) -> None:
    out.seek(0)
    while have > 0 and (piece := out.read(min(have, 1 << 20))):
        progress.check()
        digest.update(piece)
        have -= len(piece)
    out.seek(0, os.SEEK_END)


def check_digest(listing: Listing, file: RemoteFile, digest: str) -> None:
    """Raise `UserError` where a file is not what the Hub lists."""
    if digest != file.digest:
        raise UserError(
            f"{file.path} of {listing.name} arrived damaged (its digest is not the listed one); fetch again."
        )


def _point(cache: Path, commit: str, file: RemoteFile) -> None:
    """A file's place in the revision's folder: a link to its content, as far as the system allows links."""
    blob, pointer = cache / "blobs" / file.digest, cache / "snapshots" / commit / file.path
    if pointer.is_file():
        return
    pointer.parent.mkdir(parents=True, exist_ok=True)
    up = "../" * (len(PurePosixPath(file.path).parts) + 1)
    with contextlib.suppress(FileNotFoundError):
        pointer.unlink()  # a link that leads nowhere
    try:
        pointer.symlink_to(f"{up}blobs/{file.digest}")
    except OSError:  # Windows allows them to developers only
        try:
            pointer.hardlink_to(blob)
        except OSError:
            shutil.copyfile(blob, pointer)


def _name_revision(cache: Path, listing: Listing) -> None:
    revision = listing.name.revision or hub_place.DEFAULT_REVISION
    if revision == listing.commit:
        return
    ref = cache / "refs" / revision
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(listing.commit, encoding="ascii")


@contextmanager
def locked(hub: Hub, cache: Path) -> Iterator[None]:
    """One fetch of a model at a time: two would write into one partial file."""
    from filelock import FileLock, Timeout

    place = cache.parent / ".locks" / cache.name
    place.mkdir(parents=True, exist_ok=True)
    lock = FileLock(place / "kiruviz.lock")
    waiting = False
    while True:
        try:
            lock.acquire(timeout=0.2)
            break
        except Timeout:
            waiting = True
        if waiting:
            hub.progress.report(None, f"Waiting for another fetch of {hub.name}")
    try:
        yield
    finally:
        lock.release()


def check_room(name: HubName, folder: Path, needed: int) -> None:
    """Raise `UserError` where the disk has no room for that many bytes (and a little for the system)."""
    place = next((one for one in (folder, *folder.parents) if one.exists()), None)
    if place is None:
        return
    free = shutil.disk_usage(place).free
    if needed and free < needed + _ROOM_LEFT:
        raise UserError(
            f"{name} needs {megabytes(needed)} in {folder} and the disk has {megabytes(free)} free; free some space, "
            "or set HF_HOME to a folder on another disk."
        )


@contextmanager
def disk_errors(name: HubName, folder: Path) -> Iterator[None]:
    """What the disk refuses, as one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise UserError(
                f"The disk became full while {name} was fetched into {folder}; free some space and fetch it again, "
                "it goes on from there."
            ) from error
        raise UserError(
            f"{name} cannot be written into {folder} ({error.strerror or error}); see that the folder can be written, "
            "or set HF_HOME to another."
        ) from error
