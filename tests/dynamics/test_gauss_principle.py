"""Gauss' functional, (18)-(21), and both programs; Bouyarmane2012."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from gauss_samples import Sample, aba, load_talos, make_sample, make_tree, random_contacts
from numpy.typing import NDArray

from balance.control.qp import QPStatus, QuadraticProgram, make_solver
from balance.dynamics.gauss.forward import (
    PointForce,
    applied_force,
    projected_acceleration,
)
from balance.dynamics.gauss.jacobians import body_jacobians
from balance.dynamics.gauss.principle import gauss_functional
from balance.dynamics.gauss.program import chart_program
from balance.dynamics.gauss.state import (
    chart_state,
    pinocchio_acceleration,
)
from balance.errors import SingularityError
from balance.rotations import CHARTS, skew

Array = NDArray[np.float64]

EVERY_CHART = pytest.mark.parametrize("chart", list(CHARTS))


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
