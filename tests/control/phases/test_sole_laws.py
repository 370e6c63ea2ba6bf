"""Laws that share a wrench among soles, through a sequence of stances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from balance.config import load_config
from balance.config.tasks import FrameTaskConfig
from balance.control.parts.frame_path import FrameTarget
from balance.control.parts.limb_task import LimbTask
from balance.control.parts.support import Support
from balance.errors import ConfigError
from balance.experiment import Experiment
from balance.recordings.judging import judge
from balance.recordings.phase_rows import largest_force_error
from balance.recordings.verdict import Outcome
from balance.robots import Robot

COARSE = {"control_period_s": 0.002, "plant.step_s": 0.002}
GAINS = {
    "com": {"frequency_hz": 1.0, "damping_ratio": 1.0},
    "rotation": {"frequency_hz": 1.0, "damping_ratio": 1.0},
}


@pytest.mark.parametrize(
    ("law", "engine"),
    [
        ({"law": "momentum"}, "pinocchio"),
        ({"law": "momentum", "tracking": True}, "mujoco"),
        ({"law": "ott2011"}, "mujoco"),
        ({"law": "virtual_model"}, "pinocchio"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(map(str, value.values())),
)
def test_a_foot_is_lifted_and_put_back(law: dict[str, Any], engine: str) -> None:
    keys = {"plant.engine": engine, "controller": law | {"gains": GAINS}, "duration_s": 6.5}
    recording = Experiment(load_config("toro_lift_foot", COARSE | keys)).run()
    assert judge(recording).outcome is Outcome.RECOVERED, judge(recording).text
    assert recording.bearing is not None
    assert recording.sole_lift[recording.bearing[:, 1] == 0.0, 1].max() > 0.07
    error = largest_force_error(recording)
    assert error is not None and error < 10.0


@pytest.mark.parametrize("law", ["momentum", "ott2011", "virtual_model"])
def test_a_palm_that_bears_is_refused(law: str) -> None:
    keys = {"controller": {"law": law, "gains": GAINS}}
    with pytest.raises(ConfigError, match="on soles alone, and the right palm bears too"):
        Experiment(load_config("toro_palm", keys))


def test_virtual_forces_of_a_stance_that_stays_are_refused() -> None:
    force = {"frame": "trunk", "force_N": [5.0, 0.0, 0.0]}
    keys = {"controller": {"law": "virtual_model", "virtual_forces": [force], "gains": GAINS}}
    with pytest.raises(ConfigError, match="phases need the springs of gains alone"):
        Experiment(load_config("toro_lift_foot", keys))


def test_a_limb_accelerates_as_its_task_asks_while_the_base_is_held(toro: Robot) -> None:
    """By forward dynamics of the leg alone, gravity aside: what a held base leaves to move."""
    model, data = toro.model, toro.model.createData()
    rng = np.random.default_rng(4)
    sole = toro.soles[1]
    task = FrameTaskConfig(frame=sole.frame, frequency_hz=3.0, damping_ratio=0.7)
    limb = LimbTask(toro, task, 1.0, 1.0)
    q = pin.integrate(model, toro.q_nominal, 0.1 * rng.uniform(-1.0, 1.0, model.nv))
    v = np.zeros(model.nv)
    v[6 + limb.joints] = 0.3 * rng.normal(size=len(limb.joints))
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    here = pin.updateFramePlacement(model, data, limb.frame)
    place = here.translation + np.array([0.02, -0.01, 0.03])
    turn = pin.exp3(np.array([0.02, 0.05, -0.03]))
    speed, bend = 0.1 * rng.normal(size=6), rng.normal(size=6)
    limb.lead(FrameTarget(place, turn @ here.rotation, speed, bend, True))
    torques = limb.torques(Support(toro).at(q, v), np.zeros(model.nv - 6))

    own = 6 + limb.joints
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    dv = np.zeros(model.nv)
    dv[own] = np.linalg.solve(M[np.ix_(own, own)], torques)
    pin.forwardKinematics(model, data, q, v, dv)
    axes = pin.LOCAL_WORLD_ALIGNED
    actual = pin.getFrameClassicalAcceleration(model, data, limb.frame, axes).vector
    velocity = pin.getFrameVelocity(model, data, limb.frame, axes).vector
    omega, error = 2.0 * np.pi * 3.0, np.append([0.02, -0.01, 0.03], [0.02, 0.05, -0.03])
    expected = bend + 2.0 * 0.7 * omega * (speed - velocity) + omega**2 * error
    np.testing.assert_allclose(actual, expected, atol=1e-8)
