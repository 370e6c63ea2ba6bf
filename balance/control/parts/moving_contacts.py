"""What the loop needs of a law that lifts contacts and puts them down elsewhere."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from balance.control.parts.output import Controller, ControlOutput
from balance.control.parts.setpoints import Path

Array = NDArray[np.float64]

ATTRIBUTE = "moving_contacts"
"""Where a law that moves its contacts, or whatever is around it, has what does so."""


class MovingContacts(Protocol):
    """A law that says which contacts are meant to bear, and where the robot is meant to be."""

    @property
    def bearing(self) -> Array:
        """What each contact is meant to do, (k,): 1 bear, 0 stay off, 0.5 change its load."""
        ...

    @property
    def track(self) -> Path:
        """Where the setpoint was."""
        ...

    def feel(self, wrenches: Array) -> None:
        """Take the measured wrenches (k, 6) of all contacts, for the steps from now on."""
        ...

    def attributed(self, q: Array, wrenches: Array) -> Array:
        """Measured wrenches (k, 6), at ``q``, as those of the contacts that are meant to bear."""
        ...

    def base_at(self, t: float) -> tuple[float, Array]:
        """Height of the base that is meant at ``t``, and where its z axis is to point."""
        ...

    def tell(self, output: ControlOutput) -> None:
        """Write what is meant onto an output, also one of a law that does not know."""
        ...


def moving_contacts(controller: Controller) -> MovingContacts | None:
    """What moves the contacts of a law; None if they stay where they are."""
    found: MovingContacts | None = getattr(controller, ATTRIBUTE, None)
    return found
