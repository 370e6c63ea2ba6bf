"""Pose, Jacobian and corner heights of a contact surface relative to the plane it touches."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.contacts import ContactSurface

Array = NDArray[np.float64]


class SurfaceState:
    """A contact surface at the current state; all vectors in the axes of its plane P."""

    def __init__(self, model: pin.Model, surface: ContactSurface) -> None:
        frame = model.frames[surface.frame_id]
        self.joint = frame.parentJoint
        self.X_JS = frame.placement * surface.placement
        self.corners = surface.corners
        self._X_PW = surface.plane.inverse()
        self._level = np.array_equal(surface.plane.homogeneous, np.eye(4))
        corner_rows = np.concatenate([_point_rows(corner) for corner in self.corners])
        self._share = np.linalg.pinv(corner_rows.T)
        # c_z = v_z + omega_x y - omega_y x is to be -closing at all four corners.
        x, y = self.corners[:, 0], self.corners[:, 1]
        self._plane_fit = -np.linalg.pinv(np.stack([np.ones(4), y, -x], axis=1))

    def update(self, model: pin.Model, data: pin.Data) -> None:
        """Take pose and Jacobian (6, nv) of the centre from ``data``."""
        X_PS = data.oMi[self.joint] * self.X_JS
        J = pin.getFrameJacobian(model, data, self.joint, self.X_JS, pin.LOCAL_WORLD_ALIGNED)
        if not self._level:
            X_PS = self._X_PW * X_PS
            R_PW = self._X_PW.rotation
            J = np.concatenate([R_PW.dot(J[:3]), R_PW.dot(J[3:])])
        self.X_PS, self.J = X_PS, J
        self.rotation = X_PS.rotation
        self.arms = self.corners.dot(self.rotation.T)
        self.gaps = X_PS.translation[2] + self.arms[:, 2]

    def corner_rows(self, corner: int) -> Array:
        """(3, 6): velocity of a corner from that of the centre."""
        return _point_rows(self.arms[corner])

    def closing_velocity(self, closing: Array) -> Array:
        """Velocity of the centre (6,) with which every corner just closes its gap."""
        v_z, omega_x, omega_y = self._plane_fit.dot(closing)
        velocity = np.empty(6)
        velocity[:3] = (0.0, 0.0, v_z)
        velocity[3:] = self.rotation[:, 0] * omega_x + self.rotation[:, 1] * omega_y
        return velocity

    def share(self, impulse: Array) -> Array:
        """Least impulses of the four corners (4, 3) that add up to ``impulse`` at the centre."""
        local = np.concatenate([impulse[:3].dot(self.rotation), impulse[3:].dot(self.rotation)])
        return np.asarray(self._share.dot(local).reshape(4, 3).dot(self.rotation.T))

    def wrench(self, impulse: Array) -> Array:
        """A wrench or impulse at the centre, from plane axes to the surface's own."""
        return np.concatenate([impulse[:3].dot(self.rotation), impulse[3:].dot(self.rotation)])


def _point_rows(arm: Array) -> Array:
    """(3, 6): velocity of a point at ``arm`` from the centre, given the centre's 6D velocity."""
    x, y, z = arm
    return np.array([[1.0, 0, 0, 0, z, -y], [0, 1.0, 0, -z, 0, x], [0, 0, 1.0, y, -x, 0]])
