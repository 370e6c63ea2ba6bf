"""The true ground: tilted, uneven or moving, the same in both engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.config import ExperimentConfig, load_config
from balance.dynamics.placements import joint_placements
from balance.errors import ConfigError
from balance.experiment import Experiment, run
from balance.recordings.metrics import judge
from balance.robots import Robot
from balance.simulation.ground import GroundMotion, ground_motion, put_on_ground

Array = NDArray[np.float64]

ENGINES = ("pinocchio", "mujoco")
SWING = {"type": "swing", "start_s": 0.1, "frequency_hz": 2.0, "cycles": 2}
RAMP = {"type": "ramp", "start_s": 0.2, "duration_s": 0.5}


def on_ground(**ground: Any) -> ExperimentConfig:
    overrides = {f"ground.{key}": value for key, value in ground.items()}
    return load_config("toro_push", {"pushes": [], "duration_s": 0.4, **overrides})


def motion(toro: Robot, *moves: dict[str, Any]) -> GroundMotion:
    found = ground_motion(toro, on_ground(motion=list(moves)))
    assert found is not None
    return found


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "mujoco":
        pytest.importorskip("mujoco")
    return str(request.param)


@pytest.mark.parametrize("tilt", [(4.0, 0.0), (0.0, -5.0), (3.0, 3.0)])
def test_robot_starts_flat_on_tilted_ground_with_its_base_upright(
    toro: Robot, tilt: tuple[float, float]
) -> None:
    robot = put_on_ground(toro, on_ground(tilt_deg=list(tilt)))
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    normal = pin.exp3(np.radians([*tilt, 0.0]))[:, 2]
    for sole in robot.soles:
        pose = sole.pose(data)
        np.testing.assert_allclose(pose.rotation[:, 2], normal, atol=1e-9)
        assert pose.translation @ normal == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(robot.com()[:2], toro.com()[:2], atol=1e-9)
    np.testing.assert_allclose(robot.q_nominal[3:7], toro.q_nominal[3:7], atol=1e-12)


def test_one_foot_stands_higher(toro: Robot) -> None:
    robot = put_on_ground(toro, on_ground(heights_m={"left sole": 0.03}))
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    heights = {sole.name: sole.pose(data).translation[2] for sole in robot.soles}
    assert heights == pytest.approx({"left sole": 0.03, "right sole": 0.0}, abs=1e-9)


@pytest.mark.parametrize("ground", [{"tilt_deg": [3.0, -2.0]}, {"heights_m": {"right sole": 0.02}}])
def test_robot_stands_still_on_ground_that_its_law_does_not_know(
    engine: str, ground: dict[str, Any]
) -> None:
    config = on_ground(**ground).model_copy(update={"duration_s": 0.6})
    config = config.model_copy(update={"plant": config.plant.model_copy(update={"engine": engine})})
    recording = run(config)
    assert np.abs(recording.sole_lift).max() < 1e-3
    assert recording.sole_slip.max() < 1e-3
    assert np.linalg.norm(recording.com_error, axis=1).max() < 0.02


def test_moves_start_and_end_at_rest(toro: Robot) -> None:
    ground = motion(toro, {**SWING, "translation_m": [0.0, 0.02, 0.0], "tilt_deg": [2.0, 1.0]})
    dt = 1e-6
    for time in (0.0, 0.1, 1.1, 2.0):
        np.testing.assert_allclose(ground.pose(time).homogeneous, np.eye(4), atol=1e-12)
        np.testing.assert_allclose(ground.twist(time, dt), 0.0, atol=1e-4)
    half = ground.pose(0.1 + 0.25)
    np.testing.assert_allclose(half.translation, [0.0, 0.02, 0.0], atol=1e-12)
    np.testing.assert_allclose(pin.log3(half.rotation), np.radians([2.0, 1.0, 0.0]), atol=1e-12)
    ramp = motion(toro, {**RAMP, "tilt_deg": [0.0, 5.0]})
    for time in (0.7, 3.0):
        turn = pin.log3(ramp.pose(time).rotation)
        np.testing.assert_allclose(turn, np.radians([0.0, 5.0, 0.0]), atol=1e-12)
    np.testing.assert_allclose(ramp.twist(0.7, dt), 0.0, atol=1e-4)


def test_twist_takes_the_ground_from_one_instant_to_the_next(toro: Robot) -> None:
    move = {**SWING, "translation_m": [0.03, 0.02, 0.01], "tilt_deg": [8.0, -6.0]}
    ground = motion(toro, move, {**RAMP, "tilt_deg": [2.0, 2.0]})
    for time in (0.15, 0.3, 0.5):
        moved = pin.exp6(pin.Motion(0.01 * ground.twist(time, 0.01))) * ground.pose(time)
        expected = ground.pose(time + 0.01)
        np.testing.assert_allclose(moved.homogeneous, expected.homogeneous, atol=1e-12)


def test_placements_relative_to_the_ground_undo_its_motion(toro: Robot) -> None:
    """A robot that is carried along stays where it was, as the ground sees it."""
    ground = motion(toro, {**SWING, "translation_m": [0.03, 0.02, 0.0], "tilt_deg": [5.0, -4.0]})
    times = np.array([0.0, 0.2, 0.33])
    data = toro.model.createData()
    pin.forwardKinematics(toro.model, data, toro.q_nominal)
    here = joint_placements(data).copy()
    carried = []
    for time in times:
        q = toro.q_nominal.copy()
        q[:7] = pin.SE3ToXYZQUAT(ground.pose(time) * pin.XYZQUATToSE3(q[:7]))
        pin.forwardKinematics(toro.model, data, q)
        carried.append(joint_placements(data).copy())
    seen = ground.relative(times, np.array(carried))[:, 1:]  # without the world
    np.testing.assert_allclose(seen, np.broadcast_to(here[1:], seen.shape), atol=1e-12)


@pytest.mark.parametrize("contact", ["hard", "soft", "welded"])
def test_soles_ride_on_moving_ground_without_slipping(engine: str, contact: str) -> None:
    """3 degrees and 1 cm in a quarter of a second: the soles follow the ground."""
    move = {**SWING, "frequency_hz": 1.0, "translation_m": [0.0, 0.01, 0.0], "tilt_deg": [1.0, 3.0]}
    config = on_ground(motion=[move])
    plant = config.plant.model_copy(update={"engine": engine, "contact": contact})
    experiment = Experiment(config.model_copy(update={"plant": plant}))
    recording = experiment.run()
    assert experiment.ground is not None
    way = experiment.ground.pose(recording.time[-1]).translation
    assert way[1] > 5e-3, "the ground must have moved to be a test"
    # Soft springs give way by 1.2 mm under the robot's weight, and more under its acceleration.
    allowed = 3e-3 if contact == "soft" else 3e-4
    assert recording.sole_slip.max() < allowed
    assert np.abs(recording.sole_lift).max() < allowed
    data = experiment.robot.model.createData()
    pin.framesForwardKinematics(experiment.robot.model, data, recording.q[-1])
    for sole in experiment.robot.soles:
        start = sole.pose(data).translation[1]
        assert abs(start) > 0.05  # beside the origin
    loads = recording.contact_wrenches[:, :, 2].sum(axis=1)
    assert loads.mean() == pytest.approx(9.81 * experiment.robot.mass, rel=0.1)


def test_engines_agree_on_moving_ground() -> None:
    """Peak CoM error of a shaken robot to 3 %."""
    pytest.importorskip("mujoco")
    move = {**SWING, "translation_m": [0.01, 0.01, 0.0], "tilt_deg": [1.0, 1.5]}
    peaks = []
    for name in ENGINES:
        config = load_config(
            "toro_push",
            {"pushes": [], "duration_s": 0.6, "plant.engine": name, "ground.motion": [move]},
        )
        recording = run(config)
        assert judge(recording).cause != "a body touched the ground"
        peaks.append(np.linalg.norm(recording.com_error, axis=1).max())
    assert peaks[0] > 3e-3  # the ground does shake the robot
    assert peaks[1] == pytest.approx(peaks[0], rel=0.03)


def test_hand_on_a_table_does_not_ride_on_the_ground() -> None:
    config = load_config("toro_table", {"ground.motion": [{**RAMP, "tilt_deg": [1.0, 0.0]}]})
    experiment = Experiment(config)
    assert experiment.ground is not None
    assert experiment.ground.surfaces == {"left sole", "right sole"}


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        ({"ground": {}}, "it changes nothing"),
        ({"ground": {"tilt_deg": [60.0, 0.0]}}, "tilt_deg"),
        ({"ground": {"motion": [{"type": "jump", "start_s": 0.0}]}}, "'jump' is unknown"),
        ({"ground": {"slope": 3.0}}, "unknown key 'ground.slope'"),
        (
            {"ground.motion": [{"type": "ramp", "start_s": 10.0, "duration_s": 1.0}]},
            "ground.motion.0 starts at 10 s, after the run",
        ),
    ],
)
def test_wrong_ground_gets_one_sentence(overrides: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config("toro_push", overrides)
    assert told in str(caught.value) and "\n" not in str(caught.value)


def test_contradicting_and_unknown_grounds_get_one_sentence(toro: Robot) -> None:
    with pytest.raises(ConfigError, match=r"heights_m and stance\.planes both say where"):
        load_config("toro_table", {"ground.heights_m": {"right palm": 0.1}})
    with pytest.raises(ConfigError, match=r"names 'left foot'.*valid: left sole, right sole"):
        put_on_ground(toro, on_ground(heights_m={"left foot": 0.1}))
    with pytest.raises(ConfigError, match=r"stance\.planes gives every contact a plane of its own"):
        Experiment(load_config("toro_slope", {"ground.tilt_deg": [1.0, 0.0]}))
