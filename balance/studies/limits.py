"""The limits of an envelope, as tables: N s, m/s and fractions of the ankle limit."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from balance.config.studies import EnvelopeConfig
from balance.recordings.atomic_writes import write_atomically
from balance.studies.search import CRITERIA, Limit
from balance.studies.store import Row, StudyFolder
from balance.studies.summary import Table, errors, markdown, outcomes, timing
from balance.studies.table import write_table

HEADINGS = {"recovered": "recovered", "flat": "flat soles", "upright": "upright"}


@dataclass(frozen=True)
class DirectionLimits:
    """The limits of one variant in one direction, in fractions of its ankle limit.

    ``ankle_limit_Ns`` is the impulse along the direction whose horizontal part is the ankle limit,
    ``recovery_limit_Ns`` that of the recovery limit without a step, where it is known, and
    ``step_limits_Ns`` with so many steps.  ``strategies`` are recovered pushes, as fractions, and
    what held the robot at most; both are those of laws that may step.
    """

    variant: Mapping[str, Any]
    azimuth_deg: float
    elevation_deg: float
    ankle_limit_Ns: float
    mass_kg: float
    limits: Mapping[str, Limit]
    runs: int
    errors: int
    finished: bool
    recovery_limit_Ns: float | None = None
    step_limits_Ns: Mapping[int, float] = field(default_factory=dict)
    strategies: tuple[tuple[float, str], ...] = ()

    @property
    def name(self) -> str:
        """The variant in words; empty if there is only one."""
        return ", ".join(str(value) for value in self.variant.values())


def limit_row(found: DirectionLimits) -> Row:
    """One line of the table of limits."""
    row: Row = {f"input.{name}": value for name, value in found.variant.items()}
    row |= {
        "azimuth_deg": found.azimuth_deg,
        "elevation_deg": found.elevation_deg,
        "ankle_limit_Ns": found.ankle_limit_Ns,
    }
    for name in CRITERIA:
        limit, unit = found.limits.get(name), found.ankle_limit_Ns
        value = limit.value if limit else None
        low, high = (limit.low, limit.high) if limit else (None, None)
        row |= {
            f"{name}_Ns": None if value is None else value * unit,
            f"{name}_low_Ns": None if low is None else low * unit,
            f"{name}_high_Ns": None if high is None else high * unit,
            f"{name}_m_s": None if value is None else value * unit / found.mass_kg,
            f"{name}_ankle_fraction": value,
        }
    row["recovery_limit_Ns"] = found.recovery_limit_Ns
    row |= {f"recovery_limit_{n}_steps_Ns": most for n, most in found.step_limits_Ns.items()}
    if found.strategies:
        row["strategies"] = strategy_ranges(found)
    return row | {"runs": found.runs, "errors": found.errors}


def strategy_ranges(found: DirectionLimits) -> str:
    """The largest recovered push, as a fraction of the ankle limit, of each strategy."""
    largest: dict[str, float] = {}
    for fraction, words in sorted(found.strategies):
        largest[words] = fraction
    return ", ".join(f"{words} {fraction:.2f}" for words, fraction in largest.items())


def write_limits(folder: Path, results: Sequence[DirectionLimits]) -> None:
    """``limits.parquet`` and ``limits.csv``."""
    rows = [limit_row(found) for found in results]
    write_table(folder / "limits.parquet", lambda: rows)
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, fieldnames=names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(folder / "limits.csv", text.getvalue().encode())


def envelope_summary(
    config: EnvelopeConfig,
    name: str,
    results: Sequence[DirectionLimits],
    counts: Mapping[str, int],
    folder: StudyFolder,
) -> str:
    """The limits of every variant, how they were found, and the first errors."""
    noisy = config.seeds > 1
    runs = sum(found.runs for found in results) / len(results)
    how = (
        f"Limits are the largest impulse that met a criterion below the first that did not, to "
        f"{100 * config.tolerance:g} % of the ankle limit"
    )
    if "flat" in config.criteria:
        how += "; `flat soles` is recovered with no corner of a sole lifted by 2 mm"
    how += f". {runs:.1f} runs a direction."
    if any(found.recovery_limit_Ns for found in results):
        how += (
            " `recovery limit` is what any law could recover without a step in the model of "
            "`balance limit`."
        )
    if noisy:
        how += (
            f" `recovered` was put to the vote of {config.seeds} seeds; in brackets, the impulse up"
            " to which every run met the criterion and that from which none did."
        )
    parts = [f"# Envelope {name}", config.description.strip(), how, outcomes(counts)]
    for variant in dict.fromkeys(found.name for found in results):
        ours = [found for found in results if found.name == variant]
        parts.append(f"## {variant}" if variant else "")
        parts += [_extremes(ours), markdown(*limits_table(ours, config.criteria, noisy))]
    parts += errors(folder)
    parts.append(timing(folder))
    return "\n\n".join(part for part in parts if part) + "\n"


def _extremes(results: Sequence[DirectionLimits]) -> str:
    """The weakest direction and the mean, for each criterion."""
    rows = []
    for name, heading in HEADINGS.items():
        known = [(r.limits[name].value, r) for r in results if name in r.limits]
        if known:
            worst, where = min(known, key=lambda pair: pair[0])
            mean = sum(value for value, _ in known) / len(known)
            rows.append([heading, f"{worst:.2f} at {_direction(where)}", f"{mean:.2f}"])
    return markdown(("fraction of the ankle limit", "weakest direction", "mean"), rows)


def _direction(found: DirectionLimits) -> str:
    up = f", {found.elevation_deg:g}° up" if found.elevation_deg else ""
    return f"{found.azimuth_deg:g}°{up}"


def limits_table(results: Sequence[DirectionLimits], criteria: Sequence[str], noisy: bool) -> Table:
    """A line for each direction: the limits in N s, m/s and fractions of the ankle limit."""
    head = ["direction", "ankle limit [N s]"]
    for name in criteria:
        head += [f"{HEADINGS[name]} [N s]", "[m/s]", "/ ankle limit"]
    known = any(found.recovery_limit_Ns for found in results)
    steps = list(dict.fromkeys(n for found in results for n in found.step_limits_Ns))
    strategies = any(found.strategies for found in results)
    rows = []
    for found in results:
        row = [_direction(found), f"{found.ankle_limit_Ns:.1f}"]
        for name in criteria:
            row += _cells(found, found.limits.get(name), noisy)
        if known:
            most = found.recovery_limit_Ns
            row.append(f"{most / found.ankle_limit_Ns:.2f}" if most else "")
        for count in steps:
            most = found.step_limits_Ns.get(count)
            row.append(f"{most / found.ankle_limit_Ns:.2f}" if most else "")
        row += [strategy_ranges(found)] if strategies else []
        rows.append([*row, str(found.runs)])
    head += ["recovery limit / ankle limit"] if known else []
    head += [f"with {count} step" + "s" * (count > 1) for count in steps]
    head += ["held by, up to"] if strategies else []
    return [*head, "runs"], rows


def short_limits(results: Sequence[DirectionLimits], criteria: Sequence[str]) -> Table:
    """The same in N s alone, with the variant where there are several; to be printed."""
    several = len({found.name for found in results}) > 1
    head = [*(["variant"] if several else []), "direction", "ankle limit"]
    rows = []
    for found in results:
        cells = [_cells(found, found.limits.get(name), False)[0] for name in criteria]
        row = [_direction(found), f"{found.ankle_limit_Ns:.1f}", *cells]
        rows.append([found.name, *row] if several else row)
    return [*head, *(f"{HEADINGS[name]} [N s]" for name in criteria)], rows


def _cells(found: DirectionLimits, limit: Limit | None, noisy: bool) -> list[str]:
    if limit is None:
        return ["no result", "", ""]
    unit = found.ankle_limit_Ns
    impulse = f"{limit.value * unit:.1f}"
    if limit.high is None:
        impulse = f"at least {impulse}"
    elif noisy:
        impulse += f" ({limit.low * unit:.1f} to {limit.high * unit:.1f})"
    return [impulse, f"{limit.value * unit / found.mass_kg:.3f}", f"{limit.value:.2f}"]
