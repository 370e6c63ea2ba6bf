"""Newton and Euler for one rigid body in mixed coordinates, Traversaro2016 (3)-(5)."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector


def mixed_inertia(inertia: pin.Inertia, pose: pin.SE3) -> Array:
    """(6, 6) inertia at the origin of the body's frame with world axes (3)-(4).

    Differs: (4) prints the two coupling blocks with exchanged signs.  The linear momentum is
    m (do/dt + omega x c), so the upper right block is -m c^.
    """
    R = np.zeros((6, 6))
    R[:3, :3] = R[3:, 3:] = pose.rotation
    return R @ inertia.matrix() @ R.T


def mixed_wrench(
    inertia: pin.Inertia,
    pose: pin.SE3,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    gravity: ArrayLike = (0.0, 0.0, 0.0),
) -> Array:
    """External wrench (6,) that makes a body move with a mixed velocity and acceleration (5).

    ``velocity`` is (do/dt, omega) and ``acceleration`` its plain time derivative, world axes;
    ``gravity`` (3,) is the gravitational acceleration.

    Differs: (5) as printed takes C = dI/dt alone.  The origin that moments refer to moves, which
    adds do/dt x (linear momentum); and the gravity term needs no rotation, as all is in world
    axes.
    """
    velocity = check_vector("velocity", velocity, 6)
    acceleration = check_vector("acceleration", acceleration, 6)
    I = mixed_inertia(inertia, pose)  # noqa: E741 the paper's letter
    spin = np.zeros((6, 6))
    spin[:3, :3] = spin[3:, 3:] = pin.skew(velocity[3:])
    momentum = I @ velocity
    wrench = I @ acceleration + (spin @ I - I @ spin) @ velocity
    wrench[3:] += np.cross(velocity[:3], momentum[:3])
    wrench -= I[:, :3] @ check_vector("gravity", gravity, 3)
    return wrench
