"""Ball joints, and objects beside the robot, in a rotation chart; Bouyarmane2012 VII."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from gauss_samples import Sample, aba, make_tree
from numpy.typing import NDArray

from balance.dynamics.gauss import gauss_dynamics
from balance.dynamics.gauss.forward import (
    PointForce,
    applied_force,
    multiplier_acceleration,
    projected_acceleration,
)
from balance.dynamics.gauss.jacobians import body_jacobians
from balance.dynamics.gauss.motion import integrate_gauss
from balance.dynamics.gauss.principle import gauss_functional
from balance.dynamics.gauss.program import chart_program
from balance.dynamics.gauss.state import (
    chart_from_pinocchio,
    chart_state,
    pinocchio_acceleration,
    pinocchio_from_chart,
)
from balance.errors import InputError
from balance.rotations import CHARTS

Array = NDArray[np.float64]

EVERY_CHART = pytest.mark.parametrize("chart", list(CHARTS))
THREE_CHARTS = pytest.mark.parametrize("chart", ["euler_zyx", "quaternion", "rotation_matrix"])


def doll_and_box() -> pin.Model:
    """A trunk with a ball-jointed arm, a hinge beyond it and a slide, and a box beside it.

    The root joints are placed turned and away, one motor has a rotor.
    """
    rng = np.random.default_rng(4)

    def place() -> pin.SE3:
        return pin.SE3(pin.exp3(rng.normal(size=3)), 0.3 * rng.normal(size=3))

    model = pin.Model()
    model.name = "doll and box"
    trunk = model.addJoint(0, pin.JointModelFreeFlyer(), place(), "root_joint")
    shoulder = model.addJoint(trunk, pin.JointModelSpherical(), place(), "shoulder")
    elbow = model.addJoint(shoulder, pin.JointModelRY(), place(), "elbow")
    hip = model.addJoint(trunk, pin.JointModelSpherical(), place(), "hip")
    model.addJoint(hip, pin.JointModelPZ(), place(), "shin")
    box = model.addJoint(0, pin.JointModelFreeFlyer(), place(), "box")
    model.addJoint(box, pin.JointModelRUBX(), place(), "lid")
    for joint in range(1, model.njoints):
        inertia = pin.Inertia.FromBox(rng.uniform(0.5, 3.0), 0.2, 0.3, 0.4)
        model.appendBodyToJoint(joint, inertia, place())
        model.addBodyFrame(f"{model.names[joint]}_body", joint, place(), 0)
    model.armature[model.joints[elbow].idx_v] = 0.05
    return model


DOLL = doll_and_box()
MOTORS = np.array([*range(6, 14), 20])
"""Velocities with a motor: everything but the two free joints'."""


def doll_sample(chart: str, seed: int) -> Sample:
    rng = np.random.default_rng(seed)
    q = pin.integrate(DOLL, pin.neutral(DOLL), 0.7 * rng.normal(size=DOLL.nv))
    v = rng.normal(size=DOLL.nv)
    return Sample(DOLL, chart, q, v, *chart_from_pinocchio(DOLL, chart, q, v), rng)


@THREE_CHARTS
def test_ball_joints_and_a_free_object_move_as_aba_says(chart: str) -> None:
    """Bouyarmane2012 VII: robot and box as one system, with contact forces between them."""
    for seed in range(4):
        sample = doll_sample(chart, seed)
        torques = sample.rng.normal(size=len(MOTORS))
        push = 20.0 * sample.rng.normal(size=3)
        contacts = [  # the arm pushes the box, and the box the arm
            PointForce("elbow_body", 0.1 * sample.rng.normal(size=3), push),
            PointForce("lid_body", 0.1 * sample.rng.normal(size=3), -push),
        ]
        effort = np.zeros(DOLL.nv)
        effort[MOTORS] = torques
        expected = aba(sample, effort, contacts)
        dynamics = sample.dynamics
        applied = applied_force(DOLL, chart, sample.q, torques, contacts)
        for qddot in (
            projected_acceleration(dynamics, applied),
            multiplier_acceleration(dynamics, applied)[0],
            gauss_functional(DOLL, chart, sample.q, sample.qdot, torques, contacts).minimiser(),
        ):
            found = pinocchio_acceleration(DOLL, chart, sample.q, sample.qdot, qddot)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("kind", [pin.JointModelRX, pin.JointModelPZ, pin.JointModelSpherical])
def test_what_hangs_from_the_world_by_another_joint_moves_as_aba_says(kind: type) -> None:
    """A door, a lift or a lamp beside the robot: its weight is not carried by any free flyer."""
    model = make_tree()
    place = pin.SE3(pin.exp3(np.array([0.4, -0.3, 0.2])), np.array([1.0, 0.2, 0.3]))
    door = model.addJoint(0, kind(), place, "door")
    handle = model.addJoint(door, pin.JointModelRY(), place, "handle")
    for joint in (door, handle):
        model.appendBodyToJoint(joint, pin.Inertia.FromBox(3.0, 0.2, 0.3, 0.4), place)
    rng = np.random.default_rng(9)
    q = pin.integrate(model, pin.neutral(model), 0.7 * rng.normal(size=model.nv))
    v, torques = rng.normal(size=model.nv), rng.normal(size=model.nv - 6)
    expected = pin.aba(model, model.createData(), q, v, np.concatenate([np.zeros(6), torques]))
    state = chart_from_pinocchio(model, "quaternion", q, v)
    applied = applied_force(model, "quaternion", state[0], torques)
    qddot = projected_acceleration(gauss_dynamics(model, "quaternion", *state), applied)
    found = pinocchio_acceleration(model, "quaternion", *state, qddot)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


@EVERY_CHART
def test_states_with_ball_joints_pass_between_the_chart_and_pinocchio(chart: str) -> None:
    sample = doll_sample(chart, 5)
    q, v = pinocchio_from_chart(DOLL, chart, sample.q, sample.qdot)
    assert np.abs(pin.difference(DOLL, sample.q_pin, q)).max() < 1e-12
    np.testing.assert_allclose(v, sample.v_pin, atol=1e-12)


def test_every_rotation_has_its_constraint() -> None:
    """Four rotations, of trunk, shoulder, hip and box: as many multipliers for quaternions."""
    dynamics = doll_sample("quaternion", 6).dynamics
    assert dynamics.C.shape == (4, 3 + 4 + 4 + 1 + 4 + 1 + 3 + 4 + 1)
    assert np.abs(dynamics.A @ dynamics.C.T).max() < 1e-13
    assert np.abs(dynamics.A @ dynamics.A - dynamics.A).max() < 1e-13
    assert np.linalg.matrix_rank(dynamics.M) == DOLL.nv


@THREE_CHARTS
def test_jacobians_of_every_body_are_pinocchios(chart: str) -> None:
    """Bouyarmane2012 (14)-(17): velocities and their rates at dv/dt of qdd = 0."""
    sample = doll_sample(chart, 7)
    state = chart_state(DOLL, chart, sample.q, sample.qdot)
    bodies = range(1, DOLL.njoints)
    points = np.stack([DOLL.inertias[k].lever for k in bodies])
    J = body_jacobians(state, bodies, points)
    data = DOLL.createData()
    zero = np.zeros_like(sample.q)
    dv = pinocchio_acceleration(DOLL, chart, sample.q, sample.qdot, zero)
    pin.forwardKinematics(DOLL, data, sample.q_pin, sample.v_pin, dv)
    for k in bodies:
        at = pin.SE3(np.eye(3), points[k - 1])
        velocity = pin.getFrameVelocity(DOLL, data, k, at, pin.LOCAL_WORLD_ALIGNED)
        acceleration = pin.getFrameClassicalAcceleration(DOLL, data, k, at, pin.LOCAL_WORLD_ALIGNED)
        R_T = data.oMi[k].rotation.T
        np.testing.assert_allclose(J.J_t[k - 1] @ sample.qdot, velocity.linear, atol=1e-12)
        np.testing.assert_allclose(J.J_r[k - 1] @ sample.qdot, R_T @ velocity.angular, atol=1e-12)
        rates = J.J_t_dot[k - 1] @ sample.qdot, J.J_r_dot[k - 1] @ sample.qdot
        np.testing.assert_allclose(rates[0], acceleration.linear, atol=1e-11)
        np.testing.assert_allclose(rates[1], R_T @ acceleration.angular, atol=1e-11)


def test_integrated_motion_of_robot_and_box_keeps_its_momentum() -> None:
    """Without gravity and contacts, each of the two keeps its own, and all stay on S^3."""
    model = DOLL.copy()
    model.gravity.setZero()
    sample = doll_sample("quaternion", 8)
    motion = integrate_gauss(
        model, "quaternion", sample.q, sample.qdot, lambda t: np.sin(5 * t + np.arange(9.0)),
        duration_s=0.2, step_s=0.005,
    )  # fmt: skip
    assert motion.drift.max() < 1e-13 and motion.rate_drift.max() < 1e-12
    data = model.createData()
    momenta = []
    for q, qdot in zip(motion.q[[0, -1]], motion.qdot[[0, -1]], strict=True):
        pin.forwardKinematics(model, data, *pinocchio_from_chart(model, "quaternion", q, qdot))
        links = [data.oMi[k].act(model.inertias[k] * data.v[k]).vector for k in range(1, 8)]
        momenta.append([np.sum(links[:5], axis=0), np.sum(links[5:], axis=0)])
    np.testing.assert_allclose(momenta[1], momenta[0], atol=1e-6 * np.abs(momenta[0]).max())


def test_programs_of_the_doll_leave_the_box_to_its_contacts() -> None:
    """Robot and box in one program: no motor acts on the box, contact forces do."""
    sample = doll_sample("quaternion", 9)
    contacts = [PointForce("box_body", np.zeros(3), np.zeros(3))]
    program = chart_program(DOLL, "quaternion", sample.q, sample.qdot, contacts)
    assert program.motors.shape == (len(sample.q), len(MOTORS))
    box = slice(len(sample.q) - 8, len(sample.q) - 1)
    assert not program.motors[box].any()
    assert np.abs(program.J[:, box]).max() > 0.1 and not program.J[:, : box.start].any()


def test_wrong_joints_and_torques_are_named() -> None:
    model = pin.Model()
    root = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    model.addJoint(root, pin.JointModelPlanar(), pin.SE3.Identity(), "cart")
    with pytest.raises(InputError, match=r"joint 'cart' .* is a JointModelPlanar with 3 degrees"):
        gauss_dynamics(model, "quaternion", np.zeros(10), np.zeros(10))
    sample = doll_sample("quaternion", 10)
    with pytest.raises(InputError, match=r"torques has shape \(15,\); expected \(9,\)"):
        applied_force(DOLL, "quaternion", sample.q, np.zeros(15))
    with pytest.raises(InputError, match="list of contacts is empty"):
        chart_program(DOLL, "quaternion", sample.q, sample.qdot, [])
