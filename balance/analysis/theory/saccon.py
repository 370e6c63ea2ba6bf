"""The identities of Saccon2017 as residuals at a random state, for ``balance theory``.

Each residual compares the functions of :mod:`balance.dynamics` with Pinocchio's own algorithms or
with finite differences, never with themselves.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
import pinocchio as pin

from balance.analysis.theory.checks import (
    FINITE_DIFFERENCE_BOUND,
    CheckList,
    State,
    largest,
    relative_difference,
)
from balance.dynamics.centroidal_frame import centroidal_frame
from balance.dynamics.checks import Array
from balance.dynamics.connection import (
    connection_at,
    locked_velocity,
    mechanical_connection,
    momentum_map,
    shape_configuration,
)
from balance.dynamics.curvature import curvature, momentum_derivatives
from balance.dynamics.three_link import three_link, three_link_curvature

saccon = CheckList("Saccon2017")

STEP = 1e-5
"""Step of the central differences, in the unit of the variable."""
PATH_STATES = 10
"""States at which a path is integrated."""


@saccon.add("(3)", "L and A are the base rows of the mass matrix")
def mass_matrix_rows(model: pin.Model, state: State) -> float:
    """[L A] against Pinocchio's mass matrix."""
    terms = connection_at(model, _scratch(model), state.q)
    # Rotor inertias are on the diagonal of M, but L is that of the links alone.
    links_only = state.M - np.diag(model.armature)
    return relative_difference(np.hstack([terms.L, terms.A]), links_only[:6])


@saccon.add("(6)", "equation of the base, with derivatives of L and A, holds under contacts")
def base_equation(model: pin.Model, state: State) -> float:
    """d/dt (dl/dv) + v x* dl/dv, with ABA's acceleration, against the wrenches on the base."""
    data, v, a = _scratch(model), state.v, state.acceleration
    pin.forwardKinematics(model, data, state.q)
    external = state.wrench_at_com + _weight(model, state)
    wrench = data.oMi[1].actInv(_carry_from_com(state, external)).vector

    terms = connection_at(model, data, state.q)
    dL, dA = momentum_derivatives(model, data, terms.A)
    inertial = terms.L @ a[:6], terms.A @ a[6:]
    momentum = terms.L @ v[:6] + terms.A @ v[6:]
    rate = inertial[0] + inertial[1] + pin.Motion(v[:6]).cross(pin.Force(momentum)).vector
    rate += np.tensordot(v[6:], dL, 1) @ v[:6] + np.tensordot(v[6:], dA, 1) @ v[6:]
    return relative_difference(rate, wrench, scale=largest(inertial))


@saccon.add("(9)", "momentum map is the sum of the links' momenta about the world origin")
def momentum_of_links(model: pin.Model, state: State) -> float:
    """The momentum map against link velocities and inertias."""
    data = _scratch(model)
    found = momentum_map(model, state.q, state.v, data).inertial
    pin.forwardKinematics(model, data, state.q, state.v)
    links = [data.oMi[i].act(model.inertias[i] * data.v[i]) for i in range(1, model.njoints)]
    momenta = np.array([link.vector for link in links])
    return relative_difference(found, momenta.sum(axis=0), scale=largest(momenta))


@saccon.add("(10)", "rate of the momentum map is the external wrench", FINITE_DIFFERENCE_BOUND)
def momentum_rate(model: pin.Model, state: State) -> float:
    """A central difference along a motion against the wrench that RNEA finds on its base."""
    data, q, v = _scratch(model), state.q, state.v
    a = v[::-1]  # any acceleration will do: RNEA finds the wrench for it

    def momentum(h: float) -> Array:
        moved = pin.integrate(model, q, h * v + 0.5 * h * h * a)
        return momentum_map(model, moved, v + h * a, data).inertial

    rate = (momentum(STEP) - momentum(-STEP)) / (2.0 * STEP)
    on_base = pin.rnea(model, data, q, v, a)[:6] - model.armature[:6] * a[:6]
    pin.forwardKinematics(model, data, q)
    applied = data.oMi[1].act(pin.Force(on_base)).vector
    weight = _carry_from_com(state, _weight(model, state)).vector
    return relative_difference(rate, applied + weight, scale=largest(applied) + largest(weight))


@saccon.add("(11)", "carried to the CoM it is the centroidal momentum")
def centroidal_momentum(model: pin.Model, state: State) -> float:
    """The momentum about the CoM against Pinocchio's."""
    momentum = momentum_map(model, state.q, state.v, _scratch(model))
    return relative_difference(momentum.centroidal, state.momentum.h)


@saccon.add("III-C", "the two momenta differ by the angular momentum of the CoM")
def angular_momentum_of_com(model: pin.Model, state: State) -> float:
    """Difference of the inertial and the centroidal momentum against com x m dcom/dt."""
    data = _scratch(model)
    momentum = momentum_map(model, state.q, state.v, data)
    pin.centerOfMass(model, data, state.q, state.v)
    expected = np.zeros(6)
    expected[3:] = np.cross(data.com[0], state.momentum.mass * data.vcom[0])
    difference = momentum.inertial - momentum.centroidal
    return relative_difference(difference, expected, scale=largest(momentum.inertial))


@saccon.add("(12)-(13)", "moving rigidly with the locked velocity has the same momentum")
def locked_momentum(model: pin.Model, state: State) -> float:
    """Centroidal momentum of the locked velocity against that of v."""
    rigid = locked_velocity(model, state.q, state.v, _scratch(model)).base
    return relative_difference(state.momentum.A[:, :6] @ rigid, state.momentum.h)


@saccon.add("(14)", "average velocity is the block-diagonal inertia's inverse times h")
def average_velocity(model: pin.Model, state: State) -> float:
    """The locked velocity at the CoM against diag(m, I)^-1 h."""
    average = locked_velocity(model, state.q, state.v, _scratch(model)).average
    return relative_difference(average, state.momentum.Lambda_h @ state.momentum.h)


@saccon.add("(15)-(16)", "inertia about the world origin times v_loc is the momentum map")
def inertial_momentum(model: pin.Model, state: State) -> float:
    """Pinocchio's composite inertia in the world times the inertial locked velocity."""
    data = _scratch(model)
    velocity = pin.Motion(locked_velocity(model, state.q, state.v, data).inertial)
    momentum = momentum_map(model, state.q, state.v, data).inertial
    pin.ccrba(model, data, state.q, state.v)
    return relative_difference((data.oYcrb[1] * velocity).vector, momentum)


@saccon.add("(17), (36)", "CoM stays the origin of the frame", FINITE_DIFFERENCE_BOUND, PATH_STATES)
def com_is_fixed_point(model: pin.Model, state: State) -> float:
    """Origin of the integrated centroidal frame against Pinocchio's CoM."""
    s, ds = _shape(model, state), state.v[6:]
    times = np.array([0.0, 0.05, 0.1])
    path = centroidal_frame(model, lambda t: s + t * ds, times)
    origins = np.array([pose.translation for pose in path])
    return relative_difference(origins, np.array([_com(model, s + t * ds) for t in times]))


@saccon.add("(17), (37)", "frame turns with v_loc", FINITE_DIFFERENCE_BOUND, PATH_STATES)
def frame_angular_velocity(model: pin.Model, state: State) -> float:
    """Rate of the integrated frame's axes, by a difference, against the locked velocity."""
    s, ds, h = _shape(model, state), state.v[6:], 1e-4
    path = centroidal_frame(model, lambda t: s + t * ds, [-h, 0.0, h], tolerance=1e-13)
    rate = pin.log3(path[2].rotation @ path[0].rotation.T) / (2.0 * h)
    v = np.concatenate([np.zeros(6), ds])
    return relative_difference(rate, locked_velocity(model, state.q, v).base[3:])


@saccon.add("(18)", "the base velocity -L^-1 A ds keeps the momentum at zero")
def zero_momentum(model: pin.Model, state: State) -> float:
    """Pinocchio's momentum when the base follows the joints with minus the connection."""
    connection = connection_at(model, _scratch(model), state.q).connection
    joints = state.momentum.A[:, 6:] @ state.v[6:]
    base = state.momentum.A[:, :6] @ connection @ state.v[6:]
    return relative_difference(joints, base)


@saccon.add("(20)", "analytic curvature equals differences of L^-1 A", FINITE_DIFFERENCE_BOUND)
def curvature_by_differences(model: pin.Model, state: State) -> float:
    """sum_ij B_ij u_i w_j against central differences of the connection along u and w."""
    data, s, u, w = _scratch(model), _shape(model, state), state.v[6:], state.v[:5:-1]

    def along(direction: Array, other: Array) -> Array:
        ahead = mechanical_connection(model, s + STEP * direction, data).connection
        behind = mechanical_connection(model, s - STEP * direction, data).connection
        return (ahead - behind) @ other / (2.0 * STEP)

    a = mechanical_connection(model, s, data).connection
    terms = [along(w, u), -along(u, w), pin.Motion(a @ u).cross(pin.Motion(a @ w)).vector]
    found = np.einsum("ijk,i,j->k", curvature(model, s, data), u, w)
    return relative_difference(found, np.sum(terms, axis=0), scale=largest(terms))


@saccon.add("(20), (36)", "curvature turns about the CoM")
def curvature_turns_about_com(model: pin.Model, state: State) -> float:
    """Velocity that every B_ij gives to the CoM, which no loop of the joints can move."""
    s = _shape(model, state)
    B = curvature(model, s, _scratch(model))
    at_com = B[..., :3] + np.cross(B[..., 3:], _com(model, s))
    return relative_difference(at_com, np.zeros_like(at_com), scale=largest(B))


@saccon.add("(38), (47)", "average linear velocity is the CoM's")
def com_velocity(model: pin.Model, state: State) -> float:
    """Linear part of the average velocity against Pinocchio's CoM velocity."""
    data = _scratch(model)
    average = locked_velocity(model, state.q, state.v, data).average
    pin.centerOfMass(model, data, state.q, state.v)
    return relative_difference(average[:3], data.vcom[0])


@saccon.add("(38)", "average angular velocity is the locked one in world axes")
def locked_angular_velocity(model: pin.Model, state: State) -> float:
    """Angular part of the average velocity against the base's locked one, rotated."""
    data = _scratch(model)
    velocity = locked_velocity(model, state.q, state.v, data)
    pin.forwardKinematics(model, data, state.q)
    return relative_difference(velocity.average[3:], data.oMi[1].rotation @ velocity.base[3:])


@saccon.add("(40)", "a twist carried to a fixed point is its velocity", FINITE_DIFFERENCE_BOUND)
def fixed_point_lemma(model: pin.Model, state: State) -> float:
    """The inertial locked velocity carried to a point against the point's displacement."""
    twist = pin.Motion(locked_velocity(model, state.q, state.v, _scratch(model)).inertial)
    point = state.wrenches[0, :3]
    at_point = pin.SE3(np.eye(3), point).actInv(twist).linear
    ahead, behind = pin.exp6(twist * STEP).act(point), pin.exp6(twist * -STEP).act(point)
    return relative_difference(at_point, (ahead - behind) / (2.0 * STEP))


@saccon.add("V, d = 1", "three-link mechanism has the curvature of the closed form")
def three_link_closed_form(_: pin.Model, state: State) -> float:
    """B_12 of the paper's example, at angles taken from the state, against the printed one."""
    s = state.v[:2]
    return relative_difference(curvature(_three_link(1.0), s)[0, 1], three_link_curvature(s))


@saccon.add("V, d = 0", "three-link mechanism is flat")
def three_link_flat(_: pin.Model, state: State) -> float:
    """Curvature with d = 0, relative to that with d = 1."""
    s = state.v[:2]
    B = curvature(_three_link(0.0), s)
    return relative_difference(B, np.zeros_like(B), scale=largest(three_link_curvature(s)))


_three_link = cache(three_link)


@lru_cache(maxsize=1)
def _scratch(model: pin.Model) -> pin.Data:
    """The Data in which all residuals of one robot are evaluated: making one is slow."""
    return pin.Data(model)


def _shape(model: pin.Model, state: State) -> Array:
    """(nj,) joint positions of the state, one number per joint."""
    return pin.difference(model, pin.neutral(model), state.q)[6:]


def _com(model: pin.Model, s: Array) -> Array:
    """(3,) CoM in base axes from Pinocchio."""
    data = _scratch(model)
    com = pin.centerOfMass(model, data, shape_configuration(model, s))
    return data.oMi[1].actInv(com)


def _weight(model: pin.Model, state: State) -> Array:
    """(6,) wrench of gravity at the CoM, world axes."""
    return np.concatenate([state.momentum.mass * model.gravity.linear, np.zeros(3)])


def _carry_from_com(state: State, wrench: Array) -> pin.Force:
    """A wrench at the CoM as one at the world origin, world axes."""
    return pin.SE3(np.eye(3), state.momentum.com).act(pin.Force(wrench))


CHECKS = saccon.checks
"""Every identity of the paper that can be evaluated at a state."""
