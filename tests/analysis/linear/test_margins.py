"""Margins and critical gains: just inside the loop is stable, just outside it is not."""

from __future__ import annotations

import numpy as np
import pytest

import balance
from balance.analysis.linear.loop import LinearLoop, feedback, linearise
from balance.analysis.linear.margins import (
    Parts,
    axis_margins,
    critical_gains,
    delay_margin,
    gain_parts,
    robustness_margin,
    with_gain,
)
from balance.analysis.linear.modes import is_stable
from balance.control.parts.gains import gain_matrices

INSIDE, OUTSIDE = 0.98, 1.02


@pytest.fixture(scope="module")
def parts(paper_loop: LinearLoop) -> Parts:
    return gain_parts(paper_loop)


def test_critical_gains_separate_stable_from_unstable_loops(
    paper_loop: LinearLoop, parts: Parts
) -> None:
    """The loop is linearised anew on both sides, nothing is taken to be affine."""
    found = {(one.name, one.axis): one for one in critical_gains(paper_loop, parts)}
    for name, axis in (("K_D", 1), ("D", 0), ("K_P", 2)):
        one = found[name, axis]
        assert one.high is not None
        for share, stable in ((INSIDE, True), (OUTSIDE, False)):
            config = with_gain(
                paper_loop.experiment.config, paper_loop, name, axis, share * one.high / one.value
            )
            assert is_stable(linearise(config).A) is stable, (name, axis, share)


def test_a_rate_beyond_two_per_period_is_critical(paper_loop: LinearLoop, parts: Parts) -> None:
    """A momentum that is damped by more than twice itself in a period grows: K_D < 2 / T or so."""
    found = {(one.name, one.axis): one for one in critical_gains(paper_loop, parts)}
    for axis in range(3):
        high = found["K_D", axis].high
        assert high is not None
        assert 0.5 < high * paper_loop.period / 2.0 < 2.0


def delayed(A: np.ndarray, B: np.ndarray, K: np.ndarray, periods: int) -> bool:
    """Stability of x+ = A x + B y(t - periods T), y = K x, with the last values of y as states."""
    n, m = len(A), len(K)
    whole = np.zeros((n + m * periods, n + m * periods))
    whole[:n, :n], whole[:n, -m:] = A, B
    whole[n : n + m, :n] = K
    whole[n + m :, n:-m] = np.eye(m * (periods - 1))
    return is_stable(whole)


def test_the_loop_bears_its_delay_margin_and_no_more(paper_loop: LinearLoop) -> None:
    margin = delay_margin(paper_loop)
    assert margin is not None
    periods = int(margin / paper_loop.period)
    loop = paper_loop
    assert delayed(loop.A_p, loop.B, loop.K, periods)
    assert not delayed(loop.A_p, loop.B, loop.K, periods + 1)


def test_margins_of_an_axis_are_where_its_loop_gets_unstable(
    paper_loop: LinearLoop, parts: Parts
) -> None:
    margins = axis_margins(paper_loop, parts)[1]  # CoM y, lightly damped
    part = parts["K_P", 1] + parts["K_D", 1]
    assert margins.gain_up is not None
    assert margins.delay_s is not None
    for share, stable in ((INSIDE, True), (OUTSIDE, False)):
        factor = share * margins.gain_up
        assert is_stable(paper_loop.A + (factor - 1.0) * paper_loop.B @ part) is stable
    # Only this axis's share of the torques comes late.
    periods = int(margins.delay_s / paper_loop.period)
    u, size, vt = np.linalg.svd(part, full_matrices=False)
    A, b = paper_loop.A - paper_loop.B @ part, paper_loop.B @ u[:, :1]
    assert delayed(A, b, size[0] * vt[:1], periods)
    assert not delayed(A, b, size[0] * vt[:1], periods + 1)


@pytest.mark.parametrize("law", ["momentum", "ott2011", "whole_body_qp"])
def test_feedback_is_affine_in_the_gains(law: str) -> None:
    """Critical gains and margins extrapolate the feedback; here it is evaluated far away."""
    loop = linearise(balance.load_config("toro_push", {"controller.law": law}))
    config, robot = loop.experiment.config, loop.experiment.modelled_robot
    twice = feedback(with_gain(config, loop, "K_D", 1, 2.0), robot, loop.N)
    tenfold = feedback(with_gain(config, loop, "K_D", 1, 10.0), robot, loop.N)
    expected = loop.K + 9.0 * (twice - loop.K)
    assert np.abs(tenfold - expected).max() < 1e-5 * np.abs(tenfold).max()


def test_one_gain_changes_alone(paper_loop: LinearLoop) -> None:
    changed = with_gain(paper_loop.experiment.config, paper_loop, "K_R", 2, 3.0)
    matrices = gain_matrices(changed.controller.gains, paper_loop.robot)
    assert np.diag(matrices[2]) == pytest.approx([500, 400, 300])
    assert np.diag(matrices[0]) == pytest.approx([6000, 2000, 4000])


def test_robustness_is_a_distance_or_a_growth() -> None:
    """Damping moves the loop away from -1; beyond the critical gain the loop grows."""
    paper = robustness_margin(balance.load_config("toro_push"))
    damped = robustness_margin(
        balance.load_config("toro_push", {"controller.gains.K_D": [7, 5, 3]})
    )
    assert 0.0 < paper < damped <= 1.0
    hopeless = balance.load_config("toro_push", {"controller.gains.K_D": [7, 5000, 3]})
    assert robustness_margin(hopeless) < 0.0
