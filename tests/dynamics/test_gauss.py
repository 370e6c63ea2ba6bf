"""Gauss' principle in rotation charts, against Pinocchio's ABA and CRBA and the printed forms."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from gauss_samples import (
    Sample,
    load_talos,
    make_sample,
    make_tree,
    random_contacts,
    relative_error,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from balance.dynamics.gauss import gauss_dynamics
from balance.dynamics.gauss.forward import (
    PointForce,
    applied_force,
    multiplier_acceleration,
    projected_acceleration,
)
from balance.dynamics.gauss.state import pinocchio_acceleration
from balance.rotations import CHARTS, get_chart, skew

Array = NDArray[np.float64]

RELATIVE = 1e-9
STEP = 1e-7
CONTRACT_CHARTS = pytest.mark.parametrize("chart", ["euler_zyx", "quaternion", "rotation_matrix"])
EVERY_CHART = pytest.mark.parametrize("chart", list(CHARTS))
CONSTRAINED = [name for name, chart in CHARTS.items() if chart.size > 3]


@pytest.fixture(scope="module")
def talos() -> pin.Model:
    return load_talos()


@pytest.fixture(scope="module")
def tree() -> pin.Model:
    return make_tree(armature=0.05)


def pinocchio_answer(sample: Sample, torques: Array, contacts: list[PointForce]) -> Array:
    """dv/dt by the articulated-body algorithm, with the contacts as spatial forces on joints."""
    model, data = sample.model, sample.model.createData()
    pin.framesForwardKinematics(model, data, sample.q_pin)
    external = [pin.Force.Zero() for _ in range(model.njoints)]
    for contact in contacts:
        index = model.getFrameId(contact.frame)
        point_W = data.oMf[index].act(np.asarray(contact.point))
        force = np.asarray(contact.force)
        wrench_W = pin.Force(force, np.cross(point_W, force))
        joint = model.frames[index].parentJoint
        external[joint] += data.oMi[joint].actInv(wrench_W)
    tau = np.concatenate([np.zeros(6), torques])
    return pin.aba(model, data, sample.q_pin, sample.v_pin, tau, external)


def check_forward_dynamics(sample: Sample) -> None:
    torques = 20.0 * sample.rng.normal(size=sample.model.nv - 6)
    contacts = random_contacts(sample)
    applied = applied_force(sample.model, sample.chart, sample.q, torques, contacts)
    projected = projected_acceleration(sample.dynamics, applied)
    with_multipliers, _ = multiplier_acceleration(sample.dynamics, applied)
    assert relative_error(projected, with_multipliers) < RELATIVE
    expected = pinocchio_answer(sample, torques, contacts)
    for qddot in (projected, with_multipliers):
        found = pinocchio_acceleration(sample.model, sample.chart, sample.q, sample.qdot, qddot)
        assert relative_error(found, expected) < RELATIVE


@EVERY_CHART
@given(seed=st.integers(0, 2**32 - 1))
@settings(deadline=None, derandomize=True, max_examples=15)
def test_forward_dynamics_equals_aba_for_talos(talos: pin.Model, chart: str, seed: int) -> None:
    check_forward_dynamics(make_sample(talos, chart, seed))


@EVERY_CHART
@given(seed=st.integers(0, 2**32 - 1))
@settings(deadline=None, derandomize=True, max_examples=15)
def test_forward_dynamics_equals_aba_with_rotors_and_sliding_and_continuous_joints(
    tree: pin.Model, chart: str, seed: int
) -> None:
    check_forward_dynamics(make_sample(tree, chart, seed))


def test_the_second_derivative_of_the_rotation_matrix_is_the_true_one(talos: pin.Model) -> None:
    """d2R/dt2 = R ([alpha]x + [omega]x^2) in base axes; M leaves six directions of it open."""
    sample = make_sample(talos, "rotation_matrix", 22)
    torques = np.ones(talos.nv - 6)
    applied = applied_force(talos, "rotation_matrix", sample.q, torques)
    dv = pinocchio_answer(sample, torques, [])
    omega, alpha = skew(sample.v_pin[3:6]), skew(dv[3:6])
    expected = pin.Quaternion(sample.q_pin[3:7]).matrix() @ (alpha + omega @ omega)
    for qddot in (
        projected_acceleration(sample.dynamics, applied),
        multiplier_acceleration(sample.dynamics, applied)[0],
    ):
        assert relative_error(qddot[3:12].reshape(3, 3), expected) < RELATIVE


@EVERY_CHART
def test_M_is_the_joint_space_inertia_seen_through_the_chart(talos: pin.Model, chart: str) -> None:
    sample = make_sample(talos, chart, 2)
    M, T = sample.dynamics.M, sample.velocity_map
    upper = pin.crba(talos, talos.createData(), sample.q_pin)
    expected = np.triu(upper) + np.triu(upper, 1).T
    assert np.abs(M - M.T).max() < 1e-12
    assert np.abs(T.T @ M @ T - expected).max() < 1e-11
    assert np.linalg.matrix_rank(M) == talos.nv


@EVERY_CHART
def test_N_does_the_work_that_changes_the_inertia(tree: pin.Model, chart: str) -> None:
    """qdot^T N qdot = 1/2 qdot^T dM/dt qdot: velocity forces change no energy by themselves."""
    sample = make_sample(tree, chart, 3)
    ahead, behind = (
        gauss_dynamics(tree, chart, sample.q + s * STEP * sample.qdot, sample.qdot).M
        for s in (1.0, -1.0)
    )
    M_dot = (ahead - behind) / (2 * STEP)
    qdot = sample.qdot
    power = qdot @ sample.dynamics.N @ qdot
    assert power == pytest.approx(0.5 * qdot @ M_dot @ qdot, abs=1e-6)


@EVERY_CHART
def test_gravity_is_that_of_pinocchio(talos: pin.Model, chart: str) -> None:
    sample = make_sample(talos, chart, 5)
    expected = pin.computeGeneralizedGravity(talos, talos.createData(), sample.q_pin)
    found = -sample.velocity_map.T @ sample.dynamics.gravity
    assert relative_error(found, expected) < 1e-12


def test_the_quaternion_projector_is_the_printed_one(talos: pin.Model) -> None:
    """Bouyarmane2012 (29), (34)."""
    for chart in ("quaternion", "quaternion_scalar_first"):
        sample = make_sample(talos, chart, 9)
        n = len(sample.q)
        S = np.zeros((4, n))
        S[:, 3:7] = np.eye(4)
        printed = np.eye(n) - np.outer(S.T @ S @ sample.q, sample.q)
        assert np.abs(sample.dynamics.A - printed).max() < 1e-14
        np.testing.assert_array_equal(sample.dynamics.C[0], S.T @ S @ sample.q)


@EVERY_CHART
def test_A_is_a_projector_that_removes_exactly_the_multipliers(
    talos: pin.Model, chart: str
) -> None:
    sample = make_sample(talos, chart, 10)
    A, C = sample.dynamics.A, sample.dynamics.C
    assert np.abs(A @ A - A).max() < 1e-13
    assert np.abs(A @ C.T).max(initial=0.0) < 1e-13
    assert np.linalg.matrix_rank(C) == len(C) == get_chart(chart).size - 3
    assert np.linalg.matrix_rank(A) == len(A) - len(C)


@pytest.mark.parametrize("chart", CONSTRAINED)
def test_the_constraint_rows_are_its_second_derivative(tree: pin.Model, chart: str) -> None:
    """Bouyarmane2012 (30), with the factor 2 of C restored."""
    sample = make_sample(tree, chart, 11)
    dynamics, coordinates = sample.dynamics, get_chart(chart)
    qddot = sample.rng.normal(size=len(sample.q))
    h = 1e-4
    ahead, here, behind = (
        coordinates.constraint(
            (sample.q + t * sample.qdot + 0.5 * t * t * qddot)[3 : 3 + coordinates.size]
        )
        for t in (h, 0.0, -h)
    )
    second = (ahead - 2.0 * here + behind) / h**2
    found = 2.0 * (dynamics.C @ qddot + dynamics.constraint_bias)
    assert np.abs(found - second).max() < 1e-5


@pytest.mark.parametrize("chart", CONSTRAINED)
def test_multipliers_vanish_for_forces_that_act_on_bodies(talos: pin.Model, chart: str) -> None:
    """Such forces enter through the Jacobian of (10), whose rows are independent of those of C."""
    sample = make_sample(talos, chart, 12)
    applied = applied_force(talos, chart, sample.q, np.ones(32), random_contacts(sample))
    _, multipliers = multiplier_acceleration(sample.dynamics, applied)
    assert np.abs(multipliers).max() < 1e-9 * np.abs(applied).max()


@pytest.mark.parametrize("chart", CONSTRAINED)
def test_the_projector_removes_multipliers_that_do_not_vanish(talos: pin.Model, chart: str) -> None:
    """A force on the coordinates themselves, across the constraint, is carried by lambda."""
    sample = make_sample(talos, chart, 13)
    dynamics = sample.dynamics
    applied = applied_force(talos, chart, sample.q, np.ones(32))
    across = dynamics.C.T @ (50.0 + np.arange(len(dynamics.C)))
    undisturbed = projected_acceleration(dynamics, applied)
    projected = projected_acceleration(dynamics, applied + across)
    with_multipliers, multipliers = multiplier_acceleration(dynamics, applied + across)
    np.testing.assert_allclose(multipliers, -(50.0 + np.arange(len(dynamics.C))), rtol=1e-9)
    assert relative_error(projected, undisturbed) < RELATIVE
    assert relative_error(with_multipliers, undisturbed) < RELATIVE


def test_the_quaternion_multiplier_is_the_printed_one(talos: pin.Model) -> None:
    """Bouyarmane2012 (33), for a force that makes it differ from zero."""
    sample = make_sample(talos, "quaternion", 14)
    dynamics = sample.dynamics
    applied = sample.rng.normal(size=len(sample.q))
    qddot, multipliers = multiplier_acceleration(dynamics, applied)
    residual = dynamics.M @ qddot + dynamics.N @ sample.qdot - dynamics.gravity - applied
    assert abs(multipliers[0]) > 0.1
    assert sample.q @ residual == pytest.approx(multipliers[0], rel=1e-9)


@CONTRACT_CHARTS
def test_the_dynamics_do_not_depend_on_where_the_world_origin_is(
    talos: pin.Model, chart: str
) -> None:
    sample = make_sample(talos, chart, 15)
    moved = sample.q.copy()
    moved[:3] += 1e6
    here, there = sample.dynamics, gauss_dynamics(talos, chart, moved, sample.qdot)
    np.testing.assert_array_equal(here.M, there.M)
    np.testing.assert_array_equal(here.N, there.N)
