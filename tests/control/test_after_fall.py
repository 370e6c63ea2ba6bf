"""What the drives do after a fall."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import balance
from balance.control.parts.after_fall import DAMPING_RATIO, FREQUENCY_HZ, FallenLaw
from balance.control.parts.output import ControlStatus
from balance.robots import Robot


def test_held_joints_move_like_an_oscillator_per_unit_of_inertia(toro: Robot) -> None:
    """RobotDynamicsETH after (3.75): acceleration -w^2 x - 2 zeta w v of each joint on its own."""
    law = FallenLaw(toro, limp=False)
    q, v = toro.q_nominal.copy(), np.zeros(toro.model.nv)
    q[7:] += 1e-3
    v[6:] = 1e-2
    free = np.linalg.inv(pin.crba(toro.model, toro.model.createData(), toro.q_nominal))
    inertia = 1.0 / np.diag(free)[6:]
    omega = 2.0 * np.pi * FREQUENCY_HZ
    expected = -(omega**2) * 1e-3 - 2.0 * DAMPING_RATIO * omega * 1e-2
    output = law.step(q, v, 0.0)
    assert output.torques / inertia == pytest.approx(np.full(len(inertia), expected))
    assert output.status is ControlStatus.FALLEN and np.isnan(output.wrenches).all()


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
