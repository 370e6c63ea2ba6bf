"""The pendulum beside a robot: energy, momentum, and one answer in both engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import balance
from balance.config import PlantConfig
from balance.config.pendulum import PendulumConfig
from balance.config.schema import validate
from balance.errors import ConfigError
from balance.recordings.recording import Recording
from balance.robots import Robot
from balance.simulation.pendulum_plant import PendulumPlant
from balance.simulation.plants import make_plant

ENGINES = ("pinocchio", "mujoco")
FALL = {"type": "fall", "energy_J": 12.0}


def make(robot: Robot, engine: str, **keys: Any) -> PendulumPlant:
    tree = {"direction": [1.0, 0.0, 0.0], "motion": FALL, **keys}
    config = validate(PendulumConfig, tree, "the pendulum")
    return PendulumPlant(make_plant(PlantConfig(engine=engine), robot), config, robot)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("body", "direction"), [("hip", [1, 0, 0]), ("trunk", [1, -2, 0])])
def test_a_limp_robot_in_the_air_takes_over_what_the_pendulum_loses(
    toro: Robot, engine: str, body: str, direction: list[float]
) -> None:
    """Energy and momentum of the whole robot, by Pinocchio, against the pendulum's own books."""
    plant = make(toro, engine, body=body, direction=[float(x) for x in direction])
    twin = make(toro, engine, time_s=9.0)  # which falls untouched: an engine's step is not exact
    q = toro.q_nominal.copy()
    q[2] += 8.0
    model, data = toro.model, toro.model.createData()
    for one in (plant, twin):
        one.reset(q, np.zeros(model.nv))
    force = [0.0]
    while force[-1] > 0.0 or max(force) == 0.0:  # to the end of the hit, before joints reach stops
        for one in (plant, twin):
            one.step(np.zeros(model.nv - 6))
        force.append(float(np.linalg.norm(plant.impulse)))
    energies = []
    for one in (plant, twin):
        kinetic = pin.computeKineticEnergy(model, data, one.q, one.v)
        energies.append(float(kinetic + pin.computePotentialEnergy(model, data, one.q)))
    gained, history = energies[0] - energies[1], plant.history()
    unit = np.array(direction) / np.linalg.norm(direction)
    pin.computeCentroidalMomentum(model, data, plant.q, plant.v)
    impulse = history.force.sum() * plant.dt
    assert impulse > 5.0
    assert data.hg.linear[:2] @ unit[:2] == pytest.approx(impulse, rel=2e-3)
    assert gained == pytest.approx(history.work_J, abs=0.01 * 12.0)
    spent = history.work_J + history.friction_J + history.pad_loss_J + history.left_J
    assert spent == pytest.approx(12.0, rel=0.01)


@pytest.fixture(scope="module")
def hits() -> dict[str, Recording]:
    keys = {"pushes": [], "duration_s": 1.0, "control_period_s": 0.002}
    pendulum = {"direction": [1.0, 0.0, 0.0], "motion": FALL}
    return {
        engine: balance.run(
            "toro_side", overrides={**keys, "plant.engine": engine, "pendulum": pendulum}
        )
        for engine in ENGINES
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_energy_of_a_hit_is_accounted_for_to_one_percent(
    hits: dict[str, Recording], engine: str
) -> None:
    found = hits[engine].pendulum
    assert found is not None
    spent = found.work_J + found.friction_J + found.pad_loss_J + found.left_J + found.spring_J
    assert spent == pytest.approx(12.0, rel=0.01)
    assert found.pad_loss_J > 0.0


def test_both_engines_feel_the_same_hit(hits: dict[str, Recording]) -> None:
    one, other = (hits[engine].pendulum for engine in ENGINES)
    assert one is not None
    assert other is not None
    assert one.force.sum() == pytest.approx(other.force.sum(), rel=0.01)
    assert one.force.max() == pytest.approx(other.force.max(), rel=0.01)
    assert one.work_J == pytest.approx(other.work_J, rel=0.01)


def test_the_recorded_push_force_is_that_of_the_pendulum(hits: dict[str, Recording]) -> None:
    recording = hits["pinocchio"]
    assert recording.pendulum is not None
    recorded = recording.push_force[:, 0].sum() * recording.config.control_period_s
    assert recorded == pytest.approx(recording.pendulum.force.sum() * 1e-3, rel=1e-9)


def test_a_body_that_the_robot_lacks_is_named(toro: Robot) -> None:
    with pytest.raises(ConfigError, match=r"pendulum.body = 'chest': robot 'toro' has no such"):
        make(toro, "pinocchio", body="chest")
