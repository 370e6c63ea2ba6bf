"""Who drives: the first page that comes, and when it leaves, the one that came next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import viser

if TYPE_CHECKING:
    from balance.app.live.lab import Lab
    from balance.app.live.panel import Panel

WATCHING = (
    '<div style="padding:.8em 1em"><b>You are watching.</b><br>'
    "Another page drives; when it is closed, this one takes over.</div>"
)


class Drivers:
    """The driver has the only panel; nobody else has a control that could send anything."""

    def __init__(self, server: viser.ViserServer, lab: Lab) -> None:
        self._lab = lab
        self._waiting: list[viser.ClientHandle] = []
        self.client: viser.ClientHandle | None = None
        self.panel: Panel | None = None
        self._notes: dict[int, viser.GuiHtmlHandle] = {}
        server.on_client_connect(lambda client: lab.do(lambda: self._connected(client)))
        server.on_client_disconnect(lambda client: lab.do(lambda: self._disconnected(client)))

    def refresh(self) -> None:
        """Make the driver's panel anew, for another robot or mode."""
        if self.client is not None:
            self._give_panel(self.client)

    def _connected(self, client: viser.ClientHandle) -> None:
        self._notes[client.client_id] = client.gui.add_html(WATCHING)
        if self.client is None:
            self._give_panel(client)
        else:
            self._waiting.append(client)

    def _disconnected(self, client: viser.ClientHandle) -> None:
        self._notes.pop(client.client_id, None)
        if client in self._waiting:
            self._waiting.remove(client)
        if client is self.client:
            self.client = self.panel = None
            if self._waiting:
                self._give_panel(self._waiting.pop(0))

    def _give_panel(self, client: viser.ClientHandle) -> None:
        note = self._notes.pop(client.client_id, None)
        if note is not None:
            note.remove()
        if self.panel is not None:
            self.panel.remove()
            self.panel = None
        self.client = client
        self.panel = self._lab.make_panel(client)
