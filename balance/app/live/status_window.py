"""The small window in the corner: how the simulation is doing, and what the colours mean."""

from __future__ import annotations

import html
from collections.abc import Sequence

import viser

from balance.app.live.layers import LAYERS


class StatusWindow:
    """A small window in the lower left corner of the scene."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._panel = server.gui.add_panel()
        with self._panel.add_tab("Status", viser.Icon.ACTIVITY):
            self._text = server.gui.add_html("")
        with self._panel.add_tab("Colours", viser.Icon.PALETTE):
            server.gui.add_html(key_html())
        self._panel.float(x=14, y=-14, width=236)
        self._shown = ""

    def show(self, cells: Sequence[tuple[str, str]], alarm: str) -> None:
        """Replace the text, if it differs."""
        content = status_html(cells, alarm)
        if content != self._shown:
            self._shown = content
            self._text.content = content


def status_html(cells: Sequence[tuple[str, str]], alarm: str) -> str:
    """A table of figures; everything is escaped, for names come from files."""
    boxes = "".join(
        '<div><div style="font-size:.68em;opacity:.65;text-transform:uppercase;'
        f'letter-spacing:.04em">{html.escape(label)}</div>'
        f'<div style="font-size:1.02em;font-weight:600;font-variant-numeric:tabular-nums">'
        f"{html.escape(value)}</div></div>"
        for label, value in cells
    )
    grid = (
        '<div style="display:grid;grid-template-columns:repeat(2,1fr);gap:.35em .8em;'
        f'padding:.5em .9em">{boxes}</div>'
    )
    if not alarm:
        return grid
    return (
        grid + '<div style="margin:0 .7em .7em;padding:.5em .7em;border-radius:.4em;'
        'background:#D55E0022;border-left:4px solid #D55E00;font-size:.88em">'
        f"{html.escape(alarm)}</div>"
    )


def key_html() -> str:
    """Colour and meaning of each layer."""
    lines = "".join(
        f'<div style="color:rgb{layer.colour};font-size:1.1em;line-height:1.2">{layer.symbol}</div>'
        f'<div><b style="font-weight:600">{html.escape(name)}</b>'
        f'<span style="opacity:.7"> {html.escape(layer.meaning)}</span></div>'
        for name, (layer, _) in LAYERS.items()
    )
    return (
        '<div style="display:grid;grid-template-columns:1.2em 1fr;gap:.15em .4em;'
        f'padding:.5em .9em;font-size:.76em;line-height:1.35">{lines}</div>'
    )
