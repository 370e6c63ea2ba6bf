"""What a film shows of a robot: the visual shapes of its URDF, the planes it touches, light."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots import Robot
from balance.simulation.plants.mujoco_model import compiled, quaternion, robot_spec
from balance.simulation.plants.visuals import colour_of, triangles_of, visual_shapes
from balance.simulation.world import Obstacle, obstacles

Array = NDArray[np.float64]

FLOOR_COLOURS = ((0.90, 0.91, 0.92), (0.80, 0.82, 0.84))
PLATE_COLOUR = (0.75, 0.68, 0.55, 0.6)
INERT = {"contype": 0, "conaffinity": 0, "mass": 0.0}


def scene(robot: Robot, width: int, height: int) -> mujoco.MjModel:
    """A model to draw images of ``width`` x ``height`` pixels from; nothing in it collides.

    A robot whose meshes cannot be read is drawn as one box per body with the body's inertia.
    """
    spec = robot_spec(robot)
    spec.visual.global_.offwidth, spec.visual.global_.offheight = width, height
    spec.visual.headlight.ambient = [0.4, 0.4, 0.4]
    spec.visual.headlight.diffuse = [0.35, 0.35, 0.35]
    spec.visual.quality.shadowsize = 2048
    spec.visual.map.shadowclip = 2.0  # shadows as far as the image reaches, times the extent
    spec.stat.extent = 2.0
    spec.worldbody.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=[1.0, -1.0, 4.0],
        dir=[-0.3, 0.3, -1.0],
        diffuse=[0.5, 0.5, 0.5],
    )
    floor, *plates = obstacles(robot)
    _add_floor(spec, floor)
    for plate in plates:
        _add_plate(spec, plate)
    for number, shape in enumerate(visual_shapes(robot)):
        body = spec.body(robot.model.names[shape.parentJoint])
        _add_shape(spec, body, shape, f"shape {number}")
    return compiled(spec, robot)


def _add_floor(spec: mujoco.MjSpec, floor: Obstacle) -> None:
    """The floor as a chequered plane without end, under a plain sky."""
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[1.0, 1.0, 1.0],
        rgb2=[0.80, 0.87, 0.93],
        width=64,
        height=64,
    )
    spec.add_texture(
        name="chequers",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=FLOOR_COLOURS[0],
        rgb2=FLOOR_COLOURS[1],
        width=256,
        height=256,
    )
    textures = [""] * int(mujoco.mjtTextureRole.mjNTEXROLE)
    textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "chequers"
    spec.add_material(name="floor", textures=textures, texrepeat=[2.0, 2.0], texuniform=True)
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0.0, 0.0, 0.05],
        pos=floor.pose.translation,
        quat=quaternion(floor.pose.rotation),
        material="floor",
        **INERT,
    )


def _add_plate(spec: mujoco.MjSpec, plate: Obstacle) -> None:
    """A plate under a surface that is not on the floor."""
    middle, half_sides = plate.box
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=half_sides,
        pos=middle.translation,
        quat=quaternion(middle.rotation),
        rgba=PLATE_COLOUR,
        **INERT,
    )


def _add_shape(
    spec: mujoco.MjSpec, body: mujoco.MjsBody, shape: pin.GeometryObject, name: str
) -> None:
    kind, size = _primitive(shape.geometry)
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        points, triangles = triangles_of(shape)
        spec.add_mesh(
            name=name,
            uservert=points.ravel(),
            userface=triangles.ravel(),
            inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,  # also of meshes with holes
        )
    body.add_geom(
        name=name,
        type=kind,
        size=size,
        meshname=name if kind == mujoco.mjtGeom.mjGEOM_MESH else "",
        pos=shape.placement.translation,
        quat=quaternion(shape.placement.rotation),
        rgba=colour_of(shape),
        **INERT,
    )


def _primitive(shape: Any) -> tuple[mujoco.mjtGeom, list[float]]:
    """MuJoCo's type and size for a shape; whatever has no counterpart is a mesh."""
    kind = type(shape).__name__
    if kind == "Box":
        return mujoco.mjtGeom.mjGEOM_BOX, list(shape.halfSide)
    if kind == "Sphere":
        return mujoco.mjtGeom.mjGEOM_SPHERE, [shape.radius, 0.0, 0.0]
    if kind == "Cylinder":
        return mujoco.mjtGeom.mjGEOM_CYLINDER, [shape.radius, shape.halfLength, 0.0]
    if kind == "Capsule":
        return mujoco.mjtGeom.mjGEOM_CAPSULE, [shape.radius, shape.halfLength, 0.0]
    return mujoco.mjtGeom.mjGEOM_MESH, [0.0, 0.0, 0.0]
