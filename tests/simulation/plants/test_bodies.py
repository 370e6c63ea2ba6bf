"""Bodies rest, roll, topple and hit each other as mechanics says, and gain no energy by it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import blocks
import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.config import PlantConfig, load_config
from balance.experiment import Experiment
from balance.robots import Robot
from balance.robots.stance import robot_of
from balance.simulation.plants import Plant, make_plant
from balance.simulation.world import obstacles

pytest.importorskip("mujoco")

Array = NDArray[np.float64]

ENGINES = ("pinocchio", "mujoco")
STEP_S = (2e-3, 1e-3)
MECHANICS = 0.01  # relative
PER_STEP = 10.0  # 1/s; what a step is wrong by, relative
WEIGHT = 2e-3  # relative
DEPTH_M = 5e-3  # at the slam of a block
ON_ITS_SIDE = (0.5 * np.pi, 0.0, 0.0)
UPSIDE_DOWN = (np.pi, 0.0, 0.0)
GIVEN_BACK = 0.01  # of the energy, by what has yielded in a contact


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine."""
    return str(request.param)


def steps(plant: Plant, robot: Robot, seconds: float) -> Iterator[float]:
    """Run a solid; yields the mechanical energy after each step."""
    while plant.time < seconds - 0.5 * plant.dt:
        plant.step(np.zeros(0))
        yield blocks.energy(robot, plant.q, plant.v)


def up(plant: Plant) -> Array:
    """The world's vertical in the axes of the base."""
    return np.asarray(pin.Quaternion(plant.q[3:7]).toRotationMatrix()[2])


def test_block_lies_on_its_side_with_its_weight(tmp_path: Path, engine: str) -> None:
    robot = blocks.block(tmp_path, (0.3, 0.2, 0.1), spot=True)
    plant = make_plant(PlantConfig(engine=engine), robot)
    plant.reset(blocks.turned(robot, ON_ITS_SIDE, 0.101), np.zeros(6))
    assert plant.touches == ()
    for _ in steps(plant, robot, 0.3):
        pass
    assert {(touch.body, touch.other) for touch in plant.touches} == {("solid", "ground")}
    force = sum(touch.force for touch in plant.touches)
    weight = blocks.GRAVITY * robot.mass
    np.testing.assert_allclose(force, [0.0, 0.0, weight], atol=WEIGHT * weight)
    moment = sum(np.cross(touch.point - plant.q[:3], touch.force) for touch in plant.touches)
    np.testing.assert_allclose(moment, 0.0, atol=WEIGHT * weight * 0.1)
    assert not plant.contact_wrenches.any()
    for touch in plant.touches:
        assert 0.0 <= touch.depth_m < 1e-4
        assert abs(touch.point[2]) < 1e-4
    plant.reset(robot.q_nominal, np.zeros(6))
    assert plant.touches == ()


def test_without_collisions_nothing_but_soles_touches(tmp_path: Path, engine: str) -> None:
    robot = blocks.block(tmp_path, (0.3, 0.2, 0.1), spot=True)
    plant = make_plant(PlantConfig(engine=engine, collisions="none"), robot)
    plant.reset(blocks.turned(robot, ON_ITS_SIDE, 0.1), np.zeros(6))
    for _ in steps(plant, robot, 0.1):
        assert plant.touches == ()
    assert plant.q[2] == pytest.approx(0.1 - 0.5 * blocks.GRAVITY * 0.1 * 0.101)


@pytest.mark.parametrize("step_s", STEP_S)
@pytest.mark.parametrize("angle", [0.1, 0.4])
def test_cylinder_rolls_down_a_slope(
    tmp_path: Path, engine: str, step_s: float, angle: float
) -> None:
    radius = 0.1
    robot = blocks.on_slope(blocks.cylinder(tmp_path, radius, 0.3), angle)
    plant = make_plant(PlantConfig(engine=engine, step_s=step_s), robot)
    plant.reset(blocks.turned(robot, ON_ITS_SIDE, radius), np.zeros(6))
    for _ in steps(plant, robot, 0.5):
        pass
    speed = robot.soles[0].plane.rotation[:, 0] @ blocks.linear_velocity(plant.q, plant.v)
    assert speed == pytest.approx(blocks.rolling_acceleration(angle) * plant.time, rel=MECHANICS)
    assert np.linalg.norm(plant.v[3:]) * radius == pytest.approx(speed, rel=MECHANICS)


@pytest.mark.parametrize("step_s", STEP_S)
def test_block_beyond_balance_topples_with_the_rate_of_its_fall(
    tmp_path: Path, engine: str, step_s: float
) -> None:
    """About its lower edge, from 3 degrees beyond balance; then it lies still on its side."""
    width, height = 0.2, 0.4
    robot = blocks.block(tmp_path, (width, 0.2, height), spot=True)
    plant = make_plant(PlantConfig(engine=engine, step_s=step_s, friction=1.0), robot)
    balance = np.arctan2(width, height)
    begin, end = balance + np.radians(3.0), np.radians(85.0)
    centre = 0.5 * np.hypot(width, height) * np.cos(begin - balance)
    q = blocks.turned(robot, (np.pi, begin, 0.0), centre)
    plant.reset(q, np.zeros(6))
    least = at_start = blocks.energy(robot, q, np.zeros(6))
    rate, deepest, tilt = None, 0.0, begin
    for energy in steps(plant, robot, 1.4):
        assert energy < min(at_start, least + GIVEN_BACK * at_start) + 1e-9
        least = min(least, energy)
        deepest = max([deepest, *(touch.depth_m for touch in plant.touches)])
        tilt = float(np.arccos(np.clip(-up(plant)[2], -1.0, 1.0)))
        if rate is None and tilt > end:
            rate = float(np.linalg.norm(plant.v[3:]))
            expected = blocks.tipping_rate((width, height), begin, tilt)
            assert rate == pytest.approx(expected, rel=PER_STEP * step_s + 2e-3)
    assert rate is not None
    assert tilt == pytest.approx(0.5 * np.pi, abs=1e-3)
    assert np.abs(plant.v).max() < 1e-3
    assert deepest < DEPTH_M


@pytest.mark.parametrize("solid", ["block", "cylinder"])
@pytest.mark.parametrize("over", [-0.03, 0.03])
def test_solid_on_a_slope_topples_when_its_centre_is_beyond_its_edge(
    tmp_path: Path, engine: str, solid: str, over: float
) -> None:
    """It stands on its end: tan(angle) is below or above width over height."""
    angle = np.arctan2(0.2, 0.4) + over
    if solid == "block":
        robot = blocks.block(tmp_path, (0.2, 0.2, 0.4), spot=True)
    else:
        robot = blocks.cylinder(tmp_path, 0.1, 0.4)
    robot = blocks.on_slope(robot, angle)
    plant = make_plant(PlantConfig(engine=engine, friction=1.0), robot)
    plant.reset(blocks.turned(robot, UPSIDE_DOWN, 0.2), np.zeros(6))
    for _ in steps(plant, robot, 0.8):
        pass
    slope = robot.soles[0].plane.rotation[:, 2]
    now = pin.Quaternion(plant.q[3:7]).toRotationMatrix()[:, 2]
    tilt = float(np.arccos(np.clip(-slope @ now, -1.0, 1.0)))
    if over < 0.0:
        assert tilt < 1e-3
    else:
        assert tilt > 0.3


def test_arm_that_hits_itself_rests_on_the_force_of_statics(tmp_path: Path, engine: str) -> None:
    """The forearm is pressed onto the plate that carries the arm, by the elbow; a spring holds the
    shoulder.  The ground bears no more than the weight.
    """
    robot = blocks.arm(tmp_path)
    model, data = robot.model, robot.model.createData()
    plant = make_plant(PlantConfig(engine=engine, joint_damping=2.0), robot)
    q = robot.q_nominal.copy()
    q[7:] = 1.0, 0.9
    plant.reset(q, np.zeros(8))
    for _ in range(1200):
        torques = np.array([100.0 * (1.0 - plant.q[7]) - 5.0 * plant.v[6], 4.0])
        plant.step(torques)
        assert all(touch.depth_m < DEPTH_M for touch in plant.touches)
    assert np.abs(plant.v).max() < 1e-3
    assert {(touch.body, touch.other) for touch in plant.touches} == {("plate", "forearm")}
    needed = pin.computeGeneralizedGravity(model, data, plant.q)[6:] - torques
    pin.computeJointJacobians(model, data, plant.q)
    given = blocks.of_touches(robot, data, plant.touches)
    np.testing.assert_allclose(given[6:], needed, atol=0.01)
    np.testing.assert_allclose(given[:6], 0.0, atol=1e-9)
    assert plant.contact_wrenches[0, 2] == pytest.approx(blocks.GRAVITY * robot.mass, rel=WEIGHT)


def test_arm_that_hits_itself_in_flight_goes_on_as_one_rigid_body(
    tmp_path: Path, engine: str
) -> None:
    """Momentum is kept; the energy left is that of a rigid body with this momentum.

    Friction holds the tip of the forearm where it hits, and with it both joints.
    """
    robot = blocks.arm(tmp_path)
    model, data = robot.model.copy(), robot.model.createData()
    model.gravity = pin.Motion.Zero()
    robot = dataclasses.replace(robot, model=model)
    q, v = robot.q_nominal.copy(), np.zeros(8)
    q[2] += 1.0
    q[7:] = 1.0, 0.9
    v[7] = 5.0
    plant = make_plant(PlantConfig(engine=engine, step_s=2.5e-4), robot)
    plant.reset(q, v)
    before, least = np.array(pin.computeCentroidalMomentum(model, data, q, v)), np.inf
    touched = False
    for _ in range(800):
        plant.step(np.zeros(2))
        touched |= bool(plant.touches)
        energy = float(pin.computeKineticEnergy(model, data, plant.q, plant.v))
        assert energy < least + 1e-5
        least = min(least, energy)
    assert touched
    after = np.array(pin.computeCentroidalMomentum(model, data, plant.q, plant.v))
    np.testing.assert_allclose(after, before, atol=MECHANICS * np.abs(before).max())
    pin.ccrba(model, data, plant.q, plant.v)
    rigid = 0.5 * after @ np.linalg.solve(data.Ig.matrix(), after)
    assert energy == pytest.approx(rigid, rel=MECHANICS)
    assert np.abs(plant.v[6:]).max() < MECHANICS * v[7]


@pytest.mark.parametrize("contact", ["hard", "soft", "welded"])
def test_robot_at_a_table_touches_with_its_hands_and_soles_alone(engine: str, contact: str) -> None:
    overrides = {"plant.engine": engine, "plant.contact": contact, "pushes": []}
    experiment = Experiment(load_config("toro_table", overrides))
    plant, controller = experiment.plant, experiment.controller
    for _ in range(50):
        plant.step(controller.step(plant.q, plant.v, plant.time).torques)
        assert plant.touches == ()
    assert (plant.contact_wrenches[:, 2] > 1.0).all()


def test_plate_stops_any_body_but_the_one_that_lies_on_it(engine: str) -> None:
    """The robot is put where its head, or its right hand, is 1 mm in the plate under that hand."""
    config = load_config("toro_table", {"plant.engine": engine})
    robot = robot_of(config)
    plate = next(one for one in obstacles(robot) if one.surfaces == ("right palm",))
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, robot.q_nominal)
    plant = make_plant(config.plant, robot)
    found = {}
    for body in ("head", "right_hand"):
        shape = next(shape for shape in robot.shapes if shape.body == body)
        pose = data.oMi[shape.joint]
        q = robot.q_nominal.copy()
        q[:2] += plate.pose.translation[:2] - (pose * shape.placement).translation[:2]
        q[2] += plate.pose.translation[2] - blocks.lowest_point(shape, pose) - 1e-3
        plant.reset(q, np.zeros(robot.model.nv))
        plant.step(np.zeros(robot.model.nv - 6))
        found[body] = [t for t in plant.touches if (t.body, t.other) == (body, plate.name)]
    assert not found["right_hand"]
    assert sum(touch.force[2] for touch in found["head"]) > 10.0
    for touch in found["head"]:
        assert 0.0 < touch.depth_m < 1.1e-3
        assert touch.point[2] == pytest.approx(plate.pose.translation[2], abs=2e-3)
