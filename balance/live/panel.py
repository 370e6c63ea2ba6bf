"""The driver's panel.  It only calls the lab, which checks whatever a page sends."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import viser

from balance.live.desk import RANGES, bodies, safe_child
from balance.live.gain_sliders import GainSliders
from balance.live.keep import EXPORTS
from balance.live.messages import Pause, Speed, Step
from balance.live.replay import Replay, result_folders
from balance.results import load_recording

if TYPE_CHECKING:
    from balance.live.lab import Lab

HALF_LIMIT, LIMIT = 0.6, 1.0  # shares of the ankle limit at which the bar changes its colour


class Panel:
    """Controls of one page; gone when that page leaves or another panel takes its place."""

    def __init__(self, lab: Lab, client: viser.ClientHandle) -> None:
        self._lab, self._client, self._gui = lab, client, client.gui
        self._modal: Any = None
        self._bar: Any = None
        self._top = self._gui.add_folder("Replay" if lab.replay else "Time")
        with self._top:
            if lab.replay is not None:
                self._replay_controls(lab.replay)
            else:
                self._transport()
        self._tabs = self._gui.add_tab_group()
        if lab.replay is None:
            with self._tabs.add_tab("Push", viser.Icon.HAND_CLICK):
                self._push_tab()
            with self._tabs.add_tab("Law", viser.Icon.ADJUSTMENTS):
                self._law_tab()
            with self._tabs.add_tab("World", viser.Icon.WORLD):
                self._world_tab()
        with self._tabs.add_tab("View", viser.Icon.EYE):
            self._view_tab()
        with self._tabs.add_tab("Keep", viser.Icon.DEVICE_FLOPPY):
            self._keep_tab()

    def remove(self) -> None:
        """Take the panel off its page."""
        self.show_begin()
        self._top.remove()
        self._tabs.remove()

    # Small helpers: every callback runs in the lab's own thread.

    def _do(self, action: Callable[[], Any]) -> None:
        self._lab.do(lambda: (action(), None)[1])

    def _button(self, label: str, action: Callable[[], Any], **look: Any) -> Any:
        handle = self._gui.add_button(label, **look)
        handle.on_click(lambda _: self._do(action))
        return handle

    def _slider(self, name: str, then: Callable[[], Any] | None = None) -> Any:
        item = RANGES[name]
        handle = self._gui.add_slider(
            item.label,
            min=item.low,
            max=item.high,
            step=item.step,
            initial_value=self._lab.desk.numbers[name],
            hint=item.hint or None,
        )

        def changed() -> None:
            self._lab.desk.set(name, handle.value)
            if then is not None:
                then()

        handle.on_update(lambda _: self._do(changed))
        return handle

    def _list(self, name: str, label: str, value: str) -> Any:
        options = self._lab.desk.choices[name]
        handle = self._gui.add_dropdown(label, options, initial_value=value)

        def changed() -> None:
            self._lab.desk.choose(name, handle.value)
            self._lab.restart()

        handle.on_update(lambda _: self._do(changed))
        return handle

    # The parts.

    def _transport(self) -> None:
        lab = self._lab
        group = self._gui.add_button_group("", ("Pause", "Play", "Step", "Reset"))

        def pressed(label: str) -> None:
            if label == "Reset":
                lab.restart()
            elif label == "Step":
                lab.send(Pause(True))
                lab.send(Step(1))
            else:
                lab.send(Pause(label == "Pause"))

        group.on_click(lambda event: self._do(lambda: pressed(event.target.value)))
        self._slider("speed", lambda: lab.send(Speed(lab.desk.numbers["speed"])))

    def _push_tab(self) -> None:
        lab, gui = self._lab, self._gui
        assert lab.running is not None
        robot = lab.running.robot
        self._body: Any = gui.add_dropdown(
            "Body",
            bodies(robot),
            initial_value=lab.desk.body or robot.push_body,
            hint="Or click a link of the robot.",
        )
        self._body.on_update(
            lambda _: self._do(lambda: lab.desk.choose_body(robot, self._body.value))
        )
        source = gui.add_dropdown(
            "Direction from", ("dial", "camera"), initial_value=("dial", "camera")[lab.from_camera]
        )
        source.on_update(
            lambda _: self._do(lambda: setattr(lab, "from_camera", source.value == "camera"))
        )
        self._slider("angle")
        self._slider("impulse")
        self._slider("duration")
        self._label = gui.add_html("")
        self._bar = gui.add_progress_bar(0.0)
        self._button(
            "Push", lambda: lab.push(self._client), icon=viser.Icon.ARROW_BIG_RIGHT, color="orange"
        )
        click = gui.add_checkbox("Push when a link is clicked", lab.push_on_click)
        click.on_update(lambda _: self._do(lambda: setattr(lab, "push_on_click", click.value)))
        with gui.add_folder("Pendulum", expand_by_default=False):
            for name in ("mass", "energy", "restitution"):
                self._slider(name)
            self._button("Pendulum hit", lambda: lab.push(self._client, pendulum=True))
        self._button(
            "The paper's push",
            lab.paper_push,
            icon=viser.Icon.REPEAT,
            hint="The push of the config: for toro_push 5 kg with 17.4 J at the hip, as in "
            "Garofalo2015.",
        )
        with gui.add_folder("Random gusts", expand_by_default=False):
            for name in ("gust_impulse", "gust_pause"):
                self._slider(name)
            gusts = gui.add_checkbox("Gusts", lab.gusts.on)
            gusts.on_update(lambda _: self._do(lambda: setattr(lab.gusts, "on", gusts.value)))

    def _law_tab(self) -> None:
        self._list("law", "Law", self._lab.desk.law)
        GainSliders(self._lab, self._gui)

    def _world_tab(self) -> None:
        lab = self._lab
        self._list("robot", "Robot", lab.desk.base.robot)
        self._list("engine", "Engine", lab.desk.engine)
        self._list("contact", "Contact", lab.desk.contact)
        self._list("state", "State of the base", lab.desk.state)
        for name in ("friction", "mass_error", "delay", "noise"):
            self._slider(name, lab.restart_soon)
        self._gui.add_html(_note("A change here begins a new session."))

    def _view_tab(self) -> None:
        theatre = self._lab.theatre
        dark = self._gui.add_checkbox("Dark theme", theatre.stage.theme.dark)
        dark.on_update(lambda _: self._do(lambda: self._lab.set_dark(bool(dark.value))))
        glass = self._gui.add_checkbox("Transparent robot", theatre.glass)
        glass.on_update(lambda _: self._do(lambda: theatre.set_glass(bool(glass.value))))
        for name, shown in theatre.shown.items():
            self._layer_box(name, shown)

    def _layer_box(self, name: str, shown: bool) -> None:
        theatre = self._lab.theatre
        box = self._gui.add_checkbox(name, shown)

        def changed() -> None:
            theatre.show_layers({**theatre.shown, name: bool(box.value)})

        box.on_update(lambda _: self._do(changed))

    def _keep_tab(self) -> None:
        lab, gui = self._lab, self._gui
        if lab.replay is None:
            name = gui.add_text("Name", "live")
            self._button("Save run", lambda: lab.save_run(name.value), icon=viser.Icon.FOLDER_PLUS)
            self._button(
                "Save config", lambda: lab.save_config(name.value), icon=viser.Icon.FILE_TEXT
            )
            gui.add_html(
                _note("Both hold the session since the last reset, with every push and gain.")
            )
        self._kept = gui.add_html("")
        self._shelf = gui.add_folder("Replay a result")
        self._offered: list[Any] = []
        self._offer()

    def _offer(self) -> None:
        """List the results that there are now."""
        for handle in self._offered:
            handle.remove()
        self._offered.clear()
        folders = result_folders(self._lab.results)
        with self._shelf:
            if not folders:
                self._offered.append(self._gui.add_html(_note("There is none yet.")))
                return
            choice = self._gui.add_dropdown("Result", folders, initial_value=folders[0])
            look = {"icon": viser.Icon.PLAYER_PLAY}
            replay = self._button("Replay", lambda: self._load(choice.value), **look)
            self._offered += [choice, replay]

    def _replay_controls(self, replay: Replay) -> None:
        lab, gui = self._lab, self._gui
        self._time: Any = gui.add_slider(
            "Time [s]",
            min=0.0,
            max=max(replay.duration, 0.01),
            step=0.01,
            initial_value=0.0,
        )

        def moved() -> None:
            replay.playing = False
            replay.seek(float(self._time.value))
            lab.theatre.history.clear()

        def touched(event: Any) -> None:
            if event.client is not None:  # a person, not the replay itself
                self._do(moved)

        self._time.on_update(touched)
        group = gui.add_button_group("", ("Pause", "Play"))
        group.on_click(
            lambda event: self._do(lambda: setattr(replay, "playing", event.target.value == "Play"))
        )
        speed = gui.add_slider("Speed", min=0.05, max=2.0, step=0.05, initial_value=1.0)
        speed.on_update(
            lambda _: self._do(
                lambda: setattr(replay, "speed", min(max(float(speed.value), 0.05), 2.0))
            )
        )
        kind = gui.add_dropdown("Export", EXPORTS, initial_value=EXPORTS[0])
        self._button("Export", lambda: lab.export(str(kind.value)), icon=viser.Icon.DOWNLOAD)
        if lab.physics is not None:
            self._button("Back to the simulation", lab.live_again)

    def _load(self, name: object) -> None:
        folder = safe_child(self._lab.results, name)
        recording = load_recording(folder, self._lab.robot_folders)
        self._lab.show_replay(Replay(recording, folder))

    # What the lab shows in it.

    def show_body(self, body: str) -> None:
        """Name the body that was clicked."""
        self._body.value = body

    def show_bar(self, share: tuple[float, float]) -> None:
        """The chosen impulse as a share of the ankle limit (N s)."""
        if self._bar is None:
            return
        part, limit = share
        self._bar.value = 100.0 * min(part, 1.0)
        self._bar.color = "green" if part < HALF_LIMIT else "yellow" if part < LIMIT else "red"
        text = f"{100 * part:.0f} % of the ankle limit, {limit:.1f} N s"
        if self._label.content != (content := _note(text)):
            self._label.content = content

    def show_begin(self) -> None:
        """A new session: what was said about the last one goes."""
        if self._modal is not None:
            self._modal.close()
            self._modal = None

    def show_end(self, text: str) -> None:
        """Say why the session is over, and offer to begin anew."""
        self._modal = self._gui.add_modal("The session is over")
        with self._modal:
            self._gui.add_html(f'<div style="padding:.4em .2em">{html.escape(text)}</div>')
            self._button("Reset", self._lab.restart, icon=viser.Icon.REFRESH)
            self._button("Look at it", self.show_begin)

    def show_kept(self, what: str, path: Path) -> None:
        """Say where something was written, and how to use it."""
        command = {"Config": f"balance run {path}", "Run": f"balance replay {path}"}.get(what)
        text = f"<b>{html.escape(what)}</b>: {html.escape(str(path))}"
        if command:
            text += f"<br><code>{html.escape(command)}</code>"
        self._kept.content = f'<div style="padding:.3em .9em;font-size:.85em">{text}</div>'
        self._offer()

    def show_replay_time(self, replay: Replay) -> None:
        """Move the slider with the replay."""
        if replay.playing and abs(float(self._time.value) - replay.time) > 0.05:
            self._time.value = round(replay.time, 2)


def _note(text: str) -> str:
    return (
        f'<div style="padding:.1em .9em .5em;font-size:.8em;opacity:.75">{html.escape(text)}</div>'
    )
