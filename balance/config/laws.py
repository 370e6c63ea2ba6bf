"""YAML schema of the control laws."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from balance.config.dotted_keys import set_key
from balance.config.schema import Strict
from balance.config.tasks import FrameTaskConfig
from balance.config.values import (
    Gain,
    NonNegative,
    Positive,
    PositiveVector3,
    Vector3,
    check_one_after_the_other,
)


class BuildConfig(Strict):
    """Mass and CoM height of a robot."""

    mass_kg: Positive
    com_height_m: Positive


class OscillatorConfig(Strict):
    """A natural frequency (undamped, Hz) and a damping ratio, one for all axes or one for each."""

    frequency_hz: Positive | PositiveVector3
    damping_ratio: Positive | PositiveVector3


class GainsConfig(Strict):
    """Gains of the momentum law: K_P N/m, K_D 1/s, K_R N m, D 1/s (Garofalo2015, Table 1).

    In place of K_P and K_D, ``com`` says in physical terms how the CoM shall return; in place of
    K_R and D, ``rotation`` says it of the base.  They are converted with the robot's mass and its
    locked inertia.  With ``designed_for`` the gains are meant for a robot of that build and are
    scaled to the actual one by mass and size.
    """

    K_P: Gain | None = None
    K_D: Gain | None = None
    com: OscillatorConfig | None = None
    K_R: Gain | None = None
    D: Gain | None = None
    rotation: OscillatorConfig | None = None
    designed_for: BuildConfig | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for stiffness, rate, physical in (("K_P", "K_D", "com"), ("K_R", "D", "rotation")):
            given = [key for key in (stiffness, rate) if getattr(self, key) is not None]
            if getattr(self, physical) is not None and given:
                raise ValueError(
                    f"the keys {' and '.join(given)} and {physical} say the same thing; give "
                    f"{stiffness} and {rate}, or {physical} with frequency_hz and damping_ratio"
                )
            if getattr(self, physical) is None and len(given) < 2:
                lacking = rate if stiffness in given else stiffness
                raise ValueError(
                    f"the key {lacking} is missing; give {stiffness} and {rate}, or {physical} "
                    "with frequency_hz and damping_ratio"
                )
        return self


RETURN = OscillatorConfig(frequency_hz=0.7, damping_ratio=1.0)
DEFAULT_GAINS = GainsConfig(
    com=RETURN, rotation=RETURN, designed_for=BuildConfig(mass_kg=1.0, com_height_m=1.0)
)
"""CoM and base return 1.4 times as fast as the robot falls, critically damped, on any robot.

The natural frequency is 0.7 Hz for a CoM height of 1 m and scales with 1 / sqrt(z), like the rate
sqrt(g / z) of the fall; mass plays no part.
"""


GRAVITY = 9.81
LEAST_SHARE = 10.0 / (77.5 * GRAVITY)
"""Of its weight that a robot keeps on every contact: 10 N on the 77.5 kg of the TORO-like one."""


class ContactAssumptionsConfig(Strict):
    """What a law believes of every contact: Coulomb friction, margins and force limits.

    Every contact bears at least ``min_normal_force``, a share of the robot's weight, or
    ``min_normal_force_N`` newtons if that is given.
    """

    friction: Positive = 0.6
    cop_margin_m: NonNegative = 0.005
    min_normal_force: Annotated[float, Field(ge=0, lt=1)] | None = None
    min_normal_force_N: NonNegative | None = None
    max_normal_force_N: Positive | None = None

    @model_validator(mode="after")
    def _one_least_force(self) -> Self:
        if self.min_normal_force is not None and self.min_normal_force_N is not None:
            raise ValueError(
                "min_normal_force (a share of the weight) and min_normal_force_N say the same "
                "thing; give one of them"
            )
        return self

    def least_normal_force(self, mass: float) -> float:
        """The least normal force (N) of a contact of a robot of ``mass`` kg."""
        if self.min_normal_force_N is not None:
            return self.min_normal_force_N
        share = LEAST_SHARE if self.min_normal_force is None else self.min_normal_force
        # To a nanonewton, so that the order in which masses are added up does not show.
        return round(share * GRAVITY * mass, 9)


class WrenchQPConfig(Strict):
    """Weights of the contact-wrench QP (squared N, squared N m) and its solver."""

    solver: str = "daqp"
    linear_weight: Positive = 1.0
    angular_weight: Positive = 10.0
    regularisation: Annotated[float, Field(gt=0, le=1)] = 1e-6


class ImpedanceConfig(Strict):
    """Joint impedance of the joints that the law leaves free, per unit of joint inertia."""

    frequency_hz: Positive
    damping_ratio: Positive


class SetpointConfig(Strict):
    """A smooth move, over ``duration_s``, to offsets from the nominal CoM and base orientation."""

    time_s: NonNegative
    duration_s: Positive
    com_m: Vector3 = (0.0, 0.0, 0.0)
    base_rpy_rad: Vector3 = (0.0, 0.0, 0.0)


class GainChangeConfig(Strict):
    """Other gains from ``time_s`` on, taken over within ``blend_s`` without a jump in torque.

    In place of ``gains``, ``set`` gives dotted keys of the law, for laws with gains of their own.
    """

    time_s: NonNegative
    blend_s: Positive = 0.25
    gains: GainsConfig | None = None
    set: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.gains is None) == (not self.set):
            raise ValueError("give one of gains and set")
        return self


class LawConfig(Strict):
    """What every law is given, a user's own as well; a law adds its own keys in ``Config``.

    ``law`` is its name in the registry.
    """

    law: str
    contacts: ContactAssumptionsConfig = ContactAssumptionsConfig()
    setpoints: tuple[SetpointConfig, ...] = ()
    gain_changes: tuple[GainChangeConfig, ...] = ()

    @field_validator("setpoints")
    @classmethod
    def _one_after_the_other(cls, moves: tuple[SetpointConfig, ...]) -> tuple[SetpointConfig, ...]:
        check_one_after_the_other(moves)
        return moves

    @field_validator("gain_changes")
    @classmethod
    def _one_change_at_a_time(
        cls, changes: tuple[GainChangeConfig, ...]
    ) -> tuple[GainChangeConfig, ...]:
        for first, second in pairwise(changes):
            if second.time_s < first.time_s + first.blend_s:
                raise ValueError(
                    f"the change of gains at time_s = {second.time_s} comes before the one at "
                    f"{first.time_s} is complete, at {first.time_s + first.blend_s:g} s"
                )
        return changes

    @model_validator(mode="after")
    def _changes_fit(self) -> Self:
        law = self
        for change in self.gain_changes:
            law = law.changed(change)
        return self

    def changed(self, change: GainChangeConfig) -> Self:
        """The same law after a change of gains, with no further changes to come."""
        tree = self.model_dump(exclude={"gain_changes"}, exclude_unset=True)
        if change.gains is not None:
            tree["gains"] = change.gains.model_dump(exclude_unset=True)
        for key, value in change.set.items():
            set_key(tree, key, value)
        return type(self).model_validate(tree, strict=True)


class BalancingLawConfig(LawConfig):
    """What our own laws share: one set of gains defines the same target for all of them.

    ``contact_damping`` is the rate, 1/s, at which a contact that slips shall come to rest.
    """

    gains: GainsConfig = DEFAULT_GAINS
    qp: WrenchQPConfig = WrenchQPConfig()
    impedance: ImpedanceConfig | None = None
    contact_damping: Annotated[float, Field(ge=0, le=500)] = 60.0

    def with_limb(self, name: str, task: FrameTaskConfig) -> Self:
        """The same law with a task that leads a limb; one without tasks moves it by its joints."""
        return self


class WrenchLawConfig(BalancingLawConfig):
    """A law that asks for a wrench at the CoM and shares it among the contacts.

    ``contact_return`` is the stiffness that brings a contact back which slipped while it bore
    little, as a share of that of critical damping: with 0 it stays where it came to rest.
    """

    contact_return: Annotated[float, Field(ge=0, le=1)] = 0.0
