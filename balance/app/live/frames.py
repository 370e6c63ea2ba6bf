"""What is drawn in one frame: the newest row of a session, or the present one of a replay."""

from __future__ import annotations

import numpy as np

from balance.app.live.history import SAMPLE_S, SPAN_S
from balance.app.live.replay import Replay
from balance.app.live.running import Running
from balance.app.live.theatre import Theatre

MAX_SAMPLES = 12  # of the history in one frame
STEPS = 40  # control steps before a sample, whose durations it shows


def draw_session(theatre: Theatre, running: Running) -> None:
    """Show the newest row, and take samples of those since the last frame."""
    log, history = running.shared.view(), theatre.history
    if log.rows == 0:
        return
    period = running.config.control_period_s
    for _ in range(MAX_SAMPLES):
        row = round(history.next_time / period)
        if row >= log.rows:
            break
        now = theatre.observer.at(log, row)
        steps = log.control_time[max(0, row + 1 - STEPS) : row + 1]
        history.add(now, theatre.pushes, steps, period)
    else:  # too far behind to catch up
        history.next_time = log.rows * period
    theatre.draw(log, log.rows - 1)


def draw_replay(theatre: Theatre, replay: Replay) -> None:
    """Move on with the clock, and show where the replay is."""
    before, history = replay.time, theatre.history
    row = replay.advance()
    if replay.time < before:
        history.clear()
    if not len(history):
        _fill(theatre, replay, row)
    now = theatre.draw(replay.recording, row)
    if now.time > history.next_time:
        history.add(now, theatre.pushes)


def _fill(theatre: Theatre, replay: Replay, row: int) -> None:
    """Samples of the seconds before a row, after a jump in time."""
    time = replay.recording.time
    for moment in np.arange(max(0.0, time[row] - SPAN_S), time[row], SAMPLE_S):
        now = theatre.observer.at(replay.recording, int(np.searchsorted(time, moment)))
        theatre.history.add(now, theatre.pushes)
