"""The five DYSTURBANCE tests for several laws in one go: six indicators side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from balance.recordings.atomic_writes import write_atomically
from balance.studies.cluster import workers
from balance.studies.progress import StudyProgress
from balance.studies.protocols.interface import Indicators
from balance.studies.protocols.report import shown
from balance.studies.protocols.study import ProtocolStudy
from balance.studies.runner import Runner
from balance.studies.store import StudyFolder
from balance.studies.summary import markdown

FREQUENCY_HZ, FORCE_RATE, ANGLE_RATE = 1.0, 100.0, 10.0


@dataclass(frozen=True)
class Indicator:
    """One of the six: the protocol it is from, its name there, and a shorter one with its unit."""

    protocol: str
    name: str
    label: str
    unit: str
    scale: float = 1.0


SIX = (
    Indicator("dysturbance_impulsive", "impulse [N s]", "hit", "N s"),
    Indicator(
        "dysturbance_sine_force",
        "force amplitude [N]",
        f"shaken by force, {FREQUENCY_HZ:g} Hz",
        "N",
    ),
    Indicator(
        "dysturbance_sine_displacement",
        "displacement amplitude [m]",
        f"shaken by way, {FREQUENCY_HZ:g} Hz",
        "mm",
        1e3,
    ),
    Indicator("dysturbance_ramp_force", "force [N]", f"pressed, {FORCE_RATE:g} N/s", "N"),
    Indicator(
        "dysturbance_ramp_displacement",
        "displacement [m]",
        f"moved, {ANGLE_RATE:g} deg/s",
        "mm",
        1e3,
    ),
    Indicator("dysturbance_impulsive", "absorbed share", "absorbed of the hit", "%", 100.0),
)
"""The margins of the five tests, and the share of the hit's energy that is absorbed."""

KEYS: dict[str, dict[str, Any]] = {
    "dysturbance_impulsive": {"stop_failed": True},
    "dysturbance_sine_force": {"frequencies_hz": [FREQUENCY_HZ], "stop_failed": True},
    "dysturbance_sine_displacement": {"frequencies_hz": [FREQUENCY_HZ], "stop_failed": True},
    "dysturbance_ramp_force": {"rates_N_s": [FORCE_RATE]},
    "dysturbance_ramp_displacement": {"rates_deg_s": [ANGLE_RATE]},
}

Values = dict[str, list[float | None]]
"""For each law the six indicators."""


def run_side_by_side(
    robot: str,
    laws: Sequence[str],
    engine: str,
    folder: Path,
    side: str = "frontal",
    count: int | None = None,
    robots: Sequence[Path] = (),
    pdf: bool = False,
    console: Console | None = None,
) -> Values:
    """Run what is not finished yet of all five tests, on one set of workers; the indicators."""
    studies = {
        name: ProtocolStudy(name, robot, laws, engine, {"sides": [side], **keys}, robots=robots)
        for name, keys in KEYS.items()
    }
    reports: dict[str, list[Indicators]] = {}
    with ExitStack() as stack:
        client = None
        for name, study in studies.items():
            place = stack.enter_context(StudyFolder(folder / name, study.kind, study.definition))
            study.resume(place)
            first = study.next_task()
            if first is not None:
                if client is None:
                    client = stack.enter_context(workers(None, count))
                with StudyProgress(console or Console(quiet=True)) as progress:
                    Runner(study, place, client, progress.update).run(first)
            study.finish(place)
            reports[name] = study.report()
    labels = [entrant.label for entrant in next(iter(studies.values())).entrants]
    values = {law: [_value(reports[one.protocol], law, one) for one in SIX] for law in labels}
    _write(values, robot, engine, side, folder, pdf)
    return values


def _value(lines: Sequence[Indicators], law: str, one: Indicator) -> float | None:
    found = next(line for line in lines if line["law"] == law).get(one.name)
    return one.scale * found if isinstance(found, float | int) else None


def table(values: Mapping[str, Sequence[float | None]]) -> tuple[list[str], list[list[str]]]:
    """Titles and rows."""
    head = ["law", *(f"{one.label} [{one.unit}]" for one in SIX)]
    return head, [[law, *map(shown, found)] for law, found in values.items()]


def _write(values: Values, robot: str, engine: str, side: str, folder: Path, pdf: bool) -> None:
    from balance.plots.protocols import indicators_figure
    from balance.plots.style import save

    title = f"{robot}, {engine}, {side}"
    text = f"# DYSTURBANCE side by side: {title}\n\n{markdown(*table(values))}\n"
    write_atomically(folder / "side_by_side.md", text.encode())
    titles = [f"{one.label} [{one.unit}]" for one in SIX]
    save(indicators_figure(values, titles, title), folder, "side_by_side", pdf)
