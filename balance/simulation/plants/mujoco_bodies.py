"""Contact of all that is no sole in MuJoCo: bodies with the ground, with plates, with each other.

Every shape of the robot is a geom; the pairs that may touch are told to MuJoCo one by one.  Their
contacts are springs and dampers as those of soles on hard ground, see
:mod:`balance.simulation.plants.mujoco_contacts`, but softer: a robot that falls on them at several
metres per second sinks in by some millimetres.  Stiffer ones make the solver slow.
"""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from balance.config import PlantConfig
from balance.robots import Robot
from balance.robots.shapes.shape import Shape
from balance.simulation.plants.interface import Touch
from balance.simulation.plants.mujoco_contacts import IMPEDANCE, add_pair, lightness
from balance.simulation.plants.mujoco_ground import INERT, add_plane
from balance.simulation.plants.mujoco_model import quaternion
from balance.simulation.world import SAME_PLANE, Obstacle

Array = NDArray[np.float64]

STIFFNESS = 2e6  # N/m, of one contact point
DAMPING = 4e4  # N s/m
KINDS = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "hull": mujoco.mjtGeom.mjGEOM_MESH,
}


def add_bodies(
    spec: mujoco.MjSpec,
    robot: Robot,
    config: PlantConfig,
    obstacles: tuple[Obstacle, ...],
    moving: mujoco.MjsBody | None = None,
) -> None:
    """Add shapes, obstacles and the pairs that may touch to a model that is not compiled yet.

    ``moving`` is the body of the ground that moves.
    """
    if config.collisions == "none":
        return
    for number, shape in enumerate(robot.shapes):
        _add_shape(spec, robot, shape, f"shape {number}")
    for obstacle in obstacles:
        _add_obstacle(spec, obstacle, moving)
        left_out = _left_to_their_soles(robot, config, obstacle)
        for number, shape in enumerate(robot.shapes):
            if shape.joint not in left_out:
                _pair(spec, obstacle.name, f"shape {number}", config.friction)
    if config.collisions == "all":
        for one, other in robot.shape_pairs:
            _pair(spec, f"shape {one}", f"shape {other}", config.friction)


def _left_to_their_soles(robot: Robot, config: PlantConfig, obstacle: Obstacle) -> set[int]:
    """Joints whose bodies touch an obstacle with their sole or not at all.

    Those that have a plate under them; and all that stand on ground so soft that a sole may sink in
    by more than its body is above it.
    """
    return {
        robot.model.frames[sole.frame_id].parentJoint
        for sole in robot.soles
        if sole.name in obstacle.surfaces
        or (config.contact == "soft" and sole.plane.isApprox(obstacle.pose, SAME_PLANE))
    }


def _pair(spec: mujoco.MjSpec, one: str, other: str, friction: float) -> None:
    add_pair(spec, f"{one} and {other}", one, other, friction)


def _add_shape(spec: mujoco.MjSpec, robot: Robot, shape: Shape, name: str) -> None:
    if shape.kind == "hull":
        spec.add_mesh(name=name, uservert=shape.points.ravel())
    spec.body(robot.model.names[shape.joint]).add_geom(
        name=name,
        type=KINDS[shape.kind],
        size=[*shape.size, 0.0, 0.0, 0.0][:3],
        meshname=name if shape.kind == "hull" else "",
        pos=shape.placement.translation,
        quat=quaternion(shape.placement.rotation),
        **INERT,
    )


def _add_obstacle(spec: mujoco.MjSpec, obstacle: Obstacle, moving: mujoco.MjsBody | None) -> None:
    moving = moving if obstacle.moves else None
    if obstacle.half_size is None:
        add_plane(spec, obstacle.name, obstacle.pose, moving)
        return
    centre, half_sides = obstacle.box
    (spec.worldbody if moving is None else moving).add_geom(
        name=obstacle.name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=half_sides,
        pos=centre.translation,
        quat=quaternion(centre.rotation),
        **INERT,
    )


class BodyContacts:
    """The contacts of bodies in a compiled model: their stiffness and what they tell."""

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        robot: Robot,
        config: PlantConfig,
        obstacles: tuple[Obstacle, ...],
    ) -> None:
        self._data = data
        # Of each geom that is no corner its name and its number; obstacles come after all shapes.
        self._names, self._numbers = [""] * model.ngeom, np.full(model.ngeom, len(robot.shapes))
        if config.collisions == "none":
            return
        for number, shape in enumerate(robot.shapes):
            geom = model.geom(f"shape {number}").id
            self._names[geom], self._numbers[geom] = shape.body, number
        for obstacle in obstacles:
            self._names[model.geom(obstacle.name).id] = obstacle.name
        pairs = np.stack([model.pair_geom1, model.pair_geom2], axis=1)
        ours = (self._numbers[pairs] < len(robot.shapes)).any(axis=1)
        # MuJoCo's estimate of a contact's inverse mass is that of its two bodies.
        A = model.body_invweight0[model.geom_bodyid[pairs[ours]], 0].sum(axis=1)
        R = A * (1.0 - IMPEDANCE) / IMPEDANCE
        spring = lightness(robot, config) * np.array([STIFFNESS, DAMPING])
        model.pair_solref[ours] = -IMPEDANCE * np.outer(R, spring)

    def touches(self, contacts: NDArray[np.int_]) -> tuple[Touch, ...]:
        """What touched in the last step, of those of MuJoCo's contacts that are no sole's.

        Of two bodies the one whose shape comes first is told to be touched by the other.
        """
        data = self._data
        contact = data.contact
        geoms, depths = contact.geom[contacts], -contact.dist[contacts]
        points, frames = contact.pos[contacts], contact.frame[contacts].reshape(-1, 3, 3)
        rows = data.efc_force[contact.efc_address[contacts, None] + np.arange(3)]
        forces = np.einsum("ni,nij->nj", rows, frames)  # on the second geom, world axes
        swap = self._numbers[geoms[:, 1]] > self._numbers[geoms[:, 0]]
        forces[swap] *= -1.0
        geoms[swap] = geoms[swap, ::-1]
        return tuple(
            Touch(self._names[body], self._names[other], point, force, depth)
            for (other, body), point, force, depth in zip(
                geoms.tolist(), points, forces, depths.tolist(), strict=True
            )
        )
