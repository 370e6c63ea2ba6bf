"""Frames whose targets move: the path against finite differences, the task against Pinocchio."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from law_samples import law_config, moved, on_contacts, strong
from numpy.typing import NDArray
from whole_body_samples import forward

from balance.config import load_config
from balance.config.tasks import FrameMoveConfig
from balance.control.parts.frame_path import FramePath
from balance.control.parts.frame_task import FrameTask
from balance.control.parts.output import ControlStatus
from balance.control.whole_body_qp import WholeBodyController
from balance.errors import ConfigError
from balance.experiment import run
from balance.recordings.limiting import BEHIND
from balance.robots import Robot

Array = NDArray[np.float64]

MOVES: list[dict[str, Any]] = [
    {"time_s": 0.5, "duration_s": 1.0, "to_m": (0.1, 0.0, 0.2), "rpy_rad": (0.3, -0.2, 0.5)},
    {
        "time_s": 1.5,
        "duration_s": 2.0,
        "circle": {"centre_m": (0.1, 0.0, 0.1), "normal": (1.0, 0.0, 0.0), "turns": 0.75},
    },
    {"time_s": 4.0, "duration_s": 0.5, "rpy_rad": (0.0, 0.0, 0.0)},
]


def path() -> FramePath:
    nominal = pin.SE3(pin.rpy.rpyToMatrix(0.2, 0.1, -0.4), np.array([0.3, 0.2, 1.0]))
    return FramePath(nominal, [FrameMoveConfig.model_validate(move) for move in MOVES])


@pytest.mark.parametrize("time", [0.0, 0.7, 1.2, 2.1, 3.3, 3.8, 4.2, 9.0])
def test_rates_of_a_path_are_its_derivatives(time: float) -> None:
    frame, h = path(), 1e-4
    before, here, after = (frame.at(time + k * h) for k in (-1, 0, 1))
    velocity = (after.position - before.position) / (2.0 * h)
    turning = pin.log3(after.rotation @ before.rotation.T) / (2.0 * h)
    np.testing.assert_allclose(here.velocity, np.append(velocity, turning), rtol=0, atol=1e-6)
    slope = (after.velocity - before.velocity) / (2.0 * h)
    np.testing.assert_allclose(here.acceleration, slope, rtol=0, atol=1e-5)


def test_moves_end_where_they_should() -> None:
    frame = path()
    place = np.array([0.3, 0.2, 1.0])
    np.testing.assert_allclose(
        frame.at(1.5).position, place + np.array([0.1, 0.0, 0.2]), atol=1e-12
    )
    # Three quarters of a turn about x, from above the centre: to its right side.
    around = frame.at(3.5).position
    np.testing.assert_allclose(around, place + np.array([0.1, 0.1, 0.1]), atol=1e-12)
    np.testing.assert_allclose(frame.at(9.0).position, around, atol=1e-12)
    np.testing.assert_allclose(frame.at(9.0).rotation, frame.at(0.0).rotation, atol=1e-12)
    distances = [np.linalg.norm(frame.at(t).position - around) for t in np.arange(1.5, 3.5, 0.01)]
    assert max(distances) == pytest.approx(0.2, abs=1e-4)  # the diameter


def test_the_frame_accelerates_towards_and_along_with_its_target(toro: Robot) -> None:
    """Forward dynamics under the law's torques, (3.90): PD and feed-forward, in all six rows."""
    robot = strong(toro)
    path = [{"time_s": 0.0, "duration_s": 0.4, "to_m": [0.01, 0.0, 0.02], "rpy_rad": [0, 0, 0.02]}]
    hand = {"frame": "left_hand", "frequency_hz": 2.0, "damping_ratio": 0.8, "path": path}
    config = law_config(
        "whole_body_qp",
        controller__frames={"hand": hand},
        controller__tasks={"com": 1.0, "hand": 1.0},
    )
    controller = WholeBodyController(config, robot)
    q, v = moved(robot, 0.004, np.random.default_rng(95))
    v = on_contacts(robot, q, v)
    time, frame, axes = 0.1, robot.model.getFrameId("left_hand"), pin.LOCAL_WORLD_ALIGNED
    output = controller.step(q, v, time)
    assert output.status is ControlStatus.OK
    dv, data = forward(robot, q, v, output), robot.model.createData()
    pin.forwardKinematics(robot.model, data, q, v, dv)
    pin.updateFramePlacements(robot.model, data)
    task = controller.tasks.tasks[1]
    assert isinstance(task, FrameTask)
    goal, here, omega = task.path.at(time), data.oMf[frame], 4.0 * np.pi
    assert np.linalg.norm(goal.acceleration[:3]) > 0.3
    velocity = pin.getFrameVelocity(robot.model, data, frame, axes).vector
    error = np.append(goal.position - here.translation, pin.log3(goal.rotation @ here.rotation.T))
    wanted = goal.acceleration + 1.6 * omega * (goal.velocity - velocity) + omega**2 * error
    actual = pin.getFrameClassicalAcceleration(robot.model, data, frame, axes).vector
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=1e-4 * np.abs(wanted).max())


def hand_errors(engine: str, **keys: Any) -> tuple[Array, dict[str, Any]]:
    """How far the hand of the shipped config is from its target (m), and the summary."""
    changes = {"plant.engine": engine, **{k.replace("__", "."): v for k, v in keys.items()}}
    config = load_config("toro_reach", changes)
    recording = run(config)
    robot = recording.robot
    task = WholeBodyController(config, robot).tasks.tasks[2]
    assert isinstance(task, FrameTask)
    data, errors = robot.model.createData(), []
    for t, q in zip(recording.time[::20], recording.q[::20], strict=True):
        pin.framesForwardKinematics(robot.model, data, q)
        errors.append(data.oMf[task.frame].translation - task.path.at(t).position)
    return np.linalg.norm(errors, axis=1), recording.summary()


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_a_hand_follows_its_target_on_drives_without_friction(engine: str) -> None:
    """Without feed-forward it would lag by 2 zeta / omega of its speed, a centimetre and more."""
    move = {"time_s": 0.1, "duration_s": 0.8, "to_m": [0.02, 0.01, 0.03]}
    errors, summary = hand_errors(
        engine,
        plant__joint_damping=0.0,
        controller__frames__hand__path=[move],
        pushes=[],
        duration_s=0.7,
    )
    assert errors.max() < 1.5e-3  # m; the posture pulls a little
    assert not summary["limited_by_s"]


def test_the_shipped_reach_recovers_from_its_push() -> None:
    errors, summary = hand_errors("pinocchio", duration_s=4.2, control_period_s=0.002)
    assert summary["outcome"] == "recovered", summary["cause"]
    assert errors.max() < 0.03  # m, with joint friction that the law does not know
    assert BEHIND not in summary["limited_by_s"]


def test_a_target_that_runs_away_is_reported() -> None:
    """30 cm in 50 ms: the arm's drives cannot, and the status says so."""
    move = {"time_s": 0.1, "duration_s": 0.05, "to_m": [0.15, 0.05, 0.3]}
    _, summary = hand_errors(
        "pinocchio", controller__frames__hand__path=[move], pushes=[], duration_s=0.6
    )
    assert summary["limited_by_s"][BEHIND] > 0.05


@pytest.mark.parametrize(
    ("hand", "sentence"),
    [
        ({"path": [{"time_s": 0, "duration_s": 1}]}, "goes nowhere; give to_m, circle or rpy_rad"),
        (
            {"path": [{"time_s": 0, "duration_s": 1, "rpy_rad": [0, 0, 1]}]},
            "rpy_rad turns a frame of which only the position is held",
        ),
        (
            {"hold": "orientation", "path": [{"time_s": 0, "duration_s": 1, "to_m": [0, 0, 1]}]},
            "a path moves a frame of which only the orientation is held",
        ),
        (
            {"path": [{"time_s": 0, "duration_s": 1, "to_m": [0, 0, 0.1]},
                      {"time_s": 0.5, "duration_s": 1, "to_m": [0, 0, 0]}]},
            "the move at time_s = 0.5 begins before the one at 0.0 has ended",
        ),
        ({"path": [{"time_s": 0, "duration_s": 0, "to_m": [0, 0, 0.1]}]}, "duration_s"),
    ],
)  # fmt: skip
def test_wrong_paths_are_one_sentence(hand: dict[str, Any], sentence: str) -> None:
    keys = {f"controller.frames.hand.{key}": value for key, value in hand.items()}
    with pytest.raises(ConfigError, match=sentence):
        load_config("toro_reach", keys)


def test_a_target_beyond_the_stretched_robot_is_refused(toro: Robot) -> None:
    far = [{"time_s": 0.0, "duration_s": 1.0, "to_m": [3.0, 0.0, 0.0]}]
    config = load_config("toro_reach", {"controller.frames.hand.path": far})
    with pytest.raises(ConfigError, match=r"frames\.hand\.path' leads to .* 'left sole', .* long"):
        WholeBodyController(config, toro)
