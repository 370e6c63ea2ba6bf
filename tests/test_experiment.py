"""Closed loop: the paper's push, standing still, falling, and being interrupted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from balance.config import ExperimentConfig, load_config, parse_config
from balance.control.parts.output import ControlOutput
from balance.errors import BalanceError
from balance.experiment import Experiment, run
from balance.recordings.recording import Recording
from balance.recordings.results import load_recording, save_recording
from balance.recordings.verdict import RunEnd

ROWS = ("time", "q", "v", "torques", "wrenches", "contact_wrenches", "com_error", "status")


def changed(base: ExperimentConfig, **values: Any) -> ExperimentConfig:
    return parse_config(
        base.model_dump(), "test", {k.replace("__", "."): v for k, v in values.items()}
    )


@pytest.fixture(scope="module")
def pushed(toro_config: ExperimentConfig) -> Recording:
    """The paper's experiment, until a second after the paper's CoM has settled."""
    return run(changed(toro_config, duration_s=6.8))


def test_push_of_the_paper_ends_as_the_paper_says(pushed: Recording) -> None:
    """Garofalo2015, Fig. 2: 0.045 m, 14.5 kg m/s, 0.11 rad, 4.7 s; ranges for the unpublished."""
    summary = pushed.summary()
    assert summary["outcome"] == "recovered"
    assert 3.5 < summary["settling_time_s"]["10"] < 6.0
    assert 0.035 < summary["peak_com_error_axes_m"][1] < 0.055
    assert 12.0 < summary["peak_linear_momentum"] < 17.0
    assert 0.05 < summary["peak_rotation_axes_rad"][0] < 0.15
    assert pushed.com_error[:, 1].max() == pytest.approx(summary["peak_com_error_axes_m"][1])
    assert pushed.end == RunEnd()


def test_recording_belongs_to_its_states(pushed: Recording) -> None:
    """Rows are states before the period's torques; contacts carry the weight while it stands."""
    np.testing.assert_allclose(pushed.time, 1e-3 * np.arange(6800), rtol=1e-12)
    np.testing.assert_array_equal(pushed.q[0], pushed.robot.q_nominal)
    before_push = pushed.contact_wrenches[100:500, :, 2].sum(axis=1)
    np.testing.assert_allclose(before_push, pushed.robot.mass * 9.81, rtol=1e-3)
    assert pushed.cop.shape == (6800, 2, 2)
    np.testing.assert_allclose(pushed.push_force[:500], 0.0)
    assert pushed.push_force[500:520, 1].min() > 0.0
    np.testing.assert_allclose(pushed.push_force[520:], 0.0)


def test_momentum_jumps_by_the_push(pushed: Recording) -> None:
    """The 20 ms hit is too short for the feet to answer with more than a fraction of it."""
    gained = pushed.momentum[520, 1] - pushed.momentum[500, 1]
    assert gained == pytest.approx(pushed.summary()["impulse_Ns"], rel=0.25)


def test_undisturbed_robot_stands_still() -> None:
    config = load_config("toro_quiet", {"duration_s": 2.0})
    recording = run(config)
    assert np.abs(recording.com_error).max() < 1e-5
    assert recording.summary()["outcome"] == "recovered"


@pytest.mark.parametrize("stop_after", [0.0, 0.1])
def test_huge_push_is_a_fall_with_time_and_cause(
    toro_config: ExperimentConfig, stop_after: float
) -> None:
    push = {"type": "impulse", "impulse_Ns": 150.0, "direction": [1, 0, 0], "time_s": 0.1}
    recording = run(
        changed(toro_config, pushes=[push], duration_s=5.0, stop_after_fall_s=stop_after)
    )
    summary = recording.summary()
    assert summary["outcome"] == "fell"
    assert "the base" in summary["cause"]
    assert 0.2 < summary["time_of_fall_s"] < 2.0
    last = recording.time[-1] + 1e-3
    assert last == pytest.approx(summary["time_of_fall_s"] + stop_after, abs=1e-9)


@pytest.mark.parametrize("name", ["toro_front", "talos_push", "icub_push", "g1_push"])
def test_every_robot_takes_its_push(name: str) -> None:
    summary = run(load_config(name, {"duration_s": 2.5})).summary()
    assert summary["outcome"] == "recovered"
    assert summary["peak_com_error_m"] > 0.01
    assert summary["final_com_error_m"] < 0.5 * summary["peak_com_error_m"]


@pytest.mark.parametrize("step_s", [1e-3, 2e-3])
def test_control_at_500_hz_recovers_as_well(toro_config: ExperimentConfig, step_s: float) -> None:
    config = changed(toro_config, control_period_s=2e-3, plant__step_s=step_s, duration_s=5.0)
    recording = run(config)
    assert recording.time.size == 2500
    assert recording.summary()["outcome"] == "recovered"


def test_smaller_simulation_steps_tell_the_same_story(toro_config: ExperimentConfig) -> None:
    """Peak of a light push at 1 ms and 0.25 ms: first order in a step of 1 ms."""
    light = {"pushes__0__energy_J": 1.0, "pushes__0__time_s": 0.05, "duration_s": 0.35}
    peaks = [
        run(changed(toro_config, plant__step_s=step, **light)).com_error[:, 1].max()
        for step in (1e-3, 2.5e-4)
    ]
    assert peaks[0] == pytest.approx(peaks[1], rel=0.03)


def test_two_runs_are_bitwise_equal(toro_config: ExperimentConfig, pushed: Recording) -> None:
    again = run(changed(toro_config, duration_s=0.8))
    for name in ROWS:
        np.testing.assert_array_equal(getattr(again, name), getattr(pushed, name)[:800])


def interrupt_after(experiment: Experiment, seconds: float, error: BaseException) -> None:
    step = experiment.controller.step

    def interrupted(q: Any, v: Any, t: float) -> ControlOutput:
        if t >= seconds - 1e-9:
            raise error
        return step(q, v, t)

    experiment.controller.step = interrupted  # type: ignore[method-assign]


def test_interrupted_run_keeps_what_was_simulated(
    toro_config: ExperimentConfig, pushed: Recording, tmp_path: Any
) -> None:
    experiment = Experiment(changed(toro_config, duration_s=1.5))
    interrupt_after(experiment, 0.25, KeyboardInterrupt())
    recording = experiment.run()
    assert recording.time.size == 250
    summary = recording.summary()
    assert (summary["outcome"], summary["cause"]) == ("aborted", "interrupted by the user")
    for name in ROWS:
        np.testing.assert_array_equal(getattr(recording, name), getattr(pushed, name)[:250])
    save_recording(recording, tmp_path / "result")
    kept = load_recording(tmp_path / "result")
    assert kept.summary()["outcome"] == "aborted"
    np.testing.assert_array_equal(kept.q, recording.q)


def test_interrupt_from_the_progress_bar_keeps_what_was_simulated(
    toro_config: ExperimentConfig,
) -> None:
    def progress(simulated: float, elapsed: float) -> None:
        if simulated > 0.15:
            raise KeyboardInterrupt

    recording = run(changed(toro_config, duration_s=1.0), progress)
    assert 150 < recording.time.size < 400
    assert recording.summary()["outcome"] == "aborted"


def test_simulation_that_breaks_down_is_aborted_with_its_cause(
    toro_config: ExperimentConfig,
) -> None:
    experiment = Experiment(changed(toro_config, duration_s=1.0))
    interrupt_after(
        experiment, 0.05, FloatingPointError("the mass matrix is not positive definite")
    )
    summary = experiment.run().summary()
    assert (summary["outcome"], summary["simulated_s"]) == ("aborted", pytest.approx(0.05))
    assert summary["cause"] == "the mass matrix is not positive definite"


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("robot", "torro", ["torro", "did you mean 'toro'?"]),
        ("pushes.0.body", "hipp", ["pushes.0.body", "hipp", "did you mean 'hip'?"]),
        ("controller.qp.solver", "quadprg", ["'controller.qp.solver' = 'quadprg'", "'quadprog'?"]),
        (
            "controller.contacts.cop_margin_m",
            0.2,
            ["'controller.contacts'", "cop_margin", "0.2", "0.0475"],
        ),
        (
            "controller.contacts.max_normal_force_N",
            5.0,
            ["'controller.contacts'", "max_normal_force", "5.0", "10.0"],
        ),
        ("plant.joint_damping", {"left_kne": 1.0}, ["joint_damping", "did you mean 'left_knee'?"]),
    ],
)
def test_mistake_that_only_the_robot_reveals_is_one_sentence(
    toro_config: ExperimentConfig, key: str, value: Any, told: list[str]
) -> None:
    config = parse_config(toro_config.model_dump(), "test", {key: value})
    with pytest.raises(BalanceError) as caught:
        run(config)
    message = str(caught.value)
    assert "\n" not in message
    for part in told:
        assert part in message
