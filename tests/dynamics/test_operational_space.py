"""Operational-space control against the forward dynamics of a fixed-base arm."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.dynamics.operational_space import (
    end_effector_dynamics,
    operational_space_torques,
    selection,
)
from balance.errors import FrameError, InputError, SingularityError

Array = NDArray[np.float64]

FRAME = "lwr_flange"
SAME = 1e-8  # relative to the largest entry
STATES = 20


def arm(joints: int) -> pin.Model:
    """A chain of revolute joints with axes in turn about z, y and x, on a fixed base."""
    model, parent = pin.Model(), 0
    model.name = f"arm with {joints} joints"
    rng = np.random.default_rng(110)
    kinds = (pin.JointModelRZ(), pin.JointModelRY(), pin.JointModelRX())
    for index in range(joints):
        placement = pin.SE3(pin.exp3(0.3 * rng.normal(size=3)), np.array([0.05, 0.02, 0.25]))
        parent = model.addJoint(parent, kinds[index % 3], placement, f"joint_{index}")
        inertia = pin.Inertia(
            2.0 / (1 + index), 0.1 * rng.normal(size=3), np.diag([0.02, 0.03, 0.01])
        )
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    tool = pin.SE3(pin.exp3(np.array([0.4, 0.1, -0.2])), np.array([0.02, 0.0, 0.15]))
    model.addFrame(pin.Frame(FRAME, parent, 0, tool, pin.FrameType.OP_FRAME))
    return model


def draw(model: pin.Model, rng: np.random.Generator) -> tuple[Array, Array]:
    return rng.uniform(-1.0, 1.0, model.nq), rng.normal(size=model.nv)


def flange_acceleration(
    model: pin.Model, q: Array, v: Array, torques: Array, force: Array
) -> Array:
    """Acceleration of the frame when it also feels ``force``; by the articulated-body algorithm."""
    data, frame, axes = model.createData(), model.getFrameId(FRAME), pin.LOCAL_WORLD_ALIGNED
    J = pin.computeFrameJacobian(model, data, q, frame, axes)
    a = pin.aba(model, model.createData(), q, v, torques + J.T @ force)
    pin.forwardKinematics(model, data, q, v, a)
    pin.updateFramePlacements(model, data)
    return np.array(pin.getFrameClassicalAcceleration(model, data, frame, axes).vector)


def assert_same(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=SAME * np.abs(expected).max())


@pytest.mark.parametrize("joints", [6, 7])
def test_end_effector_moves_as_a_body_of_its_own(joints: int) -> None:
    """Lambda dw/dt + mu + p = F for the dw/dt that torques J^T F produce."""
    model, rng = arm(joints), np.random.default_rng(111)
    for _ in range(STATES):
        q, v = draw(model, rng)
        dynamics = end_effector_dynamics(model, q, v, FRAME)
        F = rng.normal(size=6)
        moved = flange_acceleration(model, q, v, dynamics.J.T @ F, np.zeros(6))
        assert_same(dynamics.Lambda @ moved + dynamics.mu + dynamics.p, F)


@pytest.mark.parametrize("joints", [6, 7, 9])
def test_free_directions_accelerate_as_wanted_and_the_others_press(joints: int) -> None:
    """The environment answers with minus the wanted force, and the robot does not move there."""
    model, rng = arm(joints), np.random.default_rng(112)
    for _ in range(STATES):
        q, v = draw(model, rng)
        C = pin.exp3(rng.normal(size=3))
        free = rng.integers(0, 2, size=(2, 3)).astype(bool)
        directions = selection(C, free[0], free[1])
        wanted, force = rng.normal(size=6), 10.0 * rng.normal(size=6)
        torques = operational_space_torques(
            model, q, v, FRAME, acceleration=wanted, force=force, directions=directions
        )
        answer = -directions.S_F @ force
        moved = flange_acceleration(model, q, v, torques, answer)
        np.testing.assert_allclose(moved, directions.S_M @ wanted, rtol=0, atol=1e-7)


def test_selection_splits_along_the_axes_of_the_contact() -> None:
    C = pin.exp3(np.array([0.3, -0.5, 0.8]))
    directions = selection(C, [True, False, True], [False, False, True])
    along_y = np.concatenate([C[1], np.zeros(3)])  # the contact's y axis in world axes
    np.testing.assert_allclose(directions.S_F @ along_y, along_y, atol=1e-12)
    np.testing.assert_allclose(directions.S_M @ along_y, 0.0, atol=1e-12)
    about_z = np.concatenate([np.zeros(3), C[2]])
    np.testing.assert_allclose(directions.S_M @ about_z, about_z, atol=1e-12)
    np.testing.assert_allclose(directions.S_M + directions.S_F, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(directions.S_M @ directions.S_M, directions.S_M, atol=1e-12)


def test_arm_with_too_few_joints_is_refused() -> None:
    model = arm(5)
    with pytest.raises(SingularityError, match="cannot move frame 'lwr_flange' in all six"):
        end_effector_dynamics(model, np.zeros(5), np.zeros(5), FRAME)


def test_floating_base_is_refused() -> None:
    model = pin.buildSampleModelHumanoidRandom()
    with pytest.raises(InputError, match=r"floating base.*floating_base_torques"):
        end_effector_dynamics(model, pin.neutral(model), np.zeros(model.nv), "larm1_joint")


def test_wrong_arguments_are_named() -> None:
    model = arm(6)
    zero = np.zeros(6)
    with pytest.raises(FrameError, match="no frame 'hand'"):
        end_effector_dynamics(model, zero, zero, "hand")
    with pytest.raises(InputError, match=r"q has shape \(5,\)"):
        end_effector_dynamics(model, zero[:5], zero, FRAME)
    with pytest.raises(InputError, match="orthonormal"):
        selection(2.0 * np.eye(3), [True] * 3, [True] * 3)
    with pytest.raises(InputError, match="free_rotation has 2 entries; expected 3"):
        selection(np.eye(3), [True] * 3, [True] * 2)
    with pytest.raises(InputError, match=r"force has shape \(3,\)"):
        operational_space_torques(
            model,
            np.full(6, 0.3),
            zero,
            FRAME,
            acceleration=zero,
            force=np.zeros(3),
            directions=selection(np.eye(3), [True] * 3, [True] * 3),
        )
