"""Traversaro2016 (18), (23)-(24), (42): a motion does not depend on the base chosen for it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from random_robots import random_robot

from balance.analysis.theory.checks import random_states
from balance.dynamics import fly_with_base, free_flight
from balance.errors import InputError

BASES = ["B", "link_3", "link_2[link_4]", "G[B]", "centroidal"]
MODEL = random_robot(4, 0)
(START,) = random_states(MODEL, 1, 4)
DURATION = 0.1
MIXED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


def torques(t: float) -> np.ndarray:
    return np.sin(np.arange(4) + 3.0 * t)


def internal(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros(6), torques(t)])


def spring_on_a_link(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Torques, and a spring and damper between link_4 and where it was at the start."""
    data, frame = MODEL.createData(), MODEL.getFrameId("link_4")
    J = pin.computeFrameJacobian(MODEL, data, q, frame, MIXED)
    place = data.oMf[frame].translation.copy()
    pin.framesForwardKinematics(MODEL, data, START.q)
    anchor = data.oMf[frame].translation
    force = -200.0 * (place - anchor) - 5.0 * (J[:3] @ v)
    return internal(t, q, v) + J[:3].T @ force


def gap(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(pin.difference(MODEL, a, b)).max())


@pytest.mark.parametrize("base", BASES)
def test_a_flight_in_any_base_converges_to_that_of_aba_with_order_four(base):
    exact = free_flight(MODEL, START.q, START.v, torques, DURATION, 400).q[-1]
    errors = [
        gap(fly_with_base(MODEL, START.q, START.v, base, internal, DURATION, n).q[-1], exact)
        for n in (10, 20)
    ]
    assert errors[1] < 1e-6
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.5)


def test_with_contact_forces_all_bases_give_one_trajectory():
    flights = [
        fly_with_base(MODEL, START.q, START.v, base, spring_on_a_link, DURATION, 40)
        for base in BASES
    ]
    for flight in flights[1:]:
        assert max(gap(a, b) for a, b in zip(flight.q, flights[0].q, strict=True)) < 1e-6
        np.testing.assert_allclose(flight.v, flights[0].v, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("base", "exact"), [("centroidal", True), ("G[B]", True), ("link_3", False)]
)
def test_with_the_com_as_base_it_falls_along_its_parabola_however_coarse_the_steps(base, exact):
    """Its rows of M and G are constant, so that the integrator has nothing to get wrong."""
    flight = fly_with_base(MODEL, START.q, START.v, base, internal, 0.2, 4)
    data = MODEL.createData()
    com = pin.centerOfMass(MODEL, data, START.q, START.v).copy()
    expected = com + 0.2 * data.vcom[0] + 0.5 * 0.2**2 * MODEL.gravity.linear
    error = np.abs(pin.centerOfMass(MODEL, data, flight.q[-1]) - expected).max()
    assert (error < 1e-13) if exact else (error > 1e-9)


def test_first_state_is_the_given_one_and_times_are_even():
    flight = fly_with_base(MODEL, START.q, START.v, "link_3", internal, 0.01, 2)
    np.testing.assert_array_equal(flight.q[0], START.q)
    np.testing.assert_allclose(flight.time, [0.0, 0.005, 0.01])


def test_a_motion_without_steps_is_refused():
    with pytest.raises(InputError, match="in 0 steps"):
        fly_with_base(MODEL, START.q, START.v, "B", internal, 0.1, 0)
