"""Pushes in every phase of a motion: of a run that is not pushed others branch off."""

import json
import math
import os
import pickle
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from balance.config import ExperimentConfig, load_config
from balance.control.phases.phased_law import PhasedLaw
from balance.experiment import Experiment
from balance.recordings.judging import judge
from balance.recordings.log import Log
from balance.recordings.metrics import ankle_limit
from balance.recordings.phase_rows import phase_spans
from balance.recordings.recording import Recording
from balance.recordings.verdict import Cause, Outcome
from balance.robots import load_robot
from balance.robots.sequence import plan_phases
from balance.simulation.pushes import make_pushes
from balance.simulation.undisturbed import no_garbage_collection

SHARE = 0.3  # of the ankle limit of the phase's own stance
DIRECTIONS_DEG = (0, 90, 180, 270)
MOMENTS = {"middle": 0.5, "late": 0.85}  # shares of a phase's time
PUSH_S = 0.02  # half a sine
REST_S = 2.0  # after the push and the last phase's way, in which a robot comes to rest
FURTHER = 2  # phases later a run has got over its push, unless it ends before
LONGER_S = 6.0  # than the motion: a phase waits until the robot has come to rest


@dataclass(frozen=True)
class Pushed:
    """A push in a phase and what came of the motion: ``fault`` is empty if all is well."""

    motion: str
    engine: str
    phase: str
    moment: str
    degrees: int
    impulse_Ns: float
    time_s: float
    stands: bool
    fault: str
    com_error_m: float


def impulses(name: str, share: float) -> dict[str, list[float]]:
    """For each phase the impulses (N s) along ``DIRECTIONS_DEG``, the share of its limit."""
    config = load_config(name)
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


def push_everywhere(name: str, engine: str, share: float = SHARE) -> list[Pushed]:
    """Run a motion and push it in every phase, at each of the moments, along each direction.

    Every pushed run branches off the one that is not pushed (a process of its own): until the push
    they are the same.
    """
    keys: dict[str, object] = {"plant.engine": engine, "pushes": []}
    sizes = impulses(name, share)
    config = load_config(name, keys)
    plain = Experiment(config).run()
    feet = {sole.name for sole in plain.robot.soles if sole.is_foot}
    times = [
        (s.rows.start + round(part * (s.rows.stop - s.rows.start)), s.name, moment)
        for s in phase_spans(plain)
        for moment, part in MOMENTS.items()
        if moment == "middle" or not feet <= set(config.phases[s.number].contacts)
    ]
    longer = load_config(name, keys | {"duration_s": config.duration_s + LONGER_S})
    experiment, found = Experiment(longer), []
    log = Log(longer, experiment.robot)
    with no_garbage_collection():
        for row, phase, moment in sorted(times):
            while log.rows < row:
                assert not experiment.advance(log)
            for degrees, impulse in zip(DIRECTIONS_DEG, sizes[phase], strict=True):
                if impulse <= 0.0:
                    continue
                begin = row * config.control_period_s
                pushed = {"pushes": [_push(degrees, impulse, begin)]}
                end = _branch(experiment, log, load_config(name, keys | pushed))
                found.append(Pushed(name, engine, phase, moment, degrees, impulse, begin, *end))
    return found


def _branch(experiment: Experiment, log: Log, config: ExperimentConfig) -> tuple[bool, str, float]:
    """What comes of the push of ``config``: stands, fault, largest error of the CoM, m."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            experiment.pushes = make_pushes(config, experiment.robot)
            _go_on(experiment, log)
            result = _judged(experiment.recording(log, experiment.end, 1.0))
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(result, pipe)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else (False, "the run broke off", math.nan)


def _judged(recording: Recording) -> tuple[bool, str, float]:
    """Whether a robot stands, what is wrong, and how far its CoM ever was from its setpoint, m.

    A run that was cut short in a later phase is neither finished nor at rest, which is no fault.
    """
    verdict, words = judge(recording), ""
    if verdict.outcome is not Outcome.RECOVERED:
        words = verdict.text or verdict.outcome.value
    if verdict.cause is Cause.UNFINISHED:
        reasons = words.split("; ")[1:]
        words = "; ".join(one for one in reasons if not one.startswith("not settled"))
    stands = verdict.outcome in (Outcome.RECOVERED, Outcome.UPRIGHT)
    return stands, words, float(np.linalg.norm(recording.com_error, axis=1).max())


def _go_on(experiment: Experiment, log: Log) -> None:
    """To a fall, two phases further, or some time after all is to be at rest."""
    law = experiment.controller
    assert isinstance(law, PhasedLaw)
    pushed, phase = experiment.pushes[0].end, law.phase
    while log.rows < experiment.config.n_periods and not experiment.advance(log):
        if phase + FURTHER <= law.phase < len(law.phases) - 1:
            return
        if law.finished and log.time[log.rows - 1] > max(law.course.end, pushed) + REST_S:
            return


def push_motions(
    cases: Sequence[tuple[str, str]], workers: int | None, kept: Path | None
) -> list[Pushed]:
    """Push motions in engines; ``kept`` is a file that keeps, and has, what was tried before."""
    lines = kept.read_text(encoding="utf-8").splitlines() if kept and kept.exists() else []
    found = [Pushed(**json.loads(line)) for line in lines]
    found = [one for one in found if (one.motion, one.engine) in cases]
    known = {(one.motion, one.engine) for one in found}
    left = [case for case in cases if case not in known]
    if not left:
        return found
    with ProcessPoolExecutor(workers) as pool:
        for runs in pool.map(push_everywhere, *zip(*left, strict=True)):
            found += runs
            if kept is not None:
                with kept.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(asdict(one)) + "\n" for one in runs)
            for one in runs:
                if one.fault:
                    print(one, flush=True)
    return found


def pushed_table(
    found: Iterable[Pushed], engines: Sequence[str]
) -> tuple[list[str], list[list[str]], str]:
    """Head, rows and note of a table with a row for each motion and phase."""
    groups: dict[tuple[str, str], list[Pushed]] = {}
    for one in found:
        groups.setdefault((one.motion, one.phase), []).append(one)
    rows = []
    for (motion, phase), runs in groups.items():
        sizes = [one.impulse_Ns for one in runs]
        cells = [_cell([one for one in runs if one.engine == engine]) for engine in engines]
        error = max(one.com_error_m for one in runs)
        span = f"{min(sizes):.1f} to {max(sizes):.1f}"
        rows.append([f"`{motion}`", phase, span, *cells, f"{1e3 * error:.0f}"])
    head = ["config", "pushed in", "push [N s]", *(f"stands, {engine}" for engine in engines)]
    note = (
        f"Pushes of {SHARE} of the ankle limit of the phase's own stance (its posture, and what "
        f"bears in it) along {', '.join(map(str, DIRECTIONS_DEG))} degrees, in the middle of every "
        f"phase and, where a foot is off, at {MOMENTS['late']:.0%} of it. A run stands if "
        f"it ends so, or has begun the phase after the next; a fault is what keeps a run from "
        "having recovered."
    )
    return [*head, "CoM error [mm]"], rows, note


def _cell(runs: Sequence[Pushed]) -> str:
    stood, faulty = sum(one.stands for one in runs), sum(bool(one.fault) for one in runs)
    faulty -= len(runs) - stood
    return f"{stood} of {len(runs)}" + (f", {faulty} with a fault" if faulty else "")
