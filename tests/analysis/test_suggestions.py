from kiruviz.analysis.suggestions import suggestions
from kiruviz.analysis.traits import Trait


def listed(label: str, members: range, whole: int, parts: tuple[str, ...] = ()) -> Trait:
    return Trait(f"are {label}", len(members), whole, 0.05, "word list", label, parts, frozenset(members))


def test_a_list_that_covers_the_cluster_gives_its_label_with_the_count() -> None:
    found = suggestions([listed("months", range(12), 12)], [" May", "June", "July"])
    assert [(s.name, s.source) for s in found] == [("months", "word list, 12 of 12"), ("May, June", "nearest words")]
    assert found[0].why == "12 of 12 members are months by KiruViz's word list."


def test_two_lists_are_named_together_where_neither_covers_the_cluster() -> None:
    found = suggestions([listed("months", range(12), 19), listed("days", range(12, 19), 19)], [])
    assert [(s.name, s.source) for s in found] == [
        ("months and days", "word lists, 19 of 19"),
        ("months", "word list, 12 of 19"),
    ]


def test_lists_of_the_same_words_are_not_named_together() -> None:
    same = [listed("drinks", range(5), 10), listed("colours", range(5), 10)]
    assert suggestions(same, []) == ()


def test_a_list_of_few_members_gives_no_name() -> None:
    assert suggestions([listed("animals", range(10), 41)], []) == ()


def test_an_ending_is_a_suffix_and_case_is_no_name_beside_a_list() -> None:
    ending = Trait("end in -ing", 9, 10, 0.04, "spelling", "ends in -ing")
    case = Trait("are capitalised", 10, 10, 0.2, "case", "capitalised words")
    assert [(s.name, s.source) for s in suggestions([ending, case], [])] == [
        ("ends in -ing", "suffix, 9 of 10"),
        ("capitalised words", "case, 10 of 10"),
    ]
    with_list = suggestions([ending, case, listed("verbs", range(10), 10)], [])
    assert [s.name for s in with_list] == ["verbs", "ends in -ing"]


def test_what_the_map_has_nearly_as_often_is_no_name() -> None:
    assert suggestions([Trait("are capitalised", 10, 10, 0.6, "case", "capitalised words")], []) == ()


def test_signs_and_control_characters_are_no_nearest_words() -> None:
    assert suggestions([], ["\x05", " ", "...."]) == ()
    assert [s.name for s in suggestions([], [" cat", "cat", "\n", "dog"])] == ["cat, dog"]
