"""A random push every 3 s, below 70 % of the ankle limit, for as long as one likes; twice."""

from __future__ import annotations

import hashlib
import math
import mmap
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from lib.tables import stamp, write_table
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import balance
from balance.experiment import Experiment
from balance.recordings.falls import lost_posture
from balance.recordings.metrics import ankle_limit
from balance.recordings.system_calls import peak_memory_MB
from balance.robots import Robot
from balance.simulation.plants.interface import BodyImpulse

Array = NDArray[np.float64]

EVERY_S, LENGTH_S, MOST = 3.0, 0.02, 0.7
CONFIG, PAPER = "toro_damped", "toro_side"
LOOSE = {"controller.contact_return": 0.0}
BLOCKS = 20
CREEPING_S = 300.0  # enough to see the feet creep apart
LEAST_S = 2 * BLOCKS * EVERY_S
MOST_ERRORS, MOST_GROWTH_MB = 5.0, 5.0  # chance has one coordinate beyond in 300 runs


@dataclass(frozen=True)
class Soak:
    """What came of a soak: when it fell (None: never); a posture and memory for each push."""

    fell_at: float | None
    postures: Array
    """Mean configuration over the time of each push, (n, nq)."""
    memory_mb: Array
    pushes: Array
    """Sizes as shares of the ankle limit, (n,)."""
    feet: Array
    """How much further apart the soles are than at first, horizontally, after each push, m."""
    fingerprints: list[str]
    """Of all states after a push up to each one."""


def push_soak(
    config: str,
    seconds: float,
    seed: int,
    largest: Callable[[float], float] = lambda angle: MOST,
    changes: Mapping[str, Any] | None = None,
) -> Soak:
    """Stand and be pushed; the state after every push goes into the fingerprint.

    ``largest`` gives the largest push at an azimuth, as a share of the ankle limit; ``changes`` are
    further keys of the experiment.
    """
    changes = {**(changes or {}), "pushes": [], "duration_s": 1.0}
    experiment = Experiment(balance.load_config(config, changes))
    plant, law, robot = experiment.plant, experiment.controller, experiment.robot
    rng, dt = np.random.default_rng(seed), plant.dt
    each, height = round(EVERY_S / dt), float(robot.q_nominal[2])
    digest, fell_at = hashlib.sha256(), None
    postures, memory, sizes, feet, fingerprints = [], [], [], [], []
    apart = _feet_apart(robot, plant.q)
    with threadpool_limits(1), suppress(KeyboardInterrupt):
        while fell_at is None and len(sizes) < round(seconds / EVERY_S):
            angle = rng.uniform(0.0, 2.0 * math.pi)
            direction = np.array([math.cos(angle), math.sin(angle), 0.0])
            sizes.append(rng.uniform(0.0, largest(angle)))
            vector = sizes[-1] * ankle_limit(robot, direction) * direction
            total = np.zeros(robot.model.nq)
            for i in range(each):
                part = share(i * dt, (i + 1) * dt)
                push = [BodyImpulse(robot.push_body, np.zeros(3), part * vector)] if part else []
                now = (len(sizes) - 1) * EVERY_S + i * dt
                seen = experiment.perception.see(plant.q, plant.v, now)
                plant.step(law.step(*seen, now).torques, push)
                total += plant.q
                if lost_posture(plant.q, height):
                    fell_at = now
                    break
            experiment.perception.forget()
            digest.update(plant.q.tobytes() + plant.v.tobytes())
            postures.append(total / each)
            memory.append(_memory_mb())
            feet.append(_feet_apart(robot, plant.q) - apart)
            fingerprints.append(digest.hexdigest())
    made = np.array(postures), np.array(memory), np.array(sizes[: len(postures)])
    return Soak(fell_at, *made, np.array(feet), fingerprints)


def _feet_apart(robot: Robot, q: Array) -> float:
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    left, right = (sole.pose(data).translation[:2] for sole in robot.soles)
    return float(np.linalg.norm(left - right))


def share(begin: float, end: float) -> float:
    """Part of the impulse of half a sine of ``LENGTH_S`` that falls between two times."""
    a, b = (math.pi * min(t / LENGTH_S, 1.0) for t in (begin, end))
    return 0.5 * (math.cos(a) - math.cos(b))


def _memory_mb() -> float:
    """Memory of this process now; where the system does not tell, the most so far."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        return int(pages.read_text().split()[1]) * mmap.PAGESIZE / 1e6
    return peak_memory_MB()


def drift(postures: Array) -> tuple[Array, Array]:
    """Mean of the second half less that of the first, and its standard error, per coordinate.

    Means of ``BLOCKS`` long stretches are compared: those of one push after the other are not
    independent, because the robot still sways from the one before.
    """
    means = np.array([part.mean(axis=0) for part in np.array_split(postures, BLOCKS)])
    halves = means[: BLOCKS // 2], means[BLOCKS // 2 :]
    errors = [half.var(axis=0, ddof=1) / len(half) for half in halves]
    return halves[1].mean(axis=0) - halves[0].mean(axis=0), np.sqrt(errors[0] + errors[1])


def soak_pushes(seconds: float, seed: int) -> bool:
    """Soak twice with the same seed; whether nothing fell, drifted, grew or differed.

    Ctrl-C ends it with what there is so far.
    """
    heard = signal.SIGINT, signal.default_int_handler
    with ProcessPoolExecutor(2, initializer=signal.signal, initargs=heard) as pool:
        jobs = [pool.submit(push_soak, name, seconds, seed) for name in (CONFIG, CONFIG, PAPER)]
        creeping = min(seconds, CREEPING_S)
        jobs.append(pool.submit(push_soak, CONFIG, creeping, seed, changes=LOOSE))
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        found, again, paper, loose = (job.result() for job in jobs)
    moved, error = drift(found.postures)
    grown = found.memory_mb[-1] - found.memory_mb[len(found.memory_mb) // 10]
    both = min(len(found.pushes), len(again.pushes))
    same = found.fingerprints[:both] == again.fingerprints[:both]
    good = {
        "fall": found.fell_at is None,
        "drift": bool((np.abs(moved) < MOST_ERRORS * error).all()),
        "memory": grown < MOST_GROWTH_MB,
        "repetition": same,
    }
    count, sizes, late = len(found.pushes), found.pushes, found.memory_mb[-1]
    largest, relative = np.abs(moved[7:]).max(), (np.abs(moved) / error).max()
    rows: list[tuple[str, Any]] = [
        ("simulated", f"`{CONFIG}`: {count * EVERY_S:g} s, {count} pushes, seed {seed}"),
        ("pushes, share of the ankle limit", f"{sizes.min():.3f} to {sizes.max():.3f}"),
        ("fall", _fall(found)),
        ("mean base position, second half less first", _mm(moved[:3])),
        ("standard error of that", _mm(error[:3])),
        ("mean joint angles, second half less first, largest", f"{largest:.1e} rad"),
        ("largest of all these differences", f"{relative:.1f} standard errors"),
        ("feet closer and further apart than at first", _range(found.feet)),
        (f"the same in {creeping:g} s with `contact_return: 0`", _range(loose.feet)),
        ("memory, last less a tenth in", f"{grown:.2f} MB of {late:.0f} MB"),
        (f"{both * EVERY_S:g} s repeated with the same seed", "identical" if same else "DIFFERENT"),
        (f"fall with the gains of the paper's Table 1, `{PAPER}`", _fall(paper)),
    ]
    wrong = [name for name, fine in good.items() if not fine]
    verdict = f"Not as promised: {', '.join(wrong)}." if wrong else "As promised."
    text = f"{verdict} {stamp('scripts/soak push')}"
    write_table("docs/robustness.md", "soak", ["quantity", "value"], rows, text)
    return not wrong


def _mm(vector: Array) -> str:
    return ", ".join(f"{1e3 * x:.2f}" for x in vector) + " mm"


def _range(lengths: Array) -> str:
    return f"{1e3 * lengths.min():.1f} to {1e3 * lengths.max():.1f} mm"


def _fall(found: Soak) -> str:
    return "none" if found.fell_at is None else f"at {found.fell_at:.3f} s"
