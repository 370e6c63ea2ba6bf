"""The experiment that a protocol starts from: a robot, a law and an engine, and places on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from balance.config import load_config
from balance.config.experiment import shipped_config
from balance.config.paths import with_full_paths
from balance.config.yaml_reader import load_yaml_mapping
from balance.errors import ConfigError, FileError, known_names
from balance.robots import Robot, load_robot
from balance.robots.support_polygon import support_polygon
from balance.studies.compare import shared_controller

LIKE_TORO = "talos_push"  # its gains are the TORO-like robot's, scaled to the robot's own build
TORO_MASS_KG, TORO_COM_M = 77.5, 0.945

CHESTS: dict[str, tuple[str, float]] = {
    "toro": ("trunk", 0.25),
    "talos": ("torso_2_link", 0.15),
    "icub": ("chest", 0.12),
    "g1": ("torso_link", 0.15),
    "romeo": ("torso", 0.0),
    "human": ("middle_thorax", 0.0),
}
"""Body of the chest of each robot that ships, and how far above its origin, m."""

SIDES: dict[str, tuple[float, float, float]] = {
    "frontal": (1.0, 0.0, 0.0),
    "lateral": (0.0, 1.0, 0.0),
}
"""Where a push of each side goes."""


def base_experiment(
    robot: str,
    law: str | None,
    engine: str,
    config: str | None = None,
    robots: Sequence[Path] = (),
) -> dict[str, Any]:
    """An experiment without pushes, as a mapping: the robot's shipped one, or that of ``config``.

    Another law takes over the keys that it shares with the experiment's own.
    """
    tree = _shipped(robot, robots) if config is None else _own(config)
    tree = {key: item for key, item in tree.items() if key not in ("reference", "provenance")}
    tree["pushes"] = []
    tree["duration_s"] = 5.0  # runs go on until they are settled
    tree["plant"] = {**tree.get("plant", {}), "engine": engine}
    if law is not None and tree["controller"].get("law") != law:
        tree["controller"] = {**shared_controller(tree["controller"], law), "law": law}
    return tree


def _own(config: str) -> dict[str, Any]:
    loaded = load_config(config)
    return loaded.model_dump(mode="json", exclude_none=True, exclude_unset=True)


def _shipped(robot: str, robots: Sequence[Path]) -> dict[str, Any]:
    for name in (f"{robot}_side", f"{robot}_push"):
        try:
            path = shipped_config(name)
        except (FileError, ConfigError):
            continue
        return with_full_paths(load_yaml_mapping(path), path.parent)
    loaded = load_robot(robot, robots)
    path = shipped_config(LIKE_TORO)
    tree = with_full_paths({**load_yaml_mapping(path), "robot": robot})
    # Damping per inertia and rate of falling: m h^2 sqrt(g / h).
    share = loaded.mass / TORO_MASS_KG * (float(loaded.com()[2]) / TORO_COM_M) ** 1.5
    return {**tree, "plant": {"joint_damping": round(share, 3)}}


def bodies(robot: Robot) -> list[str]:
    """Names of a robot's bodies."""
    return [frame.name for frame in robot.model.frames if frame.type == pin.FrameType.BODY]


def checked_body(robot: Robot, body: str, key: str) -> str:
    """``body``, which the robot must have."""
    names = bodies(robot)
    if body not in names:
        raise ConfigError(
            f"'{key}' = '{body}': robot '{robot.name}' has no such body{known_names(body, names)}"
        )
    return body


def place(robot: Robot, name: str, given: str | None, key: str) -> tuple[str, float]:
    """Body and height above its origin (m) of the ``hip`` or the ``chest``.

    The hip is the robot's push body; the chest of a robot that is not ours must be ``given``.
    """
    if given is not None:
        return checked_body(robot, given, key), 0.0
    if name == "hip":
        return robot.push_body, 0.0
    if robot.name not in CHESTS:
        raise ConfigError(
            f"'{key}' is missing: which body of robot '{robot.name}' is its {name} is not known; "
            f"give it with --set {key}=BODY; valid: {', '.join(bodies(robot))}"
        )
    return CHESTS[robot.name]


def height_of(robot: Robot, body: str, above: float) -> float:
    """Height (m) of a point of a body as the robot stands."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    point = data.oMf[robot.model.getFrameId(body)].act(np.array([0.0, 0.0, above]))
    return float(point[2])


def half_base(robot: Robot, side: str) -> float:
    """Half the depth (frontal) or width (lateral) of the support, m."""
    corners = support_polygon(robot).corners
    return 0.5 * float(np.ptp(corners[:, 0 if side == "frontal" else 1]))


def scattered(seed: int, run: int, direction: Sequence[float]) -> tuple[list[float], list[float]]:
    """Small random placement of a run: its direction by 2 degrees, its point by 10 mm, uniformly.

    Direction and offset (m), across it and upwards; the same run has the same at every level.
    """
    chance = np.random.default_rng([seed, run])
    turn = np.radians(chance.uniform(-2.0, 2.0))
    across, up = chance.uniform(-0.01, 0.01, 2)
    x, y, _ = direction
    turned = (x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn), 0.0)
    offset = (-y * across, x * across, up)
    return [float(value) for value in turned], [float(value) for value in offset]
