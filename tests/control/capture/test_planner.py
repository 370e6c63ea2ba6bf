"""The plan of the pendulum with a flywheel: its model, its bounds, and what it can save."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm
from scipy.optimize import linprog

from balance.control.capture.planner import (
    HORIZON,
    LATER_MOMENT,
    SLACKS,
    Planner,
    Region,
    Regions,
    Shared,
    sample_lengths,
    step_matrices,
)
from balance.control.qp import make_solver

Array = NDArray[np.float64]

ROUNDING = 1e-12
KEPT = 1e-9  # of a bound, in units of z
SAMPLES = 12
NO_CENTRE = np.zeros(2)


def box(x: float, y: float) -> Region:
    return Region(np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]]), np.array([x, x, y, y]))


def octagon(radius: float) -> Region:
    angles = np.arange(8) * np.pi / 4
    return Region(np.stack([np.cos(angles), np.sin(angles)], axis=1), np.full(8, radius))


def moments(radius: float, taken: float = 0.0, fading: float = 0.0) -> Shared:
    """An octagon that loses ``taken`` per CoP and ``fading`` per lean to the other side."""
    sides = octagon(radius)
    return Shared(taken * sides.normals, sides.normals, -fading * sides.normals, sides.offsets)


REGIONS = Regions(box(0.1, 0.17), moments(0.12), octagon(0.07), octagon(0.06))
SHARED = Regions(box(0.1, 0.17), moments(0.12, 0.4, 0.5), octagon(0.07), octagon(0.06))


def planner(stiffness: float = 2.0, regions: Regions = REGIONS) -> Planner:
    no_following = np.zeros((2, 2))
    return Planner(regions, stiffness * np.eye(2), no_following, SAMPLES, make_solver("daqp"))


def moving(speed: float, azimuth_deg: float = 0.0) -> Array:
    angle = np.radians(azimuth_deg)
    state = np.zeros(8)
    state[2:4] = speed * np.cos(angle), speed * np.sin(angle)
    return state


def followed(plan: Planner, state: Array, steps: int = 250, tau: float = 0.016) -> list[Array]:
    """States of the pendulum itself under the plan, made anew at every step."""
    A, B = (np.kron(one, np.eye(2)) for one in step_matrices(tau))
    states = [state]
    for _ in range(steps):
        answer = plan.plan(states[-1], NO_CENTRE)
        assert answer is not None
        states.append(A @ states[-1] + B @ np.concatenate(answer))
    return states


@pytest.mark.parametrize("tau", [0.01, 0.3, 1.0])
def test_a_sample_is_the_exact_motion_under_constant_cop_and_moment(tau: float) -> None:
    """Against the matrix exponential of x'' = x - p - u, h'' = u."""
    F = np.zeros((6, 6))
    F[0, 1] = F[2, 3] = 1.0
    F[1, 0], F[1, 4], F[1, 5], F[3, 5] = 1.0, -1.0, -1.0, 1.0
    expected = expm(tau * F)[:4]
    own, driven = step_matrices(tau)
    np.testing.assert_allclose(np.hstack([own, driven]), expected, rtol=0, atol=ROUNDING * 10)


def test_samples_fill_the_horizon_and_grow() -> None:
    lengths = sample_lengths(SAMPLES)
    assert lengths.sum() == pytest.approx(HORIZON, rel=ROUNDING)
    assert (np.diff(lengths) > 0.0).all()


@pytest.mark.parametrize("stiffness", [2.0, 5.0])
def test_near_rest_the_cop_holds_the_com_by_the_stiffness(stiffness: float) -> None:
    """p = (1 + K) zeta, to what the finite samples leave of it, with little moment."""
    answer = planner(stiffness).plan(np.array([1e-3, 0, 0, 0, 0, 0, 0, 0.0]), NO_CENTRE)
    assert answer is not None
    force = answer[0][0] + answer[1][0] - 1e-3
    assert force == pytest.approx(stiffness * 1e-3, rel=0.25)
    assert abs(answer[1][0]) < 0.3 * answer[0][0]


@pytest.mark.parametrize("regions", [REGIONS, SHARED])
@pytest.mark.parametrize("azimuth", [0.0, 35.0, 90.0, 250.0])
def test_bounds_are_kept_along_the_whole_plan(azimuth: float, regions: Regions) -> None:
    """Predicted anew from the unknowns, without the planner's own matrices."""
    plan = planner(regions=regions)
    state = moving(0.9 * 0.1, azimuth)
    solution = plan.solver.solve(plan.program(state, NO_CENTRE))
    slack, moment = solution.x[-SLACKS:], regions.moment
    for k, tau in enumerate(plan.lengths):
        p, u = solution.x[4 * k : 4 * k + 2], solution.x[4 * k + 2 : 4 * k + 4]
        share = LATER_MOMENT if k else 1.0
        left = share * (moment.most - moment.on_p @ p - moment.on_h @ state[4:6])
        assert (moment.on_u @ u <= left + slack[0] + KEPT).all()
        A, B = (np.kron(one, np.eye(2)) for one in step_matrices(float(tau)))
        state = A @ state + B @ np.concatenate([p, u])
        for region, point, spare in (
            (regions.cop, p, 0.0),
            (regions.lean, state[4:6], slack[1]),
            (regions.rate, state[6:8], slack[2]),
        ):
            assert (region.normals @ point <= region.offsets + spare + KEPT).all()


def test_what_is_mirrored_is_planned_mirrored() -> None:
    mirror = np.tile([1.0, -1.0], 4)
    state = np.array([0.01, 0.02, 0.07, 0.1, 0.01, -0.01, 0.02, 0.0])
    one, other = planner().plan(state, NO_CENTRE), planner().plan(mirror * state, NO_CENTRE)
    assert one is not None and other is not None
    for ours, theirs in zip(one, other, strict=True):
        np.testing.assert_allclose(theirs, [1.0, -1.0] * ours, rtol=0, atol=KEPT)


def largest_saved(regions: Regions, *, samples: int = 60, horizon: float = 6.0) -> float:
    """The largest speed forwards that any CoP and moment can stop, by one linear program.

    Along one axis, on a fine grid, with all bounds hard and the full moment: no plan can do better.
    """
    tau = horizon / samples
    own, driven = step_matrices(tau)
    n = 2 * samples + 1
    state = np.zeros((4, n))
    state[1, -1] = 1.0
    rows, bounds = [], []
    for k in range(samples):
        state = own @ state
        state[:, 2 * k : 2 * k + 2] += driven
        for row, region in ((2, regions.lean), (3, regions.rate)):
            rows += [state[row].copy(), -state[row]]
            bounds += 2 * [float(region.offsets[0])]
    ends = float(regions.cop.offsets[0]), float(regions.moment.most[0])
    unknown = [(-end, end) for end in ends]
    found = linprog(
        -np.eye(n)[-1],
        A_ub=np.array(rows),
        b_ub=np.array(bounds),
        A_eq=state,
        b_eq=np.zeros(4),
        bounds=[*samples * unknown, (0.0, None)],
        method="highs",
    )
    assert found.status == 0
    return -float(found.fun)


def test_the_plan_saves_nearly_what_any_plan_could() -> None:
    """Nine tenths of the linear program's speed; no more than it; ankles alone would save 0.1."""
    most = largest_saved(REGIONS)
    assert most > 1.2 * 0.1
    end = followed(planner(), moving(0.9 * most), steps=600)[-1]
    assert np.abs(end).max() < 0.01
    beyond = followed(planner(), moving(1.1 * most), steps=120)[-1]
    assert np.abs(beyond).max() > 0.1


def test_a_moment_that_the_lean_takes_away_is_braked_with_in_time() -> None:
    """The lean stays within what the moment left can brake; with no loss planned it would not."""
    fading = Regions(box(0.1, 0.17), moments(0.12, 0.0, 1.5), octagon(0.2), octagon(0.2))
    plain = Regions(box(0.1, 0.17), moments(0.12), octagon(0.2), octagon(0.2))
    start = moving(0.12)
    largest = [
        max(state[4] for state in followed(planner(regions=regions), start))
        for regions in (fading, plain)
    ]
    assert largest[0] < largest[1]


def test_zeta_at_an_edge_uses_up_the_region() -> None:
    state = np.zeros(8)
    state[[0, 2, 4, 6]] = 0.025
    assert planner().used(state, NO_CENTRE) == pytest.approx(1.0, rel=ROUNDING)
    assert planner().used(0.5 * state, NO_CENTRE) == pytest.approx(0.5, rel=ROUNDING)


def test_the_lean_comes_back() -> None:
    states = followed(planner(), moving(0.105))
    assert max(state[4] for state in states) > 0.01
    assert np.abs(states[-1][4:]).max() < 2e-3
