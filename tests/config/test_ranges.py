"""Ranges in an experiment's file become numbers, drawn from its seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from balance.config import load_config, parse_config
from balance.config.ranges import draw_ranges
from balance.errors import ConfigError

CONFIG = yaml.safe_load((Path(__file__).parents[2] / "configs" / "toro_push.yaml").read_text())


def drawn(value: Any, seed: int, key: str = "x") -> float:
    result = draw_ranges({key: value}, seed)[key]
    assert isinstance(result, float)
    return result


def test_uniform_and_normal_numbers_have_the_moments_of_their_range() -> None:
    uniform = [drawn({"uniform": [2.0, 5.0]}, seed) for seed in range(2000)]
    assert min(uniform) >= 2.0 and max(uniform) <= 5.0
    assert np.mean(uniform) == pytest.approx(3.5, abs=4 * 3.0 / np.sqrt(12 * 2000))
    normal = np.array([drawn({"normal": [1.0, 0.1]}, seed) for seed in range(2000)])
    assert np.mean(normal) == pytest.approx(1.0, abs=4 * 0.1 / np.sqrt(2000))
    assert np.std(normal) == pytest.approx(0.1, rel=0.08)
    assert np.abs(normal - 1.0).max() <= 0.3, "cut off at three standard deviations"


def test_a_number_depends_on_seed_and_key_but_not_on_its_neighbours() -> None:
    spread = {"uniform": [0.0, 1.0]}
    alone = draw_ranges({"a": spread}, 7)
    assert draw_ranges({"a": spread, "b": spread}, 7)["a"] == alone["a"]
    assert draw_ranges({"b": spread}, 7)["b"] != alone["a"]
    assert draw_ranges({"a": spread}, 8) != alone


def test_any_number_of_an_experiment_may_be_a_range() -> None:
    """In mappings and lists alike; the resolved experiment says the numbers, and repeats them."""
    overrides = {
        "seed": 3,
        "plant.friction": {"uniform": [0.3, 0.9]},
        "mismatch.mass_scale": {"normal": [1.0, 0.02]},
        "pushes.0.direction": [{"uniform": [0.0, 1.0]}, 1, 0],
    }
    config = load_config("toro_push", overrides)
    assert 0.3 < config.plant.friction < 0.9
    assert config.mismatch is not None and config.mismatch.mass_scale != 1.0
    assert 0.0 < config.pushes[0].direction[0] < 1.0
    assert load_config("toro_push", overrides) == config
    again = config.model_dump(mode="json", exclude_none=True)
    assert parse_config(again, "again") == config
    assert load_config("toro_push", {**overrides, "seed": 4}).plant != config.plant


MISMATCHES = (
    "mismatch.mass_scale",
    "mismatch.inertia_scale",
    "mismatch.com_offset_m.1",
    "mismatch.links.trunk.mass_scale",
    "mismatch.links.trunk.inertia_scale",
    "mismatch.links.trunk.com_offset_m.0",
    "mismatch.payload.mass_kg",
    "mismatch.payload.point_m.2",
    "mismatch.sole_scale",
    "plant.friction",
    "plant.soft.stiffness",
    "plant.soft.damping",
    "ground.tilt_deg.0",
    "ground.heights_m.left sole",
    "ground.motion.0.start_s",
    "ground.motion.0.translation_m.1",
    "ground.motion.0.tilt_deg.1",
)


@pytest.mark.parametrize("key", MISMATCHES)
def test_every_mismatch_is_drawn_from_its_range_by_the_seed(key: str) -> None:
    still = {"type": "ramp", "start_s": 1.0, "duration_s": 1.0}
    zero = [0.0, 0.0, 0.0]
    given = {
        "mismatch": {
            "com_offset_m": zero,
            "links": {"trunk": {"com_offset_m": zero}},
            "payload": {"body": "right_hand", "mass_kg": 1.0, "point_m": zero},
        },
        "ground": {
            "tilt_deg": [0, 0],
            "motion": [still | {"translation_m": zero, "tilt_deg": [0, 0]}],
        },
        key: {"uniform": [0.9, 1.1]},
    }
    drawn = set()
    for seed in (1, 2):
        tree = load_config("toro_push", {**given, "seed": seed}).model_dump(mode="json")
        for part in key.split("."):
            tree = tree[int(part)] if isinstance(tree, list) else tree[part]
        assert 0.9 <= tree <= 1.1
        drawn.add(tree)
    assert len(drawn) == 2


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"uniform": [1.0]}, "two numbers"),
        ({"uniform": "wide"}, "two numbers"),
        ({"uniform": [2.0, 1.0]}, "low must not exceed high"),
        ({"normal": [1.0, -0.1]}, "std must not be negative"),
        ({"normal": [0.0, 0.0, 1.0]}, "plant.friction"),
        ({"uniform": [-2.0, -1.0]}, "plant.friction"),
    ],
)
def test_wrong_ranges_get_one_sentence(value: Any, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(CONFIG, "file.yaml", {"plant.friction": value})
    message = str(caught.value)
    assert message.startswith("file.yaml") and told in message and "\n" not in message


def test_an_experiment_that_is_nothing_but_a_range_is_refused() -> None:
    with pytest.raises(ConfigError, match="mapping of keys, not a range"):
        parse_config({"uniform": [0.0, 1.0]}, "run.yaml")
