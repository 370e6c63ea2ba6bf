"""YAML schema of contacts that change: phases in sequence, and the objects that surfaces lie on.

Each phase names the surfaces that bear, where limbs go meanwhile, and what ends it.  Postures are
not given but found (:mod:`balance.robots.sequence`); what a phase says of them are hints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import Field, model_validator

from balance.config.schema import Strict
from balance.config.values import Direction, NonNegative, Positive, Vector3
from balance.errors import known_names

FLOOR = "floor"
"""What a surface lies on if it is on none of the objects: level ground at z = 0, without end."""


class ObjectConfig(Strict):
    """Something to stand or lean on: a plate, or a box if it is as deep as high."""

    centre_m: Vector3
    """Middle of the face that surfaces touch. Example: [0.3, 0.0, 0.1]."""
    size_m: tuple[Positive, Positive]
    """Its sides along x and y: on a level face those of the world, turned by `yaw_rad`; on any
    other x is the world axis farthest from the normal, laid into the face. Example: [0.4, 0.3]."""
    normal: Direction = (0.0, 0.0, 1.0)
    """Points out of that face [-]."""
    yaw_rad: float = 0.0
    """Turns the sides of a level face."""
    depth_m: Positive = 0.04
    """How far the object goes on below the face."""


class PlaceConfig(Strict):
    """Where a surface is put.

    On an object it is laid flat, at the point nearest to ``to_m``, or ``by_m`` from where it was;
    with neither it lies wherever on that object the posture has it. In the air it is held at
    ``to_m`` or by ``by_m`` from where it was; with neither it is free: it goes where the posture
    near the nominal one has it.
    """

    on: str | None = None
    """Name of an object, or `floor`; in the air if not given. Example: floor."""
    to_m: Vector3 | None = None
    """The place, in world axes. Example: [0.3, 0.1, 0.1]."""
    by_m: Vector3 | None = None
    """In place of it, an offset from where the surface was. Example: [0.1, 0.0, 0.0]."""
    yaw_rad: float | None = None
    """Angle of its x axis in the face, from that of the object; if not given, feet keep their
    heading, and anything else takes the one that suits the posture. Example: 0.2."""

    @model_validator(mode="after")
    def _one_place(self) -> PlaceConfig:
        if self.to_m is not None and self.by_m is not None:
            raise ValueError("to_m (a place) and by_m (an offset) say the same thing; give one")
        if self.yaw_rad is not None and self.on is None:
            raise ValueError("yaw_rad is a heading on a face; say 'on' which object, or floor")
        return self


class MoveConfig(PlaceConfig):
    """Where a limb goes in a phase."""

    clearance_m: NonNegative = 0.05
    """How far above both its places it goes."""
    duration_s: Positive = 1.0
    """How long it takes."""


class UntilConfig(Strict):
    """What ends a phase: everything given here at once."""

    time_s: NonNegative | None = None
    """Time that it lasts, at least if there are other conditions. Example: 1.5."""
    loaded: Annotated[float, Field(gt=0, le=1)] | None = None
    """Share of the load on the contacts that the next phase keeps [-]. Example: 0.95."""
    touchdown_N: Positive | None = None
    """Measured normal force of every limb that moves; or give `touchdown_m`. Example: 20."""
    touchdown_m: Positive | None = None
    """Height of every limb that moves. Example: 0.002."""
    com_m: Positive | None = None
    """How near the CoM is to that of the phase's posture. Example: 0.01."""
    joints_rad: Positive | None = None
    """How near every joint is to its angle there. Example: 0.05."""
    timeout_s: Positive | None = None
    """Time after which the phase has failed; other conditions than time need it. Example: 5.0."""

    @property
    def conditions(self) -> tuple[str, ...]:
        """Names of what has to come true, apart from time."""
        names = ("loaded", "touchdown_N", "touchdown_m", "com_m", "joints_rad")
        return tuple(name for name in names if getattr(self, name) is not None)

    @model_validator(mode="after")
    def _ends(self) -> UntilConfig:
        if self.conditions and self.timeout_s is None:
            raise ValueError(
                f"{self.conditions[0]} may never come true; give timeout_s, after which the run "
                "counts as failed"
            )
        if not self.conditions and self.time_s is None:
            raise ValueError(
                "it never ends; give time_s, or loaded, touchdown_N, touchdown_m, com_m or "
                "joints_rad with timeout_s"
            )
        if self.timeout_s is not None and self.timeout_s <= (self.time_s or 0.0):
            raise ValueError(
                f"timeout_s = {self.timeout_s:g} s is over before time_s = {self.time_s:g} s is"
            )
        return self


class PhaseConfig(Strict):
    """One stance of a sequence: ``contacts`` bear, what is under ``move`` goes to its next place.

    A limb that moves does not bear: a later phase names it among its contacts.
    """

    name: str
    """Its name. Example: lift."""
    contacts: tuple[str, ...]
    """Names of the surfaces that bear. Example: [left sole]."""
    places: dict[str, PlaceConfig] = Field(default_factory=dict)
    """Where surfaces lie as the run starts, in the first phase only; feet that it does not name are
    on the floor where the nominal posture has them. Example: {right sole: {on: floor}}."""
    move: dict[str, MoveConfig] = Field(default_factory=dict)
    """Limbs that move, and where they go. Example: {right sole: {on: floor, by_m: [0.1, 0.0,
    0.0]}}."""
    posture: dict[str, float] = Field(default_factory=dict)
    """Angles that the search for the posture starts from and stays near to, by joint [rad].
    Example: {left_knee: 0.6}."""
    base_rpy_rad: Vector3 | None = None
    """Roll, pitch and yaw of the base. Example: [0.0, 0.1, 0.0]."""
    held: tuple[str, ...] = ()
    """Joints that keep their angle. Example: [left_elbow]."""
    com_offset_m: tuple[float, float] | None = None
    """Shift (x, y) of the CoM from the middle of what bears. Example: [0.0, 0.02]."""
    until: UntilConfig | None = None
    """What ends it; the last phase lasts until the run ends."""

    @model_validator(mode="after")
    def _consistent(self) -> PhaseConfig:
        if problems := [*self._contradictions()]:
            raise ValueError(*problems)
        return self

    def _contradictions(self) -> Iterator[str]:
        if not self.contacts:
            moving = " and ".join(f"'{name}'" for name in self.move)
            what = f"{moving} would move at once where none bears" if moving else "nothing bears"
            yield f"phase '{self.name}' has no contacts: {what}; name at least one surface"
        if len(set(self.contacts)) != len(self.contacts):
            yield f"a contact is named twice in {list(self.contacts)}"
        for name in self.move:
            if name in self.contacts:
                yield (
                    f"move.{name} is for a surface among contacts, and a limb that moves does not "
                    "bear; remove it from contacts, and name it in the phase after"
                )
        for name in self.places:
            if name not in self.contacts:
                yield f"places.{name} is for a surface that is not among {list(self.contacts)}"
            elif self.places[name].on is None or self.places[name].by_m is not None:
                yield f"places.{name} needs 'on' (an object, or floor), and to_m if any place"
        touchdown = self.until and (self.until.touchdown_N or self.until.touchdown_m)
        if touchdown and not any(move.on for move in self.move.values()):
            yield "until.touchdown is for a limb that moves onto something; no move says 'on' what"


def contradictions(
    phases: Sequence[PhaseConfig], objects: Mapping[str, ObjectConfig]
) -> Iterator[str]:
    """What is wrong with phases that are right by themselves."""
    if FLOOR in objects:
        yield f"objects.{FLOOR} is what the ground is called; choose another name"
    if objects and not phases:
        yield "objects are what phases put surfaces on, and there are no phases; remove them"
    names = [phase.name for phase in phases]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"phases has two called '{name}'; give each its own name"
    for index, phase in enumerate(phases):
        key = f"phases.{index}"
        if phase.places and index > 0:
            yield (
                f"{key}.places says where surfaces lie as the run starts; after the first phase "
                "they get anywhere by 'move'"
            )
        if phase.until is None and index < len(phases) - 1:
            yield (
                f"{key} ('{phase.name}') never ends, and {len(phases) - 1 - index} more follow it; "
                "give it 'until', with time_s or with a condition and timeout_s"
            )
        if index == len(phases) - 1 and phase.until is not None and phase.until.loaded is not None:
            yield f"{key}.until.loaded is about the contacts of the next phase; there is none"
        for section in ("places", "move"):
            for surface, place in getattr(phase, section).items():
                if place.on is not None and place.on != FLOOR and place.on not in objects:
                    yield (
                        f"{key}.{section}.{surface}.on = '{place.on}' is no object"
                        f"{known_names(place.on, [FLOOR, *objects])}"
                    )
