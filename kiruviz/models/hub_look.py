"""Looking at a model on a Hub without downloading it: headers, one table and the small files.

A safetensors file begins with a list of where each tensor lies, so that the input table can be asked for by
itself. What comes is kept in KiruViz's cache as a folder that opens like any other, later and offline: its
headers are the model's own, so that the model has the same identity whether it was looked at or downloaded.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kiruviz.errors import UserError
from kiruviz.models import cache, hub_place
from kiruviz.models.hub import (
    INDEX,
    SINGLE,
    Fetched,
    Listing,
    Meter,
    RemoteFile,
    check_digest,
    check_room,
    choose,
    disk_errors,
    list_files,
    locked,
    megabytes,
    resume,
)
from kiruviz.models.hub_http import Hub, RangeIgnoredError
from kiruviz.models.layout import find_layout
from kiruviz.models.tensors import (
    HEADER_LIMIT,
    FloatArray,
    NotFetchedError,
    SafetensorsStore,
    Slice,
    TensorInfo,
    parse_header,
    place_of,
)
from kiruviz.models.tokenizer_json import json_object, read_bytes

RECORD = hub_place.LOOK_RECORD

_PARTIAL = ".incomplete"
_SAMPLE = 1 << 16


@dataclass(frozen=True)
class Shard:
    """A weight file on the Hub, of which the header is known."""

    file: RemoteFile
    header: bytes

    def slices(self, repo: str) -> dict[str, Slice]:
        """Where each tensor lies, checked against the file's size. Raises `UserError`."""
        path = Path(repo) / self.file.path
        start = 8 + len(self.header)
        declared = parse_header(path, self.header)
        return {
            name: place_of(path, name, entry, start, self.file.size)
            for name, entry in declared.items()
            if name != "__metadata__"
        }


@dataclass(frozen=True)
class LookPlan:
    """What a look would fetch.

    small      configuration and tokenizer
    shards     the weight files with their headers, which planning has read already
    table      name of the input table, `output` of an output table that is stored apart
    size       bytes that a look takes in all: headers, table, small files
    missing    bytes of these that an earlier look did not leave; 0 where it was finished
    whole      bytes that downloading the model would take
    received   bytes that planning took
    """

    listing: Listing
    small: tuple[RemoteFile, ...]
    shards: tuple[Shard, ...]
    table: str
    output: str | None
    size: int
    missing: int
    whole: int
    received: int
    folder: Path


class HeaderStore:
    """The tensors that headers declare, without their bytes; for finding the table by name and shape."""

    files: list[Path] = []  # noqa: RUF012 - there are none

    def __init__(self, repo: str, shards: tuple[Shard, ...]) -> None:
        self._repo, self._shards = repo, shards
        self.where = {name: (shard, place) for shard in shards for name, place in shard.slices(repo).items()}
        self.infos: dict[str, TensorInfo] = {name: place.info for name, (_, place) in self.where.items()}

    @property
    def headers(self) -> list[tuple[str, bytes]]:
        return [(f"header {i}", shard.header) for i, shard in enumerate(self._shards)]

    def raw(self, name: str) -> memoryview:
        raise NotFetchedError(
            f"Tensor {name} of {self._repo} is not on this computer, as the model was looked at without downloading "
            f"it; `kiruviz fetch {self._repo}` downloads it."
        )

    def read(self, name: str) -> FloatArray:
        raise AssertionError(self.raw(name))


class LookedStore(HeaderStore):
    """The tensors of a model that was looked at: all are listed, the table can be read."""

    def __init__(self, folder: Path) -> None:
        record = json_object(folder / RECORD)
        try:
            whole = int(record["whole"])
            repo, listed = str(record["repo"]), [(str(one["file"]), int(one["size"])) for one in record["shards"]]
            self._same = {str(output): str(table) for output, table in record["same"].items()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(
                f"{folder / RECORD} is damaged; look at the model again (`kiruviz fetch --look`)."
            ) from error
        own = [folder / f"header-{i}.json" for i in range(len(listed))]
        super().__init__(
            repo,
            tuple(
                Shard(RemoteFile(file, size, ""), read_bytes(path))
                for (file, size), path in zip(listed, own, strict=True)
            ),
        )
        self.repo = repo
        self.note = (
            f"{repo} was looked at without downloading: of its {megabytes(whole)} the table is here, and "
            f"`kiruviz fetch {repo}` downloads the rest."
        )
        self._kept = SafetensorsStore([folder / SINGLE])
        self.files = [folder / SINGLE, *own, folder / RECORD]

    def raw(self, name: str) -> memoryview:
        kept = self._same.get(name, name)
        return self._kept.raw(kept) if kept in self._kept.infos else super().raw(name)

    def read(self, name: str) -> FloatArray:
        kept = self._same.get(name, name)
        return self._kept.read(kept) if kept in self._kept.infos else super().read(name)


def looked_repo(folder: Path) -> str:
    """`owner/name` of a folder that a look left. Raises `UserError` where its record is damaged."""
    return str(json_object(folder / RECORD).get("repo"))


def is_look(folder: Path) -> bool:
    """Whether a folder is one that a look left."""
    return (folder / RECORD).is_file()


def plan_look(hub: Hub) -> LookPlan:
    """Read the headers and find the table.

    Raises
    ------
    UserError : no safetensors, no table, ranges refused, or any trouble with the network
    """
    listing = list_files(hub)
    chosen = choose(listing, hub)
    weights = [file for file in chosen if file.path.endswith(".safetensors")]
    small = tuple(file for file in chosen if file not in weights and file.path != INDEX)
    if not weights:
        raise UserError(
            f"{listing.name} comes as GGUF, whose table cannot be fetched alone; `kiruviz fetch {listing.name}` "
            "downloads it whole."
        )
    config = next((file for file in small if file.path == "config.json"), None)
    if config is None:
        raise UserError(f"{listing.name} has no config.json, so its table cannot be told; download the model instead.")
    folder = hub_place.look_folder(hub.name) / listing.commit
    with disk_errors(hub.name, folder):
        folder.mkdir(parents=True, exist_ok=True)
        _keep_small(hub, listing, config, folder, Meter(hub.progress, config.size, f"Asking about {hub.name}"))
        settings = json_object(folder / config.path)
    shards = tuple(_shard(hub, listing, file, done / len(weights)) for done, file in enumerate(weights))
    store = HeaderStore(hub.name.repo, shards)
    layout = find_layout(store, settings, Path(str(listing.name)))
    place = store.where[layout.token][1]
    table = len(_own_header(place)) + place.end - place.begin
    headers = sum(8 + len(shard.header) for shard in shards)
    wanted = [(folder / file.path, file.size) for file in small] + [(folder / SINGLE, table)]
    size = headers + sum(length for _, length in wanted)
    # Headers and configuration come with every plan: they are not what an earlier look left.
    kept = sum(_held(path, length) for path, length in wanted if path.name != config.path)
    whole = all(path.is_file() and path.stat().st_size == length for path, length in wanted)
    return LookPlan(
        listing=listing,
        small=small,
        shards=shards,
        table=layout.token,
        output=None if layout.output == layout.token else layout.output,
        size=size,
        missing=0 if whole and is_look(folder) else size - kept,
        whole=sum(file.size for file in chosen),
        received=hub.received,
        folder=folder,
    )


def _shard(hub: Hub, listing: Listing, file: RemoteFile, share: float) -> Shard:
    """Length, then header: nothing beyond is asked for."""
    hub.progress.report(share, f"Reading the header of {file.path}")
    length = int.from_bytes(_bytes(hub, listing, file, 0, 8), "little") if file.size >= 8 else 0
    if not 0 < length <= min(HEADER_LIMIT, file.size - 8):
        raise UserError(
            f"{file.path} of {listing.name} is no safetensors file (its header is damaged); tell its owner."
        )
    return Shard(file, _bytes(hub, listing, file, 8, 8 + length))


def _bytes(hub: Hub, listing: Listing, file: RemoteFile, begin: int, end: int) -> bytes:
    data = bytearray()
    try:
        hub.fetch(file.path, listing.commit, begin, end, data.extend, file.size)
    except RangeIgnoredError as error:
        raise _no_ranges(listing, file) from error
    return bytes(data)


def _no_ranges(listing: Listing, file: RemoteFile) -> UserError:
    return UserError(
        f"The server of {listing.name} sends whole files where a part is asked for, so looking would fetch all "
        f"{megabytes(file.size)} of {file.path}; `kiruviz fetch {listing.name}` downloads the model."
    )


def _held(path: Path, size: int) -> int:
    for one in (path, path.with_name(path.name + _PARTIAL)):
        with suppress(OSError):
            return min(one.stat().st_size, size)
    return 0


def look(hub: Hub, plan: LookPlan) -> Fetched:
    """Fetch what a look needs; what was begun before goes on where it stopped.

    Raises
    ------
    UserError : one sentence for what went wrong
    Cancelled : from the progress
    """
    folder, listing = plan.folder, plan.listing
    with disk_errors(hub.name, folder), locked(hub, folder.parent):
        folder.mkdir(parents=True, exist_ok=True)
        check_room(hub.name, folder, plan.missing)
        meter = Meter(hub.progress, plan.size, f"Looking at {hub.name}")
        for file in plan.small:
            _keep_small(hub, listing, file, folder, meter)
        for number, shard in enumerate(plan.shards):
            _write(folder / f"header-{number}.json", shard.header)
            meter.add(8 + len(shard.header))
        _keep_table(hub, plan, meter)
        record = {
            "repo": hub.name.repo,
            "commit": listing.commit,
            "endpoint": hub.name.endpoint,
            "whole": plan.whole,
            "shards": [{"file": shard.file.path, "size": shard.file.size} for shard in plan.shards],
            "same": _tied(hub, plan),
        }
        _write(folder / RECORD, json.dumps(record).encode())
        ref = folder.parent / "refs" / (hub.name.revision or hub_place.DEFAULT_REVISION)
        ref.parent.mkdir(parents=True, exist_ok=True)
        _write(ref, listing.commit.encode())
    return Fetched(folder, plan.received + hub.received)


def _write(path: Path, data: bytes) -> None:
    cache.write_atomic(path, lambda out: out.write(data))


def _keep_small(hub: Hub, listing: Listing, file: RemoteFile, folder: Path, meter: Meter) -> None:
    """A small file, whole and checked, in its place."""
    path = folder / file.path
    if path.is_file() and path.stat().st_size == file.size:
        meter.add(file.size)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + _PARTIAL)
    digest = resume(hub, listing, file, partial, meter)
    if digest != file.digest:
        partial.unlink()
    check_digest(listing, file, digest)
    partial.replace(path)


def _own_header(place: Slice) -> bytes:
    """The beginning of a safetensors file that holds this tensor alone, its data aligned for a memory map."""
    extent = {"dtype": place.info.dtype, "shape": list(place.info.shape), "data_offsets": [0, place.end - place.begin]}
    header = json.dumps({place.info.name: extent}).encode()
    header += b" " * (-len(header) % 64 + 56)
    return len(header).to_bytes(8, "little") + header


def _place(plan: LookPlan, name: str) -> tuple[Shard, Slice]:
    return HeaderStore(plan.listing.name.repo, plan.shards).where[name]


def _keep_table(hub: Hub, plan: LookPlan, meter: Meter) -> None:
    path = plan.folder / SINGLE
    shard, place = _place(plan, plan.table)
    header = _own_header(place)
    whole = len(header) + place.end - place.begin
    if path.is_file() and path.stat().st_size == whole:
        meter.add(whole)
        return
    partial = path.with_name(path.name + _PARTIAL)
    with partial.open("a+b") as out:
        if not len(header) <= out.tell() <= whole:
            out.truncate(0)
            out.write(header)
        meter.add(out.tell())

        def take(piece: bytes) -> None:
            out.write(piece)
            meter.add(len(piece))

        begin = place.begin + out.tell() - len(header)
        try:
            if begin < place.end:
                hub.fetch(shard.file.path, plan.listing.commit, begin, place.end, take, shard.file.size)
        except RangeIgnoredError as error:
            raise _no_ranges(plan.listing, shard.file) from error
    partial.replace(path)


def _tied(hub: Hub, plan: LookPlan) -> dict[str, str]:
    """Whether an output table that is stored apart holds the same bytes: beginning, middle and end are compared."""
    if plan.output is None:
        return {}
    shard, output = _place(plan, plan.output)
    table = _place(plan, plan.table)[1]
    if (output.info.shape, output.info.dtype) != (table.info.shape, table.info.dtype):
        return {}
    mine = SafetensorsStore([plan.folder / SINGLE]).raw(plan.table)
    for begin in sorted({max(0, len(mine) - _SAMPLE) * share // 2 for share in (0, 1, 2)}):
        theirs = _bytes(
            hub, plan.listing, shard.file, output.begin + begin, min(output.begin + begin + _SAMPLE, output.end)
        )
        if bytes(mine[begin : begin + _SAMPLE]) != theirs:
            return {}
    return {plan.output: plan.table}
