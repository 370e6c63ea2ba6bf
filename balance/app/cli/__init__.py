"""The command ``balance``.  Heavy imports wait until a command needs them."""

from __future__ import annotations

import re
import signal
import sys
from contextlib import suppress
from typing import Annotated

import typer

from balance.app.cli import (
    bench,
    check,
    experiments,
    explain,
    export,
    limit,
    live,
    protocol,
    robots,
    shipped,
    studies,
)
from balance.errors import BalanceError, is_interrupt

app = typer.Typer(
    help="Push a humanoid and see whether it stays on its feet.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from balance import __version__

        print(f"balance {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Push a humanoid and see whether it stays on its feet."""


for group in (
    experiments,
    robots,
    shipped,
    check,
    studies,
    live,
    export,
    explain,
    limit,
    bench,
    protocol,
):
    group.register(app)


LACKING = re.compile(r"(lib[\w+-]+)\.so\.(\d+)(?=\S*: cannot open shared object file)")
INTERRUPTED = 130  # what typer makes of Ctrl-C, without a word


def main() -> None:
    """Entry point: one sentence and exit code 2 for what the user got wrong.

    A termination signal is taken for Ctrl-C: what is running ends in order and keeps what it has.
    """
    with suppress(ValueError):  # not the main thread: nothing to be done
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        code = app(standalone_mode=False) or 0
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(code)
    except BalanceError as error:
        print(f"balance: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except typer.Exit as error:
        sys.exit(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        print("balance: interrupted", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(1)
    except ImportError as error:
        if (library := LACKING.match(str(error))) is None:
            raise
        package, debian = (error.name or "a package").split(".")[0], "".join(library.groups())
        print(
            f"balance: {package} needs the library {library[0]}, which this system lacks; "
            f"on Debian, as a rule: apt install {debian.lower()}",
            file=sys.stderr,
        )
        sys.exit(1)
    except Exception as error:  # click's usage errors carry their own message
        if hasattr(error, "format_message"):
            message = error.format_message().replace("Value error, ", "")
            prefix = "" if message.startswith("Usage:") else "balance: "
            print(f"{prefix}{message}", file=sys.stderr)
            sys.exit(2)
        if is_interrupt(error):
            print("balance: interrupted", file=sys.stderr)
            sys.exit(1)
        raise
