"""Books of momentum and energy: they balance, and a millionth that is out of place is found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import balance
from balance.errors import ConfigError
from balance.experiment import Experiment
from balance.recordings.verdict import RunEnd
from balance.simulation.plants.pinocchio_plant import PinocchioPlant

INJECTED = 1e-6  # relative to what is already there
ROUNDING = 1e-12  # N s; steps have some 0.7 N s


def experiment(**overrides: object) -> Experiment:
    base = {"duration_s": 0.3, "pushes.0.time_s": 0.01, "plant.bookkeeping": True}
    return Experiment(balance.load_config("toro_push", base | overrides))


@pytest.mark.parametrize("contact", ["hard", "soft"])
def test_the_books_of_a_push_balance_to_rounding(contact: str) -> None:
    one = experiment(**{"plant.contact": contact})
    assert one.run().end == RunEnd()
    books = one.plant.plant  # type: ignore[attr-defined]
    assert books.momentum_error < ROUNDING
    assert books.energy_error < ROUNDING


def faster(plant: PinocchioPlant) -> None:
    plant.v = plant.v * (1.0 + INJECTED)


def pushed(plant: PinocchioPlant) -> None:
    plant.v[1] += INJECTED


def heavier(plant: PinocchioPlant) -> None:
    plant.contact_wrenches[0, 2] *= 1.0 + INJECTED


def turning(plant: PinocchioPlant) -> None:
    plant.v[20] += INJECTED


@pytest.mark.parametrize("error", [faster, pushed, heavier, turning])
def test_an_injected_error_of_a_millionth_is_found(
    monkeypatch: pytest.MonkeyPatch, error: Callable[[PinocchioPlant], None]
) -> None:
    plain_step = PinocchioPlant.step

    def step(self: PinocchioPlant, *arguments: object) -> None:
        plain_step(self, *arguments)  # type: ignore[arg-type]
        if round(self.time / self.dt) == 31:  # after the hit: everything moves
            error(self)

    monkeypatch.setattr(PinocchioPlant, "step", step)
    recording = experiment().run()
    assert recording.end.text.startswith("the books do not balance in the step from 0.03 s")
    assert recording.summary()["outcome"] == "aborted"
    assert np.isfinite(recording.q).all()


def test_books_are_for_our_own_engine() -> None:
    with pytest.raises(ConfigError, match="bookkeeping needs engine: pinocchio"):
        experiment(**{"plant.engine": "mujoco"})
