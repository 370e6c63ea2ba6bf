"""QP solvers on the programs of a pushed run: time, and how well the optimality conditions hold."""

from __future__ import annotations

from collections.abc import Iterator

from threadpoolctl import threadpool_limits

from balance.analysis.bench.floors import whole_body_programs
from balance.analysis.bench.report import Figure
from balance.analysis.bench.states import PushedStates
from balance.analysis.bench.timing import Call, time_calls
from balance.control.qp import QPStatus, QuadraticProgram, Solver, make_adapter, solver_names
from balance.control.whole_body_qp import WholeBodyController
from balance.errors import MissingExtraError

EXACT = ("daqp", "goldfarb_idnani", "quadprog")  # active-set methods
FEW = 10  # programs for the others
HARD = 3.0  # how much the wanted wrench of the momentum law exceeds that of the run


def solver_figures(states: PushedStates, rounds: int) -> Iterator[Figure]:
    """Median time and largest error of every installed solver on both kinds of programs."""
    solvers: dict[str, Solver] = {}
    for name in solver_names():
        try:
            solvers[name] = make_adapter(name)
        except MissingExtraError:
            continue
    law = states.controller("whole_body_qp")
    assert isinstance(law, WholeBodyController)
    dense = whole_body_programs(law, states.q, states.v, states.time)
    # With a stronger pull rows of the cones become active, as they are in a harder push.
    wrench = [QuadraticProgram(p.H, HARD * p.g, p.C, p.d) for p in states.programs]
    for kind, programs in (("wrench QP", wrench), ("whole-body QP", dense)):
        yield from _compare(kind, programs, solvers, rounds)


def _compare(
    kind: str, programs: list[QuadraticProgram], solvers: dict[str, Solver], rounds: int
) -> Iterator[Figure]:
    for name, solver in solvers.items():
        kept, repeated = programs, rounds
        if name not in EXACT:  # where such a one does not converge it takes a tenth of a second
            kept, repeated = programs[:: max(1, len(programs) // FEW)], 1
        with threadpool_limits(1):
            timing = time_calls({name: _call(solver, kept)}, len(kept), repeated)[name]
        solutions = [(solver.solve(program), program) for program in kept]
        errors = [
            solution.optimality_error(program)
            for solution, program in solutions
            if solution.status is QPStatus.SOLVED
        ]
        yield Figure(f"{kind}, {name}", timing.median, "us")
        yield Figure(f"{kind}, {name}, p99", timing.p99, "us")
        yield Figure(f"{kind}, {name}, optimality error", max(errors, default=float("nan")), "1")
        unsolved = 1.0 - len(errors) / len(kept)
        yield Figure(f"{kind}, {name}, share without an answer", unsolved, "1")


def _call(solver: Solver, programs: list[QuadraticProgram]) -> Call:
    return lambda i: solver.solve(programs[i])
