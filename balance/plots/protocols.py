"""Indicators of several laws side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from balance.plots.style import CAPTION, WIDE, law_styles, new_figure, styled

COLUMNS = 3


def indicators_figure(
    values: Mapping[str, Sequence[float | None]], titles: Sequence[str], title: str
) -> Figure:
    """A panel for each indicator with a bar for each law; none where a law withstood nothing."""
    laws = list(values)
    with styled():
        rows = -(-len(titles) // COLUMNS)
        figure = new_figure(WIDE, 0.5 + rows * (0.55 + 0.2 * len(laws)))
        panels = figure.subplots(rows, COLUMNS, sharey=True, squeeze=False)
        colours = [look["color"] for look in law_styles(laws)]
        for index, name in enumerate(titles):
            axes = panels[index // COLUMNS, index % COLUMNS]
            found = [values[law][index] for law in laws]
            lengths = [0.0 if value is None else value for value in found]
            axes.barh(range(len(laws)), lengths, color=colours, height=0.7)
            for row, value in enumerate(found):
                text = "none" if value is None else f" {value:.3g}"
                axes.text(lengths[row], row, text, va="center", fontsize=6.5)
            axes.set_yticks(range(len(laws)), laws, parse_math=False)
            axes.set_ylim(len(laws) - 0.4, -0.6)
            axes.set_xlim(0.0, 1.2 * max([*lengths, 1e-9]))
            axes.grid(visible=False, axis="y")
            axes.set_title(name, **CAPTION)
        figure.suptitle(title, **CAPTION)
    return figure
