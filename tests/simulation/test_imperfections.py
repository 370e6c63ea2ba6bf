"""Whole experiments with imperfections: they repeat, they are off by default, they are recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from balance.config import load_config
from balance.errors import BalanceError, ConfigError
from balance.experiment import Experiment, run
from balance.recordings.results import load_recording, save_recording
from balance.simulation.drives import ActuatedPlant

SHORT = {"duration_s": 0.25, "pushes": []}
ALL: dict[str, Any] = {
    **SHORT,
    "seed": 5,
    "state": "estimated",
    "sensors": {"preset": "default", "delay_s": 0.0015},
    "actuators": {"lag_s": 0.002, "dropped_share": 0.3, "coulomb_Nm": 1.0, "rotor_inertia": 0.05},
    "mismatch": {"mass_scale": {"uniform": [0.9, 1.1]}, "sole_scale": 0.95},
    "ground": {"tilt_deg": [1.0, 0.0]},
}


def test_everything_but_the_speed_curve_is_off_by_default() -> None:
    """Without it no wrapper is in the way, and the robot of the plant is that of the law."""
    assert load_config("toro_push").actuators.exact_at_low_speed
    experiment = Experiment(load_config("toro_push", {"actuators.speed_torque": None}))
    q, v = experiment.robot.q_nominal, np.zeros(experiment.robot.model.nv)
    seen_q, seen_v = experiment.perception.see(q, v, 0.0)
    assert seen_q is q and seen_v is v
    assert not isinstance(experiment.plant, ActuatedPlant)
    assert experiment.robot is experiment.modelled_robot


def test_perfect_sensors_and_drives_change_nothing() -> None:
    plain = run(load_config("toro_push", SHORT))
    config = load_config("toro_push", {**SHORT, "sensors": {}, "actuators": {}})
    through = run(config)
    np.testing.assert_array_equal(through.q, plain.q)
    np.testing.assert_array_equal(through.torques, plain.torques)


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_a_noisy_run_repeats_bit_by_bit(engine: str, tmp_path: Path) -> None:
    """Also from the resolved config of its result folder; another seed gives another run."""
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    config = load_config("toro_push", {**ALL, "plant.engine": engine})
    first = run(config)
    folder = save_recording(first, tmp_path / "run")
    again = run(load_config(folder / "config.yaml"))
    loaded = load_recording(folder)
    for name in ("q", "v", "torques", "contact_wrenches", "estimation"):
        np.testing.assert_array_equal(getattr(again, name), getattr(first, name))
        np.testing.assert_array_equal(getattr(loaded, name), getattr(first, name))
    assert loaded.robot.mass == first.robot.mass
    other = run(load_config("toro_push", {**ALL, "plant.engine": engine, "seed": 6}))
    assert (other.torques != first.torques).any()
    assert other.robot.mass != first.robot.mass


def test_law_uses_the_modelled_robot_and_the_plant_the_true_one() -> None:
    config = load_config("toro_push", {**SHORT, "mismatch.mass_scale": 1.2})
    experiment = Experiment(config)
    recording = experiment.run()
    weight = 9.81 * experiment.modelled_robot.mass
    asked = recording.wrenches[0, :, 2].sum()
    assert asked == pytest.approx(weight, rel=1e-3)
    assert recording.robot.mass == pytest.approx(1.2 * experiment.modelled_robot.mass)


def test_delay_shifts_what_the_law_sees() -> None:
    """The response to a push begins as many periods later as the readings are old."""
    push = {"type": "impulse", "direction": [0, 1, 0], "time_s": 0.005, "impulse_Ns": 5.0}
    base = {"duration_s": 0.26, "pushes": [{**push, "duration_s": 0.0}]}
    quiet = run(load_config("toro_push", {**base, "pushes": []})).torques

    def first_response(delay: float) -> int:
        config = load_config("toro_push", {**base, "sensors.delay_s": delay})
        change = np.abs(run(config).torques - quiet).max(axis=1)
        return int(np.flatnonzero(change > 0.5)[0])

    prompt = first_response(0.0)
    assert [first_response(0.001 * k) for k in (1, 3)] == [prompt + 1, prompt + 3]


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        ({"sensors.delay_s": 20.0}, "sensors.delay_s = 20 s reaches beyond the run"),
        ({"state": "guessed"}, "'state' = 'guessed'"),
        ({"state": False}, "'state' = False"),
        ({"sensors.presets": "default"}, "did you mean 'preset'?"),
        ({"sensors.preset": "noisy"}, "preset"),
        ({"sensors.preset": {"default": 1}}, "preset"),
        ({"sensors.preset": ["default"]}, "preset"),
        ({"sensors.encoder_noise_rad": -1.0}, "encoder_noise_rad"),
        ({"sensors.velocity.source": "guessed"}, "'measured' or 'differentiated'"),
    ],
)
def test_wrong_imperfections_get_one_sentence(overrides: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config("toro_push", overrides)
    assert told in str(caught.value) and "\n" not in str(caught.value)


def test_state_may_be_written_as_word_or_truth_value() -> None:
    assert load_config("toro_push", {"state": "true"}) == load_config("toro_push", {"state": True})


def test_contact_of_a_body_without_a_surface_gets_one_sentence() -> None:
    config = load_config("toro_table", {"stance.contacts.2": "head", "stance.planes": {}})
    with pytest.raises(ConfigError, match=r"the body 'head' .* has no contact surface"):
        Experiment(config)


@pytest.mark.parametrize("name", ["toro_table", "toro_single_support", "toro_points"])
def test_estimate_stands_on_whatever_bears_the_robot(name: str) -> None:
    """One sole, two and a hand, or points: every contact surface is an anchor."""
    config = load_config(name, {"state": "estimated", "duration_s": 0.25, "pushes": []})
    recording = run(config)
    assert recording.estimation is not None
    assert np.abs(recording.estimation[:, :6]).max() < 1e-3


def test_ground_out_of_reach_gets_one_sentence() -> None:
    config = load_config("toro_push", {"ground.heights_m": {"left sole": 2.0}})
    with pytest.raises(BalanceError) as caught:
        Experiment(config)
    assert "\n" not in str(caught.value)
