"""Points as one picture: none is lost, later ones lie on top, geometry there and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiruviz.ui.map.raster import argb, blend, stamp
from kiruviz.ui.map.viewport import Viewport


def test_every_isolated_point_has_a_pixel_of_its_colour():
    rng = np.random.default_rng(0)
    cells = rng.choice(40 * 40, 600, replace=False)
    points = np.stack([cells % 40 * 10 + 5, cells // 40 * 10 + 5], axis=1).astype(np.float32)
    colors = argb(["#5aaeec", "#e8b93c", "#7fc97f"])[rng.integers(0, 3, 600)]
    image = stamp(points, colors, 1.1, 400, 400)
    for (x, y), color in zip(points.tolist(), colors.tolist(), strict=True):
        assert image.pixel(int(x), int(y)) == color


def test_points_outside_leave_nothing_and_do_no_harm():
    points = np.array([[-5, 5], [50, 5], [5, -9], [5, 1e9]], np.float32)
    image = stamp(points, argb(["#ffffff"] * 4), 3, 40, 30)
    assert all(image.pixel(x, y) == 0 for x in range(40) for y in range(30))


def test_the_later_of_two_points_lies_on_top():
    points = np.array([[10, 10], [10, 10]], np.float32)
    assert stamp(points, argb(["#ff0000", "#0000ff"]), 3, 20, 20).pixel(10, 10) == 0xFF0000FF


def test_a_disc_is_soft_at_its_edge_only():
    image = stamp(np.array([[10, 10]], np.float32), argb(["#ffffff"]), 3.3, 20, 20)
    alphas = {image.pixelColor(x, y).alpha() for x in range(20) for y in range(20)}
    assert {0, 255} < alphas


def test_blending_goes_from_the_colour_to_the_ground():
    colors = argb(["#ff8040"])
    assert blend(colors, "#000000", 0.0).tolist() == colors.tolist()
    assert blend(colors, "#101318", 1.0).tolist() == argb(["#101318"]).tolist()


@settings(max_examples=60, deadline=None)
@given(
    x=st.floats(-1000, 1000),
    y=st.floats(-1000, 1000),
    factor=st.floats(0.1, 10),
    at=st.tuples(*[st.floats(0, 800)] * 2),
)
def test_zooming_keeps_the_place_under_the_pointer(x, y, factor, at):
    before = Viewport(x, y, 2.0, 900, 700)
    after = before.zoomed(factor, *at)
    assert after.to_data(*at) == pytest.approx(before.to_data(*at), abs=1e-6 * (1 + abs(x) + abs(y)))


@pytest.mark.parametrize(
    "coords",
    [np.zeros((0, 2)), np.zeros((1, 2)), np.full((5, 2), 7.0), np.array([[1e-9, 0], [2e-9, 0]]), np.eye(2) * 1e6],
)
def test_any_rows_fit_into_view(coords):
    coords = coords.astype(np.float32)
    view = Viewport(width=800, height=600).fitted(coords)
    screen = view.to_screen(coords)
    assert np.isfinite(screen).all()
    assert ((screen >= 0) & (screen <= [800, 600])).all()
