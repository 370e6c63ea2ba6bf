"""Pushes deliver the impulse that was asked for, at any time step and whenever they begin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.config import ExperimentConfig, PlantConfig, parse_config
from balance.config.sections import push_config
from balance.control import make_controller
from balance.errors import ConfigError
from balance.experiment import Experiment
from balance.recordings.log import Log
from balance.recordings.recording import Recording
from balance.robots import Robot
from balance.simulation.plants.interface import BodyImpulse, Touch
from balance.simulation.plants.pinocchio_plant import PinocchioPlant
from balance.simulation.pushes import (
    HalfSinePush,
    PendulumPush,
    Push,
    effective_mass,
    make_pushes,
    pendulum_impulse,
)

Array = NDArray[np.float64]

EXACT = 1e-9  # relative
SIMULATED_S = 0.05  # of a run, in which every push here is over
STEPS = (1e-3, 7e-4, 2.5e-4)
DIRECTION = (0.6, -0.8, 0.0)
AIM = {"direction": DIRECTION, "time_s": 0.0}
PUSHES: dict[str, tuple[dict[str, Any], float]] = {
    "force": ({"type": "force", "force_N": 300.0, "duration_s": 0.0123}, 300.0 * 0.0123),
    "half sine": ({"type": "half_sine", "impulse_Ns": 5.0, "duration_s": 0.0211}, 5.0),
    "spread": ({"type": "impulse", "impulse_Ns": 4.0, "duration_s": 0.0077}, 4.0),
    "instant": ({"type": "impulse", "impulse_Ns": 3.0}, 3.0),
    "shorter than a step": ({"type": "half_sine", "impulse_Ns": 2.0, "duration_s": 1e-4}, 2.0),
}
STARTS = (0.0, 0.01, 0.0123456, 0.02 / 3.0)


class StillPlant:
    """A robot that never moves, and counts what it is given."""

    def __init__(self, robot: Robot, dt: float) -> None:
        self.dt, self.time = dt, 0.0
        self.q, self.v = robot.q_nominal, np.zeros(robot.model.nv)
        self.contact_wrenches = np.zeros((len(robot.soles), 6))
        self.touches: tuple[Touch, ...] = ()
        self.given: list[BodyImpulse] = []

    def reset(self, q: Array, v: Array) -> None:
        self.q, self.v = q, v

    def step(self, torques: Array, impulses: Sequence[BodyImpulse] = ()) -> None:
        self.given.extend(impulses)


def config(
    base: ExperimentConfig, pushes: list[dict[str, Any]], step_s: float = 1e-3, **more: Any
) -> ExperimentConfig:
    tree = base.model_dump() | {"pushes": pushes, "duration_s": 0.4, "reference": None} | more
    tree["plant"]["step_s"] = tree["control_period_s"] = step_s
    return parse_config(tree, "test")


def still_run(experiment_config: ExperimentConfig) -> tuple[list[BodyImpulse], Recording]:
    experiment = Experiment(experiment_config)
    plant = StillPlant(experiment.robot, experiment_config.plant.step_s)
    experiment.plant = plant
    log = Log(experiment_config, experiment.robot)
    while log.rows * experiment_config.control_period_s < SIMULATED_S:
        experiment.advance(log)
    return plant.given, experiment.recording(log, experiment.end, 1.0)


@pytest.mark.parametrize("step_s", STEPS)
@pytest.mark.parametrize("kind", PUSHES)
def test_run_delivers_exactly_the_impulse_asked_for(
    toro_config: ExperimentConfig, kind: str, step_s: float
) -> None:
    shape, impulse = PUSHES[kind]
    for start in STARTS:
        push = AIM | shape | {"time_s": start}
        given, recording = still_run(config(toro_config, [push], step_s))
        total = np.sum([item.vector for item in given], axis=0)
        np.testing.assert_allclose(total, impulse * np.array(DIRECTION), rtol=EXACT, atol=1e-12)
        logged = recording.push_force.sum(axis=0) * step_s
        np.testing.assert_allclose(logged, total, rtol=EXACT, atol=1e-12)
        assert recording.summary()["impulse_Ns"] == pytest.approx(impulse, rel=EXACT)


@pytest.mark.parametrize("step_s", STEPS)
def test_instant_on_the_boundary_of_two_steps_falls_into_exactly_one(step_s: float) -> None:
    """Decimal times such as 0.007 are not quite the products that count the steps."""
    for k in range(2000):
        start = round(k * step_s, 7)
        push = Push("hip", np.zeros(3), np.ones(3), False, start, start, 2.0, "constant")
        shares = [push.between(j * step_s, (j + 1) * step_s) for j in range(max(k - 2, 0), k + 2)]
        assert sorted(shares)[-1] == sum(shares) == 2.0


@pytest.mark.parametrize("step_s", STEPS)
def test_half_sine_follows_its_curve(toro: Robot, step_s: float) -> None:
    """Impulse of each step against Simpson's rule on the force."""
    start, duration, impulse = 0.0031, 0.02, 6.0
    keys = {"type": "half_sine", "direction": (1.0, 0.0, 0.0), "time_s": start}
    config = push_config(**keys, impulse_Ns=impulse, duration_s=duration)
    profile = HalfSinePush(config, toro)
    push = Push("hip", np.zeros(3), np.ones(3), False, start, start + duration, impulse, profile)
    peak = impulse * np.pi / (2.0 * duration)

    def force(t: float) -> float:
        return float(peak * np.sin(np.pi * np.clip((t - start) / duration, 0.0, 1.0)))

    for k in range(int(0.005 / step_s), int(0.02 / step_s)):
        a, b = k * step_s, (k + 1) * step_s
        simpson = step_s / 6.0 * (force(a) + 4.0 * force(0.5 * (a + b)) + force(b))
        assert push.between(a, b) == pytest.approx(simpson, rel=1e-6)


def test_pushes_at_the_same_time_all_act(toro_config: ExperimentConfig) -> None:
    pushes = [
        AIM | {"type": "force", "force_N": 100.0, "duration_s": 0.02},
        AIM | {"type": "half_sine", "impulse_Ns": 5.0, "duration_s": 0.03, "body": "trunk"},
        AIM | {"type": "impulse", "impulse_Ns": 1.0, "time_s": 0.011},
    ]
    given, recording = still_run(config(toro_config, pushes))
    by_body = dict.fromkeys(("hip", "trunk"), 0.0)
    for item in given:
        by_body[item.body] += float(np.linalg.norm(item.vector))
    assert by_body == pytest.approx({"hip": 3.0, "trunk": 5.0}, rel=EXACT)
    impulses = [push["impulse_Ns"] for push in recording.summary()["pushes"]]
    assert impulses == pytest.approx([2.0, 5.0, 1.0], rel=EXACT)


def test_run_that_ends_early_states_what_was_delivered(toro_config: ExperimentConfig) -> None:
    push = AIM | {"type": "force", "force_N": 100.0, "duration_s": 0.04}
    experiment = Experiment(config(toro_config, [push]))
    plant = StillPlant(experiment.robot, 1e-3)
    experiment.plant = plant
    step = experiment.controller.step

    def interrupted(q: Array, v: Array, t: float) -> Any:
        if t > 0.0195:
            raise KeyboardInterrupt
        return step(q, v, t)

    experiment.controller.step = interrupted  # type: ignore[method-assign]
    summary = experiment.run().summary()
    assert summary["outcome"] == "aborted"
    assert summary["impulse_Ns"] == pytest.approx(100.0 * 0.02, rel=EXACT)


def test_pendulum_keeps_momentum_and_loses_speed_by_its_restitution() -> None:
    """m v = m v' + M u and u - v' = e v, solved as two linear equations."""
    rng = np.random.default_rng(6)
    for _ in range(50):
        m, M, energy = rng.uniform(1.0, 50.0, 3)
        e = rng.uniform(0.0, 1.0)
        v = np.sqrt(2.0 * energy / m)
        _, u = np.linalg.solve([[m, M], [-1.0, 1.0]], [m * v, e * v])
        assert pendulum_impulse(m, energy, e, M) == pytest.approx(M * u, rel=1e-12)


def test_pendulum_of_the_config_hits_the_effective_mass(
    toro: Robot, toro_config: ExperimentConfig
) -> None:
    (push,) = make_pushes(toro_config, toro)
    mass = effective_mass(toro, toro.q_nominal, "hip", np.zeros(3), np.array([0.0, 1.0, 0.0]))
    v = np.sqrt(2.0 * 17.4 / 5.0)
    assert push.impulse == pytest.approx(1.3 * v / (1.0 / 5.0 + 1.0 / mass), rel=1e-12)
    assert (push.start, push.end) == (0.5, 0.52)
    assert isinstance(push.profile, PendulumPush)


@pytest.mark.parametrize("axis", range(3))
def test_effective_mass_is_what_the_simulated_robot_answers_with(
    any_robot: Robot, toro_config: ExperimentConfig, axis: int
) -> None:
    """Impulse over the speed that the hit point gains, while the soles stick."""
    robot = any_robot
    plant = PinocchioPlant(PlantConfig(friction=5.0), robot)
    torques = make_controller(toro_config, robot).step(plant.q, plant.v, 0.0).torques
    body, point, direction = robot.push_body, np.array([0.02, -0.03, 0.05]), np.eye(3)[axis]
    impulse = 1e-3 * direction
    frame = robot.model.getFrameId(body)
    data = robot.model.createData()

    def speed(pushes: list[BodyImpulse]) -> float:
        plant.reset(robot.q_nominal, np.zeros(robot.model.nv))
        plant.step(torques, pushes)
        pin.forwardKinematics(robot.model, data, robot.q_nominal, plant.v)
        pin.updateFramePlacements(robot.model, data)
        twist = pin.getFrameVelocity(robot.model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        arm = data.oMf[frame].rotation @ point
        return float(direction @ (twist.linear + np.cross(twist.angular, arm)))

    gained = speed([BodyImpulse(body, point, impulse)]) - speed([])
    mass = effective_mass(robot, robot.q_nominal, body, point, direction)
    assert mass == pytest.approx(1e-3 / gained, rel=0.01)


def test_body_axes_turn_with_the_body(toro_config: ExperimentConfig) -> None:
    """iCub stands with its base turned by half a turn: its x axis is the world's -x."""
    push = {"type": "force", "force_N": 50.0, "duration_s": 0.02, "time_s": 0.01}
    push |= {"direction": (1.0, 0.0, 0.0), "axes": "body"}
    given, recording = still_run(config(toro_config, [push], robot="icub"))
    assert all(item.in_body_axes for item in given)
    total = recording.push_force.sum(axis=0) * 1e-3
    np.testing.assert_allclose(total, [-1.0, 0.0, 0.0], atol=1e-9)
    robot = Experiment(config(toro_config, [push], robot="icub")).robot
    masses = [
        effective_mass(robot, robot.q_nominal, "root_link", np.ones(3), np.array(d), in_body)
        for d, in_body in (([1.0, 0.0, 0.0], True), ([-1.0, 0.0, 0.0], False))
    ]
    assert masses[0] == pytest.approx(masses[1], rel=1e-9)


def test_unknown_body_is_refused_with_the_nearest_one(
    toro: Robot, toro_config: ExperimentConfig
) -> None:
    push = AIM | {"type": "impulse", "impulse_Ns": 1.0, "body": "hipp"}
    with pytest.raises(ConfigError) as caught:
        make_pushes(config(toro_config, [push]), toro)
    message = str(caught.value)
    for part in ("pushes.0.body", "'hipp'", "toro", "did you mean 'hip'?"):
        assert part in message
