"""Arms are held out of the way of legs that step: soft rows on accelerations.

A body of a leg and one of another limb shall stay ``KEEP_M`` apart, along the line between them
like a critically damped spring,

    n (J_i - J_j) dv/dt = k^2 (keep - d) - 2 k n (J_i - J_j) v,

where that pushes them apart: where they are nearer, or come nearer so fast that they soon would be.
Arms are light and little is asked of them, so that it is they that give way.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.whole_body import BodyView
from balance.dynamics.compiled import compiled
from balance.robots import Robot
from balance.robots.capability.body import contact_joints
from balance.robots.shapes.robot_shapes import geometry_model

Array = NDArray[np.float64]

KEEP_M = 0.03  # between a leg and another limb
SEEN_M = 0.12  # between the same, from where on they are looked at: limbs meet at some m/s
SOFT_M = 0.01  # too near, at rest, or as fast as calls for the same: rows have all their weight
RATE = 8.0  # k in units of omega


class LimbsApart:
    """The pairs of bodies of a robot, one of a leg and one of another limb, that may touch."""

    def __init__(self, robot: Robot, omega: float) -> None:
        model, self._rate = robot.model, RATE * omega
        legs = {int(joint) + 2 for joint in contact_joints(robot, robot.soles)}
        trunk = {1, *_trunk(model, legs)}
        shapes = robot.shapes
        pairs = tuple(
            (i, j)
            for i, j in robot.shape_pairs
            if (shapes[i].joint in legs) != (shapes[j].joint in legs)
            and not {shapes[i].joint, shapes[j].joint} & trunk
        )
        self._pairs = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        self._geometry = geometry_model(shapes, pairs)
        self._found = self._geometry.createData()
        self._places = [one.placement.copy() for one in self._geometry.geometryObjects]
        balls = [shape.ball for shape in shapes]
        self._joints = [shape.joint for shape in shapes]
        centres = np.array([[*centre, 1.0] for centre, _ in balls]).reshape(-1, 4)
        radii = np.array([radius for _, radius in balls])
        self._reach = radii[self._pairs].sum(axis=1) + SEEN_M
        # Of the shapes in pairs their numbers and joints; of the pairs, numbers among those.
        used = np.unique(self._pairs)
        self._centres, self._radii = np.ascontiguousarray(centres[used]), radii[used]
        self._ball_joints = np.array([self._joints[i] for i in used], dtype=np.intp)
        self._ball_pairs = np.searchsorted(used, self._pairs)
        self._none = np.zeros((0, model.nv)), np.zeros(0)

    def rows(self, here: BodyView) -> tuple[Array, Array]:
        """Rows (n, nv) and values (n,) in m/s^2, each with its weight's root in it."""
        near = self._near(here)
        if not len(near):
            return self._none
        rows, values = [], []
        for pair in near:
            result = pin.computeDistance(self._geometry, self._found, int(pair))
            if result.min_distance > SEEN_M:
                continue
            i, j = self._pairs[pair]
            # From the second body to the first, also where they overlap.
            normal = -np.asarray(result.normal)
            J = self._jacobian(here, i, result.getNearestPoint1())
            J -= self._jacobian(here, j, result.getNearestPoint2())
            row = normal.dot(J)
            # As much too near as at rest would call for the same acceleration.
            short = KEEP_M - result.min_distance - 2.0 / self._rate * float(row.dot(here.v))
            if short > 0.0:
                weight, value = min(short / SOFT_M, 1.0), self._rate**2 * short
                rows.append(weight * row)
                values.append(weight * value)
        return np.array(rows).reshape(-1, here.model.nv), np.array(values)

    def _near(self, here: BodyView) -> NDArray[np.intp]:
        """Numbers of the pairs whose balls are near each other; their shapes are placed."""
        near = near_pairs(
            here.placements, here.velocities, self._centres, self._radii, self._ball_joints,
            self._ball_pairs, self._reach, 2.0 / self._rate,
        )  # fmt: skip
        if len(near):
            for number in set(self._pairs[near].ravel().tolist()):
                own = self._places[number]
                self._found.oMg[number] = here.data.oMi[self._joints[number]] * own
        return near

    def _jacobian(self, here: BodyView, shape: int, point: Array) -> Array:
        """Of a ``point`` (3,) in the world that moves with a shape, (3, nv)."""
        joint = self._joints[shape]
        local = pin.SE3(np.eye(3), here.data.oMi[joint].actInv(point))
        world = pin.LOCAL_WORLD_ALIGNED
        J = pin.getFrameJacobian(here.model, here.data, joint, local, world)
        return np.asarray(J[:3])


@compiled
def near_pairs(
    placements: Array,
    velocities: Array,
    centres: Array,
    radii: Array,
    joints: NDArray[np.intp],
    pairs: NDArray[np.intp],
    reach: Array,
    ahead: float,
) -> NDArray[np.intp]:
    """Numbers of the pairs (n, 2) of which bodies may be too near, or be so ``ahead`` s from now.

    Bodies are in balls with ``radii`` (k,) about ``centres`` (k, 4), (x, y, z, 1) in the frames of
    their joints; none that are farther apart than ``reach`` (n,) count.
    """
    placed = placements[joints]
    places = np.zeros((len(joints), 3))
    for i in range(4):
        places += centres[:, i : i + 1] * placed[:, i]
    apart = places[pairs[:, 0]] - places[pairs[:, 1]]
    x, y, z = apart[:, 0], apart[:, 1], apart[:, 2]
    squares = x * x + y * y + z * z
    near = np.flatnonzero(squares < reach * reach)
    if len(near):
        one, other = pairs[near, 0], pairs[near, 1]
        v, whirl = ball_speeds(placed[one], velocities[joints[one]], centres[one], radii[one])
        w, turns = ball_speeds(
            placed[other], velocities[joints[other]], centres[other], radii[other]
        )
        x, y, z = v[:, 0] - w[:, 0], v[:, 1] - w[:, 1], v[:, 2] - w[:, 2]
        fastest = np.sqrt(x * x + y * y + z * z) + whirl + turns
        close = radii[one] + radii[other] + KEEP_M + ahead * fastest
        near = near[squares[near] < close * close]
    return near


@compiled
def ball_speeds(
    placed: Array, velocities: Array, centres: Array, radii: Array
) -> tuple[Array, Array]:
    """Velocities (n, 3) of balls' centres, and by how much faster (n,) a point of a ball may be."""
    linear, angular = velocities[:, :3], velocities[:, 3:]
    x, y, z = centres[:, 0], centres[:, 1], centres[:, 2]
    a, b, c = angular[:, 0], angular[:, 1], angular[:, 2]
    own = (linear[:, 0] + b * z - c * y, linear[:, 1] + c * x - a * z, linear[:, 2] + a * y - b * x)
    speeds = np.zeros((len(radii), 3))
    for i in range(3):
        speeds += own[i].reshape(-1, 1) * placed[:, i]
    return speeds, radii * np.sqrt(a * a + b * b + c * c)


def _trunk(model: pin.Model, legs: set[int]) -> set[int]:
    """Joints that carry more than one limb each, beside the base."""
    branches = {
        joint
        for joint in range(2, model.njoints)
        if sum(model.parents[other] == joint for other in range(model.njoints)) > 1
    }
    carrying = set()
    for joint in branches - legs:
        while joint > 1:
            carrying.add(joint)
            joint = model.parents[joint]
    return carrying
