"""Where every surface lies, from phase to phase, and where the next phase wants it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config.phases import FLOOR, PhaseConfig, PlaceConfig
from balance.errors import ConfigError, known_names
from balance.robots import Robot
from balance.robots.contacts import ContactSurface
from balance.robots.objects import WorldObject, face_of
from balance.robots.static_stance import SurfaceGoal, free_turn, full_turn

Array = NDArray[np.float64]

LIES_M = 1e-3  # a surface that is so near to a face, with all its corners, lies on it


@dataclass(frozen=True)
class Lies:
    """Where a surface is: on an object or the floor, or in the air (None).

    In the air it keeps its orientation if it is ``upright``.
    """

    pose: pin.SE3
    on: str | None
    upright: bool = True


class Places:
    """Account of where surfaces lie; ``q`` is the posture of the phase before, None at first."""

    def __init__(self, robot: Robot, objects: Mapping[str, WorldObject]) -> None:
        self._robot, self._objects = robot, objects
        self._surfaces = {surface.name: surface for surface in robot.surfaces}
        self.lies: dict[str, Lies] = {}
        self.q: Array | None = None

    def goals(self, phase: PhaseConfig, after: PhaseConfig | None) -> tuple[SurfaceGoal, ...]:
        """Where ``phase``, with the one ``after`` it, wants surfaces to be."""
        kept = self._kept(phase, after)
        bearing = [self._bearing(phase, name, name in kept) for name in phase.contacts]
        goals = (*bearing, *self._moving(phase), *self._held(phase))
        for goal in goals:
            if goal.position == (0, 1, 2) and goal.turn != "flat":
                self._check_edges(goal.surface, goal.pose, goal.on)
        return goals

    def settle(self, phase: PhaseConfig, q: Array) -> None:
        """Note where surfaces are after ``phase``, whose posture is ``q``."""
        for name, move in phase.move.items():
            self.lies.pop(name, None)
            if move.on is not None:
                self.lies[name] = self._on_face(name, move.on, q)
            elif move.to_m is not None or move.by_m is not None:
                self.lies[name] = Lies(self.pose(name, q), None, move.by_m is not None)
        if self.q is None:
            for name in phase.contacts:
                on = phase.places[name].on if name in phase.places else FLOOR
                self.lies[name] = self._on_face(name, on or FLOOR, q)
        self.q = q

    def pose(self, name: str, q: Array) -> pin.SE3:
        """World pose of a surface in a posture."""
        data = self._robot.model.createData()
        pin.framesForwardKinematics(self._robot.model, data, q)
        return self.surface(name).pose(data)

    def now(self, name: str) -> pin.SE3:
        """World pose of a surface before the next phase."""
        if name in self.lies:
            return self.lies[name].pose
        return self.pose(name, self._robot.q_nominal if self.q is None else self.q)

    def surface(self, name: str) -> ContactSurface:
        """A surface of the robot by its name."""
        if name not in self._surfaces:
            raise ConfigError(
                f"'{name}' is no surface of robot '{self._robot.name}'"
                f"{known_names(name, self._surfaces)}"
            )
        return self._surfaces[name]

    def _kept(self, phase: PhaseConfig, after: PhaseConfig | None) -> set[str]:
        """Contacts that hold the robot at the end of a phase."""
        kept = set(phase.contacts)
        if phase.until is None or phase.until.loaded is None or after is None:
            return kept
        kept &= set(after.contacts)
        if not kept:
            raise ConfigError(
                f"it ends when its load is taken over, but the next phase '{after.name}' keeps "
                f"none of its contacts {', '.join(phase.contacts)}"
            )
        return kept

    def _bearing(self, phase: PhaseConfig, name: str, bears: bool) -> SurfaceGoal:
        surface = self.surface(name)
        if self.q is None:
            return self._first_place(surface, phase.places.get(name), bears)
        if name not in self.lies or self.lies[name].on is None:
            self.lies[name] = self._found_lying(name, self.q)
        lies = self.lies[name]
        return SurfaceGoal(surface, lies.pose, bears, lies.on, turn=full_turn(surface))

    def _first_place(
        self, surface: ContactSurface, place: PlaceConfig | None, bears: bool
    ) -> SurfaceGoal:
        if place is None:
            if surface not in self._robot.soles:
                raise ConfigError(
                    f"nothing says where '{surface.name}' lies as the run starts; give "
                    f"places.{surface.name} with 'on', and to_m"
                )
            pose = self.pose(surface.name, self._robot.q_nominal)
            return self._goal(surface, PlaceConfig(on=FLOOR), pose.translation, pose, bears)
        point = None if place.to_m is None else np.array(place.to_m)
        return self._goal(surface, place, point, None, bears)

    def _moving(self, phase: PhaseConfig) -> Iterator[SurfaceGoal]:
        for name, move in phase.move.items():
            surface, was = self.surface(name), self.now(name)
            point: Array | None = None
            if move.to_m is not None:
                point = np.array(move.to_m)
            elif move.by_m is not None:
                point = was.translation + np.array(move.by_m)
            if move.on is not None:
                yield self._goal(surface, move, point, was, False)
            elif point is not None:
                turn = "none" if move.by_m is None else full_turn(surface)
                yield SurfaceGoal(surface, pin.SE3(was.rotation, point), False, turn=turn)

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
        face = face_of(place.on, self._objects)
        turn, heading = full_turn(surface), place.yaw_rad or 0.0
        if place.yaw_rad is None and was is not None and surface.is_foot:
            x = face.rotation.T @ was.rotation[:, 0]
            heading = float(np.arctan2(x[1], x[0]))
        elif place.yaw_rad is None and (surface.has_area or not bears):
            turn = free_turn(surface)
        spin = pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, heading), np.zeros(3))
        if point is not None:
            local = face.actInv(point)
            pose = face * pin.SE3(np.eye(3), np.array([*local[:2], 0.0])) * spin
            return SurfaceGoal(surface, pose, bears, place.on, turn=turn)
        window = None
        if place.on != FLOOR:
            half = np.array(self._objects[place.on].half_size)
            reach = float(np.hypot(surface.half_length, surface.half_width))
            x, y = np.maximum(half - reach, 0.0).tolist()
            window = (x, y)
        return SurfaceGoal(surface, face * spin, bears, place.on, (2,), turn, window)

    def _held(self, phase: PhaseConfig) -> Iterator[SurfaceGoal]:
        """Goals of what stays in the air where it was put; a surface left lying is refused."""
        bodies = {self._joint(name) for name in (*phase.contacts, *phase.move)}
        for name, lies in list(self.lies.items()):
            if name in phase.contacts or name in phase.move:
                continue
            surface = self.surface(name)
            if self._joint(name) in bodies:  # another surface of the same body bears or moves
                del self.lies[name]
            elif lies.on is None:
                turn = full_turn(surface) if lies.upright else "none"
                yield SurfaceGoal(surface, lies.pose, False, turn=turn)
            else:
                raise ConfigError(
                    f"'{name}' lies on the {lies.on} and neither bears nor moves; name it in "
                    "contacts, or in move"
                )

    def _joint(self, name: str) -> int:
        return int(self._robot.model.frames[self.surface(name).frame_id].parentJoint)

    def _on_face(self, name: str, on: str, q: Array) -> Lies:
        """Where a surface lies on a face, without what rounding has left of height and tilt."""
        surface, pose = self.surface(name), self.pose(name, q)
        face = face_of(on, self._objects)
        local = face.actInv(pose)
        x = local.rotation[:2, 0]
        heading = 0.0 if len(surface.held) == 3 else float(np.arctan2(x[1], x[0]))
        turn = pin.rpy.rpyToMatrix(0.0, 0.0, heading)
        flat = face * pin.SE3(turn, np.append(local.translation[:2], 0.0))
        self._check_edges(surface, flat, on)
        return Lies(flat, on)

    def _found_lying(self, name: str, q: Array) -> Lies:
        """What a surface that begins to bear lies on in the posture of the phase before."""
        surface, pose = self.surface(name), self.pose(name, q)
        corners = surface.corners @ pose.rotation.T + pose.translation
        for on in (FLOOR, *self._objects):
            face = face_of(on, self._objects)
            heights = (corners - face.translation) @ face.rotation[:, 2]
            if np.abs(heights).max() < LIES_M:
                return self._on_face(name, on, q)
        raise ConfigError(
            f"'{name}' is to bear, but no earlier phase puts it on anything; give an earlier one a "
            f"move of '{name}' with 'on'"
        )

    def _check_edges(self, surface: ContactSurface, pose: pin.SE3, on: str | None) -> None:
        if on is None or on == FLOOR:
            return
        if beyond := self._objects[on].overhang(surface, pose):
            raise ConfigError(
                f"'{surface.name}' at {np.round(pose.translation, 3).tolist()} reaches "
                f"{beyond:.2g} m over the edge of '{on}'; move it, or make the object larger"
            )
