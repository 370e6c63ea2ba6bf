"""Polar plot of a robot's recovery limits: ankles, hips and arms, and steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.projections.polar import PolarAxes

from balance.plots.envelope import ANKLE_LINE, AROUND_DEG, round_axes
from balance.plots.style import NARROW, RUN_COLOURS, WIDE, new_figure, styled

if TYPE_CHECKING:
    from balance.analysis.limits.table import LimitTable

NAMES = ("no step: ankles, hips and arms", "one step", "two steps")


def limit_figure(table: LimitTable, ankle_Ns: Callable[[float], float], title: str) -> Figure:
    """The ankle limit and a curve for each number of steps, N s.

    ``ankle_Ns(azimuth_deg)`` is the ankle limit to any side.
    """
    with styled():
        figure = new_figure(NARROW, 4.4)
        axes = figure.add_subplot(projection="polar")
        assert isinstance(axes, PolarAxes)
        round_axes(axes)
        angles = [one.azimuth_deg for one in table.directions]
        ankle = [ankle_Ns(azimuth) for azimuth in AROUND_DEG]
        axes.plot(np.radians(AROUND_DEG), ankle, label="ankle limit", **ANKLE_LINE)
        count = min((len(one.limits) for one in table.directions), default=0)
        for steps in range(count):
            values = [one.limits[steps].impulse_Ns for one in table.directions]
            name = NAMES[steps] if steps < len(NAMES) else f"{steps} steps"
            # Where another step adds nothing, the curve below shows beside the one above.
            look = {"color": RUN_COLOURS[steps], "lw": 2.0 - 0.4 * min(steps, 2)}
            _curve(axes, angles, values, label=name, marker=".", ms=3, **look)
        axes.set_rmin(0.0)
        where = f"{table.height_m:.2f} m above the ground"
        text = f"{title}: largest push that any law could recover [N s],\n{where}"
        figure.suptitle(text, x=0.01, ha="left", parse_math=False)
        figure.legend(loc="outside lower left", ncols=2)
    return figure


def _curve(axes: PolarAxes, azimuths: list[float], values: list[float], **look: Any) -> None:
    """A curve in order of azimuth, closed if it goes all round."""
    order = np.argsort(np.mod(azimuths, 360.0))
    angle, value = np.mod(azimuths, 360.0)[order], np.array(values)[order]
    if len(angle) > 2 and np.diff(np.append(angle, angle[0] + 360.0)).max() < 180.0:
        angle, value = np.append(angle, angle[0] + 360.0), np.append(value, value[0])
    axes.plot(np.radians(angle), value, **look)


@dataclass(frozen=True)
class Measured:
    """A robot's limit without a step and what laws recovered, by azimuth in degrees, N s."""

    robot: str
    limit_Ns: Mapping[float, float]
    laws: Mapping[str, Mapping[float, float]]


def measured_figure(panels: Sequence[tuple[Measured, Callable[[float], float]]]) -> Figure:
    """What laws recovered beside the limit and the ankle limit, a panel for each robot.

    Each comes with ``ankle_Ns(azimuth_deg)``, its ankle limit to any side.
    """
    with styled():
        columns = min(3, len(panels))
        rows = -(-len(panels) // columns)
        figure = new_figure(WIDE, 2.6 * rows + 0.5)
        names = list(dict.fromkeys(name for one, _ in panels for name in one.laws))
        for number, (one, ankle_Ns) in enumerate(panels):
            axes = figure.add_subplot(rows, columns, number + 1, projection="polar")
            assert isinstance(axes, PolarAxes)
            round_axes(axes)
            once = "" if number == 0 else "_"  # a name that begins so is not in the legend
            ankle = [ankle_Ns(azimuth) for azimuth in AROUND_DEG]
            axes.plot(np.radians(AROUND_DEG), ankle, label=f"{once}ankle limit", **ANKLE_LINE)
            look = {"color": RUN_COLOURS[0], "lw": 1.6, "label": f"{once}limit without a step"}
            _measured_curve(axes, one.limit_Ns, **look)
            for name, colour in zip(names, RUN_COLOURS[1:], strict=False):
                if one.laws.get(name):
                    look = {"color": colour, "lw": 1.0, "marker": ".", "ms": 4}
                    _measured_curve(axes, one.laws[name], label=f"{once}{name}", **look)
            axes.set_rmin(0.0)
            axes.set_rlabel_position(-45.0)  # laws are often measured on the left alone
            axes.set_title(one.robot)
        figure.suptitle("Largest push recovered [N s]", x=0.01, ha="left")
        figure.legend(loc="outside lower left", ncols=3)
    return figure


def _measured_curve(axes: PolarAxes, values: Mapping[float, float], **look: Any) -> None:
    _curve(axes, list(values), list(values.values()), **look)
