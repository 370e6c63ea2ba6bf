"""The contact surfaces of a robot's file, and which of them are feet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np
import pinocchio as pin
from pydantic import Field, model_validator

from balance.config.schema import Strict
from balance.errors import ConfigError
from balance.robots.contact_points import along_a_line
from balance.robots.contacts import POINT_RADIUS_M, ContactSurface
from balance.robots.model import body_frame

Vector3 = tuple[float, float, float]
Positive = Annotated[float, Field(gt=0)]
Surfaces = tuple[ContactSurface, ...]

MOST_POINTS = 12  # of one contact surface


class SoleFile(Strict):
    """A contact surface: a rectangle, or points."""

    frame: str
    """Frame or body of the URDF that carries it."""
    centre: Vector3 = (0.0, 0.0, 0.0)
    """Its centre in that frame [m]."""
    rpy: Vector3 = (0.0, 0.0, 0.0)
    """Its orientation there, z out of the ground [rad]."""
    length: Positive | None = None
    """Of a rectangle, along its x axis [m]."""
    width: Positive | None = None
    """Of a rectangle, along its y axis [m]."""
    points: Annotated[tuple[tuple[float, float], ...], Field(max_length=MOST_POINTS)] = ()
    """In place of a rectangle, points (x, y) from the centre [m]."""
    foot: bool | None = None
    """Whether the robot stands on it; if not given, soles are feet, and so is any other surface of
    a body that has one."""

    @model_validator(mode="after")
    def _has_one_shape(self) -> SoleFile:
        sides = [side is not None for side in (self.length, self.width)]
        if self.points and any(sides):
            raise ValueError("it is a rectangle or points; give length and width, or points")
        if not self.points and not all(sides):
            raise ValueError("it has no shape; give length and width of a rectangle, or points")
        if len(set(self.points)) != len(self.points):
            raise ValueError(f"a point is named twice in {[list(p) for p in self.points]}")
        return self


def contact_surfaces(
    model: pin.Model, soles: Mapping[str, SoleFile], surfaces: Mapping[str, SoleFile]
) -> tuple[Surfaces, Surfaces]:
    """The soles of a robot's file, and its other surfaces."""
    _check_names(soles, surfaces)
    standing = tuple(
        _surface(model, f"{name} sole", sole, f"soles.{name}", None) for name, sole in soles.items()
    )
    feet = {model.frames[sole.frame_id].parentJoint for sole in standing if sole.is_foot}
    return standing, tuple(
        _surface(model, name, surface, f"surfaces.{name}", feet)
        for name, surface in surfaces.items()
    )


def surface_label(name: str) -> str:
    """The short name of a surface, as used in the names of recorded columns."""
    return name.removesuffix(" sole").replace(" ", "_")


def _check_names(soles: Mapping[str, SoleFile], surfaces: Mapping[str, SoleFile]) -> None:
    """Refuse two surfaces that a stance or a recorded column could not tell apart."""
    keys = {f"soles.{name}": f"{name} sole" for name in soles}
    keys |= {f"surfaces.{name}": name for name in surfaces}
    first: dict[str, str] = {}
    for key, name in keys.items():
        other = first.setdefault(surface_label(name), key)
        if other != key:
            raise ConfigError(
                f"'{other}' and '{key}' would both be called '{surface_label(name)}' in a "
                "recording; rename one of them"
            )


def _surface(
    model: pin.Model, name: str, sole: SoleFile, key: str, feet: set[int] | None
) -> ContactSurface:
    """One surface; ``feet`` are the joints of bodies with a foot, if it has to be one of those."""
    placement = pin.SE3(pin.rpy.rpyToMatrix(*sole.rpy), np.array(sole.centre))
    index = body_frame(model, sole.frame, f"{key}.frame")
    is_foot = feet is None or model.frames[index].parentJoint in feet
    if sole.foot is not None:
        is_foot = sole.foot
    if not sole.points:
        half_length, half_width = (0.5 * (side or 0.0) for side in (sole.length, sole.width))
        return ContactSurface(
            name, sole.frame, index, placement, half_length, half_width, is_foot=is_foot
        )
    points, R = along_a_line(np.array(sole.points))
    placement = placement * pin.SE3(R, np.zeros(3))
    low, high = points.min(axis=0), points.max(axis=0)
    centre = 0.5 * (low + high)
    placement = placement * pin.SE3(np.eye(3), np.append(centre, 0.0))
    half_length, half_width = np.maximum(0.5 * (high - low), POINT_RADIUS_M).tolist()
    around_centre = tuple((float(x), float(y)) for x, y in points - centre)
    return ContactSurface(
        name,
        sole.frame,
        index,
        placement,
        half_length,
        half_width,
        points=around_centre,
        is_foot=is_foot,
    )
