"""What a Hub name means on this computer: names, the Hub's variables, and the Hugging Face cache.

Nothing here reaches the network. The variables are read when they are asked for (`huggingface_hub` reads
them once, at its import), so that a window that is open follows them. Source for their meaning and for the
cache's layout: https://huggingface.co/docs/huggingface_hub (environment variables; manage the cache).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from kiruviz.errors import UserError
from kiruviz.paths import cache_dir

DEFAULT_REVISION = "main"
COMMIT = re.compile(r"[0-9a-f]{40}")

_DEFAULT_ENDPOINT = "https://huggingface.co"
_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
_NAME = re.compile(rf"(?:{_PART}/)?{_PART}")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")
_TRUE = ("1", "ON", "YES", "TRUE")


@dataclass(frozen=True)
class HubName:
    """A model on a Hub.

    repo      `owner/name` (a bare `name` for the oldest models)
    revision  branch, tag or commit; None where the person named none
    endpoint  where its Hub answers, such as `https://huggingface.co`
    """

    repo: str
    revision: str | None
    endpoint: str

    def __str__(self) -> str:
        return self.repo if self.revision is None else f"{self.repo}@{self.revision}"

    @property
    def has_owner(self) -> bool:
        return "/" in self.repo


def parse(ref: str) -> HubName | None:
    """`owner/name`, `owner/name@revision`, `hf://owner/name` or a model's address on a Hub; None for all else."""
    at = endpoint()
    if "://" in ref:
        address = urlsplit(ref)
        path = address.path.strip("/")
        if address.scheme == "hf":
            path = f"{address.netloc}/{path}".strip("/")
        elif address.scheme in ("http", "https") and address.hostname and address.username is None:
            at = f"{address.scheme}://{address.netloc}"
        else:
            return None
        owner, _, rest = path.partition("/")
        name, _, branch = rest.partition("/tree/")
        repo, mark, revision = (f"{owner}/{name}", "@", branch) if branch else f"{owner}/{name}".partition("@")
    else:
        repo, mark, revision = ref.partition("@")
    if not _NAME.fullmatch(repo) or any(sign in repo for sign in ("..", "--")):
        return None
    if mark and (not _REVISION.fullmatch(revision) or ".." in revision or "//" in revision):
        return None
    return HubName(repo, revision or None, at)


def endpoint() -> str:
    """The Hub's address: `HF_ENDPOINT`, else the public one."""
    return (os.environ.get("HF_ENDPOINT") or _DEFAULT_ENDPOINT).rstrip("/")


def offline() -> bool:
    """Whether the person forbade the network with `HF_HUB_OFFLINE` (or `TRANSFORMERS_OFFLINE`)."""
    value = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE") or ""
    return value.upper() in _TRUE


def token() -> str | None:
    """The person's access token: `HF_TOKEN`, else the file in which `hf auth login` keeps it."""
    if os.environ.get("HF_HUB_DISABLE_IMPLICIT_TOKEN", "").upper() in _TRUE:
        return None
    value = os.environ.get("HF_TOKEN") or os.environ.get("HUGGING_FACE_HUB_TOKEN")
    if value is None:
        try:
            value = _path("HF_TOKEN_PATH", _home() / "token").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None
    value = "".join(value.split())
    return value if value.isascii() and value else None


def _home() -> Path:
    cache = _path("XDG_CACHE_HOME", Path.home() / ".cache")
    return _path("HF_HOME", cache / "huggingface")


def _path(variable: str, otherwise: Path) -> Path:
    value = os.environ.get(variable)
    return Path(os.path.expandvars(value)).expanduser() if value else otherwise


def hub_cache() -> Path:
    """The Hugging Face cache: `HF_HUB_CACHE`, else `hub` in `HF_HOME`. It need not exist."""
    return _path("HF_HUB_CACHE", _path("HUGGINGFACE_HUB_CACHE", _home() / "hub"))


def repo_folder(name: HubName) -> Path:
    """A model's folder in the Hugging Face cache."""
    return hub_cache() / ("models--" + name.repo.replace("/", "--"))


def snapshot(name: HubName) -> Path | None:
    """The folder of a downloaded revision, or None where it is not on this computer.

    Without a revision `main` is meant, else the only one there is.

    Raises
    ------
    UserError : several revisions are there and none was named
    """
    snapshots = repo_folder(name) / "snapshots"
    commits = _folders(snapshots)
    commit = _commit_of(repo_folder(name), name.revision or DEFAULT_REVISION, commits)
    if commit is None and name.revision is None:
        if len(commits) > 1:
            named = ", ".join(f"{name.repo}@{one[:10]}" for one in commits[:4])
            raise UserError(f"Several revisions of {name.repo} are on this computer; name one of them: {named}.")
        commit = commits[0] if commits else None
    return None if commit is None else snapshots / commit


def looked(name: HubName) -> Path | None:
    """The folder of what was fetched by looking without downloading, or None."""
    folder = look_folder(name)
    done = [commit for commit in _folders(folder) if (folder / commit / LOOK_RECORD).is_file()]
    commit = _commit_of(folder, name.revision or DEFAULT_REVISION, done)
    return None if commit is None else folder / commit


LOOK_RECORD = "kiruviz-look.json"


def look_folder(name: HubName) -> Path:
    """Where KiruViz keeps what it looked at of one model, a folder a commit; not made by asking."""
    return cache_dir("hub") / name.repo.replace("/", "--")


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _commit_of(folder: Path, revision: str, commits: list[str]) -> str | None:
    """The commit a branch, tag, commit or the beginning of one means, if its folder is there."""
    try:
        commit = (folder / "refs" / revision).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        commit = revision
    if commit in commits:
        return commit
    begun = [one for one in commits if len(revision) >= 7 and one.startswith(revision)]
    return begun[0] if len(begun) == 1 else None
