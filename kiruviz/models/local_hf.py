"""The models of the Hugging Face cache, found through `huggingface_hub.scan_cache_dir`.

The library rejects a whole model for one broken link or reference, and stops altogether at a folder that it
may not read. What it rejects is looked through here once more, so that the revisions that are whole are listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kiruviz.models.hub_place import DEFAULT_REVISION, hub_cache
from kiruviz.models.inside import leads_out, roots
from kiruviz.models.local_entry import Found, file_sizes, folders

if TYPE_CHECKING:
    from huggingface_hub import CachedFileInfo

PLACE = "Hugging Face cache"
_PREFIX = "models--"


@dataclass(frozen=True)
class _Revision:
    """A revision of a model: its folder and the bytes of the files right in it, by name."""

    folder: Path
    refs: frozenset[str]
    sizes: dict[str, int]


def add_models(found: Found) -> None:
    """List every revision of every model in the cache."""
    cache = hub_cache()
    try:
        names = [entry.name for entry in folders(cache) if entry.name.startswith(_PREFIX)]
    except FileNotFoundError:
        return
    except OSError as error:
        found.skip(str(cache), f"it cannot be read ({error.strerror})", PLACE)
        return
    known = _by_the_library(cache, names)
    for name in names:
        title = name.removeprefix(_PREFIX).replace("--", "/")
        revisions = known.get(name)
        if revisions is None:
            revisions = list(_by_ourselves(found, title, cache / name))
        for revision in sorted(revisions, key=lambda one: (DEFAULT_REVISION not in one.refs, one.folder.name)):
            alone = len(revisions) == 1 or DEFAULT_REVISION in revision.refs
            called = title if alone else f"{title} @ {min(revision.refs, default=revision.folder.name[:10])}"
            found.add_folder(called, revision.folder, revision.sizes, PLACE)


def _by_the_library(cache: Path, names: list[str]) -> dict[str, list[_Revision]]:
    """Revisions by the model's folder name; models that the library rejects are not in it."""
    from huggingface_hub import scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    if any((cache / name).is_symlink() or (cache / name / "snapshots").is_symlink() for name in names):
        return {}  # the library would follow them, wherever they lead
    try:
        scanned = scan_cache_dir(cache)
    except (OSError, ValueError, CacheNotFound):  # a reference that is no text is a ValueError
        return {}
    known: dict[str, list[_Revision]] = {}
    for repo in scanned.repos:
        if repo.repo_type != "model":
            continue
        revisions = []
        for one in repo.revisions:
            allowed = roots(one.snapshot_path)
            direct = [file for file in one.files if file.file_path.parent == one.snapshot_path]
            if any(_leads_out(file, allowed) for file in direct):
                break
            sizes = {file.file_name: file.size_on_disk for file in direct}
            revisions.append(_Revision(one.snapshot_path, one.refs, sizes))
        else:
            known[repo.repo_path.name] = revisions
    return known


def _leads_out(file: CachedFileInfo, allowed: list[Path]) -> bool:
    """`leads_out`, quicker for the many files that are what they should be: links to plain files among the blobs."""
    blob = file.blob_path
    plain = blob.parent in allowed and not blob.is_symlink()
    return not plain and leads_out(file.file_path, allowed)


def _by_ourselves(found: Found, title: str, repo: Path) -> Iterator[_Revision]:
    """The whole revisions of a model; what is missing from the others is said."""
    snapshots = repo / "snapshots"
    if repo.is_symlink() or snapshots.is_symlink():
        found.skip(title, "its folder is a link, which is not followed", PLACE)
        return
    try:
        commits = [Path(entry.path) for entry in folders(snapshots) if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        found.skip(title, "its download was not finished", PLACE)
        return
    except OSError as error:
        found.skip(title, f"its folder cannot be read ({error.strerror})", PLACE)
        return
    main = _main_commit(repo)
    for folder in commits:
        try:
            sizes, lost = file_sizes(folder, roots(folder))
        except OSError as error:
            found.skip(title, f"its folder cannot be read ({error.strerror})", PLACE)
            continue
        if lost:
            found.skip(title, f"{lost[0]} is missing, or a link out of the cache", PLACE)
            continue
        yield _Revision(folder, frozenset([DEFAULT_REVISION] if folder.name == main else []), sizes)


def _main_commit(repo: Path) -> str | None:
    try:
        return (repo / "refs" / DEFAULT_REVISION).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
