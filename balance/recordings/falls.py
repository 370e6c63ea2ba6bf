"""When a robot has fallen, and why: the one place that decides.

A run is over when the posture is lost: the base is tilted or low.  What that began with is found in
the recording afterwards, by what came first: a sole that slipped, or a CoM that left the support.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.recordings.disk_arrays import in_chunks
from balance.recordings.penetration import lowest_body
from balance.recordings.recording import Recording
from balance.recordings.touches import touch_spans
from balance.recordings.verdict import (
    IN_FLOOR_M,
    LOADED_N,
    MAX_SLIP_M,
    MAX_TILT_RAD,
    MIN_HEIGHT_SHARE,
    Cause,
    EndKind,
)
from balance.robots import Robot
from balance.robots.clearance import bodies_off_the_ground
from balance.robots.support_polygon import feet, support_polygon
from balance.simulation.world import FLOOR

Array = NDArray[np.float64]

LEAST_UPRIGHT = math.cos(MAX_TILT_RAD)
LOOK_EVERY = 5  # recorded states: a CoM takes longer than a few control periods to leave


@dataclass(frozen=True)
class Fall:
    """When a robot fell and when that began, s; what began it, and what was seen, in words."""

    time_s: float
    cause: Cause
    text: str
    began_s: float


def lost_posture(
    q: Array, nominal_height: float, upwards: Array | None = None
) -> tuple[Cause, str] | None:
    """Whether a robot in configuration ``q`` has fallen for good; cheap enough for every period.

    ``upwards`` (3,) is where the base's z axis is meant to point, if that is not upwards.
    """
    x, y = float(q[3]), float(q[4])
    upright = 1.0 - 2.0 * (x * x + y * y)
    if upwards is not None:
        upright = float(pin.Quaternion(q[3:7]).matrix()[:, 2].dot(upwards))
    if upright < LEAST_UPRIGHT:
        return Cause.TILT, f"the base tilted by more than {math.degrees(MAX_TILT_RAD):.0f} degrees"
    if q[2] < MIN_HEIGHT_SHARE * nominal_height:
        return Cause.HEIGHT, f"the base sank below {100 * MIN_HEIGHT_SHARE:.0f} % of its height"
    return None


def find_fall(recording: Recording) -> Fall | None:
    """The fall in a recorded run; None if the robot stands at its end."""
    seen = _end_of_posture(recording) or first_touch(recording)
    if seen is None:
        return None
    began = _first_slip(recording, seen.time_s), _left_support(recording, seen.time_s)
    first = min((fall for fall in began if fall), key=lambda fall: fall.time_s, default=None)
    if first is None:
        return seen
    text = f"{first.text} at {first.time_s:.3g} s, then {seen.text}"
    return Fall(seen.time_s, first.cause, text, first.time_s)


def _end_of_posture(recording: Recording) -> Fall | None:
    """The fall that ended the run while it was simulated."""
    end = recording.end
    if end.kind is not EndKind.FELL or end.time_s is None or end.cause is None:
        return None
    return Fall(end.time_s, end.cause, end.text, end.time_s)


def first_touch(recording: Recording) -> Fall | None:
    """The first time that a body which carries no sole was on the floor."""
    seen = [fall for fall in (_felt(recording), _sunk(recording)) if fall]
    first = min(seen, key=lambda fall: fall.time_s, default=None)
    if first is not None and first.time_s == 0.0:
        text = f"{first.text}, before anything moved: the robot's 'soles' or the 'stance' are wrong"
        return replace(first, text=text)
    return first


def _felt(recording: Recording) -> Fall | None:
    """What the plant felt."""
    robot = recording.robot
    off = set(bodies_off_the_ground(robot.model, robot.soles))
    for span in touch_spans(recording):
        if span.other == FLOOR and _joint(robot, span.body) in off:
            return _touched(span.body, span.start_s)
    return None


def _joint(robot: Robot, body: str) -> int:
    return int(robot.model.frames[robot.model.getFrameId(body, pin.FrameType.BODY)].parentJoint)


def _sunk(recording: Recording) -> Fall | None:
    """What is in the floor, in a plant whose bodies do not touch it."""
    sunk = np.flatnonzero(recording.lowest_body < -IN_FLOOR_M)
    if not sunk.size:
        return None
    return _touched(lowest_body(recording, int(sunk[0])), float(recording.time[sunk[0]]))


def _touched(name: str, time: float) -> Fall:
    return Fall(time, Cause.TOUCH, f"the body '{name}' touched the ground at {time:.3g} s", time)


def normal_forces(recording: Recording) -> Array:
    """Measured force on each sole along its normal, (n, k), N."""
    forces = recording.contact_wrenches
    return np.asarray(in_chunks(len(forces), lambda rows: forces[rows, :, 2]))


def loaded_slip(recording: Recording) -> Array:
    """Way of each sole from where it stood while it bears load, (n, k), m; 0 in the air."""
    return np.where(normal_forces(recording) >= LOADED_N, recording.sole_slip, 0.0)


def _first_slip(recording: Recording, until: float) -> Fall | None:
    slip = loaded_slip(recording)
    slipped = np.flatnonzero((slip > MAX_SLIP_M).any(axis=1) & (recording.time <= until))
    if not slipped.size:
        return None
    row = int(slipped[0])
    sole = recording.robot.soles[int(np.argmax(slip[row]))].name
    text, time = f"the {sole} slipped by {1e3 * MAX_SLIP_M:.0f} mm", float(recording.time[row])
    return Fall(time, Cause.SLIP, text, time)


def _left_support(recording: Recording, until: float) -> Fall | None:
    """When the CoM left the feet where they first stood for good.

    Not on moving ground, nor if something else bears load too.  A CoM that was out of the support
    earlier and came back has nothing to do with the fall.
    """
    robot, ground = recording.robot, recording.config.ground
    if recording.bearing is not None:
        return None  # the support changes
    polygon = support_polygon(robot)
    only_feet = len(feet(robot)) == len(robot.soles)
    if not polygon.has_area or not only_feet or (ground is not None and ground.motion):
        return None
    model, data = robot.model, robot.model.createData()
    last = int(np.searchsorted(recording.time, until, side="right")) - 1
    left = None
    for row in range(last, -1, -LOOK_EVERY):
        com = pin.centerOfMass(model, data, recording.q[row])
        if polygon.contains(com[:2]):
            break
        left = row
    if left is None:
        return None
    time = float(recording.time[left])
    return Fall(time, Cause.LEFT_SUPPORT, "the CoM left the support", time)
