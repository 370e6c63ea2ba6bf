"""Contact of the robot's surfaces with their planes in MuJoCo.

Every corner of a surface is a point that touches the plane of that surface and nothing else; where
there are objects, the floor and these.  The discrete integrator finds the force f at a point from
the motion at the end of the step: with r the height over the plane, v its rate and a the mean
acceleration of the step,

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
from balance.robots.objects import WorldObject
from balance.simulation.plants.mujoco_ground import INERT, add_plane
from balance.simulation.plants.mujoco_model import quaternion

Array = NDArray[np.float64]

HARD_STIFFNESS = 1e7  # N/m, of one corner
HARD_DAMPING = 1e5  # N s/m; what sinks in comes back with time constant D / K = 10 ms
FRICTION_DAMPING = 1e8  # N s/m
STANDARD_GRAVITY = 9.81  # m/s^2
FIRM_WEIGHT_N = 200.0  # lighter robots stand on springs that are softer by the ratio of weights
IMPEDANCE = 1e-3  # d; the inertia 1 / R is a few grams
POINT_RADIUS_M = 1e-6
TOUCHING_M = 1e-7  # a corner that stands on its plane touches it in spite of rounding
EVERYWHERE_M = 1e3  # farther than any corner is from its plane
NEGLIGIBLE = 1e-9  # k and b with which the force is a / R alone
SOFTNESS = {
    "solref": [-NEGLIGIBLE, -NEGLIGIBLE],  # set in the compiled model, which knows A
    "solimp": [IMPEDANCE, IMPEDANCE, 1e-3, 0.5, 2.0],
}


def add_corners(
    spec: mujoco.MjSpec,
    robot: Robot,
    config: PlantConfig,
    carried: frozenset[str] = frozenset(),
    moving: mujoco.MjsBody | None = None,
) -> None:
    """Add the planes and the corners that touch them to a model that is not compiled yet.

    The planes of the surfaces named in ``carried`` go along with the body ``moving``.
    """
    faces = [_add_face(spec, one) for one in robot.objects]
    for surface in robot.soles:
        frame = robot.model.frames[surface.frame_id]
        body = spec.body(robot.model.names[frame.parentJoint])
        X_JS = frame.placement * surface.placement
        # A sphere lies on its plane with any tilt of its body if both are lower by its radius.
        lift = np.array([0.0, 0.0, POINT_RADIUS_M]) if surface.has_area else np.zeros(3)
        top = pin.SE3.Identity() if robot.objects else surface.plane
        if not surface.has_area:
            top = top * pin.SE3(np.eye(3), np.array([0.0, 0.0, -POINT_RADIUS_M]))
        on = moving if surface.name in carried else None
        plane = add_plane(spec, f"plane of {surface.name}", top, on)
        for number, corner in enumerate(surface.corners):
            point = body.add_geom(
                name=f"corner {number} of {surface.name}",
                type=mujoco.mjtGeom.mjGEOM_SPHERE,
                size=[POINT_RADIUS_M, 0.0, 0.0],
                pos=X_JS.act(corner + lift),
                quat=quaternion(X_JS.rotation),
                **INERT,
            )
            if config.contact == "welded":
                weld = spec.add_equality(
                    type=mujoco.mjtEq.mjEQ_CONNECT,
                    objtype=mujoco.mjtObj.mjOBJ_BODY,
                    name1=body.name,
                    name2=(spec.worldbody if on is None else on).name,
                    **SOFTNESS,
                )
                weld.data[:3] = X_JS.act(corner)
            else:
                add_pair(spec, f"contact of {point.name}", plane.name, point.name, config.friction)
                for face in faces:
                    name = f"contact of {point.name} with {face}"
                    add_pair(spec, name, face, point.name, config.friction)


def _add_face(spec: mujoco.MjSpec, one: WorldObject) -> str:
    """Add an object that corners may touch; returns the name of its geom."""
    half = np.array([*one.half_size, 0.5 * one.depth])
    middle = one.pose * pin.SE3(np.eye(3), np.array([0.0, 0.0, -half[2]]))
    geom = spec.worldbody.add_geom(
        name=f"face of {one.name}",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=half,
        pos=middle.translation,
        quat=quaternion(middle.rotation),
        **INERT,
    )
    return str(geom.name)


def add_pair(spec: mujoco.MjSpec, name: str, one: str, other: str, friction: float) -> None:
    """Let two geoms touch, with friction; how hard they are has to be set once A is known."""
    spec.add_pair(
        name=name,
        geomname1=one,
        geomname2=other,
        condim=3,
        friction=[friction, friction, 0.0, 0.0, 0.0],
        **SOFTNESS,
    )


class CornerContacts:
    """The corners in a compiled model: their stiffness, their anchors and their forces.

    They are numbered surface by surface.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        robot: Robot,
        config: PlantConfig,
        moving: bool = False,
    ) -> None:
        """``moving``: the planes of some surfaces move, so that the axes of forces change."""
        self._model, self._data = model, data
        self._welded = config.contact == "welded"
        self._lines: list[tuple[ContactSurface, Array, Array, Array]] = []
        names = [
            [f"corner {number} of {surface.name}" for number in range(len(surface.corners))]
            for surface in robot.soles
        ]
        self._geoms = np.array([model.geom(name).id for own in names for name in own])
        self._n = len(self._geoms)
        self._corner_of = np.full(model.ngeom, -1)
        self._corner_of[self._geoms] = np.arange(self._n)
        self._pairs: list[list[int]] = []
        # Of each corner, in the same order, its pairs with the faces of objects.
        self._faces = np.zeros((len(robot.objects), self._n), dtype=int)
        if not self._welded:
            self._pairs = [[model.pair(f"contact of {n}").id for n in own] for own in names]
            for number, one in enumerate(robot.objects):
                ends = f"with face of {one.name}"
                flat = [model.pair(f"contact of {n} {ends}").id for own in names for n in own]
                self._faces[number] = flat
        self._moving = moving or bool(robot.objects)
        self._lift = np.zeros((self._n, 1))
        # Forces on the corners in the axes that MuJoCo has for each, the map from there to the
        # world's axes, and the forces in those and in the surfaces'.
        self._forces = np.zeros((self._n, 3))
        self._to_world = np.eye(3 * self._n)
        self._in_world, self._in_surface = np.zeros((2, self._n, 3))
        self._turns: list[tuple[Array, Array, Array]] = []
        to_wrenches = np.zeros((len(robot.soles), 6, self._n, 3))
        first = 0
        for index, surface in enumerate(robot.soles):
            own = slice(first, first + len(surface.corners))
            for corner, arm in enumerate(surface.corners, start=first):
                to_wrenches[index, :, corner] = np.concatenate([np.eye(3), pin.skew(arm)])
            axes = self._axes_of(surface, data.geom_xmat[self._geoms[first]].reshape(3, 3))
            self._turns.append((self._in_world[own], axes, self._in_surface[own]))
            self._lift[own] = POINT_RADIUS_M if surface.has_area else 0.0
            first = own.stop
        self._to_wrenches = to_wrenches.reshape(-1, 3 * self._n)
        self._order = np.arange(self._n)
        """Corners in the order in which MuJoCo lists them if all of them touch."""
        self._all = b""  # the geoms of its list of contacts then, if nothing else touches
        self._set_stiffness(lightness(robot, config) * np.array(_spring(config)))
        self._in_order = bool((np.diff(self._order) == 1).all())

    def _axes_of(self, surface: ContactSurface, of_body: Array) -> Array:
        """The axes, kept up to date, in which the wrench of a surface is told.

        Those of the plane for a point; between both, filled by :meth:`read`, for a line.
        """
        if surface.has_area:
            return of_body
        plane = self._model.geom(f"plane of {surface.name}").id
        of_plane: Array = self._data.geom_xmat[plane].reshape(3, 3)
        if len(self._faces):  # the plane is the floor, whatever the surface lies on
            of_plane = surface.plane.rotation.copy()
        if len(surface.held) == 3:
            return of_plane
        axes = np.eye(3)
        self._lines.append((surface, of_body, of_plane, axes))
        return axes

    def _set_stiffness(self, spring: Array) -> None:
        model, data = self._model, self._data
        if self._welded:
            mujoco.mj_forward(model, data)
            model.eq_solref[:] = -IMPEDANCE * np.outer(data.efc_R[: 3 * self._n : 3], spring)
            return
        # All corners are taken to touch for once, so that MuJoCo tells R and the axes of each.
        pairs = np.concatenate(self._pairs)
        model.pair_margin[pairs] = EVERYWHERE_M
        mujoco.mj_forward(model, data)
        model.pair_margin[pairs] = TOUCHING_M
        geoms = data.contact.geom
        corners = self._corner_of[geoms].max(axis=1)
        ours = np.flatnonzero(corners >= 0)
        self._order, self._all = corners[ours], geoms[ours].tobytes()
        self._turn(self._order, ours)
        R = np.empty(self._n)
        R[self._order] = data.efc_R[data.contact.efc_address[ours]]
        model.pair_solref[pairs] = -IMPEDANCE * np.outer(R, spring)
        for faces in self._faces:  # the other body is the world here as there
            model.pair_solref[faces] = model.pair_solref[pairs]
            model.pair_margin[faces] = TOUCHING_M

    def _turn(self, corners: NDArray[np.int_], contacts: NDArray[np.int_] | slice) -> None:
        """Take over the axes of the forces on some corners from their contacts."""
        contact = self._data.contact
        frames = contact.frame[contacts].reshape(-1, 3, 3)  # in rows, normal first
        # The forces of MuJoCo act on the second geom.
        second = contact.geom[contacts, 1] == self._geoms[corners]
        blocks = self._to_world.reshape(self._n, 3, self._n, 3)
        on_corner = np.where(second[:, None, None], frames, -frames)
        blocks[corners, :, corners] = on_corner.transpose(0, 2, 1)

    def set_friction(self, surface: int, friction: float) -> None:
        """Change the friction coefficient under one surface; what is welded holds anyway."""
        if not self._welded:
            self._model.pair_friction[self._pairs[surface], :2] = friction
            first = sum(map(len, self._pairs[:surface]))
            own = slice(first, first + len(self._pairs[surface]))
            self._model.pair_friction[self._faces[:, own].ravel(), :2] = friction

    def anchor(self) -> None:
        """Tie welded corners to where they are now; ``data`` has the new posture."""
        if self._welded:
            mujoco.mj_kinematics(self._model, self._data)
            upwards = self._data.geom_xmat[self._geoms, 2::3]
            self._model.eq_data[:, 3:6] = self._data.geom_xpos[self._geoms] - self._lift * upwards

    def read(self, wrenches: Array) -> NDArray[np.int_] | None:
        """Write the wrenches (k, 6) of the last step, in the contacts' axes, at their centres.

        Returns which of MuJoCo's contacts are none of a corner, if there are any.  MuJoCo's forces
        act half-way between a corner and its plane; that arm, of micrometres on hard ground, is
        left out.
        """
        others = self._read_forces()
        np.dot(self._to_world, self._forces.ravel(), out=self._in_world.ravel())
        for surface, of_body, of_plane, axes in self._lines:
            axes[:] = surface.axes(of_body, of_plane)
        for in_world, axes, in_surface in self._turns:
            np.dot(in_world, axes, out=in_surface)
        self._to_wrenches.dot(self._in_surface.ravel(), out=wrenches.reshape(-1))
        return others

    def _read_forces(self) -> NDArray[np.int_] | None:
        data, forces = self._data, self._forces
        if self._welded:  # welds come first, contacts of other bodies last
            forces.ravel()[:] = data.efc_force[: 3 * self._n]
            return np.flatnonzero(data.contact.efc_address >= 0) if data.ncon else None
        contact = data.contact
        geoms = contact.geom
        if not self._moving and geoms.tobytes() == self._all:
            rows = data.efc_force[data.nefc - 3 * self._n :]
            if self._in_order:
                forces.ravel()[:] = rows
            else:
                forces[self._order] = rows.reshape(-1, 3)
            return None
        corners, address = self._corner_of[geoms].max(axis=1), contact.efc_address
        ours = np.flatnonzero(corners >= 0)
        if self._moving:
            self._turn(corners[ours], ours)
        forces.fill(0.0)
        forces[corners[ours]] = data.efc_force[address[ours, None] + np.arange(3)]
        # MuJoCo lists some contacts of bodies that do not touch yet; they have no rows.
        others = np.flatnonzero((corners < 0) & (address >= 0))
        return others if others.size else None


def friction_impedance_ratio(config: PlantConfig) -> float:
    """MuJoCo's ``impratio``: by how much the damper of friction exceeds a corner's own."""
    stiffness, damping = _spring(config)
    return FRICTION_DAMPING / (damping + config.step_s * stiffness)


def _spring(config: PlantConfig) -> tuple[float, float]:
    """Stiffness (N/m) and damping (N s/m) of a corner under a robot that is not light."""
    if config.contact == "soft":
        return config.soft.stiffness, config.soft.damping
    return HARD_STIFFNESS, HARD_DAMPING


def lightness(robot: Robot, config: PlantConfig) -> float:
    """By how much softer the springs under a light robot are; those that a user gives are not."""
    weight = robot.mass * STANDARD_GRAVITY  # also where there is no gravity
    return 1.0 if config.contact == "soft" else min(1.0, weight / FIRM_WEIGHT_N)
