from __future__ import annotations

import os
from pathlib import Path

import pytest

from kiruviz.models import hub_place
from kiruviz.models.opening import open_model
from tests.models.hub_driving import (
    REPO,
    fetch,
    sentence,
)
from tests.models.hub_server import HubServer


@pytest.mark.parametrize(
    ("ref", "repo", "revision"),
    [
        ("owner/name", "owner/name", None),
        ("owner/name@v1.0", "owner/name", "v1.0"),
        ("owner/name@refs/pr/1", "owner/name", "refs/pr/1"),
        ("hf://owner/name@main", "owner/name", "main"),
        ("https://hub.example/owner/name/", "owner/name", None),
        ("https://hub.example/owner/name/tree/dev", "owner/name", "dev"),
        ("gpt2", "gpt2", None),
        ("01-ai/Yi-6B", "01-ai/Yi-6B", None),
    ],
)
def test_names_of_models(ref: str, repo: str, revision: str | None) -> None:
    name = hub_place.parse(ref)
    assert name is not None
    assert (name.repo, name.revision) == (repo, revision)


@pytest.mark.parametrize(
    "ref",
    ["", "/", "a/b/c", "../x", "a/..", "./a", "a--b/c", "-a/b", "a/b@", "a/b@../c", "a/b@/c", "a b/c", "a/b@x//y",
     "ftp://hub.example/a/b", "https://name:word@hub.example/a/b", "https:///a/b", "a/b\n", "ö/b"],
)  # fmt: skip
def test_what_is_no_name_of_a_model(ref: str) -> None:
    assert hub_place.parse(ref) is None


def test_a_name_that_is_not_here_says_how_to_fetch_it(home: Path, no_network: list[str]) -> None:
    said = sentence(open_model, "people/elsewhere@v2")
    assert "'people/elsewhere@v2' is not on this computer" in said
    assert "`kiruviz fetch people/elsewhere@v2`" in said
    assert no_network == []


def test_a_path_wins_over_a_name(server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch()
    monkeypatch.chdir(tmp_path)
    (tmp_path / REPO).mkdir(parents=True)
    assert "holds no weights" in sentence(open_model, REPO)


def test_the_caches_place_follows_the_persons_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    assert hub_place.hub_cache() == tmp_path / "home/hub"
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "elsewhere"))
    assert hub_place.hub_cache() == tmp_path / "elsewhere"
    assert os.environ["HF_HOME"] not in str(hub_place.hub_cache())
