"""The capture law: what it makes of a plan, and pushes beyond the ankle limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from law_samples import law_config
from numpy.typing import NDArray

from balance.config import load_config
from balance.control.capture import CaptureController
from balance.errors import ConfigError
from balance.experiment import run
from balance.recordings.metrics import ankle_limit
from balance.robots import Robot

Array = NDArray[np.float64]

EXACT = 1e-9  # relative, for closed forms
SPEED = 1.21  # of the rated speeds: what drives bring a joint to, and rounding


@pytest.fixture(scope="module")
def controller(toro: Robot) -> CaptureController:
    return CaptureController(law_config("capture"), toro)


def test_divergent_coordinate_is_driven_by_cop_and_lean_alone() -> None:
    """A pendulum with a flywheel under arbitrary CoP and moments, integrated in small steps."""
    rng = np.random.default_rng(60)
    dt, steps = 3e-4, 4000
    a, b = rng.normal(size=(2, 3))
    x, v, h, r = 0.01 * rng.normal(size=4)
    zetas, rates = [], []
    for i in range(steps):
        cop = 0.05 * (a[0] * np.sin(a[1] + 3 * i * dt) + a[2])
        moment = 0.05 * (b[0] * np.sin(b[1] + 6 * i * dt) + b[2])
        zetas.append(x + v + h + r)
        rates.append(zetas[-1] - cop - h)
        bend = x - cop - moment
        x, v = x + dt * v + 0.5 * dt**2 * bend, v + dt * bend
        h, r = h + dt * r + 0.5 * dt**2 * moment, r + dt * moment
    measured, expected = np.gradient(zetas, dt)[1:-1], np.array(rates)[1:-1]
    np.testing.assert_allclose(measured, expected, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("azimuth", [0.0, 45.0, 90.0, 200.0])
def test_beyond_the_edge_the_body_leans_to_the_side_of_the_fall(
    toro: Robot, controller: CaptureController, azimuth: float
) -> None:
    """The moment carries the force's line out of the soles, wherever the CoP is best for it."""
    direction = np.array([np.cos(np.radians(azimuth)), np.sin(np.radians(azimuth)), 0.0])
    speed = 1.2 * ankle_limit(toro, direction) / toro.mass
    v = np.zeros(toro.model.nv)
    v[:3] = pin.Quaternion(toro.q_nominal[3:7]).matrix().T @ (speed * direction)
    here = controller.body.at(toro.q_nominal, v)
    desired = controller.path.at(0.0)
    state = controller.plan_state(here, desired, np.zeros(3 + len(controller.flywheel.free)))
    plan = controller.planner.plan(state, desired.com[:2] / controller.height)
    assert plan is not None
    cop, moment = plan
    assert moment @ direction[:2] > 0.05
    edges, centre = controller.planner.regions.cop, desired.com[:2] / controller.height
    assert (edges.normals @ (cop + centre) <= edges.offsets + EXACT).all()
    along = edges.normals @ direction[:2]
    room = (edges.offsets - edges.normals @ centre)[along > EXACT] / along[along > EXACT]
    assert (cop + moment) @ direction[:2] > 1.1 * room.min()


def test_wanted_accelerations_make_the_wanted_moment(controller: CaptureController) -> None:
    """B turn is the moment, however far the coordinates are from their shares."""
    wheel, rng = controller.flywheel, np.random.default_rng(61)
    B, n = wheel.numbers.B[:2], 3 + len(wheel.free)
    for _ in range(20):
        delta, rates = 0.02 * rng.normal(size=n), rng.normal(size=n)
        moment = rng.normal(size=2)
        turn = wheel.wanted(delta, rates, moment, 5.0)
        np.testing.assert_allclose(B @ turn, moment, rtol=0, atol=1e-6)


def push(azimuth: float, fraction: float, robot: Robot, body: str | None) -> dict[str, Any]:
    direction = np.array([np.cos(np.radians(azimuth)), np.sin(np.radians(azimuth)), 0.0])
    push = {
        "type": "half_sine",
        "direction": direction.tolist(),
        "time_s": 0.0,
        "impulse_Ns": fraction * ankle_limit(robot, direction),
        "duration_s": 0.02,
    }
    return push | ({"body": body} if body else {})


@pytest.mark.parametrize("azimuth", [0.0, 270.0])
def test_a_push_beyond_the_ankle_limit_is_recovered(toro: Robot, azimuth: float) -> None:
    """Without knowing the joints' friction; knees, waist and arms come back, no drive races."""
    keys = {"duration_s": 4.0, "control_period_s": 0.004}
    keys["pushes"] = [push(azimuth, 1.05, toro, "hip")]
    recording = run(load_config("toro_capture", keys))
    summary = recording.summary()
    assert summary["outcome"] == "recovered", summary["cause"]
    assert np.abs(recording.q[-1, 7:] - toro.q_nominal[7:]).max() < 0.2  # rad
    knees = [7 + toro.joint_names.index(name) for name in ("left_knee", "right_knee")]
    assert recording.q[:, knees].min() > 0.05  # rad
    after = recording.time > 0.1  # the hit itself is no drive's doing
    speeds = np.abs(recording.v[after, 6:]) / toro.rated_speeds
    assert speeds.max() < SPEED


def test_soles_are_used_to_their_edges_unless_a_margin_is_asked_for() -> None:
    assert law_config("capture", controller__contacts={}).controller.contacts.cop_margin_m == 0.0
    kept = law_config("capture", controller__contacts={"cop_margin_m": 0.01}).controller.contacts
    assert kept.cop_margin_m == 0.01
    assert law_config("momentum", controller__contacts={}).controller.contacts.cop_margin_m == 0.005


def test_feet_on_a_step_and_a_slope_are_stood_on() -> None:
    controller = load_config("toro_capture").controller.model_dump()
    keys = {"controller": controller, "duration_s": 3.0, "control_period_s": 0.004}
    assert run(load_config("toro_slope", keys)).summary()["outcome"] == "recovered"


def test_a_foot_that_bears_little_is_pulled_back_to_the_ground(
    toro: Robot, controller: CaptureController
) -> None:
    """Above its plane and tilted, by k^2 of each; a foot that bears its share is left alone."""
    q = toro.q_nominal.copy()
    q[2] += 0.01
    q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.02, 0.0, 0.0)).coeffs()
    here = controller.body.at(q, np.zeros(toro.model.nv))
    over_left = np.array([0.0, 0.14])
    drift = controller.grounding.drift(here, over_left) - here.drift
    gain = (0.5 * controller.law.contact_damping) ** 2
    assert np.abs(drift[:6]).max() == 0.0
    heights = [sole.pose(pinned(toro, q)).translation[2] for sole in toro.soles]
    assert drift[8] == pytest.approx(gain * heights[1], rel=0.05)
    assert drift[9] == pytest.approx(gain * 0.02, rel=0.05)
    even = controller.grounding.drift(here, np.zeros(2))
    np.testing.assert_allclose(even, here.drift, rtol=0, atol=1e-9)


def pinned(robot: Robot, q: Array) -> pin.Data:
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    return data


@pytest.mark.parametrize(("key", "value"), [("samples", 2), ("replan_s", -1.0), ("arm_share", 0.5)])
def test_a_wrong_key_is_refused_in_one_sentence(key: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=key) as error:
        law_config("capture", **{f"controller__{key}": value})
    assert "Traceback" not in str(error.value)
