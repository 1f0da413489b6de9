"""A sharded bfloat16 checkpoint of 100 GB whose table is 262,144 x 4,096: what opening it reads and takes.

    python benchmarks/large_checkpoint.py [FOLDER]

Makes the checkpoint in FOLDER (a temporary one by default; 2.1 GB on the disk, the other tensors are holes), drops
it from the page cache, then opens it in a program started anew and shows 1,000 of its rows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROWS, SIZE = 262_144, 4_096
OTHERS, OTHER_BYTES = 25, 4 << 30
TABLE_BYTES = ROWS * SIZE * 2


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="kiruviz-large-") as temporary:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary) / "large"
        if not folder.exists():
            make(folder)
        files = sorted(folder.glob("*.safetensors"))
        on_disk = sum(file.stat().st_blocks * 512 for file in files)
        print(f"checkpoint: {sum(f.stat().st_size for f in files) / 1e9:.1f} GB, {on_disk / 1e9:.2f} GB on the disk")
        for file in files:
            drop(file)
        environment = os.environ | {"KIRUVIZ_HOME": temporary}
        command = [sys.executable, __file__, "--open", str(folder)]
        found = json.loads(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)
    print(f"opened in {found['open']:.1f} s; the headers are {found['headers'] / 1e6:.2f} MB")
    print(f"read from the disk: {found['read'] / TABLE_BYTES:.3f} times the table's bytes (at most 1.2)")
    table = ROWS * SIZE * 4
    print(f"peak memory over the empty program: {found['peak'] / table:.3f} times the table in float32 (at most 1.2)")
    print(f"  of which not given back to files: {found['own'] / 1e6:.0f} MB")
    print(f"1,000 rows shown in {found['rows']:.2f} s (at most 2)")


def make(folder: Path) -> None:
    """The sparse checkpoint: one shard with the table, the others all holes."""
    folder.mkdir(parents=True)
    weight_map = {}
    shards = {"model-00001.safetensors": {"model.embed_tokens.weight": [ROWS, SIZE]}}
    for i in range(OTHERS):
        shards[f"model-{i + 2:05d}.safetensors"] = {f"model.layers.{i}.mlp.up_proj.weight": [OTHER_BYTES // 8192, 4096]}
    for name, tensors in shards.items():
        header, at = {}, 0
        for tensor, shape in tensors.items():
            size = shape[0] * shape[1] * 2
            header[tensor] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
            weight_map[tensor] = name
            at += size
        text = json.dumps(header).encode()
        with (folder / name).open("wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            if "model.embed_tokens.weight" in tensors:
                rng = np.random.default_rng(0)
                for _ in range(0, ROWS, 8192):
                    values = rng.normal(size=(8192, SIZE)).astype(np.float32)
                    file.write((values.view(np.uint32) >> 16).astype(np.uint16).tobytes())
            file.truncate(8 + len(text) + at)
            os.fsync(file.fileno())
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    config = {"model_type": "llama", "vocab_size": ROWS, "hidden_size": SIZE, "num_hidden_layers": OTHERS,
              "num_attention_heads": 32, "architectures": ["LlamaForCausalLM"]}  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))


def drop(file: Path) -> None:
    """Take a file out of the page cache."""
    with file.open("rb") as opened:
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def open_it(folder: str) -> None:
    """In a program of its own: open, show 1,000 rows, say what it took."""
    from kiruviz.models.opening import open_model
    from kiruviz.models.rows import make_space
    from kiruviz.space import Filters, Recipe, Rows

    before = read_bytes(), status("VmHWM"), status("RssAnon")
    start = time.perf_counter()
    opened = open_model(folder)
    opened.vocabulary()
    ready = time.perf_counter()
    recipe = Recipe(folder, rows=Rows(filters=Filters(unused=True, pattern=r"\[row \d{1,3}\]")))
    space = make_space(opened, recipe)
    assert space.vectors.shape == (1000, SIZE)
    done = time.perf_counter()
    headers = sum(len(header) for _, header in opened._store.headers)
    read = read_bytes() - before[0]
    peak, own = status("VmHWM") - before[1], status("RssAnon") - before[2]
    print(json.dumps({"open": ready - start, "rows": done - ready, "read": read, "peak": peak, "own": own,
                      "headers": headers}))  # fmt: skip


def read_bytes() -> int:
    """Bytes this process had fetched from the disk."""
    return int(next(line for line in Path("/proc/self/io").read_text().splitlines() if "read_bytes" in line).split()[1])


def status(name: str) -> int:
    """A figure of /proc/self/status in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) * 1024


if __name__ == "__main__":
    open_it(sys.argv[2]) if sys.argv[1:2] == ["--open"] else main()
