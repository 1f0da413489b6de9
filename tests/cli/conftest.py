"""Running the command line: in this process, or as a program of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from kiruviz import cli
from kiruviz.paths import resource

EVERYDAY = resource("words", "everyday-200.txt")


@dataclass(frozen=True)
class Ran:
    """What a command left: exit code, and what it wrote to both streams."""

    code: int
    out: str
    err: str

    def refused_with(self, *words: str) -> None:
        """Assert exit 2, nothing on stdout, and one sentence on stderr that holds `words`."""
        assert (self.code, self.out) == (2, ""), self.err
        assert re.fullmatch(r"kiruviz: [^\n]+\.\n", self.err), self.err
        assert "Traceback" not in self.err
        assert "Something went wrong inside" not in self.err
        assert len(re.findall(r"[.!?] [A-Z“]", self.err)) == 0, self.err
        for word in words:
            assert word in self.err


Run = Callable[..., Ran]


@pytest.fixture
def kiruviz(capsys: pytest.CaptureFixture[str]) -> Run:
    """kiruviz("info", "smollm2") -> Ran, in this process."""

    def run(*arguments: str | Path) -> Ran:
        capsys.readouterr()
        try:
            code = cli.main([str(argument) for argument in arguments])
        except SystemExit as stopped:  # argparse leaves so
            code = int(stopped.code or 0)
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


def program(*arguments: str | Path, **environment: str | None) -> Ran:
    """The same as a program of its own; a variable that is None is unset."""
    variables = {name: value for name, value in (os.environ | environment).items() if value is not None}
    command = [sys.executable, "-m", "kiruviz", *map(str, arguments)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, encoding="utf-8", timeout=300)
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def odd_model(tmp_path: Path) -> Path:
    """A BERT-like folder of 12 rows of 4: two that no token points to, one that holds NaN, one of zeros."""
    folder = tmp_path / "odd"
    folder.mkdir()
    config = {"model_type": "bert", "vocab_size": 12, "hidden_size": 4, "architectures": ["BertModel"]}
    (folder / "config.json").write_text(json.dumps(config))
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "king", "queen", "the", "##s", "7"]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    rows = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
    rows[6] = np.nan
    rows[7] = 0.0
    save_file({"embeddings.word_embeddings.weight": rows}, folder / "model.safetensors")
    return folder
