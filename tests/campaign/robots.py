"""Robots of other sizes and masses: the ones that there are, scaled as mechanical models are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest import mock

import numpy as np
import pinocchio as pin

from balance.robots import Robot, load_robot
from balance.robots.contacts import ContactSurface
from balance.robots.shapes.shape import Shape

REAL_DRIVES = {"solo12": 2.5}
"""Largest torque, N m, of robots whose URDF has none to speak of: with the 1000 N m that it says a
law spins legs of 200 g at hundreds of rad/s, and what that does in steps of 2 ms says nothing."""


@cache
def varied(name: str, size: float = 1.0, mass: float = 1.0) -> Robot:
    """A robot with all lengths times ``size`` and all masses times ``mass``.

    Torques go along with weight times length, speeds with one over the square root of the length,
    so that the scaled robot can do what the other could.
    """
    robot = load_robot(name)
    if (size, mass) == (1.0, 1.0) and name not in REAL_DRIVES:
        return robot
    shapes = robot.shapes
    model = robot.model.copy()
    if name in REAL_DRIVES:
        model.upperEffortLimit[6:], model.lowerEffortLimit[6:] = (
            sign * np.full(model.nv - 6, REAL_DRIVES[name]) for sign in (1.0, -1.0)
        )
    for index in range(1, model.njoints):
        model.jointPlacements[index].translation *= size
        inertia = model.inertias[index]
        inertia.mass *= mass
        inertia.lever *= size
        inertia.inertia = mass * size**2 * np.array(inertia.inertia)
    for frame in model.frames:
        frame.placement.translation *= size
    model.upperEffortLimit[6:] *= mass * size
    model.lowerEffortLimit[6:] *= mass * size
    model.upperVelocityLimit[6:] /= np.sqrt(size)
    model.armature *= mass * size**2
    made = replace(
        robot,
        model=model,
        q_nominal=_moved(robot.q_nominal, size),
        q_file=_moved(robot.q_file, size),
        soles=tuple(_surface(sole, size) for sole in robot.soles),
        surfaces=tuple(_surface(surface, size) for surface in robot.surfaces),
        mass=float(pin.computeTotalMass(model)),
    )
    made.__dict__["shapes"] = tuple(_shape(shape, size) for shape in shapes)
    return made


def _moved(q: np.ndarray, size: float) -> np.ndarray:
    return np.concatenate([size * q[:3], q[3:]])


def _placed(placement: pin.SE3, size: float) -> pin.SE3:
    return pin.SE3(placement.rotation, size * placement.translation)


def _surface(surface: ContactSurface, size: float) -> ContactSurface:
    return replace(
        surface,
        placement=_placed(surface.placement, size),
        half_length=size * surface.half_length,
        half_width=size * surface.half_width,
        points=tuple((size * x, size * y) for x, y in surface.points),
    )


def _shape(shape: Shape, size: float) -> Shape:
    return replace(
        shape,
        placement=_placed(shape.placement, size),
        size=tuple(size * side for side in shape.size),
        points=size * shape.points,
        radius=size * shape.radius,
    )


@contextmanager
def loaded_as(size: float, mass: float) -> Iterator[None]:
    """Within it every experiment gets its robot in this size and mass."""

    def load(
        name: str,
        folders: Sequence[Path] = (),
        key: str = "",
        make: Callable[[Robot], Robot] | None = None,
    ) -> Robot:
        robot = varied(str(name), size, mass)
        return robot if make is None else make(robot)

    with (
        mock.patch("balance.experiment.shared_robot", load),
        mock.patch("balance.robots.stance.shared_robot", load),
    ):
        yield
