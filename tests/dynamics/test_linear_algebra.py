"""LAPACK and BLAS by name, against NumPy's own."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from balance.dynamics.linear_algebra import (
    cholesky,
    divide_left,
    divide_right,
    divide_rows,
    divide_transposed,
    divide_upper,
    gram,
    solve_positive,
    solve_symmetric,
)

Array = NDArray[np.float64]
SIZES = [(6, 1), (33, 13), (40, 25)]


def positive(rng: np.random.Generator, n: int) -> Array:
    A = rng.normal(size=(n, n))
    H = A @ A.T + np.eye(n)
    return np.asarray(0.5 * (H + H.T))


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_a_factor_divides_rows_and_vectors(n: int, m: int) -> None:
    rng = np.random.default_rng(n)
    H, Z, x = positive(rng, n), rng.normal(size=(m, n)), rng.normal(size=n)
    factor, regular = cholesky(H)
    U = np.triu(factor)
    assert regular
    np.testing.assert_allclose(U.T @ U, H, rtol=0, atol=1e-12 * n)
    np.testing.assert_allclose(divide_rows(Z, factor) @ U, Z, rtol=0, atol=1e-11)
    np.testing.assert_allclose(U @ divide_left(factor, x), x, rtol=0, atol=1e-11)
    np.testing.assert_allclose(gram(Z), Z @ Z.T, rtol=0, atol=1e-12 * n)
    np.testing.assert_array_equal(gram(Z), gram(Z).T)


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_divisions_by_the_factor_of_a_law(n: int, k: int) -> None:
    rng = np.random.default_rng(n)
    H, Z, x = positive(rng, n), rng.normal(size=(k, n)), rng.normal(size=n)
    factor, solution, regular = solve_positive(H, x)
    U = np.triu(factor)
    assert regular
    np.testing.assert_allclose(U.T @ U, H, rtol=0, atol=1e-12 * n)
    np.testing.assert_allclose(H @ solution, x, rtol=0, atol=1e-11)
    np.testing.assert_allclose(divide_right(Z, factor) @ U, Z, rtol=0, atol=1e-11)
    np.testing.assert_allclose(U @ divide_upper(factor, x), x, rtol=0, atol=1e-11)
    np.testing.assert_allclose(U.T @ divide_transposed(factor, Z.T.copy()), Z.T, rtol=0, atol=1e-11)


@pytest.mark.parametrize("n", [1, 6, 24])
def test_a_symmetric_system_is_solved(n: int) -> None:
    rng = np.random.default_rng(n)
    H, g = positive(rng, n), rng.normal(size=n)
    factor, x, regular = solve_symmetric(H, g)
    assert regular
    np.testing.assert_allclose(x, np.linalg.solve(H, g), rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.triu(factor).T @ np.triu(factor), H, rtol=0, atol=1e-12 * n)


def test_what_is_not_positive_definite_is_told() -> None:
    H = np.diag([1.0, -1.0, 2.0])
    assert not cholesky(H)[1]
    assert not solve_symmetric(H, np.ones(3))[2]
