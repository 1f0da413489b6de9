"""Files of vectors come out row for row as their own libraries have them, or are refused by line."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiruviz.errors import UserError
from kiruviz.models.checkpoint import Checkpoint
from kiruviz.models.opening import open_model
from kiruviz.models.rows import make_space
from kiruviz.models.vectors import projector, text
from kiruviz.models.vectors.table import SeveralTablesError
from kiruviz.space import Recipe, Rows

FIXTURES = Path(__file__).parent / "fixtures"
Opened = Callable[[str, bytes], Checkpoint]
Refused = Callable[[str, bytes], str]


def names(checkpoint: Checkpoint) -> tuple[str, ...]:
    return checkpoint.vocabulary().text


# --- text: word2vec, GloVe, fastText's .vec


def test_gensims_text_and_binary_files_hold_the_same_rows() -> None:
    text, binary = open_model(str(FIXTURES / "gensim.txt")), open_model(str(FIXTURES / "gensim.bin"))
    assert names(text) == ("king", "queen", "</s>", "naïve", "名前", "new_york", "it's", "x", '"', "7")
    np.testing.assert_array_equal(text.table(), binary.table())
    expected = np.random.default_rng(0).normal(size=(10, 5)).astype(np.float32)
    np.testing.assert_array_equal(text.table(), expected)
    assert text.identity == binary.identity


@pytest.mark.parametrize("model", ["fasttext", "supervised"])
def test_a_fasttext_model_gives_the_vectors_that_fasttext_gives(model: str) -> None:
    opened = open_model(str(FIXTURES / f"{model}.bin"))
    said = json.loads((FIXTURES / f"{model}.json").read_text(encoding="utf-8"))
    assert list(names(opened)) == list(said)
    np.testing.assert_allclose(opened.table(), np.array(list(said.values()), np.float32), atol=1e-7)


def test_a_name_may_hold_spaces_and_be_a_space(opened: Opened) -> None:
    found = opened("a.txt", b"a b 1 2\nc 3 4\n  5 6\n")
    assert names(found) == ("a b", "c", " ")
    np.testing.assert_array_equal(found.table(), [[1, 2], [3, 4], [5, 6]])
    headed = opened("b.vec", b"2 2\nwindows 95 1 2\nb 3 4 \n")
    assert names(headed) == ("windows 95", "b")


def test_line_ends_byte_order_mark_gzip_and_tabs_do_not_matter(opened: Opened) -> None:
    plain = opened("a.txt", b"x 1 2\ny 3 4\n")
    for name, content in (
        ("b.txt", b"\xef\xbb\xbfx 1 2\r\ny 3 4\r\n\r\n"),
        ("c.txt.gz", gzip.compress(b"x 1 2\ny 3 4")),
        ("d.txt", b"x\t1\t2\ny\t3\t4\n"),
        ("e.bin", b"2 2\nx " + np.float32([1, 2]).tobytes() + b"\ny " + np.float32([3, 4]).tobytes()),
    ):
        assert opened(name, content).identity == plain.identity, name


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"a 1,5 2\nb 1 2\n", "line 1: number 1 is “1,5”, which is no number; write a decimal point"),
        (b"a 1 2\nb 1\n", "line 2: a name and 1 number, expected a name and 2 numbers"),
        (b"a 1 2\n\nb 1 2\n", "line 2: a blank line, expected a name and 2 numbers"),
        (b"3 2\na 1 2\n", "promises 3 rows, but 1 follow"),
        (b"1 2\na 1 2\nb 1 2\n", "promises 1 rows, but 2 follow"),
        (b"5 2\n", "promises 5 rows, but the file ends there"),
        (b"a 1 0x2\nb 1 2\n", "line 1: number 2 is “0x2”"),
        (b"", "is empty"),
        (b"only words here\n", "bad.txt is not a model that can be opened"),
        (b"a word\nb 1\n", "line 1: number 1 is “word”"),
        ("a 1 2\n".encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
    ],
)
def test_what_is_wrong_with_a_text_file_is_named_by_line(refused: Refused, content: bytes, says: str) -> None:
    assert says in refused("bad.txt", content)


def test_names_that_are_no_utf8_keep_their_bytes(opened: Opened) -> None:
    assert names(opened("a.txt", b"caf\xe9 1 2\nb 3 4\n")) == ("caf\\xe9", "b")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"2 2\na " + np.float32([1, 2]).tobytes() + b"\nb \0\0\0\0", "row 2 of 2 is cut off"),
        (b"1 2\na " + np.float32([1, 2]).tobytes() + b"more\0", "goes on after the 1 rows"),
        (b"90000000 300\na " + np.float32([1, 2]).tobytes(), "promises 90,000,000 rows of 300, more than the file"),
    ],
)
def test_a_binary_file_that_is_not_whole_is_refused(refused: Refused, content: bytes, says: str) -> None:
    assert says in refused("bad.bin", content)


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(refused: Refused) -> None:
    assert "unpacks to more than 60 times its size" in refused("bomb.txt.gz", gzip.compress(b"a 1 1 1 1\n" * 2_000_000))
    assert "damaged or cut off .gz" in refused("cut.txt.gz", gzip.compress(b"a 1 2\n" * 2000)[:-30])


# --- the Embedding Projector's files


def pair(folder: Path, vectors: str, metadata: str | None) -> Path:
    path = folder / "vectors.tsv"
    path.write_bytes(vectors.encode())
    if metadata is not None:
        (folder / "metadata.tsv").write_bytes(metadata.encode())
    return path


def test_a_projector_pair_opens_from_either_file_with_its_columns(tmp_path: Path) -> None:
    path = pair(tmp_path, "1\t2\n3\t4\n", "word\tcount\tcolour\nking\t7\tred\nqueen\t8\tblue\n")
    for file in (path, tmp_path / "metadata.tsv"):
        opened = open_model(str(file))
        assert names(opened) == ("king", "queen")
        assert opened.columns["count"].tolist() == [7, 8]
        assert opened.columns["colour"].tolist() == ["red", "blue"]
    space = make_space(opened, Recipe(str(path), rows=Rows(words=("queen",))))
    assert space.columns["colour"].tolist() == ["blue"]


def test_metadata_of_one_column_may_have_a_heading_or_none(tmp_path: Path) -> None:
    assert names(open_model(str(pair(tmp_path, "1\t2\n3\t4\n", "king\nqueen\n")))) == ("king", "queen")
    assert names(open_model(str(pair(tmp_path, "1\t2\n3\t5\n", "word\nking\nqueen")))) == ("king", "queen")


def test_a_blank_label_stays_with_its_row(tmp_path: Path) -> None:
    opened = open_model(str(pair(tmp_path, "1\t2\n3\t4\n5\t6\n", "king\n\nqueen\n")))
    assert names(opened) == ("king", "", "queen")


@pytest.mark.parametrize("metadata", ["a\n", "a\nb\nc\nd\n", "w\tn\na\t1\nb\t2\nc\t3\n", "w\tn\na\t1\nb\n"])
def test_another_number_of_labels_than_of_vectors_is_refused(tmp_path: Path, metadata: str) -> None:
    path = pair(tmp_path, "1\t2\n3\t4\n", metadata)
    with pytest.raises(UserError, match=r"metadata\.tsv(, line 3:| has \d lines for the 2 vectors of vectors\.tsv)"):
        open_model(str(path))


def test_a_bad_number_among_vectors_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"vectors\.tsv, line 2, column 2: “x” is no number; correct it"):
        open_model(str(pair(tmp_path, "1\t2\n3\tx\n", None)))
    with pytest.raises(UserError, match=r"line 2: 1 numbers, but the lines before have 2"):
        open_model(str(pair(tmp_path, "1\t2\n3\n", None)))


def test_a_projector_config_opens_what_it_names_inside_its_folder(tmp_path: Path) -> None:
    pair(tmp_path, "1\t2\n3\t4\n", "king\nqueen\n")
    (tmp_path / "raw.bytes").write_bytes(np.float32([[1, 2], [3, 4]]).tobytes())
    one = {"tensorName": "words", "tensorShape": [2, 2], "tensorPath": "vectors.tsv", "metadataPath": "metadata.tsv"}
    raw = {"tensorName": "raw", "tensorShape": [2, 2], "tensorPath": "/data/raw.bytes"}
    config = tmp_path / "projector_config.json"
    config.write_text(json.dumps({"embeddings": [one]}))
    assert names(open_model(str(tmp_path))) == ("king", "queen")
    config.write_text(json.dumps({"embeddings": [one, raw]}))
    with pytest.raises(SeveralTablesError) as caught:
        open_model(str(config))
    assert [choice.name for choice in caught.value.choices] == ["words", "raw"]
    np.testing.assert_array_equal(open_model(f"{config}::raw").table(), [[1, 2], [3, 4]])
    for bad in ("../outside.tsv", "gone.tsv", "https://example.org/v.tsv"):
        config.write_text(json.dumps({"embeddings": [{"tensorName": "x", "tensorPath": bad}]}))
        with pytest.raises(UserError, match=r"projector_config\.json names"):
            open_model(str(config))


@pytest.mark.parametrize("name", ["\n", "\t", '"', " ", "\\", "\\n", "a\tb", "\r\n", "名", "\x00", "", "'"])
def test_escaped_names_come_back_exactly(name: str) -> None:
    assert text.unescaped(projector.escaped(name)) == text.unescaped(text.escaped(name)) == name
    assert not set("\t\n\r") & set(projector.escaped(name))
    assert not set(" \t\n\r") & set(text.escaped(name))


# --- CSV and Parquet


def test_a_csv_has_names_vectors_and_columns(opened: Opened) -> None:
    found = opened("a.csv", b'word,count,x0,x1\n"a, b",3,0.5,1\nc,,2,2.5\n')
    assert names(found) == ("a, b", "c")
    np.testing.assert_array_equal(found.table(), [[0.5, 1], [2, 2.5]])
    assert np.isnan(found.columns["count"][1])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pandas.csv", b",0,1\nking,0.5,1.5\nqueen,2.5,3\n"),
        ("plain.csv", b"king,0.5,1.5\nqueen,2.5,3\n"),
        ("german.csv", "\ufeffwort;a;b\r\nking;0,5;1,5\r\nqueen;2,5;3\r\n".encode()),
        ("tabs.tsv", b"word\ta\tb\nking\t0.5\t1.5\nqueen\t2.5\t3\n"),
        ("list.csv", b'word,vector\nking,"[0.5, 1.5]"\nqueen,"[2.5, 3]"\n'),
    ],
)
def test_tables_as_programs_write_them(opened: Opened, name: str, content: bytes) -> None:
    found = opened(name, content)
    assert names(found) == ("king", "queen")
    np.testing.assert_array_equal(found.table(), [[0.5, 1.5], [2.5, 3]])


def test_a_heading_that_looks_like_data_is_a_heading(opened: Opened) -> None:
    found = opened("a.csv", b"0,1,2\n0.5,1.5,2.5\n3,4,5\n")
    np.testing.assert_array_equal(found.table(), [[0.5, 1.5, 2.5], [3, 4, 5]])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"w,a,b\nx,1,2\ny,1\n", "line 3: 2 columns, but the lines before have 3"),
        (b"w,a,b\nx,1,2\n\ny,1,2\n", "line 3: a blank line among the rows"),
        (b"w,a,b\nx,1,2\n" + b"y,1,2\n" * 60 + b"z,1,oops\n", "line 63, column “b”: “oops” is no number"),
        (b"w,a,b\nx,1.5,2.5\n" + b"y,1,2\n" * 60 + b"z,1,\n", "line 63, column “b”: is empty"),
        (b"w,v\nx,hello\n", "has no column of numbers"),
        (b"w,a\n", "has a heading and no rows"),
        (b'w,a\n"x,1\n', "correct its quotes"),
        (b"w,a\n\xff,1\n", "line 2: not UTF-8"),
        (b'w,v\nx,"[1, 2]"\ny,"[1]"\n', "line 3: 1 numbers, but the rows before have 2"),
    ],
)
def test_what_is_wrong_with_a_table_is_named_by_line(refused: Refused, content: bytes, says: str) -> None:
    assert says in refused("bad.csv", content)


def parquet(columns: dict[str, Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def test_parquet_holds_vectors_in_a_list_column_or_a_column_each(opened: Opened) -> None:
    import pyarrow as pa

    fixed = pa.FixedSizeListArray.from_arrays(pa.array([1, 2, 3, 4], pa.float32()), 2)
    for name, columns in {
        "fixed.parquet": {"text": ["a", "b"], "embedding": fixed, "n": [1, 2]},
        "list.parquet": {"text": ["a", "b"], "embedding": [[1.0, 2.0], [3.0, 4.0]], "n": [1, 2]},
        "wide.parquet": {"text": ["a", "b"], "dim_0": [1.0, 3.0], "dim_1": [2.0, 4.0], "n": [1, 2]},
    }.items():
        found = opened(name, parquet(columns))
        assert names(found) == ("a", "b")
        np.testing.assert_array_equal(found.table(), [[1, 2], [3, 4]])
        assert found.columns["n"].tolist() == [1, 2]


def test_parquet_that_does_not_fit_is_refused_by_row(refused: Refused, opened: Opened) -> None:
    assert "row 2 has 1 numbers, row 1 has 2" in refused("a.parquet", parquet({"v": [[1.0, 2.0], [3.0]]}))
    assert "row 2 has no vector" in refused("b.parquet", parquet({"v": [[1.0, 2.0], None]}))
    assert "damaged or no Parquet file" in refused("c.parquet", parquet({"v": [[1.0, 2.0]]})[:-20])
    with pytest.raises(SeveralTablesError) as caught:
        opened("d.parquet", parquet({"other": [[1.0]], "embedding": [[2.0]]}))
    assert [choice.name for choice in caught.value.choices] == ["embedding", "other"]


# --- NumPy


def npy(array: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array, **options)
    return out.getvalue()


def npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def test_npy_takes_its_names_from_the_text_beside_it(opened: Opened, tmp_path: Path) -> None:
    table = np.arange(6, dtype=np.float64).reshape(3, 2)
    assert names(opened("a.npy", npy(table))) == ("[row 0]", "[row 1]", "[row 2]")
    (tmp_path / "b.txt").write_text("x\n\nz\n")
    named = opened("b.npy", npy(table))
    assert names(named) == ("x", "", "z")
    np.testing.assert_array_equal(named.table(), table)
    (tmp_path / "b.txt").write_text("x\nz\n")
    with pytest.raises(UserError, match=r"b\.txt has 2 lines for the 3 rows of b\.npy"):
        opened("b.npy", npy(table + 1))


def test_npz_holds_a_table_names_and_columns(opened: Opened) -> None:
    table = np.arange(6, dtype=np.float16).reshape(3, 2)
    found = opened("a.npz", npz(vectors=table, tokens=np.array(["\n", " ", "c"]), age=np.arange(3)))
    assert names(found) == ("\n", " ", "c")
    assert found.columns["age"].tolist() == [0, 1, 2]
    with pytest.raises(SeveralTablesError) as caught:
        opened("b.npz", npz(first=table, vectors=table))
    assert [choice.name for choice in caught.value.choices] == ["vectors", "first"]


def test_numpy_files_that_hold_no_table_are_refused(refused: Refused) -> None:
    assert "holds Python objects, which are never loaded" in refused("a.npy", npy(np.array([[{}]]), allow_pickle=True))
    assert "Python objects" in refused("a.npz", npz(vectors=np.array([[{}]], object)))
    assert "it is 3 of int64; bring numbers of shape (rows, size)" in refused("b.npy", npy(np.arange(3)))
    assert "damaged" in refused("c.npy", npy(np.zeros((9, 9)))[:-100])
    assert "unpacks to" in refused("bomb.npz", npz(vectors=np.zeros((4_000_000, 8))))


# --- as a model


def test_what_was_read_once_is_there_at_once_and_read_anew_when_the_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"word,a,b,kind\nx,0.5,1,q\n\ty,2,3.5,r\n")
    first = open_model(str(path))
    columns = {name: column.tolist() for name, column in first.columns.items()}
    monkeypatch.setattr(text, "is_number", lambda _: pytest.fail("the file was read again"))
    monkeypatch.setattr("kiruviz.models.vectors.delimited.read", lambda *_: pytest.fail("the file was read again"))
    again = open_model(str(path))
    np.testing.assert_array_equal(again.table(), first.table())
    assert names(again) == names(first) == ("x", "\ty")
    assert {name: column.tolist() for name, column in again.columns.items()} == columns == {"kind": ["q", "r"]}
    monkeypatch.undo()
    path.write_bytes(b"word,a,b\nz,0.5,1\n")
    assert names(open_model(str(path))) == ("z",)


def test_a_vector_file_answers_as_a_model_does() -> None:
    opened = open_model(str(FIXTURES / "gensim.txt"))
    assert (opened.card.vocab_size, opened.card.hidden_size, opened.card.num_layers) == (10, 5, None)
    assert opened.kinds == ("token",)
    space = make_space(opened, Recipe(opened.card.source, rows=Rows(words=("queen", "king", "nobody"))))
    assert space.names == ("queen", "king")
    np.testing.assert_array_equal(space.vectors, opened.table()[[1, 0]])
