"""Small things that several tests of the live lab need."""

from __future__ import annotations

from pathlib import Path

import balance
from balance.app.live.running import Snapshot
from balance.app.live.session import repeatable
from balance.experiment import Experiment, Log
from balance.recordings.verdict import RunEnd


def short_recording(duration_s: float = 0.35) -> balance.Recording:
    """The paper's push, hit at 0.05 s."""
    overrides = {"duration_s": duration_s, "pushes.0.time_s": 0.05}
    return balance.run(balance.load_config("toro_push", overrides))


def snapshot(rows: int = 60) -> Snapshot:
    """A session that has just begun, pushed at 0.02 s."""
    overrides = {"duration_s": 0.5, "pushes.0.time_s": 0.02}
    config = balance.load_config("toro_push", overrides)
    experiment = Experiment(config)
    log = Log(config, experiment.robot)
    while log.rows < rows:
        experiment.advance(log)
    config = repeatable(config, rows)
    return Snapshot(config, log, rows, RunEnd(), 0.1, ())


def names_below(folder: Path) -> set[str]:
    """Names of everything right below a folder."""
    return {path.name for path in folder.iterdir()}
