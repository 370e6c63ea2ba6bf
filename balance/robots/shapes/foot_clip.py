"""Shapes of feet, cut off above the sole, so that a robot that stands touches with its soles alone.

A sole with an area is a plane: nothing of the body that has it stays lower than ``ABOVE_SOLE_M``.
A foot that touches with a point or along a line may tilt about it, so what goes is whatever would
come lower than that at any tilt up to ``TILT_RAD``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from balance.robots.contacts import ContactSurface
from balance.robots.shapes.shape import Shape, shape_of

Array = NDArray[np.float64]

ABOVE_SOLE_M = 2e-3
TILT_RAD = np.radians(60.0)
TILTS = 8  # of a foot that touches with a point, all around
RIM_POINTS = 24  # of a cylinder's end that is cut
ALIGNED = 1e-6  # sine between a plane and the side of a box that is cut along it


def above_soles(
    shapes: Iterable[Shape], model: pin.Model, surfaces: Iterable[ContactSurface], q: Array
) -> list[Shape]:
    """The shapes, those of bodies that have a foot without what is lower than its sole.

    ``q`` is how the robot stands: the frame of a point says nothing of where the ground is.
    """
    planes: dict[int, list[Array]] = {}
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    for surface in surfaces:
        if surface.is_foot:
            frame = model.frames[surface.frame_id]
            pose = frame.placement * surface.placement
            if not surface.has_area:
                R_WJ = data.oMi[frame.parentJoint].rotation
                upright = R_WJ.T @ surface.axes(R_WJ @ pose.rotation)
                pose = pin.SE3(upright, pose.translation)
            planes.setdefault(frame.parentJoint, []).extend(_planes(surface, pose))
    found = []
    for shape in shapes:
        cut: Shape | None = shape
        for plane in planes.get(shape.joint, ()):
            cut = None if cut is None else _cut(cut, plane)
        if cut is not None:
            found.append(cut)
    return found


def _planes(surface: ContactSurface, pose: pin.SE3) -> list[Array]:
    """Planes (n, d) in the joint's frame: a point p of the body stays if n p + d >= 0."""
    tilts = [(0.0, 0.0)]
    if not surface.has_area:
        s = float(np.sin(TILT_RAD))
        if len(surface.held) > 3:  # a line along x
            tilts = [(0.0, s), (0.0, -s)]
        else:
            angles = 2.0 * np.pi * np.arange(TILTS) / TILTS
            tilts = [(s * np.cos(angle), s * np.sin(angle)) for angle in angles]
    found = []
    for x, y in tilts:
        normal = pose.rotation @ np.array([x, y, np.sqrt(1.0 - x * x - y * y)])
        found.append(np.append(normal, -normal @ pose.translation - ABOVE_SOLE_M))
    return found


def _cut(shape: Shape, plane: Array) -> Shape | None:
    """What of a shape is above a plane of its joint's frame; None if nothing is."""
    normal = shape.placement.rotation.T @ plane[:3]  # in the shape's axes
    offset = float(plane[3] + plane[:3] @ shape.placement.translation)
    lowest = offset - shape.reach(-normal)
    if lowest >= 0.0:
        return shape
    if offset + shape.reach(normal) <= ABOVE_SOLE_M:
        return None
    if shape.radius:  # a ball is not cut but raised
        up = pin.SE3(np.eye(3), -lowest * plane[:3])
        return replace(shape, placement=up * shape.placement)
    axis = int(np.argmax(np.abs(normal)))
    if shape.kind == "box" and np.linalg.norm(np.delete(normal, axis)) < ALIGNED:
        size = list(shape.size)
        size[axis] += 0.5 * lowest
        shift = pin.SE3(np.eye(3), -0.5 * lowest * normal)
        return _like(shape, shape_of("box", tuple(size), shape.placement * shift))
    points = _above(_corners(shape), normal, offset)
    return None if points is None else _like(shape, shape_of("hull", (), shape.placement, points))


def _like(shape: Shape, cut: Shape) -> Shape:
    return replace(cut, name=shape.name, body=shape.body, joint=shape.joint)


def _corners(shape: Shape) -> Array:
    """Corners of a box or hull; points of a cylinder's rims."""
    if shape.kind != "cylinder":
        return shape.points
    angles = 2.0 * np.pi * np.arange(RIM_POINTS) / RIM_POINTS
    x, y = shape.size[0] * np.cos(angles), shape.size[0] * np.sin(angles)
    return np.concatenate([np.column_stack([x, y, np.full_like(x, p[2])]) for p in shape.points])


def _above(points: Array, normal: Array, offset: float) -> Array | None:
    """Corners of what is above a plane of the hull of ``points``; None if that is flat."""
    height = points @ normal + offset
    simplices = ConvexHull(points).simplices
    edges = np.concatenate([simplices[:, [0, 1]], simplices[:, [1, 2]], simplices[:, [2, 0]]])
    one, other = edges[height[edges[:, 0]] * height[edges[:, 1]] < 0.0].T
    share = (height[one] / (height[one] - height[other]))[:, None]
    crossings = points[one] + share * (points[other] - points[one])
    left = np.concatenate([points[height >= 0.0], crossings])
    try:
        return np.asarray(left[ConvexHull(left).vertices])
    except QhullError:
        return None
