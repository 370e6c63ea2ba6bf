"""``summary.json`` and the columns that studies make of it, as the table of quantities says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from balance.config import ExperimentConfig
from balance.config.quantity import Column, Quantity, Shown
from balance.config.sections import own_quantities
from balance.recordings.metrics import up_to_fall
from balance.recordings.own_quantities import OWN_KEY
from balance.recordings.quantities import QUANTITIES
from balance.recordings.recording import Recording
from balance.recordings.signals import stored_signals


def summarise(recording: Recording) -> dict[str, Any]:
    """Everything that ``summary.json`` says, the user's own quantities at the end."""
    before = up_to_fall(recording)
    found: dict[str, Any] = {}
    for entry in QUANTITIES:
        if not entry.needs or getattr(recording, entry.needs) is not None:
            assert entry.compute is not None
            found[entry.key] = entry.compute(recording if entry.whole else before)
    if recording.own:
        found |= {one.quantity.key: one.value for one in recording.own}
        found[OWN_KEY] = {one.quantity.key: one.facts() for one in recording.own}
    return found


def flatten(summary: Mapping[str, Any]) -> dict[str, Any]:
    """A summary with one value for each column: ``settling_time_s_10``, ``..._axes_m_x``."""
    columns: dict[str, Any] = {}
    ours = {entry.key: entry for entry in QUANTITIES}
    for key, value in summary.items():
        if key in ours:
            columns |= ours[key].in_columns(value)
        elif key == OWN_KEY:
            columns |= {f"{name}_note": told["note"] for name, told in value.items()}
        else:
            columns[key] = value
    return columns


def columns_shown(where: Shown, own: Iterable[Quantity] = ()) -> list[Column]:
    """The columns that are shown somewhere; those of a group of quantities stand together."""
    entries = [*QUANTITIES, *own]
    groups = list(dict.fromkeys(entry.group for entry in entries))
    ordered = sorted(entries, key=lambda entry: groups.index(entry.group))
    return [column for entry in ordered for column in entry.columns if where in column.shown]


@cache
def column(name: str) -> Column:
    """What a column of a table is; one that nobody has told about is shown as it is."""
    for entry in QUANTITIES:
        for found in entry.columns:
            if found.name == name:
                return found
    return Column(Quantity(name, name, digits=4), name)


def number_columns(config: ExperimentConfig) -> list[str]:
    """Names of the numbers that a run of an experiment gives."""
    has = {"", *(signal.name for signal in stored_signals(config))}
    entries = [entry for entry in QUANTITIES if entry.needs in has]
    return [
        column.name
        for entry in (*entries, *own_quantities(config))
        for column in entry.columns
        if column.is_number
    ]


def quantities_table() -> str:
    """The quantities as a Markdown table."""
    lines = ["| key | what | shown as | better | none means |", "|---|---|---|---|---|"]
    for entry in QUANTITIES:
        parts = f" ({', '.join(entry.parts)})" if entry.parts else ""
        unit = f" [{entry.unit}]" if entry.unit else ""
        shown = f"{entry.label}{unit}" if any(c.shown for c in entry.columns) else ""
        none = "" if entry.none is None else entry.none
        cells = f"`{entry.key}`{parts}", entry.text, shown, entry.better or "", none
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
