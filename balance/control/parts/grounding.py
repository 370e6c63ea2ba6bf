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

from balance.control.parts.whole_body import BodyView, WholeBody

Array = NDArray[np.float64]


class Grounding:
    """Adds k^2 e to the contacts' drift; 2 k V is in it already, as ``contact_damping``."""

    def __init__(self, body: WholeBody) -> None:
        """The CoP is given from below the nominal CoM, in units of its height."""
        com = body.robot.com()
        self._centre, self._height = com[:2], float(com[2])
        self._omega = float(np.sqrt(np.linalg.norm(body.weight) / body.mass / self._height))
        self._body, self._gain = body, (0.5 * body.contact_damping) ** 2
        data = body.model.createData()
        pin.forwardKinematics(body.model, data, body.robot.q_nominal)
        poses = [data.oMi[joint] * placement for _, joint, placement in body.attached]
        self._planes = [(X.translation.copy(), X.rotation[:, 2].copy()) for X in poses]
        places = np.array([(place[:2] - self._centre) / self._height for place, _ in self._planes])
        feet = np.array([surface.is_foot for surface, _, _ in body.attached])
        self._loads = np.zeros((len(feet), 3))
        self._loads[feet] = np.linalg.pinv(np.vstack([places[feet].T, np.ones(feet.sum())]))
        self._feet = int(feet.sum())

    def capture_point(self, here: BodyView) -> Array:
        """Where the CoP of a law without a plan will have to be (2,): x + (dx/dt) / omega."""
        ahead = here.momentum[:2] / (here.mass * self._omega)
        return np.asarray((here.com[:2] - self._centre + ahead) / self._height)

    def drift(self, here: BodyView, cop: Array) -> Array:
        """The drift (r,) at a state, with the CoP where a law has it.

        A contact's load is its part of a weight at the CoP, least squares over the contacts; below
        an even share the pull sets in.
        """
        loads = self._loads.dot(np.append(cop, 1.0))
        idle = np.clip(1.0 - self._feet * loads, 0.0, 1.0)
        if not idle.any():
            return here.drift
        drift = here.drift.copy()
        for own, (surface, joint, placement), (place, normal), share in zip(
            self._body.rows.slices, self._body.attached, self._planes, idle, strict=True
        ):
            if share == 0.0 or not (surface.has_area and surface.is_foot):
                continue
            now = here.data.oMi[joint] * placement
            tilt = now.rotation.T.dot(normal)
            gain = share * self._gain
            drift[own.start + 2] += gain * normal.dot(now.translation - place)
            drift[own.start + 3] += gain * tilt[1]
            drift[own.start + 4] -= gain * tilt[0]
        return drift
