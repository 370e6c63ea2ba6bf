"""A law that goes through a sequence of stances: the finite-state machine of Bouyarmane2012 VI.

Each stage of the sequence has a law of its own for its set of contacts, made once; the sequence
says where setpoint, posture and limbs are to be, what the contacts may bear, and when the next
stage begins.  A contact's load is taken off before it opens and put on after it has closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from balance.config import BalancingLawConfig, ExperimentConfig, section_of
from balance.control.parts.guidance import Guidance, limb_task
from balance.control.parts.output import ControlOutput
from balance.control.phases.course import Course, SetpointTrack, StaticPosture
from balance.control.phases.limb_path import LimbPath, OverWay, PostureWay, Way
from balance.control.phases.loads import LoadBounds, PlannedWrenches, static_wrenches
from balance.control.phases.progress import Measured, longest_s
from balance.control.phases.stages import UNBOUNDED_WEIGHTS, MakeLaw, Stage, make_stages
from balance.dynamics.checks import is_within
from balance.robots import Robot
from balance.robots.capability.body import contact_joints
from balance.robots.same_body import carries_foot
from balance.robots.sequence import LimbMove, PlannedPhase

Array = NDArray[np.float64]

BLEND_S = 0.1  # in which what two laws differ by, where one takes over, fades
STEEPEST = 30.0  # 1/s: how fast torques change meanwhile at most, in their limits
FARTHEST_M = 0.1  # by which a posture follows surfaces that are not where they were planned
BELIEVABLE = 1e6  # size of an entry of a state; beyond it nothing is decided
BEARS, BETWEEN, OFF = 1.0, 0.5, 0.0
"""What a contact is meant to do: bear, take up or give off its load, stay off."""


class PhasedLaw:
    """Goes through ``phases``; ``robot`` has all surfaces that ever bear as its contacts."""

    def __init__(
        self,
        config: ExperimentConfig,
        phases: Sequence[PlannedPhase],
        robot: Robot,
        make: MakeLaw,
    ) -> None:
        law = section_of(config, BalancingLawConfig)
        self.phases, self._robot, self._limits = phases, robot, robot.effort_limits
        self.stages = make_stages(config, phases, make)
        """All stages, in order, each with its law."""
        self.guidance: Guidance | None = None
        """What the last step asked of its law."""
        rows = [len(stage.law.constraint_names) for stage in self.stages]
        self._first_row = np.cumsum([0, *rows])
        self._surfaces = {surface.name: surface for surface in robot.surfaces}
        self._number = {surface.name: index for index, surface in enumerate(robot.soles)}
        self._places = [
            np.array([self._number[surface.name] for surface in stage.robot.soles])
            for stage in self.stages
        ]
        weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
        full = law.contacts.max_normal_force_N or UNBOUNDED_WEIGHTS * weight
        least = law.contacts.least_normal_force(robot.mass)
        self._loads = LoadBounds(len(robot.soles), least, weight, full)
        self._measured = Measured(robot, weight)
        self._postures = [StaticPosture.of(p.robot, p.robot.q_nominal) for p in phases]
        self.course = Course(self._postures[0])
        self._static = [static_wrenches(phase.wrenches, self._number) for phase in phases]
        self._planned = PlannedWrenches(self._static[0])
        self._limbs: dict[str, LimbPath] = {}
        self._index = -1
        self._phase_began = 0.0
        self._unloading = False
        self._felt: Array | None = None
        self._wrenches = np.zeros((len(robot.soles), 6))
        self.bearing = np.zeros(len(robot.soles))
        self.bearing[self._places[0]] = BEARS
        """What each contact is meant to do, (k,)."""
        self._torques: Array | None = None
        self._time = 0.0
        self._difference: tuple[float, Array] | None = None
        self.track = SetpointTrack(self.course.at(0.0))
        self.failure = ""
        """Why the sequence cannot go on, in words."""

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints of all stages, one stage after the other."""
        return tuple(name for stage in self.stages for name in stage.law.constraint_names)

    @property
    def moving_contacts(self) -> PhasedLaw:
        """That is what it does."""
        return self

    def tell(self, output: ControlOutput) -> None:
        """Write what the contacts are meant to do, and the phase, onto an output."""
        output.bearing, output.phase = self.bearing, self.phase

    @property
    def phase(self) -> int:
        """Number of the phase that is under way."""
        return self._stage.phase

    @property
    def finished(self) -> bool:
        """Whether the last stage has begun."""
        return self._index == len(self.stages) - 1

    @property
    def stage(self) -> int:
        """Number of the stage that is under way."""
        return max(self._index, 0)

    @property
    def _stage(self) -> Stage:
        return self.stages[max(self._index, 0)]

    @property
    def _following(self) -> Stage | None:
        return None if self.finished else self.stages[self._index + 1]

    def feel(self, wrenches: Array) -> None:
        """Take the measured wrenches (k, 6) of all contacts, for the steps from now on."""
        self._felt = wrenches

    def step(self, q: Array, v: Array, t: float) -> ControlOutput:
        """Torques for the measured configuration ``q``, velocity ``v`` and time ``t`` in s."""
        seen = is_within(q, BELIEVABLE) and is_within(v, BELIEVABLE)
        before = self._index
        if seen and not self.failure:
            felt = self._wrenches if self._felt is None else self._felt
            self._measured.see(q, v, felt, self._wanted)
            self._advance(t)
        law = self._stage.law
        if self._index != before and self._torques is not None:
            law.take_over(self._torques, self._wrenches[self._places[self._index]])
        guidance = self.guidance = self._guidance(t)
        self.track.add(t, guidance.desired)
        law.guide(guidance)
        output = law.step(q, v, t)
        if self._index != before and self._torques is not None:
            self._difference = t, self._torques - output.torques
        output.torques = self._without_jump(output.torques, t)
        self._torques, self._time = output.torques, t
        return self._for_all(output, t)

    @property
    def _wanted(self) -> Array:
        """Which contacts are to touch (k,): those that bear, and before any others, that land."""
        wanted = self.bearing.copy()
        wanted[[self._number[name] for name, limb in self._limbs.items() if limb.seeks]] += 0.25
        return wanted

    def attributed(self, q: Array, wrenches: Array) -> Array:
        """Measured wrenches (k, 6), at ``q``, as those of the contacts that are meant to bear."""
        return self._measured.attributed(q, wrenches, self._wanted)

    def base_at(self, t: float) -> tuple[float, Array]:
        """Height of the base that is meant at ``t``, and where its z axis is to point."""
        return self.course.height_at(t), self.track.at(t).rotation[:, 2]

    def _advance(self, t: float) -> None:
        """Go on to the next stage if this one is done."""
        if self._index < 0:
            self._begin(t)
            for surface in self._stage.robot.soles:
                self._loads.free(self._number[surface.name])
            return
        stage, following = self._stage, self._following
        until = self.phases[stage.phase].until
        for name, limb in self._limbs.items():
            if limb.descends(t) and self._measured.touches(name, limb.goal, until):
                limb.stop(self._measured.pose(name))
        if following is None:
            return
        if stage.opening:
            done = self._taken_off(stage.opening, t)
        else:
            if until is not None and until.loaded is not None:
                self._taken_off(following.opening, t)
            done = not self._unmet(following, t)
        if done:
            self._begin(t)
        elif t - self._phase_began > longest_s(until):
            self.failure = self._timed_out(following, t)

    def _taken_off(self, opening: frozenset[str], t: float) -> bool:
        """Unload contacts once the robot is where it can do without them; whether that is done."""
        if not self._unloading:
            if t < self.course.end or not self._measured.follows(self.course.goal):
                return False
            self._unloading = True
            for name in opening:
                number = self._number[name]
                self._loads.unload(number, t, float(self._wrenches[number, 2]))
        return all(
            self._loads.is_off(self._number[name], t) and self._measured.is_off(name)
            for name in opening
        )

    def _unmet(self, following: Stage, t: float) -> list[str]:
        """What the phase still waits for, in words."""
        stage = self._stage
        until = self.phases[stage.phase].until
        if until is None:
            return ["it has no end"]
        found = []
        if until.time_s is not None and t - self._phase_began < until.time_s:
            found.append(f"its time_s = {until.time_s:g} s are not over")
        if until.touchdown_N is not None or until.touchdown_m is not None:
            found += [
                f"the {name} has not touched down"
                for name, limb in self._limbs.items()
                if limb.seeks and not limb.stopped
            ]
        found += [
            f"the {name} is still on its way"
            for name, limb in self._limbs.items()
            if t < limb.end and not limb.stopped
        ]
        kept = sorted(following.contacts - following.opening)
        kept = [name for name in kept if name in stage.contacts]
        return found + self._measured.unmet(until, self.course.goal, kept, sorted(stage.contacts))

    def _timed_out(self, following: Stage, t: float) -> str:
        phase = self.phases[self._stage.phase]
        assert phase.until is not None
        if self._stage.opening:
            names = " and ".join(f"the {name}" for name in sorted(self._stage.opening))
            why = [f"{names} could not be unloaded"]
        else:
            why = self._unmet(following, t)
        return (
            f"phase '{phase.name}' is not over after its timeout_s = {phase.until.timeout_s:g} s: "
            f"{'; '.join(why)}"
        )

    def _begin(self, t: float) -> None:
        """Begin the next stage: contacts, setpoint and limbs."""
        before, first = self._stage, self._index < 0
        self._index += 1
        stage = self._stage
        if first or stage.phase != before.phase:
            self._phase_began = t
        self._unloading = False
        for name in before.contacts - stage.contacts:
            self._loads.open(self._number[name])
        for name in stage.contacts - before.contacts:
            self._loads.close(self._number[name], t)
        placements = {
            name: X
            for name, X in self.phases[stage.phase].placements.items()
            if name in stage.contacts
        }
        offset = self._measured.offset(placements)
        offset *= min(1.0, FARTHEST_M / max(float(np.linalg.norm(offset)), 1e-12))
        opened = [self._surfaces[name] for name in before.contacts - stage.contacts]
        joints = contact_joints(self._robot, opened).tolist()
        anew = {joint: float(self._measured.q[7 + joint]) for joint in joints}
        self.course.go(t, self._goal(stage).moved(offset), stage.longest_s, anew)
        duration = self.course.duration
        self._planned.go(t, self._static[stage.phase - self._stays(stage)], duration)
        self._limbs = {
            move.surface: self._limb_path(move, before, t, duration) for move in stage.moves
        }

    def _goal(self, stage: Stage) -> StaticPosture:
        """Where the setpoint goes in a stage.

        While contacts are unloaded the posture stays, with the CoM over what will bear.
        """
        goal = self._postures[stage.phase]
        if not stage.opening:
            return goal
        before = self._postures[stage.phase - 1]
        return before if self._stays(stage) else before.over(goal)

    def _stays(self, stage: Stage) -> bool:
        """Whether the posture of the phase before is held by what a stage does not open."""
        kept = self.phases[stage.phase - 1].kept
        return bool(stage.opening) and stage.opening.isdisjoint(kept)

    def _limb_path(self, move: LimbMove, before: Stage, t: float, duration: float) -> LimbPath:
        """A leg steps over what is in between; an arm goes along with its joints."""
        surface, opened = self._surfaces[move.surface], move.surface in before.contacts
        start, lands, number = self._measured.pose(move.surface), move.on is not None, self.phase
        q_goal = self.phases[number].robot.q_nominal
        if carries_foot(self._robot, surface):
            goal = move.goal if surface.has_area else self._measured.pose_at(move.surface, q_goal)
            left = [sole.plane for sole in before.robot.soles if sole.frame == surface.frame]
            normals = (*left, start)[0].rotation[:, 2], move.goal.rotation[:, 2]
            way: Way = OverWay(start, goal, move.clearance, lands, normals)
        else:
            postures = self._measured.q, q_goal
            clearance = move.clearance * opened, move.clearance * lands
            way = PostureWay(self._robot, surface, postures, start, clearance)
        return LimbPath(way, move.goal, t, duration, surface.placement.inverse(), lands)

    def _guidance(self, t: float) -> Guidance:
        least, most = self._loads.at(t)
        place = self._places[max(self._index, 0)]
        led, desired = self._stage.led, self.course.at(t)
        limbs = {limb_task(name): limb.at(t) for name, limb in self._limbs.items() if name in led}
        for name, limb in self._limbs.items():
            if name not in led:
                way, speed = limb.sought(t)
                com, velocity = desired.com + way, desired.com_velocity + speed
                desired = replace(desired, com=com, com_velocity=velocity, moving=True)
        posture = self.course.joints_at(t)
        planned = self._planned.at(t)[place]
        return Guidance(desired, *posture, limbs, least[place], most[place], planned)

    def _without_jump(self, torques: Array, t: float) -> Array:
        """Torques that go on from those of the law before: what they differ by fades."""
        if self._difference is None:
            return torques
        begin, difference = self._difference
        s = (t - begin) / BLEND_S
        if s >= 1.0:
            self._difference = None
            return torques
        torques = torques + (1.0 - s * s * (3.0 - 2.0 * s)) * difference
        # A foot that lands is hit, and a law answers to that at once.
        assert self._torques is not None
        step = STEEPEST * (t - self._time) * self._limits
        torques = np.minimum(np.maximum(torques, self._torques - step), self._torques + step)
        return np.minimum(np.maximum(torques, -self._limits), self._limits)

    def _for_all(self, output: ControlOutput, t: float) -> ControlOutput:
        """The output with the wrenches of all contacts, and what they are meant to do."""
        place = self._places[max(self._index, 0)]
        wrenches, bearing = np.zeros_like(self._wrenches), np.full(len(self._number), OFF)
        wrenches[place] = output.wrenches
        landed = [self._number[name] for name, limb in self._limbs.items() if limb.stopped]
        bearing[landed] = BETWEEN  # one of several limbs, which waits for the others
        bearing[place] = np.where(self._loads.changing(t)[place], BETWEEN, BEARS)
        self._wrenches, self.bearing = wrenches, bearing
        output.wrenches, output.bearing = wrenches, bearing
        output.active = output.active + self._first_row[max(self._index, 0)]
        output.phase, output.failure = self._stage.phase, self.failure
        return output
