"""What of a joint's range a law should use: not its stops, and not legs that are straight.

A straight leg cannot move its foot along itself: it neither bears a change of height nor comes back
without being bent on purpose.  The volume of the foot's Jacobian, the product of its singular
values, vanishes there; with a knee bent by k it goes with sin k.  Each joint of a leg may turn, the
others as they are in the nominal posture, until that volume is down to ``STRAIGHT`` of the largest
that the joint's range has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots import Robot
from balance.robots.capability.body import contact_joints
from balance.robots.capability.kept import kept

Array = NDArray[np.float64]

STOP_RAD = 0.02  # kept from a joint's stop
STRAIGHT = 0.12  # sin of a knee's bend, for small ones its bend in rad
STEP_RAD = 0.02
WIDEST_RAD = np.pi  # joints without stops


def usable_ranges(robot: Robot) -> tuple[Array, Array]:
    """Lowest and highest angle (nj,) of every joint; the nominal posture is between them."""
    tree = kept(robot, "usable ranges", lambda: _find(robot), shapes=False)
    return np.array(tree["lower"]), np.array(tree["upper"])


def _find(robot: Robot) -> dict[str, Any]:
    nominal = robot.q_nominal[7:]
    lower = robot.model.lowerPositionLimit[7:] + STOP_RAD
    upper = robot.model.upperPositionLimit[7:] - STOP_RAD
    # A joint that rests on its stop in the nominal posture may go on doing so.
    lower = np.where(nominal <= lower, -np.inf, lower)
    upper = np.where(nominal >= upper, np.inf, upper)
    lower, upper = np.maximum(lower, nominal - WIDEST_RAD), np.minimum(upper, nominal + WIDEST_RAD)
    for k, contact in enumerate(robot.soles):
        if not contact.is_foot:
            continue
        for joint in contact_joints(robot, [contact]):
            low, high = _bent(robot, k, int(joint), float(lower[joint]), float(upper[joint]))
            lower[joint], upper[joint] = max(lower[joint], low), min(upper[joint], high)
    return {"lower": lower.tolist(), "upper": upper.tolist()}


def _bent(robot: Robot, k: int, joint: int, lower: float, upper: float) -> tuple[float, float]:
    """Between which angles a joint keeps the leg of contact ``k`` from being straight."""
    nominal = float(robot.q_nominal[7 + joint])
    below = np.arange(nominal, lower, -STEP_RAD)
    above = np.arange(nominal, upper, STEP_RAD)
    volumes = [np.array([_volume(robot, k, joint, a) for a in side]) for side in (below, above)]
    least = STRAIGHT * max(float(side.max(initial=0.0)) for side in volumes)
    if volumes[0].size and volumes[0][0] < 2.0 * least:  # stretched from the start
        return lower, upper
    ends = []
    for angles, sizes, end in zip((below, above), volumes, (lower, upper), strict=True):
        flat = np.flatnonzero(sizes < least)
        ends.append(float(angles[max(0, flat[0] - 1)]) if len(flat) else end)
    return ends[0], ends[1]


def _volume(robot: Robot, k: int, joint: int, angle: float) -> float:
    q = robot.q_nominal.copy()
    q[7 + joint] = angle
    contact = robot.soles[k]
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, q)
    J = pin.getFrameJacobian(model, data, contact.frame_id, pin.ReferenceFrame.LOCAL)
    J = (contact.placement.toActionMatrixInverse() @ J)[list(contact.held)]
    columns = J[:, 6 + contact_joints(robot, [contact])]
    return float(np.prod(np.linalg.svd(columns, compute_uv=False)))
