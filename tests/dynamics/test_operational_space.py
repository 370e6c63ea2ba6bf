"""Operational-space control against the forward dynamics of a fixed-base arm."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from example_robot_data import robots_loader
from numpy.typing import NDArray

from balance.dynamics.notes_arms import END, planar_arm
from balance.dynamics.operational_space import (
    POSITION,
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


def load_ur5() -> pin.Model:
    loader = robots_loader.ROBOTS["ur5"]
    inside = f"{loader.path}/{loader.urdf_subpath}/{loader.urdf_filename}"
    return pin.buildModelFromUrdf(f"{robots_loader.getModelPath(inside)}/{inside}")


def draw(model: pin.Model, rng: np.random.Generator) -> tuple[Array, Array]:
    return rng.uniform(-1.0, 1.0, model.nq), rng.normal(size=model.nv)


def flange_acceleration(
    model: pin.Model, q: Array, v: Array, torques: Array, force: Array, name: str = FRAME
) -> Array:
    """Acceleration of the frame when it also feels ``force``; by the articulated-body algorithm."""
    data, frame, axes = model.createData(), model.getFrameId(name), pin.LOCAL_WORLD_ALIGNED
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


@pytest.mark.parametrize("joints", [3, 4, 5])
def test_arm_with_few_joints_takes_as_many_directions(joints: int) -> None:
    """Position alone: Lambda dw/dt + mu + p = F holds in the rows of the task."""
    model, rng = arm(joints), np.random.default_rng(113)
    for _ in range(STATES):
        q, v = draw(model, rng)
        dynamics = end_effector_dynamics(model, q, v, FRAME, rows=POSITION)
        F = rng.normal(size=3)
        moved = flange_acceleration(model, q, v, dynamics.J.T @ F, np.zeros(6))[:3]
        assert_same(dynamics.Lambda @ moved + dynamics.mu + dynamics.p, F)


def test_rows_are_those_of_all_six_in_any_order() -> None:
    model, rng = arm(7), np.random.default_rng(114)
    q, v = draw(model, rng)
    whole = end_effector_dynamics(model, q, v, FRAME)
    part = end_effector_dynamics(model, q, v, FRAME, rows=("rz", "x"))
    np.testing.assert_array_equal(part.J, whole.J[[5, 0]])
    np.testing.assert_array_equal(part.drift, whole.drift[[5, 0]])
    # The inertia of a part of the directions is the inverse of that block of the mobility.
    block = np.linalg.inv(whole.Lambda)[np.ix_([5, 0], [5, 0])]
    assert_same(np.linalg.inv(part.Lambda), block)


def test_planar_arm_of_the_notes_moves_and_presses_in_its_plane() -> None:
    """It cleans a slope: free along it and about y, pressing across it; (3.96)-(3.98)."""
    model, rng = planar_arm(), np.random.default_rng(115)
    rows, kept = ("x", "z", "ry"), [0, 2, 4]
    directions = selection(
        pin.exp3(np.array([0.0, 0.4, 0.0])).T, [True, True, False], [True, True, True]
    )
    for _ in range(STATES):
        q, v = rng.uniform(0.2, 1.0, 3), rng.normal(size=3)
        wanted, force = rng.normal(size=3), 10.0 * rng.normal(size=3)
        torques = operational_space_torques(
            model, q, v, END,
            acceleration=wanted, force=force, directions=directions, rows=rows,
        )  # fmt: skip
        S_M, S_F = (S[np.ix_(kept, kept)] for S in (directions.S_M, directions.S_F))
        answer = np.zeros(6)
        answer[kept] = -S_F @ force
        moved = flange_acceleration(model, q, v, torques, answer, END)[kept]
        np.testing.assert_allclose(moved, S_M @ wanted, rtol=0, atol=1e-7)


def test_posture_torques_move_a_redundant_arm_and_not_its_end_effector() -> None:
    model, rng = arm(8), np.random.default_rng(116)
    free = selection(np.eye(3), [True] * 3, [True] * 3)
    for _ in range(STATES):
        q, v = draw(model, rng)
        wanted, tau_0 = rng.normal(size=6), rng.normal(size=8)
        command = {"acceleration": wanted, "force": np.zeros(6), "directions": free}
        plain = operational_space_torques(model, q, v, FRAME, **command)
        posed = operational_space_torques(model, q, v, FRAME, **command, posture_torques=tau_0)
        assert np.abs(posed - plain).max() > 1e-2
        for torques in (plain, posed):
            moved = flange_acceleration(model, q, v, torques, np.zeros(6))
            np.testing.assert_allclose(moved, wanted, rtol=0, atol=1e-7)
        # What the null space takes away of tau_0 is what the end effector would have felt.
        dynamics = end_effector_dynamics(model, q, v, FRAME)
        assert_same(dynamics.null_space_torques(posed - plain), posed - plain)
        np.testing.assert_allclose(dynamics.null_space_torques(dynamics.J.T @ wanted), 0, atol=1e-9)


def test_arm_without_redundancy_has_no_posture_torques() -> None:
    model = arm(6)
    dynamics = end_effector_dynamics(model, np.full(6, 0.3), np.ones(6), FRAME)
    np.testing.assert_allclose(dynamics.null_space_torques(np.ones(6)), 0.0, atol=1e-9)


def test_ur5_presses_on_a_table_while_it_wipes() -> None:
    """Hybrid control of a real arm against a hard plane: it presses as told and slides as told."""
    model = load_ur5()
    q, v = np.array([0.2, -1.2, 1.6, -1.9, -1.5, 0.3]), np.full(6, 0.1)
    frame, data = "tool0", model.createData()
    J = pin.computeFrameJacobian(
        model, data, q, model.getFrameId(frame), pin.LOCAL_WORLD_ALIGNED
    ).copy()
    v = v - np.linalg.pinv(J[2:3]) @ (J[2:3] @ v)  # sliding already: no velocity into the table
    directions = selection(np.eye(3), [True, True, False], [True, True, True])
    wanted, press = np.array([0.5, -0.2, 9.0, 0.0, 0.0, 0.1]), 20.0
    torques = operational_space_torques(
        model, q, v, frame,
        acceleration=wanted, force=[0, 0, -press, 0, 0, 0], directions=directions,
    )  # fmt: skip
    # A hard table allows no acceleration into it: solve for the force with which it answers.
    drift = end_effector_dynamics(model, q, v, frame).drift
    M = pin.crba(model, model.createData(), q)
    M = np.triu(M) + np.triu(M, 1).T
    h = pin.nonLinearEffects(model, model.createData(), q, v)
    free = np.linalg.solve(M, torques - h)
    answer = -(J[2] @ free + drift[2]) / (J[2] @ np.linalg.solve(M, J[2]))
    assert answer == pytest.approx(press, rel=1e-9)
    a = np.linalg.solve(M, torques - h + answer * J[2])
    np.testing.assert_allclose((J @ a + drift)[[0, 1, 3, 4, 5]], wanted[[0, 1, 3, 4, 5]], atol=1e-8)


def test_too_few_joints_and_a_bad_posture_are_told_apart() -> None:
    five, six = arm(5), arm(6)
    with pytest.raises(SingularityError, match=r"no posture of 'arm with 5 joints'.*at most 5 of"):
        end_effector_dynamics(five, np.zeros(5), np.zeros(5), FRAME)
    with pytest.raises(SingularityError, match=r"no posture of 'planar arm.*at most 3 of them"):
        end_effector_dynamics(planar_arm(), np.full(3, 0.5), np.zeros(3), END)
    with pytest.raises(SingularityError, match=r"singular posture: here it moves .* in 1 of the 2"):
        end_effector_dynamics(planar_arm(), np.zeros(3), np.zeros(3), END, rows=("x", "z"))
    end_effector_dynamics(six, np.full(6, 0.3), np.zeros(6), FRAME)


def test_wrong_rows_are_named() -> None:
    model, zero = arm(6), np.full(6, 0.3)
    with pytest.raises(InputError, match=r"rows has 'yaw', which is no direction; valid: rx"):
        end_effector_dynamics(model, zero, zero, FRAME, rows=("x", "yaw"))
    with pytest.raises(InputError, match=r"expected at least one of x, y, z.*none twice"):
        end_effector_dynamics(model, zero, zero, FRAME, rows=("x", "x"))
    tilted = selection(pin.exp3(np.array([0.0, 0.4, 0.0])), [True, True, False], [True] * 3)
    with pytest.raises(InputError, match="mix the rows x, y with directions"):
        operational_space_torques(
            model, zero, zero, FRAME,
            acceleration=[0, 0], force=[0, 0], directions=tilted, rows=("x", "y"),
        )  # fmt: skip


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
