"""The pendulum's programme against closed forms of the papers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from balance.analysis.limits.bounds import HalfPlanes, MomentWindow, PendulumBounds
from balance.analysis.limits.pendulum import PendulumProgramme
from balance.analysis.limits.recovery import STANDING, Push, standing_limit, walking_limit
from balance.analysis.limits.stepping import Walk
from balance.robots.support_polygon import SupportPolygon

Array = NDArray[np.float64]

EXACT = 1e-6  # of the solver
FORWARDS = np.array([1.0, 0.0])
PUSH = 2 * STANDING[0]  # a push of two samples, 1 / omega
SQUARE = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])


def box(x: float, y: float) -> HalfPlanes:
    return HalfPlanes(SQUARE, np.array([x, y, x, y]))


def pendulum(cop: HalfPlanes, **more: object) -> PendulumBounds:
    return PendulumBounds(mass=1.0, height=1.0, omega=1.0, cop=cop, **more)  # type: ignore[arg-type]


def flywheel(d: float, most: float, lean: float) -> PendulumBounds:
    window = MomentWindow(0.0, False, np.zeros((4, 2)), SQUARE, np.full(4, most))
    return pendulum(box(d, d), lean=box(lean, lean), moments=[window])


def test_ankles_alone_catch_as_far_as_the_edge_of_the_cop_region() -> None:
    """J / (m omega) = d, the ankle limit, to any direction in any polygon."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        corners = 0.1 * rng.normal(size=(7, 2)) + 0.02 * rng.normal(size=2)
        polygon = SupportPolygon(corners - corners.mean(axis=0))
        angle = rng.uniform(0.0, 2.0 * np.pi)
        direction = np.array([np.cos(angle), np.sin(angle)])
        found = standing_limit(pendulum(HalfPlanes.of(polygon.vertices)), Push(direction))
        assert found.value == pytest.approx(polygon.reach(np.zeros(2), direction), rel=EXACT)
        assert found.shares["CoP"] == pytest.approx(1.0, abs=EXACT)


@pytest.mark.parametrize("most", [0.05, 0.2])
def test_a_bounded_flywheel_gives_what_the_bang_bang_plan_of_pratt_gives(most: float) -> None:
    """Pratt et al. 2006: full moment for t, against it for t, and the range is used up.

    Then lean = u (omega t)^2 and xi_0 = d + u (1 - exp(-omega t))^2.
    """
    d, t = 0.1, 0.5  # ten samples
    found = standing_limit(flywheel(d, most, most * t**2), Push(FORWARDS))
    assert found.value == pytest.approx(d + most * (1.0 - np.exp(-t)) ** 2, rel=EXACT)
    assert sum(found.shares.values()) == pytest.approx(1.0, abs=1e-4)  # strong duality


def test_between_the_samples_the_bang_bang_plan_is_approached_from_below() -> None:
    d, most, t = 0.1, 0.15, 0.437
    exact = d + most * (1.0 - np.exp(-t)) ** 2
    bounds = flywheel(d, most, most * t**2)
    errors = []
    for finer in (1, 2, 4):
        samples = [0.1 / finer] * (20 * finer)
        errors.append(exact - standing_limit(bounds, Push(FORWARDS), samples).value)
    assert 0.0 <= errors[2] < errors[1] < errors[0] < 0.01 * exact
    assert errors[2] < 0.2 * errors[0]


@pytest.mark.parametrize("transfer", [0.0, 0.2])
@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_steps_reach_as_far_as_the_recursion_of_koolen(steps: int, transfer: float) -> None:
    """Koolen et al. 2012: d_0 = r, d_N = r + (d_{N-1} + l - r) exp(-omega T).

    A pause on the foot that bears next, before all steps but the first, lengthens their T.
    """
    r, stride, time = 0.08, 0.6, 0.9
    expected = r
    for pause in (*(transfer,) * (steps - 1), 0.0):
        expected = r + (expected + stride - r) * np.exp(-time - pause)
    # The stance foot is on the origin, the other one anywhere.
    walk = Walk(
        feet=np.zeros((2, 2)), hips=np.zeros((2, 2)), sole=box(r, r),
        prepare=0.0, swing=time, load=0.0, stride=stride, transfer=transfer,
    )  # fmt: skip
    found = walking_limit(pendulum(box(r, r)), Push(FORWARDS), [walk] * steps, 0)
    assert found is not None
    assert found.value == pytest.approx(expected, rel=EXACT)


def test_a_step_is_no_longer_than_fore_and_no_wider_than_widest() -> None:
    feet = np.array([[0.0, 0.1], [0.0, -0.1]])
    walk = Walk(
        feet=feet, hips=feet, sole=box(0.05, 0.03), prepare=0.0, swing=0.8, load=0.0,
        fore=0.4, widest=0.5,
    )  # fmt: skip
    bounds = pendulum(box(0.05, 0.13))
    # From the edge of the right foot to that of the left one where it lands.
    for heading, edge, landed in ((FORWARDS, 0.05, 0.45), (np.array([0.0, 1.0]), -0.07, 0.43)):
        found = walking_limit(bounds, Push(heading), [walk], 0)
        assert found is not None
        assert found.value == pytest.approx(edge + (landed - edge) * np.exp(-0.8), rel=EXACT)


def test_feet_that_may_not_cross_step_to_their_own_side() -> None:
    """To the left the left foot goes first as far as it likes; the right one stays behind it."""
    feet = np.array([[0.0, 0.1], [0.0, -0.1]])
    walk = Walk(
        feet=feet, hips=feet, sole=box(0.05, 0.03), prepare=0.0, swing=0.8, load=0.0,
        stride=0.5, narrowest=0.1,
    )  # fmt: skip
    left = Push(np.array([0.0, 1.0]))
    bounds = pendulum(box(0.05, 0.13))
    near = walking_limit(bounds, left, [walk], 0)
    far = walking_limit(bounds, left, [walk], 1)
    assert near is not None and far is not None
    # On the right foot, at its left edge, for the swing; then 0.7 m to the left of it.
    edge = -0.1 + 0.03
    assert near.value == pytest.approx(edge + (-0.1 + 0.7 + 0.03 - edge) * np.exp(-0.8), rel=EXACT)
    # The right foot may not come within 0.1 m of the left one.
    edge = 0.1 + 0.03
    assert far.value == pytest.approx(edge + (0.03 - edge) * np.exp(-0.8), rel=EXACT)


def test_a_push_that_lasts_may_be_larger() -> None:
    """A constant force for the time S against p = d: J / (m omega) = S d / (1 - exp(-S))."""
    d, duration = 0.1, 0.3
    found = standing_limit(pendulum(box(d, d)), Push(FORWARDS, duration=duration))
    assert found.value == pytest.approx(duration * d / (1.0 - np.exp(-duration)), rel=EXACT)


def test_a_push_above_the_com_counts_with_its_moment_about_the_ground() -> None:
    """With time to turn back, what matters is zeta = x + w + h + k: (1 + lift) J = d + lean."""
    bounds = flywheel(0.1, 50.0, 0.05)  # a moment that turns the body at once
    for lift in (0.2, -0.2):
        found = standing_limit(bounds, Push(FORWARDS, lift=lift), [0.005] * 20 + [0.1] * 30)
        assert found.value == pytest.approx((0.1 + 0.05) / (1.0 + lift), rel=0.02)


def test_samples_are_the_exact_motion_under_constant_inputs() -> None:
    programme = PendulumProgramme(flywheel(0.1, 0.3, 0.05), np.array([0.6, 0.8]), 0.1, PUSH)
    for s in STANDING:
        programme.keep(programme.bounds.cop, programme.sample(s)[0])
    programme.bound_moments(len(STANDING))
    programme.keep(programme.bounds.cop, programme.come_to_rest())
    found = programme.lp.largest(programme.size)
    assert found is not None
    x, force = found.unknowns, found.value / PUSH * np.array([0.6, 0.8])

    state, time = np.zeros(8), 0.0
    for s, at_p, at_u in programme.inputs:
        p, u = x[at_p], x[at_u]
        pushed = force if time < PUSH - 1e-9 else np.zeros(2)

        def rates(_: float, state: Array, p: Array = p, u: Array = u, f: Array = pushed) -> Array:
            place, w, _, k = state.reshape(4, 2)
            return np.concatenate([w, place - p - u + f, k, u + 0.1 * f])

        state = solve_ivp(rates, (0.0, s), state, rtol=1e-10, atol=1e-13).y[:, -1]
        time += s
    end = x[np.concatenate([programme.x, programme.w, programme.h, programme.k])]
    np.testing.assert_allclose(state, end, atol=1e-6)
