"""Writing what a session or replay leaves behind, always inside the results folder."""

from __future__ import annotations

import contextlib
import os
from copy import copy
from pathlib import Path

from threadpoolctl import threadpool_limits

from balance.app.live.export import export_html
from balance.app.live.replay import Replay
from balance.app.live.running import Snapshot
from balance.app.live.safe_names import safe_child
from balance.app.live.stage import Theme
from balance.config import ExperimentConfig
from balance.errors import FileError, InputError
from balance.experiment import Experiment, Log
from balance.recordings.recording import Recording
from balance.recordings.results import config_text, free_folder, save_recording
from balance.simulation.plants.render import render_recording

FILMS = {"Film (.mp4)": "replay.mp4", "Film (.gif)": "replay.gif"}
PAGE = "Web page (.html)"
EXPORTS = (PAGE, *FILMS)


def recording_of(snapshot: Snapshot) -> Recording:
    """The recording of a session so far."""
    if snapshot.rows == 0:
        raise InputError("nothing has been simulated yet")
    experiment = Experiment(snapshot.config, snapshot.robot_folders)
    experiment.conflict = snapshot.conflict
    if snapshot.config.state == "estimated":
        # The errors of the estimate stay in the physics process; the repetition has the same.
        log = Log(snapshot.config, experiment.robot)
        with threadpool_limits(1):  # as in a run, to the last bit
            while log.rows < snapshot.rows and not experiment.advance(log):
                pass
    else:
        log = copy(snapshot.log)  # with a count of rows of its own: the session goes on
        log.rows = snapshot.rows
    return log.finish(experiment, snapshot.end, max(snapshot.busy_s, 1e-6))


def save_run(snapshot: Snapshot, results: Path, name: str) -> Path:
    """A normal result folder with figures."""
    from balance.plots import draw_run

    safe_child(results, name)
    folder = free_folder(results, name.strip() or "live")
    return save_recording(recording_of(snapshot), folder, draw=lambda r, p: draw_run(r, p))


def save_config(snapshot: Snapshot, results: Path, name: str) -> Path:
    """An experiment that ``balance run`` simulates to the very same states."""
    path = safe_child(results, name, ".yaml")
    count = 2
    while path.exists():
        path, count = safe_child(results, f"{name.strip() or 'live'}-{count}", ".yaml"), count + 1
    work = path.with_name(f".{path.name}.part")
    try:
        results.mkdir(parents=True, exist_ok=True)
        work.write_text(_commented(snapshot.config), encoding="utf-8")
        os.replace(work, path)  # whole or not at all
    except OSError as error:
        with contextlib.suppress(OSError):
            work.unlink(missing_ok=True)
        raise FileError(f"cannot write {path}: {error.strerror or error}") from None
    return path


def _commented(config: ExperimentConfig) -> str:
    changes = len(config.controller.gain_changes)
    note = f", {changes} changes of gains" if changes else ""
    return f"# A session of the live lab: {len(config.pushes)} pushes{note}.\n{config_text(config)}"


def export(replay: Replay, kind: str, theme: Theme, shown: dict[str, bool]) -> Path:
    """A film or a page of a recording, in its own folder."""
    if kind == PAGE:
        return export_html(replay.recording, replay.folder / "replay.html", theme, shown)
    if kind not in FILMS:
        raise InputError(f"a replay cannot be exported as '{kind}'")
    path = replay.folder / FILMS[kind]
    render_recording(replay.recording, path)
    return path
