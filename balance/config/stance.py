"""YAML schema of a stance: contacts, the planes they touch, and hints for the posture."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from balance.config.schema import Strict
from balance.config.values import Direction, Vector3


class PlaneConfig(Strict):
    """A plane that a surface of the robot touches."""

    point_m: Vector3
    """A point of the plane, in world axes."""
    normal: Direction = (0.0, 0.0, 1.0)
    """Its outward normal, in world axes [-]."""


class StanceConfig(Strict):
    """Which surfaces of the robot bear load, and on what."""

    contacts: Annotated[tuple[str, ...], Field(min_length=1)]
    """Names of the surfaces that bear load; those of the robot's file."""
    planes: dict[str, PlaneConfig] = Field(default_factory=dict)
    """The plane that a surface touches, if it is not the ground."""
    moved_m: dict[str, tuple[float, float]] = Field(default_factory=dict)
    """Shift (x, y) of feet on level ground from where the nominal posture has them. Example:
    {left sole: [0.05, 0.02]}."""
    posture: dict[str, float] = Field(default_factory=dict)
    """Angles from which the search for the posture starts, by joint [rad]."""
    held: tuple[str, ...] = ()
    """Joints that keep their angle in that search."""
    com_offset_m: tuple[float, float] = (0.0, 0.0)
    """Shift (x, y) of the CoM from the middle of the contacts."""

    @model_validator(mode="after")
    def _consistent(self) -> StanceConfig:
        if len(set(self.contacts)) != len(self.contacts):
            raise ValueError(f"a contact is named twice in {list(self.contacts)}")
        for name in self.planes:
            if name not in self.contacts:
                raise ValueError(
                    f"planes.{name} is for a surface that is not among contacts {self.contacts}"
                )
        for name in self.moved_m:
            if name not in self.contacts:
                raise ValueError(
                    f"moved_m.{name} is for a surface that is not among contacts {self.contacts}"
                )
            if name in self.planes:
                raise ValueError(
                    f"moved_m.{name} is for a surface with a plane of its own; it is laid on that "
                    "where the posture has it, so move it by posture"
                )
        return self
