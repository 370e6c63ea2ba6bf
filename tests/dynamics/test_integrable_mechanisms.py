"""Saccon2017 VI: virtual constraints, and which mechanisms have an integrable centroidal frame."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from random_robots import random_robot

from balance.dynamics import (
    centroidal_frame,
    constrained_connection,
    constrained_curvature,
    curvature,
    falling_cat,
    largest_curvature,
    mechanical_connection,
    rotor_satellite,
    slider_satellite,
    three_link,
)
from balance.errors import InputError

FLAT = 1e-12  # rad per rad^2
SLANTED = [1.0, 2.0, -1.0]


@pytest.mark.parametrize(
    "model",
    [
        rotor_satellite(np.outer([1.0, 2.0, -1.0], SLANTED)),
        slider_satellite(np.outer([1.0, -1.0, 1.0], SLANTED)),
        three_link(0.0),
        random_robot(1, 3),
    ],
    ids=["parallel rotors", "sliders on a line", "three-link, d = 0", "one joint"],
)
def test_these_mechanisms_are_flat(model):
    assert largest_curvature(model, 20) < FLAT


@pytest.mark.parametrize(
    "model",
    [
        rotor_satellite([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
        slider_satellite([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
        three_link(0.1),
        falling_cat(),
    ],
    ids=["crossed rotors", "sliders on two lines", "three-link, d = 0.1 m", "falling cat"],
)
def test_these_mechanisms_are_curved(model):
    assert largest_curvature(model, 20) > 1e-3


def test_curvature_of_two_rotors_is_the_cross_product_of_their_shares_of_the_spin():
    """B = (I^-1 J e_1) x (I^-1 J e_2) with the box's and the rotors' inertias, by hand."""
    model = rotor_satellite([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], spin=0.1)
    places, m_box = 0.4 * np.eye(3)[:2], 4.0
    com = places.sum(axis=0) / (m_box + 2.0)

    def about_com(mass: float, inertia: np.ndarray, place: np.ndarray) -> np.ndarray:
        r = place - com
        return inertia + mass * (r @ r * np.eye(3) - np.outer(r, r))

    size = np.array([0.3, 0.5, 0.7]) ** 2
    box = m_box / 12.0 * np.diag(size.sum() - size)
    rotors = [0.05 * (np.eye(3) + np.outer(e, e)) for e in np.eye(3)[:2]]
    total = about_com(m_box, box, np.zeros(3))
    total = total + sum(about_com(1.0, r, p) for r, p in zip(rotors, places, strict=True))
    shares = np.linalg.solve(total, 0.1 * np.eye(3)[:, :2])
    expected = np.cross(shares[:, 0], shares[:, 1])
    for s in ([0.0, 0.0], [0.7, -2.0]):
        np.testing.assert_allclose(curvature(model, s)[0, 1, 3:], expected, atol=1e-13)


def test_one_free_variable_leaves_no_curvature_and_makes_the_frame_its_function():
    """There and back along a virtual constraint, at any pace, the frame returns."""
    model = random_robot(4, 11)

    def constraint(theta: float) -> np.ndarray:
        return np.array([theta, np.sin(theta), theta**2, np.cos(3.0 * theta) - 1.0])

    slope = (constraint(0.5 + 1e-6) - constraint(0.5 - 1e-6))[:, None] / 2e-6
    assert np.abs(constrained_curvature(model, constraint(0.5), slope)).max() < 1e-12
    there_and_back = centroidal_frame(
        model, lambda t: constraint(np.sin(np.pi * t)), [0.0, 0.5, 1.0], tolerance=1e-10
    )
    gap = pin.log6(there_and_back[0].actInv(there_and_back[2])).vector
    np.testing.assert_allclose(gap, 0.0, atol=1e-8)
    assert np.linalg.norm(pin.log3(there_and_back[1].rotation)) > 0.01


def test_constrained_connection_and_curvature_are_those_of_the_joints_it_moves():
    model = random_robot(4, 11)
    s = np.array([0.1, 0.4, -0.3, 0.6])
    only_two = np.eye(4)[:, [0, 2]]
    B, a = curvature(model, s), mechanical_connection(model, s).connection
    np.testing.assert_array_equal(constrained_curvature(model, s, only_two)[0, 1], B[0, 2])
    np.testing.assert_array_equal(constrained_connection(model, s, only_two), a[:, [0, 2]])
    with pytest.raises(InputError, match=r"slope has shape \(3, 2\)"):
        constrained_curvature(model, s, only_two[:3])


def test_no_shape_at_all_is_refused():
    with pytest.raises(InputError, match="shapes is 0"):
        largest_curvature(three_link(1.0), 0)


@pytest.mark.parametrize("build", [rotor_satellite, slider_satellite])
def test_axis_of_no_length_is_refused(build):
    with pytest.raises(InputError, match="without zero rows"):
        build([[0.0, 0.0, 0.0]])
