"""A law that steps where ankles and hips do not suffice, docs/stepping.md."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import ClassVar, final

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import BalancingLawConfig, ExperimentConfig, section_of
from balance.config.values import NonNegative
from balance.control.parts.joint_bounds import JointBounds
from balance.control.parts.output import ControlOutput
from balance.control.parts.safety_frame import BalancingLaw
from balance.control.parts.setpoints import Desired
from balance.control.phases.course import SetpointTrack
from balance.control.stepping.planner import CANDIDATES, Landing, Pendulum, plan_landing
from balance.control.stepping.sizes import DEEPEST, STRETCH, StepSizes, heading_of, step_sizes
from balance.control.stepping.stance_law import StanceLaw, SwingTarget, Wish
from balance.control.stepping.swing import SwingPath
from balance.robots import Robot
from balance.robots.support_polygon import SupportPolygon, foot_corners
from balance.control.qp import make_solver

Array = NDArray[np.float64]

UNBOUNDED_WEIGHTS = 20.0
TOUCH_SHARE = 0.02  # of the weight
HEIGHT_RATE = 3.0  # omega
STEEPEST = 150.0  # 1/s, of the torque limits
RETURN = 0.5  # of xi's distance from the goal, by which the CoP is beyond xi
AHEAD_S = 0.06
DONE_M = 0.02
EMPTY_N = 1e-3


class Mode(Enum):
    STAND = 0
    UNLOAD = 1
    SWING = 2
    LOAD = 3


@final
class SteppingController(BalancingLaw):
    """Steps."""

    class Config(BalancingLawConfig):
        """Ankles, hips, then steps."""

        takes_steps: ClassVar[bool] = True
        joint_friction: NonNegative = 0.0
        """Viscous friction of the joints that the law makes up for [N m s/rad]."""
        contact_damping: NonNegative = 100.0
        """Rate at which a contact that slips shall come to rest [1/s]; 0 switches it off."""

    def __init__(self, config: ExperimentConfig, robot: Robot) -> None:
        law = section_of(config, self.Config)
        super().__init__(law, robot, make_solver(law.qp.solver))
        self.robot, self.sizes = robot, step_sizes(robot)
        self.period = config.control_period_s
        sizes = self.sizes
        self._names = [sole.name for sole in robot.soles]
        self._number = [self._names.index(sole.name) for sole in sizes.soles]
        weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
        self.weight = weight
        full = law.contacts.max_normal_force_N or UNBOUNDED_WEIGHTS * weight
        self._full, self._least = full, law.contacts.least_normal_force(robot.mass)
        contacts = law.contacts.model_copy(update={"max_normal_force_N": full})
        inner = law.model_copy(update={"contacts": contacts})
        bounds = JointBounds(robot, sizes.omega)
        make = lambda soles: StanceLaw(  # noqa: E731
            inner, replace(robot, soles=soles), law.contact_damping, law.joint_friction, bounds
        )
        left, right = sizes.soles
        self._both, self._single = make((left, right)), (make((left,)), make((right,)))
        self._data = robot.model.createData()
        self.limits = robot.effort_limits
        self.mode = Mode.STAND
        self.swing_foot = 0
        self.begin = 0.0
        self._felt: Array | None = None
        self._torques: Array | None = None
        self.plan: Landing | None = None
        self.path_: SwingPath | None = None
        self.steps_begun = 0
        self.bearing = np.ones(len(robot.soles))
        self._nominal_rotation = pin.Quaternion(robot.q_nominal[3:7]).matrix()
        self._heading0 = heading_of(self._nominal_rotation)
        self._z = sizes.height
        zero = np.zeros(3)
        self.desired = Desired(robot.com(), zero, zero, robot.q_nominal[3:7].copy(),
                               self._nominal_rotation, zero, zero, False)
        self.track = SetpointTrack(self.desired)
        self.events: list = []

    @property
    def constraint_names(self) -> tuple[str, ...]:
        return (*self._both.constraint_names, *self._single[0].constraint_names,
                *self._single[1].constraint_names)

    def attempt(self, q: Array, v: Array, t: float) -> ControlOutput | None:
        raise NotImplementedError

    def feel(self, wrenches: Array) -> None:
        self._felt = wrenches

    def step(self, q: Array, v: Array, t: float) -> ControlOutput:
        model, data, sizes = self.robot.model, self._data, self.sizes
        pin.centerOfMass(model, data, q, v)
        poses = [pin.updateFramePlacement(model, data, s.frame_id) * s.placement
                 for s in sizes.soles]
        com, vel = data.com[0].copy(), data.vcom[0].copy()
        xi = com[:2] + vel[:2] / sizes.omega
        self._decide(t, poses, com, vel, xi)
        law, wish = self._wish(t, poses, com, vel, xi, q)
        law.ask(wish)
        output = law.step(q, v, t)
        if self._torques is not None:
            most = STEEPEST * self.period * self.limits
            output.torques = np.clip(output.torques, self._torques - most, self._torques + most)
        self._torques = output.torques
        self.track.add(t, self.desired)
        return self._for_all(output, law)

    def _for_all(self, output, law):
        wrenches = np.zeros((len(self._names), 6))
        bearing = np.ones(len(self._names))
        if law is self._both:
            wrenches[self._number] = output.wrenches
            if self.mode in (Mode.UNLOAD, Mode.LOAD):
                bearing[self._number[self.swing_foot]] = 0.5
        else:
            wrenches[self._number[1 - self.swing_foot]] = output.wrenches[0]
            bearing[self._number[self.swing_foot]] = 0.0
        self.bearing = output.bearing = bearing
        output.wrenches = wrenches
        output.active = output.active[:0]
        return output

    # decisions ---------------------------------------------------------
    def _hull(self, poses, margin=0.0):
        return SupportPolygon(np.concatenate(
            [foot_corners(s, X, margin) for s, X in zip(self.sizes.soles, poses)]))

    def _heading(self, poses, foot):
        return heading_of(poses[foot].rotation) - self.sizes.turns[foot]

    def _plan(self, pend, swing, poses, times, before, planned=None):
        stance = poses[1 - swing].translation[:2]
        return plan_landing(self.sizes, pend, swing, stance, self._heading(poses, 1 - swing),
                            poses[swing].translation[:2], times, before, planned)

    def _times(self, elapsed=0.0):
        least, most = self.sizes.swing
        return np.linspace(max(least - elapsed, 0.0), max(most - elapsed, 0.0), CANDIDATES)

    def _choose(self, pend, poses, before):
        plans = [self._plan(pend, f, poses, self._times(), before) for f in (0, 1)]
        return plans

    def _decide(self, t, poses, com, vel, xi) -> None:
        sizes, pend = self.sizes, Pendulum(com[:2], xi)
        if self.mode is Mode.STAND:
            hull = self._hull(poses, 0.0)
            if not hull.contains(xi):
                plans = self._choose(pend, poses, sizes.prepare)
                self._start(t, int(plans[1].cost < plans[0].cost - 1e-6), plans, sizes.prepare)
        if self.mode is Mode.UNLOAD:
            left = max(self.begin + self._unload_s - t, 0.0)
            self.plan = self._plan(pend, self.swing_foot, poses, self._times(), left)
            if left <= 1e-9:
                self.mode, self.begin = Mode.SWING, t
                X = poses[self.swing_foot]
                self.path_ = SwingPath(X.translation, sizes.lift, sizes.landing_speed)
                self.events.append((t, "swing", self.swing_foot))
        elif self.mode is Mode.SWING:
            elapsed = t - self.begin
            before = self.plan.time - self.period
            if before > 0.05:
                times = self._times(elapsed)
                times = times[times > 0.03]
                if len(times):
                    self.plan = self._plan(pend, self.swing_foot, poses, times, 0.0, before)
            else:
                new = self._plan(pend, self.swing_foot, poses, np.array([max(before, 0.0)]), 0.0)
                place = self.plan.place if before < 0.03 else new.place
                self.plan = replace(new, place=place, time=before)
            if elapsed > 0.5 * sizes.swing[0] and self._touches():
                self.mode, self.begin = Mode.LOAD, t
                self.events.append((t, "land", self.swing_foot, elapsed))
        elif self.mode is Mode.LOAD and t - self.begin >= sizes.load:
            hull = self._hull(poses, 0.0)
            inside = self._hull(poses, DONE_M).contains(xi)
            if inside:
                self.mode = Mode.STAND
                self.events.append((t, "stand"))
            else:
                plans = self._choose(pend, poses, sizes.transfer)
                other = 1 - self.swing_foot
                self._start(t, other, plans, sizes.transfer)

    def _start(self, t, foot, plans, unload):
        self.mode, self.begin, self.swing_foot = Mode.UNLOAD, t, foot
        self.plan = plans[foot]
        self._unload_s = unload
        number = self._number[foot]
        self._unload_from = self._full if self._felt is None else max(float(self._felt[number, 2]), 1.0)
        self.steps_begun += 1
        self.events.append((t, "step", foot, plans[0], plans[1]))

    def _touches(self) -> bool:
        if self._felt is None:
            return False
        return bool(self._felt[self._number[self.swing_foot], 2] > TOUCH_SHARE * self.weight)

    # what is wanted ------------------------------------------------------
    def _wish(self, t, poses, com, vel, xi, q):
        sizes, omega = self.sizes, self.sizes.omega
        least, most = np.full(2, self._least), np.full(2, self._full)
        foot, swing, law = self.swing_foot, None, self._both
        places = np.array([X.translation for X in poses])
        middle = places.mean(axis=0)
        if self.mode is Mode.STAND:
            goal = middle[:2]
            p = self._hull(poses, 0.006).nearest(xi + RETURN * (xi - goal))
        else:
            p = self.plan.cop
        if self.mode is Mode.UNLOAD:
            share = max(1.0 - (t - self.begin) / self._unload_s, 0.0)
            most[foot] = max(share * self._unload_from, EMPTY_N)
            least[foot] = min(least[foot], 0.5 * most[foot])
        elif self.mode is Mode.LOAD:
            share = min((t - self.begin) / sizes.load, 1.0)
            most[foot] = max(share * self.weight, EMPTY_N)
            least[foot] = min(least[foot], 0.5 * most[foot])
            # on the way over to the landed foot
            p = self._hull(poses, 0.006).nearest(xi + RETURN * (xi - middle[:2]))
        elif self.mode is Mode.SWING:
            law = self._single[1 - foot]
            least, most = least[:1], most[:1]
            goal = np.append(self.plan.place, places[1 - foot][2])
            self.path_.advance(self.period, goal, self.plan.time)
            heading = self._heading(poses, 1 - foot)
            turn = pin.rpy.rpyToMatrix(0.0, 0.0, heading + sizes.turns[foot])
            swing = SwingTarget(sizes.soles[foot], self.path_.place, self.path_.velocity,
                                self.path_.acceleration, turn)
        ground = float(places[:, 2].min() if self.mode is Mode.STAND else places[1 - foot][2])
        z = self._height(poses, com, vel, ground)
        rate = 2.0 * HEIGHT_RATE * omega
        acc = np.empty(3)
        acc[:2] = omega**2 * (com[:2] - p)
        acc[2] = (0.5 * rate) ** 2 * (z - com[2]) - rate * vel[2]
        heading = self._heading(poses, 1 - foot)
        yaw = heading - self._heading0
        R = pin.rpy.rpyToMatrix(0.0, 0.0, yaw) @ self._nominal_rotation
        zero = np.zeros(3)
        self.desired = Desired(np.array([*middle[:2], z]), zero, zero,
                               np.array(pin.Quaternion(R).coeffs()), R, zero, zero, False)
        return law, Wish(acc, R, swing, least, most)

    def _height(self, poses, com, vel, ground):
        """Height of the CoM that legs can reach."""
        sizes = self.sizes
        heights = [sizes.height + ground]
        R = pin.rpy.rpyToMatrix(0, 0, self._heading(poses, 1 - self.swing_foot) - self._heading0)
        checks = []
        for f in (0, 1):
            place = poses[f].translation
            if self.mode is Mode.SWING and f == self.swing_foot:
                future = com + (self.plan.time) * vel
                checks.append((f, np.append(self.plan.place, ground), future))
            elif self.mode is Mode.UNLOAD and f == self.swing_foot:
                continue
            else:
                checks.append((f, place, com))
                checks.append((f, place, com + AHEAD_S * vel))
        if self.mode is Mode.STAND:
            mid = np.mean([X.translation for X in poses], axis=0)
            checks += [(f, poses[f].translation, mid) for f in (0, 1)]
        for f, place, c in checks:
            ankle = place + R @ sizes.ankles[f]
            hip = c + R @ sizes.hips[f]
            d2 = float(((hip - ankle)[:2] ** 2).sum())
            top = np.sqrt(max((STRETCH * sizes.leg) ** 2 - d2, 0.0))
            heights.append(top + ankle[2] - sizes.hips[f][2])
        return max(min(heights), (1.0 - DEEPEST) * sizes.height + ground)

    def base_at(self, t: float):
        return float(self.robot.q_nominal[2] - self.sizes.height + self.desired.com[2]), self.desired.rotation[:, 2]

    def attributed(self, q, wrenches):
        return wrenches
