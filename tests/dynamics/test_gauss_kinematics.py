"""Body Jacobians in rotation charts, and states passed to and from Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from gauss_samples import Sample, load_talos, make_sample, make_tree
from numpy.typing import NDArray

from balance.dynamics.gauss.jacobians import BodyJacobians, body_jacobians
from balance.dynamics.gauss.state import chart_state, pinocchio_from_chart
from balance.rotations import CHARTS, get_chart, skew

Array = NDArray[np.float64]

STEP = 1e-7
EVERY_CHART = pytest.mark.parametrize("chart", list(CHARTS))


@pytest.fixture(scope="module")
def talos() -> pin.Model:
    return load_talos()


@pytest.fixture(scope="module")
def tree() -> pin.Model:
    return make_tree(armature=0.05)


def jacobians_at(sample: Sample, q: Array, points: Array) -> BodyJacobians:
    state = chart_state(sample.model, sample.chart, q, sample.qdot)
    return body_jacobians(state, range(1, sample.model.njoints), points)


def world_points(sample: Sample, q: Array, points: Array) -> tuple[Array, Array]:
    """Positions of the points, and rotations of their bodies."""
    q_pin, _ = pinocchio_from_chart(sample.model, sample.chart, q, np.zeros_like(q))
    data = sample.model.createData()
    pin.forwardKinematics(sample.model, data, q_pin)
    placements = list(data.oMi)[1:]
    positions = [X.act(p) for X, p in zip(placements, points, strict=True)]
    return np.array(positions), np.array([X.rotation for X in placements])


@EVERY_CHART
def test_body_jacobians_and_their_rates_equal_finite_differences(
    talos: pin.Model, chart: str
) -> None:
    """Bouyarmane2012 (14), (16), (17) along an admissible motion."""
    sample = make_sample(talos, chart, 6)
    points = sample.rng.normal(size=(talos.njoints - 1, 3))
    J = jacobians_at(sample, sample.q, points)
    q_ahead, q_behind = sample.q + STEP * sample.qdot, sample.q - STEP * sample.qdot
    (p_ahead, R_ahead), (p_behind, R_behind) = (
        world_points(sample, q, points) for q in (q_ahead, q_behind)
    )
    velocity = (p_ahead - p_behind) / (2 * STEP)
    assert np.abs(J.J_t @ sample.qdot - velocity).max() < 1e-6
    spin = np.swapaxes(J.R, 1, 2) @ (R_ahead - R_behind) / (2 * STEP)
    assert np.abs(skew(J.J_r @ sample.qdot) - spin).max() < 1e-6
    ahead, behind = (jacobians_at(sample, q, points) for q in (q_ahead, q_behind))
    assert np.abs(J.J_t_dot - (ahead.J_t - behind.J_t) / (2 * STEP)).max() < 1e-5
    assert np.abs(J.J_r_dot - (ahead.J_r - behind.J_r) / (2 * STEP)).max() < 1e-5


@EVERY_CHART
def test_translational_jacobians_are_transported_between_points(
    talos: pin.Model, chart: str
) -> None:
    """Bouyarmane2012 (19)."""
    sample = make_sample(talos, chart, 7)
    a, b = sample.rng.normal(size=(2, talos.njoints - 1, 3))
    at_a, at_b = (jacobians_at(sample, sample.q, points) for points in (a, b))
    transported = at_b.J_t - at_a.R @ skew(a - b) @ at_a.J_r
    assert np.abs(at_a.J_t - transported).max() < 1e-13


def test_rotation_columns_are_the_partials_of_the_base_rotation(talos: pin.Model) -> None:
    """Bouyarmane2012 (15), for charts without constraint: -[R_0 p']x J = dR_0/dtheta p'."""
    for chart in ("euler_zyx", "rotation_vector"):
        sample = make_sample(talos, chart, 8)
        points = sample.rng.normal(size=(talos.njoints - 1, 3))
        positions, rotations = world_points(sample, sample.q, points)
        in_base = (positions - sample.q[:3]) @ rotations[0]
        partials = get_chart(chart).partials(sample.q[3:6])
        J_t = jacobians_at(sample, sample.q, points).J_t
        expected = np.einsum("ijd,kj->kid", partials, in_base)
        assert np.abs(J_t[:, :, 3:6] - expected).max() < 1e-13


@EVERY_CHART
def test_states_pass_between_the_chart_and_pinocchio(tree: pin.Model, chart: str) -> None:
    for seed in range(20):
        sample = make_sample(tree, chart, seed)
        q, v = pinocchio_from_chart(tree, chart, sample.q, sample.qdot)
        assert np.abs(pin.difference(tree, sample.q_pin, q)).max() < 1e-14
        assert np.abs(v - sample.v_pin).max() < 1e-13
