"""PyTorch checkpoints (`.bin`, `.pt`, `.pth`): tensors only, by `torch.load(weights_only=True)`, mapped where possible.

A file that needs code to be loaded is refused: nothing inside a model's file is ever executed.
"""

from __future__ import annotations

import json
import pickle
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kiruviz.errors import UserError
from kiruviz.models.tensors import FloatArray, TensorInfo, as_float32

SUFFIXES = (".bin", ".pt", ".pth", ".ckpt")
_DTYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16"}
# Trainers keep the weights beside the optimiser's state under one of these.
_WEIGHTS = ("state_dict", "model_state_dict", "model", "module", "weights")
_DEEPEST = 6
# What `torch.load(weights_only=True)` says of a file that names code.
_NEEDS_CODE = ("Unsupported global", "Unsupported class", "not an allowed global", "GLOBAL", "REDUCE", "BUILD")


class TorchStore:
    """The tensors of one or several PyTorch files, as one `TensorStore`.

    Raises
    ------
    UserError : damaged, without tensors, or a file that needs code to be loaded
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = list(paths)
        self._tensors: dict[str, tuple[Any, Path]] = {}
        for path in self._paths:
            self._tensors |= {name: (tensor, path) for name, tensor in _tensors(_load(path))}
        if not self._tensors:
            raise UserError(f"{self._paths[0]} holds no tensors; bring the weights of a model.")
        self.infos = {name: _info(name, tensor) for name, (tensor, _) in self._tensors.items()}

    @property
    def headers(self) -> list[tuple[str, bytes]]:
        listed = [[info.name, list(info.shape), info.dtype] for info in self.infos.values()]
        return [("tensors", json.dumps(listed).encode())]

    @property
    def files(self) -> list[Path]:
        return list(self._paths)

    def raw(self, name: str) -> memoryview:
        import torch

        tensor, _ = self._tensors[name]
        flat = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
        return memoryview(flat.numpy())

    def read(self, name: str) -> FloatArray:
        """Raises `UserError` for a type that holds no plain numbers."""
        return as_float32(self.raw(name), self.infos[name], self._tensors[name][1])


def _load(path: Path) -> Any:
    import torch

    try:
        # Files of before PyTorch 1.6 are no archives and cannot be mapped.
        return torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except pickle.UnpicklingError as error:
        if any(said in str(error) for said in _NEEDS_CODE):
            raise UserError(
                f"{path} needs code to be loaded, which is never run; bring its weights alone, best as safetensors."
            ) from error
        raise UserError(f"{path} is damaged or no PyTorch file; fetch it again.") from error
    except Exception as error:  # the reader of damaged files raises whatever comes
        raise UserError(f"{path} is damaged or no PyTorch file ({type(error).__name__}); fetch it again.") from error


def _tensors(found: Any, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    import torch

    if isinstance(found, torch.Tensor):
        if found.layout == torch.strided and not found.is_quantized:
            yield prefix.removesuffix(".") or "tensor", found
        return
    if not isinstance(found, dict) or depth > _DEEPEST:
        return
    inner = next((key for key in _WEIGHTS if depth == 0 and isinstance(found.get(key), dict)), None)
    if inner is not None:
        yield from _tensors(found[inner], prefix, depth + 1)
        return
    for key, value in found.items():
        yield from _tensors(value, f"{prefix}{key}.", depth + 1)


def _info(name: str, tensor: Any) -> TensorInfo:
    kind = str(tensor.dtype).removeprefix("torch.")
    return TensorInfo(name, tuple(tensor.shape), _DTYPES.get(kind, kind))
