"""Where feet stood and were to land, and what held the robot when, in a run of a law that steps."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.output import Strategy
from balance.recordings.recording import Recording, once
from balance.recordings.stance_rows import spans

Array = NDArray[np.float64]

COM_EVERY_S = 0.01


class FootPlace(NamedTuple):
    """A foot on the ground: number of its sole and of the step that brought it there, 0 at first.

    ``planned`` is where it was to land when the step was decided, ``plans`` (m, 2) how that place
    moved until it landed; of the places at the beginning, None and none.
    """

    sole: int
    step: int
    pose: pin.SE3
    planned: pin.SE3 | None
    plans: Array


@once
def footsteps(recording: Recording) -> tuple[FootPlace, ...]:
    """All places where feet stood, step by step; none of a run whose feet cannot move."""
    if recording.step is None or not recording.time.size:
        return ()
    assert recording.bearing is not None
    found = []
    for number, sole in enumerate(recording.robot.soles):
        if not sole.is_foot:
            continue
        for first, after in spans(recording.bearing[:, number] > 0.0):
            step = int(recording.step[first]) if first > 0 else 0
            plans = _plans(recording, number, step) if step else np.empty((0, 4))
            planned = landing_pose(plans[0], sole.plane) if len(plans) else None
            pose = _sole_pose(recording, number, (first + after - 1) // 2)
            found.append(FootPlace(number, step, pose, planned, plans[:, :2]))
    return tuple(sorted(found, key=lambda foot: foot.step))


@once
def strategy_spans(recording: Recording) -> tuple[tuple[str, float, float], ...]:
    """What held the robot, and from when to when, s: ankles, hips, 1 step, 2 steps ..."""
    if recording.strategy is None or recording.step is None or not recording.time.size:
        return ()
    stepping = recording.strategy == Strategy.STEPS
    code = np.where(stepping, 10 + recording.step, recording.strategy)
    edges = [0, *(np.flatnonzero(np.diff(code)) + 1).tolist(), len(code)]
    bounds = np.append(recording.time, recording.time[-1] + recording.config.control_period_s)
    return tuple(
        (strategy_words(int(recording.strategy[a]), int(recording.step[a])), bounds[a], bounds[b])
        for a, b in pairwise(edges)
    )


def strategy_words(strategy: int, step: int) -> str:
    """A strategy in words; of steps, the number of the one under way."""
    if strategy != Strategy.STEPS:
        return Strategy(strategy).name.lower()
    return f"{max(step, 1)} step" + "s" * (step > 1)


@once
def com_path(recording: Recording) -> Array:
    """The CoM seen from above, (m, 2), at most every ``COM_EVERY_S``."""
    every = max(1, round(COM_EVERY_S / recording.config.control_period_s))
    return np.array([recording.robot.com(q)[:2] for q in recording.q[::every]]).reshape(-1, 2)


def _plans(recording: Recording, sole: int, step: int) -> Array:
    """Planned landings (m, 4) of a step, row by row."""
    assert recording.landing is not None
    assert recording.swing is not None
    rows = (recording.step == step) & (recording.swing == sole)
    plans = recording.landing[rows]
    return plans[np.isfinite(plans).all(axis=1)]


def landing_pose(landing: Array, plane: pin.SE3) -> pin.SE3:
    """A sole with its centre at (x, y, z), turned by a yaw, on its plane's normal."""
    return pin.SE3(plane.rotation @ pin.utils.rotate("z", float(landing[3])), landing[:3])


def _sole_pose(recording: Recording, sole: int, row: int) -> pin.SE3:
    model, data = recording.robot.model, recording.robot.model.createData()
    pin.framesForwardKinematics(model, data, recording.q[row])
    return recording.robot.soles[sole].wrench_pose(data)
