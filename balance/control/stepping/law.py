"""Ankles, hips, then steps: a law that goes where it has to, docs/stepping.md."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import ExperimentConfig, section_of
from balance.control.capture.law import CaptureController, HopelessError
from balance.control.parts.output import ControlOutput, Footstep, Strategy
from balance.control.parts.safety_frame import BalancingLaw, believable
from balance.control.phases.course import SetpointTrack
from balance.control.stepping.gait import Mode
from balance.control.stepping.home import Home
from balance.control.stepping.seen import Seen
from balance.control.stepping.sizes import can_step
from balance.control.stepping.stepper import NOWHERE, Stepper
from balance.dynamics.compiled import compiled
from balance.robots import Robot

Array = NDArray[np.float64]

CHANGE_S = 0.12  # after contacts change, in which torques do so by no more than
STEEPEST, LARGEST = 150.0, 0.18  # of their limits in a second, and in a control period
# z, that a plan of the leaning law leaves its end beyond the support when there is a step; the
# second one of a robot that one leg does not bear: steps are its last resort
HOPELESS, LAST_RESORT = 0.03, 0.06
AT_REST = 0.3  # of the CoP's region, used by a robot that feels the ground
USED = 1.0  # of the CoP's region, beyond which ankles alone do not do


@final
class SteppingController(BalancingLaw):
    """Holds with ankles, leans as `capture` does, and steps where its plan says that falls short.

    While the feet stand to each other as in the nominal stance the law that leans answers, with the
    state carried to that stance's place.  Otherwise :class:`Stepper` does.  A robot that does not
    stand on two feet with legs never steps.
    """

    class Config(CaptureController.Config):
        """Ankles, hips and arms as `capture`, and steps where they do not suffice.

        Times, reach and speeds of the steps are the robot's own.
        """

        takes_steps: ClassVar[bool] = True

    def __init__(self, config: ExperimentConfig, robot: Robot) -> None:
        law = section_of(config, self.Config)
        self.lean = CaptureController(config, robot)
        super().__init__(law, robot, self.lean.solver)
        self.robot, self._limits, self._period = robot, self.lean.limits, config.control_period_s
        self.stepper = Stepper(law, robot, self._period) if can_step(robot) else None
        """What takes steps; None if the robot cannot."""
        self._hopeless = np.inf
        if self.stepper is not None:
            self._hopeless = HOPELESS if self.stepper.sizes.bears else LAST_RESORT
        self.home: Home | None = Home(pin.SE3.Identity())
        """Where the law that leans is used; None while it is not."""
        self._felt: Array | None = None
        self._asked: BalancingLaw = self.lean
        self._all = np.arange(len(robot.soles))
        self._contacts: NDArray[np.intp] = self._all
        self._torques: Array | None = None
        self._time = self._changed = -np.inf
        self._wrenches = np.zeros((len(robot.soles), 6))
        self.desired = self.lean.path.at(0.0)
        self.track = SetpointTrack(self.desired)
        self.bearing = np.ones(len(robot.soles))
        """What each contact is meant to do, (k,)."""
        self.footstep = Footstep(Strategy.ANKLES, 0, -1, NOWHERE)
        self._first_constraint: dict[BalancingLaw, int] = {}
        count = 0
        for each in self.laws:
            self._first_constraint[each] = count
            count += len(each.constraint_names)

    @property
    def moving_contacts(self) -> SteppingController:
        """That is what it does."""
        return self

    @property
    def laws(self) -> tuple[BalancingLaw, ...]:
        """All laws, of which one answers in each step."""
        return (self.lean,) if self.stepper is None else (self.lean, *self.stepper.laws)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints of all laws, one law after the other."""
        return tuple(name for law in self.laws for name in law.constraint_names)

    def attempt(self, q: Array, v: Array, t: float) -> ControlOutput | None:
        """What :meth:`step` does: the laws that answer have the safety frame."""
        return self.step(q, v, t)

    def feel(self, wrenches: Array) -> None:
        """Take the measured wrenches (k, 6) of all contacts, for the steps from now on."""
        self._felt = wrenches

    def attributed(self, q: Array, wrenches: Array) -> Array:
        """Measured wrenches (k, 6) as they are: no two contacts share a body."""
        return wrenches

    def base_at(self, t: float) -> tuple[float, Array]:
        """Height of the base that is meant at ``t``, and where its z axis is to point."""
        desired = self.track.at(t)
        rise = float(desired.com[2]) - self.lean.height
        return float(self.robot.q_nominal[2]) + rise, desired.rotation[:, 2]

    def tell(self, output: ControlOutput) -> None:
        """Write what the feet are meant to do onto an output."""
        output.bearing, output.footstep = self.bearing, self.footstep

    def step(self, q: Array, v: Array, t: float) -> ControlOutput:
        """Torques for the measured configuration ``q``, velocity ``v`` and time ``t`` in s."""
        if not believable(q, v):
            return self._told(self._asked.step(q, v, t), self.footstep.strategy, t)
        if self.home is not None:
            output = self._leant(self.home, q, v, t, self._hopeless)
            if output is not None:
                used = self.lean.used
                if self.stepper is not None and used < AT_REST:
                    self.stepper.gait.rest(self._seen(self.stepper, q, v, t))
                return self._told(output, Strategy.HIPS if used > USED else Strategy.ANKLES, t)
        assert self.stepper is not None
        return self._stepped(self.stepper, q, v, t)

    def _leant(
        self, home: Home, q: Array, v: Array, t: float, hopeless: float = np.inf
    ) -> ControlOutput | None:
        """The answer of the law that leans; None if its plan ends beyond ``hopeless``."""
        self._take_over(self.lean, self._all)
        self.desired = home.setpoint(self.lean.path.at(t))
        self.lean.hopeless = hopeless
        try:
            return self.lean.step(home.carried(q), v, t)
        except HopelessError:
            return None

    def _stepped(self, stepper: Stepper, q: Array, v: Array, t: float) -> ControlOutput:
        """The answer of the law for the feet that bear."""
        seen, gait = self._seen(stepper, q, v, t), stepper.gait
        gait.update(seen)
        if self.home is None:
            self.home = stepper.home(seen)
            if self.home is not None:
                output = self._leant(self.home, q, v, t)
                assert output is not None
                return self._told(output, Strategy.ANKLES, t)
        standing = gait.mode in (Mode.STAND, Mode.SHIFT)
        if standing and (self.home or stepper.eyes.left(seen)):
            self.home = None
            gait.begin_step(seen)
        asked = stepper.ask(seen)
        self.desired = asked.desired
        self._take_over(asked.law, asked.contacts)
        strategy = Strategy.STEPS if gait.stepping else Strategy.ANKLES
        return self._told(asked.law.step(q, v, t), strategy, t)

    def _seen(self, stepper: Stepper, q: Array, v: Array, t: float) -> Seen:
        forces = None if self._felt is None else self._felt[stepper.numbers, 2]
        return stepper.eyes.see(q, v, t, forces)

    def _take_over(self, law: BalancingLaw, contacts: NDArray[np.intp]) -> None:
        """Have another law answer from now on."""
        if law is not self._asked:
            if self._torques is not None:
                law.take_over(self._torques, self._wrenches[contacts])
                law.solver.doubt()  # from what was active before a step DAQP takes longer, or fails
            self._asked, self._contacts = law, contacts

    def _told(self, output: ControlOutput, strategy: Strategy, t: float) -> ControlOutput:
        """The output with the wrenches of all contacts, and what they are meant to do."""
        wrenches, bearing = np.zeros(self._wrenches.shape), np.zeros(len(self._wrenches))
        wrenches[self._contacts], bearing[self._contacts] = output.wrenches, 1.0
        output.wrenches = wrenches
        step, swing, landing = 0, -1, NOWHERE
        if self.stepper is not None:
            gait = self.stepper.gait
            step, (swing, landing) = gait.steps, self.stepper.landing()
            if gait.mode in (Mode.UNLOAD, Mode.LOAD):
                bearing[swing] = 0.5
        if bearing.tolist() != self.bearing.tolist():  # so few numbers are faster so
            self._changed = t
        if self._torques is not None and self._time < t < self._changed + CHANGE_S:
            share = min(STEEPEST * (t - self._time), LARGEST)
            most = share * self._limits.torques
            output.torques = changed(self._torques, output.torques, most)
        if len(output.active):
            output.active = output.active + self._first_constraint[self._asked]
        self._wrenches, self._torques, self.bearing = wrenches, output.torques, bearing
        self._time = t
        self.footstep = Footstep(strategy, step, swing, landing)
        self.track.add(t, self.desired)
        self.tell(output)
        return output


@compiled
def changed(torques: Array, wanted: Array, most: Array) -> Array:
    """Torques on their way to ``wanted`` ones, by ``most`` (nj,) at most."""
    return torques + np.minimum(np.maximum(wanted - torques, -most), most)
