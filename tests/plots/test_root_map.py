"""The root map: each mode stands on the panel whose numbers are its own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from balance.plots.roots import SLOW, root_map
from balance.plots.style import AXIS_COLOURS

NAMES = ("CoM x", "CoM y", "CoM z", "rotation x", "rotation y", "rotation z")
SLOW_MODES = (-2.7 - 7.0j, -0.4 + 4.4j, -1.1 - 5.3j, -6.0 - 3.5j, -7.0 + 3.4j, -5.2 + 0.9j)


def explanation(modes: tuple[complex, ...]) -> Any:
    axes = [
        SimpleNamespace(name=name, mode=SimpleNamespace(s=s))
        for name, s in zip(NAMES, modes, strict=True)
    ]
    roots = np.array([*modes, *np.conj(modes)])
    return SimpleNamespace(
        robot="robot", law="law", stable=max(roots.real) < 0.0, roots=roots,
        continuous_roots=roots, axes=axes, period_s=0.001,
    )  # fmt: skip


def marks(axes: Axes) -> list[Line2D]:
    """The marks of the named modes: hollow, and in the colours of the axes."""
    lines = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    return [line for line in lines if line.get_color() in AXIS_COLOURS]


def outside(figure: Figure) -> list[tuple[float, float]]:
    """Where anything that is not clipped stands beyond its own panel."""
    found = []
    for axes in figure.axes:
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        for line in axes.lines:
            for x, y in np.array(line.get_data(orig=False)).T:
                inside = left <= x <= right and bottom <= y <= top
                if not inside and not line.get_clip_on():
                    found.append((float(x), float(y)))
    return found


@pytest.mark.parametrize(
    "fast",
    [
        -18.3 + 0.0j,  # beside the panel of the slow modes: on that of all, right of zero
        -1.0 + 3.0j * SLOW,  # above it
        -300.0 - 2.0j,
        40.0 + 90.0j,  # unstable
    ],
)
def test_a_mode_beyond_the_slow_panel_is_drawn_among_all_modes_only(fast: complex) -> None:
    figure = root_map(explanation((*SLOW_MODES[:2], fast, *SLOW_MODES[3:])), "x")
    everything, slow = figure.axes
    assert outside(figure) == []
    assert len(marks(everything)) == len(NAMES)
    assert len(marks(slow)) == len(NAMES) - 1
    assert slow.get_title(loc="left").endswith("faster, on the left only: CoM z")


def test_slow_modes_are_drawn_on_both_panels() -> None:
    figure = root_map(explanation(SLOW_MODES), "x")
    for axes in figure.axes:
        drawn = {complex(*np.array(line.get_data()).ravel()) for line in marks(axes)}
        assert drawn == {complex(s.real, abs(s.imag)) for s in SLOW_MODES}
    assert "faster" not in figure.axes[1].get_title(loc="left")
    assert outside(figure) == []


def test_a_mode_at_the_edge_is_drawn_whole() -> None:
    """Modes without oscillation lie on the lower edge of the slow panel."""
    figure = root_map(explanation((-3.0 + 0.0j, *SLOW_MODES[1:])), "x")
    slow = figure.axes[1]
    assert len(marks(slow)) == len(NAMES)
    assert not any(line.get_clip_on() for line in marks(slow))
