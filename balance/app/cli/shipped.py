"""The command ``balance list``: what ships with the package and can be run by its name."""

from __future__ import annotations

from typing import Annotated

import typer

from balance.app.cli.options import first_line


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("list")(list_shipped)


def list_shipped(
    containing: Annotated[
        str, typer.Argument(metavar="WORD", help="Only those with this word in name or text.")
    ] = "",
) -> None:
    """List the experiments and studies that ship, each with its first line and its command."""
    from balance.app.cli.check import kind_of
    from balance.app.terminal import console, plain_table
    from balance.config.paths import data_folder
    from balance.config.schema import load_yaml_mapping

    folder = data_folder("configs")
    rows = []
    for path in (*sorted(folder.glob("*.yaml")), *sorted(folder.glob("studies/*.yaml"))):
        kind = kind_of(load_yaml_mapping(path))
        command, text = "run" if kind == "experiment" else kind, first_line(path)
        if containing.lower() in f"{path.stem} {text}".lower():
            rows.append([f"balance {command} {path.stem}", text])
    console.print(plain_table(("command", "what it shows"), rows, numbers=False))
