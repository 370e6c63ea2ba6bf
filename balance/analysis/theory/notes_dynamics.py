"""The identities of RobotDynamicsETH 3.3-3.7, equations of motion and contacts, as residuals.

Contacts are faces or points of the state's links.
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
    relative_sum,
)
from balance.analysis.theory.motion import DIFFERENCE_STATES, rate_along_motion
from balance.dynamics.checks import Array
from balance.dynamics.constrained_lagrange import ConstraintRows, constrained_motion
from balance.dynamics.constraints import Contact, contact_drift, contact_jacobian
from balance.dynamics.contact import constrained_dynamics, impact
from balance.dynamics.free_cut import free_cut_dynamics
from balance.dynamics.generalised_forces import (
    Actuator,
    Load,
    actuator_generalised_force,
    external_generalised_force,
)
from balance.dynamics.lagrangian import gravitational_energy, lagrangian
from balance.dynamics.projected_newton_euler import (
    link_motion,
    momentum_rates,
    projected_newton_euler,
)

_list = CheckList("RobotDynamicsETH")


@_list.add("(3.24)-(3.25)", "the links' momenta change by the wrenches on the robot and its weight")
def newton_euler(model: pin.Model, s: State) -> float:
    links = link_motion(model, s.q, s.v)
    p_dot, N_dot = momentum_rates(links, s.v, s.acceleration)
    about_com = N_dot + np.cross(links.com - s.momentum.com, p_dot)
    weight = np.append(s.momentum.mass * model.gravity.linear, np.zeros(3))
    total = np.append(p_dot.sum(axis=0), about_com.sum(axis=0))
    return max(
        relative_sum(total[part], -s.wrench_at_com[part], -weight[part])
        for part in (slice(0, 3), slice(3, 6))
    )


@_list.add("3.3.2", "links cut free, with forces in their joints, move as the robot does")
def cut_free(model: pin.Model, s: State) -> float:
    cut = free_cut_dynamics(model, s.q, s.v, s.tau)
    inertial = s.M @ cut.acceleration
    return relative_sum(inertial, s.C @ s.v, s.gravity, -s.generalised_torques)


@_list.add(
    "(3.26)-(3.27)",
    "v dL/dv - L, the energy, changes by the power of the torques",
    FINITE_DIFFERENCE_BOUND,
    DIFFERENCE_STATES,
)
def energy_balance(model: pin.Model, s: State) -> float:
    def energy(q: Array, v: Array) -> Array:
        at_rest = lagrangian(model, q, np.zeros(model.nv))
        # L is a quadratic form in v less U, so v dL/dv - L = (L - L_0) - L_0.
        return np.array(lagrangian(model, q, v) - 2.0 * at_rest)

    power = s.v * s.generalised_torques
    rate = rate_along_motion(s, energy, s.falling_acceleration)
    potential = abs(gravitational_energy(model, s.q))
    return relative_difference(rate, power.sum(), largest(power) + s.kinetic_energy + potential)


@_list.add(
    "(3.33)",
    "the weight's potential rises by g v",
    FINITE_DIFFERENCE_BOUND,
    DIFFERENCE_STATES,
)
def potential_of_the_weight(model: pin.Model, s: State) -> float:
    def potential(q: Array, v: Array) -> Array:
        return np.array(gravitational_energy(model, q))

    rate, work = rate_along_motion(s, potential), s.gravity * s.v
    return relative_difference(rate, work.sum(), largest(work) + float(abs(potential(s.q, s.v))))


@_list.add("(3.35)-(3.37)", "multipliers hold a constraint: J dv/dt + dJ/dt v = 0")
def multipliers(model: pin.Model, s: State) -> float:
    contacts = [Contact(s.links[0])]
    J, drift = contact_jacobian(model, s.q, contacts), contact_drift(model, s.q, s.v, contacts)
    force = s.generalised_torques
    motion = constrained_motion(model, s.q, s.v, force, [ConstraintRows(J, drift)])
    inertial = s.M @ motion.acceleration
    holding = J.T @ motion.multipliers
    size = largest(np.abs(J) @ np.abs(motion.acceleration))
    return max(
        relative_difference(J @ motion.acceleration, -drift, size),
        relative_sum(inertial, s.C @ s.v, s.gravity, holding, -force),
    )


@_list.add("(3.43)-(3.48)", "M, b and g as sums over the links are those of CRBA and RNEA")
def projected_laws(model: pin.Model, s: State) -> float:
    motion = projected_newton_euler(model, s.q, s.v)
    velocity_terms = s.C @ s.v
    return max(
        relative_difference(motion.M, s.M),
        relative_difference(motion.b, velocity_terms, largest(s.gravity)),
        relative_difference(motion.g, s.gravity),
    )


@_list.add("(3.49)-(3.51)", "forces and torques on links are J_P^T F + J_R^T T, wherever they act")
def external_forces(model: pin.Model, s: State) -> float:
    point = (0.1, -0.2, 0.3)
    loads, expected = [], np.zeros(model.nv)
    for link, wrench, J, X in zip(s.links, s.wrenches, s.jacobians, s.placements, strict=True):
        loads.append(Load(link, wrench[:3], wrench[3:], point))
        moment = wrench[3:] + np.cross(X.rotation @ point, wrench[:3])
        expected += J.T @ np.append(wrench[:3], moment)
    return relative_difference(external_generalised_force(model, s.q, loads), expected)


@_list.add("(3.52)-(3.53)", "a motor about a joint's axis is one entry of the torques")
def actuators(model: pin.Model, s: State) -> float:
    frames = {int(frame.parentJoint): frame.name for frame in model.frames}
    pin.computeJointJacobians(model, s.data, s.q)
    worst = 0.0
    for joint in range(2, model.njoints):
        parent = int(model.parents[joint])
        axis = pin.getJointJacobian(model, s.data, joint, pin.LOCAL_WORLD_ALIGNED)[3:]
        about = axis[:, model.idx_vs[joint]]
        turns = np.linalg.norm(about) > 0.5  # a slide does not
        if turns and joint in frames and parent in frames:
            motor = Actuator(frames[joint], frames[parent], torque=about)
            expected = np.zeros(model.nv)
            expected[model.idx_vs[joint]] = 1.0
            found = actuator_generalised_force(model, s.q, [motor])
            worst = max(worst, relative_difference(found, expected))
    return worst


@_list.add("(3.56), (3.60)-(3.64)", "a robot on a contact: equation of motion, contact at rest")
def hard_contact(model: pin.Model, s: State) -> float:
    found = constrained_dynamics(model, s.q, s.v, s.tau, [Contact(s.links[0], face=True)])
    J, a = found.support.J_c, found.acceleration
    forces = J.T @ found.force_on_environment
    return max(
        relative_difference(J @ a, -found.drift, largest(np.abs(J) @ np.abs(a))),
        relative_sum(s.M @ a, s.C @ s.v, s.gravity, forces, -s.generalised_torques),
    )


@_list.add("(3.65)-(3.71)", "an impact stops the contact; the energy it takes, in two forms")
def impacts(model: pin.Model, s: State) -> float:
    found = impact(model, s.q, s.v, [Contact(s.links[0])])
    J, Lambda = found.support.J_c, found.support.Lambda_c
    before = J @ s.v
    lost = -0.5 * before @ Lambda @ before
    return max(
        relative_difference(J @ found.v_after, np.zeros(3), largest(np.abs(J) @ np.abs(s.v))),
        relative_difference(found.energy_change, lost, s.kinetic_energy),
    )


CHECKS = _list.checks
