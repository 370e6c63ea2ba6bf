"""Bodies that touch in the Pinocchio plant: exact books, and no energy from nowhere."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray
from plant_steps import momentum, outer_impulse

import balance
from balance.config import PlantConfig, load_config
from balance.robots import Robot
from balance.simulation.bookkeeping import TOLERANCE, BookkeepingPlant
from balance.simulation.plants.body_impulses import BodyImpulses
from balance.simulation.plants.body_points import PointRows, normal_axes, spread
from balance.simulation.plants.interface import BodyImpulse
from balance.simulation.plants.pinocchio_plant import PinocchioPlant

Array = NDArray[np.float64]

SLAM_M, REST_M = 8e-3, 1e-3
STILL = 0.05  # m/s and rad/s


def thrown(robot: Robot, above_m: float = 0.01) -> tuple[Array, Array]:
    """A state in which it falls on its back, turning, with its lowest shape near the floor."""
    q = robot.q_nominal.copy()
    q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.3, -1.4, 0.0)).coeffs()
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    lowest = [
        (data.oMi[shape.joint] * shape.placement).translation[2]
        - shape.reach(-(data.oMi[shape.joint] * shape.placement).rotation[2])
        for shape in robot.shapes
    ]
    q[2] += above_m - min(lowest)
    v = np.zeros(robot.model.nv)
    rotation = pin.Quaternion(q[3:7]).toRotationMatrix()
    v[:3], v[3:6] = rotation.T @ [0.5, 0.5, -2.0], rotation.T @ [0.3, -0.5, 0.2]
    return q, v


def unstopped(robot: Robot) -> Robot:
    """The robot without end stops."""
    model = robot.model.copy()
    model.lowerPositionLimit = np.full(model.nq, -np.inf)
    model.upperPositionLimit = np.full(model.nq, np.inf)
    return dataclasses.replace(robot, model=model)


@pytest.mark.parametrize("contact", ["hard", "soft", "welded"])
def test_books_balance_while_a_robot_slams_on_the_floor_and_into_itself(
    toro: Robot, contact: str
) -> None:
    """Momentum and every joint's share of it, at 1e-9; BookkeepingPlant raises where it is off."""
    robot = unstopped(toro)
    config = PlantConfig.model_validate({"contact": contact, "joint_damping": 1.0})
    plant = BookkeepingPlant(PinocchioPlant(config, robot), robot)
    q, v = thrown(robot)
    if contact == "welded":  # it stays on its feet, and an arm swings into its trunk
        q, v = robot.q_nominal, np.zeros(robot.model.nv)
        v[6 + robot.joint_names.index("left_shoulder_2")] = -5.0
    plant.reset(q, v)
    pairs = set()
    for _ in range(120):
        plant.step(np.zeros(robot.model.nv - 6))
        pairs |= {(touch.body, touch.other) for touch in plant.touches}
    if contact == "welded":
        assert ("trunk", "left_upper_arm") in pairs
    else:
        assert len({body for body, other in pairs if other == "ground"}) >= 3
    assert plant.momentum_error < TOLERANCE * robot.mass


@pytest.mark.parametrize("name", ["toro", "g1"])
def test_momentum_is_given_by_the_touches_alone(name: str) -> None:
    """h(q+, v+) - h(q, v) from the forces that ``touches`` tell, on another robot too."""
    robot = balance.load_robot(name)
    plant = PinocchioPlant(PlantConfig(joint_damping=1.0), robot)
    plant.reset(*thrown(robot))
    touched = 0
    for _ in range(60):
        q, v = plant.q, plant.v
        plant.step(np.zeros(robot.model.nv - 6))
        gained = momentum(robot, plant.q, plant.v) - momentum(robot, q, v)
        given = outer_impulse(plant, robot, [], q)
        np.testing.assert_allclose(gained, given, rtol=0, atol=1e-9 * robot.mass)
        touched += bool(plant.touches)
    assert touched > 20


def test_energy_never_grows_while_a_limp_robot_comes_to_rest(toro: Robot) -> None:
    """Beyond what a flight of that length gains by the size of its steps."""
    plant = PinocchioPlant(PlantConfig(joint_damping=1.0), toro)
    plant.reset(*thrown(toro))
    data, energies = toro.model.createData(), []
    for _ in range(250):
        plant.step(np.zeros(toro.model.nv - 6))
        energies.append(pin.computeMechanicalEnergy(toro.model, data, plant.q, plant.v))
    gained = np.diff(energies)
    lost = energies[0] - energies[-1]
    assert lost > 50.0, "the slam costs energy"
    assert gained.max() < 1e-3 * lost
    assert gained[gained > 0.0].sum() < 0.01 * lost


def test_bodies_that_touch_nothing_change_no_bit_of_a_run() -> None:
    runs = [
        balance.run(
            balance.load_config("toro_push", {"duration_s": 0.8, "plant.collisions": collisions})
        )
        for collisions in ("none", "all")
    ]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    np.testing.assert_array_equal(runs[0].v, runs[1].v)


def test_pushed_robot_falls_on_the_floor_and_lies_still(toro: Robot) -> None:
    plant = PinocchioPlant(PlantConfig(), toro)
    inertia = np.diag(pin.crba(toro.model, toro.model.createData(), toro.q_nominal))[6:]
    stiffness = 25.0**2 * inertia
    plant.joint_damping[:] = 1.8 * np.sqrt(stiffness * inertia)
    push = BodyImpulse(toro.push_body, np.zeros(3), np.array([0.6, -0.8, 0.0]) * toro.mass)
    deepest = 0.0
    for step in range(2000):
        plant.step(stiffness * (toro.q_nominal[7:] - plant.q[7:]), [push] if step == 0 else [])
        deepest = max([deepest, *(touch.depth_m for touch in plant.touches)])
    assert deepest < SLAM_M
    assert max(touch.depth_m for touch in plant.touches) < REST_M
    assert np.abs(plant.v).max() < STILL
    assert 0.08 < toro.com(plant.q)[2] < 0.25, "it lies"


@pytest.mark.parametrize("step_s", [1e-3, 5e-3])
def test_fast_bodies_are_stopped_at_the_floor_however_long_a_step_is(
    toro: Robot, step_s: float
) -> None:
    """At 4 m/s a body is 2 cm further after 5 ms."""
    plant = PinocchioPlant(PlantConfig(step_s=step_s, joint_damping=1.0), toro)
    q, v = thrown(toro, 0.03)
    plant.reset(q, v * 2.0)
    deepest, touched = 0.0, 0
    for _ in range(round(0.1 / step_s)):
        plant.step(np.zeros(toro.model.nv - 6))
        deepest = max([deepest, *(touch.depth_m for touch in plant.touches)])
        touched += len(plant.touches)
    assert touched > 20
    assert deepest < SLAM_M


def test_rows_of_points_are_pinocchios_jacobians(toro: Robot) -> None:
    """Of a hand's point on the floor, and of the same point as seen from a shank."""
    model, rng = toro.model, np.random.default_rng(1)
    data, q = model.createData(), pin.integrate(model, toro.q_nominal, rng.normal(size=33))
    pin.crba(model, data, q, pin.Convention.WORLD)
    hand, shank = (
        model.frames[model.getFrameId(n)].parentJoint for n in ("left_hand", "left_shank")
    )
    point, normal = rng.normal(size=3), np.array([2.0, -1.0, 2.0]) / 3.0
    axes = np.array([normal_axes(normal)] * 2)
    np.testing.assert_allclose(axes[0] @ axes[0].T, np.eye(3), atol=1e-15)
    assert np.linalg.det(axes[0]) == pytest.approx(1.0)

    def jacobian(joint: int) -> Array:
        at = pin.SE3(np.eye(3), data.oMi[joint].actInv(point))
        J = pin.getFrameJacobian(model, data, joint, at, pin.LOCAL_WORLD_ALIGNED)
        return np.asarray(axes[0] @ J[:3])

    rows = PointRows(model, data)(
        np.array([point] * 2), axes, np.array([hand, hand]), np.array([0, shank])
    )
    np.testing.assert_allclose(rows[:3], jacobian(hand), atol=1e-13)
    np.testing.assert_allclose(rows[3:], jacobian(hand) - jacobian(shank), atol=1e-13)
    assert not rows[3:, :6].any(), "what touches within the robot gives it no momentum"


def test_few_points_of_many_are_the_lowest_and_the_outermost() -> None:
    x, y = (
        grid.ravel() for grid in np.meshgrid(np.linspace(0.0, 2.0, 9), np.linspace(0.0, 1.0, 5))
    )
    points = np.stack([x, y, np.zeros(45)], axis=1)
    gaps = np.full(45, 1e-4)
    gaps[0] = -1e-4
    chosen = points[spread(points, gaps)]
    corners = {(0.0, 0.0), (2.0, 0.0), (0.0, 1.0), (2.0, 1.0)}
    assert {tuple(point[:2]) for point in chosen.tolist()} == corners


@pytest.mark.parametrize("depth", [0.002, 0.005, 0.012])
def test_what_is_deeper_than_five_millimetres_comes_back_within_20_ms(
    toro: Robot, depth: float
) -> None:
    """Then at a centimetre per second, as what never was deeper does."""
    bodies = BodyImpulses(toro.model, load_config("toro_push").plant)
    dt, left = 1e-4, depth
    for step in range(1000):
        near: Any = SimpleNamespace(gaps=np.array([-left]))
        speed = -bodies.approach(np.zeros(3), near, dt)[2]  # at which contact ends the step
        assert speed == pytest.approx(max(0.01, (left - 0.005) / 0.02))
        left -= dt * speed
        if step == 199:
            assert left < 0.005 + max(0.0, depth - 0.005) / 2.7
