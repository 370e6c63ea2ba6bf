"""The identities of Bouyarmane2012 as residuals at a random state, for ``balance theory``.

The base's rotation is a unit quaternion, the paper's own example; forces act at three points, the
origins of the state's links.  Oracles are Pinocchio's kinematics and ABA.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pinocchio as pin

from balance.analysis.theory.checks import (
    FINITE_DIFFERENCE_BOUND,
    CheckList,
    State,
    largest,
    relative_difference,
    relative_product,
    relative_sum,
)
from balance.dynamics.checks import Array
from balance.dynamics.gauss import GaussDynamics, gauss_dynamics
from balance.dynamics.gauss.forward import PointForce, applied_force
from balance.dynamics.gauss.jacobians import BodyJacobians, body_jacobians
from balance.dynamics.gauss.principle import gauss_functional
from balance.dynamics.gauss.program import chart_program
from balance.dynamics.gauss.state import ChartState, chart_from_pinocchio, chart_state
from balance.rotations import skew

CHART = "quaternion"
STEP = 3e-4
DIFFERENCE_STATES = 20
SLOW_STATES = 50

_list = CheckList("Bouyarmane2012")


@dataclass(frozen=True, eq=False)
class InChart:
    """A state in the chart, with its dynamics, its links and the forces on it."""

    state: ChartState
    dynamics: GaussDynamics
    links: BodyJacobians
    contacts: tuple[PointForce, ...]
    applied: Array
    dv: Array
    """Pinocchio's acceleration under gravity, torques and contacts, by ABA."""
    qddot: Array
    """The same in the chart."""


@lru_cache(maxsize=2)
def in_chart(s: State) -> InChart:
    """The state in the chart, evaluated once."""
    model = s.model
    q, qdot = chart_from_pinocchio(model, CHART, s.q, s.v)
    state = chart_state(model, CHART, q, qdot)
    bodies = range(1, model.njoints)
    links = body_jacobians(state, bodies, _centres(model))
    contacts = tuple(
        PointForce(link, np.zeros(3), wrench[:3])
        for link, wrench in zip(s.links, s.wrenches, strict=True)
    )
    forces = sum(J[:3].T @ w[:3] for J, w in zip(s.jacobians, s.wrenches, strict=True))
    dv = np.array(pin.aba(model, s.data, s.q, s.v, s.generalised_torques + forces))
    dynamics = gauss_dynamics(model, CHART, q, qdot)
    return InChart(
        state,
        dynamics,
        links,
        contacts,
        applied_force(model, CHART, q, s.tau, contacts),
        dv,
        _second_derivative(state, dynamics, dv),
    )


def _centres(model: pin.Model) -> Array:
    return np.stack([model.inertias[k].lever for k in range(1, model.njoints)])


def _second_derivative(state: ChartState, dynamics: GaussDynamics, dv: Array) -> Array:
    """qdd of Pinocchio's dv: three rows give the angular acceleration, one the constraint."""
    R, d = state.chart.to_matrix(state.theta), state.chart.size
    omega = state.J_omega @ state.theta_dot
    linear = R @ dv[:3] + np.cross(omega, state.qdot[:3])
    rows = np.vstack([state.J_omega, dynamics.C[:, 3 : 3 + d]])
    drift = np.concatenate([state.J_omega_dot @ state.theta_dot, dynamics.constraint_bias])
    turning = np.linalg.solve(rows, np.append(R @ dv[3:6], np.zeros(d - 3)) - drift)
    return np.concatenate([linear, turning, dv[6:]])


@_list.add("(5)-(6)", "d(R_0 u)/dt = -[R_0 u]x J_omega dtheta/dt, from partial derivatives")
def partials_of_the_rotation(model: pin.Model, s: State) -> float:
    c = in_chart(s).state
    R = c.chart.to_matrix(c.theta)
    rate = np.einsum("ijd,d->ij", c.chart.partials(c.theta), c.theta_dot)
    turned = np.stack([-skew(R[:, i]) @ c.J_omega @ c.theta_dot for i in range(3)], axis=1)
    return relative_difference(rate, turned)


@_list.add("(2), (10)", "J_omega dtheta/dt is the base's angular velocity")
def base_angular_velocity(model: pin.Model, s: State) -> float:
    c = in_chart(s).state
    pin.forwardKinematics(model, s.data, s.q, s.v)
    omega = s.data.oMi[1].rotation @ s.v[3:6]
    return relative_difference(c.J_omega @ c.theta_dot, omega)


@_list.add("(14)", "J_t dq/dt is the velocity of every link's centre of mass")
def translational_jacobians(model: pin.Model, s: State) -> float:
    c = in_chart(s)
    pin.forwardKinematics(model, s.data, s.q, s.v)
    expected = []
    for k in range(1, model.njoints):
        at = pin.SE3(np.eye(3), model.inertias[k].lever)
        velocity = pin.getFrameVelocity(model, s.data, k, at, pin.LOCAL_WORLD_ALIGNED)
        expected.append(velocity.linear)
    return relative_difference(c.links.J_t @ c.state.qdot, np.array(expected))


@_list.add("(16)-(18)", "angular velocities of links are the base's plus those relative to it")
def angular_velocities_compose(model: pin.Model, s: State) -> float:
    c = in_chart(s)
    in_world = np.einsum("kij,kj->ki", c.links.R, c.links.J_r @ c.state.qdot)
    held = s.v.copy()
    held[:6] = 0.0
    pin.forwardKinematics(model, s.data, s.q, held)
    bodies = range(1, model.njoints)
    relative = np.array([s.data.oMi[k].rotation @ s.data.v[k].angular for k in bodies])
    return relative_difference(in_world, c.state.J_omega @ c.state.theta_dot + relative)


@_list.add("(19)-(20)", "Jacobians of two points of a link differ by R_k [(a - b)]x J_r")
def transport_of_jacobians(model: pin.Model, s: State) -> float:
    c = in_chart(s)
    bodies = range(1, model.njoints)
    at_origin = body_jacobians(c.state, bodies, np.zeros((len(bodies), 3)))
    arms = skew(_centres(model))
    carried = at_origin.J_t - at_origin.R @ arms @ at_origin.J_r
    return relative_difference(c.links.J_t, carried)


@_list.add("(21)", "I(c) = I(0) - m (c^T c 1 - c c^T) for every link")
def inertia_about_the_com(model: pin.Model, s: State) -> float:
    worst = 0.0
    for inertia in list(model.inertias)[1:]:
        m, c, about_origin = inertia.mass, inertia.lever, inertia.matrix()[3:, 3:]
        shifted = about_origin - m * ((c @ c) * np.eye(3) - np.outer(c, c))
        difference = relative_difference(shifted, inertia.inertia, largest(about_origin))
        worst = max(worst, difference)
    return worst


@_list.add("(22)-(23)", "dD/dqdd = M qdd + N dq/dt - forces, D the deviation from free links")
def gradient_of_the_deviation(model: pin.Model, s: State) -> float:
    c, d = in_chart(s), in_chart(s).dynamics
    functional = gauss_functional(model, CHART, c.state.q, c.state.qdot, s.tau, c.contacts)
    qddot = np.cos(np.arange(len(c.state.q)))  # any acceleration will do
    terms = d.M @ qddot, d.N @ c.state.qdot, -d.gravity, -c.applied
    return relative_sum(*terms, -functional.gradient(qddot))


@_list.add("(22), (35)", "the acceleration of least deviation solves (35)", max_states=SLOW_STATES)
def least_deviation(model: pin.Model, s: State) -> float:
    c, d = in_chart(s), in_chart(s).dynamics
    functional = gauss_functional(model, CHART, c.state.q, c.state.qdot, s.tau, c.contacts)
    least = functional.minimiser()
    terms = d.M @ least, d.N @ c.state.qdot, -d.gravity, -c.applied
    return relative_sum(*(d.A @ term for term in terms))


@_list.add("(24)-(26)", "M qdd + N dq/dt = M (g, 0, 0) + (0, 0, u) + sum of J_t^T f")
def equation_of_motion(model: pin.Model, s: State) -> float:
    c, d = in_chart(s), in_chart(s).dynamics
    return relative_sum(d.M @ c.qddot, d.N @ c.state.qdot, -d.gravity, -c.applied)


@_list.add(
    "(27)-(30)",
    "the quaternion's second derivative along the motion obeys the constraint",
    FINITE_DIFFERENCE_BOUND,
    DIFFERENCE_STATES,
)
def constraint_along_the_motion(model: pin.Model, s: State) -> float:
    c = in_chart(s)
    where = c.state.rotations[0]
    # The acceleration may be large: a step in which it alone turns the base by no more than STEP^2.
    step = STEP / np.sqrt(max(1.0, largest(c.dv[3:6])))

    def theta(t: float) -> Array:
        moved = pin.integrate(model, s.q, t * s.v + 0.5 * t * t * c.dv)
        found = chart_from_pinocchio(model, CHART, moved, s.v)[0][where]
        return found if found @ c.state.theta > 0.0 else -found

    second = (theta(step) - 2.0 * theta(0.0) + theta(-step)) / step**2
    bias = c.dynamics.constraint_bias
    return max(
        relative_difference(c.dynamics.C[:, where] @ second, -bias, largest(second)),
        relative_difference(second, c.qddot[where]),
    )


@_list.add("(32)-(33)", "the multiplier vanishes for forces that act on links")
def multiplier(model: pin.Model, s: State) -> float:
    c, d = in_chart(s), in_chart(s).dynamics
    terms = d.M @ c.qddot, d.N @ c.state.qdot, -d.gravity, -c.applied
    across = [float(d.C[0] @ term) for term in terms]
    return relative_difference(sum(across), 0.0, max(map(largest, terms)))


@_list.add("(34)", "C = q^T S^T S, and A = 1 - S^T S q q^T is a projector with A C^T = 0")
def projector(model: pin.Model, s: State) -> float:
    c, d = in_chart(s), in_chart(s).dynamics
    q, n = c.state.q, len(c.state.q)
    S_T_S_q = np.zeros(n)
    S_T_S_q[3:7] = q[3:7]
    return max(
        relative_difference(d.C[0], S_T_S_q),
        relative_difference(d.A, np.eye(n) - np.outer(S_T_S_q, q)),
        relative_difference(d.A @ d.A, d.A),
        relative_product(d.A, d.C.T),
    )


@_list.add("(37)-(38)", "solutions of the program with the multiplier are those of the projected")
def programs(model: pin.Model, s: State) -> float:
    c = in_chart(s)
    program = chart_program(model, CHART, c.state.q, c.state.qdot, c.contacts[:1])
    projected, full = program.projected(), program.with_multipliers()
    x = np.linalg.lstsq(full.rows, full.values, rcond=None)[0]
    size = projected.rows.shape[1]
    scale = largest(np.abs(projected.rows) @ np.abs(x[:size]))
    return max(
        relative_difference(projected.rows @ x[:size], projected.values, scale),
        relative_difference(full.rows @ x, full.values, scale),
    )


CHECKS = _list.checks
