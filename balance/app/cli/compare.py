"""The command ``balance compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from balance.app.cli.options import (
    ConfigArgument,
    OutOption,
    PdfOption,
    RobotsOption,
    SetOption,
    TrustOption,
)
from balance.app.cli.studies import (
    OverwriteOption,
    ResumeOption,
    SchedulerOption,
    WorkersOption,
    run_in_folder,
)

if TYPE_CHECKING:
    from rich.table import Table

    from balance.studies.compare import Compare


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(compare)


def compare(
    config: ConfigArgument,
    out: OutOption = None,
    set_: SetOption = None,
    robots: RobotsOption = None,
    limits: Annotated[
        bool, typer.Option(help="Search the largest push that each law recovers.")
    ] = True,
    scheduler: SchedulerOption = None,
    workers: WorkersOption = None,
    resume: ResumeOption = True,
    overwrite: OverwriteOption = False,
    pdf: PdfOption = False,
    trust: TrustOption = False,
) -> None:
    """Run every control law on the same pushes; one table, one figure."""
    from balance.app.terminal import console
    from balance.config import find_config, parse_overrides
    from balance.config.compare import load_comparison
    from balance.studies.compare import Compare

    path = find_config(config)
    loaded = load_comparison(path, parse_overrides(set_ or []), limits, trust)
    study = Compare(loaded, path.stem, str(path), robots or [])
    folder = out or Path("results") / path.stem
    run_in_folder(study, folder, scheduler, workers, resume, overwrite, pdf)
    console.print(_table(study, folder))


def _table(study: Compare, folder: Path) -> Table:
    from rich.markup import escape
    from rich.table import Table

    from balance.studies.compare_table import table

    head, lines = table(study.results(folder))
    shown = Table(box=None, pad_edge=False)
    for index, name in enumerate(head):
        shown.add_column(escape(name), justify="right" if index else "left")
    for line in lines:
        shown.add_row(*map(escape, line))
    return shown
