"""Saving sessions and exporting replays, in the background, always inside the results folder."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import viser
from threadpoolctl import threadpool_limits

from balance.app.live.controls import Controls, note
from balance.app.live.export import export_html
from balance.app.live.replay import Replay, result_folders
from balance.app.live.running import Snapshot
from balance.app.live.surroundings import Theme
from balance.config import ExperimentConfig
from balance.errors import BalanceError, FileError, InputError
from balance.experiment import Experiment
from balance.recordings.log import Log
from balance.recordings.outputs import RUN, claim_free
from balance.recordings.recording import Recording
from balance.recordings.results import config_text, fill
from balance.simulation.plants.render import render_recording

if TYPE_CHECKING:
    from balance.app.live.lab import Lab

FILMS = {"Film (.mp4)": "replay.mp4", "Film (.gif)": "replay.gif"}
PAGE = "Web page (.html)"
EXPORTS = (PAGE, *FILMS)

SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")

# A slash that neither divides (1/s) nor belongs to an address (http://), and what follows it.
_ABSOLUTE = re.compile(r"(?<![\w/.:<~)\]])/(?:[^\s/'\"<>:;,()]+/+)*([^\s/'\"<>:;,()]+)")


def safe_child(folder: Path, name: object, suffix: str = "") -> Path:
    """``folder/name``; a name that could leave the folder, or is odd in any way, is refused."""
    text = str(name).strip() or "live"
    if not SAFE_NAME.fullmatch(text):
        raise FileError(
            f"'{text[:60]}' is no name for a result; use letters, digits, '-' and '_', at most 60"
        )
    return folder / f"{text}{suffix}"


def without_folders(text: str, folders: Iterable[Path] = ()) -> str:
    """``text`` as a page may see it: of an absolute path only its end.

    Paths below one of ``folders``, or where the command was started, are given from there on; of
    all others the name is left.
    """
    known = {str(folder.absolute()).rstrip("/") for folder in (*folders, Path.cwd(), Path.home())}
    for folder in sorted(known - {""}, key=len, reverse=True):
        text = text.replace(f"{folder}/", "")
    return _ABSOLUTE.sub(r"\1", text)


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
    more = f", {changes} changes of gains" if changes else ""
    return f"# A session of the live lab: {len(config.pushes)} pushes{more}.\n{config_text(config)}"


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


class Saver:
    """One thread that writes; the simulation and the page go on meanwhile."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._worker = ThreadPoolExecutor(1, "balance-saving")

    def close(self) -> None:
        """Wait for what is being written."""
        self._worker.shutdown(wait=True)

    def save_run(self, name: str) -> None:
        """Write a result folder of the session since the last reset."""
        snapshot, results = self._lab.snapshot(), self._lab.results
        if snapshot is not None:
            self._write("Run", lambda: save_run(snapshot, results, name))

    def save_config(self, name: str) -> None:
        """Write the experiment that repeats the session since the last reset."""
        snapshot, results = self._lab.snapshot(), self._lab.results
        if snapshot is not None:
            self._write("Config", lambda: save_config(snapshot, results, name))

    def export(self, kind: str) -> None:
        """Write the replay as a film or a page."""
        replay, scene = self._lab.replay, self._lab.scene
        if replay is not None:
            theme, shown = scene.surroundings.theme, dict(scene.shown)
            self._write(kind, lambda: export(replay, kind, theme, shown))

    def _write(self, what: str, write: Callable[[], Path]) -> None:
        lab = self._lab

        def work() -> None:
            try:
                path = write()
            except BalanceError as error:
                self._failed(what, str(error))
            except Exception as error:  # noqa: BLE001  say so, and go on
                self._failed(what, f"{type(error).__name__}: {error}")
            else:
                lab.do(lambda: self._saved(what, path))

        lab.say(f"Saving: {what.lower()}", "This takes a moment.", "blue", 3.0)
        self._worker.submit(work)

    def _failed(self, what: str, why: str) -> None:
        self._lab.do(lambda: self._lab.say(f"{what} was not saved", why, "red"))

    def _saved(self, what: str, path: Path) -> None:
        self._lab.say(f"{what} saved", str(path), "green")
        if (panel := self._lab.drivers.panel) is not None:
            panel.show_saved(what, self._lab.public(str(path)))


class SaveTab:
    """Save what is shown now, or replay what was saved before."""

    def __init__(self, controls: Controls) -> None:
        self._controls, self._gui = controls, controls.gui
        if controls.lab.replay is None:
            self._save()
        self._saved = self._gui.add_html("")
        self._results = self._gui.add_folder("Replay a result")
        self._offered: list[Any] = []
        self._offer()

    def _save(self) -> None:
        saver, name = self._controls.lab.saver, self._gui.add_text("Name", "live")
        self._controls.button(
            "Save run", lambda: saver.save_run(name.value), icon=viser.Icon.FOLDER_PLUS
        )
        self._controls.button(
            "Save config", lambda: saver.save_config(name.value), icon=viser.Icon.FILE_TEXT
        )
        self._gui.add_html(
            note("Both hold the session since the last reset, with every push and gain.")
        )

    def _offer(self) -> None:
        """List the results that there are now."""
        for handle in self._offered:
            handle.remove()
        self._offered.clear()
        lab = self._controls.lab
        folders = result_folders(lab.results)
        with self._results:
            if not folders:
                self._offered.append(self._gui.add_html(note("There is none yet.")))
                return
            choice = self._gui.add_dropdown("Result", folders, initial_value=folders[0])
            replay = self._controls.button(
                "Replay", lambda: lab.replay_result(choice.value), icon=viser.Icon.PLAYER_PLAY
            )
            self._offered += [choice, replay]

    def show_saved(self, what: str, place: str) -> None:
        """Say where something was written, and how to use it from where the lab was started."""
        running = self._controls.lab.running
        trust = " --trust" if running is not None and running.config.code else ""
        commands = {"Config": f"balance run {place}{trust}", "Run": f"balance replay {place}"}
        command = commands.get(what)
        text = f"<b>{html.escape(what)}</b>: {html.escape(place)}"
        if command and Path(place).exists():
            text += f"<br><code>{html.escape(command)}</code>"
        style = "padding:.3em .9em;font-size:.85em;overflow-wrap:anywhere"
        self._saved.content = f'<div style="{style}">{text}</div>'
        self._offer()
