"""All layers on top of the robot; each can be switched on and off."""

from __future__ import annotations

from collections.abc import Sequence

import viser

from balance.app.live.arrow_layers import AngularMomentum, CommandedForces, ContactForces, PushArrow
from balance.app.live.ground_layers import (
    CapturePoint,
    CentreOfMass,
    CentreOfPressure,
    Soles,
    SupportPolygon,
    Trail,
)
from balance.app.live.layer import Layer, Scale
from balance.app.live.observer import Instant, Observer
from balance.simulation.pushes import Push

LAYERS: dict[str, tuple[type[Layer], bool]] = {
    "Push": (PushArrow, True),
    "Centre of mass": (CentreOfMass, True),
    "CoM trail": (Trail, True),
    "Capture point": (CapturePoint, True),
    "Centre of pressure": (CentreOfPressure, True),
    "Support polygon": (SupportPolygon, True),
    "Sole rectangles": (Soles, True),
    "Measured wrenches": (ContactForces, True),
    "Commanded wrenches": (CommandedForces, False),
    "Angular momentum": (AngularMomentum, True),
}
"""Name of each layer, its class, and whether it is shown at first."""


class Overlays:
    """All layers of one robot."""

    def __init__(
        self, server: viser.ViserServer, observer: Observer, shown: dict[str, bool]
    ) -> None:
        self._root = server.scene.add_frame("/overlay", show_axes=False)
        scale = Scale.of(observer.robot)
        self.layers = {name: cls(server, name, scale) for name, (cls, _) in LAYERS.items()}
        self._observer = observer
        for layer in self.layers.values():
            if isinstance(layer, Soles):
                layer.use(observer.robot)
        self.show(shown)
        self.set_pushes(())

    def show(self, shown: dict[str, bool]) -> None:
        """Switch layers on and off."""
        for name, layer in self.layers.items():
            layer.visible = shown.get(name, LAYERS[name][1])

    def set_pushes(self, pushes: Sequence[Push]) -> None:
        """Say which pushes there are."""
        for layer in self.layers.values():
            if isinstance(layer, PushArrow):
                layer.use(self._observer, pushes)

    def draw(self, now: Instant) -> None:
        """Draw the layers that are on."""
        for layer in self.layers.values():
            if layer.visible:
                layer.draw(now)

    def remove(self) -> None:
        """Take all layers off the scene."""
        self._root.remove()
