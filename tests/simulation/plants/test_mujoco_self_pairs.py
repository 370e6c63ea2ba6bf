"""Steps of the model without the robot's own pairs are those of the whole one, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from balance.config import load_config
from balance.control import make_controller
from balance.robots.stance import robot_of
from balance.simulation.plants import mujoco_self_pairs
from balance.simulation.plants.interface import BodyImpulse
from balance.simulation.plants.mujoco_plant import MujocoPlant


@pytest.mark.parametrize(
    ("config_name", "contact", "push", "near"),
    [
        ("toro_push", "hard", 12.0, False),
        ("toro_push", "welded", 1.0, False),
        ("icub_push", "hard", 12.0, True),
        ("talos_push", "hard", 2.0, False),
    ],
)
def test_both_models_make_the_same_steps(
    config_name: str, contact: str, push: float, near: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pushed, while damping and friction change; ``near``: bodies come near each other."""
    monkeypatch.setattr(mujoco_self_pairs, "FEWEST_PAIRS", 1)
    config = load_config(config_name)
    robot = robot_of(config)
    plant_config = config.plant.model_copy(update={"contact": contact, "collisions": "all"})
    plants = [MujocoPlant(plant_config, robot) for _ in range(2)]
    plant, whole = plants
    stepped = _stepped(plant)
    whole._self_pairs = None
    law = make_controller(config, robot)
    impulse = BodyImpulse(robot.push_body, np.zeros(3), np.array([push, 0.5 * push, 0.0]))
    for step in range(700):
        torques = law.step(whole.q, whole.v, whole.time).torques
        for one in plants:
            if step == 60:
                one.joint_damping += 0.3
                one.set_friction(0, 0.4)
            if step == 30:
                one.reset(robot.q_nominal, np.zeros(robot.model.nv))
            one.step(torques, [impulse] if 50 <= step < 53 else [])
        assert np.array_equal(plant.q, whole.q)
        assert np.array_equal(plant.v, whole.v)
        assert np.array_equal(plant.contact_wrenches, whole.contact_wrenches)
        assert len(plant.touches) == len(whole.touches)
    assert False in stepped
    assert True in stepped or not near


def _stepped(plant: MujocoPlant) -> list[bool]:
    """A list that tells of every step from now on whether the whole model made it."""
    pairs, whole = plant._self_pairs, []
    assert pairs is not None
    choose = pairs.model

    def told(q: np.ndarray) -> object:
        model = choose(q)
        whole.append(model is plant.model)
        return model

    pairs.model = told  # type: ignore[method-assign]
    return whole
