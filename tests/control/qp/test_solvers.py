"""Every solver adapter finds the optimum of random programs, and says so when there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog, nnls

from balance.control.qp import (
    CertifiedSolver,
    QPSolution,
    QPStatus,
    QuadraticProgram,
    Solver,
    make_adapter,
    make_solver,
    solver_names,
)
from balance.control.qp.daqp_solver import DaqpSolver
from balance.errors import QPError

Array = NDArray[np.float64]

KKT = 1e-8  # residuals, relative to the size of the program's own terms
SAME = 1e-7  # relative difference from the oracle's minimiser
PROGRAMS = 60


@pytest.fixture(scope="module", params=solver_names())
def solver(request: pytest.FixtureRequest) -> Solver:
    return make_solver(request.param)


def random_program(rng: np.random.Generator) -> QuadraticProgram:
    """A program with 2 to 12 variables, 1 to 40 rows, and a feasible set with an inside."""
    n, m = int(rng.integers(2, 13)), int(rng.integers(1, 41))
    root = rng.normal(size=(n, n))
    H = root @ root.T + 10.0 ** rng.uniform(-3, 0) * np.eye(n)
    C = rng.normal(size=(m, n))
    feasible = rng.normal(size=n)
    slack = 0.01 + rng.exponential(0.2, size=m)
    return QuadraticProgram(H, 5.0 * rng.normal(size=n), C, C @ feasible - slack)


def least_distance(qp: QuadraticProgram) -> Array:
    """The minimiser by another way: least-distance programming with non-negative least squares.

    Lawson and Hanson, "Solving least squares problems", chapter 23: with H = L L^T and
    y = L^T x - L^-1 g the program is min |y| subject to E y >= f, whose solution is
    -r[:n] / r[n] with r the residual of the NNLS problem [E^T; f^T] u = (0, 1).
    """
    L = np.linalg.cholesky(qp.H)
    offset = np.linalg.solve(L, qp.g)
    E = np.linalg.solve(L, qp.C.T).T
    f = qp.d - E @ offset
    stacked, target = np.vstack([E.T, f]), np.append(np.zeros(qp.g.size), 1.0)
    u, _ = nnls(stacked, target, maxiter=10_000)
    r = stacked @ u - target
    return np.asarray(np.linalg.solve(L.T, offset - r[:-1] / r[-1]))


def test_solution_meets_the_kkt_conditions(solver: Solver) -> None:
    rng = np.random.default_rng(1)
    n_active = 0
    for _ in range(PROGRAMS):
        qp = random_program(rng)
        solution = solver.solve(qp)
        assert solution.status is QPStatus.SOLVED
        size = 1.0 + np.abs(qp.H @ solution.x).max() + np.abs(qp.g).max()
        assert solution.primal_residual(qp) < KKT * size
        assert solution.dual_residual(qp) < KKT * size
        assert solution.duality_gap(qp) < KKT * size**2
        assert solution.multipliers.min() > -KKT * size
        np.testing.assert_allclose(
            (qp.C @ solution.x - qp.d)[solution.active], 0.0, atol=KKT * size
        )
        n_active += len(solution.active)
    assert n_active > PROGRAMS
    assert isinstance(solver, CertifiedSolver)
    assert solver.fallbacks == 0, "the solver's own answers are to be judged here"


def test_minimiser_is_that_of_least_distance_programming(solver: Solver) -> None:
    rng = np.random.default_rng(2)
    for _ in range(PROGRAMS):
        qp = random_program(rng)
        x = least_distance(qp)
        scale = 1.0 + np.abs(x).max()
        np.testing.assert_allclose(solver.solve(qp).x, x, atol=SAME * scale, rtol=0)


def test_unconstrained_minimum_has_no_active_row(solver: Solver) -> None:
    rng = np.random.default_rng(3)
    qp = random_program(rng)
    x = np.linalg.solve(qp.H, qp.g)
    loose = QuadraticProgram(qp.H, qp.g, qp.C, qp.C @ x - 1.0)
    solution = solver.solve(loose)
    np.testing.assert_allclose(solution.x, x, rtol=1e-9)
    assert len(solution.active) == 0
    assert not solution.multipliers.any()


def test_contradictory_rows_give_a_status_and_no_exception(solver: Solver) -> None:
    rng = np.random.default_rng(4)
    for _ in range(10):
        qp = random_program(rng)
        C, d = np.vstack([qp.C, -qp.C[0]]), np.append(qp.d, 1.0 - qp.d[0])
        oracle = linprog(np.zeros(qp.g.size), A_ub=-C, b_ub=-d, bounds=(None, None))
        assert oracle.status == 2, "the linear program must be infeasible too"
        solution = solver.solve(QuadraticProgram(qp.H, qp.g, C, d))
        assert solution.status is QPStatus.INFEASIBLE
        assert np.isnan(solution.x).all()


def test_indefinite_cost_gives_a_status_and_no_exception(solver: Solver) -> None:
    qp = QuadraticProgram(np.diag([1.0, -1.0]), np.ones(2), np.eye(2), np.zeros(2))
    assert solver.solve(qp).status is QPStatus.FAILED


@pytest.mark.parametrize("part", ["H", "g"])
def test_cost_with_nan_is_never_solved(solver: Solver, part: str) -> None:
    qp = random_program(np.random.default_rng(6))
    broken = getattr(qp, part).copy()
    broken.flat[0] = np.nan
    parts = {name: getattr(qp, name) for name in ("H", "g", "C", "d")} | {part: broken}
    assert solver.solve(QuadraticProgram(**parts)).status is not QPStatus.SOLVED


def test_solver_leaves_the_program_untouched(solver: Solver) -> None:
    qp = random_program(np.random.default_rng(5))
    before = [np.copy(part) for part in (qp.H, qp.g, qp.C, qp.d)]
    first, second = solver.solve(qp), solver.solve(qp)
    for kept, part in zip(before, (qp.H, qp.g, qp.C, qp.d), strict=True):
        np.testing.assert_array_equal(kept, part)
    # A solver may start from its last active set, and then rounds differently.
    np.testing.assert_allclose(first.x, second.x, rtol=1e-12, atol=1e-12)


class WrongSolver:
    """Says that it solved a program, but did not."""

    name = "wrong"

    def __init__(self, shift: float) -> None:
        self.right, self.shift = make_adapter("quadprog"), shift

    def solve(self, qp: QuadraticProgram) -> QPSolution:
        right = self.right.solve(qp)
        return QPSolution(right.x + self.shift, right.multipliers, right.active, right.status)


@pytest.mark.parametrize(("flag", "fallbacks"), [(1, 0), (4, 0), (-1, 1)])
def test_an_answer_that_daqp_doubts_is_judged(
    flag: int, fallbacks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its flag 4 stands for less exact than asked for, which mostly is exact enough."""
    answer = DaqpSolver.answer

    def doubted(self: DaqpSolver, qp: QuadraticProgram) -> Any:
        x, cost, _, info = answer(self, qp)
        return x, cost, flag, info

    monkeypatch.setattr(DaqpSolver, "answer", doubted)
    solver, qp = make_solver("daqp"), random_program(np.random.default_rng(7))
    np.testing.assert_allclose(solver.solve(qp).x, least_distance(qp), atol=1e-6)
    assert solver.fallbacks == fallbacks


@pytest.mark.parametrize("shift", [1e-4, np.nan])
def test_a_wrong_answer_is_found_out_and_replaced(shift: float) -> None:
    rng = np.random.default_rng(7)
    solver = CertifiedSolver(WrongSolver(shift), make_adapter("daqp"))
    for count in range(1, 11):
        qp = random_program(rng)
        solution = solver.solve(qp)
        assert solver.fallbacks == count
        np.testing.assert_allclose(solution.x, least_distance(qp), atol=1e-6)


@pytest.mark.parametrize(("shift", "status"), [(1e-7, 0), (0.1, 2), (np.nan, 2)])
def test_the_fallback_is_checked_too(shift: float, status: int) -> None:
    qp = random_program(np.random.default_rng(7))
    solution = CertifiedSolver(WrongSolver(np.nan), WrongSolver(shift)).solve(qp)
    assert solution.status is QPStatus(status)


def test_a_sequence_of_programs_is_solved_from_the_last_active_set() -> None:
    """The rows stay the same objects, as in a control loop; so DAQP is told of H and g alone."""
    rng = np.random.default_rng(8)
    warm = make_adapter("daqp")
    qp = random_program(rng)
    for _ in range(30):
        g = qp.g + 0.1 * rng.normal(size=qp.g.size)
        H = qp.H + 0.01 * np.eye(qp.g.size)
        qp = QuadraticProgram(H, g, qp.C, qp.d)
        solution = warm.solve(qp)
        assert solution.optimality_error(qp) < KKT


@pytest.mark.parametrize(
    ("part", "value", "told"),
    [
        ("H", np.eye(3), "H has shape (3, 3); expected (2, 2)"),
        ("C", np.ones((1, 3)), "C has shape (1, 3); expected (1, 2)"),
        ("g", np.array([0.0, np.nan]), "g has an entry that is not finite"),
        ("d", np.array([np.inf]), "d has an entry that is not finite"),
    ],
)
def test_malformed_program_is_refused(part: str, value: Array, told: str) -> None:
    parts = {"H": np.eye(2), "g": np.zeros(2), "C": np.ones((1, 2)), "d": np.zeros(1)}
    QuadraticProgram(**parts).check()
    with pytest.raises(QPError) as caught:
        QuadraticProgram(**(parts | {part: value})).check()
    assert told in str(caught.value)


def test_unknown_solver_is_refused_with_the_known_ones() -> None:
    with pytest.raises(QPError, match=r"unknown QP solver 'quadprg' \(did you mean 'quadprog'\?\)"):
        make_solver("quadprg")
