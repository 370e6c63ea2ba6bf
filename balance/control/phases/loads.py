"""What each contact may bear, taken off before it opens and put on after it closes, and shall."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from balance.control.parts.setpoints import minimum_jerk

Array = NDArray[np.float64]

RAMP_S = 0.4  # for the whole load of a contact
EMPTY_N = 1e-3  # bound of a contact whose load is off
LEAST_OF_MOST = 0.9  # the lower bound as a share of the upper one, at most


class LoadBounds:
    """Bounds (k,) of the normal forces, N, that move from where they are without a jump.

    A contact that may bear freely has ``full`` as its upper bound and at least ``least``.
    """

    def __init__(self, count: int, least: float, weight: float, full: float) -> None:
        self._weight, self._full, self._least = weight, full, least
        self._from, self._to = np.zeros(count), np.zeros(count)
        self._begin = np.full(count, -np.inf)

    def free(self, contact: int) -> None:
        """Let a contact bear what it takes, at once."""
        self._from[contact] = self._to[contact] = 1.0
        self._begin[contact] = -np.inf

    def unload(self, contact: int, time: float, force: float) -> None:
        """Take the load off a contact that bears ``force`` N at ``time``."""
        if self._to[contact] > 0.0:
            now = min(float(self._share(time)[contact]), max(force, 0.0) / self._weight)
            self._aim(contact, time, now, 0.0)

    def close(self, contact: int, time: float) -> None:
        """Let a contact that has just touched bear more and more, from nothing on."""
        self._aim(contact, time, 0.0, 1.0)

    def open(self, contact: int) -> None:
        """A contact that is off bears nothing."""
        self._from[contact] = self._to[contact] = 0.0
        self._begin[contact] = -np.inf

    def _aim(self, contact: int, time: float, now: float, share: float) -> None:
        self._from[contact], self._to[contact], self._begin[contact] = min(now, 1.0), share, time

    def _share(self, time: float) -> Array:
        """Upper bounds as shares of the robot's weight; 1 is as good as free."""
        s = np.clip((time - self._begin) / RAMP_S, 0.0, 1.0)
        return np.asarray(self._from + s * s * (3.0 - 2.0 * s) * (self._to - self._from))

    def changing(self, time: float) -> NDArray[np.bool_]:
        """Which contacts are between bearing and not."""
        return np.asarray((time - self._begin < RAMP_S) | (self._to == 0.0))

    def is_off(self, contact: int, time: float) -> bool:
        """Whether the load of a contact is taken off."""
        return bool(self._to[contact] == 0.0 and time - self._begin[contact] >= RAMP_S)

    def at(self, time: float) -> tuple[Array, Array]:
        """Least and largest normal forces (k,), N."""
        share = self._share(time)
        most = np.where(share >= 1.0, self._full, np.maximum(self._weight * share, EMPTY_N))
        # A contact that bears the least when its load is taken off goes on from there.
        whole = np.maximum(np.maximum(self._from, self._to), 1e-12)
        return np.minimum(self._least * share / whole, LEAST_OF_MOST * most), most


class PlannedWrenches:
    """Wrenches (k, 6) of the contacts on the way from one static posture to the next.

    They go along with the CoM: where the static ones of both ends bear it, so does their mean.
    """

    def __init__(self, first: Array) -> None:
        self._from, self._to = first, first
        self._begin, self._duration = 0.0, 1.0

    def go(self, time: float, goal: Array, duration: float) -> None:
        """Set out for ``goal`` (k, 6) from where they are, for ``duration`` s."""
        self._from, self._to = self.at(time), goal
        self._begin, self._duration = time, duration

    def at(self, time: float) -> Array:
        """Those at ``time`` in s."""
        share = minimum_jerk(min(max((time - self._begin) / self._duration, 0.0), 1.0))[0]
        return np.asarray(self._from + share * (self._to - self._from))


def static_wrenches(wrenches: Mapping[str, Array], number: Mapping[str, int]) -> Array:
    """Those of the contacts of a posture by name as an array (k, 6); the others bear nothing."""
    found = np.zeros((len(number), 6))
    for name, wrench in wrenches.items():
        found[number[name]] = wrench
    return found
