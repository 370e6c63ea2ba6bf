"""The way of the setpoint from one static posture to the next: CoM, base, joints."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.setpoints import Desired
from balance.robots import Robot

Array = NDArray[np.float64]

COM_ACCELERATION = 0.3  # m/s^2, at most, of a CoM on its way: the CoP leads it by 3 cm on a human
BASE_RATE = 0.5  # rad/s
JOINT_RATE = 0.8  # rad/s
SHORTEST_S = 0.4
ROUNDING_S = 1e-9
PEAK_RATE, PEAK_BEND = 1.875, 5.774  # of the quintic from rest to rest, over 1 s and 1 m


class Quintic:
    """The polynomial from a state of motion to rest at ``end``, in ``duration`` s.

    From rest it is the path of least jerk.
    """

    def __init__(self, start: Array, rate: Array, bend: Array, end: Array, duration: float) -> None:
        T, way = duration, end - start
        self.duration = T
        v, a = rate * T, bend * T * T
        self._c = np.stack(
            [
                start,
                v,
                0.5 * a,
                10.0 * way - 6.0 * v - 1.5 * a,
                -15.0 * way + 8.0 * v + 1.5 * a,
                6.0 * way - 3.0 * v - 0.5 * a,
            ]
        )
        self._end, self._rest = end, np.zeros_like(end)

    def at(self, time: float) -> tuple[Array, Array, Array]:
        """Value and first two derivatives ``time`` s after the start."""
        if time >= self.duration:
            return self._end, self._rest, self._rest
        T = self.duration
        s = max(time, 0.0) / T
        c = self._c
        value = c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5]))))
        rate = c[1] + s * (2 * c[2] + s * (3 * c[3] + s * (4 * c[4] + s * 5 * c[5])))
        bend = 2 * c[2] + s * (6 * c[3] + s * (12 * c[4] + s * 20 * c[5]))
        return value, rate / T, bend / T**2


@dataclass(frozen=True)
class StaticPosture:
    """What of a posture a law is to reach: CoM (3,), base rotation (3, 3), its height, joints."""

    com: Array
    rotation: Array
    height: float
    joints: Array

    @classmethod
    def of(cls, robot: Robot, q: Array) -> StaticPosture:
        """That of a configuration of ``robot``."""
        rotation = pin.Quaternion(q[3:7]).matrix()
        return cls(robot.com(q), rotation, float(q[2]), q[7:].copy())

    def moved(self, offset: Array) -> StaticPosture:
        """The same, shifted by ``offset`` (3,) m."""
        height = self.height + float(offset[2])
        return StaticPosture(self.com + offset, self.rotation, height, self.joints)

    def over(self, other: StaticPosture) -> StaticPosture:
        """The same with its CoM over the place where that of ``other`` is, at the same height."""
        com = np.append(other.com[:2], self.com[2])
        return StaticPosture(com, self.rotation, self.height, self.joints)


class Course:
    """Where the setpoint is: at rest in a posture, or on its way to the next from where it was."""

    def __init__(self, posture: StaticPosture) -> None:
        self.goal, self.begin, self.duration = posture, 0.0, 0.0
        self._rotation = posture.rotation
        zero3, zero = np.zeros(3), np.zeros(len(posture.joints))
        self._com = Quintic(posture.com, zero3, zero3, posture.com, 1.0)
        self._turn = Quintic(zero3, zero3, zero3, zero3, 1.0)
        self._joints = Quintic(posture.joints, zero, zero, posture.joints, 1.0)
        height, level = np.array([posture.height]), np.zeros(1)
        self._height = Quintic(height, level, level, height, 1.0)

    def go(
        self,
        time: float,
        goal: StaticPosture,
        at_least: float = 0.0,
        anew: Mapping[int, float] | None = None,
    ) -> None:
        """Set out for ``goal`` at ``time``, for ``at_least`` s, or longer if that is gentler.

        Joints that bore a contact need not be where the posture has them: those of ``anew`` set out
        at rest from the angles that they have.
        """
        com, joints, height = (
            path.at(time - self.begin) for path in (self._com, self._joints, self._height)
        )
        joints = joints[0].copy(), joints[1].copy(), joints[2].copy()
        for number, angle in (anew or {}).items():
            joints[0][number], joints[1][number], joints[2][number] = angle, 0.0, 0.0
        turn, rate, bend = self._turn.at(time - self.begin)
        now = self._rotation @ pin.exp3(turn)
        # Rates of a rotation vector that is small, or turns about one axis, are those of the base.
        e = pin.log3(goal.rotation.T @ now)
        into = goal.rotation.T @ self._rotation
        T = gentle_duration(com[0], goal.com, e, goal.joints - joints[0])
        self.begin, self.goal, self.duration = time, goal, max(T, at_least)
        self._rotation = goal.rotation
        T = self.duration
        self._com = Quintic(*com, goal.com, T)
        self._turn = Quintic(e, into @ rate, into @ bend, np.zeros(3), T)
        self._joints = Quintic(*joints, goal.joints, T)
        self._height = Quintic(*height, np.array([goal.height]), T)

    @property
    def end(self) -> float:
        """When the setpoint is at its goal, s."""
        return self.begin + self.duration

    def at(self, time: float) -> Desired:
        """CoM and base that are wanted at ``time`` in s."""
        com, velocity, acceleration = self._com.at(time - self.begin)
        turn, rate, bend = self._turn.at(time - self.begin)
        rotation = self._rotation @ pin.exp3(turn)
        moving = time < self.end
        omega = rotation @ pin.Jexp3(turn) @ rate if moving else rate
        return Desired(
            com=com,
            com_velocity=velocity,
            com_acceleration=acceleration,
            quaternion=np.array(pin.Quaternion(rotation).coeffs()),
            rotation=rotation,
            angular_velocity=omega,
            angular_acceleration=self._rotation @ bend if moving else bend,
            moving=moving,
        )

    def joints_at(self, time: float) -> tuple[Array, Array, Array]:
        """Angles, rates and accelerations of the joints (nj,) that are wanted at ``time``."""
        return self._joints.at(time - self.begin)

    def height_at(self, time: float) -> float:
        """Height of the base that is planned at ``time``, m."""
        return float(self._height.at(time - self.begin)[0][0])


class SetpointTrack:
    """Where the setpoint was at every step of a run: events decide on it, not the clock alone."""

    def __init__(self, first: Desired) -> None:
        self._times, self._setpoints = [-math.inf], [first]

    def add(self, time: float, desired: Desired) -> None:
        """Keep the setpoint of a step."""
        self._times.append(time)
        self._setpoints.append(desired)

    def at(self, time: float) -> Desired:
        """That of the last step before or at ``time`` in s."""
        return self._setpoints[bisect_right(self._times, time + ROUNDING_S) - 1]


def gentle_duration(com: Array, com_goal: Array, turn: Array, joints: Array) -> float:
    """Time (s) for a way that keeps the CoM's acceleration and all rates within their bounds."""
    return max(
        SHORTEST_S,
        math.sqrt(PEAK_BEND * float(np.linalg.norm(com_goal - com)) / COM_ACCELERATION),
        PEAK_RATE * float(np.linalg.norm(turn)) / BASE_RATE,
        PEAK_RATE * float(np.abs(joints).max(initial=0.0)) / JOINT_RATE,
    )
