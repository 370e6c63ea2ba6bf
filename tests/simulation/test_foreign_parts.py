"""A user's own push and engine: checked when they are made, and no traceback when they fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import balance
from balance.errors import ConfigError, ResultError
from balance.recordings.verdict import EndKind

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
POINT_MASS = f"{EXAMPLES}/my_engines.py:PointMass"
SHOVE = {
    "type": f"{EXAMPLES}/my_pushes.py:Shove",
    "direction": [1.0, 0.0, 0.0],
    "time_s": 0.05,
    "impulse_Ns": 40.0,
    "duration_s": 0.02,
}

CODE = """
import sys
sys.path.insert(0, {folder!r})
from my_engines import PointMass
from my_pushes import Shove

class Late(PointMass):
    def step(self, torques, impulses=()):
        if self.time > 0.1:
            raise KeyError("out of steps")
        super().step(torques, impulses)

class Small(PointMass):
    def __init__(self, *given):
        super().__init__(*given)
        self.q = self.q[:3]

class Hasty(PointMass):
    def __init__(self, *given):
        super().__init__(*given)
        self.dt = 0.5

class Torn(Shove):
    def delivered(self, share):
        if share > 0.75:
            raise IndexError("torn")
        return share

class Endless(Shove):
    def __init__(self, config, robot):
        super().__init__(config, robot)
        self.duration = float("inf")

class Lost(Shove):
    def __init__(self, config, robot):
        raise LookupError("lost")
"""


@pytest.fixture
def code(tmp_path: Path) -> str:
    file = tmp_path / "faulty.py"
    file.write_text(CODE.format(folder=str(EXAMPLES)))
    return str(file)


def config(**changed: Any) -> balance.ExperimentConfig:
    tree = {"robot": "toro", "duration_s": 0.4, "controller": {"law": "momentum"}, **changed}
    return balance.load_config(tree)


def test_a_point_mass_slides_as_far_as_coulomb_says() -> None:
    """v^2 / (2 mu g), less what friction takes during the shove; one step's travel aside."""
    pushed = config(plant={"engine": POINT_MASS}, pushes=[SHOVE])
    recording = balance.run(pushed)
    mass, mu, g, duration = recording.robot.mass, pushed.plant.friction, 9.81, 0.02
    # The force grows as 2 J t / T^2 and friction holds until it exceeds mu m g.
    held = mu * mass * g * duration**2 / (2.0 * SHOVE["impulse_Ns"])  # type: ignore[operator]
    t = np.linspace(held, duration, 20001)
    speed = SHOVE["impulse_Ns"] * (t**2 - held**2) / duration**2 / mass - mu * g * (t - held)  # type: ignore[operator]
    wanted = np.trapezoid(speed, t) + speed[-1] ** 2 / (2.0 * mu * g)
    moved = recording.q[-1, :3] - recording.q[0, :3]
    assert moved[0] == pytest.approx(wanted, abs=speed[-1] * pushed.plant.step_s)
    assert moved[1] == moved[2] == 0.0
    assert recording.summary()["engine"] == "my_engines.py:PointMass"


def test_a_result_with_a_push_of_the_users_own_is_read_without_its_code(tmp_path: Path) -> None:
    other = {"type": "impulse", "direction": [0.0, 1.0, 0.0], "time_s": 0.1, "impulse_Ns": 1.0}
    recording = balance.run(config(plant={"engine": POINT_MASS}, pushes=[SHOVE, other]))
    folder = balance.save_recording(recording, tmp_path / "run")
    text = (folder / "config.yaml").read_text().replace(str(EXAMPLES), str(tmp_path / "gone"))
    (folder / "config.yaml").write_text(text)
    found = balance.load_recording(folder)
    assert found.summary() == recording.summary()
    assert [push.impulse for push in found.pushes] == [40.0, 1.0]
    summary = json.loads((folder / "summary.json").read_text())
    del summary["pushes"][0]["end_s"]
    (folder / "summary.json").write_text(json.dumps(summary))
    with pytest.raises(ResultError, match=r"summary\.json is missing or damaged"):
        balance.load_recording(folder)


def test_an_engine_that_raises_ends_the_run_and_what_was_simulated_is_kept(code: str) -> None:
    recording = balance.run(config(plant={"engine": f"{code}:Late"}))
    assert recording.end.kind is EndKind.ABORTED
    assert recording.time.size == pytest.approx(101, abs=1)
    told = recording.summary()["cause"]
    assert "engine 'faulty.py:Late': KeyError in faulty.py, line" in told


def test_a_push_that_raises_ends_the_run_and_what_was_simulated_is_kept(code: str) -> None:
    torn = {**SHOVE, "type": f"{code}:Torn"}
    recording = balance.run(config(plant={"engine": POINT_MASS}, pushes=[torn]))
    assert recording.end.kind is EndKind.ABORTED
    assert 60 <= recording.time.size <= 70
    assert "push 'faulty.py:Torn': IndexError" in recording.summary()["cause"]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"plant": {"engine": "Small"}}, r"its 'q' has the shape \(3,\); robot 'toro' needs"),
        ({"plant": {"engine": "Hasty"}}, r"its 'dt' is 0\.5, not plant\.step_s = 0\.001"),
        ({"pushes": [{"type": "Endless"}]}, r"its duration inf s; both must be finite"),
        ({"pushes": [{"type": "Lost"}]}, r"cannot be made: LookupError in faulty\.py, line \d+"),
        ({"plant": {"engine": "Late", "kp": 1}}, r"unknown key 'plant\.kp'"),
    ],
)
def test_what_does_not_fit_the_robot_is_one_sentence(
    code: str, changed: dict[str, Any], told: str
) -> None:
    if "plant" in changed:
        changed = {"plant": {**changed["plant"], "engine": f"{code}:{changed['plant']['engine']}"}}
    else:
        changed = {"pushes": [{**SHOVE, "type": f"{code}:{changed['pushes'][0]['type']}"}]}
    with pytest.raises(ConfigError, match=told) as caught:
        balance.run(config(**changed))
    assert "\n" not in str(caught.value)
