"""Gains as frequencies and damping ratios, and back."""

from __future__ import annotations

import numpy as np
import pytest

from balance.config import GainsConfig, load_config
from balance.control.parts.gains import gain_matrices, physical_gains
from balance.errors import ConfigError
from balance.robots import Robot

EXACT = 1e-12
PHYSICAL = {
    "com": {"frequency_hz": [1.4, 0.8, 1.1], "damping_ratio": 0.7},
    "rotation": {"frequency_hz": 0.9, "damping_ratio": [1.0, 1.2, 0.5]},
}


def gains(tree: dict[str, object]) -> GainsConfig:
    return load_config("toro_push", {"controller.gains": tree}).controller.gains


def test_an_oscillator_gets_stiffness_and_damping_of_its_inertia(any_robot: Robot) -> None:
    """K_P = m omega^2 and K_D = 2 zeta omega; the same with the locked inertia."""
    K_P, K_D, K_R, D = gain_matrices(gains(PHYSICAL), any_robot)
    omega = 2.0 * np.pi * np.array([1.4, 0.8, 1.1])
    assert np.diag(K_P) == pytest.approx(any_robot.mass * omega**2, rel=EXACT)
    assert np.diag(K_D) == pytest.approx(1.4 * omega, rel=EXACT)
    turning = 2.0 * np.pi * 0.9
    assert np.diag(D) == pytest.approx(2.0 * np.array([1.0, 1.2, 0.5]) * turning, rel=EXACT)
    # Locked inertia: what turns like a rigid body, from the composite of all bodies.
    import pinocchio as pin

    model, data = any_robot.model, any_robot.model.createData()
    still = np.zeros(model.nv)
    still[3:6] = (0.1, 0.0, 0.0)
    momentum = pin.computeCentroidalMomentum(model, data, any_robot.q_nominal, still)
    R_WB = pin.Quaternion(any_robot.q_nominal[3:7]).matrix()
    I_xx = (R_WB.T @ momentum.angular)[0] / 0.1
    assert K_R[0, 0] == pytest.approx(I_xx * turning**2, rel=1e-9)


def test_both_ways_agree(any_robot: Robot) -> None:
    shown = physical_gains(gains(PHYSICAL), any_robot)
    assert shown.frequency_hz == pytest.approx([1.4, 0.8, 1.1, 0.9, 0.9, 0.9], rel=EXACT)
    assert shown.damping_ratio == pytest.approx([0.7, 0.7, 0.7, 1.0, 1.2, 0.5], rel=EXACT)


def test_frequencies_designed_for_a_build_follow_the_time_of_fall(any_robot: Robot) -> None:
    """A robot four times as high falls half as fast: its frequencies are halved."""
    height = float(any_robot.com()[2])
    build = {"mass_kg": 3.0, "com_height_m": height / 4.0}
    shown = physical_gains(gains({**PHYSICAL, "designed_for": build}), any_robot)
    assert shown.frequency_hz[:3] == pytest.approx([0.7, 0.4, 0.55], rel=1e-9)
    assert shown.damping_ratio[:3] == pytest.approx([0.7, 0.7, 0.7], rel=1e-9)


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"K_P": 1, **PHYSICAL}, ["K_P and com say the same thing"]),
        ({"K_P": 1, "K_R": 1, "D": 1}, ["the key K_D is missing", "or com"]),
        ({"com": PHYSICAL["com"], "D": 1}, ["the key K_R is missing", "or rotation"]),
        (
            {**PHYSICAL, "com": {"frequency_hz": -1, "damping_ratio": 1}},
            ["controller.gains.com.frequency_hz", "greater than 0"],
        ),
        (
            {**PHYSICAL, "com": {"frequency_hz": [1, 2], "damping_ratio": 1}},
            ["controller.gains.com.frequency_hz"],
        ),
        ({**PHYSICAL, "com": {"frequency_hz": 1}}, ["controller.gains.com.damping_ratio"]),
    ],
)
def test_contradictory_or_incomplete_gains_are_refused(
    tree: dict[str, object], words: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        gains(tree)
    for word in words:
        assert word in str(caught.value)
