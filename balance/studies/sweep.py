"""A sweep: a base experiment, run once for every cell of its axes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from balance.config import ExperimentConfig, parse_config
from balance.config.studies import SweepConfig
from balance.errors import ConfigError, known_names
from balance.recordings.atomic_writes import write_atomically
from balance.recordings.settling import UntilSettled
from balance.recordings.summary import column
from balance.studies.axes import make_design
from balance.studies.cells import cell_source, check_cells, check_size, code_key
from balance.studies.columns import check_metrics
from balance.studies.figures import dimensions
from balance.studies.published import PublishedFigures
from balance.studies.store import Row, StudyFolder
from balance.studies.summary import Table, sweep_summary
from balance.studies.table import write_table
from balance.studies.workers import Result, Task

if TYPE_CHECKING:
    from balance.plots.studies import Dimension

OUTCOMES = ("recovered", "upright", "fell", "aborted")


class Sweep:
    """The cells of a sweep, handed out in order; what figures need of the finished ones."""

    kind = "sweep"

    def __init__(
        self, config: SweepConfig, name: str, source: str, robots: Sequence[Path] = ()
    ) -> None:
        """Check every cell; ``name`` is the title, ``source`` what errors call the study."""
        self.config, self.name, self._source = config, name, source
        self._robots = tuple(str(folder.resolve()) for folder in robots)
        self.design = make_design(config.axes, source)
        check_size(config.experiment, self.design, source, robots, *self._extent())
        self._code = check_cells(config.experiment, self.design, source, robots)
        check_metrics([config.metric], self._experiment(0), source, ["cell", *self._inputs()])
        beyond = [i for i in config.recordings.cells if i >= len(self.design)]
        if beyond:
            raise ConfigError(
                f"{source}: 'recordings.cells' names cell {beyond[0]}; the last one is "
                f"{len(self.design) - 1}"
            )
        self.published: PublishedFigures | None = None
        if config.reference is not None:
            self.published = PublishedFigures(config.reference, self._labels(), source)
        self.counts: Counter[str] = Counter()
        # Allocated once: finished runs are not gathered.
        self.outcomes = np.full(len(self.design), "", dtype="<U9")
        self.metric = np.full(len(self.design), np.nan)
        self._next = 0
        self._folder: StudyFolder | None = None

    def _extent(self) -> tuple[int, int]:
        """Number of runs, and of recordings that may be kept."""
        runs, kept = len(self.design), self.config.recordings
        return runs, runs if kept.outcomes else len(kept.cells)

    @property
    def definition(self) -> dict[str, Any]:
        """What makes two sweeps the same: all that their rows depend on."""
        shown_only = {"description", "metric", "reference"}
        config = self.config.model_dump(mode="json", exclude=shown_only)
        if not self.config.until_settled:
            del config["until_settled"]  # a study of before there was the key is the same
        return {**config, "robots": list(self._robots)} | code_key(self._code)

    def resume(self, folder: StudyFolder) -> None:
        """Take the rows that are finished already."""
        self._folder = folder
        for row in folder.rows():
            self.take(row)

    def expected(self) -> int:
        """Number of cells."""
        return len(self.design)

    def next_task(self) -> Task | None:
        """The next cell that is not finished."""
        while self._next < len(self.design):
            index, self._next = self._next, self._next + 1
            if self._folder is None or str(index) not in self._folder:
                return self._task(index)
        return None

    def _experiment(self, index: int) -> ExperimentConfig:
        cell = self.design.cell(index)
        source = cell_source(self._source, index, cell.inputs)
        return parse_config(self.config.experiment, source, cell.overrides)

    def _inputs(self) -> list[str]:
        """Columns of what is varied, where that is a number."""
        inputs = self.design.cell(0).inputs
        return [f"input.{name}" for name, x in inputs.items() if isinstance(x, int | float)]

    def _labels(self) -> Iterator[str]:
        """What each cell is called where it has a line of its own."""
        for index in range(len(self.design)):
            inputs = self.design.cell(index).inputs
            named = len(inputs) == 1 and isinstance(next(iter(inputs.values())), str)
            yield ", ".join(str(x) if named else f"{key} = {x}" for key, x in inputs.items())

    def _task(self, index: int) -> Task:
        source = cell_source(self._source, index, self.design.cell(index).inputs)
        config = self._experiment(index)
        kept = OUTCOMES if index in self.config.recordings.cells else ()
        return Task(
            key=str(index),
            config=config.model_dump(mode="json", exclude_none=True),
            source=source,
            timeout_s=self.config.timeout_s,
            robots=self._robots,
            keep=kept or self.config.recordings.outcomes,
            until=UntilSettled() if self.config.until_settled else None,
        )

    def row(self, task: Task, result: Result) -> Row:
        """The row of a cell: inputs, seed, and what its run gave."""
        index = int(task.key)
        inputs = {f"input.{k}": v for k, v in self.design.cell(index).inputs.items()}
        seed = {"seed": task.config["seed"]}
        return {"key": task.key, "cell": index, **inputs, **seed, **result.columns}

    def take(self, row: Row) -> None:
        """Note the outcome and the metric of a finished cell."""
        outcome, name = row["outcome"], self.config.metric
        if outcome != "error" and not isinstance(row.get(name, ""), int | float | None):
            numbers = [k for k, v in row.items() if isinstance(v, float)]
            raise ConfigError(
                f"{self._source}: 'metric' = '{name}' is no number in the table"
                f"{known_names(name, numbers)}"
            )
        self.counts[outcome] += 1
        self.outcomes[row["cell"]] = outcome
        value = row.get(name)
        self.metric[row["cell"]] = math.nan if value is None else value
        if self.published is not None:
            self.published.take(row)

    @cached_property
    def _dimensions(self) -> tuple[tuple[Dimension, ...], bool]:
        return dimensions(self.config.axes, self.design)

    def draw(self, folder: Path, pdf: bool = False) -> None:
        """Write ``figure.png`` as it stands."""
        from balance.plots.studies import SweepData, sweep_figure
        from balance.plots.style import save

        if self.published is not None:
            from balance.plots.published import published_figure

            beside = self.published.data(self.outcomes, self.name)
            save(published_figure(beside), folder, "figure", pdf)
            return
        axes, scattered = self._dimensions
        shown = column(self.config.metric)
        values = shown.quantity.scale * self.metric
        data = SweepData(axes, scattered, self.outcomes, values, shown.title, self.name)
        save(sweep_figure(data), folder, "figure", pdf)

    def head(self, rows: int) -> Table:
        """The first rows of its table: what is varied, the outcome, and the metric."""
        shown = column(self.config.metric)
        lines = []
        for index in range(min(rows, len(self.design))):
            inputs, value = self.design.cell(index).inputs.values(), self.metric[index]
            number = "" if math.isnan(value) else shown.number(value)
            cells = [f"{x:g}" if isinstance(x, float) else str(x) for x in inputs]
            lines.append([*cells, str(self.outcomes[index]), number])
        return [*self.design.cell(0).inputs, "outcome", shown.title], lines

    def finish(self, folder: StudyFolder, pdf: bool = False) -> None:
        """Write the table, the summary and the figure."""
        keys = [str(index) for index in range(len(self.design))]
        write_table(folder.path / "runs.parquet", lambda: folder.rows(keys))
        text = sweep_summary(self, self._dimensions[0], folder)
        write_atomically(folder.path / "summary.md", text.encode())
        self.draw(folder.path, pdf)
