"""Files of labels come back as they were written, tables of words are read too, and what is wrong is named."""

from __future__ import annotations

import csv
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiruviz.errors import UserError
from kiruviz.figures.label_files import COLUMNS, Label, Labels, aside, read_labels, write_labels
from kiruviz.figures.label_page import MOST_MEMBERS, page

LABELS = Labels(
    (
        Label(0, 'num"bers, all', "named", 3, "a\nnote", ("one", "\n", 'a "quote", and comma'), (5, 6, None), 4),
        Label(3, "", "resists", None, "mixed", (" ", "\t", ""), (1, 2, 3), 0),
        Label(4, "", "unnamed", None, "", ("数", "\x00", "=1+1"), (8, 9, 10), 1),
    ),
    {"model": "m", "identity": "abc"},
    aside(("é", "\r\n"), (11, None)),
)
HEADER = "cluster,name,status,confidence,note,size,members"


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_labels_come_back_as_they_were_written(tmp_path: Path, suffix: str) -> None:
    found = read_labels(write_labels(tmp_path / f"labels{suffix}", LABELS))
    assert (found.clusters, found.aside) == (LABELS.clusters, LABELS.aside)
    assert found.recipe == (LABELS.recipe if suffix == ".json" else {})


texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=8)


@given(members=st.lists(texts, unique=True, max_size=12), name=texts, note=texts)
@settings(max_examples=60, deadline=None)
def test_any_text_comes_back_from_both_formats(tmp_path_factory, members: list[str], name: str, note: str) -> None:
    folder = tmp_path_factory.mktemp("labels")
    status = "named" if name.strip() else "unnamed"
    label = Label(0, name.strip(), status, None, note, tuple(members), tuple(range(len(members))), 2)
    for suffix in (".csv", ".json"):
        assert read_labels(write_labels(folder / f"a{suffix}", Labels((label,)))).clusters == (label,)


def test_a_labels_file_can_be_read_by_people_and_other_programs(tmp_path: Path) -> None:
    rows = read_csv(write_labels(tmp_path / "a.csv", LABELS))
    assert list(rows[0]) == list(COLUMNS)
    assert (rows[0]["size"], json.loads(rows[0]["members"])) == ("3", list(LABELS.clusters[0].members))
    assert (rows[3]["cluster"], rows[3]["status"]) == ("-1", "aside")
    whole = json.loads(write_labels(tmp_path / "a.json", LABELS).read_text(encoding="utf-8"))
    assert whole["clusters"][0]["row_ids"] == [5, 6, None]
    assert whole["kiruviz_labels"] == 1


def test_a_file_from_before_row_numbers_and_colours_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f'{HEADER}\n0,months,named,2,,2,"[""May"", ""June""]"\n', encoding="utf-8")
    assert read_labels(path).clusters == (Label(0, "months", "named", 2, "", ("May", "June")),)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_what_a_spreadsheet_makes_of_a_file_still_reads(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "a.csv"
    lines = [["cluster", "name", "status", "confidence", "note", "size", "members"]]
    lines += [["0", "months", "unnamed", "3.0", "", "1", '"[""May""]"'], ["1", "", "", "", "", "1", '"[""x""]"'][:0]]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(mark.join(line) for line in lines).encode())
    assert read_labels(path).clusters == (Label(0, "months", "named", 3, "", ("May",)),)


def test_twenty_thousand_members_are_one_field(tmp_path: Path) -> None:
    names = tuple(f"a rather long word {i}" for i in range(20_000))
    label = Label(0, "many", "named", None, "", names, tuple(range(20_000)), 0)
    assert read_labels(write_labels(tmp_path / "a.csv", Labels((label,)))).clusters == (label,)


# A row a word


def words(tmp_path: Path, text: str) -> Labels:
    path = tmp_path / "words.csv"
    path.write_text(text, encoding="utf-8")
    return read_labels(path)


def test_words_with_the_same_label_are_a_cluster(tmp_path: Path) -> None:
    found = words(tmp_path, "token,row_id,label\nMay,3,months\nking,4,people\nJune,,months\nthe,7,\n")
    assert found.clusters == (
        Label(0, "months", "named", None, "", ("May", "June"), (3, None)),
        Label(1, "people", "named", None, "", ("king",), (4,)),
    )
    assert found.aside == aside(("the",), (7,))


def test_an_exported_map_is_a_table_of_words(tmp_path: Path) -> None:
    header = "row_id,token,pieces,x,y,cluster,label,status,confidence,note"
    found = words(tmp_path, f"{header}\n3,May,1,0,0,5,months,named,2,n\n4,x,1,0,0,6,,resists,,\n5,y,1,0,0,-1,,,,\n")
    assert found.clusters == (
        Label(5, "months", "named", 2, "n", ("May",), (3,)),
        Label(6, "", "resists", None, "", ("x",), (4,)),
    )
    assert found.aside == aside(("y",), (5,))


# What is wrong


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "cluster,name\n0,x\n", "line 1: there is no column “status”"),
        ("a.csv", f"{HEADER}\nx,n,named,1,,0,[]\n", "line 2, field cluster: “x” should be a whole number"),
        ("a.csv", f"{HEADER}\n0,n,odd,1,,0,[]\n", "line 2, field status: “odd” should be unnamed, named or resists"),
        ("a.csv", f"{HEADER}\n0,,named,1,,0,[]\n", "field name: is empty although"),
        ("a.csv", f"{HEADER}\n0,n,resists,1,,0,[]\n", "field status: resists naming, yet"),
        ("a.csv", f"{HEADER}\n0,n,named,4,,0,[]\n", "field confidence: 4 should be 1, 2 or 3"),
        ("a.csv", f"{HEADER}\n0,n,named,1.5,,0,[]\n", "field confidence: “1.5” should be a whole number"),
        ("a.csv", f"{HEADER}\n0,n,named,1,,0,May\n", "line 2, field members: should be a JSON list"),
        ("a.csv", f"{HEADER}\n0,n,named,1,,0,[1]\n", "field members: should be a list of names"),
        ("a.csv", f'{HEADER}\n0,"a\nb",named,,,1,[]\n0,n,named,,,1,[]\n', "line 4, field cluster: 0 is there twice"),
        (
            "a.csv",
            f'{HEADER}\n0,n,named,,,1,"[""x""]"\n1,m,named,,,1,"[""x""]"\n',
            "“x” is a member of cluster 0 already",
        ),
        (
            "a.csv",
            f'{HEADER},row_ids\n0,n,named,,,1,"[""x""]",[]\n1,m,named,,,1,"[""x""]","[1,2]"\n',
            "2 numbers for 1",
        ),
        ("a.csv", f"{HEADER}\n0,n,named\n", "field confidence: is missing"),
        ("a.csv", f"{HEADER}\n0,n,named,1,,0,[],,\n", "followed by 2 more"),
        ("a.csv", "token,label\nMay,months\nMay,months\n", "“May” is a member of cluster 0 already"),
        ("a.csv", "token,cluster,label\nMay,0,months\nJune,0,Months\n", "line 3, field label: is not that of"),
        ("a.csv", "token,row_id,label\nMay,x,months\n", "line 2, field row_id"),
        ("a.csv", "", "is empty"),
        ("a.csv", "\ufeff\r\n", "is empty"),
        ("a.csv", f"{HEADER}\n", "holds no labels"),
        ("a.json", '{"clusters": []}', "holds no labels"),
        ("a.json", "[]", "not a labels file"),
        ("a.json", "{", "not a labels file"),
        ("a.json", '{"kiruviz_labels": 2, "clusters": []}', "newer KiruViz"),
        ("a.json", '{"clusters": [{"cluster": 0}]}', r"clusters\[0\], field name: is missing"),
        ("a.json", '{"clusters": [3]}', r"clusters\[0\], field cluster"),
        ("a.csv", b"a\nb\xff\xfe\x00", "line 2: not UTF-8"),
        ("a.txt", "x", r"should end in \.csv or \.json"),
    ],
)
def test_a_wrong_file_is_named_with_the_line_and_the_field(tmp_path: Path, name: str, content: str, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UserError, match=said) as caught:
        read_labels(path)
    sentence = str(caught.value)
    assert name in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence.replace("a\nb", "")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone\.csv cannot be read"):
        read_labels(tmp_path / "gone.csv")


# The page to print


class Read(HTMLParser):
    """Checks that elements close in their order, and collects the cells of each row."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag != "meta":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "tr" in self.open and data.strip():
            self.rows[-1][-1] += data


def test_the_page_shows_every_label_with_its_text_escaped(tmp_path: Path) -> None:
    odd = Label(7, "<b>bold</b> & co", "named", 2, '<script>alert("x")</script>', ("<i>", " king", "&amp;"), (), None)
    labels = Labels((*LABELS.clusters, odd), {"model": "M & <N>", "clusters": "kmeans, k 8"}, LABELS.aside)
    path = write_labels(tmp_path / "a.html", labels)
    read = Read()
    read.feed(path.read_text(encoding="utf-8"))
    assert read.open == []
    assert not read.tags & {"script", "i", "link", "img"}
    assert read.rows[0] == ["Cluster", "Name", "Status", "Sure", "Members", "Note"]
    assert read.rows[4] == ["7", "<b>bold</b> & co", "named", "●●○ 2", "3 <i>, ·king, &amp;", odd.note]
    assert read.rows[2][:3] == ["3", "resists naming", "resists"]
    assert read.rows[5][1] == "in no cluster"
    text = path.read_text(encoding="utf-8")
    assert "http" not in text
    assert "@media print" in text
    assert "kmeans, k 8" in text


def test_a_long_list_of_members_says_how_many_are_left_out() -> None:
    label = Label(0, "many", "named", None, "", tuple(map(str, range(MOST_MEMBERS + 5))))
    assert f"{MOST_MEMBERS - 1} … and 5 more, listed in" in page(Labels((label,)))
