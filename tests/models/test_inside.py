"""A folder that is opened is all that is read: links out of it are refused, by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kiruviz.errors import UserError
from kiruviz.models.opening import open_model

MakeModel = Callable[..., Path]


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "vocab.txt", "tokenizer.json"])
def test_a_link_out_of_the_folder_is_refused_by_name(make_model: MakeModel, tmp_path: Path, name: str) -> None:
    folder, outside = make_model(), tmp_path / "outside"
    if (folder / name).exists():
        (folder / name).rename(outside)
    else:
        outside.write_text("secret")
    (folder / name).symlink_to(outside)
    with pytest.raises(UserError) as caught:
        open_model(str(folder))
    assert str(caught.value).startswith(f"{folder / name} is a link to {outside}, outside the model's folder")


def test_a_link_that_stays_in_the_folder_is_followed(make_model: MakeModel) -> None:
    folder = make_model()
    (folder / "kept").mkdir()
    (folder / "model.safetensors").rename(folder / "kept/weights")
    (folder / "model.safetensors").symlink_to("kept/weights")
    assert open_model(str(folder)).card.vocab_size == 18


def test_a_folder_that_is_a_link_itself_opens(make_model: MakeModel, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(make_model())
    assert open_model(str(tmp_path / "link")).card.vocab_size == 18


def test_a_file_that_the_person_names_may_lie_anywhere_but_what_is_beside_it_may_not(
    make_model: MakeModel, tmp_path: Path
) -> None:
    folder = make_model()
    (folder / "model.safetensors").rename(tmp_path / "weights.safetensors")
    (folder / "model.safetensors").symlink_to(tmp_path / "weights.safetensors")
    assert open_model(str(folder / "model.safetensors")).card.vocab_size == 18
    (folder / "config.json").rename(tmp_path / "config")
    (folder / "config.json").symlink_to(tmp_path / "config")
    with pytest.raises(UserError, match=r"config\.json is a link to"):
        open_model(str(folder / "model.safetensors"))


def test_a_link_that_only_looks_like_a_caches_is_refused(make_model: MakeModel, tmp_path: Path) -> None:
    """`models--x/snapshots/<commit>` may point to `models--x/blobs`, not to the blobs of another cache."""
    toy = make_model()
    snapshot = tmp_path / "a/models--people--toy/snapshots/1"
    snapshot.parent.mkdir(parents=True)
    toy.rename(snapshot)
    blobs = tmp_path / "b/models--people--toy/blobs"
    blobs.mkdir(parents=True)
    (snapshot / "model.safetensors").rename(blobs / "x")
    (snapshot / "model.safetensors").symlink_to(blobs / "x")
    with pytest.raises(UserError, match="outside the model's folder"):
        open_model(str(snapshot))


def test_blobs_that_models_of_a_cache_share_are_followed(make_model: MakeModel, tmp_path: Path) -> None:
    snapshot = tmp_path / "hub/models--people--toy/snapshots/1"
    snapshot.parent.mkdir(parents=True)
    make_model().rename(snapshot)
    for folder in (tmp_path / "hub/blobs", tmp_path / "hub/models--people--toy/blobs"):
        folder.mkdir()
    (snapshot / "model.safetensors").rename(tmp_path / "hub/blobs/x")
    (tmp_path / "hub/models--people--toy/blobs/y").symlink_to("../../blobs/x")
    (snapshot / "model.safetensors").symlink_to("../../blobs/y")
    assert open_model(str(snapshot)).card.name == "people/toy"
