"""Quadratic programs: the problem as a value, one adapter per solver, and the contact-wrench QP."""

from __future__ import annotations

from typing import Protocol

from balance.errors import QPError, known_names
from balance.qp.problem import QPSolution, QPStatus, QuadraticProgram
from balance.qp.quadprog_solver import QuadprogSolver

__all__ = ["QPSolution", "QPStatus", "QuadraticProgram", "Solver", "make_solver", "solver_names"]


class Solver(Protocol):
    """What every solver adapter offers."""

    name: str

    def solve(self, qp: QuadraticProgram) -> QPSolution:
        """The solution of ``qp``."""
        ...


_SOLVERS: dict[str, type[Solver]] = {"quadprog": QuadprogSolver}


def solver_names() -> list[str]:
    """Names that ``make_solver`` accepts."""
    return sorted(_SOLVERS)


def make_solver(name: str) -> Solver:
    """The solver called ``name``."""
    if name not in _SOLVERS:
        raise QPError(f"unknown QP solver '{name}'{known_names(name, _SOLVERS)}")
    return _SOLVERS[name]()
