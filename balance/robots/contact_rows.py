"""What each contact holds, and the stacked vectors of all contacts that follow from it.

RobotDynamicsETH (2.253)-(2.255): a point holds the three components of its velocity, and its body
may turn about it; two points hold five, all but the turn about their line; a patch holds six.  Of a
wrench the contact transmits the same components and no others.

Components are counted in a contact's own axes C, at its centre: those of the surface for a patch,
those of the plane for a point, however its body is tilted, and for points on a line x along that
line and z out of the plane.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]


class ContactRows:
    """The components of k contacts that are held, one below the other: r rows in all.

    ``slices`` are those of each contact, ``normal`` (k,) the rows of the normal forces, and
    ``entries`` (r,) their places among 6 k; ``all_held`` if they are all of them, as for patches.
    """

    def __init__(self, surfaces: Sequence[ContactSurface]) -> None:
        sizes = [len(surface.held) for surface in surfaces]
        ends = np.cumsum(sizes).tolist()
        self.slices = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        self.count, self.contacts = sum(sizes), len(sizes)
        self.normal = np.array([own.start + 2 for own in self.slices], dtype=np.intp)
        held = [6 * i + np.array(surface.held) for i, surface in enumerate(surfaces)]
        self.entries = np.concatenate(held) if held else np.empty(0, dtype=np.intp)
        self.all_held = self.count == 6 * self.contacts

    def stacked(self, wrenches: Array) -> Array:
        """The held components (r,) of wrenches (k, 6)."""
        return wrenches.ravel() if self.all_held else wrenches.ravel()[self.entries]

    def each(self, stacked: Array) -> Array:
        """Wrenches (k, 6) whose held components are ``stacked`` (r,); the others are zero."""
        if self.all_held:
            return stacked.reshape(-1, 6)
        wrenches = np.zeros((self.contacts, 6))
        wrenches.ravel()[self.entries] = stacked
        return wrenches


def held_part(surface: ContactSurface, R_WS: Array, local: Array) -> Array:
    """Of velocities or accelerations (6,) or (6, n) in S, what the contact holds, in C."""
    if surface.has_area:
        return local
    R_CS = surface.axes(R_WS).T @ R_WS
    turned = R_CS @ local.reshape(2, 3, -1)
    return np.asarray(turned.reshape(local.shape)[list(surface.held)])
