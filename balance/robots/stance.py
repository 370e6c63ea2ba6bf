"""Stances: which surfaces of a robot touch which planes, and the posture that this takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import ExperimentConfig
from balance.config.stance import PlaneConfig, StanceConfig
from balance.dynamics.standing import standing_posture
from balance.errors import ConfigError, known_names
from balance.robots import Robot
from balance.robots.clearance import touching_from_the_start
from balance.robots.contacts import ContactSurface
from balance.robots.sequence import plan_phases, union_robot
from balance.robots.shared import shared_robot

Array = NDArray[np.float64]


def robot_of(config: ExperimentConfig, folders: Sequence[Path] = ()) -> Robot:
    """The robot of an experiment, standing as its ``stance`` says, or its first phase.

    Experiments of one process share it (:mod:`balance.robots.shared`).
    """
    stance = config.stance
    if config.phases:
        return union_robot(plan_phases(config, shared_robot(config.robot, folders)))
    if stance is None:
        return shared_robot(config.robot, folders)
    return shared_robot(
        config.robot, folders, stance.model_dump_json(), lambda robot: take_stance(robot, stance)
    )


def take_stance(robot: Robot, stance: StanceConfig) -> Robot:
    """``robot`` with the stance's contacts as its ``soles`` and a posture in which they touch.

    Surfaces without a plane of their own stay on level ground where the robot's nominal posture has
    them, moved as the stance says; one with a plane is laid flat on it at the nearest point.
    """
    surfaces = tuple(_placed_surface(robot, name, stance) for name in stance.contacts)
    q_start = robot.q_nominal.copy()
    for name, angle in stance.posture.items():
        if name not in robot.joint_names:
            raise ConfigError(
                f"stance.posture names a joint '{name}' that robot '{robot.name}' lacks"
                f"{known_names(name, robot.joint_names)}"
            )
        q_start[robot.model.joints[robot.model.getJointId(name)].idx_q] = angle
    targets = laid_flat(robot, surfaces, q_start)
    for surface, target in zip(surfaces, targets, strict=True):
        target.translation[:2] += stance.moved_m.get(surface.name, (0.0, 0.0))
    feet = {sole.name for sole in robot.soles} | set(stance.contacts) - set(stance.planes)
    ground = [t for s, t in zip(surfaces, targets, strict=True) if s.name in feet] or targets
    centre = np.mean([target.translation[:2] for target in ground], axis=0)
    q = standing_posture(
        robot.model,
        [(surface.frame_id, surface.placement) for surface in surfaces],
        q_start,
        held_components=[surface.held for surface in surfaces],
        com_xy=centre + np.array(stance.com_offset_m),
        base_rotation=pin.Quaternion(robot.q_nominal[3:7]).matrix(),
        sole_placements=targets,
        held=stance.held,
    )
    if wrong := touching_from_the_start(robot.model, surfaces, q):
        raise ConfigError(
            f"in this stance of robot '{robot.name}' {wrong}: name what it stands on in "
            "stance.contacts, or lift the rest by stance.posture"
        )
    return replace(robot, soles=surfaces, q_nominal=q)


def _placed_surface(robot: Robot, name: str, stance: StanceConfig) -> ContactSurface:
    known = {surface.name: surface for surface in robot.surfaces}
    if name not in known and robot.model.existBodyName(name):
        raise ConfigError(
            f"stance.contacts names the body '{name}' of robot '{robot.name}', which has no "
            "contact surface; describe one under 'surfaces' in the robot's file, or take one of "
            f"{', '.join(known)}"
        )
    if name not in known:
        raise ConfigError(
            f"stance.contacts names '{name}', which robot '{robot.name}' lacks"
            f"{known_names(name, known)}"
        )
    if name not in stance.planes:
        return known[name]
    return replace(known[name], plane=plane_placement(stance.planes[name]))


def plane_placement(plane: PlaneConfig) -> pin.SE3:
    """A frame on a plane, z along its normal."""
    z = np.array(plane.normal) / np.linalg.norm(plane.normal)
    x = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    return pin.SE3(np.column_stack([x, np.cross(z, x), z]), np.array(plane.point_m))


def laid_flat(robot: Robot, surfaces: tuple[ContactSurface, ...], q_start: Array) -> list[pin.SE3]:
    """Where each surface is to be: on its plane, next to where ``q_start`` has it."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q_start)
    nominal = robot.model.createData()
    pin.framesForwardKinematics(robot.model, nominal, robot.q_nominal)
    targets = []
    for surface in surfaces:
        on_ground = surface in robot.soles
        guess = surface.pose(nominal if on_ground else data)
        normal, origin = surface.plane.rotation[:, 2], surface.plane.translation
        position = guess.translation - ((guess.translation - origin) @ normal) * normal
        if len(surface.held) == 3:  # a point has no heading
            targets.append(pin.SE3(surface.plane.rotation, position))
            continue
        x = guess.rotation[:, 0] - (guess.rotation[:, 0] @ normal) * normal
        x /= np.linalg.norm(x)
        targets.append(pin.SE3(np.column_stack([x, np.cross(normal, x), normal]), position))
    return targets
