"""The panel at the left edge: how the run is doing, its last seconds, and what the colours mean."""

from __future__ import annotations

import html
from collections.abc import Sequence

import viser

from balance.app.live.colours import ALARM, css
from balance.app.live.history import History
from balance.app.live.layers import LAYERS
from balance.app.live.plots import Plots

WIDTH_PX = 264  # beside the panel that drives, the robot is seen whole at 1024 x 700

HINTS = {
    "deadline misses": "Control steps that took longer on this machine than one control period. "
    "The simulation waits for them: they change nothing but its pace.",
    "control step": "Median time that the law took for one of the last 1000 control periods.",
    "real time": "Simulated seconds in one second.",
    "held by": "Ankles hold the CoM by moving the CoP, hips by leaning and swinging arms, "
    "steps by new places for the feet.",
    "steps": "Steps begun since the session did.",
    "of ankle limit": "The last push over what ankles alone can catch.",
}


class LeftPanel:
    """Seen by every page; the scene begins right of it, so it covers nothing."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server
        panel = server.gui.add_panel()
        self._run = panel.add_tab("Run", viser.Icon.ACTIVITY)
        with self._run:
            self._text = server.gui.add_html("")
        with panel.add_tab("Colours", viser.Icon.PALETTE):
            server.gui.add_html(key_html())
        panel.dock_left()
        panel.set_width(WIDTH_PX)
        self._shown = ""
        self._plots: Plots | None = None

    def use(self, soles: list[str]) -> None:
        """Make the plots anew for a robot with these soles."""
        if self._plots is not None:
            self._plots.remove()
        with self._run:
            self._plots = Plots(self._server, soles)

    def plot(self, history: History) -> None:
        """Show the last seconds."""
        if self._plots is not None:
            self._plots.draw(history)

    def show(self, cells: Sequence[tuple[str, str]], alarm: str) -> None:
        """Replace the figures, if they differ."""
        content = status_html(cells, alarm)
        if content != self._shown:
            self._shown = content
            self._text.content = content


def status_html(cells: Sequence[tuple[str, str]], alarm: str = "") -> str:
    """A table of figures; everything is escaped, for names come from files."""
    boxes = "".join(_box(label, value) for label, value in cells)
    grid = (
        '<div style="display:grid;grid-template-columns:repeat(2,1fr);gap:.25em .7em;'
        f'padding:.4em .8em .1em">{boxes}</div>'
    )
    if not alarm:
        return grid
    return (
        f'<div role="alert" style="margin:.5em .7em .2em;padding:.4em .6em;border-radius:.4em;'
        f"background:{css(ALARM, 0.13)};border-left:4px solid {css(ALARM)};"
        f'font-size:.8em;line-height:1.35">{html.escape(alarm)}</div>{grid}'
    )


def _box(label: str, value: str) -> str:
    hint = HINTS.get(label, "")
    mark = f' title="{html.escape(hint)}" style="cursor:help"' if hint else ""
    dotted = "text-decoration:underline dotted;text-underline-offset:.2em;" if hint else ""
    return (
        f'<div{mark}><div style="font-size:.64em;opacity:.65;text-transform:uppercase;'
        f'letter-spacing:.03em;{dotted}">{html.escape(label)}</div>'
        '<div style="font-size:.95em;font-weight:600;line-height:1.2;'
        f'font-variant-numeric:tabular-nums">{html.escape(value)}</div></div>'
    )


def key_html() -> str:
    """Colour and meaning of each layer."""
    lines = "".join(
        f'<div style="color:{css(layer.colour)};font-size:1.1em;line-height:1.2">'
        f"{layer.symbol}</div>"
        f'<div><b style="font-weight:600">{html.escape(name)}</b>'
        f'<span style="opacity:.7"> {html.escape(layer.meaning)}</span></div>'
        for name, (layer, _) in LAYERS.items()
    )
    return (
        '<div style="display:grid;grid-template-columns:1.2em 1fr;gap:.15em .4em;'
        f'padding:.5em .9em;font-size:.76em;line-height:1.35">{lines}</div>'
    )
