"""YAML schema of a stance: contacts, the planes they touch, and hints for the posture."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from balance.config.schema import Strict
from balance.config.values import Direction, Vector3


class PlaneConfig(Strict):
    """A plane through ``point_m`` with its outward ``normal``, world axes."""

    point_m: Vector3
    normal: Direction = (0.0, 0.0, 1.0)


class StanceConfig(Strict):
    """Which surfaces of the robot bear load; ``posture`` is where the search for one starts.

    ``moved_m`` shifts feet on level ground from where the nominal posture has them, x and y.
    """

    contacts: Annotated[tuple[str, ...], Field(min_length=1)]
    planes: dict[str, PlaneConfig] = Field(default_factory=dict)
    moved_m: dict[str, tuple[float, float]] = Field(default_factory=dict)
    posture: dict[str, float] = Field(default_factory=dict)
    held: tuple[str, ...] = ()
    com_offset_m: tuple[float, float] = (0.0, 0.0)

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
