"""``summary.md`` of a study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from balance.studies.store import StudyFolder

if TYPE_CHECKING:
    from balance.plots.studies import Dimension
    from balance.studies.sweep import Sweep

Table = tuple[Sequence[str], list[list[str]]]
"""Titles of the columns, and rows."""

MAX_VALUES = 24  # of an axis, in a table
MAX_ERRORS = 5


def sweep_summary(sweep: Sweep, dimensions: Sequence[Dimension], folder: StudyFolder) -> str:
    """Outcomes over all, over each value of each axis, and the first errors."""
    parts = [f"# Sweep {sweep.name}", sweep.config.description.strip(), outcomes(sweep.counts)]
    if sweep.published is not None:
        heading = " / ".join(dimension.label for dimension in dimensions)
        parts.append(sweep.published.table(heading))
        dimensions = ()
    for dimension in dimensions:
        values = np.unique(dimension.values)
        if len(values) <= MAX_VALUES:
            rows = [_value_row(sweep, dimension, value) for value in values]
            head = (dimension.label, "runs", "recovered", f"median {sweep.config.metric}")
            parts.append(markdown(head, rows))
    parts += errors(folder)
    parts.append(timing(folder))
    return "\n\n".join(part for part in parts if part) + "\n"


def _value_row(sweep: Sweep, dimension: Dimension, value: float) -> list[str]:
    here = dimension.values == value
    recovered = int((sweep.outcomes[here] == "recovered").sum())
    known = sweep.metric[here & np.isfinite(sweep.metric)]
    median = f"{np.median(known):.4g}" if known.size else ""
    share = f"{recovered} ({100 * recovered / here.sum():.0f} %)"
    return [dimension.text(value), str(here.sum()), share, median]


def outcomes(counts: Mapping[str, int]) -> str:
    """How often each outcome occurred, in one line."""
    total = sum(counts.values())
    return f"{total} runs: " + ", ".join(f"{n} {name}" for name, n in Counter(counts).most_common())


def errors(folder: StudyFolder) -> list[str]:
    """The first runs without a result."""
    found = [row for row in folder.rows() if row.get("error")]
    found.sort(key=lambda row: str(row["key"]))
    lines = [f"- run {row['key']}: {row['error']}" for row in found[:MAX_ERRORS]]
    more = [f"- and {len(found) - MAX_ERRORS} more"] if len(found) > MAX_ERRORS else []
    return ["\n".join(["Runs without a result:", "", *lines, *more])] if found else []


def timing(folder: StudyFolder) -> str:
    """What the runs took, all together."""
    wall, workers = 0.0, set()
    for row in folder.rows():
        wall += row.get("wall_time_s", 0.0)
        workers.add(row.get("worker"))
    processes = "process" if len(workers) == 1 else "processes"
    return f"The runs took {wall:.0f} s together, on {len(workers)} worker {processes}."


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    lines += ["| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in rows]
    return "\n".join(lines)
