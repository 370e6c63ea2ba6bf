"""A recording of a robot that stands, then has its feet where a made-up step puts them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import balance
from balance.control.parts.output import Strategy

ROWS, DECIDED, LIFTED, LANDED, STANDS = 100, 20, 30, 60, 80
MOVED_M = 0.3  # forwards, by which everything is moved from touch-down on
PLANNED = (0.25, 0.01, 0.0, 0.1)  # x, y, z and yaw of the first plan
LEFT = 0


@cache
def stepped() -> balance.Recording:
    """100 rows of 1 ms: the left foot decides at 20, lifts at 30, lands at 60, stands at 80.

    Nothing is simulated from the 20th row on: the base jumps by 0.3 m when the foot lands, and
    the feet with it.
    """
    recording = balance.run({"robot": "toro", "duration_s": 0.3, "controller": {"law": "stepping"}})
    part = slice(0, ROWS)
    q = np.repeat(recording.robot.q_nominal[None], ROWS, axis=0)
    q[LANDED:, 0] += MOVED_M
    strategy = np.zeros(ROWS, dtype=np.int64)
    strategy[10:DECIDED], strategy[DECIDED:STANDS] = Strategy.HIPS, Strategy.STEPS
    step = (np.arange(ROWS) >= DECIDED).astype(np.int64)
    swing = np.where(strategy == Strategy.STEPS, LEFT, -1)
    landing = np.full((ROWS, 4), np.nan)
    landing[DECIDED:LANDED] = PLANNED
    landing[DECIDED:LANDED, 0] += np.linspace(0.0, 0.05, LANDED - DECIDED)
    bearing = np.ones((ROWS, 2))
    bearing[DECIDED:LIFTED, LEFT], bearing[LIFTED:LANDED, LEFT] = 0.5, 0.0
    return replace(
        recording.part(part),
        q=q,
        strategy=strategy,
        step=step,
        swing=swing,
        landing=landing,
        bearing=bearing,
    )
