"""Figures of the soles, of bodies that touch, and of joints at their stops and top speeds."""

from __future__ import annotations

from typing import Any

import numpy as np

from balance.config.quantity import NONE, Shown, quantity
from balance.recordings import falls, joint_speeds, joint_stops, metrics, penetration
from balance.recordings.judging import longest_flight
from balance.recordings.recording import Recording
from balance.recordings.touches import touched_pairs

TERMINAL = Shown.TERMINAL


@quantity("sole lift, largest", "mm", scale=1e3, better="lower", group="soles", shown=TERMINAL)
def max_sole_lift_m(recording: Recording) -> float:
    """Highest corner, above the ground, of a sole that is meant to bear."""
    if recording.bearing is None:
        return metrics.peak(recording.sole_lift)
    return metrics.peak(np.where(recording.bearing == 1.0, recording.sole_lift, 0.0))


@quantity("sole slip, largest", "mm", scale=1e3, better="lower", group="soles", shown=TERMINAL)
def max_sole_slip_m(recording: Recording) -> float:
    """Longest way along the ground of a sole that bears load."""
    return metrics.peak(falls.loaded_slip(recording))


@quantity("longest flight of a sole", "s", 3, better="lower", group="soles")
def longest_flight_s(recording: Recording) -> float:
    """Longest time for which a sole that was meant to bore no load."""
    return longest_flight(recording)


@quantity("deepest body in another", "mm", 1, scale=1e3, better="lower", group="bodies")
def max_self_penetration_m(recording: Recording) -> float:
    """How deep a body was in another one."""
    return penetration.deepest_overlap(recording)[0]


@quantity("deepest pair", digits=None, none=NONE, group="bodies")
def deepest_pair(recording: Recording) -> str | None:
    """The two bodies that were deepest in each other."""
    return penetration.deepest_overlap(recording)[1]


@quantity("deepest body in the floor", "mm", 1, scale=1e3, better="lower", whole=True,
          group="bodies")  # fmt: skip
def max_body_penetration_m(recording: Recording) -> float:
    """How deep a body was in the floor, also in a fall."""
    return metrics.peak(recording.penetration[:, 0])


@quantity("touches", digits=None, whole=True, group="bodies", in_tables=False)
def touches(recording: Recording) -> list[dict[str, Any]]:
    """What touched besides the soles: each pair, from when, how long and how hard."""
    return touched_pairs(recording)


@quantity("largest joint speed / rated speed", "%", 0, scale=100.0, better="lower", group="drives")
def max_joint_speed_ratio(recording: Recording) -> float:
    """Largest joint speed over the rated one."""
    return joint_speeds.fastest(recording)[0]


@quantity("fastest joint", digits=None, none=NONE, group="drives")
def fastest_joint(recording: Recording) -> str | None:
    """Whose speed came nearest to the rated one."""
    return joint_speeds.fastest(recording)[1]


@quantity("driven joint speed / rated speed", "%", 0, scale=100.0, better="lower", group="drives")
def max_driven_speed_ratio(recording: Recording) -> float:
    """Largest ratio but for excursions above 1 that begin in a push or within 20 ms of it."""
    return joint_speeds.largest_driven_ratio(recording)


@quantity("joint speed by a hit / rated", "%", 0, scale=100.0, none=NONE, group="drives")
def max_hit_speed_ratio(recording: Recording) -> float | None:
    """Largest ratio of those excursions; none without any."""
    return joint_speeds.largest_hit_ratio(recording)


@quantity("joints on a stop", "s", group="drives", first=("joint_at_stop", "joint_at_stop_s"))
def joints_at_stop_s(recording: Recording) -> dict[str, float]:
    """How long each joint was on one of its stops, the longest first."""
    return joint_stops.joints_at_stop(recording)
