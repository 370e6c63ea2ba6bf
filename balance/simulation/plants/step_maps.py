"""From the forces of a step to the velocities of its contacts, and back to those of the robot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.dynamics.compiled import compiled
from balance.dynamics.linear_algebra import contiguous, divide_left, divide_rows, gram

Array = NDArray[np.float64]


@compiled
def seen_by_contacts(U: Array, rows: Array, v: Array) -> tuple[Array, Array, Array]:
    """Y^T, Delassus matrix and velocities without contact, of ``rows`` J and below them ``drive``.

    With Y = U^-T [J^T  drive] the products Y^T Y hold the Delassus matrix, and in their last column
    what ``drive`` adds to the contacts' velocities J v.
    """
    half = divide_rows(rows, U)
    products = gram(half)
    free = rows[:-1].dot(v) + products[:-1, -1]
    return half, contiguous(products[:-1, :-1]), free


@compiled
def velocity_after(U: Array, half: Array, impulses: Array, v: Array) -> Array:
    """v + (M + dt B)^-1 (J^T impulses + drive), with ``half`` of :func:`seen_by_contacts`."""
    return v + divide_left(U, impulses.dot(half[:-1]) + half[-1])
