"""YAML schema of the control laws."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from balance.config.schema import Strict
from balance.config.tasks import FrameTask, check_priorities, check_weights
from balance.config.values import Gain, NonNegative, Positive, PositiveVector3, Vector3

LAWS: dict[str, str] = {
    "momentum": "momentum-based balancing, Garofalo2015 (38)-(39)",
    "ott2011": "PD on CoM and base orientation, Garofalo2015 (35)-(37)",
    "whole_body_qp": "one QP over accelerations, forces and torques, Bouyarmane2012 (36)-(38)",
    "hierarchical": "prioritised tasks on the same unknowns, RobotDynamicsETH 3.10",
    "virtual_model": "virtual springs and dampers at the base, RobotDynamicsETH (3.115)-(3.120)",
    "capture": "capture point, with hips and arms beyond the sole's edge, docs/capture.md",
}


WRENCH_LAWS = ("momentum", "ott2011", "virtual_model")
"""Those that share a wrench among the contacts; they have some keys in common."""


class Build(Strict):
    """Mass and CoM height of a robot."""

    mass_kg: Positive
    com_height_m: Positive


class Oscillator(Strict):
    """A natural frequency (undamped, Hz) and a damping ratio, one for all axes or one for each."""

    frequency_hz: Positive | PositiveVector3
    damping_ratio: Positive | PositiveVector3


class Gains(Strict):
    """Gains of the momentum law: K_P N/m, K_D 1/s, K_R N m, D 1/s (Garofalo2015, Table 1).

    In place of K_P and K_D, ``com`` says in physical terms how the CoM shall return; in place of
    K_R and D, ``rotation`` says it of the base.  They are converted with the robot's mass and its
    locked inertia.  With ``designed_for`` the gains are meant for a robot of that build and are
    scaled to the actual one by mass and size.
    """

    K_P: Gain | None = None
    K_D: Gain | None = None
    com: Oscillator | None = None
    K_R: Gain | None = None
    D: Gain | None = None
    rotation: Oscillator | None = None
    designed_for: Build | None = None

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


RETURN = Oscillator(frequency_hz=0.7, damping_ratio=1.0)
DEFAULT_GAINS = Gains(
    com=RETURN, rotation=RETURN, designed_for=Build(mass_kg=1.0, com_height_m=1.0)
)
"""CoM and base return 1.4 times as fast as the robot falls, critically damped, on any robot.

The natural frequency is 0.7 Hz for a CoM height of 1 m and scales with 1 / sqrt(z), like the rate
sqrt(g / z) of the fall; mass plays no part.
"""


GRAVITY = 9.81
LEAST_SHARE = 10.0 / (77.5 * GRAVITY)
"""Of its weight that a robot keeps on every contact: 10 N on the 77.5 kg of the TORO-like one."""


class ContactAssumptions(Strict):
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


class WrenchQP(Strict):
    """Weights of the contact-wrench QP (squared N, squared N m) and its solver."""

    solver: str = "daqp"
    linear_weight: Positive = 1.0
    angular_weight: Positive = 10.0
    regularisation: Annotated[float, Field(gt=0, le=1)] = 1e-6


class Impedance(Strict):
    """Joint impedance of the joints that the law leaves free, per unit of joint inertia."""

    frequency_hz: Positive
    damping_ratio: Positive


class Setpoint(Strict):
    """A smooth move, over ``duration_s``, to offsets from the nominal CoM and base orientation."""

    time_s: NonNegative
    duration_s: Positive
    com_m: Vector3 = (0.0, 0.0, 0.0)
    base_rpy_rad: Vector3 = (0.0, 0.0, 0.0)


class GainChange(Strict):
    """Other gains from ``time_s`` on, taken over within ``blend_s`` without a jump in torque."""

    time_s: NonNegative
    blend_s: Positive = 0.25
    gains: Gains


class LawBase(Strict):
    """What every law is given: one set of gains defines the same target for all of them.

    ``contact_damping`` is the rate, 1/s, at which a contact that slips shall come to rest.
    """

    gains: Gains = DEFAULT_GAINS
    contacts: ContactAssumptions = ContactAssumptions()
    qp: WrenchQP = WrenchQP()
    impedance: Impedance | None = None
    contact_damping: Annotated[float, Field(ge=0, le=500)] = 60.0
    setpoints: tuple[Setpoint, ...] = ()
    gain_changes: tuple[GainChange, ...] = ()

    @field_validator("setpoints")
    @classmethod
    def _one_after_the_other(cls, moves: tuple[Setpoint, ...]) -> tuple[Setpoint, ...]:
        in_time = sorted(moves, key=lambda move: move.time_s)
        for first, second in pairwise(in_time):
            if second.time_s < first.time_s + first.duration_s:
                raise ValueError(
                    f"the move at time_s = {second.time_s} begins before the one at "
                    f"{first.time_s} has ended, at {first.time_s + first.duration_s:g} s"
                )
        return moves

    @field_validator("gain_changes")
    @classmethod
    def _one_change_at_a_time(cls, changes: tuple[GainChange, ...]) -> tuple[GainChange, ...]:
        for first, second in pairwise(changes):
            if second.time_s < first.time_s + first.blend_s:
                raise ValueError(
                    f"the change of gains at time_s = {second.time_s} comes before the one at "
                    f"{first.time_s} is complete, at {first.time_s + first.blend_s:g} s"
                )
        return changes


class WrenchLawBase(LawBase):
    """A law that asks for a wrench at the CoM and shares it among the contacts.

    ``contact_return`` is the stiffness that brings a contact back which slipped while it bore
    little, as a share of that of critical damping: with 0 it stays where it came to rest.
    """

    contact_return: Annotated[float, Field(ge=0, le=1)] = 0.0


class MomentumLaw(WrenchLawBase):
    """The momentum-based balancing law.

    With ``tracking`` no term is neglected: the momentum of a moving setpoint is fed forward, and
    the torques are the full inverse dynamics.
    """

    law: Literal["momentum"]
    tracking: bool = False


class OttLaw(WrenchLawBase):
    """PD on CoM and base orientation with the velocities of both in place of the momentum."""

    law: Literal["ott2011"]


class VirtualModelLaw(WrenchLawBase):
    """Virtual springs and dampers at the base."""

    law: Literal["virtual_model"]


class WholeBodyLaw(LawBase):
    """One QP over accelerations, torques and contact forces.

    ``tasks`` gives each task its weight; ``frames`` defines tasks that hold a frame.  ``form`` is
    that of the equation of motion: Pinocchio's, or with the base's quaternion as coordinates.
    """

    law: Literal["whole_body_qp"]
    form: Literal["plain", "quaternion"] = "plain"
    tasks: dict[str, Positive] = Field({"com": 1.0, "base": 1.0, "posture": 0.1}, min_length=1)
    frames: dict[str, FrameTask] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _known_tasks(self) -> Self:
        check_weights(self.tasks, self.frames)
        return self


class HierarchicalLaw(LawBase):
    """Prioritised tasks on accelerations, forces and torques.

    ``priorities`` names the tasks of each level, the highest first; ``frames`` defines tasks that
    hold a frame.  ``method`` solves a QP for each level, or projects onto null spaces.
    """

    law: Literal["hierarchical"]
    method: Literal["qp", "projection"] = "qp"
    priorities: tuple[tuple[str, ...], ...] = (
        ("dynamics", "contacts", "cones", "torque_limits"),
        ("com",),
        ("base",),
        ("posture",),
        ("forces",),
    )
    frames: dict[str, FrameTask] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _consistent_priorities(self) -> Self:
        check_priorities(self.priorities, self.frames)
        return self


class CaptureLaw(LawBase):
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

    law: Literal["capture"]
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


def _known_law(value: Any) -> Any:
    law = value.get("law") if isinstance(value, Mapping) else None
    if isinstance(law, str) and law not in LAWS:
        told = "".join(f"\n  {name}: {text}" for name, text in LAWS.items())
        close = difflib.get_close_matches(law, LAWS, n=1)
        hint = f" (did you mean '{close[0]}'?)" if close else ""
        raise ValueError(f"unknown law {law!r}{hint}; known laws are{told}")
    return value


Law = Annotated[
    MomentumLaw | OttLaw | VirtualModelLaw | WholeBodyLaw | HierarchicalLaw | CaptureLaw,
    Field(discriminator="law"),
    BeforeValidator(_known_law),
]
