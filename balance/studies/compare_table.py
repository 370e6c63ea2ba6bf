"""The table of a comparison: one column for each law in text, one row for each in CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from balance.config.compare import CompareConfig
from balance.recordings.recording import Recording
from balance.studies.limits import DirectionLimits
from balance.studies.store import Row
from balance.studies.summary import markdown

NONE = "–"
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

    def number(self, column: str) -> float | None:
        """A figure of the run; None where it has none."""
        value = (self.row or {}).get(column)
        return None if value is None else float(value)


@dataclass(frozen=True)
class Quantity:
    """A line of the table: its label with unit, its column of the run, and how to write it."""

    label: str
    column: str
    text: Callable[[float], str]

    def cell(self, result: LawResult) -> str:
        """The figure as text."""
        value = result.number(self.column)
        if value is None:
            return "not settled" if self.column.endswith("_10") and result.outcome else NONE
        return self.text(value)


def _digits(format_: str, scale: float = 1.0) -> Callable[[float], str]:
    return lambda value: format(scale * value, format_)


MOTION = (
    Quantity("CoM, largest error [mm]", "peak_com_error_m", _digits(".1f", 1e3)),
    Quantity("CoM, settling time, 10 % [s]", "settling_time_s_10", _digits(".2f")),
    Quantity("hip rotation, largest [rad]", "peak_rotation_rad", _digits(".3f")),
    Quantity("hip rotation, settling, 10 % [s]", "rotation_settling_time_s_10", _digits(".2f")),
    Quantity("linear momentum, largest [kg m/s]", "peak_linear_momentum", _digits(".1f")),
    Quantity("angular momentum, largest [kg m²/s]", "peak_angular_momentum", _digits(".2f")),
)
DEMAND = (
    Quantity("torque effort [N²m²s]", "torque_effort_N2m2s", _digits(".0f")),
    Quantity("largest friction use [%]", "max_friction_use", _digits(".0f", 100)),
    Quantity("largest CoP use [%]", "max_cop_use", _digits(".0f", 100)),
    Quantity("contact force error, rms [N]", "wrench_error_rms_N", _digits(".1f")),
    Quantity("contact moment error, rms [N m]", "wrench_error_rms_Nm", _digits(".2f")),
    Quantity("wrench limited [% of time]", "wrench_limited_share", _digits(".1f", 100)),
    Quantity("torque limited [% of time]", "torque_limited_share", _digits(".1f", 100)),
    Quantity("control step, median [µs]", "control_step_us_median", _digits(".0f")),
    Quantity("control step, p99 [µs]", "control_step_us_p99", _digits(".0f")),
)
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
    lines += [[q.label, *map(q.cell, results)] for q in MOTION]
    lines += _limit_lines(results)
    lines += [[q.label, *map(q.cell, results)] for q in DEMAND]
    return ["", *(result.label for result in results)], lines


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
    if limit is None:
        return NONE
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
        row |= {q.column: result.number(q.column) for q in (*MOTION, *DEMAND)}
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
