"""The linear model against simulations, and against the closed form of the tracking law."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import balance
from balance.analysis.linear.continuous import continuous_matrix
from balance.analysis.linear.loop import LinearLoop, linearise
from balance.analysis.linear.modes import dominant_modes, is_stable, roots
from balance.analysis.linear.response import push_response
from balance.recordings.metrics import settling_times

PREDICTED = 0.05  # of the peak, and of peaks and settling times themselves
# Table 1 with more damping, so that a short run settles.
DAMPED = {"controller.gains.K_D": [9, 5, 3]}


def small_push(direction: list[float]) -> dict[str, Any]:
    push = {"type": "half_sine", "direction": direction, "time_s": 0.1, "duration_s": 0.02}
    return {"duration_s": 1.8, "pushes": [{**push, "body": "hip", "impulse_Ns": 1.0}], **DAMPED}


@pytest.mark.parametrize("direction", [[0, 1, 0], [1, 0.3, 0]], ids=["side", "diagonal"])
def test_it_predicts_the_simulated_answer_to_a_small_push(direction: list[float]) -> None:
    """Errors over time, their peaks, the settling time, and the wrenches of the hard contacts."""
    config = balance.load_config("toro_push", small_push(direction))
    simulated = balance.run(config)
    predicted = push_response(linearise(config), duration_s=config.duration_s)
    for name in ("com_error", "rotation_error"):
        actual, model = getattr(simulated, name), getattr(predicted, name)
        peak = np.abs(actual).max()
        assert np.abs(model - actual).max() < PREDICTED * peak, name
        assert np.abs(model).max() == pytest.approx(peak, rel=PREDICTED), name
    settled = [
        settling_times(run.time, np.linalg.norm(run.com_error, axis=1), 0.1)["10"]
        for run in (simulated, predicted)
    ]
    assert settled[1] == pytest.approx(settled[0], rel=PREDICTED)
    swing = np.abs(simulated.contact_wrenches - simulated.contact_wrenches[0]).max()
    assert np.abs(predicted.measured - simulated.contact_wrenches).max() < PREDICTED * swing


def test_fast_sampling_leaves_the_continuous_loop(paper_loop: LinearLoop) -> None:
    """The roots of the slow modes, from two derivations that share no matrix."""
    discrete = roots(paper_loop.A, paper_loop.period)
    continuous = np.linalg.eigvals(continuous_matrix(paper_loop))
    slow = continuous[np.abs(continuous) < 10.0]
    assert slow.size > 20
    for s in slow:
        assert np.abs(discrete - s).min() < 0.02 * abs(s) + 1e-3


def test_the_tracking_law_has_the_modes_that_its_gains_say() -> None:
    """m d2e/dt2 + m K_D de/dt + K_P e = 0: the closed form of the full inverse dynamics."""
    config = balance.load_config(
        "toro_push", {"controller.tracking": True, "plant.joint_damping": 0.0}
    )
    loop = linearise(config)
    mass = loop.robot.mass
    for mode, K_P, K_D in zip(dominant_modes(loop), (6000, 2000, 4000), (7, 1, 0.05), strict=False):
        expected = np.roots([1.0, K_D, K_P / mass])
        # Half a period of delay from sampling costs damping: 0.5 T omega^2.
        assert np.abs(expected - mode.s).min() < 1e-3 * K_P / mass


def test_the_matrix_is_that_of_the_simulation(paper_loop: LinearLoop) -> None:
    """Many periods of welded simulation from a small displacement, by powers of A."""
    rng = np.random.default_rng(0)
    n = paper_loop.N.shape[1]
    x = 1e-5 * rng.standard_normal(2 * n)
    experiment, model = paper_loop.experiment, paper_loop.robot.model
    q = pin.integrate(model, paper_loop.robot.q_nominal, paper_loop.N @ x[:n])
    experiment.plant.reset(q, paper_loop.N @ x[n:])
    for i in range(50):
        output = experiment.controller.step(experiment.plant.q, experiment.plant.v, 1e-3 * i)
        experiment.plant.step(output.torques)
    moved = pin.difference(model, paper_loop.robot.q_nominal, experiment.plant.q)
    actual = np.concatenate([paper_loop.N.T @ moved, paper_loop.N.T @ experiment.plant.v])
    expected = np.linalg.matrix_power(paper_loop.A, 50) @ x
    assert np.abs(actual - expected).max() < 1e-3 * np.abs(expected).max()


def test_the_posture_is_at_rest_and_stable(paper_loop: LinearLoop) -> None:
    assert paper_loop.rest_error < 1e-9
    assert is_stable(paper_loop.A)


@pytest.mark.parametrize("law", ["ott2011", "virtual_model", "whole_body_qp", "hierarchical"])
def test_every_law_can_be_linearised(law: str) -> None:
    loop = linearise(balance.load_config("toro_push", {"controller.law": law}))
    assert is_stable(loop.A)
    assert loop.rest_error < 1e-3
