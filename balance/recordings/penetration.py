"""How deep a robot's bodies are in the floor and in each other, from its states alone.

Geometry says it whatever engine ran, and also where ``plant.collisions`` let bodies pass through.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.dynamics.placements import joint_placements
from balance.recordings.recording import Recording, once
from balance.robots import Robot
from balance.robots.clearance import bodies_off_the_ground
from balance.robots.shapes.robot_shapes import distances
from balance.robots.shapes.shape import Shape
from balance.simulation.ground import GroundMotion, ground_motion
from balance.simulation.world import FLOOR, obstacles

Array = NDArray[np.float64]


class FloorHeights:
    """Where the lowest points of a robot's shapes are above the floor, in many states at once."""

    def __init__(self, robot: Robot, ground: GroundMotion | None) -> None:
        self._ground, self._shapes = ground, robot.shapes
        self._floor = next(one for one in obstacles(robot, ground) if one.name == FLOOR)
        self._joints = [shape.joint for shape in robot.shapes]
        self._origins = np.array([[*shape.placement.translation, 1.0] for shape in robot.shapes])
        self._radii = np.array([_radius(shape) for shape in robot.shapes])
        self.every = list(range(len(robot.shapes)))
        off = set(bodies_off_the_ground(robot.model, robot.soles))
        self.without_sole = [i for i in self.every if self._joints[i] in off]

    def lowest(self, seen: tuple[Array, Array], shapes: Sequence[int]) -> Array:
        """Height (n,) of the lowest point of some shapes over the floor, m; inf without any.

        Shapes that are higher than others in all of the states ``seen`` are not looked at closely.
        """
        frames, centres = seen
        bounds = centres - self._radii
        lowest = np.full(len(frames), np.inf)
        for index in sorted(shapes, key=lambda i: float(bounds[:, i].min())):
            if bounds[:, index].min() >= lowest.max():
                break
            np.minimum(lowest, self._height(index, frames, centres), out=lowest)
        return lowest

    def lowest_body(self, time: float, placements: Array, shapes: Sequence[int]) -> str:
        """Name of the body that is the lowest in one state."""
        frames, centres = self.see(np.array([time]), placements[None])
        return self._shapes[
            min(shapes, key=lambda i: float(self._height(i, frames, centres)[0]))
        ].body

    def see(self, time: Array, placements: Array) -> tuple[Array, Array]:
        """Components along the floor's normal: of the joints' axes and origins, of the shapes'.

        ``placements`` (n, njoints, 4, 3) are those of the joints at n times.
        """
        if self._ground is not None and self._floor.moves:
            placements = self._ground.relative(time, placements)
        normal = self._floor.pose.rotation[:, 2]
        frames = placements @ normal
        frames[..., 3] -= self._floor.pose.translation @ normal
        return frames, np.einsum("nsi,si->ns", frames[:, self._joints], self._origins)

    def _height(self, index: int, frames: Array, centres: Array) -> Array:
        """Height (n,) of the lowest point of a shape, m."""
        shape = self._shapes[index]
        down = -frames[:, shape.joint, :3] @ shape.placement.rotation
        return np.asarray(centres[:, index] - reach(shape, down))


def lowest_body(recording: Recording, row: int) -> str:
    """Name of the body, of those that carry no sole, that is the lowest in a recorded state."""
    robot = recording.robot
    heights = FloorHeights(robot, ground_motion(robot, recording.config))
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, recording.q[row])
    time = float(recording.time[row])
    return heights.lowest_body(time, joint_placements(data), heights.without_sole)


@once
def deepest_overlap(recording: Recording) -> tuple[float, str | None]:
    """How deep a body was in another one, m, and which two they are; None if none was."""
    depths = recording.penetration[:, 1]
    if not depths.size or not depths.max() > 0.0:
        return 0.0, None
    row, robot = int(np.argmax(depths)), recording.robot
    apart = distances(robot, robot.shape_pairs, recording.q[row])
    first, second = robot.shape_pairs[int(np.argmin(apart))]
    return float(depths[row]), f"{robot.shapes[first].body} and {robot.shapes[second].body}"


def _radius(shape: Shape) -> float:
    """Radius (m) about its origin of a ball that holds the shape."""
    if shape.kind == "cylinder":
        radius, half = shape.size
        return float(np.hypot(radius, half))
    return float(np.linalg.norm(shape.points, axis=1).max()) + shape.radius


def reach(shape: Shape, directions: Array) -> Array:
    """How far (n,) a shape reaches from its origin along unit vectors (n, 3) in its axes, m."""
    if shape.kind == "cylinder":
        radius, half = shape.size
        across = np.hypot(directions[:, 0], directions[:, 1])
        return np.asarray(radius * across + half * np.abs(directions[:, 2]))
    return np.asarray((directions @ shape.points.T).max(axis=1) + shape.radius)
