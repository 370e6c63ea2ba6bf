"""Traversaro2016 (3)-(5): one rigid body in mixed coordinates."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from random_robots import random_inertia, random_pose

from balance.dynamics.rigid_body import mixed_inertia, mixed_wrench
from balance.errors import InputError

TOLERANCE = 1e-11


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_a_body_moves_as_the_one_link_robot_that_it_is(rng):
    """The wrench of (5) is what ABA needs to give the same acceleration."""
    inertia, pose, twist = random_inertia(rng), random_pose(rng), rng.standard_normal(6)
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    rate = rng.standard_normal(6)
    forces = pin.rnea(model, model.createData(), pin.SE3ToXYZQUAT(pose), twist, rate)

    R = pose.rotation
    velocity = np.concatenate([R @ twist[:3], R @ twist[3:]])
    linear = R @ (rate[:3] + np.cross(twist[3:], twist[:3]))
    acceleration = np.concatenate([linear, R @ rate[3:]])
    wrench = mixed_wrench(inertia, pose, velocity, acceleration, model.gravity.linear)
    expected = np.concatenate([R @ forces[:3], R @ forces[3:]])
    np.testing.assert_allclose(wrench, expected, rtol=TOLERANCE, atol=TOLERANCE)


def test_the_inertia_gives_the_momentum_about_the_origin_of_the_body(rng):
    inertia, pose, velocity = random_inertia(rng), random_pose(rng), rng.standard_normal(6)
    R = pose.rotation
    arm = R @ inertia.lever
    linear = inertia.mass * (velocity[:3] + np.cross(velocity[3:], arm))
    about_com = R @ inertia.inertia @ R.T @ velocity[3:]
    expected = np.concatenate([linear, about_com + np.cross(arm, linear)])
    np.testing.assert_allclose(mixed_inertia(inertia, pose) @ velocity, expected, rtol=TOLERANCE)


def test_a_body_thrown_without_spin_needs_no_wrench_but_its_weight(rng):
    inertia, pose = random_inertia(rng), random_pose(rng)
    velocity = np.array([3.0, -1.0, 2.0, 0.0, 0.0, 0.0])
    gravity = np.array([0.0, 0.0, -9.81])
    falling = np.concatenate([gravity, np.zeros(3)])
    wrench = mixed_wrench(inertia, pose, velocity, falling, gravity)
    np.testing.assert_allclose(wrench, 0.0, atol=TOLERANCE)


def test_wrong_sizes_are_refused(rng):
    inertia, pose = random_inertia(rng), random_pose(rng)
    with pytest.raises(InputError, match="velocity has shape"):
        mixed_wrench(inertia, pose, np.zeros(3), np.zeros(6))
    with pytest.raises(InputError, match="gravity has shape"):
        mixed_wrench(inertia, pose, np.zeros(6), np.zeros(6), np.zeros(2))
