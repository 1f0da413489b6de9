"""Models on this computer, and fetching one from a Hub: its size first, then the whole of it or only its table.

These are the only tasks that reach the network, and they do so because a person asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kiruviz.errors import UserError
from kiruviz.models import hub, hub_look, local
from kiruviz.models.hub import megabytes
from kiruviz.models.hub_http import Hub
from kiruviz.models.local_entry import Found
from kiruviz.progress import Progress


@dataclass(frozen=True)
class FetchPlan:
    """What a fetch will take, to be shown and agreed to.

    name     what is fetched, `owner/name` or `owner/name@revision`
    look     whether it is only looked at
    files    (path, bytes) of each file; of a look the table stands for the weights
    size     bytes in all; `missing` those not on this computer yet, `whole` those of a download
    """

    ref: str
    name: str
    look: bool
    files: tuple[tuple[str, int], ...]
    size: int
    missing: int
    whole: int
    folder: str
    plan: hub.Plan | hub_look.LookPlan

    def sentence(self) -> str:
        """What a person is asked to agree to."""
        left = "" if self.missing == self.size else f", of which {megabytes(self.missing)} are still to come"
        if self.look:
            instead = f" instead of {megabytes(self.whole)}"
            return f"Looking at {self.name} fetches {megabytes(self.size)}{instead}{left}"
        return f"Fetching {self.name} takes {megabytes(self.size)}{left}"

    def to_json(self) -> dict[str, Any]:
        return {
            "repo": self.plan.listing.name.repo,
            "revision": self.plan.listing.name.revision or "main",
            "commit": self.plan.listing.commit,
            "look": self.look,
            "files": [{"path": path, "bytes": size} for path, size in self.files],
            "bytes": self.size,
            "missing": self.missing,
            "folder": self.folder,
        }


def local_models(progress: Progress) -> Found:
    """The models on this computer, and what was left out of the list and why."""
    return local.list_models(progress)


def plan_fetch(progress: Progress, ref: str, look: bool, only: str | None = None) -> FetchPlan:
    """Ask a Hub what fetching a model would take. `only` names one weight file where there are several.

    Raises
    ------
    UserError : no such model, no access, no network; one sentence each
    """
    with Hub(hub.hub_name(ref), progress) as conversation:
        if look:
            return _of_look(ref, hub_look.plan_look(conversation))
        plan = hub.plan(conversation, only)
    files = tuple((file.path, file.size) for file in plan.files)
    return FetchPlan(
        ref, str(plan.listing.name), False, files, plan.size, plan.missing, plan.size, str(plan.folder), plan
    )


def both_plans(progress: Progress, ref: str) -> tuple[FetchPlan | str, FetchPlan]:
    """What looking at a model takes, or the sentence why it cannot be looked at; and what downloading it takes.

    Raises
    ------
    UserError : no such model, no access, no network, or nothing that can be opened
    """
    download = plan_fetch(progress, ref, look=False)
    try:
        return plan_fetch(progress, ref, look=True), download
    except UserError as error:
        return str(error), download


def _of_look(ref: str, plan: hub_look.LookPlan) -> FetchPlan:
    headers = sum(len(shard.header) + 8 for shard in plan.shards)
    small = tuple((file.path, file.size) for file in plan.small)
    table = plan.size - headers - sum(size for _, size in small)
    files = (*small, ("headers of the weights", headers), (f"table {plan.table}", table))
    return FetchPlan(
        ref, str(plan.listing.name), True, files, plan.size, plan.missing, plan.whole, str(plan.folder), plan
    )


def fetch(progress: Progress, plan: FetchPlan) -> hub.Fetched:
    """Fetch what was planned; stopped or broken off, the next fetch goes on there. Raises `UserError`."""
    with Hub(plan.plan.listing.name, progress) as conversation:
        if isinstance(plan.plan, hub_look.LookPlan):
            return hub_look.look(conversation, plan.plan)
        return hub.download(conversation, plan.plan)
