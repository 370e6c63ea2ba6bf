"""Traversaro2016 as residuals: the impulse that locks the joints (V-B) and held links (IV.2)."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from balance.analysis.theory.checks import CheckList, State, largest, relative_difference
from balance.dynamics.fixed_base import fixed_base
from balance.dynamics.joint_lock import lock_joints

_list = CheckList("Traversaro2016")


@_list.add("V-B", "an impulse that locks all joints leaves the average angular velocity")
def locked_rotation(model: pin.Model, s: State) -> float:
    """Angular velocity of the stiff robot after the impulse against L^-1 l before it (33)."""
    after = lock_joints(model, s.q, s.v, s.data).velocity
    R = np.asarray(s.base("B").rotation)
    return relative_difference(R @ after[3:6], s.momentum.average_velocity[3:])


@_list.add("V-B", "locking all joints leaves the momentum, and all links with one angular velocity")
def locked_motion(model: pin.Model, s: State) -> float:
    after = lock_joints(model, s.q, s.v, s.data).velocity
    angular = [(J @ after)[3:] for J in s.jacobians]
    h = s.momentum
    return max(
        relative_difference(h.A_p @ after, h.h[:3]),
        relative_difference(h.A_l @ after, h.h[3:]),
        relative_difference(angular, np.tile(h.average_velocity[3:], (len(angular), 1))),
    )


@_list.add("V-B, (43)", "locking all joints takes the energy dq^T M_G dq / 2 of their own motion")
def locked_energy(model: pin.Model, s: State) -> float:
    lost = lock_joints(model, s.q, s.v, s.data).energy_lost
    dq, inertia = s.v[6:], s.base("centroidal").M[6:, 6:]
    return relative_difference(lost, 0.5 * float(dq @ inertia @ dq), scale=s.kinetic_energy)


@_list.add("remark IV.2", "with a link held, the joint rows for it are the fixed-base robot's")
def held_link(model: pin.Model, s: State) -> float:
    """Acceleration and reaction against M dv = f + J^T r with the link's acceleration zero."""
    held, pushed = s.links[0], s.jacobians[1].T @ s.wrenches[1]
    robot = fixed_base(model, s.q, s.v[6:], held, s.data)
    tau = s.tau + robot.torques_of(s.jacobians[1], s.wrenches[1])
    joints = robot.acceleration(tau)

    J = s.jacobians[0]
    v = np.concatenate([-np.linalg.solve(J[:, :6], J[:, 6:] @ s.v[6:]), s.v[6:]])
    index = model.getFrameId(held)
    pin.forwardKinematics(model, s.data, s.q, v, np.zeros(model.nv))
    mixed = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    drift = pin.getFrameClassicalAcceleration(model, s.data, index, mixed).vector
    bias = np.array(pin.nonLinearEffects(model, s.data, s.q, v))
    M_inv = s.M_inv
    free = M_inv @ (s.generalised_torques + pushed - bias)
    r = np.linalg.solve(J @ M_inv @ J.T, -J @ free - drift)
    expected = free + M_inv @ J.T @ r
    # Other wrenches than the reaction enter the base rows too: carry them to the held link.
    reaction = robot.reaction(joints) - (robot.force_map @ pushed)[:6]
    return max(
        relative_difference(joints, expected[6:], scale=largest(free)),
        relative_difference(reaction[:3], r[:3], scale=largest(pushed)),
        relative_difference(reaction[3:], r[3:], scale=largest(pushed)),
    )


@_list.add("remark IV.2", "the reaction on a held link drops out of the joint rows for that link")
def reaction_has_no_torques(model: pin.Model, s: State) -> float:
    """Torques of external wrenches are unique for a fixed base: no reaction is among them."""
    J, f = s.jacobians[0], s.wrenches[0]
    torques = fixed_base(model, s.q, s.v[6:], s.links[0], s.data).torques_of(J, f)
    return relative_difference(torques, np.zeros_like(torques), largest(J.T @ f))


CHECKS = _list.checks
