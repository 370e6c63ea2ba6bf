"""Contact surfaces and the cone of wrenches that they can transmit.

A surface is a rectangle fixed to a frame of the robot, or a few points in a plane.  Its own frame S
sits at the centre of the rectangle, x and y along its sides, z out of the ground.  Wrenches are
(force, moment), taken at that centre and in those axes unless a name says otherwise; where points
span no area, about which the body may turn, in axes that stay with the plane it touches.  The cone
of points is in :mod:`balance.robots.contact_points`, what a contact holds in
:mod:`balance.robots.contact_rows`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from balance.errors import InputError

Array = NDArray[np.float64]

POINT_RADIUS_M = 1e-3  # points that are nearer to each other, or to a line, lie there
UPRIGHT = 1e-9  # sine between a line of points and the normal of its plane


@dataclass(frozen=True)
class ContactSurface:
    """A rectangle, or points, on a robot's body that may touch the environment.

    ``frame`` is a frame of the model; ``placement`` puts the surface's frame S (centre of the
    rectangle, z out of the ground) in it.  ``half_length`` and ``half_width`` are in metres, along
    x and y of S.  ``plane`` places the plane that it touches in the world, z out of the plane; the
    default is level ground at z = 0.  ``points``, (x, y) in S, touch instead of the rectangle's
    corners if there are any; the rectangle then is what they lie in.  Points that span no area are
    at y = 0: on the x axis if they are on one line, in the origin if they are one.  A robot stands
    on what ``is_foot``; anything else may bear load, but is no part of its support polygon.
    """

    name: str
    frame: str
    frame_id: int
    placement: pin.SE3
    half_length: float
    half_width: float
    plane: pin.SE3 = field(default_factory=pin.SE3.Identity)
    points: tuple[tuple[float, float], ...] = ()
    is_foot: bool = True

    @property
    def corners(self) -> Array:
        """Where it touches, in S (n, 3), m: its points, or else the rectangle's four corners.

        Those are front left, front right, rear right, rear left.
        """
        if self.points:
            return np.array([[x, y, 0.0] for x, y in self.points])
        x, y = self.half_length, self.half_width
        return np.array([[x, y, 0.0], [x, -y, 0.0], [-x, -y, 0.0], [-x, y, 0.0]])

    @cached_property
    def has_area(self) -> bool:
        """Whether it can hold the body it is on level: fewer than three points cannot."""
        return spans_area(self.corners[:, :2])

    @cached_property
    def held(self) -> tuple[int, ...]:
        """Which of (v_x, v_y, v_z, omega_x, omega_y, omega_z) the contact holds, in :meth:`axes`.

        RobotDynamicsETH (2.253)-(2.255): three of a point, five of points on a line.
        """
        if self.has_area:
            return (0, 1, 2, 3, 4, 5)
        x, y = np.abs(self.corners[:, :2]).max(axis=0)
        if y > POINT_RADIUS_M:
            raise InputError(
                f"the points of '{self.name}' lie on a line that is {y:.4g} m off its x axis; turn "
                "its placement so that they lie along x"
            )
        return (0, 1, 2, 4, 5) if x > POINT_RADIUS_M else (0, 1, 2)

    def axes(self, R_WS: Array, R_WP: Array | None = None) -> Array:
        """Axes C, in world axes, in which wrenches are given and velocities held.

        ``R_WS`` are those of S and ``R_WP`` those of the plane, if it is not where ``plane`` says.
        """
        if self.has_area:
            return R_WS
        R_WP = self.plane.rotation if R_WP is None else R_WP
        if len(self.held) == 3:
            return R_WP
        x, normal = R_WS[:, 0], R_WP[:, 2]
        z = normal - (normal @ x) * x
        length = float(np.linalg.norm(z))
        if length < UPRIGHT:  # the line stands on its end
            return R_WS
        z /= length
        return np.column_stack([x, np.cross(z, x), z])

    @cached_property
    def edges(self) -> Array:
        """Rows (a, b, c), with a x + b y + c the distance (m) of (x, y) beyond an edge of it."""
        return np.asarray(ConvexHull(self.corners[:, :2]).equations)

    def pose(self, data: pin.Data) -> pin.SE3:
        """Pose of S in the world, from a ``data`` whose frame placements are up to date."""
        return data.oMf[self.frame_id] * self.placement

    def wrench_pose(self, data: pin.Data) -> pin.SE3:
        """Pose of the axes C, in which wrenches are given, at the centre of the surface."""
        pose = self.pose(data)
        return pose if self.has_area else pin.SE3(self.axes(pose.rotation), pose.translation)

    def pose_on_plane(self, data: pin.Data) -> pin.SE3:
        """Pose of S relative to the plane that it touches."""
        return self.plane.actInv(self.pose(data))


def spans_area(points: Array) -> bool:
    """Whether points (n, 2) in m are not all within ``POINT_RADIUS_M`` of one line."""
    offsets = points - points.mean(axis=0)
    return bool(np.linalg.norm(offsets @ np.linalg.svd(offsets)[2][-1], np.inf) > POINT_RADIUS_M)


@dataclass(frozen=True)
class WrenchCone:
    """Linear inequalities ``rows @ wrench >= lower`` that a wrench at a contact must satisfy."""

    rows: Array
    lower: Array
    names: tuple[str, ...] = field(repr=False)

    def margin(self, wrench: Array) -> Array:
        """How far inside each inequality a wrench is (negative: violated), shape (n_rows,)."""
        return np.asarray(self.rows @ wrench - self.lower)


def friction_pyramid(coefficient: float) -> float:
    """Side of the square pyramid inscribed in the circular Coulomb cone of ``coefficient``."""
    return coefficient / np.sqrt(2.0)


def wrench_cone(
    half_length: float,
    half_width: float,
    pyramid_friction: float,
    *,
    cop_margin: float = 0.0,
    min_normal_force: float = 0.0,
    max_normal_force: float | None = None,
) -> WrenchCone:
    """Wrenches that forces at the four corners of a rectangle can add up to.

    Caron, Pham and Nakamura, "Stability of surface contacts for humanoid robots", ICRA 2015: for
    corner forces in the pyramid |f_x|, |f_y| <= mu f_z the wrenches at the centre are exactly those
    of the 17 inequalities below.  Friction and yaw torque are coupled, so that a wrench with its
    centre of pressure in a corner has the one yaw torque which the force there can produce.

    On top come ``cop_margin`` (metres that the centre of pressure keeps from every edge),
    ``min_normal_force`` in place of zero, and ``max_normal_force`` as an 18th row (newtons).
    """
    mu, X, Y = pyramid_friction, half_length, half_width
    if not (0.0 < mu < np.inf and 0.0 < X < np.inf and 0.0 < Y < np.inf):
        raise InputError(
            "a contact needs positive, finite half_length, half_width and friction; "
            f"got {X}, {Y}, {mu}"
        )
    if not 0.0 <= cop_margin < min(X, Y):
        raise InputError(
            f"cop_margin is {cop_margin} m; it must be at least 0 and below {min(X, Y)} m, "
            "half the shorter side of the contact"
        )
    check_normal_forces(min_normal_force, max_normal_force)
    rows: list[list[float]] = []
    names: list[str] = []

    def add(name: str, *row: float) -> None:
        names.append(name)
        rows.append(list(row))

    add("normal force at its minimum", 0, 0, 1, 0, 0, 0)
    add("friction forwards", -1, 0, mu, 0, 0, 0)
    add("friction backwards", 1, 0, mu, 0, 0, 0)
    add("friction to the left", 0, -1, mu, 0, 0, 0)
    add("friction to the right", 0, 1, mu, 0, 0, 0)
    # CoP: x = -tau_y / f_z, y = tau_x / f_z.
    add("CoP at its front edge", 0, 0, X - cop_margin, 0, 1, 0)
    add("CoP at its rear edge", 0, 0, X - cop_margin, 0, -1, 0)
    add("CoP at its left edge", 0, 0, Y - cop_margin, -1, 0, 0)
    add("CoP at its right edge", 0, 0, Y - cop_margin, 1, 0, 0)
    # tau_z <= mu (X + Y) f_z - |Y f_x + mu tau_x| - |X f_y + mu tau_y|
    # tau_z >= -mu (X + Y) f_z + |Y f_x - mu tau_x| + |X f_y - mu tau_y|
    for a in (1.0, -1.0):
        for b in (1.0, -1.0):
            reach = mu * (X + Y)
            add("yaw friction anticlockwise", -a * Y, -b * X, reach, -a * mu, -b * mu, -1.0)
            add("yaw friction clockwise", -a * Y, -b * X, reach, a * mu, b * mu, 1.0)
    lower = np.zeros(len(rows))
    lower[0] = min_normal_force
    if max_normal_force is not None:
        add("normal force at its maximum", 0, 0, -1, 0, 0, 0)
        lower = np.append(lower, -max_normal_force)
    return WrenchCone(np.array(rows), lower, tuple(names))


def check_normal_forces(least: float, most: float | None) -> None:
    """Refuse bounds (N) that no normal force can meet."""
    if not 0.0 <= least < np.inf:
        raise InputError(f"min_normal_force is {least} N; it must be at least 0 and finite")
    if most is not None and not least < most < np.inf:
        raise InputError(
            f"max_normal_force is {most} N; it must be finite and exceed min_normal_force, "
            f"{least} N"
        )


def centre_of_pressure(wrench: Array, min_normal_force: float = 1.0) -> Array:
    """Centre of pressure in the surface's plane, (x, y) in S, metres; NaN without normal force.

    ``wrench`` has shape (..., 6).
    """
    wrench = np.asarray(wrench)
    normal = wrench[..., 2]
    loaded = normal > min_normal_force
    safe = np.where(loaded, normal, 1.0)
    cop = np.stack([-wrench[..., 4] / safe, wrench[..., 3] / safe], axis=-1)
    cop[~loaded] = np.nan
    return cop
