"""The verdict of a run once more: by loops over rows, from what docs/design.md says of it.

Nothing of :mod:`balance.recordings.judging` and what it imports takes part.  Phases are left out:
of those only what is common to all runs is said.
"""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.experiment import Experiment
from balance.recordings.recording import Recording

Array = NDArray[np.float64]


def second_verdict(experiment: Experiment, recording: Recording) -> str:
    """`recovered`, `upright`, `fell` or `aborted`."""
    if str(recording.end.kind) == "aborted":
        return "aborted"
    if _fell(experiment, recording):
        return "fell"
    standing = not (
        _slipped(experiment, recording)
        or _lifted(recording)
        or recording.penetration[:, 1].max() > 0.005
        or not _still(experiment, recording)
    )
    return "recovered" if standing else "upright"


def _fell(experiment: Experiment, recording: Recording) -> bool:
    """A base that is tilted or low, or a body without a sole on the floor."""
    robot = experiment.robot
    height = 0.6 * float(robot.q_nominal[2])
    for q in (*recording.q, experiment.plant.q):  # the state at the end is no row of its own
        up = pin.Quaternion(q[3:7]).matrix()[2, 2]
        if up < math.cos(math.radians(60.0)) or q[2] < height:
            return True
    for row in recording.touches:
        for block in row:
            one, other = int(block[0]), int(block[1])
            if one > 0 and other == -1 and not _bears(experiment, one - 1):
                return True
    return bool((recording.lowest_body < -0.001).any())


def _bears(experiment: Experiment, frame: int) -> bool:
    robot = experiment.robot
    joint = robot.model.frames[frame].parentJoint
    return any(robot.model.frames[sole.frame_id].parentJoint == joint for sole in robot.soles)


def _loaded(recording: Recording, sole: int) -> list[bool]:
    return [bool(wrench[2] >= 1.0) for wrench in recording.contact_wrenches[:, sole]]


def _slipped(experiment: Experiment, recording: Recording) -> bool:
    """Whether a sole that bore load was more than 2 cm from where it stood on its ground."""
    robot, ground = experiment.robot, experiment.ground
    data = robot.model.createData()
    for number, sole in enumerate(robot.soles):
        first = None
        for row, loaded in enumerate(_loaded(recording, number)):
            pin.framesForwardKinematics(robot.model, data, recording.q[row])
            place = sole.pose(data).translation
            if ground is not None and sole.name in ground.surfaces:
                place = ground.pose(float(recording.time[row])).actInv(place)
            place = sole.plane.actInv(place)
            first = place if first is None else first
            if loaded and math.hypot(*(place - first)[:2]) > 0.02:
                return True
    return False


def _lifted(recording: Recording) -> bool:
    """Whether a sole bore no load for more than 0.1 s on end."""
    period = recording.config.control_period_s
    for sole in range(recording.contact_wrenches.shape[1]):
        rows = 0
        for loaded in _loaded(recording, sole):
            rows = 0 if loaded else rows + 1
            if rows * period > 0.1:
                return True
    return False


def _still(experiment: Experiment, recording: Recording) -> bool:
    """Whether CoM, base and joints were within their bounds in the last quarter of a second."""
    robot, told = experiment.robot, experiment.modelled_robot
    end = recording.time[-1] - 0.25
    com, turn = _com(told.model, told.q_nominal), pin.Quaternion(told.q_nominal[3:7]).matrix()
    moves = experiment.config.controller.setpoints
    if moves:
        com = com + np.array(moves[-1].com_m)
        turn = turn @ pin.rpy.rpyToMatrix(*moves[-1].base_rpy_rad)
    first = min((push.start for push in recording.pushes), default=0.0)
    first = max(first, recording.config.control_period_s)
    lower, upper = robot.model.lowerPositionLimit[7:], robot.model.upperPositionLimit[7:]
    before = recording.q[recording.time < first][:, 7:]
    rested = [(before <= lower + 1e-4).any(axis=0), (before >= upper - 1e-4).any(axis=0)]
    for time, q, v in zip(recording.time, recording.q, recording.v, strict=True):
        if time < end:
            continue
        rotation = turn.T @ pin.Quaternion(q[3:7]).matrix()
        angle = math.acos(max(-1.0, min(1.0, 0.5 * (np.trace(rotation) - 1.0))))
        stops = (q[7:] <= lower + 1e-4) & ~rested[0] | (q[7:] >= upper - 1e-4) & ~rested[1]
        if (
            np.linalg.norm(_com(robot.model, q) - com) >= 0.03
            or angle >= 0.09
            or np.linalg.norm(v[3:6]) >= 0.15
            or stops.any()
        ):
            return False
    return True


def _com(model: pin.Model, q: Array) -> Array:
    """Sum of all masses times their places, over their sum."""
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    masses = [model.inertias[i].mass for i in range(1, model.njoints)]
    places = [data.oMi[i].act(model.inertias[i].lever) for i in range(1, model.njoints)]
    return np.asarray(np.average(places, axis=0, weights=masses))
