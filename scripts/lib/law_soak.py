"""Every law stands and is pushed for long, below 70 % of its own measured limit, as it sees itself.

Bodies touch, the state is estimated from the default sensors.  What was run stays in a file: a call
that was stopped goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from lib.push_soak import EVERY_S, LENGTH_S, MOST, MOST_ERRORS, MOST_GROWTH_MB, drift, push_soak
from lib.tables import ROOT, stamp, write_table

import balance
from balance.recordings.metrics import ankle_limit
from balance.recordings.settling import UntilSettled

LOG = ROOT / "results" / "soak" / "laws.jsonl"
WORLD: dict[str, Any] = {
    "state": "estimated",
    "sensors": {"preset": "default"},
    "pushes": [],
    "seed": 1,
}
CONFIG, AZIMUTHS, HALVINGS, TOP = "toro_damped", 8, 4, 1.6
KEPT = ("gains", "contact_return")
"""Keys of the law of ``CONFIG`` that others take over, where they have them."""


def law_keys(law: str) -> dict[str, Any]:
    """The experiment of a law: gains of ``CONFIG`` wherever it has such."""
    from balance.config.sections import law_section

    own = balance.load_config(CONFIG).controller.model_dump(mode="json", exclude_unset=True)
    known = law_section({"law": law}).model_fields
    section = {"law": law} | {key: own[key] for key in KEPT if key in known}
    return WORLD | {"controller": section}


def measured_limits(law: str) -> list[float]:
    """Largest recovered push at each azimuth, as a share of the ankle limit, by halving."""
    robot, keys = balance.load_robot("toro"), law_keys(law)
    found = []
    for index in range(AZIMUTHS):
        angle = 2.0 * np.pi * index / AZIMUTHS
        direction = [float(np.cos(angle)), float(np.sin(angle)), 0.0]
        whole = ankle_limit(robot, np.array(direction))
        push = {"type": "half_sine", "duration_s": LENGTH_S, "time_s": 0.5, "direction": direction}
        low, high = 0.0, TOP
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            changes = keys | {"pushes": [push | {"impulse_Ns": middle * whole}]}
            config = balance.load_config(CONFIG, changes)
            outcome = balance.run(config, until=UntilSettled()).summary()["outcome"]
            low, high = (middle, high) if outcome == "recovered" else (low, middle)
        found.append(low)
    return found


def at_azimuth(limits: Sequence[float], angle: float) -> float:
    """The smaller of the limits of the two neighbours of an azimuth."""
    place = angle / (2.0 * np.pi) * len(limits)
    first = int(place) % len(limits)
    return min(limits[first], limits[(first + 1) % len(limits)])


def soak_laws(seconds: float, laws: Sequence[str], seed: int) -> bool:
    """Soak the laws that were not yet for so long; whether nothing fell, drifted or grew."""
    LOG.parent.mkdir(parents=True, exist_ok=True)
    done = {(one["law"], one["seconds"], one["seed"]) for one in logged()}
    for law in laws:
        if (law, seconds, seed) not in done:
            limits = measured_limits(law)
            row = {"law": law, "seconds": seconds, "seed": seed, "limits": limits}
            if min(limits) > 0.0:
                row |= soaked(law, limits, seconds, seed)
            with open(LOG, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(row, flush=True)
    return write_laws(seconds, seed)


def soaked(law: str, limits: Sequence[float], seconds: float, seed: int) -> dict[str, Any]:
    """What came of the soak of a law."""

    def largest(angle: float) -> float:
        return MOST * at_azimuth(limits, angle)

    found = push_soak(CONFIG, seconds, seed, largest, law_keys(law))
    tenth = len(found.memory_mb) // 10
    row: dict[str, Any] = {
        "fell_at": found.fell_at,
        "pushes": len(found.pushes),
        "grown_mb": float(found.memory_mb[-1] - found.memory_mb[tenth]),
        "feet_mm": [1e3 * float(found.feet.min()), 1e3 * float(found.feet.max())],
    }
    if found.fell_at is None:
        moved, error = drift(found.postures)
        row["errors"] = float((np.abs(moved) / error).max())
    return row


def logged() -> list[dict[str, Any]]:
    """Rows of earlier calls."""
    path = Path(LOG)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def write_laws(seconds: float, seed: int) -> bool:
    """The table of all laws so far; whether each is as promised."""
    rows, good = [], True
    for one in logged():
        if (one["seconds"], one["seed"]) != (seconds, seed):
            continue
        least, most = min(one["limits"]), max(one["limits"])
        head = [one["law"], f"{least:.2f} to {most:.2f}"]
        if "pushes" not in one:
            rows.append([*head, "none: a limit is zero", "", "", "", ""])
            continue
        fell, errors = one["fell_at"], one.get("errors")
        good &= fell is None and errors < MOST_ERRORS and one["grown_mb"] < MOST_GROWTH_MB
        rows.append(
            [
                *head,
                f"{one['pushes'] * EVERY_S:g} s",
                "none" if fell is None else f"at {fell:.1f} s",
                "" if errors is None else f"{errors:.1f}",
                f"{one['feet_mm'][0]:.0f} to {one['feet_mm'][1]:.0f} mm",
                f"{one['grown_mb']:.2f} MB",
            ]
        )
    head = [
        "law", "own limit, of the ankle limit", "simulated", "fall",
        "largest drift, standard errors", "feet apart", "memory",
    ]  # fmt: skip
    text = f"Seed {seed}. {stamp('scripts/soak laws')}"
    write_table("docs/robustness.md", "law_soak", head, rows, text)
    return good
