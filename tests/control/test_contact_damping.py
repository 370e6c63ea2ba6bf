"""A contact that bears hardly any load is held still, and a firm one never feels the damper."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

import balance
from balance.config import load_config
from balance.control.parts.contact_damping import ContactDamping
from balance.control.parts.support import Support
from balance.dynamics.checks import symmetrise
from balance.recordings.metrics import ankle_limit
from balance.robots import Robot

Array = NDArray[np.float64]
Draw = Callable[[Robot, np.random.Generator], tuple[Array, Array]]

RATE = 60.0


def contact_wrenches(
    robot: Robot, q: Array, v: Array, normal_forces: Array, *, back: float = 0.0
) -> Array:
    """Wrenches (k, 6) of dampers and springs on contacts that the law loads with these forces."""
    support = Support(robot)
    asked = np.zeros((len(normal_forces), 6))
    asked[:, 2] = normal_forces
    damping = ContactDamping(support, RATE, back)
    driven = damping.driven(support.at(q, v), asked.ravel())
    return np.asarray(asked - driven.reshape(-1, 6))


def test_the_velocity_of_a_contact_is_pinocchios(any_robot: Robot, random_state: Draw) -> None:
    q, v = random_state(any_robot, np.random.default_rng(1))
    here = Support(any_robot).at(q, v)
    model, data = any_robot.model, any_robot.model.createData()
    pin.forwardKinematics(model, data, q, v)
    velocities = (here.J_c @ v).reshape(-1, 6)
    for velocity, surface in zip(velocities, any_robot.soles, strict=True):
        expected = surface.placement.actInv(
            pin.getFrameVelocity(model, data, surface.frame_id, pin.LOCAL)
        )
        np.testing.assert_allclose(velocity, expected.vector, atol=1e-12)


def test_a_free_contact_comes_to_rest_at_the_given_rate(any_robot: Robot) -> None:
    """If the damper acted on the whole free robot, the contact would decelerate at rate * V."""
    v = 0.3 * np.random.default_rng(2).standard_normal(any_robot.model.nv)
    q, unloaded = any_robot.q_nominal, np.zeros(len(any_robot.soles))
    wrenches = contact_wrenches(any_robot, q, v, unloaded)
    model, data = any_robot.model, any_robot.model.createData()
    M = symmetrise(pin.crba(model, data, any_robot.q_nominal))
    pin.computeJointJacobians(model, data, any_robot.q_nominal)
    for wrench, surface in zip(wrenches, any_robot.soles, strict=True):
        frame = model.frames[surface.frame_id]
        J = pin.getFrameJacobian(
            model, data, frame.parentJoint, frame.placement * surface.placement, pin.LOCAL
        )
        deceleration = J @ np.linalg.solve(M, J.T @ wrench)
        np.testing.assert_allclose(deceleration, -RATE * (J @ v), rtol=1e-8, atol=1e-9)


def test_a_standing_contact_feels_nothing(toro: Robot) -> None:
    """Any motion with both soles at rest leaves the dampers without force."""
    model, data = toro.model, toro.model.createData()
    pin.computeJointJacobians(model, data, toro.q_nominal)
    pin.updateFramePlacements(model, data)
    J = np.vstack(
        [pin.getFrameJacobian(model, data, sole.frame_id, pin.LOCAL) for sole in toro.soles]
    )
    null_space = np.linalg.svd(J)[2][12:]
    v = np.random.default_rng(3).standard_normal(len(null_space)) @ null_space
    assert np.abs(v).max() > 0.1
    wrenches = contact_wrenches(toro, toro.q_nominal, v, np.zeros(2))
    np.testing.assert_allclose(wrenches, 0.0, atol=1e-9)


def test_only_lightly_loaded_contacts_are_damped(toro: Robot) -> None:
    q, v = toro.q_nominal, np.random.default_rng(4).standard_normal(toro.model.nv)
    firm = toro.mass * 9.81 / 2
    free = contact_wrenches(toro, q, v, np.zeros(2))
    mixed = contact_wrenches(toro, q, v, np.array([2.0 * firm, 0.25 * firm]))
    np.testing.assert_allclose(mixed[0], 0.0, atol=0)
    np.testing.assert_allclose(mixed[1], 0.75 * free[1], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(contact_wrenches(toro, q, v, np.array([firm, 3.0 * firm])), 0.0)


@pytest.mark.parametrize(("rate", "slips"), [(0.0, True), (RATE, False)])
def test_the_unloaded_foot_stays_where_it_is(toro: Robot, rate: float, slips: bool) -> None:
    impulse = 0.6 * ankle_limit(toro, np.array([0.0, 1.0, 0.0]))
    push = {"type": "half_sine", "body": "hip", "direction": [0, 1, 0], "time_s": 0.0}
    recording = balance.run(
        load_config(
            "toro_push",
            {
                "duration_s": 1.2,
                "controller.contact_damping": rate,
                "pushes": [{**push, "duration_s": 0.02, "impulse_Ns": impulse}],
            },
        )
    )
    assert (recording.sole_slip.max() > 0.02) == slips


def spring_wrenches(robot: Robot, q: Array, normal_forces: Array) -> Array:
    """Wrenches (k, 6) of critically damped springs at rest in ``q``."""
    return contact_wrenches(robot, q, np.zeros(robot.model.nv), normal_forces, back=1.0)


def nominal_response(robot: Robot, contact: int, wrench: Array) -> Array:
    """Acceleration (6,) of a contact of the free robot, in its nominal posture, by a wrench."""
    model, data, sole = robot.model, robot.model.createData(), robot.soles[contact]
    M = symmetrise(pin.crba(model, data, robot.q_nominal))
    J = pin.computeFrameJacobian(model, data, robot.q_nominal, sole.frame_id, pin.LOCAL)
    J = sole.placement.toActionMatrixInverse() @ J
    return np.asarray(J @ np.linalg.solve(M, J.T @ wrench))


def contact_poses(robot: Robot, q: Array) -> list[pin.SE3]:
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    return [sole.pose(data) for sole in robot.soles]


def test_a_slipped_contact_is_pulled_back_along_its_surface(any_robot: Robot) -> None:
    """Critical damping: acceleration (rate / 2)^2 times the displacement, by SE(3)'s logarithm."""
    offset = np.zeros(any_robot.model.nv)
    offset[6:] = 1e-4 * np.random.default_rng(5).standard_normal(any_robot.model.nv - 6)
    q = pin.integrate(any_robot.model, any_robot.q_nominal, offset)
    displaced = [
        pin.log6(before.actInv(now)).vector
        for before, now in zip(
            contact_poses(any_robot, any_robot.q_nominal), contact_poses(any_robot, q), strict=True
        )
    ]
    firm = any_robot.mass * 9.81
    for i, leader in ((0, 1), (1, 0)):
        forces = np.full(2, firm)
        forces[i] = 0.0
        wrenches = spring_wrenches(any_robot, q, forces)
        np.testing.assert_array_equal(wrenches[leader], 0.0)
        poses = contact_poses(any_robot, any_robot.q_nominal)
        R = poses[i].rotation.T @ poses[leader].rotation
        led = np.concatenate([R @ displaced[leader][:3], R @ displaced[leader][3:]])
        away = (displaced[i] - 0.5 * led) * [1, 1, 0, 0, 0, 1]
        assert np.abs(away).max() > 1e-6
        np.testing.assert_allclose(
            nominal_response(any_robot, i, wrenches[i]), -((RATE / 2) ** 2) * away, atol=1e-4
        )


def test_a_standing_contact_is_not_pulled_and_a_loaded_one_never(toro: Robot) -> None:
    firm = toro.mass * 9.81 / 2
    np.testing.assert_allclose(spring_wrenches(toro, toro.q_nominal, np.zeros(2)), 0.0, atol=1e-9)
    q = toro.q_nominal.copy()
    q[7:] += 0.02
    np.testing.assert_array_equal(spring_wrenches(toro, q, np.array([0.5, 0.5]) * firm), 0.0)
    free, half = (spring_wrenches(toro, q, np.array([2.0, x]) * firm)[1] for x in (0.0, 0.25))
    assert np.abs(free).max() > 1.0
    np.testing.assert_allclose(half, 0.5 * free)


def test_a_stance_that_moved_as_a_whole_is_pulled_by_half(toro: Robot) -> None:
    q = toro.q_nominal.copy()
    q[:3] += [1e-3, -2e-3, 5e-3]  # up does not count
    wrench = spring_wrenches(toro, q, np.array([0.0, 1000.0]))[0]
    back = -0.5 * (RATE / 2) ** 2 * np.array([1e-3, -2e-3, 0, 0, 0, 0])
    axes = contact_poses(toro, q)[0].rotation
    np.testing.assert_allclose(axes @ nominal_response(toro, 0, wrench)[:3], back[:3], atol=1e-9)


def test_on_one_leg_nothing_pulls(toro: Robot) -> None:
    one_leg = dataclasses.replace(toro, soles=toro.soles[:1])
    q = toro.q_nominal.copy()
    q[:2] += 0.01
    np.testing.assert_array_equal(spring_wrenches(one_leg, q, np.zeros(1)), 0.0)


@pytest.mark.parametrize(("back", "stays_away"), [(0.0, True), (1.0, False)])
def test_feet_that_slipped_apart_find_together(toro: Robot, back: float, stays_away: bool) -> None:
    direction = np.array([-0.56, 0.83, 0.0])
    impulse = 0.7 * ankle_limit(toro, direction / np.linalg.norm(direction))
    push = {"type": "half_sine", "body": "hip", "direction": direction.tolist(), "time_s": 0.0}
    recording = balance.run(
        load_config(
            "toro_damped",
            {
                "duration_s": 2.0,
                "controller.contact_damping": RATE,
                "controller.contact_return": back,
                "pushes": [{**push, "duration_s": 0.02, "impulse_Ns": impulse}],
            },
        )
    )
    first, last = (contact_poses(toro, recording.q[i]) for i in (0, -1))
    gaps = [(a.translation - b.translation)[:2] for a, b in (first, last)]
    assert recording.summary()["outcome"] == "recovered"
    assert (np.linalg.norm(gaps[1] - gaps[0]) > 0.008) == stays_away
