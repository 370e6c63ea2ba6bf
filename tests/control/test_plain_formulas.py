"""The fast form of the wrench laws is their plain formulas, at the states of a pushed run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest
from law_samples import contact_jacobian, law_config, spring_torque, strong, wrench_at_com
from numpy.typing import NDArray

from balance.control.momentum import MomentumController
from balance.control.parts.contact_damping import ContactDamping
from balance.control.parts.feedback import Feedback, spring_map
from balance.control.parts.setpoints import SetpointPath
from balance.control.parts.support import Support
from balance.dynamics.checks import symmetrise
from balance.robots import Robot

Array = NDArray[np.float64]
Draw = Callable[[Robot, np.random.Generator], tuple[Array, Array]]

SAME = 1e-10  # relative to the largest entry


def assert_same(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=SAME * np.abs(expected).max())


def random_quaternion(rng: np.random.Generator) -> Array:
    u = rng.standard_normal(4)
    return np.asarray(u / np.linalg.norm(u))


def random_gain(rng: np.random.Generator) -> Array:
    root = rng.standard_normal((3, 3))
    return np.asarray(100.0 * (root @ root.T + np.eye(3)))


def test_spring_torque_is_linear_in_the_axes_of_the_base() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        K_R, u_d, u = random_gain(rng), random_quaternion(rng), random_quaternion(rng)
        spring, R = spring_map(K_R, pin.Quaternion(u_d).matrix()), pin.Quaternion(u).matrix()
        assert_same(spring @ R.T.ravel(), spring_torque(K_R, u_d, u))


def test_spring_is_linear_in_small_angles_and_pulls_back() -> None:
    K_R, rng = np.diag([500.0, 400.0, 100.0]), np.random.default_rng(3)
    for _ in range(20):
        u_d, angle = random_quaternion(rng), 1e-6 * rng.standard_normal(3)
        R_d = pin.Quaternion(u_d).matrix()
        torque = spring_map(K_R, R_d) @ (R_d @ pin.exp3(angle)).T.ravel()
        np.testing.assert_allclose(R_d.T @ torque, -K_R @ angle, rtol=0, atol=1e-9)


def test_feedback_is_springs_and_dampers_and_follows_the_setpoint() -> None:
    rng = np.random.default_rng(2)
    K_P, K_D, K_R, D = (random_gain(rng) for _ in range(4))
    offset = rng.standard_normal(3)
    feedback = Feedback(K_P, K_D, K_R, D, offset)
    for _ in range(20):
        u_d, u, x, rates = (*(random_quaternion(rng) for _ in range(2)), *rng.normal(size=(2, 6)))
        x, x_d, R_d = x[:3], rng.standard_normal(3), pin.Quaternion(u_d).matrix()
        desired = SetpointPath(x_d, R_d, []).at(0.0)
        force = offset - K_P @ (x - x_d) - K_D @ rates[:3]
        torque = spring_torque(K_R, u_d, u) - D @ rates[3:]
        for _ in range(2):  # the second time nothing is prepared anew
            actual = feedback.wrench(desired, x, rates, pin.Quaternion(u).matrix())
            assert_same(actual, np.concatenate([force, torque]))


def test_support_has_pinocchios_jacobians_and_sums_of_wrenches(
    any_robot: Robot, random_state: Draw
) -> None:
    rng = np.random.default_rng(4)
    support = Support(any_robot)
    k = len(any_robot.soles)
    for _ in range(5):
        q, v = random_state(any_robot, rng)
        here = support.at(q, v)
        assert_same(here.J_c, contact_jacobian(any_robot, q))
        wrenches = rng.standard_normal((k, 6))
        assert_same(here.G @ wrenches.ravel(), wrench_at_com(any_robot, q, wrenches))
        assert_same(here.com, any_robot.com(q))
        moving = np.flatnonzero(np.abs(contact_jacobian(any_robot, q)).max(axis=0) > 1e-12)
        np.testing.assert_array_equal(support.moving, moving)


@pytest.mark.parametrize("seed", [5, 6])
def test_step_of_the_momentum_law_is_the_plain_formula(
    toro: Robot, random_state: Draw, seed: int
) -> None:
    """tau = (Lambda_h G w)^T A_q - sum J_iq^T (w_i - damper) + posture, with the mass matrix.

    A damper fades as its contact takes up load, and is gone at an even share of the weight.
    """
    robot, rng = strong(toro), np.random.default_rng(seed)
    law = MomentumController(law_config("momentum"), robot)
    model, data = robot.model, robot.model.createData()
    rate = law_config("momentum").controller.contact_damping
    M_0 = symmetrise(pin.crba(model, data, robot.q_nominal))
    J_0 = contact_jacobian(robot, robot.q_nominal)
    dampers = [
        rate * np.linalg.inv(J_0[rows] @ np.linalg.solve(M_0, J_0[rows].T))
        for rows in (slice(0, 6), slice(6, 12))
    ]
    even_share = robot.mass * 9.81 / 2
    for _ in range(10):
        q, v = random_state(robot, rng)
        output = law.step(q, v, 0.0)
        pin.ccrba(model, data, q, v)
        total = wrench_at_com(robot, q, output.wrenches)
        x = np.concatenate([total[:3] / robot.mass, np.linalg.solve(data.Ig.inertia, total[3:])])
        J = contact_jacobian(robot, q)
        expected = x @ data.Ag[:, 6:] + law.posture.torque(q[7:], v[6:])
        for rows, damper, wrench in zip(
            (slice(0, 6), slice(6, 12)), dampers, output.wrenches, strict=True
        ):
            softness = max(0.0, 1.0 - wrench[2] / even_share)
            expected -= J[rows, 6:].T @ (wrench + softness * damper @ J[rows] @ v)
        assert_same(output.torques, expected)
    assert isinstance(law.contact_damping, ContactDamping)
