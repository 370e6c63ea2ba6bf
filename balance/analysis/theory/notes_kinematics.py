"""The identities of RobotDynamicsETH, chapter 2, as residuals at a random state."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from balance.analysis.theory.checks import (
    FINITE_DIFFERENCE_BOUND,
    CheckList,
    State,
    largest,
    relative_difference,
)
from balance.analysis.theory.motion import DIFFERENCE_STATES, rate_along_motion
from balance.dynamics.checks import Array, frame_id
from balance.dynamics.constraints import Contact, contact_drift, contact_jacobian
from balance.dynamics.differential_kinematics import (
    Task,
    null_space,
    prioritised_velocity,
    support_consistent_velocity,
)
from balance.dynamics.kinematics import (
    analytical_jacobian,
    base_velocity_map,
    floating_base_jacobian,
    frame_placement,
    relative_jacobian,
)
from balance.dynamics.transformations import (
    homogeneous_matrix,
    inverse_homogeneous,
    point_acceleration,
    point_velocity,
    velocity_in_moving_axes,
)
from balance.rotations import get_chart

_MIXED = pin.LOCAL_WORLD_ALIGNED
_list = CheckList("RobotDynamicsETH")


@_list.add("(2.110)-(2.112)", "T_AC = T_AB T_BC, and T_BA from T_AB without a general inverse")
def transformations_compose(model: pin.Model, s: State) -> float:
    B, C = (homogeneous_matrix(X.rotation, X.translation) for X in s.placements[:2])
    relative = s.placements[0].actInv(s.placements[1]).homogeneous
    return relative_difference(inverse_homogeneous(B) @ C, relative)


@_list.add("(2.121)-(2.122)", "velocity and acceleration of a point from those of its link")
def points_of_a_link(model: pin.Model, s: State) -> float:
    pin.forwardKinematics(model, s.data, s.q, s.v, s.acceleration)
    worst = 0.0
    for link in s.links:
        index = frame_id(model, link)
        frame = model.frames[index]
        joint, at = int(frame.parentJoint), pin.SE3.Identity()
        v_B = pin.getFrameVelocity(model, s.data, joint, at, _MIXED)
        a_B = pin.getFrameClassicalAcceleration(model, s.data, joint, at, _MIXED)
        v_P = pin.getFrameVelocity(model, s.data, index, _MIXED).linear
        a_P = pin.getFrameClassicalAcceleration(model, s.data, index, _MIXED).linear
        arm = s.data.oMi[joint].rotation @ frame.placement.translation
        velocity = point_velocity(v_B.linear, v_B.angular, arm)
        acceleration = point_acceleration(a_B.linear, a_B.angular, v_B.angular, arm)
        worst = max(
            worst, relative_difference(velocity, v_P), relative_difference(acceleration, a_P)
        )
    return worst


@_list.add(
    "(2.125)-(2.129)",
    "Euler's rule: rates in the base's axes plus omega x r are the velocity there",
    FINITE_DIFFERENCE_BOUND,
    DIFFERENCE_STATES,
)
def rule_of_differentiation(model: pin.Model, s: State) -> float:
    def components(q: Array, v: Array) -> Array:
        pin.forwardKinematics(model, s.data, q)
        position = frame_placement(model, q, s.links[0]).translation
        return np.asarray(s.data.oMi[1].rotation.T @ position)

    rates = rate_along_motion(s, components)
    here = components(s.q, s.v)
    found = velocity_in_moving_axes(rates, s.v[3:6], here)
    expected = s.data.oMi[1].rotation.T @ (s.jacobians[0][:3] @ s.v)
    return relative_difference(found, expected, largest(rates))


@_list.add(
    "(2.153)-(2.154)",
    "J_C - J_B is the Jacobian of the way from B to C",
    FINITE_DIFFERENCE_BOUND,
    DIFFERENCE_STATES,
)
def relative_jacobians(model: pin.Model, s: State) -> float:
    B, C = s.links[:2]

    def way(q: Array, v: Array) -> Array:
        ends = (frame_placement(model, q, link).translation for link in (B, C))
        start, end = ends
        return np.asarray(end - start)

    found = relative_jacobian(model, s.q, B, C)[:3] @ s.v
    return relative_difference(found, rate_along_motion(s, way), largest(s.jacobians[0] @ s.v))


@_list.add("(2.189)-(2.192)", "rate maps take the analytical to the geometric Jacobian")
def analytical_to_geometric(model: pin.Model, s: State) -> float:
    J_A, J = analytical_jacobian(model, s.q, s.links[0]), s.jacobians[0]
    chart = get_chart("quaternion")
    E_R = chart.rate_map(chart.from_matrix(s.placements[0].rotation))
    return relative_difference(np.vstack([J_A[:3], E_R @ J_A[3:]]), J)


@_list.add("(2.199)", "N = 1 - J^+ J projects on what the task does not feel: J N = 0, N N = N")
def projectors(model: pin.Model, s: State) -> float:
    J = s.jacobians[0]
    N = null_space(J)
    return max(
        relative_difference(J @ N, np.zeros_like(J), largest(J)), relative_difference(N @ N, N, 1.0)
    )


@_list.add("(2.203)-(2.207)", "a task of lower priority leaves the one above as it is")
def priorities(model: pin.Model, s: State) -> float:
    first = Task(s.jacobians[0], s.wrenches[0] / largest(s.wrenches))
    second = Task(s.jacobians[1][:3], np.ones(3))
    alone, both = prioritised_velocity([first]), prioritised_velocity([first, second])
    scale = largest(np.abs(first.J) @ np.abs(both))
    return relative_difference(first.J @ both, first.J @ alone, scale)


@_list.add("(2.245), (2.252)", "the floating-base Jacobian in the notes' velocities is Pinocchio's")
def floating_base(model: pin.Model, s: State) -> float:
    J = floating_base_jacobian(model, s.q, s.links[0])
    return relative_difference(J @ base_velocity_map(model, s.q), s.jacobians[0])


@_list.add(
    "(2.254)",
    "dJ_c/dt v is the rate of J_c v at constant v",
    FINITE_DIFFERENCE_BOUND,
    DIFFERENCE_STATES,
)
def contact_rates(model: pin.Model, s: State) -> float:
    contacts = [Contact(link) for link in s.links]

    def velocities(q: Array, v: Array) -> Array:
        return contact_jacobian(model, q, contacts) @ v

    drift = contact_drift(model, s.q, s.v, contacts)
    return relative_difference(drift, rate_along_motion(s, velocities), largest(s.v) ** 2)


@_list.add("(2.257)-(2.260)", "N_c (J_t N_c)^+ w moves no contact")
def support_consistency(model: pin.Model, s: State) -> float:
    J_c = contact_jacobian(model, s.q, [Contact(s.links[0])])
    u = support_consistent_velocity(J_c, Task(s.jacobians[1][:3], np.ones(3)))
    # A robot with few joints may have no such motion; then u is rounding and so is J_c u.
    scale = max(largest(J_c), largest(np.abs(J_c) @ np.abs(u)))
    return relative_difference(J_c @ u, np.zeros(3), scale)


CHECKS = _list.checks
