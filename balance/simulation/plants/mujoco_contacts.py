"""Contact of the robot's surfaces with their planes in MuJoCo.

Every corner of a surface is a point that touches the plane of that surface and nothing else.  The
discrete integrator finds the force f at a point from the motion at the end of the step: with r the
height over the plane, v its rate and a the mean acceleration of the step,

    f = -(k r + b v + a) / R,   R = A (1 - d) / d,

where ``solref`` is (-d k, -d b), ``solimp`` holds d, and A is MuJoCo's estimate of the point's
inverse mass.  That is a spring K = k / R and a damper D = b / R next to an inertia 1 / R, which
vanishes with d.  So ``plant.soft`` means what it means to the Pinocchio plant, and hard contact is
the same with a spring that yields by 10 micrometres under 100 N, or under half the weight of a
robot lighter than 20 kg.  A stiffer one would rattle: MuJoCo lets go of a corner that is a hair
above its plane, until it has fallen back.  Welded corners are tied to where they stand by the same
springs, in all directions.

A corner that slides stays on its plane: see :mod:`balance.simulation.plants.mujoco_sliding`.

Differs from the Pinocchio plant: friction holds by a damper alone, so a corner that bears the
tangential force f_T creeps at f_T / FRICTION_DAMPING, 1 micrometre per second under 100 N.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import PlantConfig
from balance.robots import Robot
from balance.robots.contacts import ContactSurface
from balance.simulation.ground import GroundMotion
from balance.simulation.plants.mujoco_ground import add_ground
from balance.simulation.plants.mujoco_model import quaternion

Array = NDArray[np.float64]

HARD_STIFFNESS = 1e7  # N/m, of one corner
HARD_DAMPING = 1e5  # N s/m; what sinks in comes back with time constant D / K = 10 ms
FRICTION_DAMPING = 1e8  # N s/m
FIRM_WEIGHT_N = 200.0  # lighter robots stand on springs that are softer by the ratio of weights
IMPEDANCE = 1e-3  # d; the inertia 1 / R is a few grams
POINT_RADIUS_M = 1e-6
TOUCHING_M = 1e-7  # a corner that stands on its plane touches it in spite of rounding
EVERYWHERE_M = 1e3  # farther than any corner is from its plane
GROUND_HALF_SIZE_M = (20.0, 20.0, 1.0)
NEGLIGIBLE = 1e-9  # k and b with which the force is a / R alone


def add_contacts(
    spec: mujoco.MjSpec, robot: Robot, config: PlantConfig, ground: GroundMotion | None = None
) -> None:
    """Add the planes and the corners that touch them to a model that is not compiled yet."""
    moving = None if ground is None else add_ground(spec)
    inert = {"contype": 0, "conaffinity": 0, "mass": 0.0}
    softness = {
        "solref": [-NEGLIGIBLE, -NEGLIGIBLE],  # set by CornerContacts, which knows A
        "solimp": [IMPEDANCE, IMPEDANCE, 1e-3, 0.5, 2.0],
    }
    for surface in robot.soles:
        frame = robot.model.frames[surface.frame_id]
        body = spec.body(robot.model.names[frame.parentJoint])
        X_JS = frame.placement * surface.placement
        on_ground = ground is not None and surface.name in ground.surfaces
        carrier = moving if moving is not None and on_ground else spec.worldbody
        # A sphere lies on its plane with any tilt of its body if both are lower by its radius.
        lift = np.array([0.0, 0.0, POINT_RADIUS_M]) if surface.has_area else np.zeros(3)
        top = surface.plane
        if not surface.has_area:
            top = top * pin.SE3(np.eye(3), np.array([0.0, 0.0, -POINT_RADIUS_M]))
        kind, size = mujoco.mjtGeom.mjGEOM_PLANE, (1.0, 1.0, 0.1)
        if on_ground:  # MuJoCo allows no plane on a body that moves
            kind, size = mujoco.mjtGeom.mjGEOM_BOX, GROUND_HALF_SIZE_M
            top = top * pin.SE3(np.eye(3), np.array([0.0, 0.0, -size[2]]))
        plane = carrier.add_geom(
            name=f"plane of {surface.name}",
            type=kind,
            size=size,
            pos=top.translation,
            quat=quaternion(top.rotation),
            **inert,
        )
        for number, corner in enumerate(surface.corners):
            point = body.add_geom(
                name=f"corner {number} of {surface.name}",
                type=mujoco.mjtGeom.mjGEOM_SPHERE,
                size=[POINT_RADIUS_M, 0.0, 0.0],
                pos=X_JS.act(corner + lift),
                quat=quaternion(X_JS.rotation),
                **inert,
            )
            if config.contact == "welded":
                weld = spec.add_equality(
                    type=mujoco.mjtEq.mjEQ_CONNECT,
                    objtype=mujoco.mjtObj.mjOBJ_BODY,
                    name1=body.name,
                    name2=carrier.name,
                    **softness,
                )
                weld.data[:3] = X_JS.act(corner)
            else:
                friction = [config.friction, config.friction, 0.0, 0.0, 0.0]
                spec.add_pair(
                    name=f"contact of {point.name}",
                    geomname1=plane.name,
                    geomname2=point.name,
                    condim=3,
                    friction=friction,
                    **softness,
                )


class CornerContacts:
    """The corners in a compiled model: their stiffness, their anchors and their forces."""

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        robot: Robot,
        config: PlantConfig,
        ground: GroundMotion | None = None,
    ) -> None:
        """``data`` holds the posture for which the stiffness shall be met exactly."""
        self._model, self._data = model, data
        self._welded = config.contact == "welded"
        self._moving = ground is not None
        # MuJoCo numbers the geoms of the world first: after its planes come the corners, and then
        # the planes of ground that moves.
        carried = frozenset() if ground is None else ground.surfaces
        self._first = sum(surface.name not in carried for surface in robot.soles)
        self._n = sum(len(surface.corners) for surface in robot.soles)
        corners = slice(self._first, self._first + self._n)
        self._axes = data.geom_xmat[corners].reshape(-1, 3, 3)  # of the surfaces; a view
        self._lift = np.zeros((self._n, 1))
        self._lines: list[tuple[ContactSurface, Array, Array, Array]] = []
        # Forces on the corners in the axes that MuJoCo has for each, the map from there to the
        # world's axes, and the forces in those and in the surfaces'.
        self._forces = np.zeros((self._n, 3))
        self._to_world = np.eye(3 * self._n)
        self._in_world, self._in_surface = np.zeros((2, self._n, 3))
        self._turns: list[tuple[Array, Array, Array]] = []
        to_wrenches = np.zeros((len(robot.soles), 6, self._n, 3))
        order, pairs = [], []
        for index, surface in enumerate(robot.soles):
            names = [f"corner {number} of {surface.name}" for number in range(len(surface.corners))]
            if not self._welded:
                pairs.append([model.pair(f"contact of {name}").id for name in names])
            for name, arm in zip(names, surface.corners, strict=True):
                corner = model.geom(name).id - self._first
                to_wrenches[index, :, corner] = np.concatenate([np.eye(3), pin.skew(arm)])
                order.append(corner)
            # MuJoCo numbers the geoms of a body in the order in which they were added.
            own = slice(order[-len(names)], order[-1] + 1)
            axes = self._axes_of(surface, self._axes[own.start])
            self._turns.append((self._in_world[own], axes, self._in_surface[own]))
            self._lift[own] = POINT_RADIUS_M if surface.has_area else 0.0
        self._to_wrenches = to_wrenches.reshape(-1, 3 * self._n)
        self._pairs = pairs
        self._order = np.array(order)
        """Corners in the order in which MuJoCo lists them if all of them touch."""
        weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
        hard = 1.0 if config.contact == "soft" else min(1.0, weight / FIRM_WEIGHT_N)
        self._set_stiffness(hard * np.array(_spring(config)))
        self._in_order = not self._moving and bool((np.diff(self._order) == 1).all())

    def _axes_of(self, surface: ContactSurface, of_body: Array) -> Array:
        """The axes, kept up to date, in which the wrench of a surface is told.

        Those of the plane for a point; between both, filled by :meth:`read`, for a line.
        """
        if surface.has_area:
            return of_body
        plane = self._model.geom(f"plane of {surface.name}").id
        of_plane: Array = self._data.geom_xmat[plane].reshape(3, 3)
        if len(surface.held) == 3:
            return of_plane
        axes = np.eye(3)
        self._lines.append((surface, of_body, of_plane, axes))
        return axes

    def _set_stiffness(self, spring: Array) -> None:
        model, data = self._model, self._data
        # All corners are taken to touch for once, so that MuJoCo tells R and the axes of each.
        model.pair_margin[:] = EVERYWHERE_M
        mujoco.mj_forward(model, data)
        model.pair_margin[:] = TOUCHING_M
        R = data.efc_R[self._rows(self._n)][::3]
        solref = np.empty((self._n, 2))
        if not self._welded:
            self._order, frames = self._touching()
            self._turn(self._order, frames)
        solref[self._order] = -IMPEDANCE * np.outer(R, spring)
        if self._welded:
            model.eq_solref[:] = solref[self._order]
        else:
            pairs = np.stack([model.pair_geom1, model.pair_geom2], axis=1)
            model.pair_solref[:] = solref[self._corners(pairs)]

    def _corners(self, geoms: NDArray[np.int32]) -> NDArray[np.int32]:
        """Of pairs of geoms (n, 2), the one that is a corner, numbered from the first corner."""
        numbers = geoms - self._first
        second = (numbers[:, 1] >= 0) & (numbers[:, 1] < self._n)
        return np.where(second, numbers[:, 1], numbers[:, 0])

    def _touching(self) -> tuple[NDArray[np.int32], Array]:
        """The corners in touch and the axes (n, 3, 3) of the forces on them, normal first."""
        geoms, frames = self._data.contact.geom, self._data.contact.frame.reshape(-1, 3, 3)
        corners = self._corners(geoms)
        # The forces of MuJoCo act on the second geom.
        second = geoms[:, 1] == corners + self._first
        return corners, np.where(second[:, None, None], frames, -frames)

    def _turn(self, corners: NDArray[np.int32], frames: Array) -> None:
        """Take over the axes (n, 3, 3), in rows, of the forces on some corners."""
        blocks = self._to_world.reshape(self._n, 3, self._n, 3)
        blocks[corners, :, corners] = frames.transpose(0, 2, 1)

    def set_friction(self, surface: int, friction: float) -> None:
        """Change the friction coefficient under one surface; what is welded holds anyway."""
        if not self._welded:
            self._model.pair_friction[self._pairs[surface], :2] = friction

    def anchor(self) -> None:
        """Tie welded corners to where they are now; ``data`` has the new posture."""
        if self._welded:
            mujoco.mj_kinematics(self._model, self._data)
            corners = slice(self._first, self._first + self._n)
            points = self._data.geom_xpos[corners] - self._lift * self._axes[:, :, 2]
            self._model.eq_data[:, 3:6] = points[self._order]

    def read(self, wrenches: Array) -> None:
        """Write the wrenches (k, 6) of the last step, in the contacts' axes, at their centres.

        MuJoCo's forces act half-way between a corner and its plane; that arm, of micrometres on
        hard ground, is left out.
        """
        data, forces, corners = self._data, self._forces, self._order
        n = self._n if self._welded else data.ncon
        if self._moving and not self._welded:
            corners, frames = self._touching()
            self._turn(corners, frames)
            forces.fill(0.0)
        elif n < self._n:
            corners = data.contact.geom[:, 1] - self._first
            forces.fill(0.0)
        if n == self._n and self._in_order:
            forces.ravel()[:] = data.efc_force[self._rows(n)]
        else:
            forces[corners] = data.efc_force[self._rows(n)].reshape(n, 3)
        np.dot(self._to_world, forces.ravel(), out=self._in_world.ravel())
        for surface, of_body, of_plane, axes in self._lines:
            axes[:] = surface.axes(of_body, of_plane)
        for in_world, axes, in_surface in self._turns:
            np.dot(in_world, axes, out=in_surface)
        self._to_wrenches.dot(self._in_surface.ravel(), out=wrenches.reshape(-1))

    def _rows(self, n: int) -> slice:
        """The rows of ``n`` corners among all constraints: welds, joint limits, contacts."""
        end = self._data.nefc
        return slice(3 * n) if self._welded else slice(end - 3 * n, end)


def friction_impedance_ratio(config: PlantConfig) -> float:
    """MuJoCo's ``impratio``: by how much the damper of friction exceeds a corner's own."""
    stiffness, damping = _spring(config)
    return FRICTION_DAMPING / (damping + config.step_s * stiffness)


def _spring(config: PlantConfig) -> tuple[float, float]:
    """Stiffness (N/m) and damping (N s/m) of a corner under a robot that is not light."""
    if config.contact == "soft":
        return config.soft.stiffness, config.soft.damping
    return HARD_STIFFNESS, HARD_DAMPING
