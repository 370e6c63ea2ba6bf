"""The command ``balance robots``: those that are known, and a first file for a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from balance.app.cli.options import RobotsOption
from balance.errors import FileError

LEAST_PUSH_NS = 0.01


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(robots)


def robots(
    robots: RobotsOption = None,
    new: Annotated[
        Path | None,
        typer.Option("--new", metavar="URDF", help="Write a first file for this URDF or MJCF."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The file that --new writes.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file of --new if it exists.")
    ] = False,
) -> None:
    """List the robots that can be balanced, or write a first file for a new one."""
    from balance.app.terminal import console, robot_table

    if new is not None:
        _new_robot(new, out, overwrite)
        return
    if out is not None:
        raise FileError("--out is for the file that --new writes; give --new URDF as well")
    console.print(robot_table(robots or [], console.width))


def _new_robot(urdf: Path, out: Path | None, overwrite: bool) -> None:
    """Guess, write, say what was guessed, and try it."""
    import os

    import numpy as np

    from balance.app.terminal import console
    from balance.recordings.metrics import ankle_limit
    from balance.recordings.outputs import Output
    from balance.robots import load_robot
    from balance.robots.guess import guess_robot, robot_yaml

    if not os.path.isfile(urdf):
        raise FileError(f"the URDF {urdf} does not exist")
    guess = guess_robot(urdf)
    path = out or Path(f"{guess.keys['name']}.yaml")
    text = robot_yaml(guess, os.path.relpath(urdf.absolute(), path.absolute().parent))
    with Output(path, None, overwrite) as output, output.filling() as file:
        file.write_text(text, encoding="utf-8")
    console.print(f"Written to {path}; guessed:", highlight=False, soft_wrap=True)
    for note in guess.notes:
        console.print(f"- {note}", highlight=False)
    robot = load_robot(path.absolute())
    text = f"It stands, {robot.mass:.1f} kg, CoM {robot.com()[2]:.3f} m high. "
    limit = ankle_limit(robot, np.array([0.0, 1.0, 0.0]))
    if 0.3 * limit < LEAST_PUSH_NS:
        text += "It has no width to stand on: no law here holds it against a push from the side."
    else:
        text += (
            f"Push it:\n  balance run g1_push --set robot={path} "
            f"--set controller.law=whole_body_qp --set pushes.0.impulse_Ns={0.3 * limit:.3g}"
        )
    console.print(text, highlight=False, soft_wrap=True)
