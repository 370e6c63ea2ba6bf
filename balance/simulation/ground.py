"""Ground that is tilted, uneven or moving: the true planes under the soles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config.experiment import ExperimentConfig
from balance.config.ground import GroundConfig, Motion, SwingConfig
from balance.dynamics.standing import standing_posture
from balance.errors import ConfigError, known_names
from balance.robots import Robot
from balance.robots.contacts import ContactSurface
from balance.robots.stance import laid_flat

Array = NDArray[np.float64]


def put_on_ground(robot: Robot, config: ExperimentConfig) -> Robot:
    """``robot`` with its soles flat on the true ground, base upright and CoM where it was."""
    ground = config.ground
    if ground is None:
        return robot
    on_ground = ground_surfaces(robot, config)
    if not on_ground:
        raise ConfigError(
            "ground says how the ground is, but stance.planes gives every contact a plane of its "
            "own, so that nothing stands on it; give one of them"
        )
    for name in ground.heights_m:
        if name not in on_ground:
            raise ConfigError(
                f"ground.heights_m names '{name}', which is no surface on the ground of robot "
                f"'{robot.name}'{known_names(name, on_ground)}"
            )
    if not any(ground.tilt_deg) and not any(ground.heights_m.values()):
        return robot
    soles = tuple(
        replace(sole, plane=_plane(ground, sole)) if sole.name in on_ground else sole
        for sole in robot.soles
    )
    q = standing_posture(
        robot.model,
        [(sole.frame_id, sole.placement) for sole in soles],
        robot.q_nominal,
        held_components=[sole.held for sole in soles],
        com_xy=robot.com()[:2],
        base_rotation=pin.Quaternion(robot.q_nominal[3:7]).matrix(),
        sole_placements=laid_flat(robot, soles, robot.q_nominal),
    )
    return replace(robot, soles=soles, q_nominal=q)


def ground_surfaces(robot: Robot, config: ExperimentConfig) -> list[str]:
    """Names of the contact surfaces that stand on the ground, not on planes of their own."""
    placed = {} if config.stance is None else config.stance.planes
    return [sole.name for sole in robot.soles if sole.name not in placed]


def ground_motion(robot: Robot, config: ExperimentConfig) -> GroundMotion | None:
    """How the ground under ``robot`` moves; None if it rests."""
    if config.ground is None or not config.ground.motion:
        return None
    return GroundMotion(config.ground.motion, ground_surfaces(robot, config))


def _plane(ground: GroundConfig, sole: ContactSurface) -> pin.SE3:
    offset = pin.SE3(np.eye(3), np.array([0.0, 0.0, ground.heights_m.get(sole.name, 0.0)]))
    return offset * pin.SE3(_tilted(np.array(ground.tilt_deg)), np.zeros(3))


def _tilted(tilt_deg: Array) -> Array:
    return np.asarray(pin.exp3(np.radians([*tilt_deg, 0.0])))


class GroundMotion:
    """The pose of the ground over time, relative to where it is at the start.

    ``surfaces`` are the names of the contact surfaces that stand on it.
    """

    def __init__(self, moves: Sequence[Motion], surfaces: Sequence[str]) -> None:
        self._moves, self.surfaces = moves, frozenset(surfaces)

    def pose(self, time: float) -> pin.SE3:
        """Pose in the world at ``time`` in s; the identity before any move."""
        translation, tilt = np.zeros(3), np.zeros(2)
        for move in self._moves:
            share = _share(move, time)
            translation += share * np.array(move.translation_m)
            tilt += share * np.array(move.tilt_deg)
        return pin.SE3(_tilted(tilt), translation)

    def twist(self, time: float, dt: float) -> Array:
        """Constant velocity (6,) that takes the ground from ``time`` to ``time + dt``.

        Linear velocity of the point at the world's origin, then angular velocity; world axes.
        """
        change = self.pose(time + dt) * self.pose(time).inverse()
        return np.asarray(pin.log6(change).vector / dt)

    def relative(self, times: Array, placements: Array) -> Array:
        """Placements (n, ..., 4, 3) at n ``times``, axes in rows, then origin, as the ground sees.

        World axes in, the ground's axes at these times out.
        """
        poses = [self.pose(time) for time in times.tolist()]
        shape = (len(poses),) + (1,) * (placements.ndim - 3)
        moved = placements.copy()
        moved[..., 3, :] -= np.array([pose.translation for pose in poses]).reshape(*shape, 3)
        return np.asarray(moved @ np.array([p.rotation for p in poses]).reshape(*shape, 3, 3))


def _share(move: Motion, time: float) -> float:
    """How much of a move is done at ``time``: a cosine, from rest to rest."""
    since = max(time - move.start_s, 0.0)
    if isinstance(move, SwingConfig):
        cycles = min(move.frequency_hz * since, float(move.cycles))
    else:
        cycles = 0.5 * min(since / move.duration_s, 1.0)
    return 0.5 * (1.0 - math.cos(2.0 * math.pi * cycles))
