"""Every identity of the papers in one table of residuals."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pinocchio as pin
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from balance.analysis.theory import (
    bouyarmane,
    centroidal,
    garofalo,
    integrability,
    locking,
    motion,
    notes_control,
    notes_dynamics,
    notes_kinematics,
    notes_rotations,
    reduction,
    related,
    saccon,
    traversaro,
)
from balance.analysis.theory.checks import Check, random_states


def _by_equation(*parts: tuple[Check, ...]) -> tuple[Check, ...]:
    """The checks of one paper in the order of their equations; unnumbered ones come last."""

    def number(check: Check) -> float:
        digits = re.search(r"\((\d+)\)", check.equation)
        return float(digits[1]) if digits else float("inf")

    return tuple(sorted((check for part in parts for check in part), key=number))


CHECKS = (
    *_by_equation(garofalo.CHECKS, motion.CHECKS, related.CHECKS),
    *_by_equation(traversaro.CHECKS, centroidal.CHECKS, locking.CHECKS),
    *_by_equation(saccon.CHECKS, reduction.CHECKS, integrability.CHECKS),
    *bouyarmane.CHECKS,
    *notes_rotations.CHECKS,
    *notes_kinematics.CHECKS,
    *notes_dynamics.CHECKS,
    *notes_control.CHECKS,
)
"""Every identity that ``balance theory`` tries."""


@dataclass(frozen=True, slots=True)
class Row:
    """An identity, and the largest residual that was found."""

    check: Check
    states: int
    """Number of states that were tried."""
    residual: float
    """Largest relative residual over the states."""

    @property
    def holds(self) -> bool:
        """Whether the residual is within the bound."""
        return self.residual <= self.check.bound


def residual_table(
    model: pin.Model, states: int, seed: int = 0, checks: tuple[Check, ...] = CHECKS
) -> list[Row]:
    """Largest residual of every check over ``states`` random states of ``model``.

    Checks that need many evaluations try fewer states; the row says how many.
    """
    largest = dict.fromkeys(checks, 0.0)
    tried = dict.fromkeys(checks, 0)
    for index, state in enumerate(random_states(model, states, seed)):
        for check in checks:
            if check.max_states is None or index < check.max_states:
                residual = check.residual(model, state)
                # A residual that is not a number counts as the worst one.
                largest[check] = max(largest[check], residual if residual >= 0.0 else float("inf"))
                tried[check] += 1
    return [Row(check, tried[check], largest[check]) for check in checks]


def all_hold(rows: list[Row]) -> bool:
    """The verdict: whether every identity holds within its bound."""
    return all(row.holds for row in rows)


def print_table(rows: list[Row], console: Console) -> bool:
    """Print one line per identity and the verdict; returns whether all hold."""
    table = Table(title="Identities of the papers: largest relative residual")
    table.add_column("equation", max_width=18)
    table.add_column("statement", ratio=1)
    table.add_column("states", justify="right")
    table.add_column("residual", justify="right", no_wrap=True)
    table.add_column("bound", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    paper = ""
    for row in rows:
        if row.check.paper != paper:
            paper = row.check.paper
            table.add_section()
            table.add_row(f"[bold]{paper}[/bold]")
        table.add_row(
            escape(row.check.equation),
            escape(row.check.statement),
            str(row.states),
            f"{row.residual:.1e}",
            f"{row.check.bound:.0e}",
            "[green]holds[/green]" if row.holds else "[bold red]FAILS[/bold red]",
        )
    console.print(table)
    failed = sum(not row.holds for row in rows)
    if failed:
        console.print(f"[bold red]{failed} of {len(rows)} identities fail.[/bold red]")
    else:
        console.print(f"All {len(rows)} identities hold.")
    return failed == 0
