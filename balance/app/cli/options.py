"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from balance.errors import BalanceError

ConfigArgument = Annotated[
    str, typer.Argument(metavar="CONFIG", help="A YAML file, or the name of a shipped config.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY.PATH=VALUE", help="Override a key of the config."),
]
RobotsOption = Annotated[
    list[Path] | None,
    typer.Option("--robots", metavar="DIR", help="Folder of robot YAML files, searched first."),
]
OutOption = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Result folder.")]
OverwriteOption = Annotated[
    bool, typer.Option("--overwrite", help="Replace an existing result of balance.")
]
PdfOption = Annotated[bool, typer.Option("--pdf", help="Write vector figures (PDF) as well.")]


@contextmanager
def about(path: Path) -> Iterator[None]:
    """Say which file an error is about, if it does not say so itself."""
    try:
        yield
    except BalanceError as error:
        if str(path) not in str(error):
            error.args = (f"{path}: {error}",)
        raise
