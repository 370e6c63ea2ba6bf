"""When a robot has fallen, and why: the one place that decides.

A run is over when the posture is lost: the base is tilted or low.  What that began with is found in
the recording afterwards, by what came first: a sole that slipped, or a CoM that left the support.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.recordings.disk_arrays import chunks
from balance.recordings.recording import Recording
from balance.robots.clearance import TOUCH_HEIGHT_M, lowest_body
from balance.robots.support_polygon import feet, support_polygon

Array = NDArray[np.float64]
Cause = Literal["left support", "slip", "tilt", "height", "touch", "unsettled"]

MAX_TILT_RAD = math.radians(60.0)
MIN_HEIGHT_SHARE = 0.6  # of the nominal height of the base
MAX_SLIP_M = 0.02
HOLD_S = 0.25
MAX_COM_ERROR_M = 0.03
MAX_ROTATION_RAD = 0.09
MAX_ANGULAR_RATE = 0.15  # rad/s
LOOK_EVERY = 5  # recorded states: a CoM takes longer than a few control periods to leave


@dataclass(frozen=True)
class Fall:
    """When a robot fell; what began it, and what was seen, in words."""

    time_s: float
    cause: Cause
    text: str


def lost_posture(q: Array, nominal_height: float) -> tuple[Cause, str] | None:
    """Whether a robot in configuration ``q`` has fallen for good; cheap enough for every period."""
    x, y = float(q[3]), float(q[4])
    if 1.0 - 2.0 * (x * x + y * y) < math.cos(MAX_TILT_RAD):
        return "tilt", f"the base tilted by more than {math.degrees(MAX_TILT_RAD):.0f} degrees"
    if q[2] < MIN_HEIGHT_SHARE * nominal_height:
        return "height", f"the base sank below {100 * MIN_HEIGHT_SHARE:.0f} % of its height"
    return None


def find_fall(recording: Recording) -> Fall | None:
    """The fall in a recorded run; None if the robot stands at its end."""
    seen = _end_of_posture(recording) or _touch(recording) or _unsettled(recording)
    if seen is None:
        return None
    began = _first_slip(recording), _left_support(recording)
    earlier = [fall for fall in began if fall is not None and fall.time_s <= seen.time_s]
    if not earlier:
        return seen
    first = min(earlier, key=lambda fall: fall.time_s)
    text = f"{first.text} at {first.time_s:.3g} s, then {seen.text}"
    return Fall(seen.time_s, first.cause, text)


def _end_of_posture(recording: Recording) -> Fall | None:
    """The fall that ended the run while it was simulated."""
    kind, _, text = recording.end.partition(": ")
    if not kind.startswith("fell at "):
        return None
    cause: Cause = "tilt" if "tilted" in text else "height"
    return Fall(float(kind.split()[2]), cause, text)


def _touch(recording: Recording) -> Fall | None:
    touched = np.flatnonzero(recording.lowest_body < TOUCH_HEIGHT_M)
    if not touched.size:
        return None
    row, robot = int(touched[0]), recording.robot
    time = float(recording.time[row])
    body = lowest_body(robot.model, robot.soles, recording.q[row])
    text = f"the body '{body}' touched the ground at {time:.3g} s"
    if row == 0:
        text += ", before anything moved: the robot's 'soles' or the 'stance' are wrong"
    return Fall(time, "touch", text)


def _unsettled(recording: Recording) -> Fall | None:
    """What is still out of bounds over the last quarter of a second."""
    last = float(recording.time[-1])
    end = recording.time >= last - HOLD_S
    bounds = (
        ("CoM error", "m", recording.com_error, MAX_COM_ERROR_M),
        ("rotation error", "rad", recording.rotation_error, MAX_ROTATION_RAD),
        ("angular rate", "rad/s", recording.v[:, 3:6], MAX_ANGULAR_RATE),
    )
    for name, unit, vectors, bound in bounds:
        most = float(np.linalg.norm(vectors[end], axis=1).max())
        if not most < bound:
            text = f"not settled at the end: {name} {most:.3g} {unit}"
            return Fall(last, "unsettled", text)
    return None


def _first_slip(recording: Recording) -> Fall | None:
    slipped = np.flatnonzero((recording.sole_slip > MAX_SLIP_M).any(axis=1))
    if not slipped.size:
        return None
    row = int(slipped[0])
    sole = recording.robot.soles[int(np.argmax(recording.sole_slip[row]))].name
    text = f"the {sole} slipped by {1e3 * MAX_SLIP_M:.0f} mm"
    return Fall(float(recording.time[row]), "slip", text)


def _left_support(recording: Recording) -> Fall | None:
    """When the CoM was no longer above the feet where they first stood.

    Not on moving ground, nor if something else bears load too.
    """
    robot, ground = recording.robot, recording.config.ground
    polygon = support_polygon(robot)
    only_feet = len(feet(robot)) == len(robot.soles)
    if not polygon.has_area or not only_feet or (ground is not None and ground.motion):
        return None
    model, data = robot.model, robot.model.createData()
    for rows in chunks(len(recording.time)):
        for row in range(rows.start, rows.stop, LOOK_EVERY):
            com = pin.centerOfMass(model, data, recording.q[row])
            if not polygon.contains(com[:2]):
                return Fall(float(recording.time[row]), "left support", "the CoM left the support")
    return None
