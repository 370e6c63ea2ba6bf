"""The body as a flywheel: angular momentum from rotations of the base and of the free joints.

With the contacts at rest and the CoM where it is, the angular momentum about the CoM is

    l = B ddelta/dt,      delta = (theta, s_f - s_f,nominal),

theta the base's rotation vector in the axes of its desired orientation and s_f the joints that bear
no contact; the joints that do follow from the contacts.  B is taken in the nominal posture.
Angular momentum has no integral (Saccon2017): lambda = B delta is its integral to first order, the
excursion that is used up.

A level excursion or momentum *to* a direction e turns the body the way a fall to e would, about the
axis z x e.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.config.actuators import SpeedTorqueConfig
from balance.robots import Robot
from balance.robots.capability.body import RestingBody, at_rest, contact_joints
from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]

TOP_SPEED = SpeedTorqueConfig().none_from
"""Largest speed to which drives bring a joint, in units of its rated one."""


@dataclass(frozen=True)
class MomentumMap:
    """``B`` (3, n) in kg m^2, and ``free`` (n - 3,), the indices of the joints in delta."""

    B: Array
    free: NDArray[np.intp]


def momentum_map(robot: Robot, contacts: Sequence[ContactSurface] | None = None) -> MomentumMap:
    """B of a robot in its nominal posture, on its soles or on other contacts."""
    contacts = robot.soles if contacts is None else contacts
    bearing = contact_joints(robot, contacts)
    free = np.setdiff1d(np.arange(robot.model.nv - 6), bearing)
    return MomentumMap(_map(at_rest(robot, robot.q_nominal, contacts), bearing, free), free)


def _map(body: RestingBody, bearing: NDArray[np.intp], free: NDArray[np.intp]) -> Array:
    """B at the state of ``body``, from the conditions on contacts, CoM and base as linear rows."""
    nv = len(body.M)
    turning = np.zeros((3, nv))
    turning[:, 3:6] = np.eye(3)
    conditions = np.concatenate([body.J, body.A[:3], turning])
    following = np.concatenate([np.arange(6), 6 + bearing])
    inverse = np.linalg.pinv(conditions[:, following])
    motion = np.zeros((nv, 3 + len(free)))
    motion[6 + free, np.arange(3, 3 + len(free))] = 1.0
    wanted = np.zeros((len(conditions), 3 + len(free)))
    wanted[-3:, :3] = np.eye(3)
    motion[following] = inverse.dot(wanted - conditions.dot(motion))
    return np.asarray(body.A[3:].dot(motion))


def carries_a_foot(robot: Robot) -> NDArray[np.bool_]:
    """Which joints (nj,) lie between the base and a foot: a lifted leg is no arm to swing."""
    carries = np.zeros(robot.model.nv - 6, dtype=bool)
    carries[contact_joints(robot, [s for s in robot.surfaces if s.is_foot])] = True
    return carries


def momentum_bound(
    robot: Robot, direction: Array, contacts: Sequence[ContactSurface] | None = None
) -> float:
    """Largest angular momentum (kg m^2/s) to ``direction`` (2,) that the joints' speeds allow.

    A linear programme over velocities: contacts and CoM at rest, joints within ``TOP_SPEED`` times
    their rated speed.
    """
    from scipy.optimize import linprog  # slow to import

    contacts = robot.soles if contacts is None else contacts
    body = at_rest(robot, robot.q_nominal, contacts)
    fastest = TOP_SPEED * robot.rated_speeds
    found = linprog(
        -turning_axis(direction) @ body.A[3:],
        A_eq=np.vstack([body.J, body.A[:3] / robot.mass]),
        b_eq=np.zeros(len(body.J) + 3),
        bounds=[(None, None)] * 6 + [(-speed, speed) for speed in fastest],
        method="highs",
    )
    return -float(found.fun)


def turning_axis(direction: Array) -> Array:
    """The axis z x e (3,) about which a fall to ``direction`` e (2,) turns."""
    return np.array([-direction[1], direction[0], 0.0])
