"""Verdicts say what a person would say: joint stops, short runs, several pushes, falls."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import balance
from balance.app.terminal import result_table
from balance.config import ExperimentConfig, load_config
from balance.errors import ConfigError
from balance.experiment import Experiment, run
from balance.plots.torques import torques_figure
from balance.recordings.judging import judge
from balance.recordings.limiting import limited_by
from balance.recordings.metrics import ankle_limit, up_to_fall
from balance.recordings.recording import Recording
from balance.recordings.reference import published
from balance.recordings.settling import UntilSettled, last_event_s, longest_run_s
from balance.recordings.verdict import (
    AT_STOP_RAD,
    Cause,
    EndKind,
    Outcome,
    RunEnd,
    aborted,
    bounds_table,
)

DOCS = Path(__file__).parents[2] / "docs"
KNEE = "left_knee"


def changed(recording: Recording, **arrays: Any) -> Recording:
    return dataclasses.replace(recording, **arrays)


@pytest.fixture(scope="module")
def pushed() -> Recording:
    """The paper's push, and 0.3 s to see what comes of it."""
    return run(load_config("toro_push", {"duration_s": 0.5, "pushes.0.time_s": 0.1}))


@pytest.fixture(scope="module")
def quiet() -> Recording:
    return run(load_config("toro_push", {"duration_s": 0.6, "pushes": []}))


@pytest.fixture(scope="module")
def fallen() -> Recording:
    """A push that no ankle can catch, and a second on the ground."""
    overrides = {
        "duration_s": 4.0,
        "pushes.0.time_s": 0.05,
        "pushes.0.energy_J": 150,
        "stop_after_fall_s": 0.5,
    }
    return run(load_config("toro_push", overrides))


def with_knee_at(recording: Recording, rows: slice, offset: float = 0.0) -> Recording:
    """The left knee on its upper stop, or ``offset`` rad before it."""
    column = 7 + recording.robot.joint_names.index(KNEE)
    q = recording.q.copy()
    q[rows, column] = recording.robot.model.upperPositionLimit[column] - offset
    return changed(recording, q=q)


def test_a_knee_that_comes_to_rest_on_its_stop_is_no_recovery(quiet: Recording) -> None:
    assert judge(quiet).outcome is Outcome.RECOVERED
    stuck = with_knee_at(quiet, slice(200, None))
    verdict = judge(stuck)
    assert (verdict.outcome, verdict.cause) == (Outcome.UPRIGHT, Cause.JOINT_STOP)
    assert verdict.text == "not settled at the end: left knee: on its upper stop"
    summary = stuck.summary()
    assert summary["joints_at_stop_s"] == {KNEE: pytest.approx(0.4)}
    assert limited_by(stuck) == {"left knee: on its upper stop": pytest.approx(0.4)}


@pytest.mark.parametrize(
    ("rows", "offset"),
    [
        (slice(0, None), 0.0),  # it rested there before anything happened
        (slice(200, 300), 0.0),  # it came back
        (slice(200, None), 2 * AT_STOP_RAD),  # it is near, not there
    ],
)
def test_a_knee_on_its_stop_may_have_rested_there_or_come_back(
    quiet: Recording, rows: slice, offset: float
) -> None:
    assert judge(with_knee_at(quiet, rows, offset)).outcome is Outcome.RECOVERED


def test_the_torques_figure_names_the_stop_in_the_panel_of_its_limb(quiet: Recording) -> None:
    labels = {
        axes.get_title(loc="left"): [t.get_text() for t in axes.texts if t.get_gid()]
        for axes in torques_figure(with_knee_at(quiet, slice(200, 500))).axes
    }
    assert labels.pop("Left leg") == ["left knee: on its upper stop"]
    assert not any(labels.values())


@pytest.mark.parametrize(
    "keys",
    [
        {"duration_s": 1e-9, "pushes": []},
        {"duration_s": 0.2, "pushes": []},
        {"duration_s": 0.769},  # the push ends at 0.52 s
    ],
)
def test_a_run_too_short_to_judge_is_refused_before_it_starts(keys: dict[str, Any]) -> None:
    config = load_config("toro_push", keys)
    with pytest.raises(ConfigError, match=r"a verdict needs 0.25 s .* make duration_s at least"):
        Experiment(config)


def test_a_quarter_of_a_second_after_the_push_is_enough() -> None:
    Experiment(load_config("toro_push", {"duration_s": 0.77}))


def test_a_recording_that_was_cut_off_right_after_its_push_is_not_called_recovered(
    pushed: Recording,
) -> None:
    arrays = {
        f.name: getattr(pushed, f.name)[:130]
        for f in dataclasses.fields(pushed)
        if isinstance(getattr(pushed, f.name), np.ndarray)
    }
    verdict = judge(changed(pushed, **arrays))
    assert (verdict.outcome, verdict.cause) == (Outcome.UPRIGHT, Cause.NO_TIME)


def test_each_push_is_told_on_its_own_and_the_largest_is_the_headline() -> None:
    small = {"type": "half_sine", "time_s": 0.02, "duration_s": 0.02, "body": "hip"}
    pushes = [
        {**small, "direction": [1, 0, 0], "impulse_Ns": 6.0},
        {**small, "direction": [0, 1, 0], "impulse_Ns": 8.0, "time_s": 0.06},
        {**small, "direction": [0, 0, 1], "impulse_Ns": 9.0},  # no ankle is needed for that
    ]
    recording = run(load_config("toro_push", {"duration_s": 0.4, "pushes": pushes}))
    summary = recording.summary()
    assert [push["impulse_Ns"] for push in summary["pushes"]] == pytest.approx([6.0, 8.0, 9.0])
    limits = [ankle_limit(recording.robot, np.array(p["direction"])) for p in pushes[:2]]
    fractions = [push["ankle_limit_fraction"] for push in summary["pushes"]]
    assert fractions == pytest.approx([6.0 / limits[0], 8.0 / limits[1], 0.0])
    headline = int(np.argmax(fractions))
    assert summary["ankle_limit_fraction"] == fractions[headline]
    assert summary["impulse_Ns"] == summary["pushes"][headline]["impulse_Ns"]
    assert {p["body"] for p in summary["pushes"]} == {"hip"}
    assert (summary["pushes"][1]["start_s"], summary["pushes"][1]["end_s"]) == (0.06, 0.08)


def test_a_push_in_a_bodys_axes_has_its_share_of_the_ankle_limit() -> None:
    """The hip stands upright when it is hit: its axes are the world's."""
    keys = {"duration_s": 0.4, "pushes.0.time_s": 0.05}
    world, body = (
        run(load_config("toro_push", {**keys, "pushes.0.axes": axes})).summary()
        for axes in ("world", "body")
    )
    assert body["ankle_limit_fraction"] == pytest.approx(world["ankle_limit_fraction"], rel=1e-3)
    assert world["ankle_limit_fraction"] > 0.1


def test_figures_of_a_fall_are_those_before_it_began(fallen: Recording) -> None:
    verdict, summary = judge(fallen), fallen.summary()
    assert verdict.outcome is Outcome.FELL and verdict.began_s is not None
    assert verdict.time_s is not None and verdict.began_s < verdict.time_s
    before = fallen.time <= verdict.began_s
    momentum = np.linalg.norm(fallen.momentum[:, :3], axis=1)
    assert summary["peak_linear_momentum"] == momentum[before].max() < 0.5 * momentum.max()
    assert summary["max_sole_slip_m"] <= fallen.sole_slip[before].max() < fallen.sole_slip.max()
    assert up_to_fall(fallen).time.size == before.sum()
    assert summary["settling_time_s"] == {"10": None, "5": None, "2": None}
    assert summary["simulated_s"] == pytest.approx(fallen.time.size * 1e-3)


def test_a_com_that_came_back_into_the_support_did_not_begin_the_fall(fallen: Recording) -> None:
    """Of two excursions the last one counts."""
    began = judge(fallen).began_s
    assert began is not None
    out, back = slice(5, 10), slice(10, 30)  # moved out by a metre, and where it stands
    q = fallen.q.copy()
    q[out, 0] += 1.0
    q[back] = fallen.q[0]
    assert judge(changed(fallen, q=q)).began_s == pytest.approx(began, abs=0.005)


def test_the_largest_joint_speed_is_told_with_its_joint(quiet: Recording) -> None:
    rated = quiet.robot.rated_speeds
    knee = quiet.robot.joint_names.index(KNEE)
    v = np.zeros_like(quiet.v)
    v[100, 6 + knee] = -0.5 * rated[knee]
    summary = changed(quiet, v=v).summary()
    assert summary["max_joint_speed_ratio"] == pytest.approx(0.5)
    assert summary["fastest_joint"] == KNEE


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        ({}, True),
        ({"plant.engine": "pinocchio", "pushes.0.time_s": 0.2}, True),
        ({"reference.name": "quoted"}, True),
        ({"controller.gains.K_P": [6000, 2500, 4000]}, False),
        ({"controller.gains.K_P": [6000, 2500, 4000], "reference.name": "quoted"}, False),
        ({"pushes.0.energy_J": 10.0}, False),
        ({"pushes.0.direction": [1, 0, 0]}, False),
        ({"pushes.0.body": "trunk"}, False),
        ({"robot": "talos", "pushes.0.body": "base_link"}, False),
        ({"mismatch.mass_scale": 1.05}, False),
        ({"controller.gains.D": 3, "reference": {"name": "mine", "values": {"x": 1}}}, True),
    ],
)
def test_the_papers_column_belongs_to_the_papers_experiment(
    pushed: Recording, keys: dict[str, Any], shown: bool
) -> None:
    base = {"duration_s": 0.6, "pushes.0.time_s": 0.1}
    experiment = Experiment(load_config("toro_push", base | keys))
    recording = changed(
        pushed,
        config=experiment.config,
        robot=experiment.robot,
        pushes=tuple(experiment.pushes),
    )
    assert (published(recording) is not None) == shown


def test_the_table_has_the_papers_column_for_its_experiment_only(pushed: Recording) -> None:
    assert [c.header for c in result_table(pushed).columns] == ["quantity", "ours", "Garofalo2015"]
    softer = pushed.config.model_copy(
        update={"controller": load_config("toro_push", {"controller.gains.D": 3}).controller}
    )
    assert len(result_table(changed(pushed, config=softer)).columns) == 2


@pytest.mark.parametrize(
    "end",
    [
        RunEnd(),
        RunEnd(EndKind.SETTLED, 4.5),
        RunEnd(EndKind.FELL, 1.25, Cause.TILT, "the base tilted: by much"),
        aborted(Cause.INTERRUPTED, "interrupted by the user"),
    ],
)
def test_how_a_run_ended_is_read_as_it_was_written(end: RunEnd) -> None:
    facts = {key.encode(): value.encode() for key, value in end.facts().items()}
    assert RunEnd.from_facts(facts) == end


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("finished", RunEnd()),
        (
            "fell at 1.25 s: the base sank: low",
            RunEnd(EndKind.FELL, 1.25, Cause.HEIGHT, "the base sank: low"),
        ),
        ("aborted: 1/0", aborted(Cause.ERROR, "1/0")),
    ],
)
def test_logs_of_the_first_version_still_say_how_they_ended(text: str, end: RunEnd) -> None:
    assert RunEnd.from_facts({b"end": text.encode()}) == end


@pytest.mark.parametrize("text", ["", "fell at x s: y", "exploded"])
def test_an_end_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        RunEnd.from_facts({b"end": text.encode()})


def test_the_page_prints_the_bounds_that_the_code_has() -> None:
    assert bounds_table() in (DOCS / "design.md").read_text(encoding="utf-8")


def event_config(**keys: Any) -> ExperimentConfig:
    return load_config("toro_push", {key.replace("__", "."): v for key, v in keys.items()})


@pytest.mark.parametrize(
    ("keys", "last"),
    [
        ({}, 0.52),
        ({"pushes": []}, 0.0),
        ({"controller__setpoints": [{"time_s": 1.0, "duration_s": 2.0}]}, 3.0),
        ({"faults": [{"type": "sensor_dropout", "time_s": 1.0, "duration_s": 0.5}]}, 1.5),
        ({"ground": {"motion": [{"type": "swing", "start_s": 1, "frequency_hz": 2}]}}, 1.5),
        ({"ground": {"motion": [{"type": "ramp", "start_s": 1, "duration_s": 2}]}}, 3.0),
    ],
)
def test_a_run_waits_for_the_last_thing_that_happens(keys: dict[str, Any], last: float) -> None:
    config = event_config(**keys)
    assert last_event_s(config) == pytest.approx(last)
    assert longest_run_s(config, UntilSettled()) == pytest.approx(last + 10.0)
    assert longest_run_s(config, UntilSettled(30.0)) == 30.0


def settled(duration_s: float, **keys: Any) -> Recording:
    push = {"type": "half_sine", "body": "hip", "direction": [1, 0, 0], "time_s": 0.0}
    push |= {"impulse_Ns": 10.0, "duration_s": 0.02}
    config = load_config("toro_push", {"duration_s": duration_s, "pushes": [push], **keys})
    return run(config, until=UntilSettled())


def test_a_run_until_the_verdict_is_settled_forgets_the_configured_duration() -> None:
    short, long = settled(0.5), settled(12.0)
    assert short.end.kind is long.end.kind is EndKind.SETTLED
    np.testing.assert_array_equal(short.q, long.q)
    assert 1.0 < short.end.time_s < 10.0
    assert judge(short).outcome is judge(long).outcome is Outcome.RECOVERED


def test_a_robot_that_stands_and_sways_is_not_called_fallen() -> None:
    """Judged in the middle of its sway it is upright, and the cause says why."""
    config = load_config("toro_push", {"duration_s": 0.9, "pushes.0.energy_J": 30})
    verdict = judge(balance.run(config))
    assert (verdict.outcome, verdict.cause) == (Outcome.UPRIGHT, Cause.UNSETTLED)
    assert verdict.time_s is None
