"""Saccon2017 as residuals, the equations of motion: Hamel, Lagrange-Poincare, Noether.

(4)-(8), III-D and appendix A.  The oracles are Pinocchio's ABA, RNEA and frame velocities, and
central differences of the kinetic energy.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from balance.analysis.theory.checks import (
    FINITE_DIFFERENCE_BOUND,
    CheckList,
    State,
    largest,
    relative_difference,
    relative_product,
    worst_part,
)
from balance.analysis.theory.motion import DIFFERENCE_STATES, STEP_S, rate_along_motion
from balance.dynamics.checks import Array, frame_id
from balance.dynamics.connection import locked_velocity, momentum_map
from balance.dynamics.hamel import contact_parts, hamel_forces, hamel_terms, potential_forces
from balance.dynamics.lagrange_poincare import LagrangePoincare, lagrange_poincare
from balance.dynamics.noether import (
    fibre_derivative,
    group_action,
    infinitesimal_generator,
    noether_momentum,
)

_list = CheckList("Saccon2017")


@_list.add("(4)-(5)", "Hamel's equations without forces hold in free flight without gravity")
def free_hamel_equations(model: pin.Model, s: State) -> float:
    weightless, data = s.workspace.weightless, s.workspace.weightless_data
    a = np.array(pin.aba(weightless, data, s.q, s.v, np.zeros(model.nv)))
    terms = hamel_terms(model, s.q, s.v, s.data)
    inertial = terms.M @ a
    return worst_part(inertial, terms.left_side(a) - inertial)


@_list.add("(6)-(7)", "Hamel's base and joint rows hold under gravity, torques and contacts")
def forced_hamel_equations(model: pin.Model, s: State) -> float:
    left = hamel_terms(model, s.q, s.v, s.data).left_side(s.acceleration)
    parts = [contact_parts(model, s.q, link, s.data) for link in s.links]
    on_base = sum(X.T @ f for (X, _), f in zip(parts, s.wrenches, strict=True))
    on_joints = sum(S.T @ f for (_, S), f in zip(parts, s.wrenches, strict=True))
    contacts = np.concatenate([np.asarray(on_base), np.asarray(on_joints)])
    gravity = potential_forces(model, s.q, s.data)
    return worst_part(left, -gravity, -s.generalised_torques, -contacts)


@_list.add("(6)-(7)", "Hamel's left sides less the potential are what RNEA computes")
def hamel_is_rnea(model: pin.Model, s: State) -> float:
    a = s.v[::-1]  # any acceleration will do
    expected = np.array(pin.rnea(model, s.data, s.q, s.v, a))
    return worst_part(hamel_forces(model, s.q, s.v, a, s.data), -expected)


@_list.add(
    "(5)", "dl/ds is the slope of the kinetic energy", FINITE_DIFFERENCE_BOUND, DIFFERENCE_STATES
)
def shape_gradient(model: pin.Model, s: State) -> float:
    """Along the joint velocities in reverse, with the velocity nu held."""
    direction = np.concatenate([np.zeros(6), s.v[:5:-1]])

    def momenta(h: float) -> Array:
        return hamel_terms(model, pin.integrate(model, s.q, h * direction), s.v, s.data).momenta

    slope = 0.5 * (momenta(STEP_S) - momenta(-STEP_S)) @ s.v / (2.0 * STEP_S)
    terms = hamel_terms(model, s.q, s.v, s.data)
    scale = largest(terms.shape_gradient * direction[6:])
    return relative_difference(terms.shape_gradient @ direction[6:], slope, scale)


@_list.add("(8)", "pose and shape part of a contact Jacobian give the contact's velocity")
def contact_velocity(model: pin.Model, s: State) -> float:
    X, S = contact_parts(model, s.q, s.links[0], s.data)
    pin.forwardKinematics(model, s.data, s.q, s.v)
    frame = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    velocity = pin.getFrameVelocity(model, s.data, frame_id(model, s.links[0]), frame).vector
    # ^iX is the velocity transformation from the base to C_i[A].
    base = s.data.oMi[1]
    to_contact = pin.SE3(np.eye(3), s.placements[0].translation).inverse() * base
    return max(
        relative_difference(X @ s.v[:6] + S @ s.v[6:], velocity),
        relative_difference(X, to_contact.toActionMatrix()),
    )


@_list.add("III-D", "the locked velocity block diagonalises the mass matrix: T^-T M T^-1")
def locked_velocity_block_diagonalises(model: pin.Model, s: State) -> float:
    reduced = _reduced(model, s)
    back = 2.0 * np.eye(model.nv) - reduced.T  # T = [E a; 0 E]
    M = back.T @ s.M @ back
    return max(
        relative_difference(M[:6, :6], reduced.M[:6, :6]),
        relative_difference(M[6:, 6:], reduced.M[6:, 6:], largest(s.M[6:, 6:])),
        relative_product(np.hstack([np.eye(6), np.zeros((6, model.nv - 6))]) @ s.M, back[:, 6:]),
    )


@_list.add("III-D", "(Omega, ds) = T v is the locked velocity with the joints'")
def reduced_velocity(model: pin.Model, s: State) -> float:
    expected = locked_velocity(model, s.q, s.v, s.data).base
    return worst_part(_reduced(model, s).T @ s.v, -np.concatenate([expected, s.v[6:]]))


@_list.add("III-D", "the Lagrange-Poincare equations give the acceleration of ABA")
def lagrange_poincare_acceleration(model: pin.Model, s: State) -> float:
    reduced = _reduced(model, s)
    forces = potential_forces(model, s.q, s.data) + s.generalised_torques + s.contact_forces
    rate = reduced.T @ s.acceleration + reduced.T_rate @ s.v
    return worst_part(reduced.M @ rate, reduced.bias, -reduced.forces(forces))


@_list.add(
    "III-D", "dT/dt is the rate of T along the motion", FINITE_DIFFERENCE_BOUND, DIFFERENCE_STATES
)
def reduced_rate(model: pin.Model, s: State) -> float:
    rate = rate_along_motion(s, lambda q, v: lagrange_poincare(model, q, v, s.data).T)
    return relative_difference(rate, _reduced(model, s).T_rate)


@_list.add("(43), (46)", "the fibre derivative along the six generators is the momentum map")
def noether(model: pin.Model, s: State) -> float:
    found = noether_momentum(model, s.q, s.v, s.data)
    return relative_difference(found, momentum_map(model, s.q, s.v, s.data).inertial)


@_list.add("(43)", "the fibre derivative is the slope of the kinetic energy over v")
def fibre_slope(model: pin.Model, s: State) -> float:
    """Kinetic energy is quadratic, so that one central difference is exact."""
    z = s.v[::-1]
    energy = [0.5 * float(v @ s.M @ v) for v in (s.v + z, s.v - z)]
    found = fibre_derivative(model, s.q, s.v, z, s.data)
    return relative_difference(found, 0.5 * (energy[0] - energy[1]), scale=max(energy))


@_list.add("(44)-(45)", "the generator is the rate of the group action", FINITE_DIFFERENCE_BOUND)
def generator(model: pin.Model, s: State) -> float:
    xi = s.v[:6]
    after, before = (group_action(model, s.q, pin.exp6(h * xi)) for h in (STEP_S, -STEP_S))
    rate = pin.difference(model, before, after) / (2.0 * STEP_S)
    return relative_difference(rate, infinitesimal_generator(model, s.q, xi))


@_list.add("(44)", "carrying the robot carries its momentum map along and leaves its energy alone")
def symmetry(model: pin.Model, s: State) -> float:
    g = s.placements[0]
    carried = group_action(model, s.q, g)
    expected = g.act(pin.Force(noether_momentum(model, s.q, s.v, s.data))).vector
    energy = 0.5 * fibre_derivative(model, carried, s.v, s.v, s.data)
    return max(
        relative_difference(noether_momentum(model, carried, s.v, s.data), expected),
        relative_difference(energy, s.kinetic_energy),
    )


def _reduced(model: pin.Model, s: State) -> LagrangePoincare:
    return lagrange_poincare(model, s.q, s.v, s.data)


CHECKS = _list.checks
