"""Colours can be read on their ground and told apart."""

from __future__ import annotations

import pytest

from kiruviz.palette import GROUND, cluster_color, contrast, neutral_color


@pytest.mark.parametrize("ground", ["dark", "light"])
def test_names_in_any_of_300_colours_can_be_read(ground):
    assert min(contrast(cluster_color(i, ground), GROUND[ground]) for i in range(300)) >= 4.5
    assert contrast(neutral_color(ground), GROUND[ground]) >= 4.5


@pytest.mark.parametrize("ground", ["dark", "light"])
def test_the_first_thirty_colours_are_thirty(ground):
    assert len({cluster_color(i, ground) for i in range(30)}) == 30


def test_contrast_of_black_and_white_is_the_largest():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#777777") == 1
