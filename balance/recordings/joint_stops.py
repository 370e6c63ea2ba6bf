"""Joints at the ends of their ranges, read from a recording."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.recordings.disk_arrays import in_chunks
from balance.recordings.recording import Recording
from balance.recordings.verdict import AT_STOP_RAD

Rows = NDArray[np.bool_]


def rows_at_stops(recording: Recording) -> Rows:
    """Where each joint is on its lower and on its upper stop, (n, 2 nj)."""
    model = recording.robot.model
    lower = model.lowerPositionLimit[7:] + AT_STOP_RAD
    upper = model.upperPositionLimit[7:] - AT_STOP_RAD

    def on_stops(rows: slice) -> Rows:
        angles = recording.q[rows, 7:]
        return np.hstack([angles <= lower, angles >= upper])

    return np.asarray(in_chunks(len(recording.q), on_stops))


def stop_names(recording: Recording) -> list[str]:
    """The stops in words, in the order of :func:`rows_at_stops`."""
    joints = [name.replace("_", " ") for name in recording.robot.joint_names]
    return [f"{joint}: on its {side} stop" for side in ("lower", "upper") for joint in joints]


def rested_on(at_stop: Rows, recording: Recording) -> Rows:
    """On which stops a joint rested before anything happened to the robot, (2 nj,)."""
    first = min((push.start for push in recording.pushes), default=0.0)
    before = recording.time < max(first, recording.config.control_period_s)
    return np.asarray(at_stop[before].any(axis=0))


def new_stops(recording: Recording) -> dict[str, Rows]:
    """For each stop that a joint reached without having rested on it: its control periods."""
    if recording.time.size == 0:
        return {}
    at_stop = rows_at_stops(recording)
    reached = at_stop.any(axis=0) & ~rested_on(at_stop, recording)
    names = stop_names(recording)
    return {names[i]: at_stop[:, i] for i in np.flatnonzero(reached)}


def joints_at_stop(recording: Recording) -> dict[str, float]:
    """How long each joint was on one of its stops, s; the longest first."""
    at_stop = rows_at_stops(recording)
    nj = at_stop.shape[1] // 2
    counts = (at_stop[:, :nj] | at_stop[:, nj:]).sum(axis=0)
    period = recording.config.control_period_s
    times = {
        recording.robot.joint_names[i]: round(float(counts[i]) * period, 9)
        for i in np.flatnonzero(counts)
    }
    return dict(sorted(times.items(), key=lambda item: -item[1]))
