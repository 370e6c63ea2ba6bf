"""One motion integrated with several bases: the trajectories, and what the steps leave between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from balance.plots.style import JOINT_COLOURS, QUIET_COLOUR

Array = NDArray[np.float64]


def base_choice_figure(
    time: Array,
    com: Mapping[str, Array],
    step_s: Sequence[float],
    gaps: Mapping[str, Sequence[float]],
    error: Sequence[float],
) -> Figure:
    """CoM of the coarsest runs over ``time`` (n,), and what lies between the bases over the step.

    ``com`` holds (n, 3) displacements in m per base.  For each of ``step_s``, ``gaps`` are the
    largest differences of a coordinate from the first base's run, and ``error`` is that of the
    first base itself from a finer run, rad or m.
    """
    figure = Figure(figsize=(8.2, 3.3), layout="constrained")
    FigureCanvasAgg(figure)
    motion, orders = figure.subplots(1, 2)
    colours = dict(zip(com, JOINT_COLOURS, strict=False))
    for k, (base, path) in enumerate(com.items()):
        # Each line is thinner than the one below it, so that all show.
        width = 7.0 - 1.4 * k
        motion.plot(time, 1e3 * path[:, 0], color=colours[base], lw=width, label=base)
        motion.plot(time, 1e3 * path[:, 2], color=colours[base], lw=width)
    motion.set(xlabel="time [s]", ylabel="CoM from its start [mm]")
    motion.set_title(f"forwards and upwards, steps of {1e3 * step_s[0]:g} ms", fontsize=9)
    motion.legend(frameon=False, fontsize=8, title="base", title_fontsize=8)

    step_ms = 1e3 * np.asarray(step_s)
    first = next(iter(com))
    orders.loglog(step_ms, error, "s-", ms=4, color=colours[first], label=f"error of base {first}")
    for base, values in gaps.items():
        label = f"{base} against {first}"
        orders.loglog(step_ms, values, "o-", ms=4, lw=1.0, color=colours[base], label=label)
    slope = 0.3 * error[0] * (step_ms / step_ms[0]) ** 4
    orders.loglog(step_ms, slope, "--", color=QUIET_COLOUR, lw=1.0, label="step⁴")
    orders.set(xlabel="step [ms]", ylabel="largest difference [rad, m]")
    orders.set_xticks(step_ms, [f"{value:g}" for value in step_ms], minor=False)
    orders.minorticks_off()
    orders.set_title("between the bases: less than the error of each", fontsize=9)
    orders.legend(frameon=False, fontsize=7)
    for axes in (motion, orders):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    return figure
