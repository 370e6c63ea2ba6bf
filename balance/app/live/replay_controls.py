"""The controls of a replay: time slider, speed, export."""

from __future__ import annotations

from typing import Any

import viser

from balance.app.live.controls import Controls
from balance.app.live.replay import Replay
from balance.app.live.saving import EXPORTS

SLOWEST, FASTEST = 0.05, 2.0
VISIBLE_S = 0.05  # by which the time must differ before the slider is moved


class ReplayControls:
    """Where in a recording to be, and what to make of it."""

    def __init__(self, controls: Controls, replay: Replay) -> None:
        self._controls, self._replay = controls, replay
        self._time = self._time_slider()
        group = controls.gui.add_button_group("Playback", ("Pause", "Play"))
        group.on_click(
            lambda event: controls.do(
                lambda: setattr(replay, "playing", event.target.value == "Play")
            )
        )
        self._speed_slider()
        kind = controls.gui.add_dropdown("Export", EXPORTS, initial_value=EXPORTS[0])
        lab = controls.lab
        controls.button(
            "Export", lambda: lab.saver.export(str(kind.value)), icon=viser.Icon.DOWNLOAD
        )
        if lab.physics is not None:
            controls.button("Back to the simulation", lab.restart)

    def _time_slider(self) -> Any:
        replay, history = self._replay, self._controls.lab.scene.history
        handle: Any = self._controls.gui.add_slider(
            "Time [s]", min=0.0, max=max(replay.duration, 0.01), step=0.01, initial_value=0.0
        )

        def moved() -> None:
            replay.playing = False
            replay.seek(float(handle.value))
            handle.value = round(replay.time, 2)  # whatever the replay has put there meanwhile
            history.clear()

        self._controls.on_touch(handle, moved)
        return handle

    def _speed_slider(self) -> None:
        handle = self._controls.gui.add_slider(
            "Speed", min=SLOWEST, max=FASTEST, step=0.05, initial_value=1.0
        )

        def changed() -> None:
            self._replay.speed = min(max(float(handle.value), SLOWEST), FASTEST)

        self._controls.on_touch(handle, changed)

    def show_time(self) -> None:
        """Move the slider with the replay."""
        replay = self._replay
        if replay.playing and abs(float(self._time.value) - replay.time) > VISIBLE_S:
            self._time.value = round(replay.time, 2)
