"""Speeds of joints over their rated ones, and who made them fast: the drives, or a hit.

An excursion is a time for which a joint is faster than rated.  It is the hit's if it begins while
a push acts or within ``AFTER_HIT_S`` of its end: no drive can hold a joint that is knocked away.
It stays the hit's until the joint is no faster than rated.  Everything else is driven, by the
joint's own drive or, through the rest of the body, by others and by gravity: excursions that begin
later, or without a push, and all speeds up to the rated one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.recordings.disk_arrays import chunks, in_chunks
from balance.recordings.recording import Recording, once

Array = NDArray[np.float64]
Rows = NDArray[np.bool_]

AFTER_HIT_S = 0.02


@dataclass(frozen=True)
class _Largest:
    """Largest speeds of each joint over its rated one (nj,): of all, driven and by a hit."""

    of_all: Array
    driven: Array
    by_hit: Array
    """0 for a joint that no push made faster than rated."""


@once
def _largest(recording: Recording) -> _Largest:
    """A part, or a joint, at a time: a long recording has more rows than memory for all at once."""
    v, rated = recording.v, recording.robot.rated_speeds
    of_all = np.zeros(rated.size)
    for rows in chunks(len(v)):
        np.maximum(of_all, np.abs(v[rows, 6:]).max(axis=0, initial=0.0) / rated, out=of_all)
    driven, by_hit = of_all.copy(), np.zeros_like(of_all)
    for joint in np.flatnonzero(of_all > 1.0).tolist():
        own = v[:, 6 + joint]
        ratio = np.abs(in_chunks(len(v), own.__getitem__)) / rated[joint]
        hit = _by_the_hit(ratio > 1.0, _pushed(recording))
        driven[joint], by_hit[joint] = ratio[~hit].max(initial=0.0), ratio[hit].max(initial=0.0)
    return _Largest(of_all, driven, by_hit)


def _by_the_hit(fast: Rows, pushed: Rows) -> Rows:
    """Rows (n,) in which a joint is on an excursion that a push began."""
    began = fast.copy()
    began[1:] &= ~fast[:-1]
    begin = np.maximum.accumulate(np.where(began, np.arange(len(fast)), 0))  # of its excursion
    return np.asarray(fast & pushed[begin])


def _pushed(recording: Recording) -> Rows:
    """Whether a push acted, or had just done so, in the control period before each row (n,)."""
    time, period = recording.time, recording.config.control_period_s
    pushed = np.zeros(time.size, dtype=bool)
    for push in recording.pushes:
        pushed |= (time > push.start) & (time - period < push.end + AFTER_HIT_S)
    return pushed


def fastest(recording: Recording) -> tuple[float, str | None]:
    """Largest speed of a joint over its rated one, and whose; 0 and None of an empty recording."""
    if recording.time.size == 0:
        return 0.0, None
    most = _largest(recording).of_all
    joint = int(np.argmax(most))
    return float(most[joint]), recording.robot.joint_names[joint]


def largest_driven_ratio(recording: Recording) -> float:
    """Largest speed over the rated one but for excursions that a push began."""
    return float(_largest(recording).driven.max(initial=0.0))


def largest_hit_ratio(recording: Recording) -> float | None:
    """Largest speed over the rated one of an excursion that a push began; None if none did."""
    largest = float(_largest(recording).by_hit.max(initial=0.0))
    return largest or None
