"""The tab from which the robot is pushed."""

from __future__ import annotations

from typing import Any

import viser

from balance.app.live.colours import ALARM, PUSH
from balance.app.live.controls import Controls, note
from balance.app.live.panel_settings import bodies
from balance.app.live.push_limits import Limits

SOURCES = ("dial", "camera")


class PushTab:
    """Body, direction and size of a push; pendulum, the config's push, gusts."""

    def __init__(self, controls: Controls) -> None:
        self._controls = controls
        self._body: Any = self._choose_body()
        self._choose_direction()
        for name in ("angle", "impulse", "duration"):
            controls.slider(name)
        self._label: Any = controls.gui.add_html("")
        self._bar: Any = controls.gui.add_progress_bar(0.0)
        actions, client = controls.lab.actions, controls.client
        icon = viser.Icon.ARROW_BIG_RIGHT
        controls.button("Push", lambda: actions.push(client), icon=icon, color=PUSH)
        controls.checkbox(
            "Push when a link is clicked",
            actions.push_on_click,
            lambda on: setattr(actions, "push_on_click", on),
        )
        controls.button(
            "The experiment's push",
            actions.paper_push,
            icon=viser.Icon.REPEAT,
            hint="The first one of its config; without any the paper's, 5 kg with 17.4 J at the "
            "hip, Garofalo2015.",
        )
        self._pendulum()
        self._gusts()

    def _choose_body(self) -> Any:
        lab, robot = self._controls.lab, self._controls.lab.shown_robot
        handle = self._controls.gui.add_dropdown(
            "Body",
            bodies(robot),
            initial_value=lab.settings.body_of(robot),
            hint="Or click a link of the robot.",
        )
        self._controls.on_touch(handle, lambda: lab.settings.choose_body(robot, handle.value))
        return handle

    def _choose_direction(self) -> None:
        actions = self._controls.lab.actions
        handle = self._controls.gui.add_dropdown(
            "Direction from", SOURCES, initial_value=SOURCES[actions.from_camera]
        )
        self._controls.on_touch(
            handle, lambda: setattr(actions, "from_camera", handle.value == "camera")
        )

    def _pendulum(self) -> None:
        controls = self._controls
        with controls.gui.add_folder("Pendulum", expand_by_default=False):
            for name in ("mass", "energy", "restitution"):
                controls.slider(name)
            actions, client = controls.lab.actions, controls.client
            controls.button("Pendulum hit", lambda: actions.push(client, pendulum=True))

    def _gusts(self) -> None:
        controls, gusts = self._controls, self._controls.lab.actions.gusts
        with controls.gui.add_folder("Random gusts", expand_by_default=False):
            for name in ("gust_impulse", "gust_pause"):
                controls.slider(name)
            controls.checkbox("Gusts", gusts.on, lambda on: setattr(gusts, "on", on))

    def show_body(self, body: str) -> None:
        """Name the body that was clicked."""
        self._body.value = body

    def show_bar(self, impulse: float, limits: Limits) -> None:
        """The chosen impulse (N s) beside what could be caught; red if no law could."""
        most = limits.recovery or limits.ankle
        self._bar.value = 100.0 * min(impulse / most, 1.0)
        self._bar.color = PUSH if impulse <= most else ALARM
        content = note(bar_text(impulse, limits))
        if self._label.content != content:
            self._label.content = content


def bar_text(impulse: float, limits: Limits) -> str:
    """The impulse as a share of what ankles alone, and what any law, could catch."""
    text = f"{100 * impulse / limits.ankle:.0f} % of the ankle limit, {limits.ankle:.1f} N s"
    if limits.recovery is None:
        return text
    most = limits.recovery
    share = f"{100 * impulse / most:.0f} % of what any law could recover without a step"
    text = f"{text}; {share}, {most:.1f} N s"
    return (
        text if limits.with_step is None else f"{text}, or with a step, {limits.with_step:.1f} N s"
    )
