"""Least squares under conditions: closed forms, and what is left where there is no solution."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.dynamics.constrained_fit import Terms, constrained_fit

Array = NDArray[np.float64]
CLOSE = 1e-6


def add(x: Array, step: Array) -> Array:
    return x + step


def on_a_sphere(wish: Array, lowest: float) -> Array:
    """The point of the unit sphere with z at least ``lowest`` that is nearest to ``wish``."""

    def evaluate(x: Array) -> Terms:
        return Terms(
            *(x - wish, np.eye(3)),
            *(np.array([x @ x - 1.0]), 2.0 * x[None]),
            *(np.array([x[2] - lowest]), np.array([[0.0, 0.0, 1.0]])),
        )

    fit = constrained_fit(evaluate, add, np.array([0.3, 0.4, 0.5]), tolerance=1e-9)
    assert fit.met
    return fit.x


def test_the_nearest_point_of_a_sphere_is_along_the_wish() -> None:
    wish = np.array([1.0, 2.0, 2.0])
    assert np.allclose(on_a_sphere(wish, -1.0), wish / 3.0, atol=CLOSE)


def test_an_inequality_that_binds_is_met_with_equality() -> None:
    wish = np.array([3.0, 4.0, 0.0])
    found = on_a_sphere(wish, 0.8)
    assert np.allclose(found, [0.36, 0.48, 0.8], atol=CLOSE)


def test_conditions_that_contradict_each_other_are_not_met_and_missed_evenly() -> None:
    """x = 0 and x = 1: the sum of squares is least halfway."""

    def evaluate(x: Array) -> Terms:
        none = np.empty(0), np.empty((0, 1))
        return Terms(
            1e-3 * x, 1e-3 * np.eye(1), np.array([x[0], x[0] - 1.0]), np.ones((2, 1)), *none
        )

    fit = constrained_fit(evaluate, add, np.array([5.0]))
    assert not fit.met
    assert abs(fit.x[0] - 0.5) < 1e-3
    assert abs(fit.terms.violation - 0.5) < 1e-3
