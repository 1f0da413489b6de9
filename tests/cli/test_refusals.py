"""Whatever cannot be done is one sentence on stderr and exit 2, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiruviz.session.store import Session
from tests.cli.conftest import EVERYDAY, Run


@pytest.mark.parametrize("command", [("info",), ("neighbors", "king"), ("map",)])
def test_models_that_cannot_be_opened(kiruviz: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "pytorch_model.bin").write_bytes(b"x")
    (tmp_path / "bad.safetensors").write_bytes(b"not at all")
    (tmp_path / "bad.gguf").write_bytes(b"GGUF")
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "words.txt").write_text("king")
    for name, words in {
        "nosuch": "no file or folder 'nosuch'",
        "": "no file or folder ''",
        "a\nb": "no file or folder 'a\\nb'",
        str(tmp_path / "gone"): "gone",
        str(tmp_path / "empty"): "holds no weights",
        str(tmp_path / "other"): "pytorch_model.bin",
        str(tmp_path / "bad.safetensors"): "bad.safetensors",
        str(tmp_path / "bad.gguf"): "bad.gguf",
        str(tmp_path / "words.txt"): "words.txt is not a model",
    }.items():
        kiruviz(command[0], name, *command[1:]).refused_with(words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("San Francisco",), "“San Francisco” is not one token of SmolLM2-135M-Instruct but "),
        (("qzxv\n\n",), "“qzxv↵↵” is not one token"),
        (("",), "“” is not one token"),
        (("49152", "--id"), "0 to 49151"),
        (("-1", "--id"), "0 to 49151"),
        (("king", "--id"), "has no row “king”"),
        (("²", "--id"), "has no row “²”"),
        (("king", "-k", "0"), "at least 1, not 0"),
        (("king", "-k", "-3"), "at least 1, not -3"),
        (("king", "-k", "many"), "“many” is not a whole number"),
        (("king", "-k", "9" * 400), "is too large a number"),
        (("king", "--metric", "manhattan"), "manhattan"),
        (("king", "--remove-top", "-1"), "--remove-top must be 0 or more"),
        (("king", "--remove-top", "576"), "between 0 and 575"),
        (("king", "queen"), "queen"),
        ((), "TOKEN"),
    ],
)
def test_neighbors(kiruviz: Run, arguments: tuple[str, ...], words: str) -> None:
    kiruviz("neighbors", "smollm2", *arguments).refused_with(words)


def test_a_table_the_model_has_not(kiruviz: Run) -> None:
    kiruviz("neighbors", "minilm", "king", "--kind", "output").refused_with("has no output embeddings")
    kiruviz("map", "minilm", "--kind", "output").refused_with("has no output embedding")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--clusters", "0"), "between 1 and the number of rows, 200, not 0"),
        (("--clusters", "201"), "between 1 and the number of rows, 200, not 201"),
        (("--clusters", "-1"), "not -1"),
        (("--seed", "-1"), "The seed must be"),
        (("--seed", "4294967296"), "The seed must be"),
        (("--seed", "1.5"), "“1.5” is not a whole number"),
        (("--method", "umap", "--param", "neighbours=5"), "“neighbours=5” is not a parameter of umap"),
        (("--method", "umap", "--param", "n_neighbors"), "write NAME=VALUE"),
        (("--method", "umap", "--param", "n_neighbors=many"), "“n_neighbors=many”: the value must be a whole number"),
        (("--method", "umap", "--param", "n_epochs=1e3"), "“n_epochs=1e3”: the value must be a whole number"),
        (("--method", "umap", "--param", "min_dist=x"), "“min_dist=x”: the value must be a number"),
        (("--method", "umap", "--param", "min_dist=nan"), "min_dist must be a number, not nan"),
        (("--method", "umap", "--param", "n_neighbors=1"), "n_neighbors must be"),
        (("--method", "umap", "--param", "metric=dot"), "metric must be cosine or euclidean"),
        (("--method", "umap", "--param", "components=3"), "components must be 2"),
        (("--param", "seed=3"), "“seed=3” is not a parameter of pca"),
        (("--method", "tsne"), "tsne"),
        (("--kind", "position"), "position"),
        (("--remove-top", "600"), "between 0 and 575"),
        (("--all", "--words", "w.txt"), "not allowed with argument"),
        (("--width", "5", "--figure", "a.svg"), "width of 5 mm"),
        (("--width", "nan", "--figure", "a.svg"), "width of nan mm"),
        (("--dpi", "1"), "resolution of 1 dpi"),
        (("--theme", "pink"), "pink"),
        (("--unknown\nthing",), "--unknown thing"),
    ],
)
def test_map(kiruviz: Run, arguments: tuple[str, ...], words: str) -> None:
    kiruviz("map", "smollm2", *arguments).refused_with(words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"king\nqueen\xff\n", "line 2: not UTF-8"),
        (b"", "holds no words"),
        (b"# only a comment\n\n", "holds no words"),
        ("🦓🦓\n".encode(), "'🦓🦓': unknown to the tokenizer"),
        (None, "cannot be read"),
    ],
)
def test_word_files(kiruviz: Run, tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "w.txt"
    if content is not None:
        path.write_bytes(content)
    kiruviz("map", "minilm", "--words", path).refused_with("w.txt", words)
    kiruviz("map", "minilm", "--words", tmp_path).refused_with("cannot be read")


@pytest.mark.parametrize(
    ("option", "name"), [("--session", "a.kiru"), ("--figure", "a.svg"), ("--table", "a.csv"), ("--table", "a.parquet")]
)
def test_outputs_that_exist_are_kept_without_overwrite(kiruviz: Run, tmp_path: Path, option: str, name: str) -> None:
    path = tmp_path / name
    path.write_text("mine")
    kiruviz("map", "minilm", option, path).refused_with(f"{path} exists already", "--overwrite")
    assert path.read_text() == "mine"
    ran = kiruviz("map", "minilm", option, path, "--overwrite")
    assert (ran.code, ran.err) == (0, "")
    assert path.read_bytes() != b"mine"


@pytest.mark.parametrize("option", ["--session", "--figure", "--table"])
def test_output_names_that_cannot_be_written(kiruviz: Run, tmp_path: Path, option: str) -> None:
    kiruviz("map", "minilm", option, tmp_path / "a.txt").refused_with("a.txt should end in")
    kiruviz("map", "minilm", option, tmp_path / "a").refused_with("should end in")
    suffix = {"--session": ".kiru", "--figure": ".pdf", "--table": ".csv"}[option]
    kiruviz("map", "minilm", option, tmp_path / f"no/a{suffix}").refused_with("does not exist")
    (tmp_path / f"d{suffix}").mkdir()
    kiruviz("map", "minilm", option, tmp_path / f"d{suffix}").refused_with("is a folder")


def test_a_wrong_output_stops_before_anything_is_written(kiruviz: Run, tmp_path: Path) -> None:
    session = tmp_path / "a.kiru"
    kiruviz("map", "minilm", "--session", session, "--figure", tmp_path / "a.bmp").refused_with("a.bmp")
    kiruviz("map", "minilm", "--session", session, "--table", tmp_path / "no/a.csv").refused_with("does not exist")
    assert not list(tmp_path.iterdir())


def test_a_session_that_is_open_elsewhere_is_not_overwritten(kiruviz: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.kiru"
    with Session.create(path):
        kiruviz("map", "minilm", "--session", path, "--overwrite").refused_with("is open in another KiruViz")


def test_sessions_that_cannot_be_exported(kiruviz: Run, tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    empty, damaged, text = tmp_path / "empty.kiru", tmp_path / "damaged.kiru", tmp_path / "text.kiru"
    Session.create(empty).close()
    data = bytearray(empty.read_bytes())
    data[100:] = b"\x5a" * (len(data) - 100)
    damaged.write_bytes(bytes(data))
    text.write_text("king\n")
    for path, words in (
        (empty, "holds no map yet"),
        (damaged, "damaged"),
        (text, "text.kiru"),
        (tmp_path / "gone.kiru", "does not exist"),
        (tmp_path, "is a folder"),
    ):
        kiruviz("export", path, "--table", table).refused_with(words)
    assert not table.exists()
    kiruviz("export", empty).refused_with("--figure F, --table F, --labels F")
    kiruviz("export", empty, "--labels", tmp_path / "l.parquet").refused_with("should end in .csv or .json")


def test_a_view_that_was_not_saved_is_named(kiruviz: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.kiru"
    assert kiruviz("map", "minilm", "--words", EVERYDAY, "--session", path).code == 0
    kiruviz("export", path, "--view", "wide", "--figure", tmp_path / "a.svg").refused_with("no view named “wide”")
    kiruviz("export", path, "--view", "wide", "--table", tmp_path / "a.csv").refused_with("no view named “wide”")


@pytest.mark.parametrize("arguments", [("nosuch",), ("open",), ("info",), ("open", "gone.kiru"), ("--bad",)])
def test_commands_that_are_none(kiruviz: Run, arguments: tuple[str, ...]) -> None:
    kiruviz(*arguments).refused_with()
