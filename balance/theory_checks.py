"""What an identity check of ``balance theory`` is, and the random states it is tried on.

A check turns one numbered equation of a paper into a number: the residual of the identity at a
state, relative to the size of the terms that must cancel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from balance.dynamics.checks import Array, check_floating_base
from balance.errors import InputError

ANALYTIC_BOUND = 1e-9
"""Largest relative residual of an identity between quantities known to rounding."""
FINITE_DIFFERENCE_BOUND = 1e-6
"""Largest relative residual of an identity that needs a finite difference or an integration."""


@dataclass(frozen=True, slots=True)
class State:
    """A configuration ``q`` (nq,), a velocity ``v`` (nv,) and torques ``tau`` (nv - 6,)."""

    q: Array
    v: Array
    tau: Array


@dataclass(frozen=True, slots=True)
class Check:
    """One identity: where it is in the paper, what it says, and its residual at a state."""

    paper: str
    """Key of the paper, such as ``Garofalo2015``."""
    equation: str
    """Number as printed, such as ``(10)`` or ``appendix A``."""
    statement: str
    """The identity in words."""
    residual: Callable[[pin.Model, State], float]
    """Relative residual of the identity at a state of a model."""
    bound: float = ANALYTIC_BOUND
    """Largest residual that counts as holding."""
    max_states: int | None = None
    """At most so many states are tried, where one evaluation is slow; None means all."""


def relative_difference(a: Array | float, b: Array | float, scale: float = 0.0) -> float:
    """Largest |a - b| divided by the largest entry of a, b or ``scale``; 0 where all vanish.

    ``scale`` is the size of the terms that cancel, for identities whose both sides are small.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape:
        raise InputError(f"cannot compare arrays of shapes {a.shape} and {b.shape}")
    difference = largest(a - b)
    if not np.isfinite(difference):
        return float("inf")
    size = max(largest(a), largest(b), scale)
    return difference / size if size > 0.0 else 0.0


def largest(a: Array | float) -> float:
    """Largest absolute entry, 0 for an empty array."""
    return float(np.max(np.abs(a), initial=0.0))


def random_states(model: pin.Model, count: int, seed: int) -> list[State]:
    """``count`` reproducible states: base anywhere in a 2 m cube, joints spread over their limits.

    A joint without finite limits moves in [-pi, pi].  Velocities and torques are standard normal
    (m/s, rad/s, N m).
    """
    check_floating_base(model)
    if count < 1:
        raise InputError(f"the number of states is {count}; it must be at least 1")
    rng = np.random.default_rng(seed)
    return [random_state(model, rng) for _ in range(count)]


def random_state(model: pin.Model, rng: np.random.Generator) -> State:
    """One state drawn with ``rng``, see :func:`random_states`."""
    lower, upper = joint_ranges(model)
    coordinates = rng.uniform(lower, upper)
    coordinates[3:7] = rng.standard_normal(4)
    q = pin.normalize(model, coordinates)
    return State(q, rng.standard_normal(model.nv), rng.standard_normal(model.nv - 6))


def joint_ranges(model: pin.Model) -> tuple[Array, Array]:
    """Lower and upper bounds (nq,) to sample configurations from; [-1, 1] m for the base."""
    lower = np.array(model.lowerPositionLimit, dtype=float)
    upper = np.array(model.upperPositionLimit, dtype=float)
    bounded = np.isfinite(lower) & np.isfinite(upper) & (upper - lower < 4.0 * np.pi)
    lower = np.where(bounded, lower, -np.pi)
    upper = np.where(bounded, upper, np.pi)
    lower[:7], upper[:7] = -1.0, 1.0
    return lower, upper
