"""Writing what a session or replay leaves behind, always inside the results folder."""

from __future__ import annotations

from copy import copy
from pathlib import Path

from threadpoolctl import threadpool_limits

from balance.app.live.export import export_html
from balance.app.live.replay import Replay
from balance.app.live.running import Snapshot
from balance.app.live.safe_names import safe_child
from balance.app.live.stage import Theme
from balance.config import ExperimentConfig
from balance.errors import InputError
from balance.experiment import Experiment
from balance.recordings.log import Log
from balance.recordings.outputs import RUN, claim_free
from balance.recordings.recording import Recording
from balance.recordings.results import config_text, fill
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
    return experiment.recording(log, snapshot.end, max(snapshot.busy_s, 1e-6))


def save_run(snapshot: Snapshot, results: Path, name: str) -> Path:
    """A normal result folder with figures."""
    from balance.plots import draw_run

    with claim_free(safe_child(results, name), RUN) as output:
        return fill(output, recording_of(snapshot), lambda r, p: draw_run(r, p))


def save_config(snapshot: Snapshot, results: Path, name: str) -> Path:
    """An experiment that ``balance run`` simulates to the very same states."""
    with claim_free(safe_child(results, name, ".yaml"), None) as output:
        with output.filling() as file:
            file.write_text(_commented(snapshot.config), encoding="utf-8")
        return output.path


def _commented(config: ExperimentConfig) -> str:
    changes = len(config.controller.gain_changes)
    note = f", {changes} changes of gains" if changes else ""
    return f"# A session of the live lab: {len(config.pushes)} pushes{note}.\n{config_text(config)}"


def export(replay: Replay, kind: str, theme: Theme, shown: dict[str, bool]) -> Path:
    """A film or a page of a recording, in its own folder, beside those that are there."""
    if kind not in EXPORTS:
        raise InputError(f"a replay cannot be exported as '{kind}'")
    with claim_free(replay.folder / FILMS.get(kind, "replay.html"), None) as output:
        with output.filling() as file:
            if kind == PAGE:
                export_html(replay.recording, file, theme, shown)
            else:
                render_recording(replay.recording, file)
        return output.path
