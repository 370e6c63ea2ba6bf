"""The commands ``balance sweep`` and ``balance envelope``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from balance.app.cli.options import (
    OutOption,
    PdfOption,
    RobotsOption,
    SetOption,
    TrustOption,
    tell_code,
)

if TYPE_CHECKING:
    from balance.studies.interface import Study

StudyArgument = Annotated[
    str, typer.Argument(metavar="CONFIG", help="A YAML file, or the name of a shipped study.")
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="ADDRESS", help="Use this Dask cluster, e.g. tcp://host:8786."
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Local worker processes (default: one per core)."),
]
ResumeOption = Annotated[
    bool,
    typer.Option("--resume/--no-resume", help="Go on with a study that the folder already holds."),
]
OverwriteOption = Annotated[
    bool, typer.Option("--overwrite", help="Delete a study in the folder and start anew.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    app.command()(sweep)
    app.command()(envelope)


def sweep(
    config: StudyArgument,
    out: OutOption = None,
    set_: SetOption = None,
    robots: RobotsOption = None,
    scheduler: SchedulerOption = None,
    workers: WorkersOption = None,
    resume: ResumeOption = True,
    overwrite: OverwriteOption = False,
    pdf: PdfOption = False,
    trust: TrustOption = False,
) -> None:
    """Run an experiment over every combination of some axes; one table, one figure."""
    from balance.config import parse_overrides
    from balance.config.studies import SweepConfig, find_study, load_study
    from balance.studies.sweep import Sweep

    path = find_study(config)
    loaded = load_study(SweepConfig, path, parse_overrides(set_ or []), trust)
    study = Sweep(loaded, path.stem, str(path), robots or [])
    folder = out or Path("results") / path.stem
    run_in_folder(study, folder, scheduler, workers, resume, overwrite, pdf)


def envelope(
    config: StudyArgument,
    out: OutOption = None,
    set_: SetOption = None,
    robots: RobotsOption = None,
    scheduler: SchedulerOption = None,
    workers: WorkersOption = None,
    resume: ResumeOption = True,
    overwrite: OverwriteOption = False,
    pdf: PdfOption = False,
    trust: TrustOption = False,
) -> None:
    """Find the largest push that is recovered, in every direction."""
    from balance.config import parse_overrides
    from balance.config.studies import EnvelopeConfig, find_study, load_study
    from balance.studies.envelope import Envelope

    path = find_study(config)
    loaded = load_study(EnvelopeConfig, path, parse_overrides(set_ or []), trust)
    study = Envelope(loaded, path.stem, str(path), robots or [])
    folder = out or Path("results") / path.stem
    run_in_folder(study, folder, scheduler, workers, resume, overwrite, pdf)


def run_in_folder(
    study: Study,
    folder: Path,
    scheduler: str | None,
    workers: int | None,
    resume: bool,
    overwrite: bool,
    pdf: bool,
) -> None:
    """Run a study into ``folder``, or go on with it there, and say what came of it."""
    from balance.app.terminal import console
    from balance.errors import FileError
    from balance.studies.session import run_study

    if not resume and not overwrite and folder.exists():
        raise FileError(f"{folder} exists; leave --no-resume out to go on with the study in it")
    tell_code(study.definition.get("code"))
    run_study(
        study,
        folder,
        scheduler=scheduler,
        count=workers,
        overwrite=overwrite,
        pdf=pdf,
        console=console,
    )
    outcomes = ", ".join(f"{name} {count}" for name, count in study.counts.items())
    files = ", ".join(sorted(p.name for p in folder.iterdir() if not p.name.startswith(".")))
    console.print(f"{study.expected()} runs: {outcomes}", highlight=False, soft_wrap=True)
    console.print(f"Written to {folder}: {files}", highlight=False, soft_wrap=True)
