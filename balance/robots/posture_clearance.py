"""How far apart a robot's bodies are from each other and from what is around, with derivatives.

A search for a posture keeps an eye on a few pairs only: those that were near when it last looked.
"""

from __future__ import annotations

from collections.abc import Mapping
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

NEAR_M = 0.08  # pairs that are watched
KEPT_M = 0.01  # by which bodies are to stay apart
KEPT_SHARE = 0.5  # of what they are apart as the robot's file has it stand, if that is less
CONTACT_DEPTH_M = 8e-3  # by which a body may be in what its own surface lies on


class Pair(NamedTuple):
    """Two shapes, or a shape and something around the robot: names and least distance, m."""

    one: str
    other: str
    least: float


class BodyClearance:
    """The distances of a robot's bodies; ``contacts`` are pairs (joint, object) that touch."""

    def __init__(
        self, robot: Robot, objects: Mapping[str, WorldObject], contacts: frozenset[tuple[int, str]]
    ) -> None:
        self._model, self._data = robot.model, robot.model.createData()
        shapes = robot.shapes
        self._geometry = geometry_model(shapes, robot.shape_pairs)
        self.pairs = [Pair(shapes[i].body, shapes[j].body, KEPT_M) for i, j in robot.shape_pairs]
        around = {FLOOR: (coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0), pin.SE3.Identity())}
        for name, one in objects.items():
            shape = one.shape()
            around[name] = (shape.geometry(), shape.placement)
        for name, (solid, pose) in around.items():
            number = self._geometry.addGeometryObject(pin.GeometryObject(name, 0, pose, solid))
            for i, shape in enumerate(shapes):
                touching = (shape.joint, name) in contacts
                self._geometry.addCollisionPair(pin.CollisionPair(i, number))
                self.pairs.append(Pair(shape.body, name, -CONTACT_DEPTH_M if touching else KEPT_M))
        self._found = self._geometry.createData()
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
        short = self._shortage(distances, share)
        return sorted((float(short[k]), self.pairs[k]) for k in np.flatnonzero(short < -1e-6))

    def least_gap(self, q: Array) -> tuple[float, Pair]:
        """The smallest distance (m) of a pair that does not touch, and the pair."""
        distances = np.where(self._least > 0.0, self.distances(q), np.inf)
        k = int(np.argmin(distances))
        return float(distances[k]), self.pairs[k]

    def rows(self, data: pin.Data, share: float = 1.0) -> tuple[Array, Array]:
        """What the watched pairs are apart beyond their least distances, and its Jacobian.

        ``data`` has joint placements and Jacobians.
        """
        model = self._model
        pin.updateGeometryPlacements(model, data, self._geometry, self._found)
        values = np.empty(len(self.watched))
        J = np.zeros((len(self.watched), model.nv))
        jacobians: dict[int, Array] = {}

        def velocity(joint: int, point: Array, normal: Array) -> Array:
            """Row of the velocity along ``normal`` of a ``point`` of a joint's body."""
            if joint not in jacobians:
                jacobians[joint] = pin.getJointJacobian(
                    model, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
                )
            J_joint = jacobians[joint]
            arm = point - data.oMi[joint].translation
            return np.asarray(normal @ J_joint[:3] + np.cross(arm, normal) @ J_joint[3:])

        for row, k in enumerate(self.watched):
            result = pin.computeDistance(self._geometry, self._found, k)
            pair = self._geometry.collisionPairs[k]
            first, second = (
                self._geometry.geometryObjects[i].parentJoint for i in (pair.first, pair.second)
            )
            values[row] = result.min_distance
            normal = np.array(result.normal)  # from the first to the second
            J[row] = -velocity(first, result.getNearestPoint1(), normal)
            if second:
                J[row] += velocity(second, result.getNearestPoint2(), normal)
        least = self._least[self.watched]
        return values - np.where(least > 0.0, share * least, least), J

    def _shortage(self, distances: Array, share: float) -> Array:
        return distances - np.where(self._least > 0.0, share * self._least, self._least)
