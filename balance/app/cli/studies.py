"""The commands that run a study: ``sweep``, ``envelope``, ``tune`` and ``compare``.

They differ in the study that they make; options, folders and messages are the same.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from balance.app.cli.options import (
    OutOption,
    PdfOption,
    RobotsOption,
    SetOption,
    TrustOption,
    about,
    shipped_studies,
    tell_code,
)
from balance.errors import FileError

if TYPE_CHECKING:
    from balance.studies.compare import Compare
    from balance.studies.envelope import Envelope
    from balance.studies.interface import Study
    from balance.studies.summary import Table
    from balance.studies.sweep import Sweep
    from balance.studies.tuning.study import Tuning

StudyArgument = Annotated[
    str,
    typer.Argument(
        metavar="CONFIG",
        help="A YAML file, or the name of a shipped study.",
        autocompletion=shipped_studies,
    ),
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
LimitsOption = Annotated[bool, typer.Option(help="Search the largest push that each law recovers.")]

SHOWN_ROWS = 12  # of a sweep's table

Overrides = Mapping[str, Any]
Robots = Sequence[Path]


@dataclass(frozen=True)
class StudyCommand:
    """What tells one of the commands from the others."""

    help: str
    make: Callable[..., Any]
    """The study, from a file, dotted keys, the robots' folders, whether code that a result names
    may be run, and the ``options``."""
    takes_experiment: bool = False
    """Whether an experiment will do in the place of a study."""
    options: tuple[inspect.Parameter, ...] = ()
    """Those that no other command has."""
    discard: Callable[[Any, Path], None] | None = None
    """Called before a folder is overwritten: the study may have more than what is in it."""
    answer: Callable[[Any, Path], Sequence[Table]] = lambda study, folder: ()
    """Tables to print below how many runs ended how: what the study has found."""


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    for name, command in COMMANDS.items():
        app.command(name, help=command.help)(_function(command))


def _function(command: StudyCommand) -> Callable[..., None]:
    """The function behind a command; its signature is what typer makes the options from."""

    def run(
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
        **own: Any,
    ) -> None:
        from balance.app.terminal import console, plain_table
        from balance.config import parse_overrides
        from balance.config.studies import find_study
        from balance.studies.session import run_study

        path = find_study(config, command.takes_experiment)
        overrides = parse_overrides(set_ or [])
        with about(path):
            study = command.make(path, overrides, robots or [], trust, **own)
        folder = out or Path("results") / path.stem
        if folder.exists() and not (resume or overwrite):
            raise FileError(f"{folder} exists; leave --no-resume out to go on with the study in it")
        tell_code(study.definition.get("code"))
        if overwrite and command.discard:
            command.discard(study, folder)
        run_study(
            study,
            folder,
            scheduler=scheduler,
            count=workers,
            overwrite=overwrite,
            pdf=pdf,
            console=console,
        )
        for line in _outcomes(study, folder):
            console.print(line, highlight=False, soft_wrap=True)
        for head, rows in command.answer(study, folder):
            console.print()
            console.print(plain_table(head, rows))

    shared = inspect.signature(run, eval_str=True)
    named = [one for one in shared.parameters.values() if one.kind is not one.VAR_KEYWORD]
    run.__signature__ = shared.replace(  # type: ignore[attr-defined]
        parameters=[*named, *command.options]
    )
    return run


def _outcomes(study: Study, folder: Path) -> Iterator[str]:
    outcomes = ", ".join(f"{name} {count}" for name, count in study.counts.items())
    files = ", ".join(sorted(p.name for p in folder.iterdir() if not p.name.startswith(".")))
    yield f"{study.expected()} runs: {outcomes}"
    yield f"Written to {folder}: {files}"


def _sweep(path: Path, overrides: Overrides, robots: Robots, trust: bool) -> Sweep:
    from balance.config.studies import SweepConfig, load_study
    from balance.studies.sweep import Sweep

    return Sweep(load_study(SweepConfig, path, overrides, trust), path.stem, str(path), robots)


def _envelope(path: Path, overrides: Overrides, robots: Robots, trust: bool) -> Envelope:
    from balance.config.studies import EnvelopeConfig, load_study
    from balance.studies.envelope import Envelope

    return Envelope(
        load_study(EnvelopeConfig, path, overrides, trust), path.stem, str(path), robots
    )


def _tune(path: Path, overrides: Overrides, robots: Robots, trust: bool) -> Tuning:
    from balance.config.studies import load_study
    from balance.config.tuning import TuneConfig
    from balance.studies.tuning.study import Tuning

    return Tuning(load_study(TuneConfig, path, overrides, trust), path.stem, str(path), robots)


def _discard_trials(study: Tuning, folder: Path) -> None:
    """Delete the trials in the database, unless the folder is not for us to delete."""
    from balance.studies.store import check_removable

    if folder.exists():
        check_removable(folder)  # before anything is gone
    study.discard()


def _compare(
    path: Path, overrides: Overrides, robots: Robots, trust: bool, limits: bool
) -> Compare:
    from balance.config.compare import load_comparison
    from balance.studies.compare import Compare

    return Compare(load_comparison(path, overrides, limits, trust), path.stem, str(path), robots)


def _sweep_answer(study: Sweep, folder: Path) -> list[Table]:
    return [study.head(SHOWN_ROWS)]


def _envelope_answer(study: Envelope, folder: Path) -> list[Table]:
    from balance.studies.limits import short_limits

    return [short_limits(study.results(), study.config.criteria)]


def _tune_answer(study: Tuning, folder: Path) -> list[Table]:
    from balance.studies.tuning.report import answer

    return answer(study)


def _comparison_answer(study: Compare, folder: Path) -> list[Table]:
    from balance.studies.compare_table import table

    return [table(study.results(folder))]


COMMANDS = {
    "sweep": StudyCommand(
        "Run an experiment over every combination of some axes; one table, one figure.",
        _sweep,
        answer=_sweep_answer,
    ),
    "envelope": StudyCommand(
        "Find the largest push that is recovered, in every direction.",
        _envelope,
        answer=_envelope_answer,
    ),
    "tune": StudyCommand(
        "Search for better gains, and check the best ones on pushes that the search never saw.",
        _tune,
        discard=_discard_trials,
        answer=_tune_answer,
    ),
    "compare": StudyCommand(
        "Run every control law on the same pushes; one table, one figure.  CONFIG may also be an "
        "experiment.",
        _compare,
        takes_experiment=True,
        options=(
            inspect.Parameter(
                "limits", inspect.Parameter.KEYWORD_ONLY, default=True, annotation=LimitsOption
            ),
        ),
        answer=_comparison_answer,
    ),
}
