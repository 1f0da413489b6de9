import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from kiruviz.analysis.agreement import agreement

labels = st.sampled_from(["months", "days", "people", None])


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(labels, labels), max_size=40))
def test_kappa_is_that_of_scikit_learn_over_the_rows_that_both_labelled(
    pairs: list[tuple[str | None, str | None]],
) -> None:
    found = agreement([a for a, _ in pairs], [b for _, b in pairs])
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    assert found.rows == len(both)
    assert found.agreeing == sum(a == b for a, b in both)
    if not both:
        assert found.kappa is None
        assert found.share is None
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns where kappa is not defined
        wanted = cohen_kappa_score(*zip(*both, strict=True))
    if np.isnan(wanted):
        assert found.kappa is None
    else:
        assert found.kappa == pytest.approx(wanted, abs=1e-12)


def test_kappa_of_an_example_done_by_hand() -> None:
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: p = .7, e = .5
    one = ["y"] * 25 + ["n"] * 25
    two = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    found = agreement(one, two)
    assert (found.rows, found.agreeing, found.share, found.kappa) == (50, 35, 0.7, pytest.approx(0.4))


def test_one_label_throughout_has_no_kappa() -> None:
    assert agreement(["a", "a"], ["a", "a"]).kappa is None
    assert agreement(["a", "a"], ["b", "b"]).kappa == 0.0


def test_no_label_has_to_be_there() -> None:
    assert agreement([], []).rows == 0
    with pytest.raises(ValueError, match="zip"):
        agreement(["a"], [])
