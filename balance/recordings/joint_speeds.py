"""Speeds of joints over their rated ones, and who made them fast: the drives, or a hit.

An excursion is a time for which a joint is faster than rated.  It is the hit's if it begins while
a push acts or within ``AFTER_HIT_S`` of its end: no drive can hold a joint that is knocked away.
It stays the hit's until the joint is no faster than rated.  Everything else is driven, by the
joint's own drive or, through the rest of the body, by others and by gravity: excursions that begin
later, or without a push, and all speeds up to the rated one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.recordings.recording import Recording, once

Array = NDArray[np.float64]
Rows = NDArray[np.bool_]

AFTER_HIT_S = 0.02


@once
def speed_ratios(recording: Recording) -> Array:
    """Speed of each joint over its rated one (n, nj)."""
    return np.asarray(np.abs(recording.v[:, 6:]) / recording.robot.rated_speeds)


@once
def fastest(recording: Recording) -> tuple[float, str | None]:
    """Largest speed of a joint over its rated one, and whose; 0 and None of an empty recording."""
    ratios = speed_ratios(recording)
    if ratios.size == 0:
        return 0.0, None
    most = ratios.max(axis=0)
    joint = int(np.argmax(most))
    return float(most[joint]), recording.robot.joint_names[joint]


@once
def by_the_hit(recording: Recording) -> Rows:
    """Where each joint is on an excursion that a push began (n, nj)."""
    fast = speed_ratios(recording) > 1.0
    began = fast.copy()
    began[1:] &= ~fast[:-1]
    rows = np.arange(len(fast))[:, None]
    begin = np.maximum.accumulate(np.where(began, rows, 0), axis=0)  # of a row's excursion
    return np.asarray(fast & _pushed(recording)[begin])


def _pushed(recording: Recording) -> Rows:
    """Whether a push acted, or had just done so, in the control period before each row (n,)."""
    time, period = recording.time, recording.config.control_period_s
    pushed = np.zeros(time.size, dtype=bool)
    for push in recording.pushes:
        pushed |= (time > push.start) & (time - period < push.end + AFTER_HIT_S)
    return pushed


def largest_driven_ratio(recording: Recording) -> float:
    """Largest speed over the rated one but for excursions that a push began."""
    driven = speed_ratios(recording)[~by_the_hit(recording)]
    return float(driven.max(initial=0.0))


def largest_hit_ratio(recording: Recording) -> float | None:
    """Largest speed over the rated one of an excursion that a push began; None if none did."""
    hit = speed_ratios(recording)[by_the_hit(recording)]
    return float(hit.max()) if hit.size else None
