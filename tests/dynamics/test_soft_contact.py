"""The soft contact is a linear spring and damper."""

from __future__ import annotations

import numpy as np
import pytest

from balance.dynamics.soft_contact import soft_contact_force
from balance.errors import InputError


def test_resting_mass_sinks_by_its_weight_over_the_stiffness() -> None:
    mass, gravity, stiffness, damping = 2.0, 9.81, 1e4, 200.0
    height, velocity, dt = 0.0, 0.0, 1e-4
    for _ in range(20000):
        force = soft_contact_force(
            [0.0, 0.0, height], np.zeros(3), [0.0, 0.0, velocity], stiffness, damping
        )
        velocity += dt * (-gravity - force[2] / mass)
        height += dt * velocity
    assert height == pytest.approx(-mass * gravity / stiffness, rel=1e-9)
    np.testing.assert_allclose(force, [0.0, 0.0, -mass * gravity], rtol=1e-9)


def test_work_of_the_spring_is_its_potential_and_the_damper_only_dissipates() -> None:
    rng = np.random.default_rng(0)
    r, v = rng.normal(size=(50, 3)), rng.normal(size=(50, 3))
    stiffness, damping = np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3])
    total = soft_contact_force(r, np.zeros(3), v, stiffness, damping)
    spring = soft_contact_force(r, np.zeros(3), v, stiffness, 0.0)
    step = 1e-6
    potential = [0.5 * ((r + sign * step * v) ** 2 @ stiffness) for sign in (1, -1)]
    power = (potential[0] - potential[1]) / (2 * step)
    np.testing.assert_allclose((spring * v).sum(axis=1), power, atol=1e-8)
    assert (((total - spring) * v).sum(axis=1) > 0.0).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"position": np.zeros(2)}, r"position has shape \(2,\)"),
        ({"velocity": 0.0}, r"velocity has shape \(\)"),
        ({"stiffness": -1.0}, "stiffness is -1.0"),
        ({"damping": np.nan}, "damping is nan"),
        ({"damping": np.ones(2)}, r"damping has shape \(2,\)"),
    ],
)
def test_wrong_input_is_named(change: dict, message: str) -> None:
    arguments = {
        "position": np.zeros(3),
        "rest_position": np.zeros(3),
        "velocity": np.zeros(3),
        "stiffness": 1.0,
        "damping": 1.0,
    }
    with pytest.raises(InputError, match=message):
        soft_contact_force(**(arguments | change))
