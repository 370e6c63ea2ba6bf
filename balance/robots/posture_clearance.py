"""How far apart a robot's bodies are from each other and from what is around, with derivatives.

A search for a posture keeps an eye on a few pairs only: those that were near when it last looked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config.phases import FLOOR
from balance.robots import Robot
from balance.robots.objects import WorldObject
from balance.robots.shapes.robot_shapes import geometry_model

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

NEAR_M = 0.05  # pairs that are watched
KEPT_M = 0.01  # by which bodies are to stay apart
KEPT_SHARE = 0.5  # of what they are apart as the robot's file has it stand, if that is less
SHORT_M = 2e-4  # by which a least distance may be missed: distances of hulls are known to 1e-5 m
CONTACT_DEPTH_M = 8e-3  # by which a body may be in what its own surface lies on; a foot is not


class Pair(NamedTuple):
    """Two shapes, or a shape and something around the robot: names and least distance, m."""

    one: str
    other: str
    least: float


class BodyClearance:
    """The distances of a robot's bodies.

    ``lying`` says which surfaces, by name, lie on which objects or on the floor.
    """

    def __init__(
        self, robot: Robot, objects: Mapping[str, WorldObject], lying: Mapping[str, str | None]
    ) -> None:
        self._model, self._data = robot.model, robot.model.createData()
        shapes = robot.shapes
        self._geometry = geometry_model(shapes, robot.shape_pairs)
        self.pairs = [Pair(shapes[i].body, shapes[j].body, KEPT_M) for i, j in robot.shape_pairs]
        around = {FLOOR: (coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0), pin.SE3.Identity())}
        for name, one in objects.items():
            shape = one.shape()
            around[name] = (shape.geometry(), shape.placement)
        touching = _contact_depths(robot, lying)
        for name, (solid, pose) in around.items():
            number = self._geometry.addGeometryObject(pin.GeometryObject(name, 0, pose, solid))
            for i, shape in enumerate(shapes):
                self._geometry.addCollisionPair(pin.CollisionPair(i, number))
                self.pairs.append(Pair(shape.body, name, touching.get((shape.joint, name), KEPT_M)))
        self._found = self._geometry.createData()
        parents = np.array([one.parentJoint for one in self._geometry.geometryObjects])
        numbers = [[pair.first, pair.second] for pair in self._geometry.collisionPairs]
        self._joints = parents[np.array(numbers, dtype=np.int64)]
        self._least = np.array([pair.least for pair in self.pairs])
        own = len(robot.shape_pairs)
        self._least[:own] = np.minimum(KEPT_M, KEPT_SHARE * self.distances(robot.q_file)[:own])
        self.watched: list[int] = []

    def distances(self, q: Array) -> Array:
        """Distance (m) of every pair; negative where they overlap."""
        pin.computeDistances(self._model, self._data, self._geometry, self._found, q)
        return np.array([result.min_distance for result in self._found.distanceResults])

    def look(self, q: Array, share: float = 1.0) -> list[tuple[float, Pair]]:
        """Watch what is near at ``q`` from now on, too; what is nearer there than it may be.

        ``share`` is the part of the least distances that counts.
        """
        distances = self.distances(q)
        near = distances < NEAR_M
        self.watched = sorted({*self.watched, *np.flatnonzero(near).tolist()})
        short = self._beyond(distances, slice(None), share)
        return sorted((float(short[k]), self.pairs[k]) for k in np.flatnonzero(short < -SHORT_M))

    def least_gap(self, q: Array) -> tuple[float, Pair]:
        """The smallest distance (m) of a pair that does not touch, and the pair."""
        distances = np.where(self._least > 0.0, self.distances(q), np.inf)
        k = int(np.argmin(distances))
        return float(distances[k]), self.pairs[k]

    def rows(self, data: pin.Data, share: float = 1.0) -> tuple[Array, Array]:
        """What the watched pairs are apart beyond their least distances, and its Jacobian.

        ``data`` has joint placements and Jacobians.
        """
        pin.updateGeometryPlacements(self._model, data, self._geometry, self._found)
        n = len(self.watched)
        values, normals, points = np.empty(n), np.empty((n, 3)), np.empty((2, n, 3))
        for row, k in enumerate(self.watched):
            result = pin.computeDistance(self._geometry, self._found, k)
            values[row] = result.min_distance
            normals[row] = result.normal  # from the first to the second
            points[0, row], points[1, row] = result.getNearestPoint1(), result.getNearestPoint2()
        J = self._speeds(data, self._joints[self.watched, 1], points[1], normals)
        J -= self._speeds(data, self._joints[self.watched, 0], points[0], normals)
        return self._beyond(values, self.watched, share), J

    def _speeds(self, data: pin.Data, joints: Numbers, points: Array, normals: Array) -> Array:
        """Rows (n, nv) of the velocities of bodies' ``points`` along ``normals``, both (n, 3)."""
        model = self._model
        J = np.zeros((len(joints), model.nv))
        for joint in np.unique(joints):
            if joint == 0:  # what is around stays
                continue
            own = joints == joint
            J_joint = pin.getJointJacobian(
                model, data, int(joint), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
            )
            arms = points[own] - data.oMi[int(joint)].translation
            J[own] = normals[own] @ J_joint[:3] + np.cross(arms, normals[own]) @ J_joint[3:]
        return J

    def _beyond(self, distances: Array, pairs: Sequence[int] | slice, share: float) -> Array:
        """Distances beyond the least ones, of which ``share`` counts."""
        least = self._least[pairs]
        return np.asarray(distances - np.where(least > 0.0, share * least, least))


def _contact_depths(
    robot: Robot, lying: Mapping[str, str | None]
) -> dict[tuple[int, str | None], float]:
    """Least distance (m) of a joint's body from what one of its surfaces lies on.

    The shapes of feet end above their soles; those of other bodies are round where surfaces are
    flat, or larger.
    """
    joints = {s.name: int(robot.model.frames[s.frame_id].parentJoint) for s in robot.surfaces}
    feet = {joints[surface.name] for surface in robot.surfaces if surface.is_foot}
    return {
        (joints[name], on): 0.0 if joints[name] in feet else -CONTACT_DEPTH_M
        for name, on in lying.items()
    }
