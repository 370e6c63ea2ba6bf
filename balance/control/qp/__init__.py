"""Quadratic programs: the problem as a value, one adapter per solver, and the contact-wrench QP."""

from __future__ import annotations

from balance.control.qp.certified import CertifiedSolver
from balance.control.qp.daqp_solver import DaqpSolver
from balance.control.qp.dual_solver import DualSolver
from balance.control.qp.problem import QPSolution, QPStatus, QuadraticProgram, Solver
from balance.control.qp.proxqp_solver import ProxqpSolver
from balance.control.qp.quadprog_solver import QuadprogSolver
from balance.errors import QPError, known_names

__all__ = [
    "CertifiedSolver",
    "QPSolution",
    "QPStatus",
    "QuadraticProgram",
    "Solver",
    "make_adapter",
    "make_solver",
    "solver_names",
]

_ADAPTERS: dict[str, type[Solver]] = {
    "daqp": DaqpSolver,
    "goldfarb_idnani": DualSolver,
    "quadprog": QuadprogSolver,
    "proxqp": ProxqpSolver,
}


def solver_names() -> list[str]:
    """Names that ``make_solver`` accepts."""
    return sorted(_ADAPTERS)


def make_solver(name: str, patience: int = 0) -> CertifiedSolver:
    """The solver called ``name``, with its answers checked and another solver to fall back to.

    The other one always comes to an end.  ``patience``: for how many programs it goes first after
    that.
    """
    fallback = "goldfarb_idnani" if name in ("daqp", "proxqp") else "daqp"
    return CertifiedSolver(make_adapter(name), make_adapter(fallback), patience)


def make_adapter(name: str) -> Solver:
    """The solver called ``name`` as it is."""
    if name not in _ADAPTERS:
        raise QPError(f"unknown QP solver '{name}'{known_names(name, _ADAPTERS)}")
    return _ADAPTERS[name]()
