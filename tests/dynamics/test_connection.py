"""Saccon2017 (3), (9)-(18), (38): momentum map, connection, locked and average velocity."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import random_inertia, random_pose, random_robot, random_robots

from balance.dynamics.checks import symmetrise
from balance.dynamics.connection import (
    connection_at,
    locked_velocity,
    mechanical_connection,
    momentum_map,
)
from balance.errors import InputError, SingularityError
from balance.robots import load_robot

ROUNDING = 1e-10  # relative to the largest entry
DIFFERENCE = 1e-6  # of central differences, relative to the largest entry
DRIFT = 1e-8  # of a conserved quantity over a simulation, relative

robots = random_robots(max_joints=12)
seeds = st.integers(0, 2**32 - 1)
some = settings(deadline=None, derandomize=True, max_examples=30)


def assert_close(actual: np.ndarray, expected: np.ndarray, tolerance: float = ROUNDING) -> None:
    size = np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * size)


def random_state(model: pin.Model, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A configuration and a velocity of order one."""
    rng = np.random.default_rng(seed)
    q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    return q, rng.normal(size=model.nv)


def link_momenta(model: pin.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Sum over the links of their momenta about the world origin."""
    data = model.createData()
    pin.forwardKinematics(model, data, q, v)
    momenta = [data.oMi[i].act(model.inertias[i] * data.v[i]) for i in range(1, model.njoints)]
    return np.sum([momentum.vector for momentum in momenta], axis=0)


@some
@given(robots, seeds)
def test_locked_inertia_and_coupling_are_the_base_rows_of_the_mass_matrix(model, seed):
    q, _ = random_state(model, seed)
    terms = connection_at(model, model.createData(), q)
    M = symmetrise(pin.crba(model, model.createData(), q))
    assert_close(np.hstack([terms.L, terms.A]), M[:6])
    assert_close(terms.L @ terms.connection, M[:6, 6:])


@pytest.mark.parametrize("name", ["toro", "talos", "icub", "g1"])
def test_connection_of_the_humanoids_is_that_of_their_mass_matrix(name):
    model = load_robot(name).model
    q, _ = random_state(model, 1)
    s = pin.difference(model, pin.neutral(model), q)[6:]
    M = symmetrise(pin.crba(model, model.createData(), q))
    expected = np.linalg.solve(M[:6, :6], M[:6, 6:])
    assert_close(mechanical_connection(model, s).connection, expected)


@some
@given(robots, seeds)
def test_momentum_map_is_the_sum_of_the_momenta_of_the_links(model, seed):
    q, v = random_state(model, seed)
    assert_close(momentum_map(model, q, v).inertial, link_momenta(model, q, v))


@some
@given(robots, seeds)
def test_momentum_about_the_com_is_pinocchios_centroidal_momentum(model, seed):
    q, v = random_state(model, seed)
    expected = pin.computeCentroidalMomentum(model, model.createData(), q, v).vector
    assert_close(momentum_map(model, q, v).centroidal, expected)


def test_both_momenta_are_conserved_in_free_flight_without_gravity():
    model = random_robot(5, 3)
    model.gravity.setZero()
    data = model.createData()
    q, v = random_state(model, 4)
    before = momentum_map(model, q, v)
    for _ in range(200):
        q, v = runge_kutta_step(model, data, q, v, 1e-3)
    after = momentum_map(model, q, v)
    assert_close(after.inertial, before.inertial, DRIFT)
    assert_close(after.centroidal, before.centroidal, DRIFT)
    assert np.abs(after.base - before.base).max() > 0.01  # in the moving frame it is not constant


def runge_kutta_step(
    model: pin.Model, data: pin.Data, q: np.ndarray, v: np.ndarray, h: float
) -> tuple[np.ndarray, np.ndarray]:
    """One classical step without torques; increments are in the chart around the start."""
    zero = np.zeros(model.nv)

    def rates(dq: np.ndarray, dv: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        here = pin.integrate(model, q, dq)
        to_chart = pin.dDifference(model, q, here, pin.ArgumentPosition.ARG1)
        return to_chart @ (v + dv), pin.aba(model, data, here, v + dv, zero)

    k1 = rates(zero, zero)
    k2 = rates(0.5 * h * k1[0], 0.5 * h * k1[1])
    k3 = rates(0.5 * h * k2[0], 0.5 * h * k2[1])
    k4 = rates(h * k3[0], h * k3[1])
    dq, dv = (
        h / 6.0 * (a + 2.0 * b + 2.0 * c + d) for a, b, c, d in zip(k1, k2, k3, k4, strict=True)
    )
    return pin.integrate(model, q, dq), v + dv


@some
@given(robots, seeds)
def test_rate_of_the_momentum_map_is_weight_plus_contact_wrench(model, seed):
    q, v = random_state(model, seed)
    rng = np.random.default_rng(seed + 1)
    data = model.createData()
    link = model.njoints - 1
    forces = pin.StdVec_Force()
    forces.extend([pin.Force.Zero()] * model.njoints)
    forces[link] = pin.Force(rng.normal(size=6))
    tau = np.concatenate([np.zeros(6), rng.normal(size=model.nv - 6)])
    a = pin.aba(model, data, q, v, tau, forces).copy()
    pin.forwardKinematics(model, data, q)
    contact = data.oMi[link].act(forces[link]).vector
    force = pin.computeTotalMass(model) * model.gravity.linear
    weight = np.concatenate([force, np.cross(pin.centerOfMass(model, data, q), force)])

    h = 1e-6 / (1.0 + np.abs(a).max())
    momenta = [
        momentum_map(
            model, pin.integrate(model, q, k * h * v + 0.5 * h * h * a), v + k * h * a
        ).inertial
        for k in (1.0, -1.0)
    ]
    rate = (momenta[0] - momenta[1]) / (2.0 * h)
    rounding = 1e-15 * np.abs(momenta).max() / h
    scale = np.abs(weight).max() + np.abs(contact).max()
    np.testing.assert_allclose(rate, weight + contact, rtol=0, atol=DIFFERENCE * scale + rounding)


@some
@given(robots, seeds)
def test_robot_locked_at_the_locked_velocity_has_the_same_momentum(model, seed):
    q, v = random_state(model, seed)
    rigid = np.zeros(model.nv)
    rigid[:6] = locked_velocity(model, q, v).base
    assert_close(link_momenta(model, q, rigid), link_momenta(model, q, v))


@some
@given(robots, seeds)
def test_locked_velocity_in_the_world_times_the_inertia_there_is_the_momentum(model, seed):
    q, v = random_state(model, seed)
    data = model.createData()
    pin.ccrba(model, data, q, v)
    velocity = pin.Motion(locked_velocity(model, q, v).inertial)
    assert_close((data.oYcrb[1] * velocity).vector, link_momenta(model, q, v))


@some
@given(robots, seeds)
def test_average_velocity_joins_the_com_velocity_and_the_locked_angular_velocity(model, seed):
    q, v = random_state(model, seed)
    data = model.createData()
    pin.ccrba(model, data, q, v)
    pin.centerOfMass(model, data, q, v)
    velocity = locked_velocity(model, q, v)
    expected = np.concatenate([data.vcom[0], np.linalg.solve(data.Ig.inertia, data.hg.angular)])
    assert_close(velocity.average, expected)
    assert_close(data.oMi[1].rotation @ velocity.base[3:], expected[3:])


def test_locked_velocity_with_joints_at_rest_is_the_base_velocity():
    model = random_robot(6, 8)
    q, v = random_state(model, 9)
    v[6:] = 0.0
    assert_close(locked_velocity(model, q, v).base, v[:6])


def free_flyer_with(*joints: pin.JointModel) -> pin.Model:
    rng = np.random.default_rng(0)
    model = pin.Model()
    model.name = "test"
    parent = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    model.appendBodyToJoint(parent, random_inertia(rng), pin.SE3.Identity())
    for k, joint in enumerate(joints):
        parent = model.addJoint(parent, joint, random_pose(rng), f"joint{k}")
        model.appendBodyToJoint(parent, random_inertia(rng), pin.SE3.Identity())
    return model


def test_fixed_base_is_refused():
    model = pin.buildSampleModelManipulator()
    with pytest.raises(InputError, match="fixed base"):
        mechanical_connection(model, np.zeros(6))


@pytest.mark.parametrize(
    ("s", "message"),
    [
        (np.zeros(3), r"s has shape \(3,\); expected \(2,\)"),
        (np.zeros((2, 1)), r"expected \(2,\)"),
        ([0.0, np.nan], r"s\[1\] is nan"),
    ],
)
def test_wrong_shape_vector_is_refused(s, message):
    model = free_flyer_with(pin.JointModelRX(), pin.JointModelPZ())
    with pytest.raises(InputError, match=message):
        mechanical_connection(model, s)


def test_joint_of_several_degrees_of_freedom_is_refused_by_name():
    model = free_flyer_with(pin.JointModelRX(), pin.JointModelSpherical())
    with pytest.raises(InputError, match="joint 'joint1' of model 'test' has 3 degrees"):
        mechanical_connection(model, np.zeros(4))


def test_joint_that_does_not_descend_from_the_free_flyer_is_refused():
    model = free_flyer_with(pin.JointModelRX())
    model.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "other")
    with pytest.raises(InputError, match=r"joint 'other' .* attached to the world"):
        mechanical_connection(model, np.zeros(2))


def test_robot_of_one_point_mass_has_a_singular_locked_inertia():
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    model.addJoint(1, pin.JointModelRX(), pin.SE3.Identity(), "joint")
    model.appendBodyToJoint(1, pin.Inertia(1.0, np.zeros(3), np.zeros((3, 3))), pin.SE3.Identity())
    with pytest.raises(SingularityError, match="locked inertia"):
        mechanical_connection(model, np.zeros(1))


def test_wrong_state_is_refused():
    model = free_flyer_with(pin.JointModelRX())
    q = pin.neutral(model)
    with pytest.raises(InputError, match="v has shape"):
        momentum_map(model, q, np.zeros(3))
    with pytest.raises(InputError, match="norm 2"):
        locked_velocity(model, np.array([0, 0, 0, 0, 0, 0, 2.0, 0]), np.zeros(7))
