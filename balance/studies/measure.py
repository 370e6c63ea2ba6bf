"""What the machinery of studies costs: throughput, overhead, and memory over many runs."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from balance.config.studies import SweepConfig
from balance.studies.cluster import workers
from balance.studies.interface import Study
from balance.studies.runner import Runner
from balance.studies.store import StudyFolder
from balance.studies.sweep import Sweep

if TYPE_CHECKING:
    from distributed import Client

MB = 1e6


@dataclass(frozen=True)
class Memory:
    """Resident memory in MB after some runs: of the command with its scheduler, of a worker."""

    runs: int
    command: float
    worker: float


@dataclass(frozen=True)
class Cost:
    """A sweep on warm workers: ``elapsed_s`` from its first run handed out to its last row on disk.

    ``busy_s`` is the time within runs, all workers together; ``cpu_s`` the CPU time of these and
    ``command_cpu_s`` that of the command with its scheduler, which no other load changes much.
    """

    workers: int
    runs: int
    elapsed_s: float
    busy_s: float
    cpu_s: float
    command_cpu_s: float
    memory: tuple[Memory, ...] = ()

    @property
    def rate(self) -> float:
        """Runs per second."""
        return self.runs / self.elapsed_s

    @property
    def cpu_per_run_s(self) -> float:
        """CPU time of a run, with its share of what the command does."""
        return (self.cpu_s + self.command_cpu_s) / self.runs

    @property
    def overhead(self) -> float:
        """Time of the workers outside of runs, as a share of that within."""
        return self.workers * self.elapsed_s / self.busy_s - 1.0


def repeated(experiment: str, keys: Mapping[str, Any], count: int) -> SweepConfig:
    """A sweep of ``count`` equal runs: an experiment with dotted ``keys`` set, seeds 0, 1, ..."""
    seeds = {"type": "range", "key": "seed", "start": 0, "stop": count - 1, "step": 1}
    return SweepConfig.model_validate({"experiment": _tree(experiment, keys), "axes": [seeds]})


def pushes(count: int, energies_J: tuple[float, float], seed: int) -> SweepConfig:
    """A sweep of the paper's push from any side, with any energy of a range; ended when settled."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(-math.pi, math.pi, count).tolist()
    values = {
        "pushes.0.direction": [[math.cos(angle), math.sin(angle), 0.0] for angle in angles],
        "pushes.0.energy_J": rng.uniform(*energies_J, count).tolist(),
    }
    axes = [{"type": "list", "key": key, "values": of} for key, of in values.items()]
    tree = _tree("toro_push", {"pushes.0.time_s": 0.0})
    return SweepConfig.model_validate(
        {"experiment": tree, "axes": [{"type": "zip", "axes": axes}], "until_settled": True}
    )


def _tree(experiment: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    """An experiment with dotted ``keys`` set."""
    from balance.config import load_config

    return load_config(experiment, keys).model_dump(
        mode="json", exclude_none=True, exclude={"reference", "provenance"}
    )


def measure(config: SweepConfig, path: Path, count: int, every: int | None = None) -> Cost:
    """Run a sweep on ``count`` local workers; look at the memory after ``every`` few runs."""
    study = Sweep(config, path.name, path.name)
    with StudyFolder(path, study.kind, study.definition) as folder, workers(None, count) as client:
        client.run(_warm_up)
        study.resume(folder)
        watch = _Watch(client, every or len(study.design) + 1)
        first = study.next_task()
        assert first is not None
        began, cpu = time.perf_counter(), time.process_time()
        Runner(study, folder, client, watch).run(first)
        elapsed, command = time.perf_counter() - began, time.process_time() - cpu
        sums = Counter[str]()
        for row in folder.rows():
            sums.update({name: row[name] for name in ("wall_time_s", "cpu_time_s")})
    busy, runs = (sums[name] for name in ("wall_time_s", "cpu_time_s"))
    return Cost(count, len(study.design), elapsed, busy, runs, command, tuple(watch.memory))


def _warm_up() -> None:
    """Import on a worker what its first run would import."""
    import balance.experiment  # noqa: F401


class _Watch:
    """Notes the memory of the command and of its largest worker now and then."""

    def __init__(self, client: Client, every: int) -> None:
        import psutil  # type: ignore[import-untyped]

        self._own = psutil.Process()
        self._workers = [psutil.Process(pid) for pid in client.run(os.getpid).values()]
        self._every, self.memory = every, list[Memory]()

    def __call__(self, study: Study, _: int) -> None:
        runs = sum(study.counts.values())
        if runs // self._every > (self.memory[-1].runs // self._every if self.memory else 0):
            largest = max(worker.memory_info().rss for worker in self._workers)
            self.memory.append(Memory(runs, self._own.memory_info().rss / MB, largest / MB))
