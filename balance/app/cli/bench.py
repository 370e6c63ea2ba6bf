"""The command ``balance bench``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from balance.app.cli.options import OutOption, OverwriteOption, claimed

if TYPE_CHECKING:
    from rich.table import Table

    from balance.analysis.bench.report import Figure, Report


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(bench)


def bench(
    out: OutOption = None,
    quick: Annotated[bool, typer.Option("--quick", help="A rough look, in a minute.")] = False,
    long_run: Annotated[
        float | None,
        typer.Option("--long-run", metavar="SECONDS", min=1.0, help="Measure its memory too."),
    ] = None,
    creep: Annotated[
        float | None,
        typer.Option(
            "--creep",
            metavar="SECONDS",
            min=1.0,
            help="Do steps slow down, or leave memory behind, in so much simulated time?",
        ),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option("--compare", metavar="FILE", help="An earlier table: print ratios to it."),
    ] = None,
    instructions: Annotated[
        bool,
        typer.Option("--instructions", help="Count instructions with valgrind: takes minutes."),
    ] = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Measure how fast control steps, plants and closed loops are, as multiples of their floors."""
    from balance.analysis.bench.report import Report, load_report
    from balance.analysis.bench.run import QUICK, THOROUGH
    from balance.analysis.bench.run import bench as measure
    from balance.app.terminal import console
    from balance.recordings.outputs import BENCH

    earlier = None if compare is None else load_report(compare)
    if instructions:
        from balance.analysis.bench.instructions import check_valgrind, instruction_figures

        check_valgrind()
    effort = QUICK if quick else THOROUGH
    with claimed(out, "bench", BENCH, overwrite) as output:
        more = {"the Gymnasium environment": lambda: _gym_figures(effort.rounds)}
        report = measure(effort, lambda part: console.print(part), long_run, creep, more)
        if instructions:
            console.print("instructions")
            report = Report((*report.figures, *instruction_figures()), report.machine)
        console.print(_table(report))
        with output.filling() as folder:
            files = report.write(folder)
    for file in files:
        console.print(str(output.path / file.name), highlight=False, soft_wrap=True)
    if earlier is not None:
        console.print(_comparison(report, earlier))


def _gym_figures(rounds: int) -> Iterator[Figure]:
    """The environment against the plain loop, where Gymnasium is installed."""
    from balance.errors import MissingExtraError

    try:
        from balance.app.gym.speed import gym_figures
    except MissingExtraError:
        return
    yield from gym_figures(2.0, rounds)


def _table(report: Report) -> Table:
    from rich.table import Table

    table = Table("figure", "measured", "unit", "target", title=", ".join(_where(report)))
    for figure in report.figures:
        style = {True: "green", False: "red", None: ""}[figure.met]
        table.add_row(figure.name, f"{figure.value:.4g}", figure.unit, figure.wanted, style=style)
    return table


def _where(report: Report) -> list[str]:
    keys = ("processor", "load", "python", "numpy", "pin")
    return [f"{key} {report.machine[key]}" for key in keys if key in report.machine]


def _comparison(report: Report, earlier: Report) -> Table:
    from rich.table import Table

    from balance.analysis.bench.report import compare

    table = Table("figure", "before", "now", "now / before", title="against the earlier table")
    for figure, before, ratio in compare(report, earlier):
        table.add_row(figure.name, f"{before:.4g}", f"{figure.value:.4g}", f"{ratio:.2f}")
    return table
