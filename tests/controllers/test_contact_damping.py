"""A contact that bears hardly any load is held still, and a firm one never feels the damper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

import balance
from balance.config import load_config
from balance.controllers.contact_damping import ContactDamping
from balance.controllers.support import Support
from balance.dynamics.checks import symmetrise
from balance.metrics import ankle_limit
from balance.robots import Robot

Array = NDArray[np.float64]
Draw = Callable[[Robot, np.random.Generator], tuple[Array, Array]]

RATE = 60.0


def damper_wrenches(support: Support, v: Array, normal_forces: Array) -> Array:
    """Wrenches (k, 6) of the dampers on contacts that the law loads with these forces."""
    asked = np.zeros((len(normal_forces), 6))
    asked[:, 2] = normal_forces
    driven = ContactDamping(support, RATE).driven(asked.ravel(), v)
    return np.asarray(asked - driven.reshape(-1, 6))


def test_the_velocity_of_a_contact_is_pinocchios(any_robot: Robot, random_state: Draw) -> None:
    q, v = random_state(any_robot, np.random.default_rng(1))
    support = Support(any_robot)
    support.update(q, v)
    model, data = any_robot.model, any_robot.model.createData()
    pin.forwardKinematics(model, data, q, v)
    velocities = (support.J_c @ v).reshape(-1, 6)
    for velocity, surface in zip(velocities, any_robot.soles, strict=True):
        expected = surface.placement.actInv(
            pin.getFrameVelocity(model, data, surface.frame_id, pin.LOCAL)
        )
        np.testing.assert_allclose(velocity, expected.vector, atol=1e-12)


def test_a_free_contact_comes_to_rest_at_the_given_rate(any_robot: Robot) -> None:
    """If the damper acted on the whole free robot, the contact would decelerate at rate * V."""
    support = Support(any_robot)
    v = 0.3 * np.random.default_rng(2).standard_normal(any_robot.model.nv)
    support.update(any_robot.q_nominal, v)
    wrenches = damper_wrenches(support, v, np.zeros(len(any_robot.soles)))
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
    support = Support(toro)
    model, data = toro.model, toro.model.createData()
    pin.computeJointJacobians(model, data, toro.q_nominal)
    pin.updateFramePlacements(model, data)
    J = np.vstack(
        [pin.getFrameJacobian(model, data, sole.frame_id, pin.LOCAL) for sole in toro.soles]
    )
    null_space = np.linalg.svd(J)[2][12:]
    v = np.random.default_rng(3).standard_normal(len(null_space)) @ null_space
    support.update(toro.q_nominal, v)
    assert np.abs(v).max() > 0.1
    wrenches = damper_wrenches(support, v, np.zeros(2))
    np.testing.assert_allclose(wrenches, 0.0, atol=1e-9)


def test_only_lightly_loaded_contacts_are_damped(toro: Robot) -> None:
    support = Support(toro)
    v = np.random.default_rng(4).standard_normal(toro.model.nv)
    support.update(toro.q_nominal, v)
    firm = toro.mass * 9.81 / 2
    free = damper_wrenches(support, v, np.zeros(2))
    mixed = damper_wrenches(support, v, np.array([2.0 * firm, 0.25 * firm]))
    np.testing.assert_allclose(mixed[0], 0.0, atol=0)
    np.testing.assert_allclose(mixed[1], 0.75 * free[1], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(damper_wrenches(support, v, np.array([firm, 3.0 * firm])), 0.0)


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
