"""Contacts that press as hard as they are told, in the command and as the engines measure it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from law_samples import moved, on_contacts
from numpy.typing import NDArray
from whole_body_samples import contact_accelerations, forward

from balance.config import ExperimentConfig, load_config
from balance.control import make_controller
from balance.control.parts.distribution import contact_cones
from balance.control.parts.output import ControlStatus
from balance.errors import ConfigError
from balance.experiment import run
from balance.robots.stance import robot_of

Array = NDArray[np.float64]

MET_N = 0.01  # what the small cost of an uneven share takes from a weighted task
PHYSICS = ["dynamics", "contacts", "cones", "torque_limits"]
LAWS: dict[str, dict[str, Any]] = {
    "whole_body_qp": {
        "tasks": {"com": 1.0, "base": 1.0, "posture": 0.1, "wanted_forces": 1.0},
        "feet_down": False,  # a foot off its plane by what states are moved here is at rest
    },
    "hierarchical": {
        "priorities": [PHYSICS, ["wanted_forces"], ["com"], ["base"], ["posture"]],
    },
}


def press(law: str, wanted: dict[str, Any], **keys: Any) -> ExperimentConfig:
    controller = {"law": law, "wanted_forces": wanted, **LAWS[law]}
    return load_config("toro_press", {"controller": controller, **keys})


@pytest.mark.parametrize("law", LAWS)
def test_the_commanded_force_is_the_wanted_one_in_chosen_axes(law: str) -> None:
    """On contacts that stay at rest, by forward dynamics, and with the sign of pressing."""
    wanted = {
        "right palm": {"normal_N": 50.0, "along_N": [6.0, -4.0]},
        "left sole": {"normal_N": 400.0},
    }
    config = press(law, wanted)
    robot = robot_of(config)
    controller, rng = make_controller(config, robot), np.random.default_rng(96)
    names = [sole.name for sole in robot.soles]
    palm, left = names.index("right palm"), names.index("left sole")
    for _ in range(5):
        q, v = moved(robot, 0.002, rng)
        v = on_contacts(robot, q, v)
        output = controller.step(q, v, 0.0)
        assert output.status is ControlStatus.OK
        # The ground pushes back: what acts on the robot is minus what presses along the surface.
        np.testing.assert_allclose(output.wrenches[palm, :3], [-6.0, 4.0, 50.0], atol=MET_N)
        assert output.wrenches[left, 2] == pytest.approx(400.0, abs=MET_N)
        dv = forward(robot, q, v, output)
        assert np.abs(contact_accelerations(robot, q, v, dv)).max() < 1e-8 * np.abs(dv).max() + 1e-8


@pytest.mark.parametrize("law", LAWS)
def test_a_force_beyond_friction_stays_in_the_cone_and_is_reported(law: str) -> None:
    config = press(law, {"right palm": {"normal_N": 50.0, "along_N": [80.0, 0.0]}})
    robot = robot_of(config)
    output = make_controller(config, robot).step(robot.q_nominal, np.zeros(robot.model.nv), 0.0)
    cones = contact_cones(robot, config.controller.contacts)
    for cone, wrench in zip(cones, output.wrenches, strict=True):
        assert cone.margin(wrench).min() > -1e-6
    assert len(output.active)
    assert output.wrenches[[s.name for s in robot.soles].index("right palm"), 0] < -15.0


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_the_palm_presses_as_told_before_and_after_a_push(law: str, engine: str) -> None:
    """As the engine measures it; the hit itself shakes the contacts for some milliseconds."""
    keys: dict[str, Any] = {"pushes.0.time_s": 0.3, "duration_s": 1.2, "plant.engine": engine}
    recording = run(press(law, {"right palm": {"normal_N": 50.0}}, **keys))
    assert recording.summary()["outcome"] == "recovered"
    palm = [sole.name for sole in recording.robot.soles].index("right palm")
    force, time = recording.contact_wrenches[:, palm, 2], recording.time
    calm = (time > 0.1) & (time < 0.3) | (time > 0.8)
    assert np.abs(force[calm] - 50.0).max() < 3.0  # N
    assert np.abs(recording.wrenches[:, palm, 2] - 50.0).max() < 0.01


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"wanted_forces": {"right palm": {"normal_N": -50}}}, "wanted_forces.*normal_N.*0"),
        ({"wanted_forces": {"right palm": {}}}, "needs normal_N, along_N or both"),
        ({"wanted_forces": {}}, "says of no contact how hard it is to press"),
        (
            {"priorities": [PHYSICS, ["com"]]},
            "'wanted_forces' is no task yet; name it in 'priorities'",
        ),
    ],
)
def test_wrong_keys_are_one_sentence(keys: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        load_config("toro_press", {f"controller.{key}": value for key, value in keys.items()})


def test_a_law_of_forces_alone_is_refused() -> None:
    keys = {
        "controller": {
            "law": "whole_body_qp",
            "tasks": {"wanted_forces": 1.0},
            "wanted_forces": {"right palm": {"normal_N": 50}},
        }
    }
    with pytest.raises(ConfigError, match="no task for the robot's motion"):
        load_config("toro_press", keys)


def test_a_contact_that_the_stance_lacks_is_named() -> None:
    config = press("hierarchical", {"left palm": {"normal_N": 50}})
    with pytest.raises(ConfigError, match=r"wanted_forces\.left palm.*does not stand on.*right pa"):
        make_controller(config, robot_of(config))
