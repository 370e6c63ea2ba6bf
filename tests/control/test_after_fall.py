"""What the drives do after a fall."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import balance
from balance.control.parts.after_fall import (
    DAMPING_RATIO,
    FREQUENCY_HZ,
    LARGEST_SAG_RAD,
    FallenLaw,
)
from balance.control.parts.output import ControlStatus
from balance.robots import Robot


def test_held_joints_are_critically_damped_oscillators_no_slower_than_six_hertz(
    toro: Robot,
) -> None:
    """RobotDynamicsETH after (3.75): acceleration -w^2 x - 2 zeta w v of each joint on its own."""
    free = np.linalg.inv(pin.crba(toro.model, toro.model.createData(), toro.q_nominal))
    inertia = 1.0 / np.diag(free)[6:]
    omega_squared = np.maximum((2.0 * np.pi * FREQUENCY_HZ) ** 2, toro.effort_limits / inertia)
    rates = _acceleration(toro, 1e-4, 0.0, inertia), _acceleration(toro, 0.0, 1e-4, inertia)
    assert rates[0] == pytest.approx(-omega_squared * 1e-4)
    assert rates[1] == pytest.approx(-2.0 * DAMPING_RATIO * np.sqrt(omega_squared) * 1e-4)
    assert (omega_squared == omega_squared.min()).any()  # the heavy ones
    assert (omega_squared > omega_squared.min()).any()  # the light ones


def test_a_drive_is_at_its_limit_a_radian_off_the_posture(toro: Robot) -> None:
    q = toro.q_nominal.copy()
    q[7:] -= LARGEST_SAG_RAD
    output = FallenLaw(toro, limp=False).step(q, np.zeros(toro.model.nv), 0.0)
    assert output.torques == pytest.approx(toro.effort_limits)
    assert output.status is ControlStatus.FALLEN and np.isnan(output.wrenches).all()


def _acceleration(robot: Robot, angle: float, rate: float, inertia: np.ndarray) -> np.ndarray:
    q, v = robot.q_nominal.copy(), np.zeros(robot.model.nv)
    q[7:] += angle
    v[6:] = rate
    return FallenLaw(robot, limp=False).step(q, v, 0.0).torques / inertia


def test_torques_stay_finite_and_within_limits(toro: Robot) -> None:
    law = FallenLaw(toro, limp=False)
    q, v = toro.q_nominal.copy(), np.zeros(toro.model.nv)
    q[7:] += 100.0
    q[7], v[7] = np.nan, np.inf
    torques = law.step(q, v, 0.0).torques
    assert (np.abs(torques) <= toro.effort_limits).all() and torques[0] == 0.0


def test_a_limp_robot_has_no_torque(toro: Robot) -> None:
    q, v = toro.q_nominal + 0.1, np.ones(toro.model.nv)
    assert not FallenLaw(toro, limp=True).step(q, v, 0.0).torques.any()


@pytest.mark.parametrize(("after_fall", "fallen"), [("law", False), ("hold", True), ("limp", True)])
def test_a_run_goes_on_after_the_fall_as_it_is_told(after_fall: str, fallen: bool) -> None:
    push = {"type": "half_sine", "direction": [1, 0, 0], "time_s": 0.05, "impulse_Ns": 80,
            "duration_s": 0.02}  # fmt: skip
    recording = balance.run(
        {"robot": "toro", "duration_s": 3.0, "after_fall": after_fall, "stop_after_fall_s": 0.1,
         "controller": {"law": "momentum"}, "pushes": [push]}
    )  # fmt: skip
    assert recording.end.time_s is not None
    after = recording.time >= recording.end.time_s
    flags = (recording.status & ControlStatus.FALLEN) != 0
    assert after.sum() == pytest.approx(100, abs=2)
    assert flags[after].all() == fallen and not flags[~after].any()
