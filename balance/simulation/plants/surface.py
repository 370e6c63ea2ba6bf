"""Where a robot's contact surfaces are relative to the planes that they touch."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg import block_diag

from balance.dynamics.compiled import COMPILED, compiled
from balance.dynamics.linear_algebra import contiguous
from balance.dynamics.placements import frame_points, joint_placements, moved_by
from balance.robots import Robot
from balance.robots.contact_points import surface_cone
from balance.robots.contact_rows import ContactRows
from balance.robots.contacts import ContactSurface, friction_pyramid
from balance.simulation.plants.patches import ABSENT_M, Patches

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class Surfaces:
    """The k contact surfaces of a robot at the current state, each with m corners.

    Rectangles have four.  Where surfaces touch with different numbers of points, m is the largest
    of them, and the corners that a surface lacks are never near.

    Velocities and impulses of a surface are six numbers, linear first, at its centre and in its own
    axes S, or, if it may turn about a point or a line, in axes that stay with the plane P
    (``ContactSurface.axes``); those of a corner are three numbers in the axes of P, z out of the
    plane.  ``gaps`` (k, m) are the heights of the corners above their plane and ``normals`` (k, 3)
    the planes' normals in the axes of the surfaces.
    """

    def __init__(self, robot: Robot, data: pin.Data, J: Array) -> None:
        """``J`` (6 k, nv) is where the Jacobians go."""
        self.count, m = len(robot.soles), most_corners(robot)
        self._model, self._data = robot.model, data
        placements = joint_placements(data)
        # Of each surface its three axes, its centre and its corners, in the axes of its plane.
        self._points = np.zeros((self.count, 4 + m, 3))
        self._points[:, 4:, 2] = ABSENT_M
        present = np.arange(m) < np.array([[len(s.corners)] for s in robot.soles])
        self.present = None if present.all() else np.flatnonzero(present)
        """Numbers of the corners that there are; None if all surfaces have m of them."""
        # The Jacobians are the joints', at the world's origin, in the axes of the surfaces.
        self._J, self._to_axes = J, np.zeros((6 * self.count, 6))
        self._planes = np.zeros((self.count, 4, 3))
        self._surfaces = [
            _Surface(robot, surface, placements, *of_surface)
            for surface, *of_surface in zip(
                robot.soles, self._points, self._planes, J.reshape(self.count, 6, -1), strict=True
            )
        ]
        self._joints = np.array([one.joint for one in self._surfaces], dtype=np.intp)
        self._rows = np.zeros((self.count, 4 + m, 4))
        for one, rows in zip(self._surfaces, self._rows, strict=True):
            rows[: 4 + one.n] = one.rows
        moved = [moved_by(robot.model, one.joint) for one in self._surfaces]
        self._moves = np.repeat(moved, 6, axis=0).reshape(6 * self.count, -1)
        self._placements, self._all_J = placements, data.J
        self._alike = present.all() and not robot.objects and all(s.has_area for s in robot.soles)
        self.gaps, self.normals = self._points[:, 4:, 2], self._points[:, :3, 2]
        self._axes = self._points[:, :3]
        self._corner_rows = np.zeros((self.count, m, 3, 6))
        plane_fits = np.zeros((self.count, 3, m))
        for surface, rows, fit in zip(self._surfaces, self._corner_rows, plane_fits, strict=True):
            rows[: surface.n], fit[:, : surface.n] = surface.corner_rows, surface.plane_fit
        flat = self._corner_rows.reshape(self.count, 3 * m, 6)
        self._share = block_diag(*(np.linalg.pinv(rows.T) for rows in flat))
        self.plane_fit = np.ascontiguousarray(block_diag(*plane_fits))
        """Takes the rates (m k,) at which corners approach their planes to :func:`closing_velocity`
        of the surfaces."""

    def update(self) -> None:
        """Take poses and Jacobians from ``data``, which holds the joints' placements and own."""
        if COMPILED and self._alike:
            place_surfaces(
                self._placements, self._joints, self._rows, self._planes, self._all_J,
                self._moves, self._points, self._to_axes, self._J,
            )  # fmt: skip
            return
        for surface, to_axes in zip(
            self._surfaces, self._to_axes.reshape(self.count, 6, 6), strict=True
        ):
            to_axes[:] = surface.place()
        np.dot(self._to_axes, self._all_J, out=self._J)
        self._J *= self._moves
        for surface in self._surfaces:
            surface.turn()

    def carry(self, on_ground: frozenset[str], pose: pin.SE3, twist: pin.Motion) -> Array:
        """Move the planes of those surfaces that are ``on_ground``, which is at ``pose``.

        Returns the velocities (6 k,) of the ground, which has a ``twist`` at the world's origin, at
        the surfaces and in their own axes.  ``data`` holds the joints' placements.
        """
        velocities = np.zeros((self.count, 6))
        for surface, velocity in zip(self._surfaces, velocities, strict=True):
            if surface.name in on_ground:
                velocity[:] = surface.carry(self._data, pose, twist)
        return velocities.ravel()

    def share(self, impulses: Array) -> Array:
        """Least impulses of the corners (m k, 3) that add up to those of the surfaces (6 k,)."""
        local = self._share.dot(impulses).reshape(self.count, -1, 3)
        return np.asarray(local @ self._axes).reshape(-1, 3)

    def corner_map(self, corners: Indices) -> Array:
        """(3 n, 6 k): velocities of n corners, numbered 0 to m k - 1, from those of surfaces."""
        k, m = self._corner_rows.shape[:2]
        blocks = self._axes.transpose(0, 2, 1)[:, None] @ self._corner_rows  # R_PS times rows
        B = np.zeros((k, m, 3, k, 6))
        for index in range(k):
            B[index, :, :, index] = blocks[index]
        return B.reshape(m * k, 3, 6 * k)[corners].reshape(3 * corners.size, 6 * k)

    def poses(self) -> Array:
        """Axes in rows, then the centre, of every surface in the axes of its plane (k, 4, 3)."""
        return self._points[:, :4].copy()


@compiled
def closing_velocity(plane_fit: Array, normals: Array, closing: Array) -> Array:
    """Velocities (6 k,) of the surfaces at which the corners approach their planes.

    ``closing`` (m k,) are the rates at which the corners shall do so, proportional to their gaps;
    ``plane_fit`` and ``normals`` are those of :class:`Surfaces`.
    """
    fit = plane_fit.dot(closing).reshape(-1, 3)
    target = np.zeros((len(fit), 6))
    target[:, :3] = fit[:, :1] * normals
    target[:, 3:5] = fit[:, 1:]
    return target.ravel()


class _Surface:
    """One surface; writes axes, centre and corners to ``points`` (4 + m, 3), and its ``plane``."""

    def __init__(
        self,
        robot: Robot,
        surface: ContactSurface,
        placements: Array,
        points: Array,
        plane: Array,
        J: Array,
    ) -> None:
        frame = robot.model.frames[surface.frame_id]
        self.name, self._plane, self._surface = surface.name, surface.plane, surface
        self._turns = not surface.has_area
        self.joint = frame.parentJoint
        self._X_JS = frame.placement * surface.placement
        self.rows = frame_points(self._X_JS, surface.corners)
        self.n = len(surface.corners)
        self._placement, self._points, self._J = placements[self.joint], points[: 4 + self.n], J
        self._on_plane = plane
        self._place(surface.plane)
        self._patches = Patches(robot, surface) if robot.objects else None
        self.corner_rows = np.stack([_point_rows(corner) for corner in surface.corners])
        # c_z = v_z + omega_x y - omega_y x is to be -closing at all corners.
        x, y = surface.corners[:, 0], surface.corners[:, 1]
        self.plane_fit = -np.linalg.pinv(np.stack([np.ones(self.n), y, -x], axis=1))

    def _place(self, plane: pin.SE3) -> None:
        """Axes of the plane in columns and, in the last row, its origin, world axes."""
        self._on_plane[:3], self._on_plane[3] = plane.rotation, plane.translation

    def carry(self, data: pin.Data, pose: pin.SE3, twist: pin.Motion) -> Array:
        """Place the plane on ground at ``pose``; its velocity (6,) at the centre, surface axes."""
        self._place(pose * self._plane)
        X = data.oMi[self.joint] * self._X_JS
        if self._turns:
            X = pin.SE3(self._surface.axes(X.rotation, self._on_plane[:3]), X.translation)
        return np.asarray(X.actInv(twist).vector)

    def place(self) -> Array:
        """Write where the surface is; the matrix (6, 6) that takes twists at the world's origin to
        its centre and axes.
        """
        np.dot(self.rows, self._placement, out=self._points)
        X_WS = pin.SE3(self._points[:3].T, self._points[3])
        if self._patches is not None:
            self._patches.localise(self._points)
        else:
            self._points[3:] -= self._on_plane[3]
            self._points[:] = self._points.dot(self._on_plane[:3])
        return np.asarray(X_WS.toActionMatrixInverse())

    def turn(self) -> None:
        """Put axes and Jacobian of what may turn on its contact into those of the contact."""
        if self._turns:
            self._take_contact_axes()

    def _take_contact_axes(self) -> None:
        """Put axes and Jacobian of S into those of the contact; the corners have their z axis."""
        R_PS = self._points[:3].T
        R_PC = self._surface.axes(R_PS, np.eye(3))
        self._J[:] = (R_PC.T @ R_PS @ self._J.reshape(2, 3, -1)).reshape(6, -1)
        self._points[:3] = R_PC.T


@compiled
def place_surfaces(
    placements: Array,
    joints: Indices,
    rows: Array,
    planes: Array,
    J: Array,
    moves: Array,
    points: Array,
    to_axes: Array,
    own_J: Array,
) -> None:
    """:meth:`_Surface.place` and the Jacobians of all surfaces, which have as many corners."""
    for i in range(len(joints)):
        own = rows[i].dot(contiguous(placements[joints[i]]))
        x, y, z = own[3, 0], own[3, 1], own[3, 2]
        for j in range(3):
            a, b, c = own[j, 0], own[j, 1], own[j, 2]
            for part in (0, 3):
                row = to_axes[6 * i + j + part]
                row[part], row[part + 1], row[part + 2] = a, b, c
            row = to_axes[6 * i + j]
            row[3], row[4], row[5] = y * c - z * b, z * a - x * c, x * b - y * a
        own[3:] -= planes[i, 3]
        points[i] = own.dot(planes[i, :3])
    np.dot(to_axes, J, out=own_J)
    own_J *= moves


def most_corners(robot: Robot) -> int:
    """m: the largest number of points with which a surface of ``robot`` touches."""
    return max(len(surface.corners) for surface in robot.soles)


def sticking_rows(robot: Robot, friction: Array) -> Array:
    """Rows (n, r) that are not negative for impulses which corners that stick can give.

    ``friction`` (k,) has the coefficient under each surface.

    Sufficient for Coulomb's circular cones at the corners of surfaces that lie flat, for the rows
    are those of pyramids inside of them.  Of each surface only what it transmits has a column.
    """
    cones = [
        surface_cone(surface, friction_pyramid(mu))
        for surface, mu in zip(robot.soles, friction.tolist(), strict=True)
    ]
    rows = np.asarray(block_diag(*(cone.rows for cone in cones)))
    held = ContactRows(robot.soles)
    return rows if held.all_held else rows[:, held.entries]


def _point_rows(arm: Array) -> Array:
    """(3, 6): velocity of a point at ``arm`` from the centre, given the centre's 6D velocity."""
    x, y, z = arm
    return np.array([[1.0, 0, 0, 0, z, -y], [0, 1.0, 0, -z, 0, x], [0, 0, 1.0, y, -x, 0]])
