"""The command ``balance tune``."""

from __future__ import annotations

from pathlib import Path

import typer

from balance.app.cli.options import (
    OutOption,
    PdfOption,
    RobotsOption,
    SetOption,
    TrustOption,
    about,
)
from balance.app.cli.studies import (
    OverwriteOption,
    ResumeOption,
    SchedulerOption,
    StudyArgument,
    WorkersOption,
    run_in_folder,
)


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(tune)


def tune(
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
    """Search for better gains, and check the best ones on pushes that the search never saw."""
    from balance.config import parse_overrides
    from balance.config.studies import find_study, load_study
    from balance.config.tuning import TuneConfig
    from balance.studies.store import check_removable
    from balance.studies.tuning.study import Tuning

    path = find_study(config)
    loaded = load_study(TuneConfig, path, parse_overrides(set_ or []), trust)
    with about(path):
        study = Tuning(loaded, path.stem, str(path), robots or [])
    folder = out or Path("results") / path.stem
    if overwrite:
        if folder.exists():
            check_removable(folder)  # before anything is gone
        study.discard()
    run_in_folder(study, folder, scheduler, workers, resume, overwrite, pdf)
