"""Feet of a URDF, found by what is lowest, and rectangles under them, by their geometry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from balance.errors import RobotError

Array = NDArray[np.float64]

REACH = 0.06  # of the robot's height: how much higher than the lowest one another foot may end
THICKNESS_M = 0.008  # points this close to the lowest of a foot are its sole
SMALLEST_M = 0.03  # a sole that is smaller both ways is a point
BEHIND = 0.1  # of a sole's length: a centre that far behind the ankle is before it
ROUND = 12  # points on the rim of a round shape


@dataclass(frozen=True)
class Foot:
    """A sole under the link of a joint; ``size`` is None for a point."""

    link: str
    frame: int
    joint: int
    placement: pin.SE3
    size: tuple[float, float] | None

    def keys(self) -> dict[str, Any]:
        """The section of the robot's file."""
        centre = [round(float(x), 4) + 0.0 for x in self.placement.translation]
        found: dict[str, Any] = {"frame": self.link, "centre": centre}
        if np.abs(self.placement.rotation - np.eye(3)).max() > 1e-3:
            rpy = pin.rpy.matrixToRpy(self.placement.rotation)
            found["rpy"] = [round(float(x), 6) + 0.0 for x in rpy]
        if self.size is None:
            return found | {"points": [[0.0, 0.0]]}
        length, width = (round(float(side), 3) for side in self.size)
        return found | {"length": length, "width": width}

    def words(self) -> str:
        """What it is."""
        if self.size is None:
            return f"a point at the lowest end of {self.link}"
        return (
            f"{self.size[0]:.3f} m x {self.size[1]:.3f} m, the largest rectangle inside "
            f"the lowest {1e3 * THICKNESS_M:g} mm of {self.link}"
        )


def find_feet(
    model: pin.Model, urdf: Path, packages: Sequence[Path]
) -> tuple[dict[str, Foot], bool]:
    """The links at the ends of limbs that are lowest with all joints at zero, by name.

    And whether the robot looks backwards along the x axis of its base: its feet then reach further
    that way from their ankles.
    """
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    clouds = _clouds(model, data, urdf, packages)
    every = np.concatenate([points for _, points in clouds])
    ground, height = float(every[:, 2].min()), float(np.ptp(every[:, 2]))
    ends = {j for j in range(2, model.njoints) if not any(p == j for p in model.parents[2:])}
    lowest: dict[int, tuple[float, int]] = {}
    for frame, points in clouds:
        joint, low = model.frames[frame].parentJoint, float(points[:, 2].min())
        if joint in ends and low < ground + REACH * height:
            lowest[joint] = min(lowest.get(joint, (np.inf, 0)), (low, frame))
    if not lowest:
        raise RobotError(
            f"the URDF {urdf}: nothing at the end of a limb is near the lowest point of the robot "
            "with all joints at zero; write 'soles' by hand (docs/robots.md)"
        )
    feet: list[Foot] = []
    for joint, (low, frame) in lowest.items():
        points = np.concatenate(
            [cloud for one, cloud in clouds if model.frames[one].parentJoint == joint]
        )
        sole = points[points[:, 2] < low + THICKNESS_M]
        feet.append(_foot(model, data, frame, joint, sole, low))
    turned = len(feet) == 2 and all(_backwards(foot, data) for foot in feet)
    if turned:
        half = pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, np.pi), np.zeros(3))
        feet = [replace(foot, placement=foot.placement * half) for foot in feet]
    return _named(feet, data, turned), turned


def _backwards(foot: Foot, data: pin.Data) -> bool:
    ankle = data.oMi[foot.joint]
    way = float((data.oMf[foot.frame] * foot.placement).translation[0] - ankle.translation[0])
    return foot.size is not None and way < -BEHIND * foot.size[0]


def _clouds(
    model: pin.Model, data: pin.Data, urdf: Path, packages: Sequence[Path]
) -> list[tuple[int, Array]]:
    """Index of a link's frame, and points on it in the world; of what touches, else of looks."""
    for kind in (pin.GeometryType.COLLISION, pin.GeometryType.VISUAL):
        try:
            geometry = pin.buildGeomFromUrdf(
                model, str(urdf), kind, package_dirs=[str(folder) for folder in packages]
            )
        except (ValueError, RuntimeError) as error:
            reason = str(error).strip().splitlines()[-1]
            raise RobotError(f"a mesh of the URDF {urdf} cannot be read: {reason}") from None
        found = []
        for shape in geometry.geometryObjects:
            pose, points = data.oMi[shape.parentJoint] * shape.placement, surface_points(shape)
            if len(points):
                placed = points @ pose.rotation.T + pose.translation
                found.append((int(shape.parentFrame), placed))
        if found:
            return found
    raise RobotError(f"the URDF {urdf} has no shapes to find soles by; write 'soles' by hand")


def surface_points(shape: pin.GeometryObject) -> Array:
    """Points on a shape in its own frame, among them its lowest ones whichever way it is turned."""
    geometry, kind = shape.geometry, type(shape.geometry).__name__
    if hasattr(geometry, "vertices"):
        points = np.array(geometry.vertices()).reshape(-1, 3)
        path = Path(shape.meshPath)
        # Collada files may have y upwards, which the mesh reader leaves as it is.
        if path.suffix.lower() == ".dae" and b"Z_UP" not in path.read_bytes():
            points = points[:, [0, 2, 1]] * [1.0, -1.0, 1.0]
        return points
    if kind == "Sphere":
        return geometry.radius * _directions()
    if kind == "Capsule":
        ends = np.array([[0.0, 0.0, -geometry.halfLength], [0.0, 0.0, geometry.halfLength]])
        return np.concatenate([end + geometry.radius * _directions() for end in ends])
    if kind == "Cylinder":
        angles = np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
        rim = geometry.radius * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
        up = np.array([0.0, 0.0, geometry.halfLength])
        return np.concatenate([rim - up, rim + up])
    geometry.computeLocalAABB()
    box = geometry.aabb_local
    return np.array(np.meshgrid(*zip(box.min_, box.max_, strict=True))).reshape(3, -1).T


def _directions() -> Array:
    """The axes and the corners between them, as unit vectors."""
    steps = np.array(np.meshgrid([-1, 0, 1], [-1, 0, 1], [-1, 0, 1])).reshape(3, -1).T
    steps = steps[np.abs(steps).any(axis=1)].astype(float)
    return np.asarray(steps / np.linalg.norm(steps, axis=1, keepdims=True))


def _foot(
    model: pin.Model, data: pin.Data, frame: int, joint: int, sole: Array, low: float
) -> Foot:
    centre, sides = inner_rectangle(sole[:, :2])
    pose = pin.SE3(np.eye(3), np.array([*centre, low]))
    size = None if max(sides) < SMALLEST_M else sides
    return Foot(str(model.frames[frame].name), frame, joint, data.oMf[frame].actInv(pose), size)


def inner_rectangle(points: Array) -> tuple[Array, tuple[float, float]]:
    """Centre and sides, along x and y, of a rectangle inside the convex hull of points (n, 2).

    Its centre is that of the box around them; of all such rectangles it is the largest.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    centre, half = 0.5 * (low + high), 0.5 * (high - low)
    try:
        planes = ConvexHull(points).equations
    except (QhullError, ValueError):  # a line, or too few points
        return centre, (2.0 * float(half[0]), 2.0 * float(half[1]))
    # A corner (x, y) is inside an edge if |n_x| x + |n_y| y is less than the edge's distance.
    room, normals = -(planes[:, :2] @ centre + planes[:, 2]), np.abs(planes[:, :2])
    best = (0.0, 0.0)
    for x in np.linspace(0.3, 1.0, 141) * half[0]:
        left = room - normals[:, 0] * x
        with np.errstate(divide="ignore", invalid="ignore"):
            y = float(np.where(normals[:, 1] > 1e-9, left / normals[:, 1], np.inf).min())
        if left.min() > -1e-9 and y > 0.0 and x * y > best[0] * best[1]:
            best = float(x), y
    return centre, (2.0 * best[0], 2.0 * best[1])


def _named(feet: Sequence[Foot], data: pin.Data, turned: bool) -> dict[str, Foot]:
    """By where they are: left and right, front and hind if there are more than two."""
    places = np.array([(data.oMf[foot.frame] * foot.placement).translation for foot in feet])
    places *= -1.0 if turned else 1.0
    middle = places.mean(axis=0)
    named: dict[str, Foot] = {}
    for foot, place in zip(feet, places, strict=True):
        side = "left" if place[1] > middle[1] else "right"
        name = side if len(feet) <= 2 else f"{'front' if place[0] > middle[0] else 'hind'} {side}"
        while name in named:
            name += " too"
        named[name] = foot
    return dict(sorted(named.items()))
