"""Gauss' functional, (18)-(21), ball joints and objects, and both programs; Bouyarmane2012."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from gauss_samples import Sample, load_talos, make_sample, make_tree, random_contacts
from numpy.typing import NDArray

from balance.control.qp import QPStatus, QuadraticProgram, make_solver
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
from balance.errors import InputError, SingularityError
from balance.rotations import CHARTS, skew

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


def aba(sample: Sample, effort: Array, contacts: list[PointForce]) -> Array:
    model, data = sample.model, sample.model.createData()
    pin.framesForwardKinematics(model, data, sample.q_pin)
    external = [pin.Force.Zero() for _ in range(model.njoints)]
    for contact in contacts:
        index = model.getFrameId(contact.frame)
        point, force = data.oMf[index].act(np.asarray(contact.point)), np.asarray(contact.force)
        joint = model.frames[index].parentJoint
        external[joint] += data.oMi[joint].actInv(pin.Force(force, np.cross(point, force)))
    return np.array(pin.aba(model, data, sample.q_pin, sample.v_pin, effort, external))


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


@EVERY_CHART
def test_the_motion_of_least_deviation_is_the_projected_one(chart: str) -> None:
    """Bouyarmane2012 (22)-(23), (31) against (35), which the minimiser satisfies to rounding."""
    model = make_tree(armature=0.05)
    sample = make_sample(model, chart, 21)
    torques, contacts = sample.rng.normal(size=3), random_contacts(sample)
    functional = gauss_functional(model, chart, sample.q, sample.qdot, torques, contacts)
    least = functional.minimiser()
    dynamics = sample.dynamics
    applied = applied_force(model, chart, sample.q, torques, contacts)
    projected = projected_acceleration(dynamics, applied)
    size = np.abs(projected).max()
    np.testing.assert_allclose(least, projected, rtol=0, atol=3e-14 * size)
    inertial = dynamics.M @ least
    missing = dynamics.A @ (inertial + dynamics.N @ sample.qdot - dynamics.gravity - applied)
    assert np.abs(missing).max() < 1e-14 * np.abs(np.concatenate([inertial, applied])).max()


def test_the_motion_of_least_deviation_is_the_projected_one_for_talos() -> None:
    model = load_talos()
    sample = make_sample(model, "quaternion", 22)
    torques, contacts = sample.rng.normal(size=model.nv - 6), random_contacts(sample)
    functional = gauss_functional(model, "quaternion", sample.q, sample.qdot, torques, contacts)
    applied = applied_force(model, "quaternion", sample.q, torques, contacts)
    projected = projected_acceleration(sample.dynamics, applied)
    found = functional.minimiser()
    np.testing.assert_allclose(found, projected, rtol=0, atol=3e-14 * np.abs(projected).max())


def test_every_other_admissible_acceleration_deviates_more() -> None:
    model = make_tree()
    sample = make_sample(model, "quaternion", 23)
    functional = gauss_functional(model, "quaternion", sample.q, sample.qdot, np.ones(3))
    least = functional.minimiser()
    D = functional.deviation(least)
    assert D > 0.0  # the joints do hold the links together
    Z = np.linalg.svd(functional.C)[2][1:].T
    for _ in range(20):
        step = Z @ sample.rng.normal(size=Z.shape[1])
        more = functional.deviation(least + 1e-2 * step) - D
        assert more > 0.0
        half_of_curvature = 0.5 * 1e-4 * step @ sample.dynamics.M @ step
        assert more == pytest.approx(half_of_curvature, rel=1e-6)


def test_gradient_of_the_deviation_is_the_equation_of_motion() -> None:
    """Bouyarmane2012 (23) is (24), at any qdd; and a finite difference of D."""
    model = make_tree(armature=0.05)
    sample = make_sample(model, "euler_zyx", 24)
    contacts, torques = random_contacts(sample), np.array([1.0, -2.0, 3.0])
    functional = gauss_functional(model, "euler_zyx", sample.q, sample.qdot, torques, contacts)
    qddot = sample.rng.normal(size=9)
    d = sample.dynamics
    applied = applied_force(model, "euler_zyx", sample.q, torques, contacts)
    expected = d.M @ qddot + d.N @ sample.qdot - d.gravity - applied
    gradient = functional.gradient(qddot)
    np.testing.assert_allclose(gradient, expected, atol=1e-12 * np.abs(applied).max())
    slope = [
        (functional.deviation(qddot + h) - functional.deviation(qddot - h)) / 2e-3
        for h in 1e-3 * np.eye(9)
    ]
    np.testing.assert_allclose(slope, gradient, atol=1e-6 * np.abs(gradient).max())


def test_a_link_without_inertia_has_no_unique_motion() -> None:
    model = make_tree(tip_mass=0.0)
    sample = make_sample(model, "quaternion", 25)
    functional = gauss_functional(model, "quaternion", sample.q, sample.qdot, np.zeros(3))
    with pytest.raises(SingularityError, match="neither mass nor inertia"):
        functional.minimiser()


def test_point_masses_and_massless_links_have_their_motion_too() -> None:
    """Cut free they would accelerate without bound; what moves them is a force on the rest."""
    model = make_tree()
    model.inertias[2] = pin.Inertia.Zero()
    model.inertias[3] = pin.Inertia(0.7, np.array([0.1, 0.2, 0.0]), np.zeros((3, 3)))
    sample = make_sample(model, "quaternion", 29)
    torques, contacts = np.array([1.0, -2.0, 3.0]), random_contacts(sample)
    functional = gauss_functional(model, "quaternion", sample.q, sample.qdot, torques, contacts)
    assert np.abs(functional.rest).max() > 1.0
    applied = applied_force(model, "quaternion", sample.q, torques, contacts)
    expected = projected_acceleration(sample.dynamics, applied)
    found = functional.minimiser()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_angular_velocities_compose_over_the_base() -> None:
    """Bouyarmane2012 (18): that of the base plus that of the body relative to it."""
    model = make_tree()
    sample = make_sample(model, "quaternion", 26)
    bodies = range(1, model.njoints)
    state = chart_state(model, "quaternion", sample.q, sample.qdot)
    J = body_jacobians(state, bodies, np.zeros((len(bodies), 3)))
    in_world = np.einsum("kij,kj->ki", J.R, J.J_r @ sample.qdot)
    fixed = sample.v_pin.copy()
    fixed[:6] = 0.0  # the articulated motion alone, with the base held
    data = model.createData()
    pin.forwardKinematics(model, data, sample.q_pin, fixed)
    R_0 = data.oMi[1].rotation
    base = state.J_omega @ state.theta_dot
    for k in bodies:
        relative = R_0.T @ data.oMi[k].rotation @ data.v[k].angular
        np.testing.assert_allclose(in_world[k - 1], base + R_0 @ relative, atol=1e-13)


def test_hatted_jacobians_are_transported_between_points() -> None:
    """Bouyarmane2012 (20), with J^ of Pinocchio at each point in base axes."""
    model = make_tree()
    sample = make_sample(model, "quaternion", 27)
    data = model.createData()
    pin.computeJointJacobians(model, data, sample.q_pin)
    R_0 = data.oMi[1].rotation
    a, b = sample.rng.normal(size=(2, 3))
    for k in range(2, model.njoints):
        R_k = data.oMi[k].rotation

        def hat(p: Array, k: int = k) -> Array:
            at = pin.SE3(np.eye(3), p)
            J = pin.getFrameJacobian(model, data, k, at, pin.LOCAL_WORLD_ALIGNED)
            return np.asarray(R_0.T @ J[:3, 6:])

        J_r_local = pin.getJointJacobian(model, data, k, pin.LOCAL)[3:, 6:]
        carried = hat(b) - R_0.T @ R_k @ skew(a - b) @ J_r_local
        np.testing.assert_allclose(hat(a), carried, atol=1e-13)


def test_inertia_about_the_centre_of_mass_is_the_printed_one() -> None:
    """Bouyarmane2012 (21): I(c) = I(0) - m (c^T c 1 - c c^T), which the model stores as such."""
    for inertia in list(load_talos().inertias)[1:]:
        m, c = inertia.mass, inertia.lever
        about_origin = inertia.matrix()[3:, 3:]
        printed = about_origin - m * ((c @ c) * np.eye(3) - np.outer(c, c))
        np.testing.assert_allclose(printed, inertia.inertia, atol=1e-13 * (1 + m))


def solve(rows: Array, values: Array, H: Array, g: Array, C: Array, d: Array) -> Array:
    """min x^T H x / 2 - g^T x with rows x = values and C x >= d, in the rows' null space."""
    U, s, Vt = np.linalg.svd(rows)
    rank = int((s > 1e-10 * s[0]).sum())
    x_0, Z = Vt[:rank].T @ ((U.T @ values)[:rank] / s[:rank]), Vt[rank:].T
    program = QuadraticProgram(Z.T @ H @ Z, Z.T @ (g - H @ x_0), C @ Z, d - C @ x_0)
    solution = make_solver("quadprog").solve(program)
    assert solution.status is QPStatus.SOLVED
    return np.asarray(x_0 + Z @ solution.x)


def tree_program(sample: Sample) -> tuple[list[PointForce], Array, Array, Array, Array]:
    """Contacts, and tasks and bounds on (qdd, u, f): torque limits, forces that only push."""
    contacts = [PointForce(f"{name}_body", [0.1, 0.2, -0.3], np.zeros(3)) for name in ("hinge",)]
    n, m, k = len(sample.q), 3, 3
    rng = np.random.default_rng(30)
    T = rng.normal(size=(6, n + m + k))
    H = T.T @ T + 1e-3 * np.eye(n + m + k)
    g = T.T @ (5.0 * rng.normal(size=6))
    C = np.zeros((2 * m + 1, n + m + k))
    C[:m, n : n + m], C[m : 2 * m, n : n + m] = np.eye(m), -np.eye(m)
    C[-1, n + m + 2] = 1.0
    return contacts, H, g, C, np.concatenate([np.full(2 * m, -4.0), [1.0]])


@pytest.mark.parametrize("chart", ["quaternion", "rotation_matrix"])
def test_both_programs_have_the_same_solution(chart: str) -> None:
    """(37) with the projected equation as it is printed, (38) with the multiplier."""
    model = make_tree(armature=0.05)
    sample = make_sample(model, chart, 28)
    contacts, H, g, C, d = tree_program(sample)
    program = chart_program(model, chart, sample.q, sample.qdot, contacts)
    by_projector, by_multiplier = program.projected(), program.with_multipliers()
    x_37 = solve(by_projector.rows, by_projector.values, H, g, C, d)
    extra = len(program.dynamics.C)
    # The multipliers cost nothing in the paper; a solver wants a little.
    H_38 = np.block([[H, np.zeros((len(H), extra))], [np.zeros((extra, len(H))), np.eye(extra)]])
    C_38 = np.hstack([C, np.zeros((len(C), extra))])
    x_38 = solve(
        by_multiplier.rows, by_multiplier.values, H_38, np.append(g, np.zeros(extra)), C_38, d
    )
    np.testing.assert_allclose(x_38[: len(x_37)], x_37, atol=1e-8 * np.abs(x_37).max())
    assert np.abs(x_38[by_multiplier.multipliers]).max() < 1e-8
    active = np.isclose(C @ x_37, d, atol=1e-9)
    assert active.any()  # a bound matters, or the inequalities test nothing
    # The motion is that of ABA under the torques and forces of the solution.
    force = x_37[by_projector.forces]
    contact = PointForce(contacts[0].frame, contacts[0].point, force)
    effort = np.concatenate([np.zeros(6), x_37[by_projector.torques]])
    qddot = x_37[by_projector.acceleration]
    found = pinocchio_acceleration(model, chart, sample.q, sample.qdot, qddot)
    expected = aba(sample, effort, [contact])
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())


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
