"""How far a robot is in a phase, from what is measured, and what the phase still waits for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config.phases import UntilConfig
from balance.control.phases.course import StaticPosture
from balance.robots import Robot
from balance.robots.same_body import SharedCorners

Array = NDArray[np.float64]

NEAR_M, SLOW = 0.02, 0.05  # m and m/s: a CoM that follows its setpoint, before a contact opens
OFF_SHARE = 0.02  # of the weight: a contact that bears less may open
TOUCH_SHARE = 0.02  # of the weight: a limb that bears more has touched, if a phase does not say


class Measured:
    """The robot as it is measured: state, wrenches of its contacts, and what follows from them."""

    def __init__(self, robot: Robot, weight: float) -> None:
        """``robot`` has all surfaces that ever bear as its contacts; ``weight`` in N."""
        self._robot, self._weight = robot, weight
        self._data = robot.model.createData()
        self._surfaces = {surface.name: surface for surface in robot.surfaces}
        self._number = {surface.name: index for index, surface in enumerate(robot.soles)}
        self._normal = np.zeros(len(robot.soles))
        self._shared, self._other = SharedCorners(robot), robot.model.createData()

    def see(self, q: Array, v: Array, wrenches: Array, wanted: Array) -> None:
        """Take a state and the wrenches (k, 6) of contacts, of which some are ``wanted`` (k,)."""
        self.q = q
        pin.centerOfMass(self._robot.model, self._data, q, v)
        pin.updateFramePlacements(self._robot.model, self._data)
        self._normal = self._shared.attribute(self._data, wrenches, wanted)[:, 2]

    def attributed(self, q: Array, wrenches: Array, wanted: Array) -> Array:
        """Wrenches (k, 6) at ``q`` as those of the contacts that are ``wanted`` (k,)."""
        if self._shared.pairs:
            pin.framesForwardKinematics(self._robot.model, self._other, q)
        return self._shared.attribute(self._other, wrenches, wanted)

    def pose_at(self, surface: str, q: Array) -> pin.SE3:
        """Where a surface is in another configuration."""
        pin.framesForwardKinematics(self._robot.model, self._other, q)
        return self._surfaces[surface].pose(self._other)

    def pose(self, surface: str) -> pin.SE3:
        """Where a surface is in the world."""
        return self._surfaces[surface].pose(self._data)

    def force(self, surface: str) -> float:
        """Normal force of a contact, N."""
        return float(self._normal[self._number[surface]])

    def height(self, surface: str, plane: pin.SE3) -> float:
        """Height of the highest corner of a surface over a plane, m."""
        local = plane.actInv(self.pose(surface))
        return float(max(local.act(corner)[2] for corner in self._surfaces[surface].corners))

    def is_off(self, surface: str) -> bool:
        """Whether a contact bears next to nothing."""
        return self.force(surface) <= OFF_SHARE * self._weight

    def follows(self, posture: StaticPosture) -> bool:
        """Whether the CoM has come to where ``posture`` has it."""
        away, speed = self._data.com[0] - posture.com, self._data.vcom[0]
        return bool(away.dot(away) < NEAR_M**2 and speed.dot(speed) < SLOW**2)

    def touches(self, surface: str, goal: pin.SE3, until: UntilConfig | None) -> bool:
        """Whether a limb on its way to ``goal`` has met something there."""
        force, height = TOUCH_SHARE * self._weight, -math.inf
        if until is not None and (until.touchdown_N or until.touchdown_m):
            force = math.inf if until.touchdown_N is None else until.touchdown_N
            height = -math.inf if until.touchdown_m is None else until.touchdown_m
        return self.force(surface) >= force or self.height(surface, goal) <= height

    def offset(self, placements: Mapping[str, pin.SE3]) -> Array:
        """How far surfaces are, on the average, from where they were planned (3,), m."""
        away = [self.pose(name).translation - X.translation for name, X in placements.items()]
        return np.mean(away, axis=0) if away else np.zeros(3)

    def unmet(
        self,
        until: UntilConfig,
        goal: StaticPosture,
        kept: Sequence[str],
        bearing: Sequence[str],
    ) -> list[str]:
        """Which conditions on load and posture are not met, in words.

        ``kept`` are those of the contacts that are ``bearing`` which bear in the next phase too.
        """
        found = []
        if until.loaded is not None:
            total = sum(self.force(name) for name in bearing)
            share = sum(self.force(name) for name in kept) / max(total, 1e-9)
            if share < until.loaded:
                names = " and ".join(f"the {name}" for name in kept)
                found.append(f"{names} bear {share:.2f} of the load, less than {until.loaded:g}")
        if until.com_m is not None:
            away = float(np.linalg.norm(self._data.com[0] - goal.com))
            if away > until.com_m:
                found.append(f"the CoM is {away:.3f} m from its goal, more than {until.com_m:g} m")
        if until.joints_rad is not None:
            errors = np.abs(self.q[7:] - goal.joints)
            worst = int(errors.argmax())
            if errors[worst] > until.joints_rad:
                found.append(
                    f"the joint {self._robot.joint_names[worst]} is {errors[worst]:.3f} rad from "
                    f"its goal, more than {until.joints_rad:g} rad"
                )
        return found


def longest_s(until: UntilConfig | None) -> float:
    """The time (s) after which a phase that ends so has failed."""
    return math.inf if until is None or until.timeout_s is None else until.timeout_s
