"""What slides obeys Coulomb's law: on soles and on bodies, at any step, on slopes and moved ground.

A step of size dt adds dt a to the velocity first and then dt times the new velocity to the place,
so that what accelerates evenly gets v t + a t (t + dt) / 2 far.
"""

from __future__ import annotations

from pathlib import Path

import blocks
import numpy as np
import pytest
from numpy.typing import NDArray

from balance.config import PlantConfig, load_config
from balance.config.ground import RampConfig
from balance.experiment import run
from balance.robots import Robot
from balance.simulation.ground import GroundMotion
from balance.simulation.plants import Plant, make_plant

pytest.importorskip("mujoco")

Array = NDArray[np.float64]

ENGINES = ("pinocchio", "mujoco")
COULOMB = 0.005  # relative
HOP_M = 1e-6
SETTLING_S = 0.02
SIDES = (0.3, 0.2, 0.1)
ON_ITS_SIDE = (0.5 * np.pi, 0.0, 0.0)
CASES = [
    ("pinocchio", "sole", 1e-3),
    ("pinocchio", "body", 1e-3),
    *(("mujoco", on, step_s) for on in ("sole", "body") for step_s in (2e-3, 1e-3, 2.5e-4)),
]
SLIDES = [(0.3, 0.0, 1.0), (0.8, 0.0, 2.0), (0.4, np.radians(26.0), 0.0), (0.1, 0.3, 1.0)]


def on_slope_axes(plant: Plant, robot: Robot) -> tuple[Array, Array]:
    """Place and velocity of the block in the axes of the slope."""
    axes = robot.soles[0].plane.rotation.T
    return axes @ plant.q[:3], axes @ blocks.linear_velocity(plant.q, plant.v)


def start(plant: Plant, robot: Robot, q: Array, speed: float) -> None:
    """Let go of the block at a speed down the slope, until it has settled into its contact."""
    downwards = robot.soles[0].plane.rotation[:, 0]
    plant.reset(q, blocks.velocity(robot, q, speed * downwards, np.zeros(3)))
    while plant.time < SETTLING_S:
        plant.step(np.zeros(0))


@pytest.mark.parametrize(("friction", "angle", "speed"), SLIDES)
@pytest.mark.parametrize(("engine", "on", "step_s"), CASES)
def test_block_slides_by_coulombs_law(
    tmp_path: Path, engine: str, on: str, friction: float, angle: float, speed: float, step_s: float
) -> None:
    robot = blocks.on_slope(blocks.block(tmp_path, SIDES, spot=on == "body"), angle)
    q = robot.q_nominal if on == "sole" else blocks.turned(robot, ON_ITS_SIDE, 0.5 * SIDES[1])
    plant = make_plant(PlantConfig(engine=engine, step_s=step_s, friction=friction), robot)
    start(plant, robot, q, speed)
    place, velocity = on_slope_axes(plant, robot)
    begin, heights = plant.time, []
    for _ in range(round(0.2 / step_s)):
        plant.step(np.zeros(0))
        heights.append(on_slope_axes(plant, robot)[0][2])
    now = on_slope_axes(plant, robot)
    way, gained = now[0] - place, now[1] - velocity
    a, time = blocks.sliding_acceleration(friction, angle), plant.time - begin
    expected = velocity[0] * time + 0.5 * a * time * (time + step_s)
    assert way[0] == pytest.approx(expected, rel=COULOMB)
    assert gained[0] == pytest.approx(a * time, rel=COULOMB)
    landing = friction * blocks.GRAVITY * step_s  # the first step may end before it is on its plane
    assert velocity[0] == pytest.approx(speed + a * begin, abs=landing)
    assert np.abs(way[1:]).max() < 2e-4
    level = 0.5 * SIDES[2 if on == "sole" else 1]
    assert max(heights) < level + HOP_M, "what slides does not hop"


@pytest.mark.parametrize("engine", ENGINES)
def test_friction_that_changes_under_a_sliding_block_brakes_it_at_once(
    tmp_path: Path, engine: str
) -> None:
    robot = blocks.block(tmp_path, SIDES)
    plant = make_plant(PlantConfig(engine=engine, friction=0.1), robot)
    start(plant, robot, robot.q_nominal, 2.0)
    plant.set_friction(0, 0.5)
    before = plant.v[0]
    for _ in range(100):
        plant.step(np.zeros(0))
    expected = 0.1 * blocks.sliding_acceleration(0.5)
    assert plant.v[0] - before == pytest.approx(expected, rel=COULOMB)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("on", ["sole", "body"])
def test_ground_pulled_away_drags_a_block_along_with_its_friction(
    tmp_path: Path, on: str, engine: str
) -> None:
    """The ground moves off by 1 m in 0.3 s, faster than friction can follow."""
    friction = 0.2
    robot = blocks.block(tmp_path, SIDES, spot=on == "body")
    q = robot.q_nominal if on == "sole" else blocks.turned(robot, ON_ITS_SIDE, 0.5 * SIDES[1])
    move = RampConfig(type="ramp", start_s=0.0, duration_s=0.3, translation_m=(1.0, 0.0, 0.0))
    ground = GroundMotion([move], [robot.soles[0].name])
    plant = make_plant(PlantConfig(engine=engine, friction=friction), robot, ground)
    plant.reset(q, np.zeros(6))
    slipping = 0.0  # since when, s
    while plant.time < 0.25:
        plant.step(np.zeros(0))
        if ground.twist(plant.time, 1e-3)[0] < 0.02:
            slipping = plant.time
    gained = blocks.linear_velocity(plant.q, plant.v)[0]
    expected = friction * blocks.GRAVITY * plant.time
    assert gained == pytest.approx(expected, abs=0.02 + friction * blocks.GRAVITY * slipping)
    assert slipping < 0.01
    assert abs(plant.q[2] - q[2]) < 1e-3


@pytest.mark.parametrize("friction", [0.12, 0.3])
def test_soles_slip_as_far_in_mujoco_as_on_the_same_springs_in_pinocchio(friction: float) -> None:
    """Both have springs of 1e7 N/m and dampers of 1e5 N s/m; slips of 1 to 20 mm."""
    push = {"type": "half_sine", "direction": [0, 1, 0], "time_s": 0.02, "duration_s": 0.02}
    push["impulse_Ns"] = 16
    common = {"duration_s": 0.35, "pushes": [push], "plant.friction": friction}
    same = {"plant.soft": {"stiffness": 1e7, "damping": 1e5}, "plant.contact": "soft"}
    slips = []
    for engine in ({"plant.engine": "pinocchio"} | same, {"plant.engine": "mujoco"}):
        summary = run(load_config("toro_push", common | engine)).summary()
        slips.append(summary["max_sole_slip_m"])
    assert slips[0] > 1e-3
    assert slips[1] == pytest.approx(slips[0], abs=2e-3)
