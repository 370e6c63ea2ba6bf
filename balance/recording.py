"""A recording: what happened in a run, as arrays with one row per control period."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import ExperimentConfig
from balance.contacts import centre_of_pressure
from balance.controllers.setpoints import SetpointPath
from balance.pushes import Push
from balance.robots import Robot

Array = NDArray[np.float64]

LOADED_N = 1.0  # normal force above which a sole counts as touching the ground


@dataclass(frozen=True)
class Recording:
    """A run; row i holds the state at ``time[i]`` and what acted until the next row.

    Vectors are in world axes, wrenches (force, moment) at the soles' centres in their own axes,
    units SI.  ``n`` rows, ``k`` soles, ``nj`` joints.
    """

    config: ExperimentConfig
    robot: Robot
    pushes: tuple[Push, ...]
    time: Array
    q: Array
    v: Array
    torques: Array
    wrenches: Array
    contact_wrenches: Array
    push_force: Array
    status: NDArray[np.int64]
    com_error: Array
    rotation_error: Array
    momentum: Array
    sole_lift: Array
    sole_slip: Array
    lowest_body: Array
    end: str
    """Why the run ended: ``finished``, ``fell at TIME s: cause`` or ``aborted: cause``."""
    timing: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cop(self) -> Array:
        """Measured centre of pressure of each sole in its own frame (n, k, 2); NaN without load."""
        return centre_of_pressure(self.contact_wrenches, LOADED_N)

    def summary(self) -> dict[str, Any]:
        """Outcome and figures of the run, as written to ``summary.json``."""
        from balance.metrics import summarise

        return summarise(self)


@dataclass(frozen=True)
class Derived:
    """Quantities that follow from the states alone."""

    com_error: Array
    rotation_error: Array
    momentum: Array
    sole_lift: Array
    sole_slip: Array
    lowest_body: Array


def derive(robot: Robot, path: SetpointPath, time: Array, q: Array, v: Array) -> Derived:
    """CoM error, rotation error, momentum and sole motion of every recorded state.

    The rotation error is the rotation vector from the desired to the actual base orientation, in
    the axes of the desired frame; lift is the highest corner of a sole above the ground and slip
    the horizontal way of its centre from where it stood; ``lowest_body`` is the height of the
    lowest joint that carries no sole.
    """
    model, data = robot.model, robot.model.createData()
    n, k = len(time), len(robot.soles)
    out = Derived(
        np.empty((n, 3)),
        np.empty((n, 3)),
        np.empty((n, 6)),
        np.empty((n, k)),
        np.empty((n, k)),
        np.empty(n),
    )
    others = _bodies_off_the_ground(robot)
    pin.framesForwardKinematics(model, data, robot.q_nominal)
    start = [sole.pose_on_plane(data).translation[:2].copy() for sole in robot.soles]
    for i in range(n):
        desired = path.at(float(time[i]))
        pin.ccrba(model, data, q[i], v[i])
        pin.updateFramePlacements(model, data)
        out.com_error[i] = data.com[0] - desired.com
        R_WB = data.oMi[1].rotation
        out.rotation_error[i] = pin.log3(desired.rotation.T @ R_WB)
        out.momentum[i] = data.hg.vector
        for j, sole in enumerate(robot.soles):
            pose = sole.pose_on_plane(data)
            heights = sole.corners @ pose.rotation[2] + pose.translation[2]
            out.sole_lift[i, j] = heights.max()
            out.sole_slip[i, j] = np.hypot(*(pose.translation[:2] - start[j]))
        out.lowest_body[i] = min(data.oMi[j].translation[2] for j in others)
    return out


def _bodies_off_the_ground(robot: Robot) -> list[int]:
    """Joints whose links must not touch the ground: all but those that carry a sole."""
    carriers = {robot.model.frames[sole.frame_id].parentJoint for sole in robot.soles}
    return [j for j in range(1, robot.model.njoints) if j not in carriers]
