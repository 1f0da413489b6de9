"""The map's rows for other programs, from a session."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kiruviz.errors import UserError
from kiruviz.models.opening import open_model
from kiruviz.models.vectors.projector import CONFIG
from kiruviz.progress import Silent
from kiruviz.session.store import Session
from kiruviz.space import Recipe
from kiruviz.tasks.spaces import space
from kiruviz.tasks.vector_exports import Target, export_vectors

PLACES: list[tuple[Target, str]] = [
    ("projector", "folder"),
    ("atlas", "a.parquet"),
    ("word2vec", "a.vec"),
    ("npz", "a.npz"),
]


@pytest.mark.parametrize(("target", "name"), PLACES)
def test_what_is_written_opens_again_with_the_same_rows_and_labels(
    session_file: Path, everyday: Recipe, tmp_path: Path, target: Target, name: str
) -> None:
    out = tmp_path / name
    assert export_vectors(Silent(), str(session_file), target, str(out)) == str(out)
    again = open_model(str(out))
    made = space(everyday)
    assert again.vocabulary().text == made.names
    np.testing.assert_array_equal(again.table(), made.vectors)
    if target != "word2vec":
        with Session.open_readonly(session_file) as session:
            assert session.labels is not None
            np.testing.assert_array_equal(again.columns["cluster"], session.labels.assignment)
        assert 'Months, "all" twelve' in again.columns["label"].tolist()


@pytest.mark.parametrize(("target", "name"), PLACES)
def test_nothing_is_replaced_unasked(session_file: Path, tmp_path: Path, target: Target, name: str) -> None:
    out = tmp_path / name
    export_vectors(Silent(), str(session_file), target, str(out))
    written = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    with pytest.raises(UserError, match="already: choose another"):
        export_vectors(Silent(), str(session_file), target, str(out))
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == written
    export_vectors(Silent(), str(session_file), target, str(out), overwrite=True)


def test_places_that_do_not_fit_are_refused_by_name(session_file: Path, tmp_path: Path) -> None:
    def refused(target: Target, out: Path) -> str:
        with pytest.raises(UserError) as caught:
            export_vectors(Silent(), str(session_file), target, str(out))
        return str(caught.value)

    assert "a.csv should end in .npz" in refused("npz", tmp_path / "a.csv")
    assert "The folder" in refused("atlas", tmp_path / "gone" / "a.parquet")
    (tmp_path / "file").write_text("x")
    assert "is a file: give the name of a folder" in refused("projector", tmp_path / "file")
    assert not (tmp_path / CONFIG).exists()


def test_the_command_line_writes_all_that_is_asked_for_or_nothing(
    session_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from kiruviz.cli import main

    folder, table = tmp_path / "p", tmp_path / "t.csv"
    asked = ["export", str(session_file), "--projector", str(folder), "--table", str(table)]
    assert main([*asked, "--npz", str(tmp_path / "a.txt")]) == 2
    assert "a.txt should end in .npz" in capsys.readouterr().err
    assert not table.exists()
    assert main([*asked, "--npz", str(tmp_path / "a.npz")]) == 0
    assert capsys.readouterr().out.count("wrote") == 3
    assert table.exists()
    assert open_model(str(folder)).card.vocab_size == open_model(str(tmp_path / "a.npz")).card.vocab_size == 200
