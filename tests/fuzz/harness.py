"""Runs one mutant through the command, in this process, without simulating anything."""

from __future__ import annotations

import contextlib
import io
import os
import random
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from fuzz.kinds import KINDS
from typer.main import get_command

from balance.app.cli import app, main
from balance.robots import Robot, load_robot


class _AcceptedError(Exception):
    """The input passed every check: the command would start to work now."""


@dataclass(frozen=True)
class Verdict:
    """What the command said about a mutant; ``complaint`` is empty if that is as promised."""

    index: int
    kind: str
    arguments: tuple[str, ...]
    code: int | None
    message: str
    complaint: str


def kind_of(index: int) -> str:
    """The kind of a mutant, by its number alone: every one can be made again."""
    turns = [name for name, (_, share) in KINDS.items() for _ in range(share)]
    return turns[index % len(turns)]


def try_mutant(index: int, seed: int = 0) -> Verdict:
    """Make the mutant of this number and give it to the command."""
    kind = kind_of(index)
    rng = random.Random(f"{seed} {index}")
    with tempfile.TemporaryDirectory(prefix="fuzz") as scratch:
        folder = Path(scratch)
        arguments = KINDS[kind][0](rng, folder)
        before = _snapshot(folder)
        code, message, crash = _call(arguments, folder)
        touched = sorted(set(_snapshot(folder).items()) ^ set(before.items()))
    complaint = crash
    if not crash and code == 2:
        complaint = _judge_refusal(kind, message, [name for name, _ in touched])
    elif not crash and code != 0:
        complaint = f"exit code {code}"
    return Verdict(index, kind, tuple(arguments), code, message, complaint)


def _judge_refusal(kind: str, message: str, touched: list[str]) -> str:
    lines = message.strip().splitlines()
    if touched:
        return f"refused, but touched {touched[0]}"
    if lines and lines[0].startswith("Usage: "):
        return ""
    if not lines or not lines[0].startswith("balance: "):
        return "refused without a sentence"
    if any(not line.startswith("  ") for line in lines[1:]):  # a list may follow: known laws
        return "refused with more than one sentence"
    # A robot may also be refused because the experiment does not fit it.
    fits = ("mine.yaml", "toro_push.yaml")
    files = {"robot": fits, "urdf": fits, "result folder": ("run",)}
    unnamed = kind in ("command line", "study folder")
    names = files.get(kind, ("",) if unnamed else (f"{kind}.yaml",))
    if not any(name in message for name in names):
        return f"the sentence does not name the file {names[0]}"
    return ""


def _snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file below a folder with its size and time of change."""
    found = {}
    for root, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(root) / name
            status = path.lstat()
            size = 0 if path.is_dir() else status.st_size
            found[str(path.relative_to(folder))] = (size, status.st_mtime_ns if size else 0)
    return found


def _call(arguments: list[str], folder: Path) -> tuple[int | None, str, str]:
    """Exit code, what went to stderr, and the last lines of a traceback if there was one."""
    errors = io.StringIO()
    here = Path.cwd()
    os.chdir(folder)
    try:
        with (
            _nothing_runs(),
            contextlib.redirect_stderr(errors),
            mock.patch.object(sys, "argv", ["balance", *arguments]),
            contextlib.redirect_stdout(io.StringIO()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("error", RuntimeWarning)
            main()
    except SystemExit as end:
        return (end.code if isinstance(end.code, int) else 1), errors.getvalue(), ""
    except _AcceptedError:
        return 0, errors.getvalue(), ""
    except BaseException as error:  # noqa: BLE001 - whatever escapes is what is looked for
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        return None, errors.getvalue(), f"{type(error).__name__} at {place}: {str(error)[:200]}"
    finally:
        os.chdir(here)
    return 0, errors.getvalue(), ""


@contextlib.contextmanager
def _nothing_runs() -> Iterator[None]:
    """Commands stop where they would begin to simulate, draw or compute."""

    def accepted(*arguments: object, **options: object) -> None:
        raise _AcceptedError

    def read_only(recordings: object, *arguments: object) -> None:
        for recording in recordings if isinstance(recordings, list) else [("", recordings)]:
            recording[1].summary()
        raise _AcceptedError

    with contextlib.ExitStack() as stack:
        for place in (
            "balance.experiment.Experiment.run",
            "balance.studies.session._run",
            "balance.studies.tuning.study.Tuning.resume",
            "balance.analysis.theory.residual_table",
            "balance.app.live.server.open_server",
            "balance.app.live.export.export_html",
            "balance.analysis.linear.explain.explain",
            "balance.analysis.bench.run.bench",
        ):
            stack.enter_context(mock.patch(place, accepted))
        for place in ("balance.plots.draw_run", "balance.plots.draw_overlay"):
            stack.enter_context(mock.patch(place, read_only))
        # Every cell of a study is checked, which takes a while if there are millions.
        stack.enter_context(mock.patch("balance.studies.axes.MAX_CELLS", 500))
        # Measuring a robot takes reading all its meshes.
        stack.enter_context(mock.patch("balance.robots.Robot.height", return_value=1.0))
        # What is the same for every mutant is made once.
        stack.enter_context(mock.patch("balance.app.cli.app", _command()))
        stack.enter_context(mock.patch("balance.robots.shared.load_robot", _load_robot))
        yield


@cache
def _command() -> Any:
    return get_command(app)


@cache
def _shipped_robot(name: str) -> Robot:
    return load_robot(name)


def _load_robot(name: str | Path, folders: Sequence[Path] = ()) -> Robot:
    shipped = name in ("toro", "talos", "icub", "g1") and not folders
    return _shipped_robot(str(name)) if shipped else load_robot(name, folders)
