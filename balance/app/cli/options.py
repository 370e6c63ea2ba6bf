"""Arguments and options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from balance.errors import BalanceError

if TYPE_CHECKING:
    from balance.recordings.outputs import Kind, Output


def shipped_configs(incomplete: str) -> list[tuple[str, str]]:
    """What a shell offers for an experiment: names that ship, each with its first line."""
    return _shipped("", incomplete)


def shipped_studies(incomplete: str) -> list[tuple[str, str]]:
    """The same for a study."""
    return _shipped("studies", incomplete)


def _shipped(below: str, incomplete: str) -> list[tuple[str, str]]:
    from balance.config.paths import data_folder

    found = sorted((data_folder("configs") / below).glob(f"{incomplete}*.yaml"))
    return [(path.stem, first_line(path)) for path in found]


def first_line(path: Path) -> str:
    """The first sentence of the comment that a YAML file begins with, without its end."""
    words: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#") or line.strip() == "#":
            break
        words.append(line.removeprefix("#").strip())
    return re.split(r"(?<=[^.])[.:?](?:\s|$)", " ".join(words), maxsplit=1)[0]


ConfigArgument = Annotated[
    str,
    typer.Argument(
        metavar="CONFIG",
        help="A YAML file, or the name of a shipped config.",
        autocompletion=shipped_configs,
    ),
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
TrustOption = Annotated[
    bool,
    typer.Option("--trust", help="Run the code that the config of a result names: you read it."),
]
PdfOption = Annotated[bool, typer.Option("--pdf", help="Write vector figures (PDF) as well.")]


def claimed(out: Path | None, name: str, kind: Kind, overwrite: bool = False) -> Output:
    """The folder ``--out``, or the first free one of ``results/name``, ``results/name-2``, ..."""
    from balance.recordings.outputs import Output, claim_free

    return claim_free(Path("results") / name, kind) if out is None else Output(out, kind, overwrite)


def tell_code(code: Mapping[str, str] | None) -> None:
    """Say which code of the user's own takes part."""
    from balance.app.terminal import console
    from balance.config.user_code import said

    for line in said(code):
        console.print(line, highlight=False, soft_wrap=True)


@contextmanager
def about(path: Path) -> Iterator[None]:
    """Say which file an error is about, if it does not say so itself."""
    try:
        yield
    except BalanceError as error:
        if str(path) not in str(error):
            error.args = (f"{path}: {error}",)
        raise
