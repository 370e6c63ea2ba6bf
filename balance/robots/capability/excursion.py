"""How far a robot can lean: the largest excursion B delta to a direction.

The excursion is a linear function of base rotation and free joints
(:mod:`balance.robots.capability.flywheel`).  Its largest value over the postures in which contacts
stay, the CoM stays over its point and no higher than it was, joints stay in their ranges and bodies
do not touch, is sought by continuation from the nominal posture: each step is a linear programme on
the linearised conditions, within a trust region.  Straight knees end it by themselves, for there no
step keeps both feet on the ground; knees that could bend the other way do not.  What it finds is a
local maximum, for bodies get in each other's way: long steps and short ones find different ones.

The CoM may sink by ``CROUCH`` of its height: far legs reach further that way, and laws do it.  The
base may tilt by ``MOST_TILT_RAD``, from which on a robot counts as fallen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots import Robot
from balance.robots.capability.body import RestingBody, at_rest, contact_joints
from balance.robots.capability.flywheel import (
    MomentumMap,
    carries_a_foot,
    momentum_map,
    turning_axis,
)
from balance.robots.capability.legs import bent_knees
from balance.robots.contacts import ContactSurface
from balance.robots.shapes.proximity import Near, Proximity

Array = NDArray[np.float64]

CROUCH = 0.1
MOST_TILT_RAD = math.radians(60.0)
STEP_RAD = 0.12  # largest turn of a joint in a step
SMALLEST_STEP_RAD = 2e-3
GROWTH = 1.5  # of the trust region after a step that holds what it promised
SINK_M = 0.05  # most that the CoM sinks in a step
MOST_STEPS = 100
GAIN = 1e-3  # an excursion that grows by less in a full step is the largest
GAP_M = 1e-3  # that a step leaves between bodies to first order
OVERLAP_M = 2e-3  # deepest that bodies may overlap after a step, which nothing passes unseen
WIDER = 20.0  # bodies are watched from 20 margins of the world's contacts on
CORRECTIONS = 2  # of contacts and CoM after a step
MISPLACED = 0.02  # m or rad; with contacts, CoM or joints further off the step was too long


@dataclass(frozen=True)
class Excursion:
    """The furthest lean to a direction: ``turn`` (3,) = B delta in kg m^2, at the posture ``q``.

    ``value`` is its part to that direction.
    """

    value: float
    turn: Array
    q: Array


def largest_excursion(
    robot: Robot,
    direction: Array,
    contacts: Sequence[ContactSurface] | None = None,
    *,
    crouch: float = CROUCH,
    step: float = STEP_RAD,
) -> Excursion:
    """How far ``robot`` can lean to a level ``direction`` (2,), arms and waist included.

    ``crouch`` is the share of its height by which the CoM may sink, ``step`` (rad) the largest
    turn of a joint in a step of the search.
    """
    return _Search(robot, direction, contacts, crouch).run(step)


class _Search:
    """One continuation: the conditions at a posture, the step, and its acceptance."""

    def __init__(
        self,
        robot: Robot,
        direction: Array,
        contacts: Sequence[ContactSurface] | None,
        crouch: float,
    ) -> None:
        self.robot, self.model = robot, robot.model
        self.contacts = robot.soles if contacts is None else tuple(contacts)
        self.map: MomentumMap = momentum_map(robot, self.contacts)
        self.weights = turning_axis(direction) @ self.map.B
        start = at_rest(robot, robot.q_nominal, self.contacts)
        self.com, self.lowest = start.com, (1.0 - crouch) * start.com[2]
        self.poses = [contact.pose(start.data).copy() for contact in self.contacts]
        self.R_start = pin.Quaternion(robot.q_nominal[3:7]).matrix()
        self.near = Proximity(robot, wider=WIDER)
        idle = carries_a_foot(robot)[self.map.free]
        self.following = np.append(np.arange(6), 6 + contact_joints(robot, self.contacts))
        self.lower, self.upper = bent_knees(robot, [s for s in self.contacts if s.is_foot])
        self.fixed = self.map.free[idle]  # a lifted leg stays as it is

    def run(self, longest: float) -> Excursion:
        body, value, size = at_rest(self.robot, self.robot.q_nominal, self.contacts), 0.0, longest
        for _ in range(MOST_STEPS):
            step = self._step(body, size)
            new = None if step is None else self._corrected(body.q, step)
            if new is None or (reached := self.value(new.q)) <= value:
                size *= 0.5
                if size < SMALLEST_STEP_RAD:
                    break
                continue
            done = reached - value < GAIN * reached * size / STEP_RAD
            body, value, size = new, reached, min(GROWTH * size, longest)
            if done:
                break
        return Excursion(value, self.map.B @ self._delta(body.q), body.q)

    def _corrected(self, q: Array, step: Array) -> RestingBody | None:
        """The body after a step, contacts and CoM put right; None if the step was too long."""
        q = pin.integrate(self.model, q, step)
        for _ in range(CORRECTIONS):
            body = at_rest(self.robot, q, self.contacts)
            rows, wrong = self._places(body)
            columns = rows[:, self.following]
            move = np.zeros(self.model.nv)
            move[self.following] = np.linalg.lstsq(columns, wrong, rcond=None)[0]
            q = pin.integrate(self.model, q, move)
        body = at_rest(self.robot, q, self.contacts)
        overlap = -min((pair.distance for pair in self._pairs(body)), default=0.0)
        beyond = np.maximum(q[7:] - self.upper, self.lower - q[7:])
        tilted = math.acos(min(1.0, float(body.data.oMi[1].rotation[2, 2]))) - MOST_TILT_RAD
        misplaced = max(tilted, float(beyond.max()), float(np.abs(self._places(body)[1]).max()))
        return None if overlap > OVERLAP_M or misplaced > MISPLACED else body

    def _places(self, body: RestingBody) -> tuple[Array, Array]:
        """Rows of contacts and CoM, and what would bring them back to their places."""
        rows = np.vstack([body.J, body.A[:2] / self.robot.mass])
        return rows, np.append(self._contact_errors(body), (self.com - body.com)[:2])

    def value(self, q: Array) -> float:
        """B delta along the axis at ``q``."""
        return float(self.weights @ self._delta(q))

    def _delta(self, q: Array) -> Array:
        theta = pin.log3(self.R_start.T @ pin.Quaternion(q[3:7]).matrix())
        return np.append(theta, (q - self.robot.q_nominal)[7:][self.map.free])

    def _step(self, body: RestingBody, size: float) -> Array | None:
        """The best step (nv,) within the trust region; None if no step keeps the conditions."""
        from scipy.optimize import linprog  # slow to import

        gain = np.zeros(self.model.nv)
        R = self.R_start.T @ body.data.oMi[1].rotation
        gain[3:6] = self.weights[:3] @ pin.Jlog3(R)
        gain[6 + self.map.free] = self.weights[3:]
        com = body.A[:3] / self.robot.mass
        places, wrong = self._places(body)
        rows, bounds = self._gaps(body)
        tilting, upright = self._tilting(body)
        rows = np.vstack([com[2:], -com[2:], tilting, rows])
        sink = min(body.com[2] - self.lowest, SINK_M)
        bounds = np.concatenate([[self.com[2] - body.com[2], max(sink, 0.0), upright], bounds])
        bounds[0] = max(bounds[0], -SINK_M)
        found = linprog(
            -gain,
            A_ub=rows,
            b_ub=bounds,
            A_eq=places,
            b_eq=wrong,
            bounds=[(None, None)] * 6 + self._joint_steps(body.q, size),
            method="highs",
        )
        return np.asarray(found.x) if found.status == 0 else None

    def _tilting(self, body: RestingBody) -> tuple[Array, float]:
        """How the cosine of the base's tilt shrinks with coordinates (nv,), and how far it may."""
        upwards = body.data.oMi[1].rotation[2]
        row = np.zeros(self.model.nv)
        row[3:5] = upwards[1], -upwards[0]
        return row, float(upwards[2]) - math.cos(MOST_TILT_RAD)

    def _contact_errors(self, body: RestingBody) -> Array:
        """What would bring each contact back to its place, of what it holds."""
        errors = []
        for contact, pose in zip(self.contacts, self.poses, strict=True):
            error = pin.log6(contact.pose(body.data).actInv(pose)).vector
            if not contact.has_area:
                R_WS = contact.pose(body.data).rotation
                R_CS = contact.axes(R_WS).T @ R_WS
                error = (R_CS @ error.reshape(2, 3).T).T.ravel()[list(contact.held)]
                error[3:] = 0.0  # about its points the body may have turned
            errors.append(error)
        return np.concatenate(errors)

    def _joint_steps(self, q: Array, size: float) -> list[tuple[float, float]]:
        lower = np.maximum(self.lower - q[7:], -size)
        upper = np.minimum(self.upper - q[7:], size)
        lower, upper = np.minimum(lower, size), np.maximum(upper, -size)
        lower[self.fixed] = upper[self.fixed] = 0.0
        return list(zip(lower.tolist(), upper.tolist(), strict=True))

    def _gaps(self, body: RestingBody) -> tuple[Array, Array]:
        """Rows and bounds that keep near bodies apart."""
        near = self._pairs(body)
        rows = [-self._approach(body, pair) for pair in near]
        bounds = [max(pair.distance - GAP_M, -OVERLAP_M) for pair in near]
        return np.array(rows).reshape(-1, self.model.nv), np.array(bounds)

    def _pairs(self, body: RestingBody) -> list[Near]:
        return self.near.contacts(body.q, body.data)

    def _approach(self, body: RestingBody, pair: Near) -> Array:
        """How the distance of two bodies changes with each coordinate (nv,)."""
        return np.asarray(
            pair.normal @ (self._at(body, pair, pair.i) - self._at(body, pair, pair.j))
        )

    def _at(self, body: RestingBody, pair: Near, shape: int) -> Array:
        """Jacobian (3, nv) of the point of a shape that is nearest to the other."""
        joint = self.near.shapes[shape].joint
        frame = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        J = pin.getJointJacobian(self.model, body.data, joint, frame)
        lever = pair.point - body.data.oMi[joint].translation
        return np.asarray(J[:3] - pin.skew(lever) @ J[3:])
