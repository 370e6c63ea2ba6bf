"""Random states for every law and robot, in blocks that are made once and counted for ever."""

from __future__ import annotations

import faulthandler
import json
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from lib.tables import stamp, write_table
from threadpoolctl import threadpool_limits

import balance
from balance.config import LAWS
from balance.control import Controller, ControlStatus, make_controller
from balance.control.phases.phased_law import PhasedLaw
from balance.experiment import Experiment
from balance.recordings.provenance import provenance
from balance.robots import Robot

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from fuzz.states import KINDS, complaint, depth_outside, on_one_spot, random_state  # noqa: E402

LOG = ROOT / "results" / "soak" / "states.jsonl"
ROBOTS = ("toro", "talos", "icub", "g1", "romeo", "human")
BLOCK = 5000
FORMS = {"whole_body_qp, quaternion form": {"law": "whole_body_qp", "form": "quaternion"}}
PHASES = "whole_body_qp, in phases"
MOTIONS = {
    "toro": ("lift_foot", "three_steps", "box", "palm", "sit_stand", "kneel", "handstand"),
    "talos": ("lift_foot", "three_steps", "box", "palm"),
}
SUBJECTS = (*LAWS.ready(), *FORMS, PHASES)
"""Laws, other forms of them, and the laws of all stages of the motions that ship."""
STUCK_S = 900.0  # a block takes ten seconds or so: a law that has not answered by then never does
ON_ONE_SPOT_EVERY = 7  # has no common divisor with the number of kinds
RUNGS = (
    ControlStatus.OTHER_SOLVER, ControlStatus.RELAXED, ControlStatus.MINIMUM_WRENCH,
    ControlStatus.DAMPED, ControlStatus.BAD_STATE,
)  # fmt: skip
Job = tuple[str, str, int, int]
"""Robot, law, seed and number of a block: they make the same states again."""


@cache
def _subject(name: str, law: str, spot: bool) -> tuple[Robot, Controller]:
    robot = balance.load_robot(name)
    robot = on_one_spot(robot) if spot else robot
    keys = {f"controller.{key}": value for key, value in FORMS.get(law, {"law": law}).items()}
    config = balance.load_config("toro_side", keys)
    return robot, make_controller(config, robot)


@cache
def _stages(name: str) -> list[tuple[Robot, Controller]]:
    """The law of each stage of a robot's motions, with what its sequence asks of it."""
    found: list[tuple[Robot, Controller]] = []
    for motion in MOTIONS[name]:
        sequence = Experiment(balance.load_config(f"{name}_{motion}")).controller
        assert isinstance(sequence, PhasedLaw)
        robot = sequence.phases[0].robot
        sequence.step(robot.q_nominal, np.zeros(robot.model.nv), 0.0)
        for number, stage in enumerate(sequence.stages):
            if number:  # as if the one before had been done in a second
                sequence._begin(float(number))
            stage.law.guide(sequence._guidance(float(number)))
            found.append((stage.robot, stage.law))
    return found


def _asked(name: str, law: str, index: int) -> tuple[Robot, Controller]:
    """Whom a state is for: with laws now and then a robot that stands on one spot."""
    if law != PHASES:
        return _subject(name, law, index % ON_ONE_SPOT_EVERY == 0)
    stages = _stages(name)
    return stages[index // len(KINDS) % len(stages)]


def run_block(job: Job) -> dict[str, Any]:
    """What came of the states of a block."""
    name, law_name, seed, block = job
    rng = np.random.default_rng([seed, block, zlib.crc32(f"{name} {law_name}".encode())])
    flags: Counter[str] = Counter()
    complaints, deepest = [], 0.0
    faulthandler.dump_traceback_later(STUCK_S, exit=True)
    for index in range(BLOCK):
        robot, law = _asked(name, law_name, index)
        kind = KINDS[index % len(KINDS)]
        output = law.step(*random_state(robot, rng, kind), 1e-3 * index)
        flags.update(str(flag.name) for flag in RUNGS if output.status & flag)
        deepest = max(deepest, depth_outside(law, output))
        if wrong := complaint(law, robot, output):
            complaints.append(f"state {index} ({kind}): {wrong}")
    faulthandler.cancel_dump_traceback_later()
    return {
        "robot": name, "law": law_name, "seed": seed, "block": block, "states": BLOCK,
        "flags": flags, "deepest": deepest, "complaints": complaints,
        "commit": provenance().get("commit", ""),
    }  # fmt: skip


def logged(seed: int) -> Iterator[dict[str, Any]]:
    """Blocks of earlier calls; a line that was cut off is none."""
    for line in LOG.read_text(encoding="utf-8").splitlines() if LOG.exists() else []:
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if found["seed"] == seed:
            yield found


def soak_states(
    count: int, laws: Sequence[str], robots: Sequence[str], workers: int, seed: int
) -> bool:
    """Run the blocks that are missing up to ``count`` states for each law and robot."""
    done = {(found["robot"], found["law"], seed, found["block"]) for found in logged(seed)}
    blocks = range(-(-count // BLOCK))
    jobs = [(robot, law, seed, block) for block in blocks for robot in robots for law in laws]
    able = [job for job in jobs if job[1] != PHASES or job[0] in MOTIONS]
    missing = [job for job in able if job not in done]
    LOG.parent.mkdir(parents=True, exist_ok=True)
    # One thread each: the workers share the cores.
    limited = {"initializer": threadpool_limits, "initargs": (1,)}
    with ProcessPoolExecutor(workers, **limited) as pool, open(LOG, "a", encoding="utf-8") as file:
        for future in as_completed([pool.submit(run_block, job) for job in missing]):
            found = future.result()
            file.write(json.dumps(found) + "\n")
            file.flush()
            for wrong in found["complaints"]:
                print(found["robot"], found["law"], "block", found["block"], wrong, flush=True)
    return write_states(seed)


def write_states(seed: int) -> bool:
    """The table of all blocks so far; whether nothing is wrong in any."""
    totals: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    deepest: dict[tuple[str, str], float] = defaultdict(float)
    for found in logged(seed):
        key = found["robot"], found["law"]
        deepest[key] = max(deepest[key], found["deepest"])
        totals[key].update(found["flags"])
        totals[key].update(states=found["states"], complaints=len(found["complaints"]))
    columns = ["states", *(str(flag.name) for flag in RUNGS)]
    rows = [
        [robot, law, *(totals[robot, law][name] for name in columns), f"{deepest[robot, law]:.0e}",
         totals[robot, law]["complaints"]]
        for robot in ROBOTS for law in SUBJECTS if totals[robot, law]
    ]  # fmt: skip
    head = [
        "robot", "law", "states", "other solver", "relaxed", "minimum wrench", "braked",
        "not believed", "deepest outside of a cone, N or N m", "complaints",
    ]  # fmt: skip
    complaints = sum(total["complaints"] for total in totals.values())
    states = sum(total["states"] for total in totals.values())
    text = f"{states} states in all, {complaints} complaints, seed {seed}."
    text += f" {stamp('scripts/soak states')}"
    write_table("docs/robustness.md", "states", head, rows, text)
    return complaints == 0
