import numpy as np
import pytest

from kiruviz.analysis.traits import CHANCE, Trait, Traits, WordList

OTHERS = ["Xq", "7", "?", "Zürich", "go", "wxyzvu", "мир", "AB", "k", "Lorem"]
MONTHS = WordList("months", "are months", "word list", frozenset(["March", "May", "June", "July"]))
DAYS = WordList("days", "are days", "word list", frozenset(["Monday", "Friday"]))
DATES = WordList("dates", "are dates", "word list", MONTHS.words | DAYS.words, ("months", "days"))


def facts(members: list[str], others: list[str] | None = None, **columns: object) -> list[str]:
    """What the first of a map's rows share; twenty times as many others stand beside them."""
    names = members + (others or OTHERS) * (2 * len(members))
    found = Traits(names, **columns).of(np.arange(len(members)))  # type: ignore[arg-type]
    return [trait.text for trait in found]


@pytest.mark.parametrize(
    ("names", "fact"),
    [
        ([" run", " walk", " swim"], "all start with a space"),
        (["run", "walk", "swim", "climb", "eat", "sing", "sit"], "all are lower case"),
        (["Paris", "Rome", "Oslo", "Bonn", "Cairo", "Lima", "Quito", "berlin"], "7 of 8 are capitalised"),
        (["NATO", "UN", "EU"], "all are in capitals"),
        (["12", "7.5", "1,000"], "all are numbers in digits"),
        ([",", "--", "?!"], "all are punctuation"),
        (["a", "b", "C", "d", "E", "f"], "all are single characters"),
        (["undo", "unfair", "unkind"], "all begin with un-"),
        (["walking", "singing", "eating", "slept"], "3 of 4 end in -ing"),
        (["house", "mouse", "horse", "goose"], "all have 5 letters"),
        (["understanding", "philosopher", "multiplicity"], "all have 8 letters or more"),
    ],
)
def test_what_members_share_is_told_as_a_count(names: list[str], fact: str) -> None:
    assert fact in facts(names)


@pytest.mark.parametrize("names", [["dog", "Paris", "12", "?"], ["\n", " ", "\t"], ["alone"], []])
def test_where_nothing_is_shared_nothing_is_told(names: list[str]) -> None:
    assert facts(names) == []


def test_what_the_whole_map_shares_as_well_is_not_told() -> None:
    words = [f" {a}{b}" for a in "bcdfg" for b in ("alow", "elow", "ilow", "olow")]
    assert Traits(words).of(np.arange(8)) == ()


def test_what_chance_would_do_as_well_is_not_told() -> None:
    rng = np.random.default_rng(0)
    names = ["Abcd" if up else "abcd" for up in rng.random(400) < 0.6]
    told = [Traits(names).of(np.sort(rng.permutation(400)[:12])) for _ in range(100)]
    assert sum(map(bool, told)) <= 100 * CHANCE * 3


def test_counts_shares_and_lift_are_those_of_the_rows() -> None:
    names = ["March", "May", "June", "Xq"] + ["July"] + OTHERS * 5
    trait = next(t for t in Traits(names, lists=[MONTHS]).of(np.arange(4)) if t.source == "word list")
    assert trait == Trait("are months", 3, 4, 4 / 55, "word list", "months", (), frozenset({0, 1, 2}))
    assert trait.text == "3 of 4 are months"
    assert trait.lift == pytest.approx(0.75 / (4 / 55))


def test_a_list_with_a_capital_matches_only_words_with_one() -> None:
    aux = WordList("auxiliaries", "are auxiliaries", "word class", frozenset(["may", "must", "can"]))
    told = Traits(["may", "May", "MAY", "must", *OTHERS * 9], lists=[MONTHS, aux]).of(np.arange(4))
    assert "all are auxiliaries" in [trait.text for trait in told]
    months = next(f for f in Traits(["may", "May", "MAY"], lists=[MONTHS])._features if f.label == "months")
    assert months.has.tolist() == [False, True, True]


def test_a_list_made_of_others_is_not_told_beside_one_that_says_the_same() -> None:
    assert not any("dates" in fact for fact in facts(["March", "May", "June"], lists=[MONTHS, DAYS, DATES]))
    assert "all are dates" in facts(["March", "May", "June", "Monday", "Friday"], lists=[MONTHS, DAYS, DATES])


def test_kind_script_and_frequency_are_told_where_they_say_something() -> None:
    rows = 3 + len(OTHERS) * 6
    kinds = ["piece"] * 3 + ["word"] * (rows - 3)
    scripts = ["Cyrillic"] * 3 + ["Latin"] * (rows - 3)
    zipf = [6.2, 6.0, 5.9] + [np.nan] * (rows - 3)
    told = facts(["да", "нет", "мир"], kinds=kinds, scripts=scripts, zipf=zipf)
    assert "all are of the kind piece" in told
    assert "all are Cyrillic script" in told
    assert "all are very common words (Zipf 5.5 and up)" in told


def test_at_most_six_facts_are_told_the_least_likely_first() -> None:
    names = [f" un{c}ing" for c in "bcdfgh"]
    rows = len(names) + len(OTHERS) * 12
    told = facts(names, kinds=["piece"] * 6 + ["word"] * (rows - 6), zipf=[1.0] * 6 + [np.nan] * (rows - 6))
    assert len(told) == 6
