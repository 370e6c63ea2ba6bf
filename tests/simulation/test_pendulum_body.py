"""The pendulum by itself and against masses: formulas of the testbed, and an ODE solver."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from balance.config.pendulum import PendulumConfig
from balance.config.schema import validate
from balance.errors import ConfigError
from balance.simulation.pendulum_body import PendulumBody, Point

G = 9.81
AWAY = Point(way=10.0, speed=0.0, drift=0.0, inverse_mass=0.1)


def pendulum(**keys: Any) -> PendulumConfig:
    tree = {"direction": [1.0, 0.0, 0.0], "motion": {"type": "fall", "energy_J": 20.0}, **keys}
    return validate(PendulumConfig, tree, "the pendulum")


@pytest.mark.parametrize(("length", "mass"), [(0.5, 2.0), (1.0, 3.0), (1.2, 5.0)])
def test_energy_and_inertia_are_those_of_a_rod_and_a_point_mass(length: float, mass: float) -> None:
    """By adding up slices of the rod."""
    config = pendulum(length_m=length, mass_kg=mass)
    radii = (np.arange(100_000) + 0.5) / 100_000 * length
    slices = np.full(radii.size, 4.13 * length / radii.size)
    assert config.inertia == pytest.approx(mass * length**2 + (slices * radii**2).sum(), rel=1e-9)
    angle = config.release_rad
    rise = mass * length + (slices * radii).sum()
    assert rise * G * (1.0 - math.cos(angle)) == pytest.approx(20.0, rel=1e-9)


@pytest.mark.parametrize("energy", [2.0, 20.0, 60.0])
def test_a_free_swing_with_friction_is_that_of_an_ode_solver(energy: float) -> None:
    config = pendulum(motion={"type": "fall", "energy_J": energy})
    body, dt = PendulumBody(config, 1e-3), 1e-3
    steps = int(config.fall_s / dt)  # friction has not yet turned round
    for i in range(steps):
        assert body.step(i * dt, AWAY) == 0.0

    def slope(_: float, y: np.ndarray) -> list[float]:
        torque = -config.weight_Nm * math.sin(y[0]) - 2.29 * (y[1] > 0.0 or y[0] < -0.1)
        return [y[1], torque / config.inertia]

    exact = solve_ivp(slope, (0.0, steps * dt), [-config.release_rad, 0.0], rtol=1e-10, atol=1e-12)
    assert body.angle == pytest.approx(exact.y[0, -1], abs=1e-4)
    assert body.rate == pytest.approx(exact.y[1, -1], rel=1e-4)
    turned = body.angle + config.release_rad
    assert body.friction_J == pytest.approx(2.29 * turned, rel=1e-9)
    assert body.energy + body.friction_J == pytest.approx(energy, rel=1e-5)


def test_it_comes_to_rest_where_friction_holds_it() -> None:
    config = pendulum(motion={"type": "fall", "energy_J": 0.02})
    body = PendulumBody(config, 1e-3)
    for i in range(500):
        body.step(i * 1e-3, AWAY)
    assert config.weight_Nm * math.sin(config.release_rad) < 2.29
    assert body.angle == -config.release_rad


@pytest.mark.parametrize("dt", [1e-3, 5e-4])
@pytest.mark.parametrize(("mass", "spring"), [(4.0, 0.0), (15.0, 3000.0), (80.0, 500.0)])
@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_a_hit_on_a_mass_is_that_of_an_ode_solver(
    mass: float, spring: float, damping: float, dt: float
) -> None:
    """A mass on a spring, stepped like an engine does; its inverse mass is guessed wrong by 30 %.

    Momentum and energy to 1 % as asked; they come out ten times better.
    """
    config = pendulum(pad={"stiffness": 5e4, "damping": damping}, caught=False)
    body = PendulumBody(config, dt)
    x = v = drift = work = impulse = 0.0
    wrong = 1.3 / mass
    end = config.fall_s + 0.25
    for i in range(round(end / dt)):
        size = body.step(i * dt, Point(x - 0.5 * dt * v, v, drift, wrong))
        before, v = v, v + (size - dt * spring * x) / mass
        x += dt * v
        drift = v - before - wrong * size
        work += 0.5 * size * (before + v)
        impulse += size

    def slope(_: float, y: np.ndarray) -> list[float]:
        angle, rate, place, speed = y
        depth = config.length_m * math.sin(angle) - place
        closing = config.length_m * math.cos(angle) * rate - speed
        force = 5e4 * depth * max(0.0, 1.0 + damping * closing) if depth > 0.0 else 0.0
        friction = 2.29 * math.copysign(1.0, rate) if rate else 2.29
        torque = -config.weight_Nm * math.sin(angle) - friction
        torque -= force * config.length_m * math.cos(angle)
        return [rate, torque / config.inertia, speed, (force - spring * place) / mass]

    exact = solve_ivp(
        slope, (0.0, end), [-config.release_rad, 0.0, 0.0, 0.0],
        rtol=1e-9, atol=1e-11, max_step=1e-3,
    ).y[:, -1]  # fmt: skip
    assert v == pytest.approx(exact[3], abs=0.01 * impulse / mass)
    assert body.rate == pytest.approx(exact[1], abs=0.01 * impulse / config.inertia)
    if spring == 0.0:
        assert impulse == pytest.approx(mass * exact[3], rel=0.01)
    books = 20.0 - body.friction_J - body.pad_loss_J - body.energy - body.spring_J - work
    assert abs(books) < 0.01 * 20.0
    assert body.pad_loss_J >= -1e-3
    if damping == 0.0:
        assert abs(body.pad_loss_J) < 0.01 * 20.0


def test_it_is_caught_at_the_highest_point_after_its_hit() -> None:
    body, dt = PendulumBody(pendulum(), 1e-3), 1e-3
    wall = Point(way=0.0, speed=0.0, drift=0.0, inverse_mass=0.0)
    for i in range(3000):
        body.step(i * dt, wall)
    assert body.caught
    assert body.return_J is not None
    assert body.return_J == pytest.approx(body.potential(body.angle), abs=0.01)
    assert body.angle < 0.0
    spent = body.friction_J + body.pad_loss_J + body.energy
    assert spent == pytest.approx(20.0, rel=1e-3)


@pytest.mark.parametrize("kind", ["sine_force", "sine_angle", "ramp_force", "ramp_angle"])
def test_a_motor_gives_what_pad_and_pendulum_hold_and_lose(kind: str) -> None:
    """Against a spring of 2000 N/m on a mass: in the end nothing else has the motor's work."""
    motion: dict[str, Any] = {
        "sine_force": {"amplitude_N": 60.0, "frequency_hz": 1.0, "cycles": 1},
        "sine_angle": {"amplitude_deg": 2.0, "frequency_hz": 0.5, "cycles": 2},
        "ramp_force": {"rate_N_s": 50.0, "largest_N": 60.0},
        "ramp_angle": {"rate_deg_s": 2.0, "largest_deg": 2.0},
    }[kind]
    config = pendulum(motion={"type": kind, **motion}, attached=kind.startswith("sine"))
    body, dt, mass, spring, damping = PendulumBody(config, 1e-3), 1e-3, 20.0, 2000.0, 100.0
    x = v = drift = work = largest = 0.0
    for i in range(int(0.8 * config.end_s / dt)):
        size = body.step(i * dt, Point(x - 0.5 * dt * v, v, drift, 1.0 / mass))
        before, v = v, v + (size - dt * (spring * x + damping * v)) / mass
        x += dt * v
        drift = v - before - size / mass
        work += 0.5 * size * (before + v)
        largest = max(largest, size / dt)
    held = body.energy + body.spring_J
    if kind.endswith("force"):  # its motor makes up for its weight
        held += work + body.pad_loss_J
        assert body.motor_J == pytest.approx(held, rel=0.01)
        assert largest == pytest.approx(60.0 if kind == "sine_force" else 48.0, rel=0.1)
    else:
        assert body.motor_J == pytest.approx(held + work + body.pad_loss_J, rel=0.01)
        wanted = 2000.0 * math.sin(math.radians(2.0 if kind == "sine_angle" else 1.6))
        assert largest == pytest.approx(wanted, rel=0.15)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"direction": [1.0, 0.0, 0.2]}, "level direction"),
        ({"motion": {"type": "fall", "energy_J": 200.0}}, "holds at most 138.6 J"),
        ({"mass_kg": 0.0, "rod_kg_m": 0.0}, "no mass"),
        ({"motion": {"type": "drop", "energy_J": 1.0}}, "'drop' is unknown"),
    ],
)
def test_what_no_pendulum_can_do_is_refused(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        pendulum(**keys)
