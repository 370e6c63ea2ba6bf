"""The verdict knows which contacts were meant to bear when."""

from __future__ import annotations

import numpy as np
import pytest

from balance.recordings.judging import judge, longest_flight
from balance.recordings.phase_rows import phase_spans
from balance.recordings.recording import Recording
from balance.recordings.verdict import MAX_FLIGHT_S, Cause, Outcome

RIGHT = 1  # number of the foot that is lifted


def changed(recording: Recording, **arrays: np.ndarray) -> Recording:
    other = recording.part(slice(None))
    for name, array in arrays.items():
        object.__setattr__(other, name, array)
    return other


def test_a_flight_that_was_meant_is_no_fault(lifted_foot: Recording) -> None:
    assert lifted_foot.bearing is not None
    period = lifted_foot.config.control_period_s
    airborne = lifted_foot.contact_wrenches[:, RIGHT, 2] < 1.0
    assert airborne.sum() * period > 2.0
    assert judge(lifted_foot).outcome is Outcome.RECOVERED
    assert longest_flight(lifted_foot) <= MAX_FLIGHT_S


def test_the_same_flight_is_a_fault_where_the_foot_was_to_bear(lifted_foot: Recording) -> None:
    assert lifted_foot.bearing is not None
    verdict = judge(changed(lifted_foot, bearing=np.ones_like(lifted_foot.bearing)))
    assert (verdict.outcome, verdict.cause) == (Outcome.UPRIGHT, Cause.FLIGHT)


@pytest.mark.parametrize(("lasts_s", "fault"), [(0.08, False), (0.2, True)])
def test_a_touch_is_a_fault_where_the_foot_was_to_stay_off(
    lifted_foot: Recording, lasts_s: float, fault: bool
) -> None:
    """50 N in the middle of the phase that holds it up, for less and for more than 0.1 s."""
    rows = phase_spans(lifted_foot)[2].rows
    middle, period = (rows.start + rows.stop) // 2, lifted_foot.config.control_period_s
    wrenches = lifted_foot.contact_wrenches.copy()
    wrenches[middle : middle + round(lasts_s / period), RIGHT, 2] = 50.0
    verdict = judge(changed(lifted_foot, contact_wrenches=wrenches))
    assert (verdict.outcome is Outcome.UPRIGHT) == fault
    if fault:
        assert verdict.cause is Cause.TOUCH
        assert verdict.text is not None
        assert "right sole touched for 0.200 s in the phase 'lift'" in verdict.text


@pytest.mark.parametrize("dragged", [False, True])
def test_a_touch_that_goes_over_into_bearing_is_a_landing_unless_the_foot_was_dragged(
    lifted_foot: Recording, dragged: bool
) -> None:
    """10 N for 0.2 s before the foot bears, while it is where it then stays, or comes by 5 cm."""
    assert lifted_foot.bearing is not None
    down = int(np.flatnonzero(lifted_foot.bearing[:, RIGHT] == 0.0)[-1]) + 1
    rows = slice(down - round(0.2 / lifted_foot.config.control_period_s), down)
    wrenches, q = lifted_foot.contact_wrenches.copy(), lifted_foot.q.copy()
    wrenches[rows, RIGHT, 2] = 10.0
    if not dragged:
        q[rows] = q[down]
    verdict = judge(changed(lifted_foot, contact_wrenches=wrenches, q=q))
    assert (verdict.cause is Cause.TOUCH) == dragged
