"""YAML schema of the control laws."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, ClassVar, Self

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
    """The build of a robot for which gains are meant."""

    mass_kg: Positive
    """Its mass."""
    com_height_m: Positive
    """Height of its CoM."""


class OscillatorConfig(Strict):
    """How something shall return: one value for all axes, or one for each."""

    frequency_hz: Positive | PositiveVector3
    """Undamped natural frequency. Example: 0.7."""
    damping_ratio: Positive | PositiveVector3
    """Damping ratio; 1 is critical [-]. Example: 1.0."""


class GainsConfig(Strict):
    """Gains of the momentum law, Garofalo2015, Table 1.

    In place of K_P and K_D, ``com`` says in physical terms how the CoM shall return; in place of
    K_R and D, ``rotation`` says it of the base. They are converted with the robot's mass and its
    locked inertia.
    """

    K_P: Gain | None = None
    """Stiffness of the CoM [N/m]: one number, three, or a 3 x 3 matrix."""
    K_D: Gain | None = None
    """Damping of the linear momentum [1/s]."""
    com: OscillatorConfig | None = None
    """How the CoM returns, in place of K_P and K_D."""
    K_R: Gain | None = None
    """Stiffness of the base's rotation [N m]."""
    D: Gain | None = None
    """Damping of the angular momentum [1/s]."""
    rotation: OscillatorConfig | None = None
    """How the base turns back, in place of K_R and D."""
    designed_for: BuildConfig | None = None
    """The build that the gains are meant for: they are scaled from it by mass and size."""

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
    """What a law believes of every contact: friction, margins and force limits."""

    friction: Positive = 0.6
    """Coulomb friction coefficient that the law counts on [-]."""
    cop_margin_m: NonNegative = 0.005
    """Distance that the centre of pressure keeps from the edge of a sole."""
    min_normal_force: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Least normal force of each contact as a share of the robot's weight, 0.013 if neither is
    given [-]. Example: 0.02."""
    min_normal_force_N: NonNegative | None = None
    """Least normal force of each contact, in place of the share."""
    max_normal_force_N: Positive | None = None
    """Largest normal force of each contact; no bound if not given. Example: 900."""

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
    """The quadratic program that shares a wrench among the contacts."""

    solver: str = "daqp"
    """daqp, goldfarb_idnani, quadprog (no limit of iterations), or proxqp (extra `solvers`)."""
    linear_weight: Positive = 1.0
    """Weight of the squared force error [1/N^2]."""
    angular_weight: Positive = 10.0
    """Weight of the squared moment error [1/(N m)^2]."""
    regularisation: Annotated[float, Field(gt=0, le=1)] = 1e-6
    """Weight of an even share, each contact by what it can bear [-]."""


class ImpedanceConfig(Strict):
    """Joint impedance of the joints that the law leaves free, per unit of joint inertia."""

    frequency_hz: Positive
    """Undamped natural frequency."""
    damping_ratio: Positive
    """Damping ratio; 1 is critical [-]."""


class SetpointConfig(Strict):
    """A smooth move to offsets from the nominal CoM and base orientation."""

    time_s: NonNegative
    """When it begins. Example: 1.0."""
    duration_s: Positive
    """How long it takes. Example: 2.0."""
    com_m: Vector3 = (0.0, 0.0, 0.0)
    """Offset of the CoM at its end, in world axes. Example: [0.0, 0.03, 0.0]."""
    base_rpy_rad: Vector3 = (0.0, 0.0, 0.0)
    """Roll, pitch and yaw of the base at its end. Example: [0.0, 0.1, 0.0]."""


class GainChangeConfig(Strict):
    """Other gains from a time on, taken over without a jump in torque."""

    time_s: NonNegative
    """When the change begins. Example: 3.0."""
    blend_s: Positive = 0.25
    """How long it takes."""
    gains: GainsConfig | None = None
    """The new gains."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Dotted keys of the law in place of `gains`, for laws with gains of their own. Example:
    {bearing.frequency_hz: 0.9}."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.gains is None) == (not self.set):
            raise ValueError("give one of gains and set")
        return self


class LawConfig(Strict):
    """What every law is given, a user's own as well; a law adds its own keys in ``Config``."""

    takes_steps: ClassVar[bool] = False
    """Whether the law may lift a foot and put it down elsewhere."""
    law: str
    """Name of the law, or FILE.py:NAME for your own."""
    contacts: ContactAssumptionsConfig = ContactAssumptionsConfig()
    """What the law believes of every contact."""
    setpoints: tuple[SetpointConfig, ...] = ()
    """Moves of the setpoint, one after the other."""
    gain_changes: tuple[GainChangeConfig, ...] = ()
    """Changes of the law's gains, one after the other."""

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
    """What our own laws share: one set of gains defines the same target for all of them."""

    gains: GainsConfig = DEFAULT_GAINS
    """How CoM and base return to their setpoints; by default at a rate that suits the robot's
    height."""
    qp: WrenchQPConfig = WrenchQPConfig()
    """The quadratic program that shares a wrench among the contacts."""
    impedance: ImpedanceConfig | None = None
    """Impedance of the joints that the law leaves free; the robot's own if not given."""
    contact_damping: Annotated[float, Field(ge=0, le=500)] = 60.0
    """Rate at which a contact that slips shall come to rest [1/s]; 0 switches it off."""

    def with_limb(self, name: str, task: FrameTaskConfig, firm: bool) -> Self:
        """The same law with a task that leads a limb; one without tasks moves it by its joints."""
        return self


class WrenchLawConfig(BalancingLawConfig):
    """A law that asks for a wrench at the CoM and shares it among the contacts."""

    contact_return: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Stiffness that brings a contact back which slipped, as a share of that of critical damping
    [-]; with 0 it stays where it came to rest."""
