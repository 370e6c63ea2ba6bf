"""The schema of a robot's YAML file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from balance.config.schema import Strict
from balance.robots.surfaces import SoleFile

Vector3 = tuple[float, float, float]
Positive = Annotated[float, Field(gt=0)]
RatedSpeed = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class PackageModel(Strict):
    """A model of the package example-robot-data."""

    example_robot_data: str
    """Name of the robot there."""


class StandFile(Strict):
    """How the nominal posture is completed: soles level, CoM over a point of the stance."""

    com_offset: tuple[float, float] = (0.0, 0.0)
    """Shift (x, y) of the CoM from the centre of the soles, in world axes [m]."""
    yaw: float = 0.0
    """Heading of the base [rad]."""
    base_height: Positive | None = None
    """Height of the base's frame; any if not given [m]. Example: 0.95."""
    held: tuple[str, ...] = ()
    """Joints that keep their angle."""


class ImpedanceFile(Strict):
    """Joint impedance of the joints that a law leaves free, per unit of joint inertia."""

    frequency_hz: Positive
    """Undamped natural frequency."""
    damping_ratio: Positive
    """Damping ratio; 1 is critical [-]."""


class RobotFile(Strict):
    """The schema of a robot's YAML file."""

    name: str
    """Its name."""
    description: str = ""
    """What it is and where its model is from."""
    urdf: str | PackageModel
    """Path of the URDF from this file, or the name of a model of example-robot-data."""
    base_body: str | None = None
    """The floating base, whose rotation laws hold; the root body of the URDF if not given."""
    base_rpy: Vector3 = (0.0, 0.0, 0.0)
    """Orientation of the axes wanted (x forwards, z upwards) in those of the URDF's base [rad]."""
    push_body: str | None = None
    """The body that pushes act on if they do not name one; the base if not given."""
    soles: Annotated[dict[str, SoleFile], Field(min_length=1)]
    """The surfaces that it stands on, by names of your choice."""
    surfaces: dict[str, SoleFile] = Field(default_factory=dict)
    """Other surfaces that may bear load, such as palms."""
    lock: dict[str, float] = Field(default_factory=dict)
    """Joints that are fixed, each at an angle [rad]. Example: {head_yaw: 0.0}."""
    posture: dict[str, float] = Field(default_factory=dict)
    """Angles of the nominal posture; others are zero, or near the stop next to it [rad]. Example:
    {left_knee: 0.5}."""
    stand: StandFile | None = None
    """Complete the posture so that it stands; not given: take it as it is."""
    rated_speed: RatedSpeed | dict[str, RatedSpeed] = Field(default_factory=dict)
    """Speed that drives keep up under full torque, for all joints or for some by name; else the
    URDF's [rad/s]."""
    impedance: ImpedanceFile = ImpedanceFile(frequency_hz=2.0, damping_ratio=0.7)
    """Impedance of joints that a law leaves free."""
