"""The momentum law does not care where north is, and treats left and right alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.config import ExperimentConfig, parse_config
from balance.control.momentum import MomentumController
from balance.robots import Robot
from balance.robots.contacts import friction_pyramid, wrench_cone

Array = NDArray[np.float64]
Draw = Callable[[Robot, np.random.Generator], tuple[Array, Array]]

SAME = 1e-7  # relative to the largest torque: two solutions of two differently rotated QPs
STATES = 20
K_P, K_D = np.diag([6000.0, 2000.0, 4000.0]), np.diag([7.0, 1.0, 0.05])
K_R, D = np.diag([500.0, 400.0, 100.0]), np.diag([20.0, 20.0, 2.0])


def config(robot: Robot, R: Array | None = None, **more: Any) -> ExperimentConfig:
    """Table 1, with the gains that act in world axes turned by ``R``."""

    def turned(gain: Array) -> list[list[float]]:
        product = gain if R is None else R @ gain @ R.T
        rows: list[list[float]] = (0.5 * (product + product.T)).tolist()
        return rows

    gains = {"K_P": turned(K_P), "K_D": turned(K_D), "K_R": K_R.tolist(), "D": turned(D)}
    controller = {"law": "momentum", "gains": gains} | more
    return parse_config({"robot": robot.name, "duration_s": 1.0, "controller": controller}, "test")


def turn_base(q: Array, R: Array) -> Array:
    """The whole robot turned about the world's origin; velocities in base axes stay the same."""
    turned = q.copy()
    turned[:3] = R @ q[:3]
    turned[3:7] = pin.Quaternion(R @ pin.Quaternion(q[3:7]).matrix()).coeffs()
    return turned


def test_turning_the_world_about_the_vertical_leaves_the_torques(
    any_robot: Robot, random_state: Draw
) -> None:
    rng = np.random.default_rng(41)
    R = pin.rpy.rpyToMatrix(0.0, 0.0, 2.1)
    other = dataclasses.replace(any_robot, q_nominal=turn_base(any_robot.q_nominal, R))
    here = MomentumController(config(any_robot), any_robot)
    there = MomentumController(config(any_robot, R), other)
    for _ in range(STATES):
        q, v = random_state(any_robot, rng)
        expected, actual = here.step(q, v, 0.0), there.step(turn_base(q, R), v, 0.0)
        np.testing.assert_allclose(
            actual.torques, expected.torques, rtol=0, atol=SAME * np.abs(expected.torques).max()
        )
        assert actual.status == expected.status


def mirror_joints(robot: Robot, values: Array) -> Array:
    """Swap the sides and negate the yaw joints of waist and neck."""
    names = robot.joint_names
    mirrored = np.empty_like(values)
    for i, name in enumerate(names):
        side, _, joint = name.partition("_")
        twin = {"left": f"right_{joint}", "right": f"left_{joint}"}.get(side, name)
        sign = -1.0 if name in ("waist_yaw", "neck_yaw") else 1.0
        mirrored[i] = sign * values[names.index(twin)]
    return mirrored


def test_mirrored_state_gives_mirrored_torques(toro: Robot, random_state: Draw) -> None:
    rng = np.random.default_rng(42)
    S = np.diag([1.0, -1.0, 1.0])
    controller = MomentumController(config(toro), toro)
    for _ in range(STATES):
        q, v = random_state(toro, rng)
        q_mirror, v_mirror = q.copy(), v.copy()
        q_mirror[:3] = S @ q[:3]
        q_mirror[3:7] = pin.Quaternion(S @ pin.Quaternion(q[3:7]).matrix() @ S).coeffs()
        v_mirror[:3], v_mirror[3:6] = S @ v[:3], -S @ v[3:6]
        q_mirror[7:], v_mirror[6:] = mirror_joints(toro, q[7:]), mirror_joints(toro, v[6:])
        expected = mirror_joints(toro, controller.step(q, v, 0.0).torques)
        actual = controller.step(q_mirror, v_mirror, 0.0).torques
        np.testing.assert_allclose(actual, expected, rtol=0, atol=SAME * np.abs(expected).max())


@pytest.mark.parametrize("axis", [0, 1])
def test_wrenches_of_tilted_soles_lie_in_the_cones_of_their_own_frames(
    toro: Robot, axis: int
) -> None:
    """Base and feet tilted together about the CoM's ground point, by what friction allows."""
    contacts = {"friction": 0.6, "cop_margin_m": 0.0, "min_normal_force_N": 0.0}
    tilt = np.zeros(3)
    tilt[axis] = (0.06, 0.05)[axis]
    R = pin.exp3(tilt)
    stance = dataclasses.replace(toro, q_nominal=turn_base(toro.q_nominal, R))
    controller = MomentumController(config(stance, contacts=contacts), stance)
    output = controller.step(stance.q_nominal, np.zeros(33), 0.0)

    sole = toro.soles[0]
    cone = wrench_cone(sole.half_length, sole.half_width, friction_pyramid(0.6))
    data = stance.model.createData()
    pin.framesForwardKinematics(stance.model, data, stance.q_nominal)
    total = pin.Force.Zero()
    for surface, wrench in zip(stance.soles, output.wrenches, strict=True):
        assert cone.margin(wrench).min() > 0.0
        total += surface.pose(data).act(pin.Force(wrench))
    weight = toro.mass * 9.81 * np.array([0.0, 0.0, 1.0])
    np.testing.assert_allclose(total.linear, weight, atol=1e-9 * weight[2])
    np.testing.assert_allclose(total.angular, np.cross(stance.com(), weight), atol=1e-9 * weight[2])
    # In its own frame a tilted sole must carry the weight's part along the slope by friction.
    slope = float(np.sin(np.linalg.norm(tilt)))
    along = np.linalg.norm(output.wrenches[:, :2].sum(axis=0))
    assert along == pytest.approx(weight[2] * slope, rel=1e-6)
