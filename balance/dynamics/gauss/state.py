"""States in a rotation chart, q = (x_0, theta_0, joint angles), and Pinocchio's (q, v).

Order of a chart's state: base position x_0 in world axes (3, m), the coordinates theta_0 of the
base rotation R_WB in the chart's own order (``Chart.coordinates``: z, y, x for "euler_zyx";
x, y, z, w for "quaternion"; R.ravel(), row by row, for "rotation_matrix"), then one coordinate per
joint in Pinocchio's velocity order.  qdot is its plain time derivative; Bouyarmane2012 (1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_floating_base, check_state, check_vector
from balance.errors import ChartError, InputError
from balance.rotations import (
    Chart,
    angular_velocity_jacobian,
    angular_velocity_jacobian_rate,
    get_chart,
)

_RATE_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class ChartState:
    """A checked state and the maps from its rotation rates to angular velocity (world axes)."""

    model: pin.Model
    chart: Chart
    q: Array
    qdot: Array
    J_omega: Array
    J_omega_dot: Array

    @property
    def theta(self) -> Array:
        """Coordinates of the base rotation, shape (d,)."""
        return self.q[3 : 3 + self.chart.size]

    @property
    def theta_dot(self) -> Array:
        """Their rates, shape (d,)."""
        return self.qdot[3 : 3 + self.chart.size]

    @property
    def joints(self) -> slice:
        """Where the joint angles are in q."""
        return slice(3 + self.chart.size, len(self.q))


def chart_state(model: pin.Model, chart: str, q: ArrayLike, qdot: ArrayLike) -> ChartState:
    """Checked state of ``model`` in ``chart``, with J of Bouyarmane2012 (10) and its rate."""
    coordinates = get_chart(chart)
    _check_model(model)
    size = 3 + coordinates.size + model.nv - 6
    q, qdot = check_vector("q", q, size).copy(), check_vector("qdot", qdot, size).copy()
    theta = q[3 : 3 + coordinates.size]
    theta_dot = qdot[3 : 3 + coordinates.size]
    coordinates.inverse_rate_map(theta)  # refuses coordinates that are invalid or singular
    leak = np.abs(coordinates.constraint_rows(theta) @ theta_dot).max(initial=0.0)
    if leak > _RATE_TOLERANCE * (1.0 + np.linalg.norm(theta_dot)):
        raise ChartError(
            f"qdot[3:{3 + coordinates.size}] moves the {chart} off its constraint at a rate of "
            f"{leak:.3g}; it must be tangent, as chart_from_pinocchio() makes it"
        )
    return ChartState(
        model,
        coordinates,
        q,
        qdot,
        angular_velocity_jacobian(coordinates, theta),
        angular_velocity_jacobian_rate(coordinates, theta, theta_dot),
    )


def chart_from_pinocchio(
    model: pin.Model, chart: str, q: ArrayLike, v: ArrayLike
) -> tuple[Array, Array]:
    """(q, qdot) in ``chart`` of Pinocchio's (q, v)."""
    coordinates = get_chart(chart)
    _check_model(model)
    q, v = check_state(model, q, v)
    R = _base_rotation(q)
    theta = coordinates.from_matrix(R)
    theta_dot = coordinates.inverse_rate_map(theta) @ (R @ v[3:6])
    angles = np.empty(model.nv - 6)
    for joint in list(model.joints)[2:]:
        own = q[joint.idx_q : joint.idx_q + joint.nq]
        # A continuous joint stores the cosine and sine of its angle.
        angles[joint.idx_v - 6] = own[0] if joint.nq == 1 else np.arctan2(own[1], own[0])
    return np.concatenate([q[:3], theta, angles]), np.concatenate([R @ v[:3], theta_dot, v[6:]])


def pinocchio_from_chart(
    model: pin.Model, chart: str, q: ArrayLike, qdot: ArrayLike
) -> tuple[Array, Array]:
    """Pinocchio's (q, v) of (q, qdot) in ``chart``."""
    state = chart_state(model, chart, q, qdot)
    R = state.chart.to_matrix(state.theta)
    omega_W = state.J_omega @ state.theta_dot
    v = np.concatenate([R.T @ state.qdot[:3], R.T @ omega_W, state.qdot[state.joints]])
    return pinocchio_configuration(state, state.q[:3]), v


def pinocchio_acceleration(
    model: pin.Model, chart: str, q: ArrayLike, qdot: ArrayLike, qddot: ArrayLike
) -> Array:
    """Pinocchio's dv/dt of the second derivative of q in ``chart``.

    v holds the base velocity in base axes: d(R^T dx/dt)/dt = R^T (d2x/dt2 - omega x dx/dt), while
    the angular part is R^T d(omega)/dt because omega x omega = 0.
    """
    state = chart_state(model, chart, q, qdot)
    qddot = check_vector("qddot", qddot, len(state.q))
    R = state.chart.to_matrix(state.theta)
    omega_W = state.J_omega @ state.theta_dot
    theta_ddot = qddot[3 : 3 + state.chart.size]
    alpha_W = state.J_omega @ theta_ddot + state.J_omega_dot @ state.theta_dot
    linear = R.T @ (qddot[:3] - np.cross(omega_W, state.qdot[:3]))
    return np.concatenate([linear, R.T @ alpha_W, qddot[state.joints]])


def pinocchio_configuration(state: ChartState, base_position: Array) -> Array:
    """Pinocchio's q of a chart's state, with the base at ``base_position``."""
    q = np.empty(state.model.nq)
    q[:3] = base_position
    q[3:7] = get_chart("quaternion").from_matrix(state.chart.to_matrix(state.theta))
    angles = state.q[state.joints]
    for joint in list(state.model.joints)[2:]:
        angle = angles[joint.idx_v - 6]
        own = (angle,) if joint.nq == 1 else (np.cos(angle), np.sin(angle))
        q[joint.idx_q : joint.idx_q + joint.nq] = own
    return q


def _base_rotation(q: Array) -> Array:
    quaternion = get_chart("quaternion")
    return quaternion.to_matrix(quaternion.project(q[3:7]))


def _check_model(model: pin.Model) -> None:
    check_floating_base(model)
    for name, joint in list(zip(model.names, model.joints, strict=True))[2:]:
        if joint.nv != 1:
            raise InputError(
                f"joint '{name}' of model '{model.name}' has {joint.nv} degrees of freedom; "
                "Bouyarmane2012 has revolute and prismatic joints only, so replace it by such"
            )
