"""What a biped's legs allow a step to be: how far, how fast, how soon, where.

Speeds and accelerations of the swing foot are linear programmes in the nominal posture on the other
foot; distances follow from the lengths of the legs.  L is thigh plus shank, omega the pendulum's
rate.  The few shares that are no property of the robot were found to work on one in simulation, and
are named below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.errors import RobotError
from balance.robots import Robot
from balance.robots.capability.body import at_rest, contact_joints, level_directions
from balance.robots.capability.excursion import CROUCH
from balance.robots.capability.flywheel import TOP_SPEED
from balance.robots.capability.legs import legs
from balance.robots.capability.programme import TorqueProgramme
from balance.robots.contacts import ContactSurface
from balance.robots.support_polygon import feet

Array = NDArray[np.float64]

STRETCH = 0.965  # of its length, that a leg may be stretched to
LIFT = 0.04  # of L, the least height of a foot on its way
LEAST_RISE = 1e-9  # m/s^2: of a foot that cannot rise, whose zero may come out negative
PREPARE = 0.11  # / omega, from the push until the foot is off the ground
LOAD = 0.05  # / omega, from touch-down until the foot bears the robot
CLEARANCE_M = 0.01  # between the edges of the feet
STEP_AZIMUTHS = np.arange(8) * np.pi / 4


@dataclass(frozen=True)
class StepNumbers:
    """What a step can be; lengths in m, times in s, in the axes of the world in which it stands.

    ``feet`` and ``hips`` (2, 2) are the places of soles and hips from the CoM's ground point, left
    and right; ``spread`` is how far a stretched leg reaches level from its hip.  ``foot_speed`` and
    ``foot_acceleration`` (8,) are those of the swing foot relative to the CoM, to the azimuths 0,
    45 ... degrees, the smaller of both feet's.  ``reach`` is the largest distance of the soles'
    centres fore and aft, ``widest`` and ``narrowest`` sideways, left foot on the left.
    ``swing_least`` is the least time of a foot in the air, ``landing_speed`` (m/s) the vertical one
    at touch-down, ``prepare`` and ``load`` the times before and after.
    """

    left: str
    right: str
    feet: Array
    hips: Array
    leg_length: float
    spread: float
    foot_speed: Array
    foot_acceleration: Array
    reach: float
    widest: float
    narrowest: float
    swing_least: float
    landing_speed: float
    prepare: float
    load: float


def left_and_right(robot: Robot) -> tuple[ContactSurface, ContactSurface]:
    """The two feet of a biped."""
    both = feet(robot)
    if len(both) != 2:
        raise RobotError(
            f"steps need a robot that stands on two feet; '{robot.name}' stands on {len(both)}"
        )
    data = at_rest(robot, robot.q_nominal, both).data
    heights = [float(foot.pose(data).translation[1]) for foot in both]
    return both if heights[0] > heights[1] else (both[1], both[0])


def step_numbers(robot: Robot) -> StepNumbers:
    """The numbers of a robot that stands on two feet."""
    left, right = left_and_right(robot)
    omega = float(np.sqrt(np.linalg.norm(robot.model.gravity.linear) / robot.com()[2]))
    speed, acceleration, rise = _foot_motion(robot, left, right)
    other_speed, other_acceleration, other_rise = _foot_motion(robot, right, left)
    speed = np.minimum(speed, other_speed)
    acceleration = np.minimum(acceleration, other_acceleration)
    length, spread, hips, soles = _leg_geometry(robot, left, right)
    hips_apart = float(abs(hips[0, 1] - hips[1, 1]))
    landing = min(_landing_speed(robot, left), _landing_speed(robot, right))
    up = max(min(rise, other_rise), LEAST_RISE)
    return StepNumbers(
        left=left.name,
        right=right.name,
        feet=soles,
        hips=hips,
        leg_length=length,
        spread=spread,
        foot_speed=speed,
        foot_acceleration=acceleration,
        reach=2.0 * spread,
        widest=hips_apart + 2.0 * spread,
        narrowest=left.half_width + right.half_width + CLEARANCE_M,
        # Up and down again by LIFT, each half the way faster and half slower, touching down before
        # it has come to rest.
        swing_least=max(4.0 * float(np.sqrt(LIFT * length / up)) - landing / up, 0.0),
        landing_speed=landing,
        prepare=PREPARE / omega,
        load=LOAD / omega,
    )


def _foot_motion(
    robot: Robot, swing: ContactSurface, stance: ContactSurface
) -> tuple[Array, Array, float]:
    """Level speeds (8,) and accelerations (8,) of a swing foot, and its upward acceleration.

    Relative to the CoM; neither the base nor the sole turns.
    """
    from scipy.optimize import linprog  # slow to import

    body = at_rest(robot, robot.q_nominal, [stance])
    foot = _world_jacobian(robot, swing, body.data)
    foot[:3] -= body.A[:3] / robot.mass
    fastest = TOP_SPEED * robot.rated_speeds
    turning = np.vstack([foot[3:], np.eye(6, robot.model.nv)[3:]])
    steady = np.vstack([body.J, body.A[:3] / robot.mass, foot[2:3], turning])
    programme = TorqueProgramme(robot, [stance])
    kept = turning @ programme.motion
    speeds, accelerations = [], []
    for direction in level_directions(STEP_AZIMUTHS):
        found = linprog(
            -direction @ foot[:2],
            A_eq=steady,
            b_eq=np.zeros(len(steady)),
            bounds=[(None, None)] * 6 + [(-speed, speed) for speed in fastest],
            method="highs",
        )
        speeds.append(-float(found.fun))
        level = np.vstack([kept, foot[2] @ programme.motion])
        goal = direction @ foot[:2] @ programme.motion
        accelerations.append(programme.most(goal, level, np.zeros(7))[0])
    rise = programme.most(foot[2] @ programme.motion, kept, np.zeros(6))[0]
    return np.array(speeds), np.array(accelerations), rise


def _world_jacobian(robot: Robot, contact: ContactSurface, data: pin.Data) -> Array:
    """Jacobian (6, nv) of a surface's centre, world axes."""
    J_L = pin.getFrameJacobian(robot.model, data, contact.frame_id, pin.ReferenceFrame.LOCAL)
    R = contact.pose(data).rotation
    J_S = contact.placement.toActionMatrixInverse() @ J_L
    return np.vstack([R @ J_S[:3], R @ J_S[3:]])


def _leg_geometry(
    robot: Robot, left: ContactSurface, right: ContactSurface
) -> tuple[float, float, Array, Array]:
    """Length of the shorter leg, how far it reaches level from its hip, places of hips and soles.

    Those (2, 2) are from the CoM's ground point.
    """
    data, com = at_rest(robot, robot.q_nominal, [left, right]).data, robot.com()
    both = legs(robot, (left, right))
    if len(both) != 2:
        raise RobotError(
            f"steps need legs with a hip, a knee and an ankle, which '{robot.name}' lacks"
        )
    spreads = []
    for leg in both:
        drop = float(leg.hip[2] - leg.ankle[2]) - CROUCH * float(com[2])
        spreads.append(float(np.sqrt(max((STRETCH * leg.length) ** 2 - drop**2, 0.0))))
    hips = np.array([(leg.hip - com)[:2] for leg in both])
    soles = np.array([(foot.pose(data).translation - com)[:2] for foot in (left, right)])
    return min(leg.length for leg in both), min(spreads), hips, soles


def _landing_speed(robot: Robot, foot: ContactSurface) -> float:
    """Vertical speed (m/s) at which the slower ankle axis can still lay the sole flat."""
    ankles = contact_joints(robot, [foot])[-2:]
    return float(robot.rated_speeds[ankles].min() * min(foot.half_width, foot.half_length))
