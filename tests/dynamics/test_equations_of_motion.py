"""Lagrange, projected Newton-Euler, free-cut links and constraints; RobotDynamicsETH 3.3-3.5.

Four ways to the same equation of motion, each against Pinocchio's recursive algorithms, closed
forms or finite differences.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import random_inertia, random_joint, random_pose, random_robot

from balance.dynamics.constrained_lagrange import (
    ConstraintRows,
    configuration_constraint,
    constrained_motion,
)
from balance.dynamics.free_cut import free_cut_dynamics
from balance.dynamics.kinematics import frame_placement, geometric_jacobian
from balance.dynamics.lagrangian import (
    Spring,
    gravitational_energy,
    lagrangian,
    potential_energy,
    spring_energy,
    spring_torques,
)
from balance.dynamics.notes_arms import END, planar_arm
from balance.dynamics.projected_newton_euler import (
    link_motion,
    momentum_rates,
    projected_newton_euler,
)
from balance.errors import InputError, SingularityError

SAME = 1e-9
STEP = 1e-5
some = settings(deadline=None, derandomize=True, max_examples=15)


def fixed_tree(joints: int, seed: int) -> pin.Model:
    """A random tree on a fixed base."""
    rng = np.random.default_rng(seed)
    model, parent = pin.Model(), 0
    for index in range(1, joints + 1):
        if parent:
            parent = int(rng.choice(model.supports[parent].tolist()))
        kind, _ = random_joint(rng)
        parent = model.addJoint(parent, kind, random_pose(rng), f"joint_{index}")
        model.appendBodyToJoint(parent, random_inertia(rng), pin.SE3.Identity())
        model.addBodyFrame(f"link_{index}", parent, random_pose(rng), 0)
    model.armature = 0.05 * rng.uniform(size=model.nv)
    return model


def draw(model: pin.Model, seed: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    q = pin.integrate(model, pin.neutral(model), rng.uniform(-1.0, 1.0, model.nv))
    return q, rng.normal(size=model.nv), rng


def robots(seed: int) -> list[pin.Model]:
    return [fixed_tree(1 + seed % 6, seed), random_robot(seed % 6, seed)]


def close(found: np.ndarray, expected: np.ndarray, relative: float = SAME) -> None:
    scale = np.abs(expected).max(initial=1.0)  # or one, where all must vanish
    np.testing.assert_allclose(found, expected, rtol=0, atol=relative * scale)


@some
@given(st.integers(0, 10**6))
def test_projected_newton_euler_is_crba_and_rnea(seed: int) -> None:
    """(3.43)-(3.48), on fixed and floating bases."""
    for model in robots(seed):
        q, v, _ = draw(model, seed)
        motion = projected_newton_euler(model, q, v)
        upper = pin.crba(model, model.createData(), q)
        close(motion.M, np.triu(upper) + np.triu(upper, 1).T)
        g = pin.computeGeneralizedGravity(model, model.createData(), q)
        scale = np.abs(pin.nonLinearEffects(model, model.createData(), q, v)).max()
        h = pin.nonLinearEffects(model, model.createData(), q, v)
        np.testing.assert_allclose(motion.g, g, rtol=0, atol=SAME * scale)
        np.testing.assert_allclose(motion.b + motion.g, h, rtol=0, atol=SAME * scale)


def test_momentum_rates_are_the_forces_on_each_link() -> None:
    """(3.21)-(3.25): they are the derivatives of m v_S and of Theta Omega along the motion."""
    model = random_robot(5, seed=2)
    q, v, rng = draw(model, 3)
    dv = rng.normal(size=model.nv)

    def momenta(t: float) -> tuple[np.ndarray, np.ndarray]:
        there = pin.integrate(model, q, t * v + 0.5 * t * t * dv)
        links = link_motion(model, there, v + t * dv)
        p = links.mass[:, None] * (links.J_S @ (v + t * dv))
        return p, np.einsum("kij,kj->ki", links.Theta, links.Omega)

    rates = momentum_rates(link_motion(model, q, v), v, dv)
    for found, after, before in zip(rates, momenta(STEP), momenta(-STEP), strict=True):
        close(found, (after - before) / (2 * STEP), 1e-6)


@some
@given(st.integers(0, 10**6))
def test_free_cut_links_move_as_aba_says_and_bear_what_rnea_says(seed: int) -> None:
    """3.3.2: the 6 n equations give the motion and the joint forces at once."""
    for model in robots(seed):
        q, v, rng = draw(model, seed)
        tau = rng.normal(size=model.nv)
        floating = model.joints[1].shortname() == "JointModelFreeFlyer"
        first = 6 if floating else 0
        tau[:first] = 0.0
        cut = free_cut_dynamics(model, q, v, tau[first:])
        expected = np.array(pin.aba(model, model.createData(), q, v, tau))
        close(cut.acceleration, expected, 1e-8)
        data = model.createData()
        pin.rnea(model, data, q, v, expected)
        pin.forwardKinematics(model, data, q)
        turn = [pin.SE3(data.oMi[i].rotation, np.zeros(3)) for i in range(1, model.njoints)]
        wrenches = np.array([X.act(f).vector for X, f in zip(turn, list(data.f)[1:], strict=True)])
        close(cut.joint_wrenches, wrenches, 1e-8)
        if floating:
            assert np.abs(cut.joint_wrenches[0]).max() < 1e-8 * np.abs(wrenches).max(initial=1.0)


def test_constraint_forces_do_no_work_on_their_joints() -> None:
    model = fixed_tree(6, seed=4)
    q, v, rng = draw(model, 5)
    cut = free_cut_dynamics(model, q, v, rng.normal(size=6))
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    for i, wrench in enumerate(cut.constraint_wrenches):
        axis = pin.getJointJacobian(model, data, i + 1, pin.LOCAL_WORLD_ALIGNED)[:, i]
        assert abs(axis @ wrench) < 1e-9 * np.abs(cut.joint_wrenches).max()


def test_hanging_pendulum_pulls_on_its_joint_with_its_weight() -> None:
    """Closed form: at the bottom with speed w, m g + m w^2 l/2 along the rod."""
    arm = planar_arm((2.0,), link_mass=3.0)
    cut = free_cut_dynamics(arm, [np.pi], [1.5], [0.0])
    pull = 3.0 * (9.81 + 1.5**2 * 1.0)
    np.testing.assert_allclose(cut.joint_wrenches[0], [0, 0, pull, 0, 0, 0], atol=1e-12)


def test_massless_link_is_named_as_the_cause() -> None:
    model = pin.Model()
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "wrist")
    with pytest.raises(SingularityError, match="neither mass nor inertia"):
        free_cut_dynamics(model, [0.0], [0.0], [1.0])


SPRINGS = [Spring("universe", "link_2", 40.0, 0.3), Spring("link_1", "link_4", 15.0)]


@some
@given(st.integers(0, 10**6))
def test_gradient_of_the_potential_is_gravity_minus_the_springs(seed: int) -> None:
    """(3.33)-(3.34), by central differences."""
    for model in (fixed_tree(4, seed), random_robot(4, seed)):
        q, _, _ = draw(model, seed)
        g = pin.computeGeneralizedGravity(model, model.createData(), q)
        expected = g - spring_torques(model, q, SPRINGS)
        slope = [
            potential_energy(model, pin.integrate(model, q, STEP * e), SPRINGS)
            - potential_energy(model, pin.integrate(model, q, -STEP * e), SPRINGS)
            for e in np.eye(model.nv)
        ]
        close(np.array(slope) / (2 * STEP), expected, 1e-7)


def test_gravitational_energy_is_pinocchios() -> None:
    model = random_robot(5, seed=9)
    q, _, _ = draw(model, 1)
    data = model.createData()
    expected = pin.computePotentialEnergy(model, data, q)
    assert gravitational_energy(model, q) == pytest.approx(expected, rel=1e-12)


def test_euler_lagrange_equation_is_the_motion() -> None:
    """(3.26)-(3.27): d/dt dL/dv - dL/dq = tau along the motion that RNEA needs tau for."""
    arm, springs = planar_arm(), [Spring("universe", END, 20.0, 0.5)]
    q, v, ddq = np.array([0.3, -0.8, 0.6]), np.array([1.0, 0.5, -0.7]), np.array([2.0, -1.0, 0.4])
    h = 1e-4

    def slope(f, x: np.ndarray) -> np.ndarray:
        return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(3)])

    def momentum(t: float) -> np.ndarray:
        there, speed = q + t * v + 0.5 * t * t * ddq, v + t * ddq
        return slope(lambda w: lagrangian(arm, there, w, springs), speed)

    rate = (momentum(h) - momentum(-h)) / (2 * h)
    found = rate - slope(lambda x: lagrangian(arm, x, v, springs), q)
    tau = pin.rnea(arm, arm.createData(), q, v, ddq) - spring_torques(arm, q, springs)
    np.testing.assert_allclose(found, tau, atol=1e-5)


def test_spring_whose_ends_meet_pulls_nowhere() -> None:
    arm = planar_arm()
    assert not spring_torques(arm, np.zeros(3), [Spring(END, END, 10.0)]).any()
    assert spring_energy(arm, np.zeros(3), [Spring(END, END, 10.0, 0.2)]) == pytest.approx(0.2)


def bead() -> pin.Model:
    """A particle of 2 kg in the x-z plane: two slides."""
    model = pin.Model()
    x = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "x")
    z = model.addJoint(x, pin.JointModelPZ(), pin.SE3.Identity(), "z")
    model.appendBodyToJoint(z, pin.Inertia.FromSphere(2.0, 0.01), pin.SE3.Identity())
    return model


def test_particle_on_a_circle_is_a_pendulum() -> None:
    """(3.37) with f = (x^2 + z^2 - l^2) / 2: theta'' = -g/l sin(theta), lambda l the tension."""
    length, theta, rate = 0.8, 0.6, 1.3
    q = length * np.array([np.sin(theta), -np.cos(theta)])
    along = np.array([np.cos(theta), np.sin(theta)])
    v = length * rate * along
    exact = ConstraintRows(q[None, :], np.array([v @ v]))
    motion = constrained_motion(bead(), q, v, np.zeros(2), [exact])
    assert motion.acceleration @ along / length == pytest.approx(
        -9.81 / length * np.sin(theta), rel=1e-12
    )
    tension = 2.0 * (9.81 * np.cos(theta) + length * rate**2)
    assert motion.multipliers[0] * length == pytest.approx(tension, rel=1e-12)
    rows = configuration_constraint(bead(), q, v, lambda x: 0.5 * (x @ x - length**2))
    np.testing.assert_allclose(rows.J, exact.J, atol=1e-8)
    np.testing.assert_allclose(rows.bias, exact.bias, atol=1e-6)


def test_knife_edge_goes_round_in_a_circle() -> None:
    """(3.35)-(3.37): no velocity across the edge; on level ground it turns with constant rates."""
    model = pin.Model()
    joint = 0
    for kind in (pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ()):
        joint = model.addJoint(joint, kind, pin.SE3.Identity(), f"slide_{joint}")
    model.appendBodyToJoint(joint, pin.Inertia.FromBox(2.0, 0.3, 0.1, 0.1), pin.SE3.Identity())
    model.gravity.linear = np.zeros(3)
    speed, turn = 1.2, 2.0
    q, v, dt = np.zeros(3), np.array([speed, 0.0, turn]), 5e-3
    for _ in range(200):
        # Midpoint rule; A = (-sin, cos, 0) and dA/dt v = -turn (cos x' + sin y').
        def slope(state: np.ndarray) -> np.ndarray:
            angle, (vx, vy, w) = state[2], state[3:]
            rows = ConstraintRows(
                np.array([[-np.sin(angle), np.cos(angle), 0.0]]),
                np.array([-w * (np.cos(angle) * vx + np.sin(angle) * vy)]),
            )
            force = constrained_motion(model, state[:3], state[3:], np.zeros(3), [rows])
            return np.concatenate([state[3:], force.acceleration])

        state = np.concatenate([q, v])
        state = state + dt * slope(state + 0.5 * dt * slope(state))
        q, v = state[:3], state[3:]
    angle = turn * 1.0
    radius = speed / turn
    circle = [radius * np.sin(angle), radius * (1.0 - np.cos(angle)), angle]
    np.testing.assert_allclose(q, circle, atol=1e-4)
    np.testing.assert_allclose(v[2], turn, rtol=1e-12)


def test_closed_loop_of_the_planar_arm_stays_closed() -> None:
    """A redundant set: the tip held in x, in z and in x again; multipliers of least norm."""
    arm, q, v = planar_arm(), np.array([0.3, 0.9, -0.5]), np.array([0.4, -0.2, 0.6])
    J = geometric_jacobian(arm, q, END)[[0, 2]]
    v = v - np.linalg.pinv(J) @ (J @ v)
    rows = configuration_constraint(
        arm, q, v, lambda x: frame_placement(arm, x, END).translation[[0, 2, 0]]
    )
    tau = np.array([3.0, -1.0, 0.5])
    motion = constrained_motion(arm, q, v, tau, [rows])
    data = arm.createData()
    pin.forwardKinematics(arm, data, q, v, motion.acceleration)
    tip = arm.getFrameId(END)
    a = pin.getFrameClassicalAcceleration(arm, data, tip, pin.LOCAL_WORLD_ALIGNED).linear
    np.testing.assert_allclose(a[[0, 2]], 0.0, atol=1e-5)
    assert motion.multipliers[0] == pytest.approx(motion.multipliers[2], rel=1e-6)
    needed = pin.rnea(arm, arm.createData(), q, v, motion.acceleration)
    np.testing.assert_allclose(needed + rows.J.T @ motion.multipliers, tau, atol=1e-9)


def test_without_constraints_the_robot_moves_freely() -> None:
    model = random_robot(3, seed=1)
    q, v, rng = draw(model, 2)
    tau = rng.normal(size=model.nv)
    motion = constrained_motion(model, q, v, tau, [])
    close(motion.acceleration, np.array(pin.aba(model, model.createData(), q, v, tau)))
    assert motion.multipliers.shape == (0,)


def test_wrong_input_is_named() -> None:
    with pytest.raises(InputError, match=r"rows of shape \(3,\) and a bias of shape \(1,\)"):
        ConstraintRows(np.zeros(3), np.zeros(1))
    with pytest.raises(InputError, match="stiffness -1 N/m"):
        Spring("universe", END, -1.0)
