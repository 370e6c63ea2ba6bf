"""Robots beyond those that every test runs on, and bases whose axes the URDF has otherwise."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from balance.config import load_config
from balance.dynamics.checks import symmetrise
from balance.experiment import run
from balance.robots import Robot, load_robot
from balance.robots.model import turn_base

NAMES = ("romeo", "human")


@pytest.fixture(scope="module", params=NAMES)
def robot(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param)


def test_robot_faces_forwards_and_upwards_on_its_feet(robot: Robot) -> None:
    """Left is left, toes are ahead of the heels, and the CoM is over the feet."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    left, right = (sole.pose(data) for sole in robot.soles)
    assert left.translation[1] > 0.05 and right.translation[1] < -0.05
    for pose in (left, right):
        np.testing.assert_allclose(pose.rotation[:, 2], [0.0, 0.0, 1.0], atol=1e-6)
        assert pose.rotation[0, 0] > 0.99
    assert 0.5 < robot.com()[2] < 1.2
    np.testing.assert_allclose(robot.com()[:2], 0.0, atol=1e-6)
    np.testing.assert_allclose(robot.q_nominal[3:7], [0.0, 0.0, 0.0, 1.0], atol=1e-12)


def test_knees_bend_backwards(robot: Robot) -> None:
    """The knee is ahead of the line from hip to ankle."""
    model, data = robot.model, robot.model.createData()
    pin.forwardKinematics(model, data, robot.q_nominal)
    side = next(name for name in model.names if "knee" in name.lower())
    knee = model.getJointId(side)
    hip, ankle = model.parents[knee], knee + 1
    at = [data.oMi[j].translation for j in (hip, knee, ankle)]
    share = (at[1][2] - at[2][2]) / (at[0][2] - at[2][2])
    line = at[2][0] + share * (at[0][0] - at[2][0])
    assert at[1][0] > line + 0.02


def test_scaled_gains_hold_it_still(robot: Robot) -> None:
    recording = run(load_config(f"{robot.name}_push", {"duration_s": 0.3, "pushes": []}))
    assert np.linalg.norm(recording.com_error, axis=1).max() < 1e-3
    assert recording.sole_slip.max() < 1e-4
    assert recording.contact_wrenches[-1, :, 2].sum() == pytest.approx(9.81 * robot.mass, rel=1e-2)


def test_turned_base_changes_coordinates_only(toro: Robot) -> None:
    """The same pose in other axes: equal places of all bodies, CoM and kinetic energy."""
    rpy = (0.4, -1.2, 2.0)
    model = toro.model
    turned = turn_base(model, rpy)
    rotation = pin.rpy.rpyToMatrix(*rpy)
    rng = np.random.default_rng(0)
    q = pin.integrate(model, toro.q_nominal, rng.normal(size=model.nv))
    v = rng.normal(size=model.nv)
    q_turned, v_turned = q.copy(), v.copy()
    q_turned[3:7] = pin.Quaternion(pin.Quaternion(q[3:7]).matrix() @ rotation).coeffs()
    v_turned[:3], v_turned[3:6] = rotation.T @ v[:3], rotation.T @ v[3:6]
    data, other = model.createData(), turned.createData()
    pin.framesForwardKinematics(model, data, q)
    pin.framesForwardKinematics(turned, other, q_turned)
    for frame in model.frames:
        index = model.getFrameId(frame.name, frame.type)
        if index > 1:  # the world and the free-flyer itself
            expected = data.oMf[index].homogeneous
            np.testing.assert_allclose(other.oMf[index].homogeneous, expected, atol=1e-9)
    com = pin.centerOfMass(model, data, q)
    np.testing.assert_allclose(pin.centerOfMass(turned, other, q_turned), com, atol=1e-12)
    energy = v @ symmetrise(pin.crba(model, data, q)) @ v
    same = v_turned @ symmetrise(pin.crba(turned, other, q_turned)) @ v_turned
    assert same == pytest.approx(energy, rel=1e-10)
    assert turn_base(model, (0.0, 0.0, 0.0)) is model
