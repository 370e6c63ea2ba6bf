"""The simulated robot where it differs from the model that the control law uses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import ExperimentConfig
from balance.config.mismatch import LinkConfig, MismatchConfig, PayloadConfig
from balance.errors import ConfigError, known_names
from balance.robots import Robot
from balance.robots.contacts import ContactSurface
from balance.robots.joint_values import joint_values
from balance.simulation.ground import put_on_ground

Array = NDArray[np.float64]


def simulated_robot(robot: Robot, config: ExperimentConfig) -> Robot:
    """The robot of the plant; ``robot`` itself if the law's model of it is right."""
    return put_on_ground(_with_mismatch(robot, config), config)


def _with_mismatch(robot: Robot, config: ExperimentConfig) -> Robot:
    mismatch, rotors = config.mismatch, config.actuators.rotor_inertia
    if mismatch is None and not rotors:
        return robot
    mismatch = mismatch or MismatchConfig()
    # Inertias of a model must not change once a Data was made from it: this is another model.
    model = robot.model.copy()
    model.armature[6:] += joint_values(rotors, robot, "actuators.rotor_inertia")
    for name, link in mismatch.links.items():
        joint = _carrier(robot, name, "mismatch.links")
        model.inertias[joint] = _changed(model.inertias[joint], link)
    everywhere = LinkConfig(mass_scale=mismatch.mass_scale, inertia_scale=mismatch.inertia_scale)
    offsets = _offsets(robot, np.array(mismatch.com_offset_m))
    for joint in range(1, model.njoints):
        model.inertias[joint] = _changed(model.inertias[joint], everywhere)
        model.inertias[joint].lever += offsets[joint]
    if mismatch.payload is not None:
        _load(model, robot, mismatch.payload)
    scale = mismatch.sole_scale
    return replace(
        robot,
        model=model,
        mass=float(pin.computeTotalMass(model)),
        soles=tuple(_scaled(sole, scale) for sole in robot.soles),
        surfaces=tuple(_scaled(surface, scale) for surface in robot.surfaces),
    )


def modelled_mass(robot: Robot, config: ExperimentConfig) -> float:
    """Mass (kg) of the robot that the law has in mind, given the simulated ``robot``."""
    mismatch = config.mismatch
    if mismatch is None:
        return robot.mass
    masses = np.array([inertia.mass for inertia in robot.model.inertias])
    if mismatch.payload is not None:
        masses[_carrier(robot, mismatch.payload.body, "mismatch.payload")] -= (
            mismatch.payload.mass_kg
        )
    for name, link in mismatch.links.items():
        masses[_carrier(robot, name, "mismatch.links")] /= link.mass_scale
    return float(masses[1:].sum() / mismatch.mass_scale)


def _carrier(robot: Robot, body: str, key: str) -> int:
    """The joint that carries a body."""
    bodies = {f.name: f.parentJoint for f in robot.model.frames if f.type == pin.FrameType.BODY}
    if body not in bodies:
        raise ConfigError(
            f"{key} names a body '{body}' that robot '{robot.name}' lacks"
            f"{known_names(body, bodies)}"
        )
    return int(bodies[body])


def _changed(inertia: pin.Inertia, link: LinkConfig) -> pin.Inertia:
    # Not by the constructor, which refuses the rounding of a point mass: inertia of -1e-20 kg m^2.
    changed = inertia.copy()
    changed.mass = link.mass_scale * inertia.mass
    changed.lever = inertia.lever + np.array(link.com_offset_m)
    changed.inertia = link.mass_scale * link.inertia_scale * np.array(inertia.inertia)
    return changed


def _offsets(robot: Robot, offset: Array) -> Array:
    """An offset in the axes of the base, in those of every joint as the robot stands."""
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, robot.q_nominal)
    in_world = data.oMi[1].rotation @ offset
    return np.array([placement.rotation.T @ in_world for placement in data.oMi])


def _load(model: pin.Model, robot: Robot, payload: PayloadConfig) -> None:
    """Add a point mass to the body that carries it."""
    joint = _carrier(robot, payload.body, "mismatch.payload.body")
    frame = model.frames[model.getFrameId(payload.body)]
    point = frame.placement.act(np.array(payload.point_m))
    model.inertias[joint] += pin.Inertia(payload.mass_kg, point, np.zeros((3, 3)))


def _scaled(surface: ContactSurface, scale: float) -> ContactSurface:
    return replace(
        surface,
        half_length=scale * surface.half_length,
        half_width=scale * surface.half_width,
        points=tuple((scale * x, scale * y) for x, y in surface.points),
    )
