"""Blocks, cylinders and an arm of which mechanics tells how they slide, topple, roll and rest.

A solid is a robot of one body without joints.  Its sole is its lower z side, or else a spot a
little below that: such a solid lies on nothing but its own shape if it lies on another side, and
the sole takes nothing away from that shape.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml
from numpy.typing import NDArray

from balance.robots import Robot, load_robot
from balance.robots.shapes.shape import Shape
from balance.simulation.plants.interface import Touch

Array = NDArray[np.float64]

GRAVITY = 9.81
SPOT_M = 0.02  # side of a sole that is but a spot
BELOW_M = 0.003  # of such a sole
DENSITY = 500.0  # kg/m^3


def block(folder: Path, sides: tuple[float, float, float], spot: bool = False) -> Robot:
    """A solid box with ``sides`` along x, y and z, m."""
    x, y, z = sides
    inertia = pin.Inertia.FromBox(DENSITY * x * y * z, x, y, z)
    sole = _spot(z) if spot else _sole(0.5 * z, x, y)
    return _solid(folder, f'<box size="{x} {y} {z}"/>', inertia, sole)


def cylinder(folder: Path, radius: float, length: float) -> Robot:
    """A solid cylinder about z; its sole is a spot below its lower end."""
    mass = DENSITY * np.pi * radius**2 * length
    inertia = pin.Inertia.FromCylinder(mass, radius, length)
    geometry = f'<cylinder radius="{radius}" length="{length}"/>'
    return _solid(folder, geometry, inertia, _spot(length))


def arm(folder: Path) -> Robot:
    """A heavy plate on the ground and on it a two-link arm that can reach the plate.

    Shoulder and elbow turn about y; at zero the arm points up.  Neighbours never touch, so what the
    arm hits itself with is its forearm, on the plate.
    """
    links = [
        _link("plate", 0.0, (1.2, 0.3, 0.05), 40.0),
        _link("upper_arm", 0.15, (0.04, 0.04, 0.3), 2.0),
        _link("forearm", 0.125, (0.04, 0.04, 0.25), 1.0),
    ]
    joints = [
        _hinge("shoulder", "plate", "upper_arm", 0.05),
        _hinge("elbow", "upper_arm", "forearm", 0.3),
    ]
    sole = _sole(0.025, 1.2, 0.3) | {"frame": "plate"}
    return _written(folder, "arm", "".join(links + joints), "plate", sole)


def on_slope(robot: Robot, angle: float) -> Robot:
    """``robot`` on ground that descends along x by ``angle``, rad, as it stood on the level."""
    slope = pin.SE3(pin.rpy.rpyToMatrix(0.0, angle, 0.0), np.zeros(3))
    soles = tuple(dataclasses.replace(sole, plane=slope) for sole in robot.soles)
    q = robot.q_nominal.copy()
    q[:7] = pin.SE3ToXYZQUAT(slope * pin.XYZQUATToSE3(q[:7]))
    return dataclasses.replace(robot, soles=soles, q_nominal=q)


def turned(robot: Robot, rpy: tuple[float, float, float], height: float) -> Array:
    """Configuration in which a solid is turned from its stance, its centre over the plane."""
    plane = robot.soles[0].plane
    pose = plane * pin.SE3(pin.rpy.rpyToMatrix(*rpy), np.array([0.0, 0.0, height]))
    q = robot.q_nominal.copy()
    q[:7] = pin.SE3ToXYZQUAT(pose)
    return q


def velocity(robot: Robot, q: Array, linear: Array, angular: Array) -> Array:
    """Velocity of a robot that moves as one body, from world axes, at its base."""
    rotation = pin.Quaternion(q[3:7]).toRotationMatrix()
    v = np.zeros(robot.model.nv)
    v[:3], v[3:6] = rotation.T @ linear, rotation.T @ angular
    return v


def linear_velocity(q: Array, v: Array) -> Array:
    """Velocity of the base in world axes."""
    return np.asarray(pin.Quaternion(q[3:7]).toRotationMatrix() @ v[:3])


def lowest_point(shape: Shape, pose: pin.SE3) -> float:
    """Height (m) of a shape's lowest point at a joint's ``pose``."""
    placed = pose * shape.placement
    height = float((shape.points @ placed.rotation[2]).min() + placed.translation[2])
    if shape.kind == "cylinder":
        return height - shape.size[0] * float(np.hypot(*placed.rotation[2, :2]))
    return height - shape.radius


def of_touches(robot: Robot, data: pin.Data, touches: Sequence[Touch]) -> Array:
    """Generalised force (nv,) of all touches; ``data`` holds the joints' Jacobians."""
    model, total = robot.model, np.zeros(robot.model.nv)
    for touch in touches:
        for name, force in ((touch.body, touch.force), (touch.other, -touch.force)):
            if not model.existFrame(name):
                continue  # the ground
            joint = model.frames[model.getFrameId(name, pin.FrameType.BODY)].parentJoint
            at = pin.SE3(np.eye(3), data.oMi[joint].actInv(touch.point))
            J = pin.getFrameJacobian(model, data, joint, at, pin.LOCAL_WORLD_ALIGNED)
            total += J[:3].T @ force
    return total


def energy(robot: Robot, q: Array, v: Array) -> float:
    """Kinetic and potential energy, J."""
    return float(pin.computeMechanicalEnergy(robot.model, robot.model.createData(), q, v))


def sliding_acceleration(friction: float, angle: float = 0.0) -> float:
    """Down a slope, of what slides down it (Coulomb); negative if it comes to rest."""
    return float(GRAVITY * (np.sin(angle) - friction * np.cos(angle)))


def rolling_acceleration(angle: float) -> float:
    """Down a slope, of a solid cylinder that rolls without slipping: I = m r^2 / 2."""
    return float(GRAVITY * np.sin(angle) / 1.5)


def tipping_rate(sides: tuple[float, float], begin: float, end: float) -> float:
    """Rate with which a box, free to turn about its lower edge, gets from one tilt to another.

    ``sides`` are width and height; the box starts at rest at the tilt ``begin``, rad, beyond that
    of balance.  Energy: (w^2 + h^2) / 3 rate^2 / 2 = g (fall of the centre).
    """
    width, height = sides
    diagonal, balance = 0.5 * np.hypot(width, height), np.arctan2(width, height)
    fall = diagonal * (np.cos(begin - balance) - np.cos(end - balance))
    return float(np.sqrt(2.0 * GRAVITY * fall * 3.0 / (width**2 + height**2)))


def _solid(folder: Path, geometry: str, inertia: pin.Inertia, sole: dict[str, object]) -> Robot:
    body = _body("solid", geometry, inertia, pin.SE3.Identity())
    return _written(folder, "solid", body, "solid", sole | {"frame": "solid"})


def _spot(height: float) -> dict[str, object]:
    return _sole(0.5 * height + BELOW_M, SPOT_M, SPOT_M)


def _sole(depth: float, length: float, width: float) -> dict[str, object]:
    return {"centre": [0.0, 0.0, -depth], "length": length, "width": width}


def _link(name: str, centre: float, sides: tuple[float, float, float], mass: float) -> str:
    """A box whose centre is above the link's origin."""
    placement = pin.SE3(np.eye(3), np.array([0.0, 0.0, centre]))
    geometry = '<box size="{} {} {}"/>'.format(*sides)
    return _body(name, geometry, pin.Inertia.FromBox(mass, *sides), placement)


def _body(name: str, geometry: str, inertia: pin.Inertia, placement: pin.SE3) -> str:
    xx, yy, zz = np.diag(inertia.inertia)  # of solids in their principal axes
    origin = '<origin xyz="{} {} {}"/>'.format(*placement.translation)
    moments = f'ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"'
    return (
        f'<link name="{name}"><inertial>{origin}<mass value="{inertia.mass}"/>'
        f"<inertia {moments}/></inertial>"
        f"<collision>{origin}<geometry>{geometry}</geometry></collision></link>"
    )


def _hinge(name: str, parent: str, child: str, height: float) -> str:
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0 0 {height}"/><axis xyz="0 1 0"/>'
        '<limit lower="-3.2" upper="3.2" effort="100" velocity="20"/></joint>'
    )


def _written(folder: Path, name: str, links: str, base: str, sole: dict[str, object]) -> Robot:
    """The robot of a URDF's links and joints, through the files that any robot has."""
    (folder / f"{name}.urdf").write_text(f'<robot name="{name}">{links}</robot>')
    description = {
        "name": name,
        "urdf": f"{name}.urdf",
        "base_body": base,
        "push_body": base,
        "soles": {"under": sole},
        "impedance": {"frequency_hz": 1.0, "damping_ratio": 0.7},
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(description))
    return load_robot(path)
