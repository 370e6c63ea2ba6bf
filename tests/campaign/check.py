"""Everything that is asked of one drawn experiment, as a row of a table."""

from __future__ import annotations

import time
import traceback
from typing import Any

from campaign.comparisons import differences, distance, mirror_faults, mirrored
from campaign.draw import Drawn
from campaign.invariants import complaints, measures
from campaign.trial import ENGINES, Run, run

KINDS = ("repeated", "mirrored", "halved")
"""What an experiment is compared with besides the other engine, in turns."""
COMPARED = 8
"""Every so many experiments are run a third time for that; the others in both engines alone."""


def turn_of(index: int) -> int | None:
    """With what the experiment of a number is compared: a turn, or None."""
    return None if index % COMPARED else index // COMPARED


def check(drawn: Drawn, turn: int | None) -> dict[str, Any]:
    """Outcomes, complaints and disagreements; ``turn`` says with what else it is compared."""
    row: dict[str, Any] = {"robot": drawn.tree["robot"], "law": drawn.tree["controller"]["law"]}
    row |= {"complaints": [], "kind": "" if turn is None else KINDS[turn % 3]}
    row |= {"step_s": drawn.tree["plant"]["step_s"], "disagrees": None, "halved": None}
    began = time.process_time()
    try:
        _check(drawn, turn, row)
    except Exception:  # noqa: BLE001 - whatever it is, no experiment may raise it
        row["complaints"].append(f"exception: {traceback.format_exc(limit=-4)}")
    return row | {"cpu_s": round(time.process_time() - began, 2)}


def _check(drawn: Drawn, turn: int | None, row: dict[str, Any]) -> None:
    runs = {engine: run(drawn, engine) for engine in ENGINES}
    for engine, one in runs.items():
        row[engine], row[f"{engine}_seen"] = one.outcome, measures(one)
        row["complaints"] += [f"{engine}: {what}" for what in complaints(one)]
    if (first := runs["pinocchio"]).refusal:
        row["refusal"] = first.refusal
        if not runs["mujoco"].refusal:
            row["complaints"].append("pinocchio alone refuses it")
        return
    if row["pinocchio"] != row["mujoco"]:
        row["disagrees"] = distance(drawn, {engine: one.outcome for engine, one in runs.items()})
    if turn is not None:
        _compare(drawn, row, runs[ENGINES[turn // 3 % 2]])


def _compare(drawn: Drawn, row: dict[str, Any], first: Run) -> None:
    if row["kind"] == "repeated":
        row["complaints"] += differences(first, run(drawn, first.engine))
    elif row["kind"] == "mirrored":
        if image := mirrored(drawn):
            row["complaints"] += mirror_faults(first, run(image, first.engine))
        else:
            row["kind"] = ""
    else:
        keys = {"plant.step_s": 0.5 * drawn.tree["plant"]["step_s"]}
        half = run(drawn, first.engine, keys)
        if half.outcome != first.outcome:
            changed = distance(drawn, {first.engine: first.outcome})
            row["halved"] = [first.engine, first.outcome, half.outcome, *changed]
