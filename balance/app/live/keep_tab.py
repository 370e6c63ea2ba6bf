"""The tab that saves sessions and lists results to replay."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import viser

from balance.app.live.controls import Controls, note
from balance.app.live.replay import result_folders


class KeepTab:
    """Save what is shown now, or replay what was saved before."""

    def __init__(self, controls: Controls) -> None:
        self._controls, self._gui = controls, controls.gui
        if controls.lab.replay is None:
            self._save()
        self._kept = self._gui.add_html("")
        self._shelf = self._gui.add_folder("Replay a result")
        self._offered: list[Any] = []
        self._offer()

    def _save(self) -> None:
        keeper, name = self._controls.lab.keeper, self._gui.add_text("Name", "live")
        self._controls.button(
            "Save run", lambda: keeper.save_run(name.value), icon=viser.Icon.FOLDER_PLUS
        )
        self._controls.button(
            "Save config", lambda: keeper.save_config(name.value), icon=viser.Icon.FILE_TEXT
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
        with self._shelf:
            if not folders:
                self._offered.append(self._gui.add_html(note("There is none yet.")))
                return
            choice = self._gui.add_dropdown("Result", folders, initial_value=folders[0])
            replay = self._controls.button(
                "Replay", lambda: lab.replay_result(choice.value), icon=viser.Icon.PLAYER_PLAY
            )
            self._offered += [choice, replay]

    def show_kept(self, what: str, place: str) -> None:
        """Say where something was written, and how to use it from where the lab was started."""
        running = self._controls.lab.running
        trust = " --trust" if running is not None and running.config.code else ""
        command = {"Config": f"balance run {place}{trust}", "Run": f"balance replay {place}"}.get(
            what
        )
        text = f"<b>{html.escape(what)}</b>: {html.escape(place)}"
        if command and Path(place).exists():
            text += f"<br><code>{html.escape(command)}</code>"
        style = "padding:.3em .9em;font-size:.85em;overflow-wrap:anywhere"
        self._kept.content = f'<div style="{style}">{text}</div>'
        self._offer()
