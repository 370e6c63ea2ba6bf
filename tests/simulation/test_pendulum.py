"""The pendulum that is drawn for a push: energy, momentum and the rope."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from balance.config import load_config
from balance.robots import Robot
from balance.simulation.pendulum import GRAVITY, LENGTH_M, FreeSwing, Swing, swings
from balance.simulation.pushes import make_pushes

Array = NDArray[np.float64]

H = 1e-6  # s, of central differences


def swing_for(robot: Robot, **keys: Any) -> Swing:
    overrides = {f"pushes.0.{key}": value for key, value in keys.items()}
    pushes = make_pushes(load_config("toro_push", overrides), robot)
    (swing,) = swings(robot, pushes, np.zeros(1), robot.q_nominal[None])
    return swing


def velocity(swing: Swing, time: float) -> Array:
    return (swing.ball(time + H) - swing.ball(time - H)) / (2.0 * H)


def energy(swing: Swing, time: float) -> float:
    """Kinetic and potential energy, J, counted from the height of the hit."""
    v, rise = velocity(swing, time), float((swing.ball(time) - swing.point)[2])
    return swing.mass * (0.5 * float(v @ v) + GRAVITY * rise)


@pytest.mark.parametrize(("angle", "rate"), [(0.0, 2.6), (0.3, -1.0), (-1.2, 3.0), (0.0, 0.0)])
def test_a_free_swing_solves_the_equation_of_the_pendulum(angle: float, rate: float) -> None:
    swing = FreeSwing(angle, rate, 1.3)
    times = np.linspace(0.0, 3.0, 25)
    exact = solve_ivp(
        lambda _, y: [y[1], -GRAVITY / 1.3 * math.sin(y[0])],
        (0.0, 3.0), [angle, rate], t_eval=times, rtol=1e-11, atol=1e-12,
    )  # fmt: skip
    np.testing.assert_allclose([swing.at(t) for t in times], exact.y.T, atol=1e-8)


@pytest.mark.parametrize("direction", [(0, 1, 0), (1, -1, 0), (1, 0, 0.5), (0, 1, -1), (0, 0, 1)])
@pytest.mark.parametrize("joules", [17.4, 150.0])
def test_it_hits_with_its_energy_along_the_push(
    toro: Robot, direction: tuple[float, float, float], joules: float
) -> None:
    swing = swing_for(toro, direction=direction, energy_J=joules)
    start = swing.push.start - 2.0 * H
    unit = np.array(direction) / np.linalg.norm(direction)
    np.testing.assert_allclose(swing.ball(swing.push.start), swing.point, atol=1e-12)
    np.testing.assert_allclose(velocity(swing, start), swing.speed * unit, rtol=1e-4, atol=1e-4)
    assert 0.5 * swing.mass * swing.speed**2 == pytest.approx(joules)
    for time in np.linspace(swing.release + 0.01, start, 7):
        assert energy(swing, float(time)) == pytest.approx(joules, rel=1e-6)


def test_it_hangs_at_rest_until_it_is_let_go(toro: Robot) -> None:
    """At the height from which a fall gives the energy."""
    swing = swing_for(toro)
    height = 17.4 / (swing.mass * GRAVITY)
    for time in (swing.release - 1.0, swing.release - 0.01):
        assert (swing.ball(time) - swing.point)[2] == pytest.approx(height, rel=1e-9)
        np.testing.assert_allclose(velocity(swing, time), 0.0, atol=1e-9)


def test_what_the_mass_loses_is_what_the_robot_is_given(toro: Robot) -> None:
    swing = swing_for(toro)
    push = swing.push
    for time in np.linspace(push.start + 2.0 * H, push.end - 2.0 * H, 9):
        along = float(velocity(swing, float(time)) @ push.direction)
        left = swing.mass * swing.speed - push.delivered(float(time))
        assert swing.mass * along == pytest.approx(left, abs=0.02)  # N s; the path is an arc


@pytest.mark.parametrize("restitution", [0.0, 0.3, 1.0])
def test_it_leaves_as_newtons_law_of_impact_says_and_keeps_its_energy(
    toro: Robot, restitution: float
) -> None:
    """The rebound is e times the speed of approach, as seen from the point that was hit."""
    swing = swing_for(toro, restitution=restitution, duration_s=0.001)
    push, m, v = swing.push, swing.mass, swing.speed
    felt = push.impulse / ((1.0 + restitution) * v - push.impulse / m)  # J = (1+e) v m M / (m+M)
    away = float(velocity(swing, push.end + 2.0 * H) @ push.direction)
    assert push.impulse / felt - away == pytest.approx(restitution * v, abs=1e-3)
    kept = 0.5 * m * (v - push.impulse / m) ** 2
    for time in push.end + np.array([0.01, 0.2, 0.7, 1.4]):
        rest = energy(swing, float(time)) - m * GRAVITY * (swing.ball(push.end) - swing.point)[2]
        assert rest == pytest.approx(kept, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("keys", [{}, {"energy_J": 2000.0}, {"duration_s": 2.0}])
def test_the_ropes_keep_their_length(toro: Robot, keys: dict[str, float]) -> None:
    swing = swing_for(toro, **keys)
    assert swing.length >= LENGTH_M
    for time in np.linspace(0.0, swing.push.end + 1.5, 40):
        ball = swing.ball(float(time))
        assert np.isfinite(ball).all()
        assert np.linalg.norm(ball - swing.pivot) == pytest.approx(swing.length, rel=1e-12)
        one, other = (np.linalg.norm(ball - end) for end in swing.rope_ends)
        assert one == pytest.approx(other, rel=1e-12)


def test_only_pendulums_swing(toro: Robot) -> None:
    push = {"type": "impulse", "direction": [1, 0, 0], "time_s": 0.1, "impulse_Ns": 5}
    pushes = make_pushes(load_config("toro_push", {"pushes": [push]}), toro)
    assert swings(toro, pushes, np.zeros(1), toro.q_nominal[None]) == []
