"""Points next to the origin against quadprog's, and what is no answer says so."""

import numpy as np
import pytest

from balance.control.qp import QPStatus, QuadraticProgram, make_adapter
from balance.control.qp.nearest_point import nearest_point
from balance.control.qp.problem import optimality_error


def _program(seed):
    rng = np.random.default_rng(seed)
    C = rng.normal(size=(30, 12))
    inside = rng.normal(size=12)
    return C, C @ inside - rng.uniform(0.0, 1.0, size=30)


@pytest.mark.parametrize("seed", range(30))
def test_it_is_the_minimiser_from_wherever_it_starts(seed):
    C, d = _program(seed)
    H, g = np.eye(12), np.zeros(12)
    expected = make_adapter("quadprog").solve(QuadraticProgram(H, g, C, d))
    assert expected.status is QPStatus.SOLVED
    found = 0
    for start in (np.zeros(30, dtype=bool), np.arange(30) % 7 == seed % 7):
        x, multipliers, good = nearest_point(C, d, start)
        if good:
            found += 1
            assert optimality_error(H, g, C, d, x, multipliers) < 1e-10
            np.testing.assert_allclose(x, expected.x, atol=1e-9)
            np.testing.assert_array_equal(start, multipliers > 0.0)
    assert found


def test_it_starts_again_from_its_own_answer():
    C, d = _program(0)
    active = np.zeros(30, dtype=bool)
    x, _, _ = nearest_point(C, d, active)
    again, _, good = nearest_point(C, d, active)
    assert good
    np.testing.assert_allclose(again, x, atol=1e-12)


def test_without_a_violated_row_it_is_the_origin():
    C, d = _program(1)
    x, multipliers, good = nearest_point(C, -np.abs(d), np.zeros(30, dtype=bool))
    assert good
    assert not x.any()
    assert not multipliers.any()


def test_rows_that_contradict_each_other_have_no_answer():
    C = np.array([[1.0, 0.0], [-1.0, 0.0]])
    assert not nearest_point(C, np.array([1.0, 1.0]), np.zeros(2, dtype=bool))[2]
