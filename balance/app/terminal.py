"""What the command line shows: progress, and tables of results and robots."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from balance.errors import BalanceError
from balance.experiment import Progress as ProgressCallback
from balance.recordings.recording import Recording
from balance.recordings.reference import published
from balance.robots import load_robot, robot_files
from balance.robots.contacts import ContactSurface

SHOWN_PUSHES = 4
PIPE_WIDTH = 110  # columns, where no terminal says how wide it is

console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)

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
    table.add_column("quantity")
    table.add_column("ours", justify="right")
    if reference:
        table.add_column(reference.name, justify="right")
    for key, label, value in result_rows(summary):
        row = [escape(label), value]
        if reference:
            value_there = reference.values.get(key)
            row.append("" if value_there is None else f"{value_there:g}")
        table.add_row(*row)
    return table


def result_rows(summary: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Key in the summary, label with unit, and value as text."""

    def seconds(value: float | None) -> str:
        return "not settled" if value is None else f"{value:.2f}"

    com, rotation = summary["settling_time_s"], summary["rotation_settling_time_s"]
    step = summary["control_step_us"]
    return [
        ("peak_com_error_m", "CoM, largest error [m]", f"{summary['peak_com_error_m']:.4f}"),
        ("settling_time_s", "CoM, settling time, 10 % [s]", seconds(com["10"])),
        ("", "CoM, settling time, 5 % and 2 % [s]", f"{seconds(com['5'])}, {seconds(com['2'])}"),
        ("peak_rotation_rad", "hip rotation, largest [rad]", f"{summary['peak_rotation_rad']:.3f}"),
        ("rotation_settling_time_s", "hip rotation, settling, 10 % [s]", seconds(rotation["10"])),
        (
            "peak_linear_momentum",
            "linear momentum, largest [kg m/s]",
            f"{summary['peak_linear_momentum']:.2f}",
        ),
        (
            "peak_angular_momentum",
            "angular momentum, largest [kg m²/s]",
            f"{summary['peak_angular_momentum']:.2f}",
        ),
        *_push_rows(summary),
        (
            "",
            "sole lift, slip [mm]",
            f"{1e3 * summary['max_sole_lift_m']:.2f}, {1e3 * summary['max_sole_slip_m']:.2f}",
        ),
        ("", "control step, median and p99 [µs]", f"{step['median']:.0f}, {step['p99']:.0f}"),
        ("", "simulated / real time", f"{summary['realtime_factor']:.2f}"),
    ]


def _push_rows(summary: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The impulse of each push; of several, the first few."""
    pushes = summary["pushes"]
    if len(pushes) < 2:
        share = f"{summary['ankle_limit_fraction']:.2f}"
        return [
            ("impulse_Ns", "impulse delivered [N s]", f"{summary['impulse_Ns']:.2f}"),
            ("ankle_limit_fraction", "impulse / ankle limit", share),
        ]
    rows = [
        (
            "",
            f"push {number}, {push['body']}: impulse [N s], / ankle limit",
            f"{push['impulse_Ns']:.2f}, {push['ankle_limit_fraction']:.2f}",
        )
        for number, push in enumerate(pushes[:SHOWN_PUSHES], 1)
    ]
    largest = f"{summary['ankle_limit_fraction']:.2f}"
    label = f"largest of {len(pushes)} pushes / ankle limit"
    return [*rows, ("ankle_limit_fraction", label, largest)]


def robot_table(folders: Sequence[Path]) -> Table:
    """Name, size and soles of every known robot; an unusable one shows its error."""
    table = Table()
    for name in ("robot", "mass [kg]", "joints", "height [m]", "CoM height [m]", "soles [m]"):
        if name in ("robot", "soles [m]"):
            table.add_column(escape(name))
        else:
            table.add_column(escape(name), justify="right")
    table.add_column("description")
    for name, path in sorted(robot_files(folders).items()):
        try:
            robot = load_robot(path)
            soles = {_shape(sole) for sole in robot.soles}
            table.add_row(
                name,
                f"{robot.mass:.1f}",
                str(robot.model.nv - 6),
                f"{robot.height():.2f}",
                f"{robot.com()[2]:.3f}",
                f"{len(robot.soles)} of {', '.join(sorted(soles))}",
                robot.description,
            )
        except BalanceError as error:
            table.add_row(name, *[""] * 5, escape(str(error)), style="red")
    return table


def _shape(sole: ContactSurface) -> str:
    """What a sole touches with, in words."""
    size = f"{2 * sole.half_length:.3f} x {2 * sole.half_width:.3f}"
    if len(sole.points) == 1:
        return "one point"
    return f"{size} with {len(sole.points)} points" if sole.points else size
