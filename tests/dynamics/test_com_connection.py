"""Saccon2017 VI: the connection about the CoM with the axes of the base."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import random_robot, random_robots

from balance.analysis.theory.checks import relative_difference
from balance.dynamics import com_connection, com_curvature, curvature
from balance.dynamics.connection import shape_configuration

ANALYTIC = 1e-9
DIFFERENCE = 1e-6
STEP = 1e-5


@settings(deadline=None, derandomize=True, max_examples=25)
@given(random_robots(min_joints=2), st.integers(0, 10**6))
def test_curvature_on_so3_is_the_angular_part_of_that_on_se3(model, seed):
    s = np.random.default_rng(seed).normal(size=model.nv - 6)
    found, full = com_curvature(model, s), curvature(model, s)
    assert relative_difference(found, full[..., 3:], scale=1e-3) < ANALYTIC


def test_curvature_equals_differences_of_the_three_rows():
    model = random_robot(4, 9)
    s = np.array([0.3, -0.5, 0.8, 0.2])
    a = com_connection(model, s).connection.T
    steps = STEP * np.eye(4)
    ahead, behind = (
        np.array([com_connection(model, s + sign * e).connection.T for e in steps])
        for sign in (1.0, -1.0)
    )
    da = (ahead - behind) / (2.0 * STEP)  # [j, i] = da_i/ds_j
    B = da.transpose(1, 0, 2) - da + np.cross(a[:, None], a[None])
    assert relative_difference(com_curvature(model, s), B) < DIFFERENCE


def test_locked_inertia_is_block_diagonal_and_depends_on_the_shape_alone():
    model = random_robot(5, 2)
    s = np.linspace(-1.0, 1.0, 5)
    q = shape_configuration(model, s)
    q[:7] = pin.SE3ToXYZQUAT(pin.SE3.Random())  # Pinocchio's, wherever the base is
    data = model.createData()
    pin.ccrba(model, data, q, np.zeros(model.nv))
    R = data.oMi[1].rotation
    terms = com_connection(model, s)
    np.testing.assert_allclose(R @ terms.inertia @ R.T, data.Ig.inertia, atol=1e-10)
    L = terms.locked_inertia
    np.testing.assert_allclose(L[:3, :3], data.Ig.mass * np.eye(3))
    assert not L[:3, 3:].any() and not L[3:, :3].any()
