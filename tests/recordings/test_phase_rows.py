"""What a recording tells of its phases."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from balance.recordings.phase_rows import force_error_at_rest, largest_jump, phase_spans
from balance.recordings.recording import Recording


def test_phases_follow_each_other_without_a_gap(lifted_foot: Recording) -> None:
    spans = phase_spans(lifted_foot)
    assert [span.name for span in spans] == [p.name for p in lifted_foot.config.phases]
    assert spans[0].start_s == 0.0 and spans[-1].rows.stop == lifted_foot.time.size
    for one, other in pairwise(spans):
        assert one.end_s == pytest.approx(other.start_s) and one.rows.stop == other.rows.start


def test_the_summary_tells_steps_phases_and_how_well_forces_are_met(lifted_foot: Recording) -> None:
    summary = lifted_foot.summary()
    assert summary["steps"] == 1
    assert [phase["name"] for phase in summary["phases"]][2] == "lift"
    assert summary["phases"][2]["contacts"] == ["left sole"]
    assert summary["max_force_error_N"] < 10.0


def test_the_force_error_is_that_of_the_last_tenth_of_a_second(lifted_foot: Recording) -> None:
    rows = phase_spans(lifted_foot)[2].rows
    error = lifted_foot.wrenches[rows] - lifted_foot.contact_wrenches[rows]
    expected = np.linalg.norm(error[-25:, :, :3], axis=2).max()
    assert force_error_at_rest(lifted_foot, rows) == expected


def test_a_jump_is_found_where_contacts_change_and_nowhere_else(lifted_foot: Recording) -> None:
    assert lifted_foot.bearing is not None
    torques = np.zeros_like(lifted_foot.torques)
    change = int(np.flatnonzero(np.diff(lifted_foot.bearing[:, 1]) != 0.0)[0])
    torques[50:, 0] = 3.0  # long before the first change
    torques[change + 5 :, 1] = 0.25 * lifted_foot.robot.effort_limits[1]
    jumped = lifted_foot.part(slice(None))
    object.__setattr__(jumped, "torques", torques)
    assert largest_jump(jumped) == pytest.approx(0.25)
