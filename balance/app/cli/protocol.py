"""The command ``balance protocol``: published tests, and ours, for any law and robot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from balance.app.cli.options import OutOption, PdfOption, RobotsOption, SetOption, tell_code
from balance.app.cli.studies import OverwriteOption, SchedulerOption, WorkersOption

if TYPE_CHECKING:
    from balance.studies.protocols.study import ProtocolStudy

BALANCE_V1 = "balance_v1"
REPORT, SIDE_BY_SIDE = "report", "side_by_side"
EXPERIMENT = "experiment."  # begins keys of --set that are the experiment's, not the protocol's


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(protocol)


def _protocols(incomplete: str) -> list[tuple[str, str]]:
    from balance.config import PROTOCOLS

    names = [name for name in PROTOCOLS if name.startswith(incomplete)]
    return [(name, PROTOCOLS.describe(name)) for name in names]


BoardOption = Annotated[
    Path | None,
    typer.Option(
        "--board",
        metavar="DIR",
        help="Folder of the scoreboard's entries: balance_v1 puts its own there, 'report' reads "
        "them (results/scoreboard).",
    ),
]
PageOption = Annotated[
    Path,
    typer.Option("--page", metavar="FILE", help="Of 'report': the page that is written."),
]


def protocol(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A protocol, FILE.py:NAME for your own, 'side_by_side' or 'report'.",
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
    board: BoardOption = None,
    page: PageOption = Path("docs") / "scoreboard.md",
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
    'report' writes the page of the scoreboard, 'side_by_side' six indicators of all laws.
    """
    if name == REPORT:
        _report(board, page, pdf)
        return
    if name == SIDE_BY_SIDE:
        _side_by_side(robot, law, engine, out, workers, robots or [], pdf)
        return
    from balance.app.terminal import console, plain_table
    from balance.config import load_config, parse_overrides
    from balance.config.paths import with_full_paths
    from balance.config.user_code import shown_name
    from balance.studies.protocols.report import shown
    from balance.studies.protocols.study import ProtocolStudy
    from balance.studies.session import run_study

    keys: dict[str, Any] = {}
    experiment: dict[str, Any] = {}
    for key, value in parse_overrides(set_ or []).items():
        inner = key.removeprefix(EXPERIMENT)
        (keys if inner == key else experiment)[inner] = value
    if cells is not None:
        keys["cells"] = [pattern.strip() for pattern in cells.split(",")]
    laws: list[str | None] = [*_laws(law)]
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
    if study.name == BALANCE_V1:
        _enter(study, board or folder)


def _laws(given: list[str] | None) -> list[str]:
    """The laws that --law names."""
    from balance.config import LAWS
    from balance.config.paths import with_full_paths

    if given == ["all"]:
        return [*LAWS.ready(installed=False)]
    return [with_full_paths(one) for one in given or []]


def _enter(study: ProtocolStudy, folder: Path) -> None:
    """Write the entries of a study of balance_v1."""
    from balance.app.terminal import console
    from balance.studies.protocols.scoreboard import entry_tree, write_entry

    for entrant in study.entrants:
        path = write_entry(entry_tree(study, entrant), folder)
        console.print(f"Entry of the scoreboard: {path}", highlight=False, soft_wrap=True)


def _report(board: Path | None, page: Path, pdf: bool) -> None:
    """Write the page of the scoreboard and its figures."""
    from balance.app.terminal import console
    from balance.studies.protocols.scoreboard import FOLDER
    from balance.studies.protocols.scoreboard_page import write_page

    entries = write_page(board or FOLDER, page, pdf)
    text = f"{len(entries)} entries; written to {page} and {page.parent / 'figures'}"
    console.print(text, highlight=False, soft_wrap=True)


def _side_by_side(
    robot: str,
    law: list[str] | None,
    engine: str,
    out: Path | None,
    workers: int | None,
    robots: list[Path],
    pdf: bool,
) -> None:
    """Run DYSTURBANCE's five tests for all laws; one table, one figure."""
    from balance.app.terminal import console, plain_table
    from balance.studies.protocols.side_by_side import run_side_by_side, table

    folder = out or Path("results") / f"{SIDE_BY_SIDE}-{Path(robot).stem}-{engine}"
    values = run_side_by_side(
        robot, _laws(law or ["all"]), engine, folder, "frontal", workers, robots, pdf, console
    )
    console.print(plain_table(*table(values)))
    console.print(f"Written to {folder}", highlight=False, soft_wrap=True)
