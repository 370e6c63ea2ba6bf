"""Every cell of a sweep beside figures that somebody has published."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from balance.config import ReferenceConfig
from balance.config.quantity import Column
from balance.errors import ConfigError, known_names
from balance.recordings.quantities import QUANTITIES
from balance.studies.store import Row
from balance.studies.summary import markdown

if TYPE_CHECKING:
    from balance.plots.published import PublishedData

Array = NDArray[np.float64]

MAX_ROWS = 80  # one for each cell; more than that nobody reads


class PublishedFigures:
    """What the cells gave for each of the published figures, as far as they have run."""

    def __init__(self, reference: ReferenceConfig, labels: Iterable[str], source: str) -> None:
        """``labels`` name the cells; ``source`` names the study in errors."""
        self.name, self.labels = reference.name, tuple(islice(labels, MAX_ROWS + 1))
        if len(self.labels) > MAX_ROWS:
            raise ConfigError(
                f"{source}: with 'reference' every cell has a line of its own; there are more "
                f"than {MAX_ROWS} cells, so leave it out or vary less"
            )
        self.columns = tuple(_column(key, source) for key in reference.values)
        self.published = np.array(list(reference.values.values()))
        if zero := [key for key, value in reference.values.items() if value == 0.0]:
            raise ConfigError(
                f"{source}: 'reference.values.{zero[0]}' = 0: cells are shown by how many percent "
                "they are off, so it must not be zero"
            )
        self.found = np.full((len(self.labels), len(self.columns)), np.nan)

    def take(self, row: Row) -> None:
        """Note the figures of a finished cell; one without a result has none."""
        values = [row.get(column.name) for column in self.columns]
        self.found[row["cell"]] = [np.nan if value is None else value for value in values]

    @property
    def off(self) -> Array:
        """By which share of the published figure the cells are off (cells, figures)."""
        return self.found / self.published - 1.0

    def table(self, heading: str = "cell") -> str:
        """A Markdown table of all cells below the published figures."""
        head = [heading, *(column.title for column in self.columns), "rms of what it is off [%]"]
        first = [self.name, *self._cells(self.published), ""]
        rows = [
            [label, *self._cells(values), _percent(off)]
            for label, values, off in zip(self.labels, self.found, self.off, strict=True)
        ]
        return markdown(head, [first, *rows])

    def _cells(self, values: Array) -> list[str]:
        known = [None if np.isnan(value) else float(value) for value in values]
        return [column.cell(value) for column, value in zip(self.columns, known, strict=True)]

    def data(self, outcomes: NDArray[np.str_], title: str) -> PublishedData:
        """What the figure is drawn from."""
        from balance.plots.published import PublishedData

        titles = tuple(column.short_title for column in self.columns)
        published = tuple(self._cells(self.published))
        return PublishedData(
            title, self.name, self.labels, titles, published, 100.0 * self.off, outcomes
        )


def _column(key: str, source: str) -> Column:
    """The column of a published figure; of a quantity with parts it is that of the first one."""
    numbers = {q.key: q.columns[0] for q in QUANTITIES if q.columns and q.columns[0].is_number}
    if key not in numbers:
        raise ConfigError(
            f"{source}: 'reference.values.{key}' is no number of a summary"
            f"{known_names(key, numbers)}"
        )
    return numbers[key]


def _percent(off: Array) -> str:
    return "" if np.isnan(off).any() else f"{100.0 * np.sqrt(np.mean(off**2)):.1f}"
