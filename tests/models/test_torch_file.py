"""PyTorch files open as tensors alone; what would run code is refused by name."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from kiruviz.errors import UserError
from kiruviz.models.opening import open_model

TABLE = "embeddings.word_embeddings.weight"


class Payload:
    """Would write a file if it were loaded as pickles are."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def rows(dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor(np.random.default_rng(0).normal(size=(18, 4)).astype(np.float32)).to(dtype)


def sentence(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        open_model(str(path))
    return str(caught.value)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("archive", [True, False])
def test_every_number_type_comes_out_as_float32(tmp_path: Path, dtype: torch.dtype, archive: bool) -> None:
    path = tmp_path / "model.pt"
    torch.save({TABLE: rows(dtype)}, path, _use_new_zipfile_serialization=archive)
    np.testing.assert_array_equal(open_model(str(path)).table(), rows(dtype).float().numpy())


def test_a_folder_with_pytorch_weights_opens_single_and_sharded(tmp_path: Path) -> None:
    config = {"model_type": "bert", "vocab_size": 18, "hidden_size": 4}
    for name, files in (("single", ["pytorch_model.bin"]), ("sharded", ["pytorch_model-1.bin", "pytorch_model-2.bin"])):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(config))
        torch.save({TABLE: rows()}, folder / files[0])
        torch.save({"step": 3}, folder / "training_args.bin")
        if len(files) > 1:
            torch.save({"pooler.weight": rows()}, folder / files[1])
            shards = {"weight_map": {TABLE: files[0], "pooler.weight": files[1]}}
            (folder / "pytorch_model.bin.index.json").write_text(json.dumps(shards))
        opened = open_model(str(folder))
        assert opened.card.model_type == "bert"
        np.testing.assert_array_equal(opened.table(), rows().numpy())


def test_weights_inside_a_training_checkpoint_are_found(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    torch.save({"epoch": 3, "optimizer": {"state": {0: {"m": rows()}}}, "state_dict": {TABLE: rows()}}, path)
    assert list(open_model(str(path)).tensors) == [TABLE]


def test_a_transposed_view_comes_out_in_order(tmp_path: Path) -> None:
    torch.save({TABLE: rows().T.contiguous().T}, tmp_path / "model.pt")
    np.testing.assert_array_equal(open_model(str(tmp_path / "model.pt")).table(), rows().numpy())


@pytest.mark.parametrize("archive", [True, False])
def test_a_file_with_a_payload_is_refused_and_nothing_runs(tmp_path: Path, archive: bool) -> None:
    path, mark = tmp_path / "model.bin", tmp_path / "it-ran"
    if archive:
        torch.save({TABLE: rows(), "x": Payload(mark)}, path)
    else:
        path.write_bytes(pickle.dumps({"x": Payload(mark)}, protocol=2))
    assert "model.bin needs code to be loaded, which is never run" in sentence(path)
    assert not mark.exists()


def test_a_whole_module_is_refused(tmp_path: Path) -> None:
    torch.save(torch.nn.Linear(2, 2), tmp_path / "module.pt")
    assert "module.pt needs code to be loaded" in sentence(tmp_path / "module.pt")


def test_damaged_files_and_files_without_tensors_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save({TABLE: rows()}, path)
    path.write_bytes(path.read_bytes()[:-200])
    assert "damaged or cut off" in sentence(path)
    torch.save({"step": 3}, path)
    assert "holds no tensors" in sentence(path)
