"""YAML keys of the law ``capture``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from balance.config import BalancingLawConfig
from balance.config.values import NonNegative, Positive, PositiveVector3


class CaptureConfig(BalancingLawConfig):
    """Capture point, with hips and arms when the soles are used up.

    Rates are in units of omega = sqrt(g / z), the rate at which the robot falls, so that one set of
    numbers suits robots of any size.

    ``max_lean_rad`` is how far the base may lean sideways, forwards and backwards, ``arm_share``
    the share of their range that arms may use with it.  ``lean_rate`` and ``momentum_rate`` are the
    rates at which the lean and its momentum reach their targets, ``braking`` the moments (roll and
    pitch), in units of m g z, that are counted on to stop the lean.  ``lean_reserve`` is by how
    much more than needed the body leans, as a share of the capture point's distance.
    ``cop_reserve_m`` is what the target of the centre of pressure keeps from the edge that
    ``contacts.cop_margin_m`` leaves, and ``crouch`` by how much the CoM sinks, in CoM heights,
    times the square of the roll in radians.  ``joint_friction`` is the viscous friction of the
    joints, N m s/rad, that the law makes up for.  ``contact_damping`` is the rate, 1/s, at which a
    contact that slips shall come to rest.
    """

    max_lean_rad: PositiveVector3 = (0.8, 0.75, 0.62)
    arm_share: Annotated[float, Field(ge=0, le=1)] = 0.5
    lean_rate: Positive = 3.0
    momentum_rate: Positive = 12.0
    braking: tuple[Positive, Positive] = (0.17, 0.06)
    lean_reserve: NonNegative = 0.05
    cop_reserve_m: NonNegative = 0.002
    crouch: NonNegative = 0.085
    joint_friction: NonNegative = 0.0
    contact_damping: NonNegative = 40.0
