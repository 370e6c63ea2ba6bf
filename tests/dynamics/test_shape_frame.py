"""Saccon2017 (21)-(33): the centroidal frame built joint by joint, and when (23) holds."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from random_robots import random_robot

from balance.dynamics import (
    frame_equation_residual,
    integrability_defect,
    mechanical_connection,
    shape_frame,
    shape_frame_derivative,
    three_link,
)

S = np.array([0.9, -0.6])
EXACT = 1e-11
DIFFERENCE = 1e-8


def test_frame_of_the_flat_mechanism_turns_by_an_eighth_of_the_joint_angles():
    pose = shape_frame(three_link(0.0), S)
    expected = pin.AngleAxis(S.sum() / 8.0, np.array([0.0, 0.0, 1.0])).toRotationMatrix()
    np.testing.assert_allclose(pose.rotation, expected, rtol=0, atol=EXACT)
    np.testing.assert_allclose(pose.translation, 0.0, atol=EXACT)


def test_frame_satisfies_23_for_d_0_and_not_for_d_1():
    """The residuals of the flat and the curved mechanism: rounding, and 0.075."""
    assert frame_equation_residual(three_link(0.0), S) < EXACT
    assert frame_equation_residual(three_link(1.0), S) == pytest.approx(0.0749, abs=5e-5)


@pytest.mark.parametrize("model", [three_link(1.0), random_robot(3, 12)], ids=["three", "random"])
def test_what_23_lacks_is_the_curvature_carried_along_the_legs(model):
    s = np.resize(S, model.nv - 6)
    u = np.linspace(0.5, 1.0, len(s))
    lack = shape_frame_derivative(model, s, u) - mechanical_connection(model, s).connection @ u
    found = u @ integrability_defect(model, s)
    np.testing.assert_allclose(found, lack, rtol=0, atol=DIFFERENCE)
    assert np.abs(found).max() > 0.01


def test_last_joint_moved_satisfies_23_whatever_the_curvature():
    """dF/ds_n = A_n F by construction, (27)."""
    assert not integrability_defect(three_link(1.0), S)[-1].any()


def test_frame_at_zero_is_the_given_one():
    start = pin.SE3(pin.exp3(np.array([0.1, 0.2, 0.3])), np.ones(3))
    model = three_link(1.0)
    assert np.allclose(shape_frame(model, [0.0, 0.0]).rotation, np.eye(3))
    moved = shape_frame(model, S, initial=start)
    by_default = shape_frame(model, S)
    origin = shape_frame(model, [0.0, 0.0])
    # The frame is determined up to a multiplication on the right (19).
    assert (by_default * origin.inverse() * start).isApprox(moved, 1e-9)
