"""The command ``balance limit``: the largest push that any law could recover."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from balance.app.cli.options import OutOption, OverwriteOption, PdfOption, RobotsOption, claimed

if TYPE_CHECKING:
    from rich.table import Table

    from balance.analysis.limits.table import LimitTable
    from balance.robots import Robot

MOST_DIRECTIONS = 360
ALL_BINDING_WIDTH = 100  # characters from which on a terminal has room for all that binds


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(limit)


def limit(
    robot: Annotated[
        str, typer.Argument(metavar="ROBOT", help="The name of a robot, or its YAML file.")
    ],
    steps: Annotated[
        int | None,
        typer.Option("--steps", metavar="N", help="Up to N steps; 2 unless given, 0 off two feet."),
    ] = None,
    directions: Annotated[
        str,
        typer.Option(
            "--directions",
            metavar="N|DEG,DEG,...",
            help="So many all round, or azimuths in degrees, 0 forwards and 90 to the left.",
        ),
    ] = "16",
    height: Annotated[
        float | None,
        typer.Option("--height", metavar="M", help="Of the push; that of the push body if not."),
    ] = None,
    duration: Annotated[
        float, typer.Option("--duration", metavar="S", help="Of the push, s.")
    ] = 0.0,
    friction: Annotated[
        float | None, typer.Option("--friction", help="Of the ground; the plant's default if not.")
    ] = None,
    out: OutOption = None,
    robots: RobotsOption = None,
    overwrite: OverwriteOption = False,
    pdf: PdfOption = False,
) -> None:
    """Compute the largest push that any law could recover, and which bound of the robot binds."""
    import json
    import math

    import numpy as np
    from rich.progress import track
    from threadpoolctl import threadpool_limits

    from balance.analysis.limits.recovery import check_question
    from balance.analysis.limits.table import limit_table, limits_to
    from balance.app.terminal import console
    from balance.plots.limits import limit_figure
    from balance.plots.style import save
    from balance.recordings.metrics import ankle_limit
    from balance.recordings.outputs import LIMIT
    from balance.robots import load_robot
    from balance.robots.capability.capability import FRICTION

    def ankle_Ns(azimuth_deg: float) -> float:
        angle = math.radians(azimuth_deg)
        return ankle_limit(loaded, np.array([math.cos(angle), math.sin(angle)]))

    azimuths = azimuths_of(directions)
    loaded = load_robot(robot, robots or [])
    count = default_steps(loaded) if steps is None else steps
    mu = FRICTION if friction is None else friction
    check_question(loaded, count, height, duration, mu)
    with claimed(out, f"{loaded.name}-limit", LIMIT, overwrite) as output:
        with threadpool_limits(1):
            answers = limits_to(
                loaded, azimuths, count, height_m=height, duration_s=duration, friction=mu
            )
            shown = track(answers, "directions", len(azimuths), console=console, transient=True)
            found = limit_table(loaded, shown, height_m=height, duration_s=duration, friction=mu)
        console.print(printed(found, console.width))
        with output.filling() as folder:
            text = json.dumps(found.as_dict(), indent=2) + "\n"
            (folder / "limit.json").write_text(text, encoding="utf-8")
            figures = save(limit_figure(found, ankle_Ns, loaded.name), folder, "limit", pdf)
    names = ", ".join(["limit.json", *(file.name for file in figures)])
    console.print(f"Written to {output.path}: {names}", highlight=False, soft_wrap=True)


def azimuths_of(text: str) -> list[float]:
    """The azimuths that ``--directions`` asks for, degrees."""
    from balance.errors import InputError

    wrong = InputError(
        f"--directions is '{text}'; give a whole number from 1 to {MOST_DIRECTIONS}, that many "
        "directions all round, or azimuths in degrees with a comma between them, as in 0,45,90"
    )
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 1 and parts[0].isdigit():
        count = int(parts[0]) if len(parts[0]) < 5 else 0
        if not 1 <= count <= MOST_DIRECTIONS:
            raise wrong
        return [360.0 * i / count for i in range(count)]
    try:
        azimuths = [float(part) for part in parts if part]
    except ValueError:
        raise wrong from None
    if not 1 <= len(azimuths) <= MOST_DIRECTIONS or any(not abs(a) <= 360.0 for a in azimuths):
        raise wrong
    return azimuths


def default_steps(robot: Robot) -> int:
    """Two for a robot on two feet, none for others."""
    from balance.robots.support_polygon import feet

    return 2 if len(feet(robot)) == 2 else 0


def printed(found: LimitTable, width: int) -> Table:
    """Ankle limit, limits, and what binds the one without a step: most of all if it is narrow."""
    from rich.markup import escape
    from rich.table import Table

    title = (
        f"{found.robot}: largest push that any law could recover, {found.height_m:.2f} m above the "
        f"ground, friction {found.friction:g}"
    )
    table = Table(title=escape(title), title_justify="left")
    table.add_column(escape("to [°]"), justify="right", min_width=5, overflow="fold")
    table.add_column(escape("ankle limit [N s]"), justify="right", min_width=5)
    for steps in range(len(found.directions[0].limits)):
        words = ("no step", "1 step")[steps] if steps < 2 else f"{steps} steps"
        table.add_column(f"{words}, / ankle", justify="right", min_width=7)
    wide = width >= ALL_BINDING_WIDTH
    table.add_column("without a step bound by" if wide else "first bound most by", overflow="fold")
    for one in found.directions:
        cells = [f"{one.azimuth_deg:g}", f"{one.ankle_limit_Ns:.1f}"]
        cells += [f"{limit.impulse_Ns:.1f}, {limit.fraction:.2f}" for limit in one.limits]
        first = one.limits[0]
        named = first.binding if wide else first.binding[:1]
        binding = [f"{name} {100 * first.shares[name]:.0f} %" for name in named]
        table.add_row(*cells, ", ".join(binding))
    return table
