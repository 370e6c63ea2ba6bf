"""Machine instructions of a control step and of a plant step, which no load can change."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from balance.analysis.bench.report import Figure
from balance.errors import BalanceError, InputError

STEPS = (200, 1200)  # the difference of two runs leaves out imports and set-up
_WORK = """
import sys
import numpy as np
from balance.analysis.bench.states import PlantSteps, PushedStates
from balance.analysis.bench.floors import ControlFloor, PlantFloor
what, steps = sys.argv[1], int(sys.argv[2])
states = PushedStates(100)
control, law = ControlFloor(states.robot, states.programs), states.controller("momentum")
plant_step, floor = PlantSteps(states), PlantFloor(states.robot)
work = {
    "control floor": lambda i: control(i, states.q[i], states.v[i]),
    "momentum step": states.step_of(law),
    "Pinocchio plant floor": lambda i: floor(states.q[i], states.v[i]),
    "Pinocchio plant step": plant_step,
}[what]
for step in range(steps):
    work(step % len(states))
"""


def check_valgrind() -> None:
    """Raise unless valgrind is there."""
    if shutil.which("valgrind") is None:
        raise InputError(
            "--instructions needs the program 'valgrind', which is not on the PATH; install it, or "
            "leave the option out"
        )


def instruction_figures() -> Iterator[Figure]:
    """Thousands of instructions of one step and of its floor, and their ratio."""
    for step, floor in (
        ("momentum step", "control floor"),
        ("Pinocchio plant step", "Pinocchio plant floor"),
    ):
        counts = {name: _count(name) for name in (floor, step)}
        for name, count in counts.items():
            yield Figure(f"{name}, instructions", count / 1e3, "thousand")
        yield Figure(f"{step} over {floor}, instructions", counts[step] / counts[floor], "1")


def _count(what: str) -> float:
    few, many = (_instructions(what, steps) for steps in STEPS)
    return (many - few) / (STEPS[1] - STEPS[0])


def _instructions(what: str, steps: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work.py"
        work.write_text(_WORK, encoding="utf-8")
        done = subprocess.run(
            [
                "valgrind",
                "--tool=cachegrind",
                "--cache-sim=no",
                f"--cachegrind-out-file={folder}/out",
                sys.executable,
                str(work),
                what,
                str(steps),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode or found is None:
        raise BalanceError(f"valgrind failed: {done.stderr.strip()[-300:]}")
    return int(found.group(1).replace(",", ""))
