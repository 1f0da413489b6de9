"""What is out of range is refused in one sentence that names the field."""

from __future__ import annotations

import numpy as np
import pytest

from kiruviz.errors import UserError
from kiruviz.figures.spec import PRESETS, ClusterMark, FigureSpec, MapPicture


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("width_mm", 5, "width of 5 mm"),
        ("height_mm", float("nan"), "height of nan mm"),
        ("dpi", 5000, "resolution of 5000 dpi"),
        ("font_size_pt", 0, "font size of 0 pt"),
        ("point_size", 100, "point size of 100 pt"),
        ("theme", "blue", "theme 'blue'"),
        ("labels", "some", "labels 'some'"),
        ("font", " ", "font is empty"),
    ],
)
def test_a_value_out_of_range_is_named(field, value, said):
    with pytest.raises(UserError, match=said):
        FigureSpec(**{field: value})


def test_presets_set_the_size_and_nothing_else():
    spec = FigureSpec(theme="dark").preset("One column")
    assert (spec.width_mm, spec.height_mm, spec.theme) == (89, 80, "dark")
    assert list(PRESETS) == ["One column", "Two columns", "Slide", "Square"]
    with pytest.raises(UserError, match="'Poster'"):
        spec.preset("Poster")


def test_a_cluster_goes_by_its_name_its_number_or_as_resisting():
    assert ClusterMark(3, "numbers", "named", 0).shown == "numbers"
    assert ClusterMark(3, "numbers", "resists", 0).shown == "resists naming"
    assert ClusterMark(3, "", "unnamed", 0).shown == "cluster 3"


def test_arrays_that_do_not_match_are_a_fault():
    coords, assignment = np.zeros((2, 2), np.float32), np.zeros(2, np.int32)
    with pytest.raises(ValueError, match="coords"):
        MapPicture(coords, ("a",), assignment)
    with pytest.raises(ValueError, match="assignment"):
        MapPicture(coords, ("a", "b"), assignment[:1])
    with pytest.raises(ValueError, match="values"):
        MapPicture(coords, ("a", "b"), assignment, values=np.zeros(3))
    with pytest.raises(ValueError, match="view"):
        MapPicture(coords, ("a", "b"), assignment, view=(1, 0, 0, 1))
