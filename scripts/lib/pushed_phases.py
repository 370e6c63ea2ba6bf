"""Pushes in every phase of a motion: of a run that is not pushed others branch off."""

import math
import os
import pickle
from dataclasses import dataclass

import numpy as np

from balance.config import ExperimentConfig, load_config
from balance.control.phases.phased_law import PhasedLaw
from balance.experiment import Experiment, no_garbage_collection
from balance.recordings.judging import judge
from balance.recordings.log import Log
from balance.recordings.metrics import ankle_limit
from balance.recordings.phase_rows import phase_spans
from balance.robots import load_robot
from balance.robots.sequence import plan_phases
from balance.simulation.pushes import make_pushes

SHARE = 0.3  # of the ankle limit of the phase's own stance
DIRECTIONS_DEG = (0, 90, 180, 270)
MOMENTS = {"middle": 0.5, "late": 0.85}  # shares of a phase's time
PUSH_S = 0.02  # half a sine
REST_S = 3.0  # after the push and the last phase's way, in which a robot comes to rest
LONGER_S = 6.0  # than the motion: a phase waits until the robot has come to rest


@dataclass(frozen=True)
class Pushed:
    """A push in a phase and how the motion ended."""

    motion: str
    engine: str
    phase: str
    moment: str
    degrees: int
    impulse_Ns: float
    time_s: float
    outcome: str
    text: str
    com_error_m: float


def impulses(name: str, share: float = SHARE, keys: dict | None = None) -> dict[str, list[float]]:
    """For each phase the impulses (N s) along ``DIRECTIONS_DEG``, the share of its limit."""
    config = load_config(name, keys)
    found = {}
    for phase in plan_phases(config, load_robot(config.robot)):
        along = [_direction(degrees) for degrees in DIRECTIONS_DEG]
        found[phase.name] = [share * ankle_limit(phase.robot, d) for d in along]
    return found


def _direction(degrees: float) -> np.ndarray:
    a = math.radians(degrees)
    return np.array([math.cos(a), math.sin(a), 0.0])


def _push(degrees: float, impulse: float, time_s: float) -> dict[str, object]:
    return {
        "type": "half_sine", "direction": _direction(degrees).tolist(), "time_s": time_s,
        "impulse_Ns": impulse, "duration_s": PUSH_S,
    }  # fmt: skip


def push_everywhere(
    name: str, engine: str, share: float = SHARE, keys: dict | None = None, only=None
) -> list[Pushed]:
    """Run a motion and push it in every phase, at each of the moments, along each direction.

    Every pushed run branches off the one that is not pushed (a process of its own): until the push
    they are the same.
    """
    keys = {"plant.engine": engine, "pushes": []} | (keys or {})
    sizes = impulses(name, share, keys)
    config = load_config(name, keys)
    plain = Experiment(config).run()
    times = [
        (s.rows.start + round(part * (s.rows.stop - s.rows.start)), s.name, moment)
        for s in phase_spans(plain)
        for moment, part in MOMENTS.items()
        if moment == "middle" or config.phases[s.number].move
    ]
    longer = load_config(name, keys | {"duration_s": config.duration_s + LONGER_S})
    experiment, found = Experiment(longer), []
    log = Log(longer, experiment.robot)
    with no_garbage_collection():
        for row, phase, moment in sorted(times):
            while log.rows < row:
                assert not experiment.advance(log)
            for degrees, impulse in zip(DIRECTIONS_DEG, sizes[phase], strict=True):
                if impulse <= 0.0 or (only and not only(phase, moment, degrees)):
                    continue
                begin = row * config.control_period_s
                pushed = {"pushes": [_push(degrees, impulse, begin)]}
                end = _branch(experiment, log, load_config(name, keys | pushed))
                found.append(Pushed(name, engine, phase, moment, degrees, impulse, begin, *end))
    return found


def _branch(experiment: Experiment, log: Log, config: ExperimentConfig) -> tuple[str, str, float]:
    """How a run goes on with the push of ``config``: outcome, why, largest error of the CoM, m."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            experiment.pushes = make_pushes(config, experiment.robot)
            _go_on(experiment, log)
            recording = experiment.recording(log, experiment.end, 1.0)
            verdict = judge(recording)
            error = np.linalg.norm(recording.com_error, axis=1).max()
            result = verdict.outcome.value, verdict.text or "", float(error)
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(result, pipe)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else ("error", "the run broke off", math.nan)


def _go_on(experiment: Experiment, log: Log) -> None:
    """To the end: a fall, the end of the time, or some time after all is to be at rest."""
    law = experiment.controller
    assert isinstance(law, PhasedLaw)
    pushed = experiment.pushes[0].end
    while log.rows < experiment.config.n_periods and not experiment.advance(log):
        if law.finished and log.time[log.rows - 1] > max(law.course.end, pushed) + REST_S:
            return
