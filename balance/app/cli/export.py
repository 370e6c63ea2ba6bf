"""The command ``balance export``: a recording for other programs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from balance.app.cli.options import RobotsOption


class To(StrEnum):
    """The formats; a test holds them equal to those of the recordings."""

    MCAP = "mcap"
    RERUN = "rerun"
    CSV = "csv"
    NPZ = "npz"


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(export)


def export(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result folder.")],
    to: Annotated[
        To,
        typer.Option(
            "--to", help="mcap for Foxglove, rerun for Rerun, csv or npz for anything else."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The file (default: RESULT/recording.*)."),
    ] = None,
    robots: RobotsOption = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file if it exists.")
    ] = False,
) -> None:
    """Write a run for Foxglove, Rerun, a spreadsheet or NumPy: the same numbers, every bit."""
    from balance.app.terminal import console
    from balance.recordings.export import FORMATS
    from balance.recordings.export import export as write
    from balance.recordings.results import load_recording

    chosen = FORMATS[to.value]
    chosen.check_extra()  # before a long log is read
    recording = load_recording(result, robots or [])
    path = write(recording, out or result / f"recording{chosen.suffix}", to.value, overwrite)
    size = path.stat().st_size / 1e6
    console.print(f"{path}: {size:.1f} MB, {chosen.text}", highlight=False, soft_wrap=True)
