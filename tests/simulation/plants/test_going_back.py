"""A plant that goes back is where it was: the same step again gives the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from balance.config import PlantConfig
from balance.config.schema import validate
from balance.robots import Robot
from balance.simulation.plants import make_plant


@pytest.mark.parametrize("contact", ["hard", "soft", "welded"])
@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_what_follows_is_the_same_after_another_step_was_taken_back(
    toro: Robot, engine: str, contact: str
) -> None:
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    rng = np.random.default_rng(1)
    plants: list[Any] = [
        make_plant(validate(PlantConfig, {"engine": engine, "contact": contact}, "test"), toro)
        for _ in range(2)
    ]
    for plant in plants:
        plant.reset(toro.q_nominal, np.full(33, 0.05))  # soles slide and tip
    straight, detour = plants
    for _ in range(12):
        torques, other = 20.0 * rng.normal(size=(2, 27))
        straight.step(torques)
        assert detour.remember()
        detour.step(other)
        assert (detour.v != straight.v).any()
        detour.go_back()
        detour.step(torques)
        for name in ("q", "v", "time", "contact_wrenches"):
            np.testing.assert_array_equal(getattr(detour, name), getattr(straight, name))
