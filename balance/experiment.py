"""One experiment: the only place where robot, plant, controller and pushes meet."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import ExperimentConfig, load_config
from balance.config.actuators import PERFECT_DRIVES
from balance.config.sections import own_quantities
from balance.config.trust import check_loaded
from balance.control import Controller, frame_controller, make_controller, with_controller
from balance.control.parts.after_fall import FallenLaw
from balance.control.parts.fallback import NUMERICAL
from balance.control.parts.moving_contacts import MovingContacts, moving_contacts
from balance.control.parts.setpoints import Path as SetpointSource
from balance.control.parts.setpoints import setpoint_path
from balance.dynamics.checks import is_within
from balance.errors import BalanceError, ConfigError, is_interrupt
from balance.recordings.derived import derive
from balance.recordings.falls import lost_posture
from balance.recordings.log import Log
from balance.recordings.own_quantities import measure
from balance.recordings.recording import Recording
from balance.recordings.settling import UntilSettled, check_time_to_judge, longest_run_s
from balance.recordings.size import check_run_size
from balance.recordings.stance_rows import StanceRows, stance_rows, step_rows
from balance.recordings.standstill import Standstill
from balance.recordings.touches import TouchRow
from balance.recordings.verdict import Cause, EndKind, RunEnd, aborted
from balance.robots import Robot
from balance.robots.sequence import PlannedPhase, plan_phases, union_robot
from balance.robots.shared import shared_robot
from balance.robots.stance import robot_of
from balance.simulation.bookkeeping import BookkeepingPlant
from balance.simulation.drives import ActuatedPlant
from balance.simulation.faults import FaultyPlant
from balance.simulation.ground import ground_motion
from balance.simulation.mismatch import simulated_robot
from balance.simulation.pendulum_plant import PendulumPlant
from balance.simulation.perception import Perception
from balance.simulation.plants import make_plant
from balance.simulation.plants.interface import BodyImpulse, Plant
from balance.simulation.pushes import Push, make_pushes
from balance.simulation.undisturbed import undisturbed
from balance.simulation.world import check_start, obstacles

Array = NDArray[np.float64]
Progress = Callable[[float, float], None]
"""Called now and then with the simulated time and the time since the start, both in s."""
MakeLaw = Callable[[ExperimentConfig, Robot], Controller]

MAX_SPEED = 1e4  # m/s or rad/s; a robot that is faster exists only in a simulation that diverged
PROGRESS_EVERY = 100  # control periods
LYING_S = 4.0  # for which a fall goes on at most, if the config does not say
STILL_S, STILL_SPEED = 0.25, 0.05  # m/s, rad/s; a robot that was slower for so long lies still


class Experiment:
    """A robot, a plant, a controller and pushes, ready to run:

        truth -> perception -> law -> drives -> plant -> truth

    ``robot`` is the simulated one; ``modelled_robot`` is what the control law takes it for, and
    ``path`` where that is to be.  Without imperfections both robots are the same.  With ``until``
    the run does not last for the configured duration but until its verdict is settled.
    """

    def __init__(
        self,
        config: ExperimentConfig,
        robot_folders: Sequence[Path] = (),
        until: UntilSettled | None = None,
        make_law: MakeLaw = make_controller,
        controller: Any = None,
    ) -> None:
        """``make_law`` gives the law itself; whatever the config puts around it is put here.

        ``controller``, anything with a ``step(q, v, t)`` or a class of such made from the config
        and the robot, takes the place of the law in the config.
        """
        if controller is not None:
            config = with_controller(config, controller)
            make_law = partial(frame_controller, controller)
        check_loaded(config)
        check_time_to_judge(config)
        if until is not None:
            config = config.model_copy(update={"duration_s": longest_run_s(config, until)})
        self.config = config
        self.phases: tuple[PlannedPhase, ...] = ()
        if config.phases:
            self.phases = plan_phases(config, shared_robot(config.robot, robot_folders))
            self.modelled_robot: Robot = union_robot(self.phases)
        else:
            self.modelled_robot = robot_of(config, robot_folders)
        check_run_size(config, self.modelled_robot)
        self.robot: Robot = simulated_robot(self.modelled_robot, config)
        self.path: SetpointSource = setpoint_path(config.controller.setpoints, self.modelled_robot)
        self.controller: Controller = self._make_controller(make_law)
        moving = moving_contacts(self.controller)
        self._contacts_move = moving is not None
        if moving is not None:
            self.path = moving.track
        self.ground = ground_motion(self.robot, config)
        check_start(self.robot, obstacles(self.robot, self.ground), config.plant.collisions)
        self.plant: Plant = make_plant(config.plant, self.robot, self.ground)
        if config.plant.bookkeeping:
            self.plant = BookkeepingPlant(self.plant, self.robot, self.ground)
        drives, senses = np.random.SeedSequence(config.seed).spawn(2)
        if config.actuators != PERFECT_DRIVES:
            self.plant = ActuatedPlant(
                self.plant, config.actuators, self.robot, config.n_substeps, drives
            )
        if config.faults:
            friction = config.plant.friction
            self.plant = FaultyPlant(self.plant, config.faults, self.robot, friction)
        self.pendulum: PendulumPlant | None = None
        if config.pendulum is not None:
            self.plant = self.pendulum = PendulumPlant(self.plant, config.pendulum, self.robot)
        self.perception = Perception(config, self.plant, self.modelled_robot, self.robot, senses)
        self.pushes: list[Push] = make_pushes(config, self.robot)
        self.quantities = own_quantities(config)
        self._period, self._substeps = config.control_period_s, config.n_substeps
        self._law = self.controller
        longest = LYING_S if until is None else 0.0
        after = config.stop_after_fall_s
        self._after_fall_s = longest if after is None else after
        self._still = 0
        self.end, self.conflict = RunEnd(), ""
        self._seen: tuple[Array, Array] | None = None
        self._touches = TouchRow(self.robot, self.ground, config.n_substeps)
        self._until = until
        self.answered: Callable[[], bool] | None = None
        """Asked when the law has answered, in a run by the clock; a late answer is not used, and
        the torques of the last one stay."""
        self._held: Array | None = None
        self._fell_at = np.inf
        self._height = float(self.robot.q_nominal[2])

    def _make_controller(self, make_law: MakeLaw) -> Controller:
        if not self.phases:
            return make_law(self.config, self.modelled_robot)
        from balance.control.phases.phased_law import PhasedLaw  # slow to import

        return PhasedLaw(self.config, self.phases, self.modelled_robot, make_law)

    def run(self, progress: Progress | None = None) -> Recording:
        """Simulate to the end, to a fall, or until interrupted; what was simulated is kept."""
        log = Log(self.config, self.robot)
        began = clock.perf_counter()
        try:
            with undisturbed():
                end = self._loop(log, progress, began)
        except KeyboardInterrupt:
            end = aborted(Cause.INTERRUPTED, "interrupted by the user")
        except NUMERICAL as error:
            end = aborted(Cause.ERROR, str(error))
        except SystemError as error:
            if not is_interrupt(error):
                raise
            end = aborted(Cause.INTERRUPTED, "interrupted by the user")
        wall = clock.perf_counter() - began
        return self.recording(log, end, wall)

    def recording(self, log: Log, end: RunEnd, wall_s: float) -> Recording:
        """The recording of what is in ``log``, which took ``wall_s``."""
        arrays = log.arrays()
        time, q, v = arrays["time"], arrays["q"], arrays["v"]
        recording = Recording(
            config=self.config,
            robot=self.robot,
            pushes=tuple(self.pushes),
            end=end,
            conflict=self.conflict,
            timing=log.timing(self._period, wall_s),
            estimation=self.perception.estimation(log.rows),
            pendulum=None if self.pendulum is None else self.pendulum.history(),
            **arrays,
            **derive(self.robot, self.path, time, q, v, self.ground, self._stances(arrays)),
        )
        return replace(recording, own=measure(recording, self.quantities))

    def _stances(self, arrays: Mapping[str, Any]) -> StanceRows | None:
        if self.phases:
            return stance_rows(self.robot, self.phases, arrays["phase"], arrays["bearing"])
        return step_rows(self.robot, arrays["bearing"]) if "bearing" in arrays else None

    def _loop(self, log: Log, progress: Progress | None, began: float) -> RunEnd:
        until = self._until
        rest = until and Standstill(self.config, self.robot, self.path, until)
        periods = self.config.n_periods
        while log.rows < periods and not self.advance(log):
            if rest and self._fell_at == np.inf and rest.seen(log):
                return RunEnd(EndKind.SETTLED, log.rows * self._period)
            if progress and log.rows % PROGRESS_EVERY == 1:
                progress(float(log.time[log.rows - 1]), clock.perf_counter() - began)
        return self.end

    def look(self, log: Log) -> tuple[Array, Array]:
        """Configuration and velocity as the law is to see them in the next period.

        Whoever decides for a law from outside may ask before he calls :meth:`advance`.
        """
        if self._seen is None:
            q, v, t = self.plant.q, self.plant.v, log.rows * self._period
            if (moving := self._moving) is None:
                self._seen = self.perception.see(q, v, t)
            else:
                self._seen = self.perception.see(q, v, t, moving.bearing)
                moving.feel(self.perception.wrenches)
        return self._seen

    @property
    def _moving(self) -> MovingContacts | None:
        """What moves the contacts, asked anew: a law whose gains change is another one."""
        return moving_contacts(self.controller) if self._contacts_move else None

    def advance(self, log: Log) -> bool:
        """Simulate one control period into the next row of ``log``; whether the run is over.

        ``self.end`` says how it ended, or would if it stopped now.
        """
        plant = self.plant
        period, substeps, dt = self._period, self._substeps, plant.dt
        i = log.rows
        t = i * period
        q, v = plant.q, plant.v
        started = clock.perf_counter()
        moving = self._moving
        seen, self._seen = self.look(log), None
        output = self._law.step(*seen, t)
        if moving is not None and output.bearing is None:  # it has fallen
            moving.tell(output)
        log.control_time[i] = clock.perf_counter() - started
        if self.answered is not None:
            if self.answered() and self._held is not None:
                output.torques = self._held
            else:
                self._held = output.torques.copy()
        log.write(i, t, q, v, output)
        if output.conflict and not self.conflict:
            self.conflict = output.conflict
        measured = log.contact_wrenches[i]
        for substep in range(substeps):
            # Times come from counters: no rounding error adds up over a long run, and a step
            # ends exactly where the next one begins.
            step = i * substeps + substep
            impulses = self._impulses(step * dt, (step + 1) * dt, log, i)
            plant.step(output.torques, impulses)
            if self.pendulum is not None:
                log.push_force[i] += self.pendulum.impulse / period
            measured += plant.contact_wrenches
            if touches := plant.touches:
                self._touches.add(touches)
        if substeps > 1:
            measured /= substeps
        if moving is not None:
            measured[:] = moving.attributed(q, measured)
        self._touches.write(log.touches[i])
        log.rows = i + 1
        v = plant.v
        # The sum of squares settles it for all but the fastest; it is never below one of a NaN.
        if not v.dot(v) < MAX_SPEED**2 and not is_within(v, MAX_SPEED):
            text = f"the simulation diverged in the period from {t:.6g} s"
            self.end = aborted(Cause.DIVERGED, text, t)
            return True
        now = (i + 1) * period
        if self._fell_at == np.inf and (lost := self._lost(now)):
            self._fall(now, RunEnd(EndKind.FELL, now, *lost))
        if output.failure and self._fell_at == np.inf:
            self.end = aborted(Cause.TIMED_OUT, output.failure, t)
            return True
        return self._fell_at < np.inf and self._lies(now)

    def _lost(self, now: float) -> tuple[Cause, str] | None:
        """Whether the posture is lost, as seen from the one that is meant."""
        if (moving := self._moving) is None:
            return lost_posture(self.plant.q, self._height)
        height, upwards = moving.base_at(now)
        return lost_posture(self.plant.q, height, upwards)

    def _fall(self, now: float, end: RunEnd) -> None:
        self._fell_at, self.end = now, end
        if self.config.after_fall != "law":
            self._law = FallenLaw(self.modelled_robot, limp=self.config.after_fall == "limp")

    def _lies(self, now: float) -> bool:
        """Whether a robot that fell had its time to come to rest, or lies still if none is set."""
        self._still = self._still + 1 if is_within(self.plant.v, STILL_SPEED) else 0
        rests = self.config.stop_after_fall_s is None and self._still * self._period >= STILL_S
        left = self._fell_at + self._after_fall_s - now
        return rests or left < 0.5 * self._period  # rounding aside

    def _impulses(self, begin: float, end: float, log: Log, row: int) -> list[BodyImpulse]:
        impulses = []
        for push in self.pushes:
            if end <= push.start or begin >= push.end > push.start:
                continue
            size = push.between(begin, end)
            if size != 0.0:
                vector = size * push.direction
                impulses.append(BodyImpulse(push.body, push.point, vector, push.in_body_axes))
                if push.in_body_axes:
                    vector = self._body_rotation(push.body) @ vector
                log.push_force[row] += vector / self.config.control_period_s
        return impulses

    def _body_rotation(self, body: str) -> Array:
        """Rotation matrix of a body in the world at the plant's state."""
        model, data = self.robot.model, self.robot.model.createData()
        pin.forwardKinematics(model, data, self.plant.q)
        placement = pin.updateFramePlacement(model, data, model.getFrameId(body))
        return np.array(placement.rotation)


def run(
    config: ExperimentConfig | str | Path | Mapping[str, Any],
    progress: Progress | None = None,
    robot_folders: Sequence[Path] = (),
    until: UntilSettled | None = None,
    overrides: Mapping[str, Any] | None = None,
    controller: Any = None,
) -> Recording:
    """Simulate an experiment and return its recording.

    ``config`` is a loaded one, or whatever :func:`balance.load_config` takes; the dotted keys of
    ``overrides`` are set on top of it.  ``controller`` is a law of your own in place of the one in
    the config: anything with a ``step(q, v, t)`` that returns joint torques, or a class of such
    that takes ``(config, robot)``.
    """
    loaded = load_config(config, overrides)
    try:
        experiment = Experiment(loaded, robot_folders, until, controller=controller)
    except BalanceError:
        raise
    except (ValueError, RuntimeError) as error:
        raise ConfigError(f"the experiment cannot be set up: {error}") from error
    return experiment.run(progress)
