"""Scores of all entries of a robot, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from balance.plots.style import CAPTION, QUIET_COLOUR, WIDE, law_styles, new_figure, styled

if TYPE_CHECKING:
    from balance.studies.protocols.scoreboard import Entry

MARKERS = {"all": "o", "clean": "^", "disturbed": "v"}
ROW_IN = 0.26


def scoreboard_figure(entries: Sequence[Entry], robot: str) -> Figure:
    """A row for each entry, the best at the top: score with its interval, and of each world."""
    with styled():
        figure = new_figure(WIDE, 1.1 + ROW_IN * len(entries))
        axes = figure.subplots()
        looks = law_styles([one.law for one in entries])
        for row, (one, look) in enumerate(zip(entries, looks, strict=True)):
            scores, colour = one.scores, look["color"]
            both = scores["all"]
            axes.plot([both.low, both.high], [row, row], color=colour, lw=3.0, alpha=0.35)
            for name, marker in MARKERS.items():
                if name in scores:
                    filled = colour if name == "all" else "none"
                    axes.plot(
                        scores[name].mean, row, marker, ms=4.5, color=colour, mfc=filled, mew=0.8
                    )
        axes.axvline(1.0, color=QUIET_COLOUR, ls=(0, (4, 2)), lw=0.9)
        names = [
            f"{one.law}, {one.engine}" + (f" ({len(one.limits)} cells)" if one.partial else "")
            for one in entries
        ]
        axes.set_yticks(range(len(entries)), names, parse_math=False)
        axes.set_ylim(len(entries) - 0.5, -0.5)
        ends = [max(one.scores[name].high for name in one.scores) for one in entries]
        axes.set_xlim(0.0, 1.05 * max([1.0, *ends]))
        axes.set_xlabel("largest recovered push over the ankle limit, mean over cells [-]")
        axes.set_title(
            f"{robot}: all cells with 95 % interval, clean (up), disturbed (down)", **CAPTION
        )
    return figure
