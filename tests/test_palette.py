"""Colours can be read on their ground and told apart."""

from __future__ import annotations

import numpy as np
import pytest

from kiruviz.analysis.color_difference import VISIONS, ciede2000, distances, lab
from kiruviz.palette import COUNT, GROUND, cluster_color, color_number, contrast, neutral_color


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


@pytest.mark.parametrize("ground", ["dark", "light"])
@pytest.mark.parametrize(
    ("count", "wanted"),
    [
        (8, {"normal": 16, "deuteranopia": 9.9, "protanopia": 8.9}),
        (16, {"normal": 10.5, "deuteranopia": 7.4, "protanopia": 7.5}),
        (32, {"normal": 6.5, "deuteranopia": 4.6, "protanopia": 4.6}),
    ],
)
def test_the_first_colours_are_told_apart_by_everybody(ground, count, wanted):
    for vision, least in wanted.items():
        found = distances([cluster_color(i, ground) for i in range(count)], vision)
        smallest = found[np.triu_indices(count, 1)].min()
        print(f"{ground}, {vision}: the first {count} are at least {smallest:.1f} apart")
        assert smallest >= least


@pytest.mark.parametrize("ground", ["dark", "light"])
def test_no_colour_of_the_first_eight_passes_for_the_grey_of_what_has_no_group(ground):
    for vision in VISIONS:
        grey = lab([neutral_color(ground)], vision)
        assert ciede2000(lab([cluster_color(i, ground) for i in range(8)], vision), grey).min() >= 6


def test_a_colour_keeps_its_hue_from_a_dark_screen_to_paper():
    for i in range(COUNT):
        dark, light = (lab([cluster_color(i, ground)])[0] for ground in ("dark", "light"))
        angle = np.degrees(np.arctan2(dark[2], dark[1]) - np.arctan2(light[2], light[1]))
        assert abs((angle + 180) % 360 - 180) < 40


def test_thousands_of_colours_can_be_asked_for_and_later_ones_leave_the_first_eight_alone():
    first = {cluster_color(i, "dark") for i in range(8)}
    assert not first & {cluster_color(i, "dark") for i in range(8, 5000)}
    assert color_number(COUNT) == 8
