"""Torque that falls with speed: no joint is driven beyond its curve, or given less than that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from balance.config import PlantConfig, load_config
from balance.config.actuators import ActuatorsConfig, SpeedTorqueConfig
from balance.config.faults import WeakJointConfig
from balance.config.schema import validate
from balance.experiment import Experiment
from balance.robots import Robot
from balance.simulation.drives import ActuatedPlant
from balance.simulation.faults import FaultyPlant
from balance.simulation.plants import make_plant
from balance.simulation.plants.interface import BodyImpulse
from balance.simulation.plants.wrapper import PlantWrapper
from balance.simulation.speed_curve import MOST_TRIES, SpeedCurve

Array = NDArray[np.float64]

FULL, NONE = 1.0, 1.2  # of the rated speed, the default
WRIST = "left_wrist"
EXACT = 1e-9


class TorqueMeter(PlantWrapper):
    """A plant that tells which torque its joints had in the last step, its own friction aside."""

    def __init__(self, plant: Any) -> None:
        super().__init__(plant)
        self._friction = plant.joint_damping.copy()
        self.torques = np.zeros_like(self._friction)
        self.steps = 0

    def step(self, torques: Array, impulses: Sequence[BodyImpulse] = ()) -> None:
        added = self.joint_damping - self._friction
        given = np.clip(torques, *self.torque_range)
        self.plant.step(torques, impulses)
        self.torques = given - added * self.v[6:]
        self.steps += 1


@pytest.fixture(params=["pinocchio", "mujoco"])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "mujoco":
        pytest.importorskip("mujoco")
    return str(request.param)


def driven(robot: Robot, plant: dict[str, Any], **drives: Any) -> tuple[ActuatedPlant, TorqueMeter]:
    meter = TorqueMeter(make_plant(validate(PlantConfig, plant, "test"), robot))
    config = validate(ActuatorsConfig, drives, "test")
    return ActuatedPlant(meter, config, robot, 1, np.random.SeedSequence(0)), meter


@pytest.fixture(scope="module")
def floating(toro: Robot) -> Robot:
    """Without weight, high above the ground, all joints in the middle of their range."""
    model = toro.model.copy()
    model.gravity.linear = np.zeros(3)
    q = toro.q_nominal.copy()
    q[2] += 5.0
    q[7:] = 0.5 * (model.lowerPositionLimit[7:] + model.upperPositionLimit[7:])
    return replace(toro, model=model, q_nominal=q)


def on(robot: Robot, joint: str, torque: float) -> Array:
    torques = np.zeros(robot.model.nv - 6)
    torques[robot.joint_names.index(joint)] = torque
    return torques


def curve(robot: Robot, wanted: Array, velocities: Array) -> Array:
    """What the drives give at these velocities, as the YAML schema says it."""
    rated, speed = robot.rated_speeds, np.sign(wanted) * velocities
    share = np.clip((NONE - speed / rated) / (NONE - FULL), 0.0, 1.0)
    return np.asarray(np.sign(wanted) * np.minimum(np.abs(wanted), share * robot.effort_limits))


@pytest.mark.parametrize("dt", [2e-3, 1e-3, 2.5e-4])
def test_a_light_wrist_under_full_torque_stays_on_its_curve(
    floating: Robot, engine: str, dt: float
) -> None:
    """In one step of 1 ms the torque alone would take it to five times its rated speed."""
    plant, meter = driven(floating, {"engine": engine, "step_s": dt})
    joint = floating.joint_names.index(WRIST)
    rated = floating.rated_speeds[joint]
    fastest = 0.0
    steps = round(0.2 / dt)
    for _ in range(steps):
        plant.step(on(floating, WRIST, 40.0))
        fastest = max(fastest, plant.v[6 + joint])
    assert 1.19 * rated < fastest <= NONE * rated * (1.0 + EXACT)
    assert meter.steps <= steps + 3, "the branch of the step before is tried first"


def test_a_motor_settles_at_the_speed_where_its_curve_meets_the_load(
    floating: Robot, engine: str
) -> None:
    """A viscous load d: b (w_none - w) = d w."""
    joint = floating.joint_names.index(WRIST)
    rated, torque = floating.rated_speeds[joint], floating.effort_limits[joint]
    load = 0.6 * torque / rated
    plant, _ = driven(floating, {"engine": engine, "joint_damping": {WRIST: load}})
    for _ in range(200):
        plant.step(on(floating, WRIST, torque))
    b = torque / ((NONE - FULL) * rated)
    wanted = b * NONE * rated / (b + load)
    assert FULL * rated < wanted < NONE * rated
    assert plant.v[6 + joint] == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("dt", [2e-3, 5e-4])
@pytest.mark.parametrize("standing", [True, False])
def test_every_joint_gets_what_is_commanded_or_what_its_curve_has_at_the_end_of_the_step(
    toro: Robot, floating: Robot, engine: str, standing: bool, dt: float
) -> None:
    """Ankles on the floor too, whatever the arms do; braking torques always arrive.

    Coulomb friction is no monotone function: one step in some hundred of such flailing may have no
    exact answer.  Nobody gets more than was commanded in it.
    """
    robot = toro if standing else floating
    plant, meter = driven(robot, {"engine": engine, "step_s": dt})
    rng = np.random.default_rng(3)
    bound = off = 0
    for step in range(60):
        if step % 10 == 0:
            wanted = robot.effort_limits * rng.uniform(-1.0, 1.0, 27)
        plant.step(wanted)
        expected = curve(robot, wanted, plant.v[6:])
        off += np.abs(meter.torques - expected).max() > 1e-6
        bound += np.count_nonzero(expected != wanted)
        share = meter.torques / wanted
        assert share.min() > -EXACT and share.max() < 1.0 + EXACT
    assert off <= (1 if standing else 0)
    assert bound > 60


def test_a_run_in_which_no_joint_gets_fast_is_that_without_a_curve_bit_for_bit(engine: str) -> None:
    keys = {"duration_s": 0.3, "pushes.0.time_s": 0.01, "plant.engine": engine}
    plain, limited = (
        Experiment(load_config("toro_push", {**keys, "actuators.speed_torque": value})).run()
        for value in ("none", {"full_until": 1.0, "none_from": 1.2})
    )
    for name in ("q", "v", "torques", "contact_wrenches"):
        np.testing.assert_array_equal(getattr(limited, name), getattr(plain, name))


def test_a_joint_that_was_knocked_beyond_its_curve_can_only_be_braked(
    floating: Robot, engine: str
) -> None:
    """Driving it is no torque at all; braking it is all of it."""
    plant, meter = driven(floating, {"engine": engine})
    joint = floating.joint_names.index("left_hip_roll")
    v = np.zeros(33)
    v[6 + joint] = 2.0 * floating.rated_speeds[joint]
    for wanted, given in ((150.0, 0.0), (-150.0, -150.0)):
        plant.reset(floating.q_nominal, v)
        plant.step(on(floating, "left_hip_roll", wanted))
        assert meter.torques[joint] == given


def test_a_weak_and_lagging_drive_has_the_lesser_of_both_limits(
    floating: Robot, engine: str
) -> None:
    """Until its speed is where the curve has the 8 N m that are left, and never more than these."""
    inner, meter = driven(floating, {"engine": engine}, lag_s=0.002, coulomb_Nm=0.5)
    weak = WeakJointConfig(type="weak_joint", joint=WRIST, torque_Nm=8.0, time_s=0.0)
    plant = FaultyPlant(inner, [weak], floating, 0.8)
    joint = floating.joint_names.index(WRIST)
    rated = floating.rated_speeds[joint]
    seen = []
    for _ in range(150):
        plant.step(on(floating, WRIST, 40.0))
        # The meter sees dry friction as a torque.
        seen.append(meter.torques[joint] + 0.5 * np.sign(plant.v[6 + joint]))
    assert max(seen) <= 8.0 + 0.5
    at_8 = (NONE - 8.0 / 40.0 * (NONE - FULL)) * rated
    assert at_8 < plant.v[6 + joint] <= NONE * rated
    plant.reset(floating.q_nominal, np.zeros(33))
    np.testing.assert_array_equal(plant.torque_range[1], floating.effort_limits)


def test_the_books_balance_where_the_curve_binds() -> None:
    tight = {"full_until": 0.02, "none_from": 0.08}
    keys = {"duration_s": 0.3, "pushes.0.time_s": 0.01, "plant.bookkeeping": True}
    one = Experiment(load_config("toro_push", {**keys, "actuators.speed_torque": tight}))
    free = Experiment(load_config("toro_push", keys))
    recording = one.run()
    assert recording.end.text == ""
    assert one.plant.plant.momentum_error < 1e-12  # type: ignore[attr-defined]
    assert (recording.v != free.run().v).any(), "it binds"


@pytest.mark.parametrize("value", [None, "none"])
def test_no_curve_is_remembered_as_such(value: Any) -> None:
    """Also by the config of a result, which leaves out whatever is null."""
    config = load_config("toro_push", {"actuators.speed_torque": value})
    again = load_config(config.model_dump(mode="json", exclude_none=True))
    assert again.actuators.speed_torque == config.actuators.speed_torque == "none"
    assert not isinstance(Experiment(again).plant, ActuatedPlant)


def test_every_experiment_has_the_curve_unless_it_says_otherwise() -> None:
    for keys in ({}, {"actuators": None}, {"actuators.lag_s": 0.001}):
        found = load_config("toro_push", keys).actuators.speed_torque
        assert found != "none" and (found.full_until, found.none_from) == (FULL, NONE)


class RestlessPlant:
    """No branch fits its first joint; its second is fast until the very last step, then at rest."""

    def __init__(self, robot: Robot, curve: SpeedTorqueConfig) -> None:
        limits, nj = robot.effort_limits, robot.effort_limits.size
        self.joint_damping = np.zeros(nj)
        self.torque_range = np.array([-limits, limits])
        self.v, self.torques, self._steps = np.zeros(6 + nj), np.zeros(nj), 0
        self._fast = curve.none_from * robot.rated_speeds[0]
        self._falls = 0.5 * (curve.full_until + curve.none_from) * robot.rated_speeds[1]

    def remember(self) -> bool:
        return True

    def go_back(self) -> None:
        self.v = np.zeros_like(self.v)

    def step(self, torques: Array, impulses: Sequence[BodyImpulse] = ()) -> None:
        self._steps += 1
        self.v = np.zeros_like(self.v)
        self.v[6] = 0.0 if self.joint_damping[0] else 0.99 * self._fast
        self.v[7] = self._falls if self._steps <= MOST_TRIES else 0.0
        given = np.clip(torques, *self.torque_range)
        self.torques = given - self.joint_damping * self.v[6:]


def test_where_no_branch_fits_no_joint_gets_more_than_its_curve_has(toro: Robot) -> None:
    config = SpeedTorqueConfig(full_until=FULL, none_from=NONE)
    plant = RestlessPlant(toro, config)
    wanted = toro.effort_limits.copy()
    SpeedCurve(config, toro).step(plant, wanted, ())  # type: ignore[arg-type]
    assert plant._steps > MOST_TRIES  # nothing fitted
    assert (plant.torques >= 0.0).all()
    assert (plant.torques <= curve(toro, wanted, plant.v[6:]) + EXACT * wanted).all()
    assert np.count_nonzero(plant.torques < wanted) <= 2, "who was on its branch keeps its torque"
