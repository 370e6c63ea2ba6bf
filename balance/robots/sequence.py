"""Phases in sequence: a static posture for each, and what moves between them.

``plan_phases`` goes through the phases of a config and keeps account of where every surface lies;
it lands on what is impossible before anything runs.  The posture of a phase is found from that of
the phase before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import ContactAssumptionsConfig, ExperimentConfig
from balance.config.phases import FLOOR, PhaseConfig, PlaceConfig, UntilConfig
from balance.errors import BalanceError, ConfigError, known_names
from balance.robots import Robot
from balance.robots.contacts import ContactSurface
from balance.robots.objects import face_of, world_objects
from balance.robots.static_stance import (
    Grip,
    Hints,
    Stance,
    SurfaceGoal,
    find_stance,
    free_turn,
    full_turn,
)

Array = NDArray[np.float64]

LIES_M = 1e-3  # a surface that is so near to a face, with all its corners, lies on it


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


@dataclass(frozen=True)
class _Lies:
    """Where a surface is: on something, or held in the air (None), with all of ``pose`` or not."""

    pose: pin.SE3
    on: str | None
    turn: str = "all"


def plan_phases(config: ExperimentConfig, robot: Robot) -> tuple[PlannedPhase, ...]:
    """The phases of ``config`` for ``robot`` as its file has it; none if it has none."""
    planner = _Planner(config, robot)
    planned: list[PlannedPhase] = []
    for index, phase in enumerate(config.phases):
        after = config.phases[index + 1] if index + 1 < len(config.phases) else None
        try:
            planned.append(planner.plan(phase, after))
        except BalanceError as error:
            raise ConfigError(f"phase '{phase.name}' (phases.{index}): {error}") from None
    return tuple(planned)


def union_robot(phases: Sequence[PlannedPhase]) -> Robot:
    """A robot whose ``soles`` are all surfaces that ever bear, in the first phase's posture.

    Each has the plane that it first lies on.
    """
    soles: dict[str, ContactSurface] = {}
    for phase in phases:
        for sole in phase.robot.soles:
            soles.setdefault(sole.name, sole)
    return replace(phases[0].robot, soles=tuple(soles.values()))


class _Planner:
    """Where everything is, from phase to phase."""

    def __init__(self, config: ExperimentConfig, robot: Robot) -> None:
        self.robot, self.config = robot, config
        self.objects = world_objects(config.objects)
        self.surfaces = {surface.name: surface for surface in robot.surfaces}
        self.lies: dict[str, _Lies] = {}
        self.q: Array | None = None
        assumed = getattr(config.controller, "contacts", None)
        if not isinstance(assumed, ContactAssumptionsConfig):
            assumed = ContactAssumptionsConfig()
        self.grip = Grip(assumed.friction, assumed.least_normal_force(robot.mass))

    def plan(self, phase: PhaseConfig, after: PhaseConfig | None) -> PlannedPhase:
        """The next phase."""
        for name in (*phase.contacts, *phase.move):
            self._surface(name)
        goals = [*self._bearing(phase, after), *self._moving(phase), *self._held(phase)]
        hints = self._hints(phase, goals)
        stance = find_stance(self.robot, goals, hints, self._starts(hints), self.grip)
        return self._planned(phase, goals, stance)

    def _surface(self, name: str) -> ContactSurface:
        if name not in self.surfaces:
            raise ConfigError(
                f"'{name}' is no surface of robot '{self.robot.name}'"
                f"{known_names(name, self.surfaces)}"
            )
        return self.surfaces[name]

    def _bearing(self, phase: PhaseConfig, after: PhaseConfig | None) -> Iterator[SurfaceGoal]:
        """Goals of what bears; what the next phase does not keep may not be needed."""
        kept = set(phase.contacts)
        if phase.until is not None and phase.until.loaded is not None and after is not None:
            kept &= set(after.contacts)
            if not kept:
                raise ConfigError(
                    f"it ends when its load is taken over, but the next phase '{after.name}' keeps "
                    f"none of its contacts {', '.join(phase.contacts)}"
                )
        for name in phase.contacts:
            surface = self._surface(name)
            if self.q is None:
                yield self._first_place(surface, phase.places.get(name), name in kept)
                continue
            if name not in self.lies or self.lies[name].on is None:
                self.lies[name] = self._lying(surface)
            lies = self.lies[name]
            yield SurfaceGoal(surface, lies.pose, name in kept, turn=full_turn(surface))

    def _first_place(
        self, surface: ContactSurface, place: PlaceConfig | None, bears: bool
    ) -> SurfaceGoal:
        if place is None:
            if surface not in self.robot.soles:
                raise ConfigError(
                    f"nothing says where '{surface.name}' lies as the run starts; give "
                    f"places.{surface.name} with 'on', and to_m"
                )
            place = PlaceConfig(on=FLOOR)
            pose = self._pose(surface, self.robot.q_nominal)
            return self._goal(surface, place, pose.translation, pose, bears)
        assert place.on is not None
        point = None if place.to_m is None else np.array(place.to_m)
        return self._goal(surface, place, point, None, bears)

    def _moving(self, phase: PhaseConfig) -> Iterator[SurfaceGoal]:
        for name, move in phase.move.items():
            surface = self._surface(name)
            was = self._pose_now(surface)
            point: Array | None = None
            if move.to_m is not None:
                point = np.array(move.to_m)
            elif move.by_m is not None:
                point = was.translation + np.array(move.by_m)
            if move.on is not None:
                yield self._goal(surface, move, point, was, False)
            elif point is not None:
                whole = move.by_m is not None
                pose = pin.SE3(was.rotation, point)
                yield SurfaceGoal(surface, pose, False, turn="all" if whole else "none")

    def _goal(
        self,
        surface: ContactSurface,
        place: PlaceConfig,
        point: Array | None,
        was: pin.SE3 | None,
        bears: bool,
    ) -> SurfaceGoal:
        """A goal on a face, at ``point`` (world) if that is given."""
        assert place.on is not None
        face = face_of(place.on, self.objects)
        turn = full_turn(surface)
        heading = 0.0
        if place.yaw_rad is not None:
            heading = place.yaw_rad
        elif was is not None and surface.is_foot:
            x = face.rotation.T @ was.rotation[:, 0]
            heading = float(np.arctan2(x[1], x[0]))
        elif len(surface.held) == 6:
            turn = free_turn(surface)
        spin = pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, heading), np.zeros(3))
        if point is not None:
            local = face.actInv(point)
            local[2] = 0.0
            return SurfaceGoal(surface, face * pin.SE3(np.eye(3), local) * spin, bears, turn=turn)
        window = None
        if place.on != FLOOR:
            half = self.objects[place.on].half_size
            reach = max(surface.half_length, surface.half_width)
            window = (max(half[0] - reach, 0.0), max(half[1] - reach, 0.0))
            spin = pin.SE3.Identity() if place.yaw_rad is None else spin
        return SurfaceGoal(surface, face * spin, bears, (2,), turn, window)

    def _held(self, phase: PhaseConfig) -> Iterator[SurfaceGoal]:
        """Goals of what stays in the air where it was put; what is let go otherwise is refused."""
        bodies = {self._joint(self._surface(name)) for name in phase.contacts}
        for name, lies in list(self.lies.items()):
            if name in phase.contacts or name in phase.move:
                continue
            surface = self._surface(name)
            if lies.on is None:
                turn = full_turn(surface) if lies.turn == "all" else "none"
                yield SurfaceGoal(surface, lies.pose, False, turn=turn)
            elif self._joint(surface) in bodies:
                del self.lies[name]
            else:
                raise ConfigError(
                    f"'{name}' lies on the {lies.on} and neither bears nor moves; name it in "
                    "contacts, or in move"
                )

    def _joint(self, surface: ContactSurface) -> int:
        return int(self.robot.model.frames[surface.frame_id].parentJoint)

    def _pose(self, surface: ContactSurface, q: Array) -> pin.SE3:
        data = self.robot.model.createData()
        pin.framesForwardKinematics(self.robot.model, data, q)
        return surface.pose(data)

    def _pose_now(self, surface: ContactSurface) -> pin.SE3:
        if surface.name in self.lies:
            return self.lies[surface.name].pose
        return self._pose(surface, self.robot.q_nominal if self.q is None else self.q)

    def _lying(self, surface: ContactSurface) -> _Lies:
        """What a surface that begins to bear lies on in the posture of the phase before."""
        assert self.q is not None
        pose = self._pose(surface, self.q)
        for name in (FLOOR, *self.objects):
            face = face_of(name, self.objects)
            corners = surface.corners @ pose.rotation.T + pose.translation
            heights = (corners - face.translation) @ face.rotation[:, 2]
            if np.abs(heights).max() < LIES_M:
                local = face.actInv(pose)
                local.translation[2] = 0.0
                return _Lies(_flat(face, local), name)
        raise ConfigError(
            f"'{surface.name}' is to bear, but no earlier phase puts it on anything; give an "
            f"earlier one a move of '{surface.name}' with 'on'"
        )

    def _hints(self, phase: PhaseConfig, goals: Sequence[SurfaceGoal]) -> Hints:
        model = self.robot.model
        q = self.robot.q_nominal.copy()
        hinted = []
        for key, names in (("posture", phase.posture), ("held", phase.held)):
            for name in names:
                if name not in self.robot.joint_names:
                    raise ConfigError(
                        f"{key} names a joint '{name}' that robot '{self.robot.name}' lacks"
                        f"{known_names(name, self.robot.joint_names)}"
                    )
        for name, angle in phase.posture.items():
            joint = model.joints[model.getJointId(name)]
            q[joint.idx_q] = angle
            hinted.append(int(joint.idx_v))
        if phase.base_rpy_rad is not None:
            q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(*phase.base_rpy_rad)).coeffs()
            hinted += [3, 4, 5]
        if self.q is not None:
            q[:3] = self.q[:3]
        kept = tuple(int(model.joints[model.getJointId(name)].idx_v) for name in phase.held)
        com = None
        if phase.com_offset_m is not None:
            given = [g for g in goals if g.bears and g.position == (0, 1, 2)]
            feet = [g for g in given if g.surface.is_foot] or given
            if not feet:
                raise ConfigError("com_offset_m is from the middle of what bears, which is open")
            com = np.mean([g.pose.translation[:2] for g in feet], axis=0)
            com = com + np.array(phase.com_offset_m)
        return Hints(q, tuple(hinted), kept, com)

    def _starts(self, hints: Hints) -> list[Array]:
        starts = []
        if self.q is not None:
            starts.append(self.q)
            moved = hints.q_reference.copy()
            moved[:7] = self.q[:7]
            starts.append(moved)
        starts.append(hints.q_reference)
        return starts

    def _planned(
        self, phase: PhaseConfig, goals: Sequence[SurfaceGoal], stance: Stance
    ) -> PlannedPhase:
        """Account of where everything is now, and the phase."""
        moves = tuple(self._moves(phase, stance.q))
        for move in moves:
            self.lies.pop(move.surface, None)
            config = phase.move[move.surface]
            if config.on is not None:
                self.lies[move.surface] = _Lies(move.goal, config.on)
            elif config.to_m is not None or config.by_m is not None:
                turn = "all" if config.by_m is not None else "none"
                self.lies[move.surface] = _Lies(move.goal, None, turn)
        if self.q is None:
            for name in phase.contacts:
                on = phase.places[name].on if name in phase.places else FLOOR
                pose = self._pose(self.surfaces[name], stance.q)
                face = face_of(on or FLOOR, self.objects)
                self.lies[name] = _Lies(_flat(face, face.actInv(pose)), on)
        self.q = stance.q
        soles = []
        for name in phase.contacts:
            face = face_of(self.lies[name].on or FLOOR, self.objects)
            soles.append(replace(self.surfaces[name], plane=face))
        return PlannedPhase(
            name=phase.name,
            robot=replace(self.robot, soles=tuple(soles), q_nominal=stance.q),
            placements={name: self.lies[name].pose for name in phase.contacts},
            on={name: self.lies[name].on or FLOOR for name in phase.contacts},
            kept=tuple(goal.surface.name for goal in goals if goal.bears),
            moves=moves,
            until=phase.until,
            wrenches=stance.wrenches,
        )

    def _moves(self, phase: PhaseConfig, q: Array) -> Iterator[LimbMove]:
        for name, move in phase.move.items():
            surface = self.surfaces[name]
            goal = self._pose(surface, q)
            if move.on is not None:
                face = face_of(move.on, self.objects)
                goal = _flat(face, face.actInv(goal))
            yield LimbMove(
                name, self._pose_now(surface), goal, move.on, move.clearance_m, move.duration_s
            )


def _flat(face: pin.SE3, local: pin.SE3) -> pin.SE3:
    """The pose ``local`` on a face, without what rounding has left of height and tilt."""
    x = local.rotation[:2, 0]
    turn = pin.rpy.rpyToMatrix(0.0, 0.0, float(np.arctan2(x[1], x[0])))
    return face * pin.SE3(turn, np.append(local.translation[:2], 0.0))
