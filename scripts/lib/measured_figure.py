"""The limits that a campaign has measured, drawn around each robot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from lib.measured_plan import ENGINES, ROBOTS, period_s, whole_round
from lib.measured_runs import Case, Runs, limit_Ns, robot_named
from lib.measured_tables import found

import balance
from balance.plots.limits import Measured, measured_figure
from balance.plots.style import save

FIGURES = Path(__file__).resolve().parents[2] / "docs" / "figures"


def draw(runs: Runs) -> None:
    """Write the figure of docs/capture.md."""
    panels = []
    for name in ROBOTS:
        limit: dict[float, float] = {}
        laws: dict[str, dict[float, float]] = {}
        for azimuth in whole_round(name):
            cell = Case(name, "capture", azimuth, period_s=period_s(name))
            limit[azimuth] = limit_Ns(cell)
            ankle = balance.ankle_limit(robot_named(name), cell.direction)
            for label, one in _measured(cell).items():
                value = found(runs, one)
                if value is not None:
                    laws.setdefault(label, {})[azimuth] = value.value * ankle
        panels.append((Measured(name, limit, laws), _ankle(name)))
    save(measured_figure(panels), FIGURES, "measured_limits")


def _measured(cell: Case) -> dict[str, Case]:
    """What is drawn, by its name in the legend."""
    both = {
        f"capture, {engine}": Case(
            cell.robot, "capture", cell.azimuth_deg, engine=engine, period_s=cell.period_s
        )
        for engine in ENGINES
    }
    law = Case(cell.robot, "momentum", cell.azimuth_deg, period_s=cell.period_s)
    return both | {"momentum, pinocchio": law}


def _ankle(name: str) -> Callable[[float], float]:
    def ankle_Ns(azimuth_deg: float) -> float:
        angle = np.radians(azimuth_deg)
        return balance.ankle_limit(robot_named(name), np.array([np.cos(angle), np.sin(angle)]))

    return ankle_Ns
