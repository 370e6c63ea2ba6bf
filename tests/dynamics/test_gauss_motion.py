"""Motions integrated in rotation charts: drift of the constraint, agreement with ABA."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from gauss_samples import load_talos, make_sample, make_tree
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from balance.dynamics.gauss.motion import integrate_gauss
from balance.dynamics.gauss.state import pinocchio_from_chart

Array = NDArray[np.float64]

CONTRACT_CHARTS = pytest.mark.parametrize("chart", ["euler_zyx", "quaternion", "rotation_matrix"])


@pytest.fixture(scope="module")
def talos() -> pin.Model:
    return load_talos()


@pytest.fixture(scope="module")
def tree() -> pin.Model:
    return make_tree(armature=0.05)


def reference_motion(
    model: pin.Model, q: Array, v: Array, amplitude: float, duration_s: float
) -> tuple[Array, Array]:
    """End of the motion by ABA and an adaptive 8th-order integrator, on a quaternion state."""
    data = model.createData()
    group = pin.liegroups.SO3()

    def rate(t: float, x: Array) -> Array:
        q, v = x[: model.nq].copy(), x[model.nq :]
        q[3:7] /= np.linalg.norm(q[3:7])
        q[8:10] /= np.linalg.norm(q[8:10])
        tau = np.concatenate([np.zeros(6), np.full(3, amplitude * np.cos(3.0 * t))])
        linear = pin.Quaternion(q[3:7]).matrix() @ v[:3]
        spin = group.tangentMap(q[3:7]) @ v[3:6]
        joints = [v[6], -q[9] * v[7], q[8] * v[7], v[8]]
        return np.concatenate([linear, spin, joints, pin.aba(model, data, q, v, tau)])

    answer = solve_ivp(
        rate, (0.0, duration_s), np.concatenate([q, v]), method="DOP853", rtol=1e-12, atol=1e-12
    )
    end = answer.y[:, -1]
    return end[: model.nq], end[model.nq :]


@CONTRACT_CHARTS
def test_an_integrated_motion_stays_on_the_constraint_and_equals_that_of_aba(
    tree: pin.Model, chart: str
) -> None:
    sample = make_sample(tree, chart, 16)
    motion = integrate_gauss(
        tree,
        chart,
        sample.q,
        sample.qdot,
        lambda t: np.full(3, 0.4 * np.cos(3.0 * t)),
        duration_s=0.3,
        step_s=3e-3,
    )
    assert motion.time[-1] == pytest.approx(0.3)
    assert motion.drift.max() < 1e-9
    assert motion.rate_drift.max() < 1e-9
    q_end, v_end = pinocchio_from_chart(tree, chart, motion.q[-1], motion.qdot[-1])
    q_expected, v_expected = reference_motion(tree, sample.q_pin, sample.v_pin, 0.4, 0.3)
    q_expected = pin.normalize(tree, q_expected)
    assert np.abs(pin.difference(tree, q_expected, q_end)).max() < 1e-8
    assert np.abs(v_end - v_expected).max() < 1e-8


@pytest.mark.parametrize("chart", ["quaternion", "rotation_matrix"])
def test_without_projection_the_drift_is_the_error_of_the_integrator(
    tree: pin.Model, chart: str
) -> None:
    """The drift falls with the fourth power of the step or faster, and projection removes it."""
    sample = make_sample(tree, chart, 17)

    def largest_drift(step_s: float, project: bool) -> float:
        motion = integrate_gauss(
            tree,
            chart,
            sample.q,
            sample.qdot,
            lambda _t: np.zeros(3),
            duration_s=0.4,
            step_s=step_s,
            project=project,
        )
        return float(motion.drift.max())

    coarse, fine = largest_drift(0.04, False), largest_drift(0.02, False)
    assert coarse > 1e-9
    assert fine < coarse / 12.0
    assert largest_drift(0.04, True) < 1e-14


@CONTRACT_CHARTS
def test_a_short_motion_of_talos_stays_on_the_constraint(talos: pin.Model, chart: str) -> None:
    sample = make_sample(talos, chart, 18)
    motion = integrate_gauss(
        talos,
        chart,
        sample.q,
        sample.qdot,
        lambda _t: np.zeros(32),
        duration_s=0.05,
        step_s=2.5e-3,
    )
    assert max(motion.drift.max(), motion.rate_drift.max()) < 1e-9
