"""Blocks, cylinders and an arm of which mechanics tells how they slide, topple, roll and rest.

A solid is a robot of one body without joints.  Its sole is at its lower z side: as large as that
side, or a spot of it, so that on its other sides it lies on nothing but its own shape.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml
from numpy.typing import NDArray

from balance.robots import Robot, load_robot

Array = NDArray[np.float64]

GRAVITY = 9.81
SPOT_M = 0.02  # side of a sole that is but a spot
DENSITY = 500.0  # kg/m^3


def block(folder: Path, sides: tuple[float, float, float], spot: bool = False) -> Robot:
    """A solid box with ``sides`` along x, y and z, m."""
    x, y, z = sides
    inertia = pin.Inertia.FromBox(DENSITY * x * y * z, x, y, z)
    sole = (SPOT_M, SPOT_M) if spot else (x, y)
    return _solid(folder, f'<box size="{x} {y} {z}"/>', inertia, z, sole)


def cylinder(folder: Path, radius: float, length: float) -> Robot:
    """A solid cylinder about z; its sole is a spot of its lower end."""
    mass = DENSITY * np.pi * radius**2 * length
    inertia = pin.Inertia.FromCylinder(mass, radius, length)
    geometry = f'<cylinder radius="{radius}" length="{length}"/>'
    return _solid(folder, geometry, inertia, length, (SPOT_M, SPOT_M))


def arm(folder: Path) -> Robot:
    """A heavy plate on the ground and on it a two-link arm that can reach the plate.

    Shoulder and elbow turn about y; at zero the arm points up.  Neighbours never touch, so what the
    arm hits itself with is its forearm, on the plate.
    """
    links = [
        _link("plate", 0.0, (0.6, 0.3, 0.05), 40.0),
        _link("upper_arm", 0.15, (0.04, 0.04, 0.3), 2.0),
        _link("forearm", 0.125, (0.04, 0.04, 0.25), 1.0),
    ]
    joints = [
        _hinge("shoulder", "plate", "upper_arm", 0.05),
        _hinge("elbow", "upper_arm", "forearm", 0.3),
    ]
    sole = {"frame": "plate", "centre": [0.0, 0.0, -0.025], "length": 0.6, "width": 0.3}
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


def _solid(
    folder: Path, geometry: str, inertia: pin.Inertia, height: float, sole: tuple[float, float]
) -> Robot:
    body = _body("solid", geometry, inertia, pin.SE3.Identity())
    centre = {"frame": "solid", "centre": [0.0, 0.0, -0.5 * height]}
    return _written(folder, "solid", body, "solid", centre | {"length": sole[0], "width": sole[1]})


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
