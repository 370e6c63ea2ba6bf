"""The simulated robot where it differs from the model that the control law uses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin

from balance.config import ExperimentConfig
from balance.config.mismatch import Link, Mismatch, Payload
from balance.contacts import ContactSurface
from balance.errors import ConfigError, known_names
from balance.ground import put_on_ground
from balance.joint_values import joint_values
from balance.robots import Robot


def simulated_robot(robot: Robot, config: ExperimentConfig) -> Robot:
    """The robot of the plant; ``robot`` itself if the law's model of it is right."""
    return put_on_ground(_with_mismatch(robot, config), config)


def _with_mismatch(robot: Robot, config: ExperimentConfig) -> Robot:
    mismatch, actuators = config.mismatch, config.actuators
    rotors = 0.0 if actuators is None else actuators.rotor_inertia
    if mismatch is None and not rotors:
        return robot
    mismatch = mismatch or Mismatch()
    # Inertias of a model must not change once a Data was made from it: this is another model.
    model = robot.model.copy()
    model.armature[6:] += joint_values(rotors, robot, "actuators.rotor_inertia")
    for name, link in mismatch.links.items():
        joint = _carrier(robot, name, "mismatch.links")
        model.inertias[joint] = _changed(model.inertias[joint], link)
    for joint in range(1, model.njoints):
        inertia = model.inertias[joint]
        rotational = mismatch.mass_scale * mismatch.inertia_scale * inertia.inertia
        mass = mismatch.mass_scale * inertia.mass
        model.inertias[joint] = pin.Inertia(mass, inertia.lever, rotational)
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


def _carrier(robot: Robot, body: str, key: str) -> int:
    """The joint that carries a body."""
    bodies = {f.name: f.parentJoint for f in robot.model.frames if f.type == pin.FrameType.BODY}
    if body not in bodies:
        raise ConfigError(
            f"{key} names a body '{body}' that robot '{robot.name}' lacks"
            f"{known_names(body, bodies)}"
        )
    return int(bodies[body])


def _changed(inertia: pin.Inertia, link: Link) -> pin.Inertia:
    lever = inertia.lever + np.array(link.com_offset_m)
    return pin.Inertia(
        link.mass_scale * inertia.mass, lever, link.mass_scale * np.array(inertia.inertia)
    )


def _load(model: pin.Model, robot: Robot, payload: Payload) -> None:
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
    )
