"""Holonomy of closed joint loops from the curvature, and the falling cat of Saccon2017 VI."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from random_robots import random_robot
from scipy.integrate import dblquad

from balance.dynamics import (
    centroidal_momentum,
    curvature,
    falling_cat,
    free_flight,
    holonomy_from_curvature,
    loop_holonomy,
    righting_bend,
    righting_loop,
    three_link,
    three_link_curvature,
    torques_without_momentum,
    turn_without_momentum,
)
from balance.dynamics.falling_cat import PHASES, roll_angle
from balance.errors import InputError

INTEGRATION = 1e-6  # m and rad
PIECES = (0.0, *PHASES, 1.0)
BEND = 0.6


def circle(t: float) -> np.ndarray:
    phase = 2.0 * np.pi * t
    return np.array([0.5 * (np.cos(phase) - 1.0), 0.3 * np.sin(phase)])


def test_in_the_plane_the_frame_turns_by_minus_the_integral_of_the_printed_curvature():
    """Rotations about one axis commute: the plain Stokes theorem with the closed form."""

    def flux(rho: float, phase: float) -> float:
        s = [0.5 * (rho * np.cos(phase) - 1.0), 0.3 * rho * np.sin(phase)]
        return float(0.5 * 0.3 * rho * three_link_curvature(s)[5])

    area, _ = dblquad(flux, 0.0, 2.0 * np.pi, 0.0, 1.0, epsabs=1e-10)
    H = holonomy_from_curvature(three_link(1.0), circle, shells=6)
    np.testing.assert_allclose(pin.log3(H.rotation), [0.0, 0.0, -area], atol=INTEGRATION)
    assert abs(area) > 0.02


def test_curvature_inside_a_loop_of_three_joints_gives_the_frame_that_integration_gives():
    model = random_robot(3, 17)

    def loop(t: float) -> np.ndarray:
        phase = 2.0 * np.pi * t
        return 0.6 * np.array([np.sin(phase), 1.0 - np.cos(phase), np.sin(2.0 * phase)])

    found, expected = holonomy_from_curvature(model, loop, shells=10), loop_holonomy(model, loop)
    gap = pin.log6(found * expected.inverse()).vector
    np.testing.assert_allclose(gap, 0.0, atol=INTEGRATION)
    assert np.linalg.norm(pin.log3(expected.rotation)) > 0.05


def test_flat_mechanism_has_no_holonomy():
    H = holonomy_from_curvature(three_link(0.0), circle, shells=2, points=8)
    np.testing.assert_allclose(pin.log6(H).vector, 0.0, atol=1e-12)


def test_falling_cat_turns_without_angular_momentum_by_the_holonomy_of_its_curvature():
    """Simulated with ABA from rest, driven by torques, against the curvature inside the loop."""
    cat, loop, duration = falling_cat(), righting_loop(BEND), 0.5
    torques = torques_without_momentum(cat, loop, duration)
    flight = free_flight(cat, pin.neutral(cat), np.zeros(cat.nv), torques, duration, 300)
    data = cat.createData()
    momenta = [
        centroidal_momentum(cat, q, v, data).h[3:]
        for q, v in zip(flight.q[::30], flight.v[::30], strict=True)
    ]
    np.testing.assert_allclose(momenta, 0.0, atol=1e-6)  # kg m^2/s
    np.testing.assert_allclose(flight.q[-1, 7:], 0.0, atol=1e-5)  # straight again

    turned = pin.Quaternion(flight.q[-1, 3:7]).matrix()
    by_curvature = holonomy_from_curvature(cat, loop, pieces=PIECES, shells=6, points=32)
    np.testing.assert_allclose(turned, by_curvature.rotation.T, atol=2e-5)
    assert np.rad2deg(roll_angle(turned)) > 30.0


def test_cat_that_bends_to_one_side_and_back_does_not_turn():
    """One free variable: no area inside the loop."""
    turn = turn_without_momentum(
        falling_cat(), lambda t: np.array([0.0, 1.0 - np.cos(2.0 * np.pi * t)]), 1e-10
    )
    np.testing.assert_allclose(pin.log6(turn).vector, 0.0, atol=1e-10)


def test_small_bends_turn_the_cat_by_curvature_times_area():
    cat = falling_cat()
    bend = 0.05
    turn = turn_without_momentum(cat, righting_loop(bend))
    flux = curvature(cat, [0.0, 0.0])[0, 1, 3:] * np.pi * bend**2
    assert roll_angle(turn.rotation) == pytest.approx(abs(flux[0]), rel=5e-3)


def test_bend_for_a_wanted_roll_rolls_the_cat_by_that_angle():
    cat = falling_cat()
    bend = righting_bend(1.0, cat)
    turn = turn_without_momentum(cat, righting_loop(bend), 1e-8)
    assert roll_angle(turn.rotation) == pytest.approx(1.0, abs=1e-4)
    with pytest.raises(InputError, match="cannot roll by 6 rad"):
        righting_bend(6.0, cat)


def test_path_that_does_not_close_is_refused():
    with pytest.raises(InputError, match="no loop"):
        loop_holonomy(three_link(1.0), lambda t: np.array([t, 0.0]))


def test_quadrature_without_points_is_refused():
    with pytest.raises(InputError, match="points is 0"):
        holonomy_from_curvature(three_link(1.0), circle, points=0)


@pytest.mark.parametrize("pieces", [(0.0,), (0.0, 0.5), (0.0, 0.7, 0.3, 1.0)])
def test_pieces_that_do_not_cover_the_loop_are_refused(pieces):
    with pytest.raises(InputError, match="must increase from 0 to 1"):
        holonomy_from_curvature(three_link(1.0), circle, pieces=pieces)
