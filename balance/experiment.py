"""One experiment: the only place where robot, plant, controller and pushes meet."""

from __future__ import annotations

import gc
import time as clock
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from balance.config import ExperimentConfig
from balance.config.faults import SensorDropout
from balance.control import Controller, make_controller
from balance.control.parts.output import ControlOutput, ControlStatus
from balance.control.parts.task_law import TaskLaw
from balance.dynamics.checks import is_within
from balance.errors import BalanceError, ConfigError
from balance.recordings import disk_arrays
from balance.recordings.disk_arrays import detached
from balance.recordings.falls import lost_posture
from balance.recordings.recording import Recording, derive
from balance.recordings.size import check_run_size
from balance.robots import Robot
from balance.robots.stance import robot_of
from balance.simulation.bookkeeping import BookkeepingPlant
from balance.simulation.drives import ActuatedPlant
from balance.simulation.dropout import DropoutController
from balance.simulation.faults import FaultyPlant
from balance.simulation.ground import ground_motion
from balance.simulation.mismatch import simulated_robot
from balance.simulation.perception import PerceivingController
from balance.simulation.plants import make_plant
from balance.simulation.plants.interface import BodyImpulse, Plant
from balance.simulation.pushes import Push, make_pushes

Array = NDArray[np.float64]
Progress = Callable[[float, float], None]
"""Called now and then with the simulated time and the time since the start, both in s."""
Allocate = Callable[[Any, Any], Any]

MAX_SPEED = 1e4  # m/s or rad/s; a robot that is faster exists only in a simulation that diverged
PROGRESS_EVERY = 100  # control periods
_QP_FAILED = int(ControlStatus.QP_FAILED)
# What libraries raise when numbers get out of hand.
_NUMERICAL = (ArithmeticError, np.linalg.LinAlgError, ValueError, RuntimeError)


class Experiment:
    """A robot, a plant, a controller and pushes, ready to run.

    ``robot`` is the simulated one; ``modelled_robot`` is what the control law takes it for.
    Without imperfections they are the same, and law and plant are used as they are.
    """

    def __init__(self, config: ExperimentConfig, robot_folders: Sequence[Path] = ()) -> None:
        self.config = config
        self.modelled_robot: Robot = robot_of(config, robot_folders)
        check_run_size(config, self.modelled_robot)
        self.robot: Robot = simulated_robot(self.modelled_robot, config)
        self.controller: Controller = make_controller(config, self.modelled_robot)
        self.ground = ground_motion(self.robot, config)
        self.plant: Plant = make_plant(config.plant, self.robot, self.ground)
        if config.plant.bookkeeping:
            limited = config.plant.torque_limits
            self.plant = BookkeepingPlant(self.plant, self.robot, limited, self.ground)
        if config.faults:
            friction = config.plant.friction
            self.plant = FaultyPlant(self.plant, config.faults, self.robot, friction)
            dropouts = [fault for fault in config.faults if isinstance(fault, SensorDropout)]
            self.controller = DropoutController(self.controller, dropouts)
        drives, senses = np.random.SeedSequence(config.seed).spawn(2)
        if config.actuators is not None:
            self.plant = ActuatedPlant(
                self.plant, config.actuators, self.robot, config.n_substeps, drives
            )
        if config.sensors is not None or config.state == "estimated":
            self.controller = PerceivingController(
                self.controller, self.plant, config, self.modelled_robot, self.robot, senses
            )
        self.pushes: list[Push] = make_pushes(config, self.robot)
        self._period, self._substeps = config.control_period_s, config.n_substeps
        self._stop_after_fall = config.stop_after_fall_s
        self.end, self.conflict = "finished", ""
        self._fell_at = np.inf
        self._height = float(self.robot.q_nominal[2])

    def run(self, progress: Progress | None = None) -> Recording:
        """Simulate to the end, to a fall, or until interrupted; what was simulated is kept."""
        log = Log(self.config, self.robot)
        began = clock.perf_counter()
        try:
            # The matrices are small: threads of the linear algebra cost more than they save.
            with threadpool_limits(1), no_garbage_collection():
                end = self._loop(log, progress, began)
        except KeyboardInterrupt:
            end = "aborted: interrupted by the user"
        except _NUMERICAL as error:
            end = f"aborted: {error}"
        wall = clock.perf_counter() - began
        return log.finish(self, end, wall)

    def _loop(self, log: Log, progress: Progress | None, began: float) -> str:
        while log.rows < self.config.n_periods and not self.advance(log):
            if progress and log.rows % PROGRESS_EVERY == 1:
                progress(float(log.time[log.rows - 1]), clock.perf_counter() - began)
        return self.end

    def advance(self, log: Log) -> bool:
        """Simulate one control period into the next row of ``log``; whether the run is over.

        ``self.end`` says how it ended, or would if it stopped now.
        """
        plant, controller = self.plant, self.controller
        period, substeps, dt = self._period, self._substeps, plant.dt
        i = log.rows
        t = i * period
        q, v = plant.q, plant.v
        started = clock.perf_counter()
        output = controller.step(q, v, t)
        log.control_time[i] = clock.perf_counter() - started
        log.write(i, t, q, v, output)
        if log.status[i] & _QP_FAILED and not self.conflict:
            self.conflict = self._conflict()
        measured = log.contact_wrenches[i]
        for substep in range(substeps):
            # Times come from counters: no rounding error adds up over a long run, and a step
            # ends exactly where the next one begins.
            step = i * substeps + substep
            impulses = self._impulses(step * dt, (step + 1) * dt, log, i)
            plant.step(output.torques, impulses)
            measured += plant.contact_wrenches
        measured /= substeps
        log.rows = i + 1
        if not is_within(plant.v, MAX_SPEED):
            self.end = f"aborted: the simulation diverged in the period from {t:.6g} s"
            return True
        now = (i + 1) * period
        if self._fell_at == np.inf and (lost := lost_posture(plant.q, self._height)):
            self._fell_at, self.end = now, f"fell at {now:.6g} s: {lost[1]}"
        return now >= self._fell_at + self._stop_after_fall - 0.5 * period  # rounding aside

    def _conflict(self) -> str:
        """Why the law has just found no answer, if it is of a kind that knows."""
        law: object = self.controller
        while isinstance(law, PerceivingController | DropoutController):
            law = law.law
        return law.conflict() if isinstance(law, TaskLaw) else ""

    def estimation(self, rows: int) -> Array | None:
        """Errors of the estimated base in the first ``rows`` periods; None without an estimate."""
        if not isinstance(self.controller, PerceivingController):
            return None
        errors = self.controller.estimation
        return None if errors is None else errors[:rows]

    def _impulses(self, begin: float, end: float, log: Log, row: int) -> list[BodyImpulse]:
        impulses = []
        for push in self.pushes:
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


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """No search for cyclic garbage, which a control step makes none of, can hit a step meanwhile.

    Reference counts free memory as ever.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Log:
    """Arrays made once and filled row by row.

    ``allocate(shape, dtype)`` makes an array of zeros, always in the same order, so that two
    processes can share the rows.
    """

    def __init__(
        self, config: ExperimentConfig, robot: Robot, allocate: Allocate = disk_arrays.zeros
    ) -> None:
        n, k, nj = config.n_periods, len(robot.soles), robot.model.nv - 6
        self.rows = 0
        self.time = allocate(n, float)
        self.q, self.v = allocate((n, robot.model.nq), float), allocate((n, robot.model.nv), float)
        self.torques = allocate((n, nj), float)
        self.wrenches = allocate((n, k, 6), float)
        self.contact_wrenches = allocate((n, k, 6), float)
        self.push_force = allocate((n, 3), float)
        self.status = allocate(n, np.int64)
        self.shortfall = allocate((n, 6), float)
        self.control_time = allocate(n, float)

    def write(self, i: int, t: float, q: Array, v: Array, output: ControlOutput) -> None:
        self.time[i] = t
        self.q[i], self.v[i] = q, v
        self.torques[i], self.wrenches[i] = output.torques, output.wrenches
        self.status[i], self.shortfall[i] = output.status, output.residual
        if i % disk_arrays.CHUNK_ROWS == 0:
            disk_arrays.release()

    def finish(self, experiment: Experiment, end: str, wall: float) -> Recording:
        m = self.rows
        time, q, v = detached(self.time[:m]), detached(self.q[:m]), detached(self.v[:m])
        derived = derive(
            experiment.robot, experiment.controller.path, time, q, v, experiment.ground
        )
        steps = 1e6 * self.control_time[: max(m, 1)]
        return Recording(
            config=experiment.config,
            robot=experiment.robot,
            pushes=tuple(experiment.pushes),
            time=time,
            q=q,
            v=v,
            torques=detached(self.torques[:m]),
            wrenches=detached(self.wrenches[:m]),
            contact_wrenches=detached(self.contact_wrenches[:m]),
            push_force=detached(self.push_force[:m]),
            status=detached(self.status[:m]),
            shortfall=detached(self.shortfall[:m]),
            conflict=experiment.conflict,
            com_error=derived.com_error,
            rotation_error=derived.rotation_error,
            momentum=derived.momentum,
            sole_lift=derived.sole_lift,
            sole_slip=derived.sole_slip,
            lowest_body=derived.lowest_body,
            end=end,
            timing={
                "control_step_us": {
                    "median": float(np.median(steps)) if m else 0.0,
                    "p99": float(np.percentile(steps, 99)) if m else 0.0,
                },
                "realtime_factor": m * experiment.config.control_period_s / wall,
            },
            estimation=experiment.estimation(m),
        )


def run(
    config: ExperimentConfig,
    progress: Progress | None = None,
    robot_folders: Sequence[Path] = (),
) -> Recording:
    """Simulate an experiment and return its recording."""
    try:
        experiment = Experiment(config, robot_folders)
    except BalanceError:
        raise
    except (ValueError, RuntimeError) as error:
        raise ConfigError(f"the experiment cannot be set up: {error}") from error
    return experiment.run(progress)
