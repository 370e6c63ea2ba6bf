"""The identities of RobotDynamicsETH 3.8-3.11, control, as residuals at a random state.

What the notes write for arms is tried on the robot with its base held where it is.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pinocchio as pin
from scipy.linalg import qr

from balance.analysis.theory.checks import (
    CheckList,
    State,
    largest,
    relative_difference,
    relative_sum,
)
from balance.dynamics.checks import Array, symmetrise
from balance.dynamics.constraints import Contact, contact_drift, contact_jacobian
from balance.dynamics.contact import constrained_dynamics
from balance.dynamics.floating_base_inverse_dynamics import floating_base_torques
from balance.dynamics.generalised_forces import (
    Load,
    external_generalised_force,
)
from balance.dynamics.joint_control import inverse_dynamics_torques
from balance.dynamics.kinematics import geometric_jacobian
from balance.dynamics.operational_space import (
    DIRECTIONS,
    EndEffectorDynamics,
    end_effector_dynamics,
)
from balance.dynamics.task_space_control import (
    MotionTask,
    compensated_task_space_torques,
    prioritised_acceleration,
    task_space_torques,
)
from balance.dynamics.virtual_forces import virtual_model_torques

WELL_CONDITIONED = 0.05
"""Rows of an end effector are taken while each adds so much to those before, 1 or m."""

_list = CheckList("RobotDynamicsETH")


@lru_cache(maxsize=2)
def _arm(s: State) -> tuple[pin.Model, Array, Array]:
    """The robot with its base held where it is, and its joints' state."""
    model, arm = s.model, pin.Model()
    arm.name, arm.gravity = model.name, model.gravity
    pin.forwardKinematics(model, s.data, s.q)
    base = s.data.oMi[1].copy()
    for k in range(2, model.njoints):
        parent, placement = int(model.parents[k]), model.jointPlacements[k]
        at = base * placement if parent == 1 else placement
        joint = arm.addJoint(parent - 1, model.joints[k], at, model.names[k])
        arm.appendBodyToJoint(joint, model.inertias[k], pin.SE3.Identity())
    for frame in model.frames:
        parent = int(frame.parentJoint)
        if parent > 0:
            at = base * frame.placement if parent == 1 else frame.placement
            arm.addFrame(pin.Frame(frame.name, parent - 1, 0, at, pin.FrameType.OP_FRAME))
    arm.armature = model.armature[6:]
    return arm, s.q[7:], s.v[6:]


def _end_effector(s: State) -> tuple[EndEffectorDynamics, Array, Array] | None:
    """A link of the held robot in the directions that its joints move it well, M and h."""
    arm, q, v = _arm(s)
    if arm.nv == 0:
        return None
    J = geometric_jacobian(arm, q, s.links[0])
    triangle, order = qr(J.T, mode="r", pivoting=True)[0:2]
    pivots = np.abs(np.diag(triangle))
    rows = [DIRECTIONS[order[i]] for i, p in enumerate(pivots) if p > WELL_CONDITIONED]
    if not rows:
        return None
    M = symmetrise(pin.crba(arm, arm.createData(), q))
    h = np.array(pin.nonLinearEffects(arm, arm.createData(), q, v))
    return end_effector_dynamics(arm, q, v, s.links[0], rows), M, h


@_list.add("(3.75)-(3.76)", "inverse dynamics gives every joint of an arm the acceleration wanted")
def inverse_dynamics(model: pin.Model, s: State) -> float:
    arm, q, v = _arm(s)
    if arm.nv == 0:
        return 0.0
    torques = inverse_dynamics_torques(arm, q, v, s.effort)
    M = symmetrise(pin.crba(arm, arm.createData(), q))
    h = np.array(pin.nonLinearEffects(arm, arm.createData(), q, v))
    return relative_sum(M @ s.effort, h, -torques)


@_list.add("(3.81)-(3.82)", "an acceleration task of lower priority leaves the one above alone")
def acceleration_tasks(model: pin.Model, s: State) -> float:
    contacts = [Contact(link) for link in s.links[:2]]
    J, drift = contact_jacobian(model, s.q, contacts), contact_drift(model, s.q, s.v, contacts)
    first, second = (MotionTask(J[r], np.ones(3), drift[r]) for r in (slice(0, 3), slice(3, 6)))
    ddq = prioritised_acceleration([first, second])
    scale = max(largest(drift), largest(np.abs(J) @ np.abs(ddq)))
    return relative_difference(first.J @ ddq + first.drift, np.ones(3), scale)


@_list.add("(3.85)-(3.88)", "Lambda dw/dt + mu + p = F for a link under torques J^T F")
def end_effector(model: pin.Model, s: State) -> float:
    found = _end_effector(s)
    if found is None:
        return 0.0
    d, M, h = found
    F = s.wrenches[0][: len(d.rows)]
    acceleration = d.J @ np.linalg.solve(M, d.J.T @ F - h) + d.drift
    return relative_sum(d.Lambda @ acceleration, d.mu, d.p, -F)


@_list.add("(3.89)-(3.95)", "both forms of task-space torques give the link its acceleration")
def task_space(model: pin.Model, s: State) -> float:
    found = _end_effector(s)
    if found is None:
        return 0.0
    d, M, h = found
    wanted = np.ones(len(d.rows))
    worst = 0.0
    for form in (task_space_torques, compensated_task_space_torques):
        parts = np.linalg.solve(M, form(d, wanted)), np.linalg.solve(M, -h)
        scale = max(largest(np.abs(d.J) @ np.abs(part)) for part in parts)
        worst = max(worst, relative_difference(d.J @ sum(parts) + d.drift, wanted, scale))
    return worst


@_list.add("(3.99)-(3.100)", "inverse dynamics on a contact gives the motion wanted")
def inverse_dynamics_on_contacts(model: pin.Model, s: State) -> float:
    contacts = [Contact(s.links[0], face=True)]
    moved = constrained_dynamics(model, s.q, s.v, s.tau, contacts)
    found = floating_base_torques(
        model, s.q, s.v, moved.acceleration, contacts, preferred=0.5 * s.tau
    )
    forces = moved.support.J_c.T @ found.force_on_environment
    torques = np.concatenate([np.zeros(6), found.torques])
    return relative_sum(s.M @ moved.acceleration, s.C @ s.v, s.gravity, forces, -torques)


@_list.add("(3.115)-(3.120)", "virtual model control: the torques do what virtual forces would")
def virtual_work(model: pin.Model, s: State) -> float:
    triangle = [(0.5, 0.0, 0.0), (-0.5, 0.5, 0.0), (-0.5, -0.5, 0.0)]
    contacts = [Contact(s.links[0], corner) for corner in triangle]
    loads = [Load(link, w[:3], w[3:]) for link, w in zip(s.links[1:], s.wrenches[1:], strict=True)]
    found = virtual_model_torques(model, s.q, contacts, loads)
    J_c = contact_jacobian(model, s.q, contacts)
    torques = np.concatenate([np.zeros(6), found.torques])
    pulled = external_generalised_force(model, s.q, loads)
    pressed = J_c.T @ found.contact_forces.ravel()
    return relative_sum(torques, -pressed, -s.gravity, -pulled)


CHECKS = _list.checks
