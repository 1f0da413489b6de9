"""Which files hold a model's weights: one file, a folder, or an index that names several."""

from __future__ import annotations

from pathlib import Path

from kiruviz.errors import UserError
from kiruviz.models.tensors import FloatArray, SafetensorsStore, TensorInfo, TensorStore
from kiruviz.models.tokenizer_json import json_object
from kiruviz.models.torch_file import TorchStore

INDEX = ".index.json"
# Best first: what opens fastest and runs nothing comes before what others wrote beside it.
_SINGLE = ("model.safetensors", "pytorch_model.bin", "adapter_model.safetensors")
# Lies beside the weights of a run that can be continued, and holds none.
_TRAINING = ("optimizer", "training_args", "scheduler", "rng_state")
_UNREADABLE = (".h5", ".msgpack", ".onnx", ".pkl", ".ot", ".tflite", ".mlmodel")


class NoWeights:
    """The store of a folder that holds a configuration and no weights."""

    def __init__(self) -> None:
        self.infos: dict[str, TensorInfo] = {}
        self.headers: list[tuple[str, bytes]] = []
        self.files: list[Path] = []

    def raw(self, name: str) -> memoryview:
        raise KeyError(name)

    def read(self, name: str) -> FloatArray:
        raise KeyError(name)


def find(folder: Path) -> Path | None:
    """The file of a model folder to open: weights, an index of them or a GGUF file; None where there is none.

    Raises
    ------
    UserError : several, of which the person must choose; or only weights of a kind that cannot be read
    """
    for name in (*_SINGLE[:1], "model.safetensors" + INDEX, *_SINGLE[1:2], "pytorch_model.bin" + INDEX, *_SINGLE[2:]):
        if (folder / name).is_file():
            return folder / name
    for pattern in ("*.safetensors", "*.gguf", "*.bin", "*.pt", "*.pth"):
        found = sorted(file for file in folder.glob(pattern) if not file.name.startswith(_TRAINING))
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(file.name for file in found[:4])
            raise UserError(f"{folder} holds several weight files ({names}); open one of them by its own path.")
    other = sorted(file.name for file in folder.iterdir() if file.suffix in _UNREADABLE)
    if other:
        raise UserError(f"{folder} holds {other[0]}, which cannot be opened; bring the model as safetensors or GGUF.")
    return None


def sharded(index: Path) -> TensorStore:
    """The tensors of the files an index names, all of them inside its own folder.

    Raises
    ------
    UserError : names what is missing, outside the folder or not in the file it should be in
    """
    named = json_object(index).get("weight_map")
    if not isinstance(named, dict) or not named or not all(isinstance(name, str) for name in named.values()):
        raise UserError(f"{index} names no weight files (weight_map); fetch it again.")
    files = [_beside(index, name) for name in sorted(set(named.values()))]
    torch_files = all(file.suffix != ".safetensors" for file in files)
    store: TensorStore = TorchStore(files) if torch_files else SafetensorsStore(files)
    missing = next((tensor for tensor in named if tensor not in store.infos), None)
    if missing is not None:
        raise UserError(f"{index} names tensor {missing}, which {named[missing]} does not hold; fetch that file again.")
    return store


def _beside(index: Path, name: str) -> Path:
    if Path(name).name != name or "\\" in name or name in ("", ".", ".."):
        raise UserError(f"{index} names a file outside its folder ({name!r}); fetch the model again.")
    if not (index.parent / name).is_file():
        raise UserError(f"{index} names {name}, which is not in the folder; fetch the missing file.")
    return index.parent / name
