"""What all parts of the panel are made of: buttons, sliders and lists that call the lab.

Callbacks come in threads of the web server; all that they do is done in the lab's own thread.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import viser

from balance.app.live.ranges import RANGES

if TYPE_CHECKING:
    from balance.app.live.lab import Lab


class Controls:
    """Makes the controls of one page."""

    def __init__(self, lab: Lab, client: viser.ClientHandle) -> None:
        self.lab, self.client, self.gui = lab, client, client.gui
        self._sliders: dict[str, Any] = {}
        self._lists: dict[str, Any] = {}

    def do(self, action: Callable[[], Any]) -> None:
        """Have something done by the lab."""
        self.lab.do(lambda: (action(), None)[1])

    def on_touch(self, handle: Any, action: Callable[[], Any]) -> None:
        """Do something when a person, not the lab itself, changes a value."""

        def updated(event: Any) -> None:
            if event.client is not None:
                self.do(action)

        handle.on_update(updated)

    def button(self, label: str, action: Callable[[], Any], **look: Any) -> Any:
        """A button that does ``action``."""
        handle = self.gui.add_button(label, **look)
        handle.on_click(lambda _: self.do(action))
        return handle

    def checkbox(self, label: str, value: bool, action: Callable[[bool], Any]) -> Any:
        """A box that does ``action`` with its new value."""
        handle = self.gui.add_checkbox(label, value)
        self.on_touch(handle, lambda: action(bool(handle.value)))
        return handle

    def slider(self, name: str, then: Callable[[], Any] | None = None) -> Any:
        """A slider for a number of the settings."""
        item = RANGES[name]
        handle = self.gui.add_slider(
            item.label,
            min=item.low,
            max=item.high,
            step=item.step,
            initial_value=self.lab.settings.numbers[name],
            hint=item.hint or None,
        )

        def changed() -> None:
            self.lab.settings.set(name, handle.value)
            if then is not None:
                then()

        self.on_touch(handle, changed)
        self._sliders[name] = handle
        return handle

    def world_slider(self, name: str) -> Any:
        """A slider for something that begins a new session."""
        return self.slider(name, self.lab.restart_soon)

    def world_list(self, name: str, label: str) -> Any:
        """A list of what can be chosen; a choice begins a new session."""
        settings = self.lab.settings
        handle = self.gui.add_dropdown(
            label, settings.choices[name], initial_value=settings.chosen(name)
        )

        def changed() -> None:
            settings.choose(name, handle.value)
            self.lab.restart()

        self.on_touch(handle, changed)
        self._lists[name] = handle
        return handle

    def show_settings(self) -> None:
        """Show what the settings say, after a choice that was taken back."""
        settings = self.lab.settings
        for name, handle in self._sliders.items():
            handle.value = settings.numbers[name]
        for name, handle in self._lists.items():
            handle.value = settings.chosen(name)


def note(text: str) -> str:
    """Small print."""
    return (
        f'<div style="padding:.1em .9em .5em;font-size:.8em;opacity:.75">{html.escape(text)}</div>'
    )
