"""Stumpff functions against exact rational sums."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from balance.rotations.stumpff import stumpff, stumpff_derivative, stumpff_second_derivative

RELATIVE = 1e-13
ARGUMENTS = [0.0, 1e-300, 1e-12, 1e-3, 0.5, 1.0, 3.0, 3.999, 4.0, 4.001, 7.0, 9.8, 30.0]


def exact(k: int, s: float, order: int = 0) -> float:
    """Derivative of ``order`` of c_k, summed in rational numbers."""
    total = Fraction(0)
    for j in range(order, 60):
        falling = math.factorial(j) // math.factorial(j - order)
        total += (-1) ** j * falling * Fraction(s) ** (j - order) / math.factorial(k + 2 * j)
    return float(total)


@pytest.mark.parametrize("k", range(7))
@pytest.mark.parametrize("s", ARGUMENTS)
def test_values_are_exact_to_round_off(k: int, s: float) -> None:
    scale = 1.0 / math.factorial(k)
    assert float(stumpff(k, s)) == pytest.approx(exact(k, s), rel=RELATIVE, abs=1e-15 * scale)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("s", ARGUMENTS)
def test_derivatives_are_exact_to_round_off(k: int, s: float) -> None:
    assert float(stumpff_derivative(k, s)) == pytest.approx(exact(k, s, 1), rel=RELATIVE, abs=1e-15)
    second = float(stumpff_second_derivative(k, s))
    assert second == pytest.approx(exact(k, s, 2), rel=RELATIVE, abs=1e-15)


def test_named_quotients() -> None:
    theta = np.array([2.5, 6.0])
    np.testing.assert_allclose(stumpff(0, theta**2), np.cos(theta), rtol=1e-14)
    np.testing.assert_allclose(stumpff(3, theta**2), (theta - np.sin(theta)) / theta**3, rtol=1e-14)
