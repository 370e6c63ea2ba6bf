"""Robots: a Pinocchio model plus what balancing needs to know, described by one YAML file each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config.paths import data_folder
from balance.config.schema import load_yaml_mapping, validate
from balance.dynamics.standing import standing_posture
from balance.errors import BalanceError, ConfigError, FileError, RobotError, known_names
from balance.robots import card
from balance.robots.clearance import touching_from_the_start
from balance.robots.contacts import ContactSurface
from balance.robots.model import (
    body_frame,
    joint_id,
    rate_speeds,
    read_model,
    root_body,
    turn_base,
)
from balance.robots.objects import WorldObject
from balance.robots.robot_file import ImpedanceFile, RobotFile
from balance.robots.shapes.robot_shapes import Pairs, robot_shapes, touchable_pairs
from balance.robots.shapes.shape import Shape
from balance.robots.sources import find_model
from balance.robots.surfaces import contact_surfaces

Array = NDArray[np.float64]

LEVEL_TOLERANCE_RAD = 1e-3
LEVEL_TOLERANCE_M = 1e-3
OFF_STOP = 0.01  # of its range: how far from its stop a joint rests that cannot be at zero


@dataclass(frozen=True)
class Robot:
    """A floating-base robot that can be balanced.

    ``model`` has a free-flyer root; ``q_nominal`` stands on level soles, or on points of any tilt,
    on the ground plane z = 0;
    ``soles`` are the contact surfaces that bear it, ``surfaces`` all that it has; ``mass`` is in
    kg.  ``q_file`` is the nominal posture of its file, whatever stance it was put in since;
    ``objects`` are what it may put surfaces on besides the floor.  ``in_turns`` says that not all
    of its soles bear at once.
    """

    name: str
    description: str
    model: pin.Model
    q_nominal: Array
    soles: tuple[ContactSurface, ...]
    surfaces: tuple[ContactSurface, ...]
    mass: float
    base_body: str
    push_body: str
    impedance: ImpedanceFile
    urdf: Path
    package_dirs: tuple[Path, ...]
    locked: Mapping[str, float]
    q_file: Array
    objects: tuple[WorldObject, ...] = ()
    in_turns: bool = False

    def __repr__(self) -> str:
        return card.text_of(self)

    def _repr_html_(self) -> str:
        return card.html_of(self)

    @property
    def joint_names(self) -> list[str]:
        """Names of the actuated joints, in the order of the torques."""
        return list(self.model.names)[2:]

    @cached_property
    def effort_limits(self) -> Array:
        """Largest torque of each actuated joint, N m."""
        limits = np.array(self.model.upperEffortLimit[6:])
        limits.flags.writeable = False  # a robot may be shared
        return limits

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """The convex shapes of its bodies: what can touch the ground, and other bodies."""
        return robot_shapes(self)

    @cached_property
    def shape_pairs(self) -> Pairs:
        """Numbers of the shapes that may touch each other."""
        return touchable_pairs(self)

    @cached_property
    def rated_speeds(self) -> Array:
        """Speed up to which each actuated joint has its full torque, rad/s."""
        return np.array(self.model.upperVelocityLimit[6:])

    def com(self, q: Array | None = None) -> Array:
        """Centre of mass in the world, metres; at the nominal posture if ``q`` is not given."""
        q = self.q_nominal if q is None else q
        return np.array(pin.centerOfMass(self.model, self.model.createData(), q))

    def standing_posture(self, q_start: Array | None = None, **conditions: Any) -> Array:
        """A posture near ``q_start`` with level soles; see :mod:`balance.dynamics.standing`."""
        soles = [(sole.frame_id, sole.placement) for sole in self.soles]
        start = self.q_nominal if q_start is None else q_start
        held = [sole.held for sole in self.soles]
        return standing_posture(self.model, soles, start, held_components=held, **conditions)

    def height(self) -> float:
        """Distance (m) from the lowest to the highest visual shape with all joints at zero."""
        geometry = pin.buildGeomFromUrdf(
            self.model,
            str(self.urdf),
            pin.GeometryType.VISUAL,
            package_dirs=[str(folder) for folder in self.package_dirs],
        )
        data, shapes = self.model.createData(), geometry.createData()
        pin.updateGeometryPlacements(self.model, data, geometry, shapes, pin.neutral(self.model))
        low, high = np.inf, -np.inf
        for shape, placement in zip(geometry.geometryObjects, shapes.oMg, strict=True):
            heights = (_extent(shape) @ placement.rotation.T + placement.translation)[:, 2]
            low, high = min(low, heights.min()), max(high, heights.max())
        return float(high - low)


def _extent(shape: pin.GeometryObject) -> Array:
    """Points whose convex hull holds a shape: its vertices, or the corners of its local box."""
    geometry, path = shape.geometry, Path(shape.meshPath)
    if hasattr(geometry, "vertices"):
        points = np.array(geometry.vertices()).reshape(-1, 3)
        # Collada files may have y upwards, which the mesh reader leaves as it is.
        if path.suffix.lower() == ".dae" and b"Z_UP" not in path.read_bytes():
            points = points[:, [0, 2, 1]] * [1.0, -1.0, 1.0]
        return points
    geometry.computeLocalAABB()
    box = geometry.aabb_local
    return np.array(np.meshgrid(*zip(box.min_, box.max_, strict=True))).reshape(3, -1).T


def robot_files(folders: Sequence[Path] = ()) -> dict[str, Path]:
    """Name and YAML file of every known robot; a user's ``folders`` come before the package's."""
    found: dict[str, Path] = {}
    for folder in [*folders, data_folder("robots")]:
        if not os.path.isdir(folder):
            raise FileError(f"the robot folder {folder} does not exist")
        files = [*folder.glob("*.yaml"), *(p / "robot.yaml" for p in folder.iterdir())]
        for path in sorted(files):
            if path.is_file():
                name = path.parent.name if path.name == "robot.yaml" else path.stem
                found.setdefault(name, path)
    return found


def robot_path(name_or_yaml: str | Path, folders: Sequence[Path] = ()) -> Path:
    """The YAML file of a robot, given by its name or itself."""
    text = str(name_or_yaml)
    if text.endswith((".yaml", ".yml")):
        return Path(text)
    files = robot_files(folders)
    if text not in files:
        raise RobotError(
            f"unknown robot '{text}'{known_names(text, files)}; or give the path of a YAML file"
        )
    return files[text]


def load_robot(name_or_yaml: str | Path, folders: Sequence[Path] = ()) -> Robot:
    """The robot of a name (``balance robots`` lists them) or of a YAML file's path.

    ``folders`` are searched for a name before the robots that ship with the package.
    """
    path = robot_path(name_or_yaml, folders)
    spec = validate(RobotFile, load_yaml_mapping(path), str(path))
    try:
        return _build(spec, path)
    except BalanceError as error:
        error.args = (f"{path}: robot '{spec.name}': {error}",)
        raise


def _build(spec: RobotFile, path: Path) -> Robot:
    urdf, packages = find_model(spec, path)
    model = turn_base(read_model(urdf, spec.lock, packages), spec.base_rpy)
    model.name = spec.name
    rate_speeds(model, spec.rated_speed)
    base_body = spec.base_body or root_body(model)
    push_body = spec.push_body or base_body
    for key, name in (("base_body", base_body), ("push_body", push_body)):
        body_frame(model, name, key)
    soles, others = contact_surfaces(model, spec.soles, spec.surfaces)
    q_nominal = _nominal_posture(model, spec, soles)
    robot = Robot(
        name=spec.name,
        description=spec.description,
        model=model,
        q_nominal=q_nominal,
        soles=soles,
        surfaces=soles + others,
        mass=float(pin.computeTotalMass(model)),
        base_body=base_body,
        push_body=push_body,
        impedance=spec.impedance,
        urdf=urdf,
        package_dirs=packages,
        locked=dict(spec.lock),
        q_file=q_nominal,
    )
    _check_level(robot)
    if wrong := touching_from_the_start(model, soles, robot.q_nominal):
        raise RobotError(
            f"in its nominal posture {wrong}: name everything that it stands on under 'soles', and "
            "check 'frame' and 'centre' of those, which are to lie under the foot, not at the ankle"
        )
    return robot


def _nominal_posture(model: pin.Model, spec: RobotFile, soles: tuple[ContactSurface, ...]) -> Array:
    q = pin.neutral(model)
    R_WB = pin.rpy.rpyToMatrix(0.0, 0.0, spec.stand.yaw if spec.stand else 0.0)
    q[3:7] = pin.Quaternion(R_WB).coeffs()
    low, high = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    inside = OFF_STOP * np.where(np.isfinite(high - low), high - low, 0.0)
    q[7:] = np.where(low > 0.0, low + inside, np.where(high < 0.0, high - inside, q[7:]))
    for name, angle in spec.posture.items():
        q[model.joints[joint_id(model, name, "posture")].idx_q] = angle
    below = np.flatnonzero(q[7:] < model.lowerPositionLimit[7:] - 1e-9)
    above = np.flatnonzero(q[7:] > model.upperPositionLimit[7:] + 1e-9)
    for index in map(int, (*below, *above)):
        raise ConfigError(
            f"'posture.{model.names[index + 2]}' = {q[7 + index]:.4g} rad; the URDF allows "
            f"{model.lowerPositionLimit[7 + index]:.4g} to "
            f"{model.upperPositionLimit[7 + index]:.4g} rad"
        )
    poses = _sole_poses(model, q, soles)
    centre = np.mean([pose.translation for pose in poses], axis=0)
    if spec.stand is None:
        q[:3] -= centre
        return q
    q[:2] -= centre[:2]
    return standing_posture(
        model,
        [(sole.frame_id, sole.placement) for sole in soles],
        q,
        held_components=[sole.held for sole in soles],
        com_xy=np.array(spec.stand.com_offset),
        base_height=spec.stand.base_height,
        base_rotation=R_WB,
        held=spec.stand.held,
    )


def _sole_poses(model: pin.Model, q: Array, soles: tuple[ContactSurface, ...]) -> list[pin.SE3]:
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return [sole.pose(data) for sole in soles]


def _check_level(robot: Robot) -> None:
    poses = _sole_poses(robot.model, robot.q_nominal, robot.soles)
    for sole, pose in zip(robot.soles, poses, strict=True):
        tilt = float(np.arccos(np.clip(sole.axes(pose.rotation)[2, 2], -1.0, 1.0)))
        height = float(pose.translation[2])
        if tilt > LEVEL_TOLERANCE_RAD or abs(height) > LEVEL_TOLERANCE_M:
            raise RobotError(
                f"the {sole.name} is not level in the nominal posture (tilted by {tilt:.3g} rad, "
                f"{1e3 * height:.3g} mm from the ground); correct 'posture', or add 'stand: {{}}' "
                "to have it computed"
            )
