"""A tuning study whose runs are pretended: quick, and free of everything but the search."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from balance.config.studies import load_study
from balance.config.tuning import TuneConfig
from balance.studies.store import StudyFolder
from balance.studies.tuning.study import Tuning
from balance.studies.workers import Result, Task

PUSH = {"type": "half_sine", "body": "hip", "time_s": 0.0, "impulse_Ns": 2.0, "duration_s": 0.02}
STUDY: dict[str, Any] = {
    "experiment": "toro_side",
    "set": {"duration_s": 1.0, "pushes": [{**PUSH, "direction": [0, 1, 0]}]},
    "parameters": [
        {"key": "controller.gains.K_P.1", "low": 500, "high": 8000, "log": True},
        {"key": "controller.gains.K_D.1", "low": 0.5, "high": 20, "log": True},
    ],
    "pushes": [
        {"name": "side"},
        {"name": "front", "set": {"pushes.0.direction": [1, 0, 0]}},
    ],
    "objectives": [{"metric": "settling_time_s"}],
    "trials": 12,
}


def write_study(folder: Path, **changes: Any) -> Path:
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump({**STUDY, **changes}, sort_keys=False))
    return path


def tuning_of(path: Path, **overrides: Any) -> Tuning:
    return Tuning(load_study(TuneConfig, path, overrides), path.stem, str(path))


def pretend(task: Task) -> Result:
    """A bowl with its bottom at K_P = 4000, K_D = 8; too little damping makes the robot fall."""
    gains, push = task.config["controller"]["gains"], task.config["pushes"][0]
    x, y = math.log(gains["K_P"][1] / 4000.0), math.log(gains["K_D"][1] / 8.0)
    forward = abs(push["direction"][0])
    fell = gains["K_D"][1] < 0.8 or push["impulse_Ns"] > 10.0 + gains["K_D"][1]
    return Result(
        {
            "outcome": "fell" if fell else "recovered",
            "time_of_fall_s": 0.4 + 0.1 * gains["K_D"][1] if fell else None,
            "settling_time_s_10": 0.2 + 0.1 * (x * x + y * y) + 0.05 * forward,
            "rotation_settling_time_s_10": 0.5,
            "peak_com_error_m": 0.02 + 0.005 * (x + 2.0) ** 2,
            "final_com_error_m": 0.001,
            "peak_rotation_rad": 0.05,
            "torque_effort_N2m2s": gains["K_P"][1],
            "max_sole_lift_m": 0.0,
            "error": None,
        }
    )


class KilledError(Exception):
    """Stands for kill -9: nothing is cleaned up."""


def drive(
    study: Tuning, folder: Path, order: int, workers: int = 2, kill_after: int | None = None
) -> None:
    """Run a study like its runner does, with runs that end in a random ``order``."""
    rng = np.random.default_rng(order)
    done = 0
    with StudyFolder(folder, study.kind, study.definition) as opened:
        study.resume(opened)
        waiting: list[Task] = []
        while True:
            while len(waiting) < 2 * workers and (task := study.next_task()) is not None:
                waiting.append(task)
            if not waiting:
                return
            task = waiting.pop(int(rng.integers(len(waiting))))
            row = study.row(task, pretend(task))
            opened.append(row)
            done += 1
            if kill_after is not None and done > kill_after:
                raise KilledError
            study.take(row)


def trials_of(study: Tuning) -> list[tuple[Any, ...]]:
    """All that the trials are: values, results, and how they ended."""
    return [
        (trial.number, tuple(sorted(trial.params.items())), tuple(trial.values or ()))
        for trial in study.archive.told()
    ]


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """The rows in the log of a study."""
    lines = (folder / "runs.log").read_text().splitlines()
    return [json.loads(line.partition(" ")[2]) for line in lines]
