"""The table of a comparison: one column for each law in text, one row for each in CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from balance.config.compare import CompareConfig
from balance.config.quantity import NONE, Column, Quantity, Shown
from balance.recordings.recording import Recording
from balance.recordings.summary import columns_shown
from balance.studies.limits import DirectionLimits
from balance.studies.search import Limit
from balance.studies.store import Row
from balance.studies.summary import markdown

SIDES = {0.0: "front", 90.0: "left", 180.0: "back", 270.0: "right"}


@dataclass(frozen=True)
class LawResult:
    """A law's run (``row`` and ``recording``) and its recovery limits, as far as they are known."""

    label: str
    law: str
    row: Row | None
    recording: Recording | None
    limits: tuple[DirectionLimits, ...]

    @property
    def outcome(self) -> str:
        """Outcome of the run; empty while there is none."""
        return str(self.row["outcome"]) if self.row else ""

    @property
    def own(self) -> tuple[Quantity, ...]:
        """The user's own quantities of the run."""
        return tuple(one.quantity for one in self.recording.own) if self.recording else ()

    def number(self, column: str) -> float | None:
        """A figure of the run; None where it has none."""
        value = (self.row or {}).get(column)
        return None if value is None else float(value)

    def cell(self, column: Column) -> str:
        """The same as text."""
        return column.cell(self.number(column.name)) if self.outcome else NONE


NOTES = """\
The recorded runs have the same robot, plant, pushes and seed. A settling time counts from the start
of the last push. Torque effort is the integral of |τ − τ_rest|², τ_rest being the torques before
the push. Friction use is |f_t| / (μ f_n) with the ground's μ, CoP use the way of the centre of
pressure from the middle of a contact to its edge; both are the largest of any contact that bears
5 % of the weight. Contact errors are commanded less measured wrenches of each contact over the
whole run, the push included. Control steps were timed on the workers, beside whatever else ran
there."""


def side(azimuth_deg: float, elevation_deg: float = 0.0) -> str:
    """A direction in words if it has one: the side to which the robot is pushed."""
    up = f", {elevation_deg:g}° up" if elevation_deg else ""
    return SIDES.get(azimuth_deg % 360.0, f"{azimuth_deg:g}°") + up


def table(results: Sequence[LawResult]) -> tuple[list[str], list[list[str]]]:
    """Head and lines: the first column says what, then one for each law."""
    lines = [["outcome", *(result.outcome or NONE for result in results)]]
    columns = _columns(results)
    demand = next(i for i, column in enumerate(columns) if column.quantity.group == "demand")
    for column in columns[:demand]:
        lines.append([column.title, *(result.cell(column) for result in results)])
    lines += _limit_lines(results)
    for column in columns[demand:]:
        lines.append([column.title, *(result.cell(column) for result in results)])
    return ["", *(result.label for result in results)], lines


def _columns(results: Sequence[LawResult]) -> list[Column]:
    """What is compared: our quantities, and the user's own that any of the laws has."""
    own = {q.key: q for result in results for q in result.own}
    return columns_shown(Shown.COMPARE, own.values())


def _limit_lines(results: Sequence[LawResult]) -> list[list[str]]:
    """A line for each direction of the search; an ankle limit that laws share is named."""
    lines = []
    for same_direction in zip(*(result.limits for result in results), strict=True):
        first = same_direction[0]
        where = side(first.azimuth_deg, first.elevation_deg)
        label = f"largest push to {where} / {first.ankle_limit_Ns:.1f} N s"
        lines.append([label, *map(_limit_cell, same_direction)])
    return lines


def _limit_cell(found: DirectionLimits) -> str:
    limit = found.limits.get("recovered") if found.finished else None
    return NONE if limit is None else limit_text(limit)


def limit_text(limit: Limit) -> str:
    """A limit as a fraction of the ankle limit; with ≥ if the largest push tried was held."""
    return f"{'≥ ' if limit.high is None else ''}{limit.value:.2f}"


def compare_summary(name: str, config: CompareConfig, results: Sequence[LawResult]) -> str:
    """``compare.md``: the table and how to read it."""
    parts = [f"# Comparison {name}", config.description.strip(), markdown(*table(results)), NOTES]
    if config.limits:
        parts.append(
            "Largest pushes are fractions of the ankle limit m ω d, which the label gives in N s: "
            "the largest impulse that was recovered below the first that was not, to "
            f"{100 * config.limits.tolerance:g} % of it."
        )
    problems = [
        f"- {result.label}: {result.row['outcome']}, {_why(result.row)}"
        for result in results
        if result.row and result.outcome != "recovered"
    ]
    if problems:
        parts.append("\n".join(["Not recovered:", "", *problems]))
    return "\n\n".join(part for part in parts if part) + "\n"


def _why(row: Mapping[str, Any]) -> str:
    when = row.get("time_of_fall_s")
    cause = row.get("error") or row.get("cause") or "unknown"
    return f"{cause} (at {when:.2f} s)" if when is not None else str(cause)


def compare_csv(results: Sequence[LawResult]) -> str:
    """``compare.csv``: a row for each law in SI units, limits as fractions of the ankle limit."""
    rows = []
    for result in results:
        row: dict[str, Any] = {"name": result.label, "law": result.law, "outcome": result.outcome}
        row |= {column.name: result.number(column.name) for column in _columns(results)}
        for found in result.limits:
            limit = found.limits.get("recovered") if found.finished else None
            where = side(found.azimuth_deg, found.elevation_deg).replace(", ", "_")
            row[f"limit_{where}_ankle_fraction"] = limit.value if limit else None
            row[f"limit_{where}_Ns"] = limit.value * found.ankle_limit_Ns if limit else None
        rows.append(row)
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
