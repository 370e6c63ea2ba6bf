"""Hard, soft and welded contact: equal where they should be, different where they must be."""

from __future__ import annotations

import numpy as np
import pytest

from balance.config import load_config
from balance.experiment import Experiment
from balance.recordings.recording import Recording

GRAVITY = 9.81


def pushed(contact: str, duration: float = 0.95, **more: object) -> Recording:
    overrides = {"plant.contact": contact, "duration_s": duration, **more}
    return Experiment(load_config("toro_push", overrides)).run()


@pytest.fixture(scope="module")
def runs() -> dict[str, Recording]:
    """The paper's push up to its first CoM peak, under each contact model."""
    return {contact: pushed(contact) for contact in ("hard", "soft", "welded")}


def test_all_models_agree_on_the_peak_of_the_papers_push(runs: dict[str, Recording]) -> None:
    peaks = {name: np.abs(run.com_error[:, 1]).max() for name, run in runs.items()}
    for name in ("soft", "welded"):
        assert peaks[name] == pytest.approx(peaks["hard"], rel=0.05)


def test_welded_soles_do_not_move(runs: dict[str, Recording]) -> None:
    assert runs["welded"].sole_slip.max() < 1e-5
    assert np.abs(runs["welded"].sole_lift).max() < 1e-5


def test_welded_soles_can_pull() -> None:
    """A push that tips the robot on hard ground makes a weld hold a sole down."""
    push = {"pushes.0.energy_J": 200.0, "pushes.0.time_s": 0.05}
    welded, hard = (pushed(contact, 0.4, **push) for contact in ("welded", "hard"))
    assert welded.contact_wrenches[:, :, 2].min() < -10.0
    assert hard.contact_wrenches[:, :, 2].min() >= 0.0


@pytest.mark.parametrize("stiffness", [2e4, 2e5, 2e8])
def test_soft_ground_gives_way_by_weight_over_stiffness(stiffness: float) -> None:
    """Any stiffness is stable at 1 ms, because the springs are implicit."""
    config = load_config(
        "toro_quiet",
        {"plant.contact": "soft", "plant.soft.stiffness": stiffness, "duration_s": 1.0},
    )
    recording = Experiment(config).run()
    expected = recording.robot.mass * GRAVITY / 8 / stiffness
    sunk = -recording.sole_lift[-1].mean()
    assert sunk == pytest.approx(expected, rel=0.05, abs=1e-8)
    assert np.abs(recording.v[-1]).max() < 0.1


def test_soft_contact_never_pulls_and_stays_in_the_friction_cone() -> None:
    push = {"pushes.0.energy_J": 200.0, "pushes.0.time_s": 0.05}
    recording = pushed("soft", 0.4, **push)
    forces = recording.contact_wrenches[..., :3]
    assert recording.sole_lift.max() > 1e-3  # a sole tipped
    # The force leaves the sole's normal by the friction angle plus the sole's tilt at most.
    tilt = np.arctan(recording.sole_lift.max() / 0.095)
    angle = np.arctan2(np.linalg.norm(forces[..., :2], axis=-1), forces[..., 2])
    loaded = np.linalg.norm(forces, axis=-1) > 1.0
    assert angle[loaded].max() < np.arctan(recording.config.plant.friction) + tilt


def test_a_loaded_soft_sole_does_not_creep() -> None:
    """A steady sideways force stretches the springs by force over stiffness, and no more."""
    push = {
        "pushes": [
            {
                "type": "force",
                "direction": [1, 0, 0],
                "time_s": 0.1,
                "force_N": 15.0,
                "duration_s": 0.5,
            }
        ],
        "reference": None,
    }
    recording = pushed("soft", 0.85, **push)
    under_load = 598  # the last control period but one of the push
    stretch = (
        np.abs(recording.contact_wrenches[under_load, :, 0])
        / 4
        / recording.config.plant.soft.stiffness
    )
    np.testing.assert_allclose(recording.sole_slip[under_load], stretch, rtol=0, atol=1e-5)
