"""The driver's panel.  It only calls the lab, which checks whatever a page sends."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import viser

from balance.app.live.colours import ALARM
from balance.app.live.controls import Controls, note
from balance.app.live.gain_sliders import GainSliders
from balance.app.live.key_sliders import KeySliders
from balance.app.live.messages import Pause, Speed, Step
from balance.app.live.push_limits import Limits
from balance.app.live.push_tab import PushTab
from balance.app.live.ranges import WORLD
from balance.app.live.replay_controls import ReplayControls
from balance.app.live.robot_view import LOOKS
from balance.app.live.saving import SaveTab

if TYPE_CHECKING:
    from balance.app.live.lab import Lab


class Panel:
    """Controls of one page; gone when that page leaves or another panel takes its place."""

    def __init__(self, lab: Lab, client: viser.ClientHandle) -> None:
        self._lab, self._gui = lab, client.gui
        self._controls = Controls(lab, client)
        self._end: Any = None
        self._push: PushTab | None = None
        self._replay: ReplayControls | None = None
        self._top = self._gui.add_folder("Replay" if lab.replay else "Time")
        with self._top:
            if lab.replay is not None:
                self._replay = ReplayControls(self._controls, lab.replay)
            else:
                self._transport()
        self._tabs = self._gui.add_tab_group()
        if lab.replay is None:
            with self._tabs.add_tab("Push"):
                self._push = PushTab(self._controls)
            with self._tabs.add_tab("Law"):
                self._law_tab()
            with self._tabs.add_tab("World"):
                self._world_tab()
        with self._tabs.add_tab("View"):
            self._view_tab()
        with self._tabs.add_tab("Keep"):
            self._save_tab = SaveTab(self._controls)

    def remove(self) -> None:
        """Take the panel off its page."""
        self.show_begin()
        self._top.remove()
        self._tabs.remove()

    def _transport(self) -> None:
        lab, controls = self._lab, self._controls
        group = self._gui.add_button_group("Simulation", ("Pause", "Play", "Step", "Reset"))

        def pressed(label: str) -> None:
            if label == "Reset":
                lab.restart()
            elif label == "Step":
                lab.send(Pause(True))
                lab.send(Step(1))
            else:
                lab.send(Pause(label == "Pause"))

        group.on_click(lambda event: controls.do(lambda: pressed(event.target.value)))
        controls.slider("speed", lambda: lab.send(Speed(lab.settings.numbers["speed"])))

    def _law_tab(self) -> None:
        self._controls.world_list("law", "Law")
        if self._lab.actions.gains is not None:
            GainSliders(self._lab, self._gui)
        else:
            KeySliders(self._lab, self._gui)

    def _world_tab(self) -> None:
        for name, label in (
            ("robot", "Robot"),
            ("engine", "Engine"),
            ("contact", "Contact"),
            ("state", "State of the base"),
        ):
            self._controls.world_list(name, label)
        for name in WORLD:
            self._controls.world_slider(name)
        self._gui.add_html(note("A change here begins a new session."))

    def _view_tab(self) -> None:
        scene, controls = self._lab.scene, self._controls
        surroundings = scene.surroundings
        look = self._gui.add_dropdown("Robot", LOOKS, initial_value=scene.look)
        controls.on_touch(look, lambda: scene.set_look(look.value))
        controls.checkbox(
            "Follow the robot",
            surroundings.follow.on,
            partial(setattr, surroundings.follow, "on"),
        )
        controls.checkbox("Dark theme", surroundings.theme.dark, surroundings.set_dark)
        controls.checkbox("Floor and grid", surroundings.floor, surroundings.set_floor)
        for name, shown in scene.shown.items():
            controls.checkbox(name, shown, partial(scene.show_layer, name))

    # What the lab shows in it.

    def show_body(self, body: str) -> None:
        """Name the body that was clicked."""
        if self._push is not None:
            self._push.show_body(body)

    def show_bar(self, impulse: float, limits: Limits) -> None:
        """The chosen impulse (N s) beside what could be caught."""
        if self._push is not None:
            self._push.show_bar(impulse, limits)

    def show_settings(self) -> None:
        """Show what the settings say, after a choice that was taken back."""
        self._controls.show_settings()

    def show_saved(self, what: str, place: str) -> None:
        """Say where something was written."""
        self._save_tab.show_saved(what, place)

    def show_replay_time(self) -> None:
        """Move the time slider with the replay."""
        if self._replay is not None:
            self._replay.show_time()

    def show_begin(self) -> None:
        """A new session: what was said about the last one goes."""
        if self._end is not None:
            self._end.remove()
            self._end = None

    def show_end(self, title: str) -> None:
        """Say on top that the session is over, and offer to begin anew; nothing is covered."""
        self.show_begin()
        self._end = self._gui.add_folder(title, order=-1.0)
        with self._end:
            self._controls.button(
                "Begin anew", self._lab.restart, icon=viser.Icon.REFRESH, color=ALARM
            )
