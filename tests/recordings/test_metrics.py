"""Verdicts and figures of recordings that are made up so that the answer is known."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.config import ExperimentConfig, parse_config
from balance.experiment import run
from balance.recordings.derived import derive
from balance.recordings.judging import judge, longest_flight
from balance.recordings.metrics import ankle_limit, settling_times, support_reach
from balance.recordings.recording import Recording
from balance.recordings.verdict import Cause, EndKind, RunEnd, aborted
from balance.robots import Robot

Array = NDArray[np.float64]

ROWS = 600


@pytest.fixture(scope="module")
def quiet(toro_config: ExperimentConfig) -> Recording:
    """0.6 s of standing still, of which the tests change what they judge."""
    tree = toro_config.model_dump() | {"duration_s": 0.6, "pushes": [], "reference": None}
    recording = run(parse_config(tree, "test"))
    assert recording.time.size == ROWS
    return recording


def changed(recording: Recording, **arrays: Any) -> Recording:
    return dataclasses.replace(recording, **arrays)


def with_rows(array: Array, rows: slice, value: Any) -> Array:
    copy = array.copy()
    copy[rows] = value
    return copy


def test_robot_that_stands_still_has_recovered(quiet: Recording) -> None:
    assert judge(quiet).outcome == "recovered"
    assert judge(quiet).cause is None


@pytest.mark.parametrize(
    ("array", "column", "bound"),
    [("com_error", 1, 0.03), ("rotation_error", 0, 0.09), ("v", 4, 0.15)],
)
def test_errors_must_stay_in_their_bounds_for_the_last_quarter_second(
    quiet: Recording, array: str, column: int, bound: float
) -> None:
    """Beyond the bound until 0.3 s before the end is fine, within the last 0.25 s not settled."""
    values = getattr(quiet, array)
    zero = np.zeros_like(values)
    for last_row, size, outcome in (
        (ROWS - 300, 1.01 * bound, "recovered"),
        (ROWS - 200, 1.01 * bound, "upright"),
        (ROWS, 0.99 * bound, "recovered"),
        (ROWS, 1.01 * bound, "upright"),
    ):
        error = zero.copy()
        error[:last_row, column] = size
        verdict = judge(changed(quiet, **{array: error}))
        assert verdict.outcome == outcome
        if outcome == "upright":
            assert verdict.cause is Cause.UNSETTLED and verdict.time_s is None
            assert verdict.text is not None and verdict.text.startswith("not settled at the end")


@pytest.mark.parametrize(("slip", "outcome"), [(0.0199, "recovered"), (0.0201, "upright")])
def test_slip_of_more_than_two_centimetres_is_upright(
    quiet: Recording, slip: float, outcome: str
) -> None:
    moved = with_rows(quiet.sole_slip, slice(100, 101), slip)
    assert judge(changed(quiet, sole_slip=moved)).outcome == outcome


@pytest.mark.parametrize(("rows", "outcome"), [(100, "recovered"), (101, "upright")])
def test_sole_in_the_air_for_more_than_a_tenth_of_a_second_is_upright(
    quiet: Recording, rows: int, outcome: str
) -> None:
    """Only an unbroken flight counts, and each sole on its own."""
    wrenches = quiet.contact_wrenches.copy()
    wrenches[100 : 100 + rows, 0] = 0.0
    wrenches[300:350, 0] = wrenches[250:300, 1] = 0.0
    recording = changed(quiet, contact_wrenches=wrenches)
    assert longest_flight(recording) == pytest.approx(rows * 1e-3)
    assert judge(recording).outcome == outcome


def test_body_on_the_ground_is_a_fall_with_its_time(quiet: Recording) -> None:
    lowest = with_rows(quiet.lowest_body, slice(250, 260), -0.01)
    verdict = judge(changed(quiet, lowest_body=lowest))
    assert (verdict.outcome, verdict.time_s) == ("fell", pytest.approx(0.25))
    # The lowest body that carries no sole is the same throughout: the robot stands still.
    texts = [f"the body '{side}_shank' touched the ground at 0.25 s" for side in ("left", "right")]
    assert verdict.cause is Cause.TOUCH and verdict.text in texts


def test_body_on_the_ground_from_the_start_is_the_descriptions_fault(quiet: Recording) -> None:
    verdict = judge(changed(quiet, lowest_body=with_rows(quiet.lowest_body, slice(0, 9), -0.01)))
    assert verdict.outcome == "fell"
    assert "at 0 s, before anything moved: the robot's 'soles'" in str(verdict.text)


def test_end_of_the_run_decides_over_the_states(quiet: Recording) -> None:
    fell = judge(changed(quiet, end=RunEnd(EndKind.FELL, 0.123, Cause.TILT, "the base tilted")))
    assert (fell.outcome, fell.time_s) == ("fell", 0.123)
    assert (fell.cause, fell.text) == (Cause.TILT, "the base tilted")
    ended = judge(changed(quiet, end=aborted(Cause.INTERRUPTED, "by the user")))
    assert (ended.outcome, ended.text) == ("aborted", "by the user")


def test_settling_is_when_the_error_stays_in_its_band_not_when_it_first_enters() -> None:
    time = np.arange(0.0, 10.0, 0.01)
    steps = [(0, 0.5), (1, 1.0), (2, 0.09), (3, 0.2), (4, 0.04), (6, 0.01)]
    error = np.zeros_like(time)
    for begin, value in steps:
        error[time >= begin - 1e-9] = value
    expected = {"10": 3.0, "5": 3.0, "2": 5.0}
    assert settling_times(time, error, 1.0) == pytest.approx(expected, abs=1e-9)


def test_error_that_never_settles_has_no_settling_time() -> None:
    time = np.linspace(0.0, 1.0, 101)
    assert settling_times(time, np.ones(101), 0.0) == {"10": None, "5": None, "2": None}
    late = np.append(np.ones(100), 0.0)
    assert settling_times(time, late, 0.0)["2"] == pytest.approx(1.0)


def test_error_below_a_hundredth_of_a_millimetre_is_settled_from_the_start() -> None:
    time = np.linspace(0.0, 1.0, 101)
    noise = 9e-6 * np.abs(np.sin(100.0 * time))
    assert settling_times(time, noise, 0.0) == {"10": 0.0, "5": 0.0, "2": 0.0}


@pytest.mark.parametrize("angle", np.linspace(0.0, 2.0 * np.pi, 13))
def test_ankle_limit_of_a_rectangular_support_is_that_of_the_inverted_pendulum(
    toro: Robot, angle: float
) -> None:
    """J = m sqrt(g / z) d, d the way to the edge of the rectangle around two parallel soles."""
    data = toro.model.createData()
    pin.framesForwardKinematics(toro.model, data, toro.q_nominal)
    left, right = (sole.pose(data).translation - toro.com() for sole in toro.soles)
    sole = toro.soles[0]
    front, rear = left[0] + sole.half_length, left[0] - sole.half_length
    reach_left, reach_right = left[1] + sole.half_width, right[1] - sole.half_width
    d = np.array([np.cos(angle), np.sin(angle)])
    ways = [np.inf, np.inf]
    for i, (low, high) in enumerate(((rear, front), (reach_right, reach_left))):
        if abs(d[i]) > 1e-12:
            ways[i] = (high if d[i] > 0.0 else low) / d[i]
    expected = toro.mass * np.sqrt(9.81 / toro.com()[2]) * min(ways)
    assert support_reach(toro, d) == pytest.approx(min(ways), rel=1e-6)
    push = np.array([3.0 * d[0], 3.0 * d[1], 7.0])
    assert ankle_limit(toro, push) == pytest.approx(expected, rel=1e-4)


def test_support_is_that_of_whatever_contacts_there_are(toro: Robot) -> None:
    """Not only of those called soles; single points, whose line is crossed at once, reach 0 m."""
    left, right = toro.soles
    renamed = tuple(dataclasses.replace(s, name=f"{s.name} with studs") for s in toro.soles)
    d = np.array([0.6, 0.8])
    expected = support_reach(toro, d)
    assert support_reach(dataclasses.replace(toro, soles=renamed), d) == pytest.approx(expected)
    stilts = tuple(dataclasses.replace(s, points=((0.0, 0.0),)) for s in (left, right))
    assert support_reach(dataclasses.replace(toro, soles=stilts), d) == 0.0


def test_derived_errors_and_momentum_are_those_of_the_states(toro: Robot, quiet: Recording) -> None:
    """A state off by a known shift and turn, moving at a known speed."""
    shift, turn = np.array([0.01, -0.02, 0.03]), np.array([0.1, 0.0, -0.2])
    q, v = toro.q_nominal.copy(), np.zeros(33)
    q[3:7] = pin.Quaternion(pin.exp3(turn)).coeffs()
    q[:3] += toro.com() + shift - toro.com(q)
    v[:3] = pin.exp3(turn).T @ np.array([0.3, 0.0, 0.0])
    path = _path(toro, quiet)
    derived = derive(toro, path, np.zeros(1), q[None], v[None])
    np.testing.assert_allclose(derived["com_error"][0], shift, atol=1e-12)
    np.testing.assert_allclose(derived["rotation_error"][0], turn, atol=1e-9)
    np.testing.assert_allclose(derived["momentum"][0, :3], [0.3 * toro.mass, 0, 0], atol=1e-9)


def test_lift_and_slip_are_those_of_the_soles(toro: Robot, quiet: Recording) -> None:
    """Tilted about its rear edge, a sole lifts its front corners by length times sine."""
    q = toro.q_nominal.copy()
    q[:2] += [0.003, 0.004]
    derived = derive(toro, _path(toro, quiet), np.zeros(1), q[None], np.zeros((1, 33)))
    np.testing.assert_allclose(derived["sole_slip"], 0.005, atol=1e-9)
    np.testing.assert_allclose(derived["sole_lift"], 0.0, atol=1e-6)
    ankle = 7 + toro.joint_names.index("left_ankle_pitch")
    q[ankle] -= 0.1
    tilted = derive(toro, _path(toro, quiet), np.zeros(1), q[None], np.zeros((1, 33)))
    data = toro.model.createData()
    pin.framesForwardKinematics(toro.model, data, q)
    toe = data.oMf[toro.soles[0].frame_id].act(np.array([0.04 + 0.095, 0.0475, 0.0]))
    assert tilted["sole_lift"][0, 0] == pytest.approx(toe[2], abs=1e-9)
    assert tilted["sole_lift"][0, 0] > 0.01
    assert tilted["sole_lift"][0, 1] == pytest.approx(derived["sole_lift"][0, 1], abs=1e-12)


def _path(robot: Robot, recording: Recording) -> Any:
    from balance.control import make_controller

    return make_controller(recording.config, robot).path


def test_summary_has_every_figure_that_was_promised(quiet: Recording) -> None:
    summary = quiet.summary()
    promised = {
        "outcome",
        "peak_com_error_m",
        "peak_rotation_rad",
        "peak_linear_momentum",
        "peak_angular_momentum",
        "settling_time_s",
        "impulse_Ns",
        "ankle_limit_fraction",
        "max_sole_lift_m",
        "max_sole_slip_m",
        "control_step_us",
        "realtime_factor",
    }
    assert promised <= set(summary)
    assert set(summary["settling_time_s"]) == {"10", "5", "2"}
    assert set(summary["control_step_us"]) == {"median", "p99"}
    assert summary["impulse_Ns"] == summary["ankle_limit_fraction"] == 0.0


def test_summary_of_a_known_error_states_its_peak(quiet: Recording) -> None:
    error = np.zeros((ROWS, 3))
    error[100] = [0.003, 0.0, -0.004]
    summary = changed(quiet, com_error=error).summary()
    assert summary["peak_com_error_m"] == pytest.approx(0.005)
    assert summary["peak_com_error_axes_m"] == pytest.approx([0.003, 0.0, 0.004])
    assert summary["final_com_error_m"] == 0.0


def test_empty_recording_still_has_a_summary(quiet: Recording) -> None:
    """Interrupted before the first step."""
    fields = [field.name for field in dataclasses.fields(quiet)]
    empty = {
        name: getattr(quiet, name)[:0]
        for name in fields
        if isinstance(getattr(quiet, name), np.ndarray)
    }
    summary = changed(quiet, end=aborted(Cause.INTERRUPTED, "by the user"), **empty).summary()
    assert summary["outcome"] == "aborted"
    assert summary["peak_com_error_m"] == 0.0
