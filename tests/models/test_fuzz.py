"""Mutated and truncated files of every format: rows, or one sentence that names the file; no crash, no hang.

`KIRUVIZ_FUZZ=20000` makes so many of each format, as is done before a release.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import psutil
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save

from kiruviz.errors import UserError
from kiruviz.models import gguf_model
from kiruviz.models.gguf_file import GgufFile
from kiruviz.models.tensors import SafetensorsStore
from kiruviz.models.tokenizer import Tokenizer
from kiruviz.models.torch_file import TorchStore
from kiruviz.models.vectors.opened import read_table
from kiruviz.progress import Silent

FILES = int(os.environ.get("KIRUVIZ_FUZZ", "150"))
SECONDS = 5
SPARE = 200 << 20
FIXTURES = Path(__file__).parent / "vectors/fixtures"
ROWS = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
WORDS = ["king", "queen", "naïve", "名前", "a b", "7"]


def text() -> bytes:
    lines = [f"{word} {' '.join(map(repr, row))}" for word, row in zip(WORDS, ROWS.tolist(), strict=True)]
    return ("6 3\n" + "\n".join(lines) + "\n").encode()


def word2vec() -> bytes:
    return b"6 3\n" + b"".join(w.encode() + b" " + r.tobytes() + b"\n" for w, r in zip(WORDS, ROWS, strict=True))


def csv() -> bytes:
    lines = [f'"{word}",{",".join(map(repr, row))},x' for word, row in zip(WORDS, ROWS.tolist(), strict=True)]
    return ("word,d0,d1,d2,kind\n" + "\n".join(lines) + "\n").encode()


def tsv() -> bytes:
    return "\n".join("\t".join(map(repr, row)) for row in ROWS.tolist()).encode()


def config() -> bytes:
    entry = {"tensorName": "a", "tensorShape": [6, 3], "tensorPath": "a.bytes"}
    return json.dumps({"embeddings": [entry]}).encode()


def npz() -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, vectors=ROWS, names=np.array(WORDS))
    return out.getvalue()


def npy() -> bytes:
    out = io.BytesIO()
    np.save(out, ROWS)
    return out.getvalue()


def parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table({"text": WORDS, "embedding": ROWS.tolist(), "n": list(range(6))}), out)
    return out.getvalue()


def checkpoint(archive: bool) -> bytes:
    out = io.BytesIO()
    torch.save({"wte.weight": torch.tensor(ROWS)}, out, _use_new_zipfile_serialization=archive)
    return out.getvalue()


def gguf_file(folder: Path) -> bytes:
    path = folder / "seed.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_token_list(WORDS)
    writer.add_token_types([1] * 6)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_merges(["a b"])
    writer.add_tensor("token_embd.weight", ROWS)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


def read_gguf(path: Path) -> None:
    file = GgufFile(path)
    data = gguf_model.tokenizer_json(file)
    if data is not None:
        assert len(Tokenizer(data, str(path)).tokens) >= 0
    for name in file.infos:
        file.read(name)


def read_safetensors(path: Path) -> None:
    store = SafetensorsStore([path])
    for name in store.infos:
        store.read(name)


def read_torch(path: Path) -> None:
    store = TorchStore([path])
    for name in store.infos:
        store.read(name)


def read_vectors(path: Path) -> None:
    table = read_table(path, None, Silent())
    assert table.vectors.ndim == 2
    assert len(table.names) in (0, len(table.vectors))


def projector_pair(path: Path) -> None:
    """The mutated metadata beside vectors that are whole."""
    path.with_name("vectors.tsv").write_bytes(tsv())
    read_vectors(path)


Reader = Callable[[Path], None]
FORMATS: dict[str, tuple[str, Callable[[Path], bytes], Reader]] = {
    "text": ("a.txt", lambda _: text(), read_vectors),
    "gzip": ("a.txt.gz", lambda _: gzip.compress(text()), read_vectors),
    "word2vec": ("a.bin", lambda _: word2vec(), read_vectors),
    "fasttext": ("f.bin", lambda _: (FIXTURES / "fasttext.bin").read_bytes(), read_vectors),
    "csv": ("a.csv", lambda _: csv(), read_vectors),
    "vectors": ("tensors.tsv", lambda _: tsv(), read_vectors),
    "metadata": ("metadata.tsv", lambda _: "\n".join(["w\tn", *(f"{w}\t1" for w in WORDS)]).encode(), projector_pair),
    "config": ("projector_config.json", lambda _: config(), read_vectors),
    "npy": ("a.npy", lambda _: npy(), read_vectors),
    "npz": ("a.npz", lambda _: npz(), read_vectors),
    "parquet": ("a.parquet", lambda _: parquet(), read_vectors),
    "safetensors": ("a.safetensors", lambda _: save({"wte.weight": ROWS, "b": ROWS[0]}), read_safetensors),
    "gguf": ("a.gguf", gguf_file, read_gguf),
    "torch": ("a.pt", lambda _: checkpoint(True), read_torch),
    "torch of old": ("a.pt", lambda _: checkpoint(False), read_torch),
}  # fmt: skip

_bytes = st.binary(min_size=1, max_size=9) | st.sampled_from(
    [b"\0" * 8, b"\xff" * 8, b"\xff\xff\xff\x7f", b"-1", b"nan", b"99999999999", b"\n", b"\t", b" ", b'"', b"[", b"{"]
)
# (what, where as a share of the file, with what)
_changes = st.lists(
    st.tuples(st.sampled_from(["put", "insert", "cut", "end", "twice"]), st.floats(0, 1), _bytes),
    min_size=1,
    max_size=6,
)


def changed(data: bytes, changes: list[tuple[str, float, bytes]]) -> bytes:
    for what, share, new in changes:
        at = int(share * len(data))
        if what == "put":
            data = data[:at] + new + data[at + len(new) :]
        elif what == "insert":
            data = data[:at] + new + data[at:]
        elif what == "cut":
            data = data[:at] + data[at + len(new) :]
        elif what == "end":
            data = data[:at]
        else:
            data = data[:at] + data[at // 2 :]
    return data


@contextmanager
def bounded(size: int) -> Iterator[None]:
    """No more than five seconds, and no more memory than ten times the file and 200 MB."""

    def late(*_: Any) -> None:
        pytest.fail(f"still reading after {SECONDS} s")

    limit = psutil.Process().memory_info().vms + 10 * size + SPARE
    before, usual = signal.signal(signal.SIGALRM, late), resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit, usual[1]))
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, usual)


@pytest.mark.skipif(os.name == "nt", reason="limits and alarms are POSIX")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", FORMATS)
def test_a_damaged_file_gives_rows_or_one_sentence(kind: str, tmp_path: Path) -> None:
    name, seed, read = FORMATS[kind]
    path, whole = tmp_path / name, seed(tmp_path)
    (tmp_path / "a.bytes").write_bytes(ROWS.tobytes())
    path.write_bytes(whole)
    read(path)
    opened = refused = 0

    @settings(
        max_examples=FILES, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(changes=_changes)
    def one(changes: list[tuple[str, float, bytes]]) -> None:
        nonlocal opened, refused
        data = changed(whole, changes)
        path.write_bytes(data)
        try:
            with bounded(len(data)):
                read(path)
            opened += 1
        except UserError as error:
            said = str(error)
            assert "\n" not in said, said
            assert str(tmp_path) in said, said
            refused += 1

    one()
    print(f"{kind}: {opened:,} opened, {refused:,} refused")
    assert refused
