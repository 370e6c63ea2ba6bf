"""Least squares under conditions, by the augmented Lagrangian method.

    minimise  1/2 |r(x)|^2    subject to    c(x) = 0,    h(x) >= 0

With multipliers y, z and penalty rho, each round minimises

    1/2 |r|^2 + rho/2 |c + y / rho|^2 + rho/2 |max(0, z / rho - h)|^2

which is least squares again, by Levenberg-Marquardt steps; then y += rho c and z = max(0, z - rho
h).  Where the conditions contradict each other, it ends where they are violated least: the caller
can say which.  x may live on a manifold: steps are added by a function of the caller's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from balance.dynamics.checks import Array

X = TypeVar("X")

FIRST_PENALTY, LAST_PENALTY, PENALTY_GROWTH = 30.0, 1e7, 6.0
ENOUGH_LESS = 0.3  # of the violation that a round may leave without a larger penalty
# Rounds in a row, at a penalty that is felt, after which conditions count as contradictory.
HARDLY_LESS, MOST_STALLS, FELT_PENALTY = 0.7, 3, 1e4
FAR_OFF = 1e3  # times the tolerance: a violation above that is no matter of rounding
ROUNDS = 40
FIRST_STEPS, LATER_STEPS = 60, 25  # of a round, at most
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e-9, 1e9
SMALLEST_STEP = 1e-9
SMALLEST_GAIN = 1e-12  # of the sum of squares, relative, below which a round has converged


class Terms(NamedTuple):
    """Residuals, equalities and inequalities (not negative) at a point, each with its Jacobian.

    The number of rows of each may not depend on the point.
    """

    r: Array
    J_r: Array
    c: Array
    J_c: Array
    h: Array
    J_h: Array

    @property
    def violation(self) -> float:
        """The largest one."""
        return float(max(np.abs(self.c).max(initial=0.0), (-self.h).max(initial=0.0)))


@dataclass(frozen=True)
class Fit(Generic[X]):
    """Where a search ended: ``met`` if every condition is met to the tolerance asked for."""

    x: X
    terms: Terms
    met: bool
    steps: int


def constrained_fit(
    evaluate: Callable[[X], Terms],
    add: Callable[[X, Array], X],
    x: X,
    *,
    tolerance: float = 1e-7,
    longest_step: float = 0.4,
) -> Fit[X]:
    """A local solution near ``x``; ``add(x, dx)`` is x moved by a step.

    No entry of a step exceeds ``longest_step``.
    """
    terms = evaluate(x)
    y, z = np.zeros(len(terms.c)), np.zeros(len(terms.h))
    rho, before, steps, stalls = FIRST_PENALTY, np.inf, 0, 0
    for number in range(ROUNDS):
        most = FIRST_STEPS if number == 0 else LATER_STEPS
        x, terms, used, moved = _round(evaluate, add, x, terms, (y, z, rho), most, longest_step)
        steps += used
        violation = terms.violation
        y = y + rho * terms.c
        z = np.maximum(0.0, z - rho * terms.h)
        if violation < tolerance and moved < np.sqrt(tolerance):
            return Fit(x, terms, True, steps)
        stalled = rho >= FELT_PENALTY and violation > HARDLY_LESS * before
        stalls = stalls + 1 if stalled else 0
        if stalls >= MOST_STALLS and violation > FAR_OFF * tolerance:
            break
        if violation > ENOUGH_LESS * before:
            if rho >= LAST_PENALTY:
                break
            rho *= PENALTY_GROWTH
        before = violation
    return Fit(x, terms, terms.violation < tolerance, steps)


def _round(
    evaluate: Callable[[X], Terms],
    add: Callable[[X, Array], X],
    x: X,
    terms: Terms,
    state: tuple[Array, Array, float],
    most: int,
    longest_step: float,
) -> tuple[X, Terms, int, float]:
    """Levenberg-Marquardt steps at given multipliers; also how many, and the longest of them."""
    damping, moved = FIRST_DAMPING, 0.0
    R, J = _stacked(terms, *state)
    cost = 0.5 * float(R @ R)
    for step in range(most):
        gradient, H = J.T @ R, J.T @ J
        scale = np.maximum(np.diag(H), 1e-6)
        while True:
            dx = np.array(-np.linalg.solve(H + damping * np.diag(scale), gradient))
            longest = float(np.abs(dx).max())
            dx *= min(1.0, longest_step / max(longest, 1e-300))
            if -float(gradient @ dx) < SMALLEST_GAIN * cost:
                return x, terms, step, moved
            trial = add(x, dx)
            trial_terms = evaluate(trial)
            trial_R, trial_J = _stacked(trial_terms, *state)
            trial_cost = 0.5 * float(trial_R @ trial_R)
            if trial_cost < cost:
                break
            damping *= 8.0
            if damping > MOST_DAMPING or longest < SMALLEST_STEP:
                return x, terms, step, moved
        damping = max(LEAST_DAMPING, damping / 5.0)
        gain = (cost - trial_cost) / max(cost, 1e-300)
        x, terms, R, J, cost = trial, trial_terms, trial_R, trial_J, trial_cost
        moved = max(moved, min(longest, longest_step))
        if longest < SMALLEST_STEP or gain < SMALLEST_GAIN:
            return x, terms, step + 1, moved
    return x, terms, most, moved


def _stacked(terms: Terms, y: Array, z: Array, rho: float) -> tuple[Array, Array]:
    """What a round minimises as one residual and its Jacobian."""
    root = np.sqrt(rho)
    short = z / rho - terms.h
    active = short > 0.0
    R = np.concatenate([terms.r, root * (terms.c + y / rho), root * short[active]])
    return R, np.concatenate([terms.J_r, root * terms.J_c, -root * terms.J_h[active]])
