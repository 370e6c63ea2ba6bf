"""States in a rotation chart, q = (x_0, theta_0, joint angles), and Pinocchio's (q, v).

Order of a chart's state: base position x_0 in world axes (3, m), the coordinates theta_0 of the
base rotation R_WB in the chart's own order (``Chart.coordinates``: z, y, x for "euler_zyx";
x, y, z, w for "quaternion"; R.ravel(), row by row, for "rotation_matrix"), then the joints in
Pinocchio's order: one coordinate each, but the d coordinates of its rotation for a ball joint, and
position and rotation for a free object.  qdot is its plain time derivative; Bouyarmane2012 (1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import (
    Array,
    check_free_flyer,
    check_free_flyer_state,
    check_vector,
)
from balance.dynamics.gauss.joints import (
    JointPart,
    chart_of_joints,
    from_world,
    is_plain,
    joint_parts,
    joint_rate_map,
    pinocchio_joints,
    to_world,
)
from balance.errors import ChartError
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
    rate_map: tuple[Array, Array] | None
    """E and dE/dt of the joints' coordinates, see ``gauss_joints``; None if all are angles."""

    @property
    def parts(self) -> tuple[JointPart, ...]:
        """The joints beyond the base, in Pinocchio's order."""
        return joint_parts(self.model, self.chart)

    @property
    def joint_velocities(self) -> Array:
        """Pinocchio's joint velocities, shape (nv - 6,)."""
        rates = self.qdot[self.joints]
        return rates if self.rate_map is None else self.rate_map[0] @ rates

    @property
    def rotations(self) -> list[slice]:
        """Where rotation coordinates are in q: of the base, of ball joints and of objects."""
        return rotation_slices(self.chart, () if self.rate_map is None else self.parts)

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
    check_free_flyer(model)
    parts = () if is_plain(model) else joint_parts(model, coordinates)
    size = parts[-1].own.stop if parts else coordinates.size + model.nv - 3
    q, qdot = check_vector("q", q, size).copy(), check_vector("qdot", qdot, size).copy()
    for where in rotation_slices(coordinates, parts):
        _check_rotation(coordinates, where, q, qdot)
    theta, theta_dot = q[3 : 3 + coordinates.size], qdot[3 : 3 + coordinates.size]
    return ChartState(
        model,
        coordinates,
        q,
        qdot,
        angular_velocity_jacobian(coordinates, theta),
        angular_velocity_jacobian_rate(coordinates, theta, theta_dot),
        joint_rate_map(coordinates, parts, q, qdot),
    )


def rotation_slices(chart: Chart, parts: Sequence[JointPart]) -> list[slice]:
    """Where rotation coordinates are in q, the base's first."""
    others = (part.rotation for part in parts)
    return [slice(3, 3 + chart.size), *(where for where in others if where is not None)]


def chart_from_pinocchio(
    model: pin.Model, chart: str, q: ArrayLike, v: ArrayLike
) -> tuple[Array, Array]:
    """(q, qdot) in ``chart`` of Pinocchio's (q, v)."""
    coordinates = get_chart(chart)
    q, v = check_free_flyer_state(model, q, v)
    R, x_0 = to_world(model, 1, _base_rotation(q), q[:3])
    theta = coordinates.from_matrix(R)
    theta_dot = coordinates.inverse_rate_map(theta) @ (R @ v[3:6])
    joints, rates = chart_of_joints(model, coordinates, q, v)
    return (
        np.concatenate([x_0, theta, joints]),
        np.concatenate([R @ v[:3], theta_dot, rates]),
    )


def pinocchio_from_chart(
    model: pin.Model, chart: str, q: ArrayLike, qdot: ArrayLike
) -> tuple[Array, Array]:
    """Pinocchio's (q, v) of (q, qdot) in ``chart``."""
    state = chart_state(model, chart, q, qdot)
    R = state.chart.to_matrix(state.theta)
    omega_W = state.J_omega @ state.theta_dot
    v = np.concatenate([R.T @ state.qdot[:3], R.T @ omega_W, state.joint_velocities])
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
    joints = qddot[state.joints]
    if state.rate_map is not None:
        E, E_dot = state.rate_map
        joints = E @ joints + E_dot @ state.qdot[state.joints]
    return np.concatenate([linear, R.T @ alpha_W, joints])


def pinocchio_configuration(state: ChartState, base_position: Array) -> Array:
    """Pinocchio's q of a chart's state moved so that the base is at ``base_position``."""
    q = np.empty(state.model.nq)
    R = state.chart.to_matrix(state.theta)
    R, q[:3] = from_world(state.model, 1, R, base_position)
    q[3:7] = get_chart("quaternion").from_matrix(R)
    shift = base_position - state.q[:3]
    pinocchio_joints(state.model, state.chart, state.q, q, shift)
    return q


def _base_rotation(q: Array) -> Array:
    quaternion = get_chart("quaternion")
    return quaternion.to_matrix(quaternion.project(q[3:7]))


def _check_rotation(chart: Chart, where: slice, q: Array, qdot: Array) -> None:
    """Raise if rotation coordinates are invalid or singular, or leave their constraint."""
    theta, theta_dot = q[where], qdot[where]
    chart.inverse_rate_map(theta)  # refuses coordinates that are invalid or singular
    leak = np.abs(chart.constraint_rows(theta) @ theta_dot).max(initial=0.0)
    if leak > _RATE_TOLERANCE * (1.0 + np.linalg.norm(theta_dot)):
        raise ChartError(
            f"qdot[{where.start}:{where.stop}] moves the {chart.name} off its constraint at a rate "
            f"of {leak:.3g}; it must be tangent, as chart_from_pinocchio() makes it"
        )
