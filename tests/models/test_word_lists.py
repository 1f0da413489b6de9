import numpy as np
import pytest

from kiruviz.analysis.traits import Traits
from kiruviz.errors import UserError
from kiruviz.models.rows import read_words
from kiruviz.models.word_lists import parse_lists, word_lists
from kiruviz.paths import resource


def test_a_list_has_a_label_a_fact_a_source_and_words() -> None:
    (months,) = parse_lists("# about\n[months | are months | word list]\nMay June\nJuly\n", "lists")
    assert (months.label, months.fact, months.source) == ("months", "are months", "word list")
    assert months.words == {"May", "June", "July"}


def test_a_list_takes_in_those_above_it() -> None:
    text = "[a | are a | word list]\nx\n[b | are b | word list]\ny\n[c | are c | word class]\nz\n+ a, b\n"
    assert parse_lists(text, "lists")[2].words == {"x", "y", "z"}
    assert parse_lists(text, "lists")[2].parts == ("a", "b")


@pytest.mark.parametrize(
    ("text", "says"), [("words\n", "line 1: words before"), ("[a | b | c]\n+ d\n", "line 2: there is no list “d”")]
)
def test_what_is_wrong_is_named_with_its_line(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        parse_lists(text, "lists")


def test_the_shipped_lists_hold_the_closed_classes_and_everyday_categories() -> None:
    lists = {one.label: one for one in word_lists()}
    assert len(lists) == len(word_lists())
    assert {one.source for one in lists.values()} == {"word list", "word class"}
    for label, word in (
        ("prepositions", "between"), ("pronouns", "they"), ("conjunctions", "although"), ("auxiliary verbs", "would"),
        ("question words", "why"), ("numbers", "twelve"), ("months", "October"), ("days", "Friday"),
        ("colours", "green"), ("family", "uncle"), ("body", "hand"), ("animals", "sheep"), ("food", "bread"),
        ("countries", "Poland"), ("cities", "Vienna"), ("professions", "lawyer"), ("feelings", "shame"),
        ("first names", "Sarah"), ("function words", "between"), ("places", "Vienna"),
    ):  # fmt: skip
        assert word in lists[label].words


def test_the_everyday_words_are_recognised_by_their_groups() -> None:
    words = read_words(resource("words", "everyday-200.txt"))
    traits = Traits(words, lists=word_lists())
    for group, label in (
        ("Monday Tuesday Wednesday Thursday Friday Saturday Sunday", "days"),
        ("black green pink brown red white grey yellow blue", "colours"),
        ("Mary Anna George Richard Jack William John David Paul", "first names"),
        ("monkey elephant mouse sheep rabbit cow wolf pig goat bear", "animals"),
    ):
        members = np.array([words.index(word) for word in group.split()])
        told = {trait.label: trait for trait in traits.of(members)}
        assert told[label].part == told[label].whole
