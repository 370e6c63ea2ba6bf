"""Everything that all pages see: stage, robot, layers, plots, and the corner with the figures."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

import viser

from balance.controllers.setpoints import SetpointPath
from balance.live.history import History
from balance.live.observer import Instant, Observer, Rows
from balance.live.overlays import LAYERS, Overlays
from balance.live.plots import Plots
from balance.live.robot_view import RobotView
from balance.live.stage import LIGHT, Stage, Theme
from balance.pushes import Push
from balance.results import sole_labels
from balance.robots import Robot

Clicked = Callable[[str, Any], None]


class Theatre:
    """One robot on the stage; ``use`` puts another one there."""

    def __init__(
        self, server: viser.ViserServer, theme: Theme = LIGHT, on_click: Clicked | None = None
    ) -> None:
        self.server, self._on_click = server, on_click
        self.stage = Stage(server, theme)
        self.shown = {name: shown for name, (_, shown) in LAYERS.items()}
        self.glass = False
        self.history = History()
        self.pushes: Sequence[Push] = ()
        self._robot: Robot | None = None
        self._soles: list[str] = []
        self._view: RobotView | None = None
        self._overlays: Overlays | None = None
        self._plots: Plots | None = None
        self._corner = Corner(server)

    def use(self, robot: Robot, path: SetpointPath, pushes: Sequence[Push] = ()) -> None:
        """Show a robot from now on; the plots begin anew."""
        self.observer = Observer(robot, path)
        with self.server.atomic():
            known = self._robot is not None and self._robot.name == robot.name
            if not known:
                if self._view is not None:
                    self._view.remove()
                self._view = RobotView(self.server, robot, self._on_click)
                self._view.set_glass(self.glass)
                self.stage.look_at(robot)
            self._robot = robot
            if self._overlays is not None:
                self._overlays.remove()
            self._overlays = Overlays(self.server, self.observer, self.shown)
        if sole_labels(robot) != self._soles:
            self._soles = sole_labels(robot)
            if self._plots is not None:
                self._plots.remove()
            self._plots = Plots(self.server, self._soles)
        self.history.clear()
        self.set_pushes(pushes)

    def set_pushes(self, pushes: Sequence[Push]) -> None:
        """Say which pushes there are, for arrows and marks."""
        self.pushes = pushes
        if self._overlays is not None:
            self._overlays.set_pushes(pushes)

    def draw(self, rows: Rows, row: int) -> Instant:
        """Show one row."""
        now = self.observer.at(rows, row)
        assert self._view is not None
        assert self._overlays is not None
        with self.server.atomic():
            self._view.draw(now.q)
            self._overlays.draw(now)
        return now

    def plot(self) -> None:
        """Show the history."""
        if self._plots is not None:
            self._plots.draw(self.history)

    def show_layers(self, shown: dict[str, bool]) -> None:
        """Switch layers on and off."""
        self.shown = dict(shown)
        if self._overlays is not None:
            self._overlays.show(self.shown)

    def set_glass(self, glass: bool) -> None:
        """Make the robot transparent or solid."""
        self.glass = glass
        if self._view is not None:
            self._view.set_glass(glass)

    def tell(self, cells: Sequence[tuple[str, str]], alarm: str = "") -> None:
        """Figures for the corner (label and value), and what is wrong, if anything."""
        self._corner.show(cells, alarm)


class Corner:
    """A small window in the lower left corner of the scene."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._panel = server.gui.add_panel()
        with self._panel.add_tab("Status", viser.Icon.ACTIVITY):
            self._text = server.gui.add_html("")
        self._panel.float(x=14, y=-14, width=236)
        self._shown = ""

    def show(self, cells: Sequence[tuple[str, str]], alarm: str) -> None:
        """Replace the text, if it differs."""
        content = corner_html(cells, alarm)
        if content != self._shown:
            self._shown = content
            self._text.content = content


def corner_html(cells: Sequence[tuple[str, str]], alarm: str) -> str:
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
