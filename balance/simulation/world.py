"""What stands around a robot: the floor, and a plate under every surface that is not on it.

Soles touch the planes that their stance gives them, which have no end.  The other bodies touch what
is listed here.  A robot may start with none of them in another or in an obstacle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.errors import ConfigError
from balance.robots import Robot
from balance.robots.contacts import ContactSurface
from balance.robots.shapes.proximity import Plate, Proximity
from balance.robots.support_polygon import feet
from balance.simulation.ground import GroundMotion

Array = NDArray[np.float64]

FLOOR = "ground"
PLATE_MARGIN_M = 0.03  # of a plate around the surface that lies on it; a forearm is beyond
PLATE_THICKNESS_M = 0.04
SAME_PLANE = 1e-9
START_DEPTH_M = 1e-4  # by which bodies may be in each other or in an obstacle when a run starts

Collisions = Literal["none", "ground", "all"]


@dataclass(frozen=True)
class Obstacle:
    """Something that bodies can touch.

    ``pose`` has its origin on the top and z out of it.  ``half_size`` are the half sides of a plate
    along x and y, m; None for a floor without end; ``depth`` is how thick a plate is, m.
    ``surfaces`` are contact surfaces that lie on a plate, or hands and knees that a sequence of
    stances puts on the floor: the bodies that have them are left to those surfaces.  With ``moves``
    it goes along with ground that moves.
    """

    name: str
    pose: pin.SE3
    half_size: tuple[float, float] | None = None
    surfaces: tuple[str, ...] = ()
    moves: bool = False
    depth: float = PLATE_THICKNESS_M

    @property
    def box(self) -> tuple[pin.SE3, Array]:
        """Centre and half sides (3,) of a plate."""
        assert self.half_size is not None
        half = np.array([*self.half_size, 0.5 * self.depth])
        return self.pose * pin.SE3(np.eye(3), np.array([0.0, 0.0, -half[2]])), half


def obstacles(robot: Robot, ground: GroundMotion | None = None) -> tuple[Obstacle, ...]:
    """The floor and the plates around ``robot``, as they are before anything moves.

    The floor is the plane on which all feet stand; where they stand on several, it is level and as
    low as the lowest corner of a foot, and each of them has a plate.  Around a robot with objects
    there are a level floor and these.
    """
    if robot.objects:
        level = pin.SE3.Identity()
        return (Obstacle(FLOOR, level, surfaces=_closer(robot, level)), *_objects(robot))
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    standing = feet(robot)
    carried = frozenset() if ground is None else ground.surfaces
    first = standing[0].plane
    if all(first.isApprox(foot.plane, SAME_PLANE) for foot in standing):
        floor = first
    else:
        low = min(float(foot.pose(data).act(c)[2]) for foot in standing for c in foot.corners)
        floor = pin.SE3(np.eye(3), np.array([0.0, 0.0, low]))
    moves = any(foot.name in carried for foot in standing)
    found = [Obstacle(FLOOR, floor, surfaces=_closer(robot, floor), moves=moves)]
    for surface in robot.soles:
        if not surface.plane.isApprox(floor, SAME_PLANE):
            found.append(_plate(surface, data, surface.name in carried))
    return tuple(found)


def _closer(robot: Robot, floor: pin.SE3) -> tuple[str, ...]:
    """Surfaces of a sequence that lie on the floor and nearer to their bodies than feet do."""
    return tuple(
        surface.name
        for surface in robot.soles
        if robot.in_turns and not surface.is_foot and surface.plane.isApprox(floor, SAME_PLANE)
    )


def _objects(robot: Robot) -> Iterator[Obstacle]:
    """The objects as plates; feet keep off what they do not stand on, other surfaces lie closer."""
    closer = tuple(surface.name for surface in robot.soles if not surface.is_foot)
    for one in robot.objects:
        yield Obstacle(one.name, one.pose, one.half_size, closer, depth=one.depth)


def _plate(surface: ContactSurface, data: pin.Data, moves: bool) -> Obstacle:
    """A plate whose middle is under a surface and whose sides are along the surface's."""
    on_it = surface.pose_on_plane(data)
    heading = float(np.arctan2(on_it.rotation[1, 0], on_it.rotation[0, 0]))
    turn = pin.rpy.rpyToMatrix(0.0, 0.0, heading if len(surface.held) > 3 else 0.0)
    pose = surface.plane * pin.SE3(turn, np.append(on_it.translation[:2], 0.0))
    half = surface.half_length + PLATE_MARGIN_M, surface.half_width + PLATE_MARGIN_M
    return Obstacle(f"plate of {surface.name}", pose, half, (surface.name,), moves)


def proximity(
    robot: Robot, around: Sequence[Obstacle], bodies: bool, wider: float = 1.0
) -> Proximity:
    """What of ``robot`` is near the obstacles of :func:`obstacles` and, with ``bodies``, itself.

    ``wider`` multiplies the margins within which something is near.
    """
    carriers = {s.name: robot.model.frames[s.frame_id].parentJoint for s in robot.soles}
    plates = [
        Plate(
            obstacle.pose,
            (*obstacle.half_size, 0.5 * obstacle.depth),
            tuple(carriers[name] for name in obstacle.surfaces),
        )
        for obstacle in around
        if obstacle.half_size is not None
    ]
    floor = around[0]
    spared = [carriers[name] for name in floor.surfaces]
    return Proximity(robot, floor.pose, plates, bodies, wider, spared)


def check_start(robot: Robot, around: Sequence[Obstacle], collisions: Collisions) -> None:
    """Refuse a start with a body in another or in an obstacle, whichever can touch.

    Bodies that overlap in the posture of the robot's own file belong together and never do.
    """
    if collisions == "none":
        return
    found = sorted(_overlaps(robot, around, collisions == "all"), reverse=True)
    if not found:
        return
    depth, what = found[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    raise ConfigError(
        f"robot '{robot.name}' starts with {what} by {1e3 * depth:.3g} mm{more}; change posture "
        "or planes of its stance, or set plant.collisions to what may touch"
    )


def _overlaps(
    robot: Robot, around: Sequence[Obstacle], bodies: bool
) -> Iterator[tuple[float, str]]:
    """What is in what as the robot stands, and how deep, m."""
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, robot.q_nominal)
    close = proximity(robot, around, bodies)
    shapes, plates = robot.shapes, [one for one in around if one.half_size is not None]
    deepest: dict[str, float] = {}
    for near in close.self_contacts(data):
        plate = near.j - len(shapes)
        other = f"'{shapes[near.j].body}'" if plate < 0 else f"the {plates[plate].name}"
        what = f"the body '{shapes[near.i].body}' in {other}"
        deepest[what] = max(deepest.get(what, 0.0), -near.distance)
    _, heights, numbers = close.ground_points(data)
    for height, number in zip(heights.tolist(), numbers.tolist(), strict=True):
        what = f"the body '{shapes[number].body}' in the {around[0].name}"
        deepest[what] = max(deepest.get(what, 0.0), -height)
    return ((depth, what) for what, depth in deepest.items() if depth > START_DEPTH_M)
