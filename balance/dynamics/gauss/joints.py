"""Joints in a rotation chart: angles, ball joints and free objects (Bouyarmane2012 VII).

The paper has revolute and prismatic joints, and proposes two more things for which its framework is
made: a ball joint has the chart's d coordinates in place of three, with their own constraint, and a
free object is a second base without motors, so that robot and object are one system.  Both have
more rates than Pinocchio has velocities; a matrix E takes the former to the latter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import pinocchio as pin

from balance.dynamics.checks import Array
from balance.errors import InputError
from balance.rotations import (
    Chart,
    angular_velocity_jacobian,
    angular_velocity_jacobian_rate,
    get_chart,
    skew,
)


class Kind(Enum):
    """What a joint's coordinates are."""

    ANGLE = "one angle or one length"
    BALL = "coordinates of a rotation"
    FREE = "position and coordinates of a rotation"


@dataclass(frozen=True, slots=True)
class JointPart:
    """One joint other than the base: its entries in the chart's q, and in Pinocchio's q and v."""

    joint: int
    kind: Kind
    own: slice
    q: slice
    v: slice

    @property
    def rotation(self) -> slice | None:
        """Where its rotation coordinates are in the chart's q."""
        if self.kind is Kind.ANGLE:
            return None
        first = self.own.start + (3 if self.kind is Kind.FREE else 0)
        return slice(first, self.own.stop)


def is_plain(model: pin.Model) -> bool:
    """Whether every joint but the base has one coordinate, the same in Pinocchio and any chart."""
    return bool(model.njoints - 2 == model.nv - 6 and model.nq == model.nv + 1)


def joint_parts(model: pin.Model, chart: Chart) -> tuple[JointPart, ...]:
    """The joints beyond the base, in Pinocchio's order."""
    parts, start = [], 3 + chart.size
    sizes = {Kind.ANGLE: 1, Kind.BALL: chart.size, Kind.FREE: 3 + chart.size}
    # Whole lists: asking the model joint by joint costs more than the rest.
    places = zip(*map(list, (model.idx_qs, model.nqs, model.idx_vs, model.nvs)), strict=True)
    for index, (idx_q, nq, idx_v, nv) in enumerate(places):
        if index < 2:
            continue
        kind = Kind.ANGLE if nv == 1 else _kind(model, model.names[index], model.joints[index])
        own = slice(start, start + sizes[kind])
        parts.append(
            JointPart(index, kind, own, slice(idx_q, idx_q + nq), slice(idx_v, idx_v + nv))
        )
        start = own.stop
    return tuple(parts)


def _kind(model: pin.Model, name: str, joint: pin.JointModel) -> Kind:
    kinds = {"JointModelSpherical": Kind.BALL, "JointModelFreeFlyer": Kind.FREE}
    if joint.shortname() in kinds:
        return kinds[joint.shortname()]
    raise InputError(
        f"joint '{name}' of model '{model.name}' is a {joint.shortname()} with {joint.nv} degrees "
        "of freedom; revolute, prismatic, spherical and free joints have coordinates in a chart, "
        "so replace it by such"
    )


def to_world(model: pin.Model, joint: int, R: Array, x: Array) -> tuple[Array, Array]:
    """Rotation and position of a free joint in the chart, of those that Pinocchio has.

    Free joints on the world have world coordinates, x_0 and theta_0 of the paper, whatever their
    placement; those on a link are relative to it, as Pinocchio has them.
    """
    placement = model.jointPlacements[joint]
    if model.parents[joint] > 0 or placement.isIdentity(0.0):
        return R, x
    return placement.rotation @ R, placement.act(x)


def from_world(model: pin.Model, joint: int, R: Array, x: Array) -> tuple[Array, Array]:
    """The inverse of :func:`to_world`."""
    placement = model.jointPlacements[joint]
    if model.parents[joint] > 0 or placement.isIdentity(0.0):
        return R, x
    return placement.rotation.T @ R, placement.actInv(x)


def chart_of_joints(model: pin.Model, chart: Chart, q: Array, v: Array) -> tuple[Array, Array]:
    """Joint coordinates and their rates in ``chart``, of Pinocchio's (q, v)."""
    if is_plain(model):
        return q[7:], v[6:]
    coordinates, rates = [np.zeros(0)], [np.zeros(0)]
    quaternion = get_chart("quaternion")
    for part in joint_parts(model, chart):
        own, velocity = q[part.q], v[part.v]
        if part.kind is Kind.ANGLE:
            # A continuous joint stores the cosine and sine of its angle.
            angle = own if len(own) == 1 else np.array([np.arctan2(own[1], own[0])])
            coordinates.append(angle)
            rates.append(velocity)
            continue
        R = quaternion.to_matrix(quaternion.project(own[-4:]))
        if part.kind is Kind.FREE:
            R, x = to_world(model, part.joint, R, own[:3])
            coordinates.append(x)
            rates.append(R @ velocity[:3])
        theta = chart.from_matrix(R)
        coordinates.append(theta)
        rates.append(chart.inverse_rate_map(theta) @ (R @ velocity[-3:]))
    return np.concatenate(coordinates), np.concatenate(rates)


def pinocchio_joints(model: pin.Model, chart: Chart, q: Array, out: Array, shift: Array) -> None:
    """Write Pinocchio's joint coordinates of the chart's ``q`` into ``out`` (nq,).

    Objects on the world are moved by ``shift``.
    """
    if is_plain(model):
        out[7:] = q[3 + chart.size :]
        return
    for part in joint_parts(model, chart):
        own = q[part.own]
        if part.kind is Kind.ANGLE:
            angle = own[0]
            out[part.q] = own if out[part.q].size == 1 else (np.cos(angle), np.sin(angle))
            continue
        R = chart.to_matrix(own[-chart.size :])
        if part.kind is Kind.FREE:
            moved = own[:3] + shift if model.parents[part.joint] == 0 else own[:3]
            R, out[part.q][:3] = from_world(model, part.joint, R, moved)
        out[part.q][-4:] = get_chart("quaternion").from_matrix(R)


def joint_rate_map(
    chart: Chart, parts: Sequence[JointPart], q: Array, qdot: Array
) -> tuple[Array, Array] | None:
    """E (nv - 6, n_j) and dE/dt with joint velocities = E (rates of the joint coordinates).

    None where E is the identity, for joints that are all angles.  A rotation R has the velocity
    R^T J_omega dtheta/dt in the axes of its link, as Pinocchio has it, and a position R^T dx/dt.
    """
    if all(part.kind is Kind.ANGLE for part in parts):
        return None
    first_q, first_v = parts[0].own.start, parts[0].v.start
    E = np.zeros((parts[-1].v.stop - first_v, parts[-1].own.stop - first_q))
    E_dot = np.zeros_like(E)
    for part in parts:
        rows = slice(part.v.start - first_v, part.v.stop - first_v)
        columns = slice(part.own.start - first_q, part.own.stop - first_q)
        if part.kind is Kind.ANGLE:
            E[rows, columns] = 1.0
            continue
        theta, theta_dot = q[part.rotation], qdot[part.rotation]
        R_T = chart.to_matrix(theta).T
        J_omega = angular_velocity_jacobian(chart, theta)
        spin = skew(J_omega @ theta_dot)
        turn = slice(rows.stop - 3, rows.stop), slice(columns.stop - chart.size, columns.stop)
        E[turn] = R_T @ J_omega
        rate = angular_velocity_jacobian_rate(chart, theta, theta_dot)
        E_dot[turn] = R_T @ (rate - spin @ J_omega)
        if part.kind is Kind.FREE:
            move = slice(rows.start, rows.start + 3), slice(columns.start, columns.start + 3)
            E[move], E_dot[move] = R_T, -R_T @ spin
    return E, E_dot


def actuated_velocities(parts: Sequence[JointPart]) -> Array:
    """Indices of the joint velocities (from 0, without the base's) that have a motor."""
    indices = [
        np.arange(part.v.start - 6, part.v.stop - 6) for part in parts if part.kind is not Kind.FREE
    ]
    return np.concatenate([np.zeros(0, dtype=int), *indices])
