"""What a robot's steps are measured by: times in 1 / omega, lengths in L, thigh plus shank.

All of it follows from the robot (:mod:`balance.robots.capability.steps`); the shares below are the
same for all robots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.dynamics.compiled import compiled
from balance.robots import Robot
from balance.robots.capability.body import at_rest, contact_joints, level_directions
from balance.robots.capability.legs import Leg, legs
from balance.robots.capability.steps import STEP_AZIMUTHS, left_and_right, step_numbers
from balance.robots.capability.usable import usable_ranges
from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]

SWING_LEAST, SWING_MOST = 0.5, 1.6  # / omega, of a foot in the air
PREPARE, LOAD, TRANSFER = 0.08, 0.05, 0.065  # / omega
SHIFT, CLOSE, CLOSE_PREPARE = 0.72, 1.44, 0.22  # / omega, where nothing hurries
FORE, NARROW = 0.69, 0.19  # of L, between the soles' centres
WIDE = 0.8  # of what stretched legs allow the soles' centres sideways
SPREAD = 0.9  # of how far a leg reaches level from its hip, which a landing may be beside it
AROUND = 0.85  # of the same, that a landing may be from below its hip to whatever side
GAP_M = 0.025  # between the edges of soles, at least
OUTWARDS, LONGER = 0.056, 1.05  # of L beyond the capture point sideways, and fore and aft
INWARDS = 0.075  # of L: by how much the capture point shall be inside of the foot
LIFT = 0.05  # of L
LOWERING = 0.35  # / omega, for which it goes down
LANDING = 0.04  # omega L, of a foot that touches down, at most
INSIDE = 0.25  # of a sole's half sides that a planned CoP keeps from its edges
SPEED_SHARE, ACCELERATION_SHARE = 1.2, 1.0  # of what a foot's drives allow
STRETCH = 0.965  # of L, from hip to ankle
LANDS_TILTED = 0.12  # rad of a sole, which it is laid flat by when the CoM comes after it
MOST_LEAN = 0.7  # rad, of a leg sideways
BORNE = 0.5  # of a sole's half length, to which a leg that bears a robot alone must do so
ABOUT = 0.5  # cosine between the axis of a joint and the one about which it counts as turning
DEEPEST = 0.1  # of the CoM's height, by which it may sink


@dataclass(frozen=True)
class StepSizes:
    """Lengths m, times s.  Pairs are of the left and the right foot, which are ``soles``.

    ``half`` (2, 2) are half sides of where a CoP is planned in a sole, ``nominal`` (2, 2) the
    places of the soles' centres from their middle and ``turns`` (2,) their yaw in the nominal
    posture, both from the robot's heading.  ``hips`` (2, 3) are places of the hips from the CoM,
    ``ankles`` (2, 3) those of ankles from their sole's centre, in the axes of the world in which it
    stands.  ``beside_hip`` is how far beside the CoM a foot may land.  ``height`` is that of the
    CoM, ``height_over`` that over the soles.  ``bears`` is whether each leg alone holds the robot.
    """

    soles: tuple[ContactSurface, ContactSurface]
    omega: float
    height: float
    height_over: float
    leg: float
    half: Array
    nominal: Array
    turns: Array
    hips: Array
    ankles: Array
    fore: float
    wide: float
    narrow: float
    beside_hip: float
    hip: float
    around_hip: float
    foot_speed: Array
    foot_acceleration: Array
    landing_speed: float
    bears: bool

    @property
    def width(self) -> float:
        """Distance of the soles' centres sideways as the robot stands."""
        return float(self.nominal[0, 1] - self.nominal[1, 1])

    @property
    def prepare(self) -> float:
        """Time in which a foot is unloaded."""
        return PREPARE / self.omega

    @property
    def load(self) -> float:
        """Time in which a foot that landed takes up its load."""
        return LOAD / self.omega

    @property
    def transfer(self) -> float:
        """Time in which the other foot gives off its load for the next step."""
        return TRANSFER / self.omega

    @property
    def swing(self) -> tuple[float, float]:
        """Least and longest time of a foot in the air."""
        return SWING_LEAST / self.omega, SWING_MOST / self.omega

    @property
    def shift(self) -> float:
        """Time in which the CoP goes over the foot that stays, where nothing hurries."""
        return SHIFT / self.omega

    @property
    def close(self) -> tuple[float, float]:
        """Time in which a foot is then unloaded, and for which it is in the air."""
        return CLOSE_PREPARE / self.omega, CLOSE / self.omega

    @property
    def lift(self) -> float:
        """Height of a foot on its way."""
        return LIFT * self.leg

    @property
    def lowering(self) -> float:
        """For how long a foot goes down, s."""
        return LOWERING / self.omega

    @cached_property
    def of_plan(self) -> PlanSizes:
        """Those that a plan needs."""
        return PlanSizes(
            omega=self.omega,
            load=self.load,
            leg=self.leg,
            width=self.width,
            fore=self.fore,
            wide=self.wide,
            narrow=self.narrow,
            beside_hip=self.beside_hip,
            hip=self.hip,
            around_hip=self.around_hip,
            half=self.half,
            azimuths=np.append(STEP_AZIMUTHS, 2.0 * np.pi),
            foot_speed=np.append(self.foot_speed, self.foot_speed[0]),
            foot_acceleration=np.append(self.foot_acceleration, self.foot_acceleration[0]),
        )

    @cached_property
    def for_plan(self) -> tuple[Any, ...]:
        """The same without names, by which Numba would look anew at each call, for microseconds."""
        return tuple(self.of_plan)


class PlanSizes(NamedTuple):
    """Sizes as :class:`StepSizes` has them, of feet's speed and acceleration all around."""

    omega: float
    load: float
    leg: float
    width: float
    fore: float
    wide: float
    narrow: float
    beside_hip: float
    hip: float
    around_hip: float
    half: Array
    azimuths: Array
    foot_speed: Array
    foot_acceleration: Array


@compiled
def foot_limits(sizes: PlanSizes, azimuth: float) -> tuple[float, float]:
    """Speed, m/s, relative to the CoM, and acceleration, m/s^2, that a swing foot may have."""
    angle = azimuth % (2.0 * np.pi)
    speed = np.interp(angle, sizes.azimuths, sizes.foot_speed)
    bend = np.interp(angle, sizes.azimuths, sizes.foot_acceleration)
    return float(speed), float(bend)


def can_step(robot: Robot) -> bool:
    """Whether a robot stands on two feet alone, with soles, and has legs with knees."""
    soles = robot.soles
    if len(soles) != 2 or not all(sole.is_foot and sole.has_area for sole in soles):
        return False
    return len(legs(robot, soles)) == 2


def step_sizes(robot: Robot) -> StepSizes:
    """The sizes of a robot that stands on two feet with legs."""
    numbers = step_numbers(robot)
    both = left_and_right(robot)
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    poses = [foot.pose(data) for foot in both]
    places = np.array([pose.translation for pose in poses])
    across = places[0, :2] - places[1, :2]
    # By the feet: not every base has its x axis ahead.
    heading = float(np.arctan2(-across[0], across[1]))
    along = level_directions(np.array([heading]))[0]
    turn = np.array([along, [-along[1], along[0]]])
    com, found = robot.com(), legs(robot, both)
    gravity = float(np.linalg.norm(robot.model.gravity.linear))
    L, omega = numbers.leg_length, float(np.sqrt(gravity / com[2]))
    width = float(turn[1] @ across)
    hips_apart = float(abs(numbers.hips[0, 1] - numbers.hips[1, 1]))
    drop = min(float(leg.hip[2] - leg.ankle[2]) for leg in found)
    lean = min(_side_lean(robot, foot, leg, along) for foot, leg in zip(both, found, strict=True))
    beside = min(SPREAD * numbers.spread, np.tan(lean + LANDS_TILTED) * drop)
    narrow = max(NARROW * L, both[0].half_width + both[1].half_width + GAP_M)
    half = np.array([[foot.half_length, foot.half_width] for foot in both])
    return StepSizes(
        soles=both,
        omega=omega,
        height=float(com[2]),
        height_over=float(com[2] - places[:, 2].mean()),
        leg=L,
        half=(1.0 - INSIDE) * half,
        nominal=(places[:, :2] - places[:, :2].mean(axis=0)) @ turn.T,
        turns=np.array([heading_of(pose.rotation) - heading for pose in poses]),
        hips=np.array([leg.hip - com for leg in found]),
        ankles=np.array([leg.ankle - place for leg, place in zip(found, places, strict=True)]),
        fore=FORE * L,
        wide=max(min(WIDE * numbers.widest, hips_apart + 2.0 * beside), width),
        beside_hip=0.5 * hips_apart + beside,
        hip=0.5 * hips_apart,
        around_hip=AROUND * numbers.spread,
        narrow=min(narrow, width),
        foot_speed=SPEED_SHARE * numbers.foot_speed,
        foot_acceleration=ACCELERATION_SHARE * numbers.foot_acceleration,
        landing_speed=min(numbers.landing_speed, LANDING * omega * L),
        bears=all(_bears(robot, foot) for foot in both),
    )


def _bears(robot: Robot, foot: ContactSurface) -> bool:
    """Whether drives hold the nominal posture on one foot, all over the middle half of its sole."""
    resting = at_rest(robot, robot.q_nominal, [foot])
    up = robot.mass * foot.pose(resting.data).rotation.T.dot(-robot.model.gravity.linear)
    for ahead in (-BORNE * foot.half_length, BORNE * foot.half_length):
        wrench = np.concatenate([up, np.cross([ahead, 0.0, 0.0], up)])
        torques = (resting.gravity - resting.J.T.dot(wrench))[6:]
        if (np.abs(torques) > robot.effort_limits).any():
            return False
    return True


def _side_lean(robot: Robot, foot: ContactSurface, leg: Leg, along: Array) -> float:
    """By what angle (rad) a leg can lean sideways with its sole flat and the base upright.

    That is what both the hip and the ankle can turn about the axis that points ahead, ``along``
    (2,).  A foot that lands farther out than that comes down on an edge.
    """
    lower, upper = usable_ranges(robot)
    nominal = robot.q_nominal[7:]
    room = np.minimum(upper - nominal, nominal - lower)
    data = robot.model.createData()
    axes = pin.computeJointJacobians(robot.model, data, robot.q_nominal)[3:, 6:]
    found = [0.0, 0.0]  # above and below the knee
    for joint in contact_joints(robot, [foot]):
        part = abs(float(along @ axes[:2, joint]))
        if part > ABOUT:
            found[int(joint + 2 > leg.knee)] += part * float(room[joint])
    return float(np.clip(min(found), 0.0, MOST_LEAN))


def ankles(robot: Robot, feet: Sequence[ContactSurface]) -> NDArray[np.intp]:
    """Numbers of the joints between the knees and ``feet``."""
    found = [
        joint
        for foot, leg in zip(feet, legs(robot, feet), strict=True)
        for joint in contact_joints(robot, [foot])
        if joint + 2 > leg.knee
    ]
    return np.array(found, dtype=np.intp)


def heading_of(rotation: Array) -> float:
    """Yaw of a frame, rad."""
    return float(np.arctan2(rotation[1, 0], rotation[0, 0]))
