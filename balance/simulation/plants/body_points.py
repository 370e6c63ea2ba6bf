"""Where bodies touch something, or will within a step: ground, plates and each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.simulation.plants.interface import Touch

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class BodyPoints:
    """n points of bodies that touch something, or may within a step.

    Velocities and impulses of a point are three numbers in its own axes, the rows of ``axes``
    (n, 3, 3) in the world, the last of which is the normal, out of what it touches.  ``rows``
    (3 n, nv) give its velocity relative to another body, or to ground that rests; ``carried``
    (3 n,) is that of the ground.  ``gaps`` (n,) are distances, negative where one is in the other.
    ``keys`` tell the same point in another step, as well as can be told; ``who`` are the names of
    the two that touch.
    """

    points: Array
    axes: Array
    gaps: Array
    rows: Array
    carried: Array
    keys: list[int]
    who: list[tuple[str, str]]

    def chosen(self, kept: Indices, keys: list[int]) -> BodyPoints:
        """Some of the points, with other keys."""
        rows = (3 * kept[:, None] + np.arange(3)).ravel()
        return BodyPoints(
            self.points[kept],
            self.axes[kept],
            self.gaps[kept],
            self.rows[rows],
            self.carried[rows],
            keys,
            [self.who[i] for i in kept.tolist()],
        )

    def touches(self, impulses: Array, dt: float) -> tuple[Touch, ...]:
        """What the points with an impulse, of (3 n,) in all, did in a step."""
        forces = impulses.reshape(-1, 1, 3) @ self.axes / dt
        return tuple(
            Touch(*self.who[i], self.points[i], forces[i, 0], max(0.0, -float(self.gaps[i])))
            for i in np.flatnonzero(impulses.reshape(-1, 3).any(axis=1)).tolist()
        )


class PointRows:
    """Jacobians of points that are fixed to joints, many at once.

    ``data`` holds the joints' own Jacobians: column i of ``data.J`` is the velocity, at the world's
    origin, that joint velocity i gives to everything behind its joint.
    """

    def __init__(self, model: pin.Model, data: pin.Data) -> None:
        self._J = data.J
        self._moves = np.zeros((model.njoints, model.nv))
        for joint in range(1, model.njoints):
            for above in list(model.supports[joint])[1:]:
                first = model.joints[above].idx_v
                self._moves[joint, first : first + model.joints[above].nv] = 1.0

    def __call__(self, points: Array, axes: Array, joints: Indices, others: Indices) -> Array:
        """(3 n, nv): velocities in ``axes`` of points of ``joints``, as seen from ``others``.

        Joint 0 is the world.  Joints that move both cancel, to the last bit.
        """
        signs = self._moves[joints] - self._moves[others]
        rows = twist_rows(points, axes).reshape(-1, 6).dot(self._J).reshape(len(points), 3, -1)
        rows *= signs[:, None]
        return np.asarray(rows.reshape(3 * len(points), -1))


def twist_rows(points: Array, axes: Array) -> Array:
    """(n, 3, 6): velocities in ``axes`` of points that move with a twist at the world's origin."""
    # e . (v + omega x p) = e . v + (p x e) . omega
    x, y, z = (points[:, i, None] for i in range(3))
    a, b, c = (axes[:, :, i] for i in range(3))
    return np.stack([a, b, c, y * c - z * b, z * a - x * c, x * b - y * a], axis=2)


def spread(points: Array, gaps: Array) -> Indices:
    """Numbers of four points of a body on a plane that hold it nearly as all would.

    The lowest, the farthest from it, and on either side the farthest from the line through both.
    """
    lowest = int(np.argmin(gaps))
    offsets = points - points[lowest]
    farthest = int(np.argmax(np.einsum("ij,ij->i", offsets, offsets)))
    line = offsets[farthest] / max(float(np.linalg.norm(offsets[farthest])), 1e-12)
    beside = offsets - np.outer(offsets.dot(line), line)
    side = int(np.argmax(np.einsum("ij,ij->i", beside, beside)))
    other = int(np.argmin(beside.dot(beside[side])))
    return np.unique([lowest, farthest, side, other])


def normal_axes(normal: Array) -> Array:
    """Axes (3, 3) in rows, the last of which is a unit vector ``normal``."""
    helper = np.eye(3)[int(np.argmin(np.abs(normal)))]
    x = helper - helper.dot(normal) * normal
    x /= np.sqrt(x.dot(x))
    y = np.array(
        [
            normal[1] * x[2] - normal[2] * x[1],
            normal[2] * x[0] - normal[0] * x[2],
            normal[0] * x[1] - normal[1] * x[0],
        ]
    )
    return np.array([x, y, normal])
