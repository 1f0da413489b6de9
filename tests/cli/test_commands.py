"""What each command prints, for people and as JSON."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiruviz import __version__, cli
from kiruviz.cli import TerminalProgress
from kiruviz.models.opening import open_model
from tests.cli.conftest import Run

MIXED = "king\nqueen\nSan Francisco\nzebra crossing\n\n# a comment\nking\nsunflower\nsix\nseven\n"


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    path = tmp_path / "mixed.txt"
    path.write_text(MIXED, encoding="utf-8")
    return path


def json_of(kiruviz: Run, *arguments: str | Path) -> dict[str, Any]:
    """The one JSON object of a command that ended well without a word on stderr."""
    ran = kiruviz(arguments[0], "--json", *arguments[1:])
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("\n") == 1
    value = json.loads(ran.out)
    assert isinstance(value, dict)
    return value


def test_info_as_json_has_the_agreed_keys(kiruviz: Run) -> None:
    found = json_of(kiruviz, "info", "smollm2")
    agreed = {
        "model_type": "llama",
        "name": "SmolLM2-135M-Instruct",
        "vocab_size": 49152,
        "hidden_size": 576,
        "num_layers": 30,
        "num_heads": 9,
        "head_dim": 64,
        "tied": True,
        "position_scheme": "rotary",
        "max_positions": 8192,
        "dtype": "Q8_0",
        "rows_without_token": 0,
    }
    assert {key: found[key] for key in agreed} == agreed
    assert len(found["identity"]) == 64
    minilm = json_of(kiruviz, "info", "minilm")
    assert set(minilm) == set(found)
    assert (minilm["position_scheme"], minilm["max_positions"], minilm["tied"]) == ("learned", 512, None)


def test_info_for_people_is_a_table(kiruviz: Run) -> None:
    ran = kiruviz("info", "smollm2")
    assert (ran.code, ran.err) == (0, "")
    lines = dict(line.split("  ", 1) for line in ran.out.splitlines())
    said = {name: value.strip() for name, value in lines.items()}
    assert said["Model"] == "SmolLM2-135M-Instruct"
    assert said["Input embedding"] == "49,152 rows of 576, stored as Q8_0"
    assert said["Output embedding"] == "the same rows (tied)"
    assert said["Heads"] == "9, 3 for keys and values"
    assert said["Positions"] == "rotary, theta 100,000, up to 8,192"
    assert "None" not in kiruviz("info", "minilm").out


def test_neighbors_as_json(kiruviz: Run) -> None:
    found = json_of(kiruviz, "neighbors", "smollm2", " king", "-k", "3", "--metric", "dot")
    assert (found["token_id"], found["token"], found["metric"], found["transform"]) == (4197, " king", "dot", "raw")
    assert [list(one) for one in found["neighbors"]] == [["token_id", "token", "score"]] * 3
    E = open_model("smollm2").table("token").astype(np.float64)
    scores = E @ E[4197]
    scores[4197] = -np.inf
    best = np.argsort(-scores, kind="stable")[:3]
    assert [one["token_id"] for one in found["neighbors"]] == best.tolist()
    assert [one["score"] for one in found["neighbors"]] == pytest.approx(scores[best].tolist(), abs=1e-5)


def test_neighbors_for_people(kiruviz: Run) -> None:
    ran = kiruviz("neighbors", "smollm2", "king", "-k", "2", "--center")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "Nearest to “king”, row 644; centred"
    assert lines[1].split() == ["token", "cosine", "row"]
    assert len(lines) == 6
    assert lines[4].startswith("Mean cosine of random pairs: ")
    assert lines[5] == "With a leading space it is another token: kiruviz neighbors smollm2 4197 --id"
    by_id = kiruviz("neighbors", "smollm2", "4197", "--id", "-k", "2")
    assert by_id.out.startswith("Nearest to “·king”, row 4197; raw\n")
    assert "another token" not in by_id.out


@pytest.mark.parametrize(
    ("token", "row", "shown"),
    [
        ("\n", 198, "↵"),
        ("\t", 197, "⇥"),
        ('"', 18, '"'),
        ("'", 23, "'"),
        (" ", 216, "·"),
        ("\n\n", 1116, "↵↵"),
        ("\\", 76, "\\"),
        ("-", 29, "-"),
        ("<|im_start|>", 1, "<|im_start|>"),
        ("{", 107, "{"),
    ],
)
def test_odd_but_legal_tokens_have_neighbours(kiruviz: Run, token: str, row: int, shown: str) -> None:
    found = json_of(kiruviz, "neighbors", "smollm2", "-k", "4", "--metric", "euclidean", "--", token)
    assert (found["token_id"], found["token"], len(found["neighbors"])) == (row, token, 4)
    ran = kiruviz("neighbors", "smollm2", "-k", "4", "--", token)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"Nearest to “{shown}”, row {row}; raw\n")
    assert len(ran.out.splitlines()) in (7, 8)


def test_map_as_json_is_one_object(kiruviz: Run, mixed: Path, tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    found = json_of(kiruviz, "map", "smollm2", "--words", mixed, "--clusters", "2", "--seed", "3", "--table", table)
    assert (found["model"], found["rows"], found["size"], found["transform"]) == (
        "SmolLM2-135M-Instruct",
        7,
        576,
        "raw",
    )
    assert (found["method"], found["params"]) == ("pca", {"components": 2})
    assert [list(one) for one in found["clusters"]] == [["cluster_id", "size", "nearest"]] * 2
    assert sum(one["size"] for one in found["clusters"]) == 7
    assert found["several_pieces"] == ["San Francisco", "zebra crossing"]
    assert found["left_out"] == [{"word": "king", "reason": "listed twice"}]
    assert found["written"] == [str(table)]


def test_map_marks_words_of_several_tokens_and_says_what_it_left_out(kiruviz: Run, mixed: Path, tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    ran = kiruviz("map", "smollm2", "--words", mixed, "--clusters", "2", "--table", table)
    assert (ran.code, ran.err) == (0, "")
    assert (
        "2 words are several tokens, shown as the mean of their rows: “San Francisco”, “zebra crossing”\n"
    ) in ran.out
    assert "1 word left out (listed twice): “king”\n" in ran.out
    assert "% of the variance\n" in ran.out
    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"), newline="")))
    assert {row["token"]: row["pieces"] for row in rows} == {
        **dict.fromkeys(("king", "queen", "sunflower", "six", "seven"), "1"),
        "San Francisco": "2",
        "zebra crossing": "2",
    }
    first = kiruviz("map", "smollm2", "--words", mixed, "--clusters", "2", "--pieces", "first")
    assert "shown as the row of their first token" in first.out
    without = kiruviz("map", "smollm2", "--words", mixed, "--clusters", "2", "--pieces", "leave_out")
    assert "2 words left out (2 tokens): “San Francisco”, “zebra crossing”" in without.out


def test_map_says_how_many_of_many_words_it_left_out(kiruviz: Run, tmp_path: Path) -> None:
    words = tmp_path / "w.txt"
    words.write_text("\n".join(["king", *(chr(0x1F300 + i) for i in range(30))]), encoding="utf-8")
    ran = kiruviz("map", "minilm", "--words", words, "--clusters", "1")
    assert "30 words left out (unknown to the tokenizer): " in ran.out
    assert ran.out.rstrip().endswith(" and 10 more")


def test_map_of_a_table_with_rows_nothing_points_to_says_so(kiruviz: Run, odd_model: Path) -> None:
    ran = kiruviz("map", odd_model, "--all", "--clusters", "2")
    assert (ran.code, ran.err) == (0, "")
    assert "9 rows of 4" in ran.out
    assert "2 rows of the table left out (no token there)\n" in ran.out
    assert "1 row of the table left out (NaN or infinity in the numbers)\n" in ran.out


def test_map_writes_nothing_but_what_was_asked_for(kiruviz: Run, mixed: Path, home: Path, tmp_path: Path) -> None:
    assert kiruviz("map", "smollm2", "--words", mixed, "--clusters", "2").code == 0
    figure = tmp_path / "a.png"
    assert kiruviz("map", "smollm2", "--words", mixed, "--clusters", "2", "--figure", figure, "--dpi", "40").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "mixed.txt"]
    assert not (home / "kiruviz/data/untitled").exists()


def test_a_parameter_that_is_given_is_used(kiruviz: Run, mixed: Path) -> None:
    params = ("--param", "n_epochs=5", "--param", "min_dist=0.25", "--param", "metric=euclidean")
    found = json_of(kiruviz, "map", "smollm2", "--words", mixed, "--clusters", "2", "--method", "umap", *params)
    assert (found["params"]["n_epochs"], found["params"]["min_dist"]) == (5, 0.25)
    assert (found["params"]["metric"], found["params"]["seed"]) == ("euclidean", 0)
    seeds = ("--seed", "4", "--param", "n_epochs=5")
    found = json_of(kiruviz, "map", "smollm2", "--words", mixed, "--clusters", "2", "--method", "umap", *seeds)
    assert found["params"]["seed"] == 4


def test_the_transform_is_named_and_the_output_table_of_a_tied_model_is_the_same(kiruviz: Run, mixed: Path) -> None:
    options = ("--words", mixed, "--clusters", "2", "--center", "--remove-top", "1", "--normalize")
    token = json_of(kiruviz, "map", "smollm2", *options)
    output = json_of(kiruviz, "map", "smollm2", "--kind", "output", *options)
    assert token["transform"] == "centred, all-but-the-top 1, unit length"
    assert token["clusters"] == output["clusters"]


def test_export_writes_what_a_session_holds(kiruviz: Run, mixed: Path, tmp_path: Path) -> None:
    session = tmp_path / "a.kiru"
    assert kiruviz("map", "smollm2", "--words", mixed, "--clusters", "2", "--session", session).code == 0
    outputs = {"--figure": tmp_path / "a.svg", "--table": tmp_path / "a.parquet", "--labels": tmp_path / "a.json"}
    arguments = [part for pair in outputs.items() for part in pair]
    size = ("--width", "80", "--height", "60", "--dpi", "72", "--theme", "dark", "--font-size", "6")

    ran = kiruviz("export", session, *arguments, *size, "--title", "Seven words", "--caption", "--no-legend")

    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "".join(f"wrote {path}\n" for path in outputs.values())
    svg = outputs["--figure"].read_text(encoding="utf-8")
    assert ">Seven words</text>" in svg
    again = json_of(kiruviz, "export", session, *arguments, "--overwrite")
    assert again == {"written": [str(path) for path in outputs.values()]}


@pytest.mark.parametrize("command", ["", "open", "info", "neighbors", "map", "export"])
def test_help_says_what_each_option_does(kiruviz: Run, command: str) -> None:
    ran = kiruviz(*command.split(), "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"usage: kiruviz {command}".rstrip())
    lines = ran.out.splitlines()
    for at, line in enumerate(lines):
        if line.startswith("  --"):
            assert "  " in line.strip() or lines[at + 1].startswith(" " * 20), f"{line.strip()} is not explained"


def test_the_version_is_told(kiruviz: Run) -> None:
    assert kiruviz("--version").out == f"kiruviz {__version__}\n"


def test_a_fault_of_the_program_is_one_sentence_and_its_details_are_in_the_log(
    kiruviz: Run, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    def fail(options: object) -> int:
        raise ValueError("a\nb")

    monkeypatch.setattr(cli, "_info", fail)
    ran = kiruviz("info", "smollm2")
    log = home / "kiruviz/data/kiruviz.log"
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"kiruviz: Something went wrong inside KiruViz (ValueError: a b); {log} has the details.\n"
    assert "Traceback" in log.read_text(encoding="utf-8")


def test_progress_on_a_terminal_is_wiped_away(capsys: pytest.CaptureFixture[str]) -> None:
    progress = TerminalProgress()
    progress.report(0.25, "Hashing")
    progress.report(None, "Go")
    progress.clear()
    progress.clear()
    assert capsys.readouterr().err == "\rHashing 25%\rGo         \r  \r"
