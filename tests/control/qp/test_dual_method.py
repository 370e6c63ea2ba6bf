"""The bounded dual method: random, degenerate, infeasible programs, and one that never ended."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from balance.control.qp import (
    QPSolution,
    QPStatus,
    QuadraticProgram,
    Solver,
    make_adapter,
    make_solver,
)
from balance.control.qp.dual_method import FAILED, INFEASIBLE, SOLVED, dual_method

Array = NDArray[np.float64]

OPTIMAL = 1e-8
ENDLESS = Path(__file__).parent / "endless.npz"
"""Rows 2, 6, 13, 16 and 92 of a program of ``capture`` on which quadprog goes round for ever."""


@pytest.fixture
def solver() -> Solver:
    return make_adapter("goldfarb_idnani")


def _program(rng: np.random.Generator, n: int, m: int, hardness: float = 0.0) -> QuadraticProgram:
    """A feasible program whose cost has a condition number of about 10^hardness."""
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    H = (turn * 10.0 ** rng.uniform(-hardness, 0.0, n)) @ turn.T
    C = rng.normal(size=(m, n))
    d = C @ rng.normal(size=n) - rng.exponential(0.1, size=m)
    return QuadraticProgram(0.5 * (H + H.T), 3.0 * rng.normal(size=n), C, d)


def _solved(solver: Solver, qp: QuadraticProgram) -> QPSolution:
    solution = solver.solve(qp)
    assert solution.status is QPStatus.SOLVED
    assert solution.optimality_error(qp) < OPTIMAL
    assert set(np.flatnonzero(solution.multipliers)) <= set(solution.active)
    return solution


@pytest.mark.parametrize("seed", range(40))
def test_it_finds_the_minimiser_of_others(solver: Solver, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for hardness in (0.0, 3.0):
        qp = _program(rng, int(rng.integers(1, 31)), int(rng.integers(1, 150)), hardness)
        x = _solved(solver, qp).x
        for other in ("daqp", "quadprog"):
            expected = make_adapter(other).solve(qp)
            if expected.status is QPStatus.SOLVED and expected.optimality_error(qp) < OPTIMAL:
                np.testing.assert_allclose(x, expected.x, atol=1e-7 * (1.0 + np.abs(x).max()))


def test_without_rows_it_is_the_minimiser_of_the_cost(solver: Solver) -> None:
    qp = _program(np.random.default_rng(1), 6, 0, 3.0)
    np.testing.assert_allclose(_solved(solver, qp).x, np.linalg.solve(qp.H, qp.g), rtol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_rows_of_very_different_lengths_are_no_obstacle(solver: Solver, seed: int) -> None:
    rng = np.random.default_rng(seed)
    qp = _program(rng, 12, 40)
    x = _solved(solver, qp).x
    scale = 10.0 ** rng.uniform(-6.0, 3.0, 40)
    scaled = QuadraticProgram(qp.H, qp.g, scale[:, None] * qp.C, scale * qp.d)
    np.testing.assert_allclose(_solved(solver, scaled).x, x, atol=1e-9)


@pytest.mark.parametrize("noise", [0.0, 1e-15, 1e-13, 1e-12, 1e-11, 1e-10, 1e-8, 1e-5])
def test_rows_that_nearly_repeat_are_no_obstacle(solver: Solver, noise: float) -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        qp = _program(rng, 8, 24)
        x = solver.solve(qp).x
        C = np.vstack([qp.C, qp.C, 3.0 * qp.C]) + noise * rng.normal(size=(72, 8))
        d = np.concatenate([qp.d, qp.d, 3.0 * qp.d])
        repeated = QuadraticProgram(qp.H, qp.g, C, d)
        found = _solved(solver, repeated)
        np.testing.assert_allclose(found.x, x, atol=1e-9 + 1e3 * noise)
        assert len(found.active) <= 8


def test_more_rows_through_the_answer_than_unknowns(solver: Solver) -> None:
    """All of 60 rows in five dimensions are active at the minimiser."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        C, corner = rng.normal(size=(60, 5)), rng.normal(size=5)
        qp = QuadraticProgram(np.eye(5), corner - C.T @ rng.exponential(size=60), C, C @ corner)
        np.testing.assert_allclose(_solved(solver, qp).x, corner, atol=1e-9)


def test_bounds_that_leave_one_point_are_no_obstacle(solver: Solver) -> None:
    C, point = np.vstack([np.eye(4), -np.eye(4)]), np.array([1.0, -2.0, 0.1, 1e3])
    qp = QuadraticProgram(np.eye(4), np.ones(4), C, np.append(point, -point))
    np.testing.assert_allclose(_solved(solver, qp).x, point, rtol=1e-12)


def test_contradictions_are_found(solver: Solver) -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        qp = _program(rng, 10, 30)
        sum_of_some = rng.exponential(size=5) @ qp.C[:5]
        for size in (1e-3, 1.0, 1e6):
            C = np.vstack([qp.C, -size * sum_of_some])
            d = np.append(qp.d, size * (1e-3 - np.linalg.lstsq(C[:5].T, sum_of_some)[0] @ qp.d[:5]))
            assert solver.solve(QuadraticProgram(qp.H, qp.g, C, d)).status is QPStatus.INFEASIBLE


def test_a_row_of_zeros_asks_for_nothing_or_too_much(solver: Solver) -> None:
    C = np.array([[1.0, 0.0], [0.0, 0.0]])
    for asked, status in ((-1.0, QPStatus.SOLVED), (0.0, QPStatus.SOLVED), (1.0, INFEASIBLE)):
        qp = QuadraticProgram(np.eye(2), np.zeros(2), C, np.array([1.0, asked]))
        assert solver.solve(qp).status == status


def test_rows_without_a_bound_are_never_active(solver: Solver) -> None:
    rng = np.random.default_rng(5)
    qp = _program(rng, 6, 20)
    for nothing in (-1e30, -np.inf):
        d = np.append(qp.d, nothing * np.ones(5))
        free = QuadraticProgram(qp.H, qp.g, np.vstack([qp.C, rng.normal(size=(5, 6))]), d)
        np.testing.assert_allclose(solver.solve(free).x, solver.solve(qp).x, atol=1e-12)


@pytest.mark.parametrize("part", ["H", "g", "C", "d"])
def test_what_is_not_a_number_fails(solver: Solver, part: str) -> None:
    qp = _program(np.random.default_rng(6), 5, 10)
    getattr(qp, part).flat[3] = np.nan
    assert solver.solve(qp).status is QPStatus.FAILED


def test_the_program_that_never_ended_has_an_answer(solver: Solver) -> None:
    with np.load(ENDLESS) as found:
        C, d = found["C"], found["d"]
    n = C.shape[1]
    qp = QuadraticProgram(np.eye(n), np.zeros(n), C, d)
    expected = make_adapter("daqp").solve(qp)
    assert expected.optimality_error(qp) < OPTIMAL
    solution = _solved(solver, qp)
    np.testing.assert_allclose(solution.x, expected.x, atol=1e-9)
    assert solution.iterations < 20


@pytest.mark.parametrize("name", ["daqp", "goldfarb_idnani"])
def test_nothing_falls_back_to_a_solver_without_a_bound(name: str) -> None:
    solver = make_solver(name)
    assert {solver.first.name, solver.fallback.name} == {"daqp", "goldfarb_idnani"}
    assert make_solver("quadprog").fallback.name == "daqp"


def test_rounds_are_counted_and_bounded() -> None:
    qp = _program(np.random.default_rng(7), 20, 80)
    parts = (qp.H, qp.g, qp.C, qp.d)
    *_, status, rounds = dual_method(*parts, 400)
    assert status == SOLVED
    for bound in range(rounds + 3):
        *_, status, done = dual_method(*parts, bound)
        assert done <= bound
        assert status == (SOLVED if bound > rounds else FAILED)


def test_whatever_is_handed_over_ends() -> None:
    """Rows from a lattice, which depend on each other in many ways; many have no answer."""
    rng, solver, seen = np.random.default_rng(8), make_adapter("goldfarb_idnani"), set()
    for _ in range(300):
        n, m = int(rng.integers(1, 8)), int(rng.integers(1, 60))
        C = rng.integers(-2, 3, size=(m, n)).astype(float) * 10.0 ** rng.integers(-5, 6, (m, 1))
        qp = QuadraticProgram(np.eye(n), rng.normal(size=n), C, C @ rng.integers(-1, 2, n) * 1.0)
        if rng.random() < 0.3:
            qp.d[:] += rng.integers(-1, 2, m) * np.abs(C).max(axis=1)
        solution = solver.solve(qp)
        seen.add(solution.status)
        if solution.status is QPStatus.SOLVED:
            assert solution.optimality_error(qp) < OPTIMAL
    assert seen == {QPStatus.SOLVED, QPStatus.INFEASIBLE}


def test_arrays_in_any_order_are_read_and_left_as_they_are(solver: Solver) -> None:
    qp = _program(np.random.default_rng(9), 7, 30, 2.0)
    x = solver.solve(qp).x
    turned = QuadraticProgram(*(np.asfortranarray(part) for part in (qp.H, qp.g, qp.C, qp.d)))
    apart = QuadraticProgram(qp.H, np.repeat(qp.g, 2)[::2], np.repeat(qp.C, 2, 1)[:, ::2], qp.d)
    for other in (turned, apart):
        for part in (other.H, other.g, other.C, other.d):
            part.flags.writeable = False
        np.testing.assert_array_equal(solver.solve(other).x, x)
