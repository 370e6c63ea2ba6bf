"""What a run demanded of its contacts and drives: friction, room in the soles, torque, tracking."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.recordings.disk_arrays import chunks
from balance.recordings.recording import Recording, once
from balance.recordings.verdict import LOADED_N

Array = NDArray[np.float64]

TILTED_M = 1e-4  # lift of a corner above which a sole's axes are not those of the ground
BEARING_SHARE = 0.05  # of the weight; a contact that bears less may slide or roll without harm


def ground_forces(recording: Recording) -> Array:
    """Measured force on each contact, z along its plane's normal, (n, k, 3), N.

    Where a sole lies flat its own axes serve; where it tips, Coulomb's law still holds in the axes
    of the ground.  What may turn about a point or a line is measured in those of the ground anyway.
    """
    force = recording.contact_wrenches[:, :, :3].copy()
    model, data = recording.robot.model, recording.robot.model.createData()
    tilted = recording.sole_lift > TILTED_M
    if recording.bearing is not None:  # what is in the air has no ground to be tilted on
        tilted &= force[:, :, 2] > LOADED_N
    for i in np.flatnonzero(tilted.any(axis=1)):
        pin.framesForwardKinematics(model, data, recording.q[i])
        for j, sole in enumerate(recording.robot.soles):
            if sole.has_area:
                force[i, j] = sole.pose_on_plane(data).rotation @ force[i, j]
    return force


def friction_use(recording: Recording) -> Array:
    """|f_t| / (mu f_n) of each contact with the ground's mu, (n, k); NaN without load."""
    force = ground_forces(recording)
    loaded = force[:, :, 2] > LOADED_N
    reach = recording.config.plant.friction * np.where(loaded, force[:, :, 2], np.nan)
    return np.asarray(np.hypot(force[:, :, 0], force[:, :, 1]) / reach)


def cop_use(recording: Recording) -> Array:
    """How far out the CoP of each contact is, (n, k): 0 at its centre, 1 on its edge; NaN unloaded.

    The larger of |x| and |y|, each as a share of half the contact's length or width.
    """
    halves = np.array([[s.half_length, s.half_width] for s in recording.robot.soles])
    return np.asarray(np.max(np.abs(recording.cop) / halves, axis=2))


def largest_friction_use(recording: Recording) -> float:
    """Largest friction use of contacts that bear 5 % of the weight or more."""
    return _largest(recording, friction_use)


def largest_cop_use(recording: Recording) -> float:
    """Largest CoP use of contacts that bear 5 % of the weight or more."""
    return _largest(recording, cop_use)


def _largest(recording: Recording, use: Callable[[Recording], Array]) -> float:
    parts = (recording.part(rows) for rows in chunks(recording.time.size))
    peaks = (float(np.nanmax(use(part)[_bearing(part)], initial=0.0)) for part in parts)
    return max(peaks, default=0.0)


def _bearing(recording: Recording) -> NDArray[np.bool_]:
    gravity = float(np.linalg.norm(recording.robot.model.gravity.linear))
    weight = recording.robot.mass * gravity
    return np.asarray(recording.contact_wrenches[:, :, 2] > BEARING_SHARE * weight)


def largest_torque(recording: Recording) -> float:
    """Largest torque of a joint, N m."""
    parts = chunks(recording.time.size)
    peaks = (float(np.abs(recording.torques[rows]).max(initial=0.0)) for rows in parts)
    return max(peaks, default=0.0)


def torque_effort(recording: Recording) -> float:
    """Integral of |tau - tau_rest|^2 over the run, N^2 m^2 s.

    tau_rest are the mean torques up to the first push, so standing still takes no effort.  Heat in
    the windings of a drive grows with the square of its torque.
    """
    if recording.time.size == 0:
        return 0.0
    first = min((push.start for push in recording.pushes), default=0.0)
    rest = recording.torques[recording.time <= max(first, recording.time[0])].mean(axis=0)
    extra = sum(
        float(np.square(recording.torques[rows] - rest).sum())
        for rows in chunks(recording.time.size)
    )
    return extra * recording.config.control_period_s


@once
def wrench_errors(recording: Recording) -> tuple[float | None, float | None]:
    """Commanded less measured contact wrench: rms over time and contacts of |force| and |moment|.

    In N, and in N m about the contacts' centres.  None of a law that commands torques alone.
    """
    if recording.time.size == 0:
        return 0.0, 0.0
    squares = np.zeros(2)
    for rows in chunks(recording.time.size):
        error = recording.wrenches[rows] - recording.contact_wrenches[rows]
        squares += np.square(error).reshape(-1, 2, 3).sum(axis=(0, 2))
    force, moment = np.sqrt(squares / (recording.time.size * recording.wrenches.shape[1]))
    return (None, None) if np.isnan(force) else (float(force), float(moment))
