"""What the command line shows: progress, and tables of results and robots."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from balance.config import ReferenceConfig
from balance.config.quantity import Column, Shown
from balance.errors import BalanceError
from balance.experiment import Progress as ProgressCallback
from balance.recordings.limiting import law_failures
from balance.recordings.own_quantities import OwnValue
from balance.recordings.recording import Recording
from balance.recordings.reference import published
from balance.recordings.summary import columns_shown, flatten
from balance.robots import Robot, load_robot, robot_files
from balance.robots.card import shape_of
from balance.robots.shapes.robot_shapes import shapes_in_words

SHOWN_PUSHES = 4
PIPE_WIDTH = 110  # columns, where no terminal says how wide it is

# Rich knows how wide a terminal is, and obeys COLUMNS.
KNOWN_WIDTH = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
console = Console(width=None if KNOWN_WIDTH else PIPE_WIDTH)

COMPILING = "compiling (extra fast), up to a minute; the next run finds it done"
OUTCOME_STYLE = {"recovered": "bold green", "upright": "yellow", "fell": "red", "aborted": "red"}


@contextmanager
def progress_bar(duration_s: float) -> Iterator[ProgressCallback]:
    """A bar that shows simulated time and how it compares with real time."""
    with Progress(
        TextColumn("simulating"),
        BarColumn(),
        TextColumn("{task.completed:6.2f} of {task.total:g} s"),
        TextColumn("{task.fields[factor]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as bar:
        task = bar.add_task("", total=duration_s, factor="")

        def update(simulated: float, wall: float) -> None:
            factor = f"{simulated / wall:.2f} x real time" if wall > 0.5 else ""
            bar.update(task, completed=simulated, factor=factor)

        yield update


@cache
def tell_compiling() -> None:
    """Have it said, once, when functions are compiled in this process: the first run is slow."""
    from balance.dynamics.compiled import NUMBA

    if NUMBA is None:
        return
    events = NUMBA.core.event

    class Teller(events.Listener):  # type: ignore[name-defined]
        def on_start(self, event: Any) -> None:
            if not self.told:
                self.told = True
                console.print(COMPILING, highlight=False)

        def on_end(self, event: Any) -> None:
            """Nothing to say."""

        told = False

    events.register("numba:compile", Teller())


def result_table(recording: Recording) -> Table:
    """Summary of a run, with a published column beside ours where the config has one."""
    summary = recording.summary()
    reference = published(recording)
    verdict = summary["outcome"]
    title = f"{recording.robot.name}, law {summary['law']}: {verdict}"
    if summary["cause"]:
        title += f" at {summary['time_of_fall_s']:.2f} s" if summary["time_of_fall_s"] else ""
        title += f" ({summary['cause']})"
    title = escape(title)
    table = Table(title=title, title_style=OUTCOME_STYLE[verdict], title_justify="left")
    if failures := law_failures(recording):
        table.caption = escape(f"{failures}: {recording.conflict}")
        table.caption_style, table.caption_justify = "red", "left"
    table.add_column("quantity")
    table.add_column("ours", justify="right")
    if reference:
        table.add_column(reference.name, justify="right")
    for column, label, value in result_rows(summary, recording.own):
        row = [escape(label), escape(value)]
        if reference:
            row.append(published_text(reference, column))
        table.add_row(*row)
    return table


def published_text(reference: ReferenceConfig, column: Column | None) -> str:
    """The published value of a column, with the digits that it has, in the column's unit.

    That of a quantity with parts is that of its first one.
    """
    if column is None or column.name != column.quantity.columns[0].name:
        return ""
    value = reference.values.get(column.quantity.key)
    return "" if value is None else f"{column.quantity.scale * value:g}"


def plain_table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: bool = True) -> Table:
    """A table without lines; all columns but the first are numbers, or text."""
    table = Table(box=None, pad_edge=False)
    for index, name in enumerate(head):
        table.add_column(escape(name), justify="right" if index and numbers else "left")
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def result_rows(
    summary: dict[str, Any], own: Sequence[OwnValue] = ()
) -> list[tuple[Column | None, str, str]]:
    """Column of the summary if it is one, label with unit, and value as text."""
    values, rows = flatten(summary), list[tuple[Column | None, str, str]]()
    notes = {one.quantity.key: one.note for one in own}
    many = len(summary["pushes"]) > 1
    for column in columns_shown(Shown.TERMINAL, [one.quantity for one in own]):
        if column.name not in values:
            continue  # of a signal that this run does not have
        if many and column.quantity.group == "push":
            rows += _push_rows(summary, column)
        else:
            text = notes.get(column.name) or column.cell(values[column.name])
            rows.append((column, column.title, text))
    return rows


def _push_rows(summary: dict[str, Any], column: Column) -> list[tuple[Column | None, str, str]]:
    """Of several pushes: a figure of each of the first few, and the largest."""
    pushes = summary["pushes"]
    rows: list[tuple[Column | None, str, str]] = [
        (None, f"push {number}, {push['body']}: {column.title}", column.number(push[column.name]))
        for number, push in enumerate(pushes[:SHOWN_PUSHES], 1)
    ]
    label = f"strongest of {len(pushes)} pushes: {column.title}"
    return [*rows, (column, label, column.number(summary[column.name]))]


# Title of each column of the table of robots, how it is aligned, and the width from which on a
# terminal has room for it.
ROBOT_COLUMNS: tuple[tuple[str, JustifyMethod, int], ...] = (
    ("robot", "left", 0),
    ("mass [kg]", "right", 0),
    ("joints", "right", 0),
    ("height [m]", "right", 70),
    ("CoM height [m]", "right", 80),
    ("soles [m]", "left", 80),
    ("bodies", "left", 100),
    ("description", "left", 0),
)


def robot_table(folders: Sequence[Path], width: int) -> Table:
    """Name, size and soles of every known robot; an unusable one shows its error."""
    table = Table()
    shown = [index for index, column in enumerate(ROBOT_COLUMNS) if width >= column[2]]
    for index in shown:
        name, justify, _ = ROBOT_COLUMNS[index]
        table.add_column(escape(name), justify=justify, no_wrap=index == 0, overflow="fold")
    for name, path in sorted(robot_files(folders).items()):
        try:
            cells = _robot_cells(name, load_robot(path))
            table.add_row(*(escape(cells[index]) for index in shown))
        except BalanceError as error:
            blank = [""] * (len(shown) - 2)
            table.add_row(escape(name), *blank, escape(str(error)), style="red")
    return table


def _robot_cells(name: str, robot: Robot) -> list[str]:
    soles = sorted({shape_of(sole) for sole in robot.soles})
    return [
        name,
        f"{robot.mass:.1f}",
        str(robot.model.nv - 6),
        f"{robot.height():.2f}",
        f"{robot.com()[2]:.3f}",
        f"{len(robot.soles)} of {', '.join(soles)}",
        shapes_in_words(robot),
        robot.description,
    ]
