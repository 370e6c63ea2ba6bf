"""Phases in sequence: a static posture for each, and what moves between them.

Bouyarmane2012 VI tracks the CoM and the posture of the next static posture of a sequence while a
task moves one limb to its next contact; this is such a sequence.  What is impossible is found here,
before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import ContactAssumptionsConfig, ExperimentConfig
from balance.config.phases import FLOOR, PhaseConfig, UntilConfig
from balance.errors import BalanceError, ConfigError, known_names
from balance.robots import Robot
from balance.robots.contacts import ContactSurface
from balance.robots.objects import face_of, world_objects
from balance.robots.phase_places import Places
from balance.robots.stance_stages import find_by_stages
from balance.robots.static_stance import Grip, StanceProblem, find_stance

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LimbMove:
    """A limb's way to its next place: surface, its poses at start and goal, in the world.

    ``on`` names the object, or the floor, on which the goal lies; None if it is in the air.
    ``clearance`` is in m, ``duration`` in s.
    """

    surface: str
    start: pin.SE3
    goal: pin.SE3
    on: str | None
    clearance: float
    duration: float


@dataclass(frozen=True)
class PlannedPhase:
    """A phase with its static posture.

    ``robot`` has as ``soles`` the surfaces that bear, each with its plane, and the posture as its
    ``q_nominal``; the limbs of ``moves`` are at their goals there.  ``placements`` are the world
    poses of all that bears, ``on`` says what they lie on.  ``kept`` are those that hold the robot
    in this posture: all of them, or where the phase ends when load is taken over, those that the
    next phase keeps.  ``wrenches`` (6,) are static ones, of all in ``kept``.
    """

    name: str
    robot: Robot
    placements: Mapping[str, pin.SE3]
    on: Mapping[str, str]
    kept: tuple[str, ...]
    moves: tuple[LimbMove, ...]
    until: UntilConfig | None
    wrenches: Mapping[str, Array]


def plan_phases(config: ExperimentConfig, robot: Robot) -> tuple[PlannedPhase, ...]:
    """The phases of ``config`` for ``robot`` as its file has it; none if it has none."""
    planner = _Planner(config, robot)
    planned: list[PlannedPhase] = []
    for index, phase in enumerate(config.phases):
        after = config.phases[index + 1] if index + 1 < len(config.phases) else None
        try:
            planned.append(planner.plan(phase, after))
        except BalanceError as error:
            raise ConfigError(
                f"phases.{index} '{phase.name}' of robot '{robot.name}': {error}"
            ) from None
    return tuple(planned)


def union_robot(phases: Sequence[PlannedPhase]) -> Robot:
    """A robot whose ``soles`` are all surfaces that ever bear, in the first phase's posture.

    Each has the plane that it first lies on.
    """
    soles: dict[str, ContactSurface] = {}
    for phase in phases:
        for sole in phase.robot.soles:
            soles.setdefault(sole.name, sole)
    return replace(phases[0].robot, soles=tuple(soles.values()), in_turns=True)


class _Planner:
    """Finds one posture after the other."""

    def __init__(self, config: ExperimentConfig, robot: Robot) -> None:
        self.robot = robot
        self.objects = world_objects(config.objects)
        self.places = Places(robot, self.objects)
        assumed = getattr(config.controller, "contacts", None)
        if not isinstance(assumed, ContactAssumptionsConfig):
            assumed = ContactAssumptionsConfig()
        self.grip = Grip(assumed.friction, assumed.least_normal_force(robot.mass))

    def plan(self, phase: PhaseConfig, after: PhaseConfig | None) -> PlannedPhase:
        """The next phase."""
        problem = self._problem(phase, after)
        starts = self._starts(problem)
        stance = find_stance(problem, starts) or find_by_stages(problem, starts)
        before = {name: self.places.now(name) for name in phase.move}
        self.places.settle(phase, stance.q)
        lies = self.places.lies
        soles = tuple(
            replace(self.places.surface(name), plane=face_of(lies[name].on or FLOOR, self.objects))
            for name in phase.contacts
        )
        return PlannedPhase(
            name=phase.name,
            robot=replace(
                self.robot,
                soles=soles,
                q_nominal=stance.q,
                objects=tuple(self.objects.values()),
            ),
            placements={name: lies[name].pose for name in phase.contacts},
            on={name: lies[name].on or FLOOR for name in phase.contacts},
            kept=tuple(goal.surface.name for goal in problem.goals if goal.bears),
            moves=tuple(self._moves(phase, before)),
            until=phase.until,
            wrenches=stance.wrenches,
        )

    def _problem(self, phase: PhaseConfig, after: PhaseConfig | None) -> StanceProblem:
        goals = self.places.goals(phase, after)
        model, q = self.robot.model, self.robot.q_nominal.copy()
        hinted = []
        for name, angle in phase.posture.items():
            joint = model.joints[self._joint("posture", name)]
            q[joint.idx_q] = angle
            hinted.append(int(joint.idx_v))
        kept = tuple(int(model.joints[self._joint("held", name)].idx_v) for name in phase.held)
        if phase.base_rpy_rad is not None:
            q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(*phase.base_rpy_rad)).coeffs()
            hinted += [3, 4, 5]
        if self.places.q is not None:
            q[:3] = self.places.q[:3]
        com = None
        if phase.com_offset_m is not None:
            given = [goal for goal in goals if goal.bears and len(goal.position) == 3]
            if not given:
                raise ConfigError("com_offset_m is from the middle of what bears, which is open")
            feet = [goal for goal in given if goal.surface.is_foot] or given
            com = np.mean([goal.pose.translation[:2] for goal in feet], axis=0)
            com = com + np.array(phase.com_offset_m)
        return StanceProblem(
            self.robot, goals, self.objects, self.grip, q, tuple(hinted), kept, com
        )

    def _joint(self, key: str, name: str) -> int:
        if name not in self.robot.joint_names:
            raise ConfigError(
                f"{key} names a joint '{name}', which it lacks"
                f"{known_names(name, self.robot.joint_names)}"
            )
        return int(self.robot.model.getJointId(name))

    def _starts(self, problem: StanceProblem) -> list[Array]:
        """Where a search begins: the posture before, the same with hints, and the reference."""
        reference, before = problem.q_reference, self.places.q
        if before is None:
            return [reference]
        hinted = before.copy()
        joints = [index + 1 for index in (*problem.hinted, *problem.kept) if index >= 6]
        hinted[joints] = reference[joints]
        return [hinted, before, reference]

    def _moves(self, phase: PhaseConfig, before: Mapping[str, pin.SE3]) -> Iterator[LimbMove]:
        for name, move in phase.move.items():
            goal = self.places.now(name)
            yield LimbMove(name, before[name], goal, move.on, move.clearance_m, move.duration_s)
