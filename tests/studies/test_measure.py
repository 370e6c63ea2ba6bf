"""What is said about the cost of the machinery."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from balance.recordings.settling import UntilSettled
from balance.studies.measure import Cost, _Watch, pushes, repeated
from balance.studies.sweep import Sweep


def test_overhead_is_what_workers_do_not_spend_in_runs() -> None:
    cost = Cost(workers=2, runs=30, elapsed_s=15.0, busy_s=24.0, cpu_s=18.0, command_cpu_s=3.0)
    assert cost.rate == pytest.approx(2.0)
    assert cost.overhead == pytest.approx((2 * 15.0 - 24.0) / 24.0)
    assert cost.cpu_per_run_s == pytest.approx(0.7)


def test_repeated_runs_differ_in_their_seed_alone() -> None:
    sweep = Sweep(repeated("toro_push", {"duration_s": 0.25, "pushes": []}, 5), "cost", "cost")
    tasks = [task for _ in range(5) if (task := sweep.next_task())]
    assert sweep.next_task() is None
    assert [task.config["seed"] for task in tasks] == [0, 1, 2, 3, 4]
    assert all({**task.config, "seed": 0} == tasks[0].config for task in tasks)
    assert tasks[0].config["duration_s"] == 0.25


def test_pushes_come_from_everywhere_and_end_when_settled() -> None:
    sweep = Sweep(pushes(40, (5.0, 25.0), seed=1), "cost", "cost")
    tasks = [task for _ in range(40) if (task := sweep.next_task())]
    found = [task.config["pushes"][0] for task in tasks]
    assert all(5.0 < push["energy_J"] < 25.0 for push in found)
    quarters = {(push["direction"][0] > 0, push["direction"][1] > 0) for push in found}
    assert len(quarters) == 4
    assert all(task.until == UntilSettled() for task in tasks)


def test_memory_is_looked_at_every_so_many_runs() -> None:
    client: Any = SimpleNamespace(run=lambda function: {"here": function()})
    watch, study = _Watch(client, 10), SimpleNamespace(counts=Counter())
    held = []
    for done in (3, 9, 12, 14, 31, 40):
        study.counts["recovered"] = done
        held.append(bytearray(20_000_000))
        watch(study, 1)  # type: ignore[arg-type]
    assert [found.runs for found in watch.memory] == [12, 31, 40]
    first, last = watch.memory[0], watch.memory[-1]
    assert first.command == first.worker  # the only worker is this process
    assert last.command - first.command > 50.0  # three more pieces of 20 MB
