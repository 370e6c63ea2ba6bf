"""What runs demand of contacts and drives, against recordings whose answer is known."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from balance.config import load_config
from balance.experiment import run
from balance.recordings.demand import (
    BEARING_SHARE,
    cop_use,
    friction_use,
    largest_cop_use,
    largest_friction_use,
    torque_effort,
    wrench_errors,
)
from balance.recordings.recording import Recording
from balance.recordings.verdict import Cause, aborted

N, PERIOD = 100, 0.001
WEIGHT = 77.5 * 9.81
EXACT = 1e-12


@pytest.fixture(scope="module")
def pushed() -> Recording:
    """0.1 s of the paper's experiment, hit at 0.05 s."""
    return run(load_config("toro_push", {"duration_s": 0.35, "pushes.0.time_s": 0.05}))


@pytest.fixture(scope="module")
def still(pushed: Recording) -> Recording:
    """The same recording with the robot at rest throughout."""
    arrays = {f.name: getattr(pushed, f.name) for f in fields(pushed)}
    first = {
        name: np.repeat(a[:1], N, axis=0) for name, a in arrays.items() if isinstance(a, np.ndarray)
    }
    first["time"] = PERIOD * np.arange(N)
    return replace(pushed, **first)


def largest_uses(recording: Recording) -> tuple[float, float]:
    return largest_friction_use(recording), largest_cop_use(recording)


def with_wrench(recording: Recording, sole: int, wrench: list[float]) -> Recording:
    """The recording with one measured wrench, in the middle of the run, on one sole."""
    measured = recording.contact_wrenches.copy()
    measured[N // 2, sole] = wrench
    return replace(recording, contact_wrenches=measured)


def test_standing_still_takes_no_effort(still: Recording) -> None:
    assert torque_effort(still) == pytest.approx(0.0, abs=EXACT)


def test_effort_is_the_integral_of_the_squared_torque_beyond_rest(still: Recording) -> None:
    torques = still.torques.copy()
    torques[60:80, 3] += 5.0
    torques[60:80, 7] -= 2.0
    effort = torque_effort(replace(still, torques=torques))
    assert effort == pytest.approx(20 * PERIOD * (5.0**2 + 2.0**2), rel=EXACT)


def test_a_run_pushed_at_once_has_its_first_torques_as_rest(still: Recording) -> None:
    pushes = (replace(still.pushes[0], start=0.0),)
    torques = still.torques.copy()
    torques[1:, 0] += 1.0
    effort = torque_effort(replace(still, torques=torques, pushes=pushes))
    assert effort == pytest.approx((N - 1) * PERIOD, rel=EXACT)


def test_friction_use_is_the_share_of_coulombs_cone(still: Recording) -> None:
    """mu = 0.8: 30 N and 40 N beside 100 N use 50 / 80 of it."""
    recording = with_wrench(still, 1, [30.0, -40.0, 100.0, 0.0, 0.0, 0.0])
    assert friction_use(recording)[N // 2, 1] == pytest.approx(0.625, rel=EXACT)
    assert largest_uses(recording)[0] == pytest.approx(0.625, rel=EXACT)


def test_cop_use_is_one_on_the_edge_of_the_sole(still: Recording) -> None:
    sole, load = still.robot.soles[0], 200.0
    half, x, y = 0.5 * sole.half_length, sole.half_length, sole.half_width
    # A load at (x, y) of the sole has the moment (y f_z, -x f_z, 0) about its centre.
    for point, use in (((x, 0.0), 1.0), ((half, 0.0), 0.5), ((half, -y), 1.0), ((0.0, 0.0), 0.0)):
        wrench = [0.0, 0.0, load, point[1] * load, -point[0] * load, 0.0]
        found = cop_use(with_wrench(still, 0, wrench))[N // 2, 0]
        assert found == pytest.approx(use, abs=EXACT)


def test_a_sole_that_bears_next_to_nothing_does_not_count(still: Recording) -> None:
    light = 0.9 * BEARING_SHARE * WEIGHT
    sliding = with_wrench(still, 0, [0.8 * light, 0.0, light, 0.0, 0.0, 0.0])
    assert friction_use(sliding)[N // 2, 0] == pytest.approx(1.0, rel=EXACT)
    assert largest_uses(sliding) == largest_uses(still)
    airborne = with_wrench(still, 0, [0.0] * 6)
    assert np.isnan(friction_use(airborne)[N // 2, 0]) and np.isnan(cop_use(airborne)[N // 2, 0])
    assert largest_uses(airborne) == largest_uses(still)


def test_wrench_errors_are_root_mean_squares_over_time_and_contacts(still: Recording) -> None:
    measured = still.wrenches.copy()
    measured[:, 0, 0] += 3.0
    measured[:, 0, 1] -= 4.0  # |force| = 5 on one of two soles
    measured[: N // 4, 1, 5] += 2.0  # |moment| = 2 on the other for a quarter of the time
    force, moment = wrench_errors(replace(still, contact_wrenches=measured))
    assert force == pytest.approx(5.0 / np.sqrt(2.0), rel=EXACT)
    assert moment == pytest.approx(2.0 / np.sqrt(8.0), rel=EXACT)


def test_a_recording_without_rows_demands_nothing(pushed: Recording) -> None:
    arrays: dict[str, Any] = {
        f.name: a[:0]
        for f in fields(pushed)
        if isinstance(a := getattr(pushed, f.name), np.ndarray)
    }
    empty = replace(pushed, **arrays, end=aborted(Cause.INTERRUPTED, "interrupted by the user"))
    assert torque_effort(empty) == 0.0
    assert wrench_errors(empty) == largest_uses(empty) == (0.0, 0.0)


def test_the_summary_tells_them(pushed: Recording) -> None:
    summary = pushed.summary()
    assert summary["torque_effort_N2m2s"] == torque_effort(pushed) > 0.0
    assert 0.0 < summary["max_friction_use"] <= 1.0 + 1e-6
    assert 0.0 < summary["max_cop_use"] <= 1.0 + 1e-6
    assert summary["wrench_error_rms_N"] > 0.0 and summary["wrench_error_rms_Nm"] > 0.0
