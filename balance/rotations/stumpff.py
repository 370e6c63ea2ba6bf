"""Stumpff functions: the sine and cosine quotients of the exponential map, smooth through zero."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from balance.rotations.so3 import Array

# Below this the power series is used; above it the recursion loses at most one digit per step.
_SERIES_LIMIT = 4.0
_SERIES_TERMS = 14  # the next term is below 1e-17 for every s < 4


def stumpff(k: int, s: ArrayLike) -> Array:
    """c_k(s) = sum_j (-s)^j / (k + 2 j)!, for k = 0, 1, 2, ... and s >= 0.

    With s = theta^2: c_0 = cos theta, c_1 = sin theta / theta, c_2 = (1 - cos theta) / theta^2,
    c_3 = (theta - sin theta) / theta^3, and s c_{k+2} = 1 / k! - c_k.  The derivative by s is
    (k c_{k+2} - c_{k+1}) / 2.
    """
    s = np.asarray(s, dtype=float)
    series = np.zeros_like(s)
    small = np.minimum(s, _SERIES_LIMIT)
    for j in reversed(range(_SERIES_TERMS)):
        series = 1.0 / math.factorial(k + 2 * j) - small * series
    large = np.maximum(s, _SERIES_LIMIT)
    theta = np.sqrt(large)
    start, closed = _first_closed_form(k, theta)
    for i in range(start, k, 2):
        closed = (1.0 / math.factorial(i) - closed) / large
    return np.where(s < _SERIES_LIMIT, series, closed)


def _first_closed_form(k: int, theta: Array) -> tuple[int, Array]:
    """Index and value from which the recursion climbs to ``k``."""
    if k == 0:
        return 0, np.cos(theta)
    if k % 2 == 1:
        return 1, np.sin(theta) / theta
    half = 0.5 * theta
    return 2, 0.5 * (np.sin(half) / half) ** 2  # 1 - cos without cancellation near 2 pi


def stumpff_derivative(k: int, s: ArrayLike) -> Array:
    """dc_k/ds."""
    return 0.5 * (k * stumpff(k + 2, s) - stumpff(k + 1, s))


def stumpff_second_derivative(k: int, s: ArrayLike) -> Array:
    """d2c_k/ds2."""
    return 0.5 * (k * stumpff_derivative(k + 2, s) - stumpff_derivative(k + 1, s))
