"""Where a law that knows one stance can be used: wherever the feet stand to each other as in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.setpoints import Desired
from balance.control.stepping.seen import Eyes, Seen
from balance.control.stepping.sizes import heading_of

Array = NDArray[np.float64]

NEAR_M, NEAR_RAD = 0.015, 0.04  # by which feet may stand to each other otherwise


class Home:
    """Carries states to the nominal place of the feet and setpoints back."""

    def __init__(self, move: pin.SE3) -> None:
        """``move`` takes the nominal stance to where the robot stands: level, and about z."""
        self._move = move
        self._back = move.inverse()
        self._away = not move.isApprox(pin.SE3.Identity(), 1e-12)

    def carried(self, q: Array) -> Array:
        """The configuration ``q`` as it would be in the nominal place."""
        if not self._away:
            return q
        base = self._back * pin.SE3(pin.Quaternion(q[3:7]), q[:3])
        q = q.copy()
        q[:3], q[3:7] = base.translation, pin.Quaternion(base.rotation).coeffs()
        return q

    def setpoint(self, desired: Desired) -> Desired:
        """A setpoint of the nominal place as it is here."""
        if not self._away:
            return desired
        R, p = self._move.rotation, self._move.translation
        rotation = R @ desired.rotation
        return replace(
            desired,
            com=R @ desired.com + p,
            com_velocity=R @ desired.com_velocity,
            com_acceleration=R @ desired.com_acceleration,
            quaternion=np.array(pin.Quaternion(rotation).coeffs()),
            rotation=rotation,
            angular_velocity=R @ desired.angular_velocity,
            angular_acceleration=R @ desired.angular_acceleration,
        )


def find_home(seen: Seen, eyes: Eyes) -> Home | None:
    """The home of feet that stand to each other as they do nominally; None if they do not."""
    move = _from_nominal(seen, eyes)
    for pose, own in zip(seen.poses, eyes.nominal.poses, strict=True):
        away = (move * own).actInv(pose)
        if np.linalg.norm(away.translation) > NEAR_M:
            return None
        if np.linalg.norm(pin.log3(away.rotation)) > NEAR_RAD:
            return None
    return Home(move)


def stands_closed(seen: Seen, eyes: Eyes) -> bool:
    """Whether the feet stand to each other as they do nominally, seen from above.

    How high and how level they stand is the ground's: no step mends that.
    """
    move = _from_nominal(seen, eyes)
    for pose, own in zip(seen.poses, eyes.nominal.poses, strict=True):
        place = move * own
        if np.linalg.norm((pose.translation - place.translation)[:2]) > NEAR_M:
            return False
        turned = heading_of(pose.rotation) - heading_of(place.rotation)
        if abs((turned + np.pi) % (2.0 * np.pi) - np.pi) > NEAR_RAD:
            return False
    return True


def _from_nominal(seen: Seen, eyes: Eyes) -> pin.SE3:
    """What takes the nominal stance to where the feet stand: level, and about z."""
    rotation = pin.rpy.rpyToMatrix(0.0, 0.0, eyes.turned(seen))
    return pin.SE3(rotation, seen.middle - rotation @ eyes.nominal.middle)
