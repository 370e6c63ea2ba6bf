"""The command ``balance protocol``: published tests, and ours, for any law and robot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from balance.app.cli.options import OutOption, PdfOption, RobotsOption, SetOption, tell_code
from balance.app.cli.studies import OverwriteOption, SchedulerOption, WorkersOption

EXPERIMENT = "experiment."  # begins keys of --set that are the experiment's, not the protocol's


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(protocol)


def _protocols(incomplete: str) -> list[tuple[str, str]]:
    from balance.config import PROTOCOLS

    names = [name for name in PROTOCOLS if name.startswith(incomplete)]
    return [(name, PROTOCOLS.describe(name)) for name in names]


def protocol(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A protocol, or FILE.py:NAME for your own.",
            autocompletion=_protocols,
        ),
    ],
    robot: Annotated[
        str, typer.Option("--robot", metavar="ROBOT", help="Its name, or its YAML file.")
    ] = "toro",
    law: Annotated[
        list[str] | None,
        typer.Option(
            "--law",
            metavar="LAW",
            help="The law, FILE.py:NAME for your own; several times for several, 'all' for ours.",
        ),
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", metavar="ENGINE", help="pinocchio, mujoco, or FILE.py:NAME.")
    ] = "pinocchio",
    config: Annotated[
        str | None,
        typer.Option(
            "--config", metavar="CONFIG", help="An experiment whose robot and gains are taken."
        ),
    ] = None,
    cells: Annotated[
        str | None,
        typer.Option(
            "--cells",
            metavar="PATTERNS",
            help="Of balance_v1: some cells only, e.g. 'clean hip 20 ms *'; a partial result.",
        ),
    ] = None,
    out: OutOption = None,
    set_: SetOption = None,
    robots: RobotsOption = None,
    scheduler: SchedulerOption = None,
    workers: WorkersOption = None,
    overwrite: OverwriteOption = False,
    pdf: PdfOption = False,
) -> None:
    """Put laws through a written test: EUROBENCH's, RoboCup's, or ours with its scoreboard.

    Keys of --set are the protocol's; those that begin with 'experiment.' are the experiment's.
    """
    from balance.app.terminal import console, plain_table
    from balance.config import LAWS, load_config, parse_overrides
    from balance.config.paths import with_full_paths
    from balance.config.user_code import shown_name
    from balance.studies.protocols.study import ProtocolStudy, shown
    from balance.studies.session import run_study

    keys: dict[str, Any] = {}
    experiment: dict[str, Any] = {}
    for key, value in parse_overrides(set_ or []).items():
        inner = key.removeprefix(EXPERIMENT)
        (keys if inner == key else experiment)[inner] = value
    if cells is not None:
        keys["cells"] = [pattern.strip() for pattern in cells.split(",")]
    laws: list[str | None] = [with_full_paths(one) for one in law or []]
    if laws == ["all"]:
        laws = [*LAWS.ready(installed=False)]
    if config is not None:
        robot = load_config(config).robot
    study = ProtocolStudy(
        with_full_paths(name),
        robot,
        laws or [None],
        with_full_paths(engine),
        keys,
        with_full_paths(experiment),
        config,
        robots or [],
    )
    tell_code(study.definition.get("code"))
    label = "-".join([shown_name(name), Path(robot).stem, engine.rpartition(":")[2]])
    if len(study.entrants) == 1:
        label += f"-{study.entrants[0].label.rpartition(':')[2]}"
    folder = out or Path("results") / label
    run_study(
        study,
        folder,
        scheduler=scheduler,
        count=workers,
        overwrite=overwrite,
        pdf=pdf,
        console=console,
    )
    lines = study.report()
    for line in lines:
        rows = [[key, shown(value)] for key, value in line.items() if value is not None]
        console.print(plain_table(["indicator", "value"], rows))
    console.print(f"Written to {folder}", highlight=False, soft_wrap=True)
