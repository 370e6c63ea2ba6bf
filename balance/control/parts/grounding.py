"""A foot that bears little is kept on the ground.

Drives have friction that a law does not know, and what it does to an unloaded leg no contact force
corrects: the foot hangs in the air and drifts.  So such a foot is asked for the acceleration

    -2 k V - k^2 e,

V its velocity and e how far it is above its plane and tilted out of it.  Along the plane and about
its normal nothing is pulled back: a foot stays where it slipped to.  Hands are left alone.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.support import read_only
from balance.control.parts.whole_body import BodyView, WholeBody
from balance.dynamics.compiled import compiled
from balance.dynamics.placements import frame_points

Array = NDArray[np.float64]
Integers = NDArray[np.intp]


class Grounding:
    """Adds k^2 e to the contacts' drift; 2 k V is in it already, as ``contact_damping``."""

    def __init__(self, body: WholeBody) -> None:
        """The CoP is given from below the nominal CoM, in units of its height."""
        com = body.robot.com()
        self._centre, self._height = com[:2], float(com[2])
        self._omega = float(np.sqrt(np.linalg.norm(body.weight) / body.mass / self._height))
        self._gain = (0.5 * body.contact_damping) ** 2
        data = body.model.createData()
        pin.forwardKinematics(body.model, data, body.robot.q_nominal)
        poses = [data.oMi[joint] * placement for _, joint, placement in body.attached]
        places = np.array([(X.translation[:2] - self._centre) / self._height for X in poses])
        feet = np.array([surface.is_foot for surface, _, _ in body.attached])
        loads = np.zeros((len(feet), 3))
        loads[feet] = np.linalg.pinv(np.vstack([places[feet].T, np.ones(feet.sum())]))
        # Of each foot with an area its joint and first row, how its frame follows from the joint's,
        # its plane, and 1 - n load, n feet, with (CoP, 1): how idle it is.
        own = [i for i, (surface, _, _) in enumerate(body.attached) if surface.has_area and feet[i]]
        rows = [(body.attached[i][1], body.rows.slices[i].start) for i in own]
        self._feet: Integers = np.array(rows, dtype=np.intp).reshape(-1, 2)
        frames = [frame_points(body.attached[i][2], np.zeros((0, 3))) for i in own]
        self._frames = np.array(frames).reshape(-1, 4, 4)
        planes = [np.array([poses[i].translation, poses[i].rotation[:, 2]]) for i in own]
        self._planes = np.array(planes).reshape(-1, 2, 3)
        self._idle = np.array([0.0, 0.0, 1.0]) - feet.sum() * loads[own]

    def capture_point(self, here: BodyView) -> Array:
        """Where the CoP of a law without a plan will have to be (2,): x + (dx/dt) / omega."""
        ahead = here.momentum[:2] / (here.mass * self._omega)
        return np.asarray((here.com[:2] - self._centre + ahead) / self._height)

    def drift(self, here: BodyView, cop: Array) -> Array:
        """The drift (r,) at a state, with the CoP where a law has it.

        A contact's load is its part of a weight at the CoP, least squares over the contacts; below
        an even share the pull sets in.
        """
        drift = pulled_drift(
            here.drift, here.placements, self._feet, self._frames, self._planes, self._idle,
            self._gain, cop,
        )  # fmt: skip
        return read_only(drift)


@compiled
def pulled_drift(
    drift: Array,
    placements: Array,
    feet: Integers,
    frames: Array,
    planes: Array,
    idle: Array,
    gain: float,
    cop: Array,
) -> Array:
    """``drift`` and what pulls feet onto their planes, by how idle the CoP leaves them."""
    pulled = drift.copy()
    for i in range(len(feet)):
        joint, row = feet[i]
        share = idle[i, 0] * cop[0] + idle[i, 1] * cop[1] + idle[i, 2]
        if share > 0.0:
            now = frames[i].dot(placements[joint])
            place, normal = planes[i, 0], planes[i, 1]
            pull = gain * min(share, 1.0)
            tilt = now[:3].dot(normal)
            pulled[row + 2] += pull * normal.dot(now[3] - place)
            pulled[row + 3] += pull * tilt[1]
            pulled[row + 4] -= pull * tilt[0]
    return pulled
