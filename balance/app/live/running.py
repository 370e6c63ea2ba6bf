"""The session that the physics process simulates, as the page knows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from balance.app.live.messages import Started
from balance.app.live.session import repeatable
from balance.app.live.shared_log import SharedLog
from balance.config import ExperimentConfig
from balance.control.parts.output import ControlStatus
from balance.experiment import Experiment
from balance.recordings.footsteps import strategy_words
from balance.recordings.log import Log
from balance.recordings.metrics import ankle_limit
from balance.recordings.verdict import EndKind, RunEnd
from balance.simulation.pushes import make_pushes

LAST_S = 1.0  # of a session, in which the cause of a fall is looked for


@dataclass(frozen=True)
class Snapshot:
    """A session up to now, for writing it in the background."""

    config: ExperimentConfig
    log: Log
    rows: int
    end: RunEnd
    busy_s: float
    robot_folders: Sequence[Path]
    conflict: str = ""


class Running:
    """Robot, configuration and rows of the session."""

    def __init__(self, event: Started, robot_folders: Sequence[Path] = ()) -> None:
        experiment = Experiment(event.config, robot_folders)
        self.robot, self.modelled_robot = experiment.robot, experiment.modelled_robot
        self.path = experiment.path
        self.config, self.end = event.config, RunEnd()
        self.conflict = ""
        self.pushes = list(experiment.pushes)
        self._robot_folders = robot_folders
        self.shared = SharedLog(event.log, event.config, self.robot, writable=False)
        # Mapped here and in the physics process, the file needs no name any more: however the
        # two end, nothing is left behind.
        event.log.unlink(missing_ok=True)

    def update(self, config: ExperimentConfig) -> None:
        """Take note of new pushes and gains."""
        self.config = config
        self.pushes = make_pushes(config, self.robot)

    @property
    def untouched(self) -> bool:
        """Whether nobody has done anything to the robot."""
        return not self.pushes and not self.config.controller.gain_changes

    def snapshot(self, rows: int) -> Snapshot:
        """The session up to ``rows`` control periods, of whose pushes and gains it knows."""
        config = repeatable(self.config, rows)
        log, busy = self.shared.log, self.shared.busy_s
        return Snapshot(config, log, rows, self.end, busy, self._robot_folders, self.conflict)

    def figures(self) -> list[tuple[str, str]]:
        """Label and value of what the left panel shows."""
        rows = self.shared.rows
        recent = self.shared.log.control_time[max(0, rows - 1000) : rows]
        step = f"{1e6 * np.median(recent):.0f} µs" if rows else "–"
        cells = [
            ("time", f"{rows * self.config.control_period_s:.2f} s"),
            ("real time", "paused" if self.shared.paused else f"{self.shared.factor:.2f} ×"),
            ("control step", step),
            ("deadline misses", str(self.shared.misses)),
        ]
        cells += self._last_push()
        cells += self._strategy(rows)
        return [*cells, ("gain changes", str(len(self.config.controller.gain_changes)))]

    def _last_push(self) -> list[tuple[str, str]]:
        """The last push, and its horizontal part over the ankle limit."""
        if not self.pushes:
            return [("last push", "none"), ("of ankle limit", "–")]
        push, share = self.pushes[-1], "–"
        level = float(np.hypot(*push.direction[:2]))
        if level > 1e-6 and not push.in_body_axes:
            share = f"{100 * push.impulse * level / ankle_limit(self.robot, push.direction):.0f} %"
        return [("last push", f"{push.impulse:.1f} N s"), ("of ankle limit", share)]

    def _strategy(self, rows: int) -> list[tuple[str, str]]:
        """What holds the robot, and how many steps it took, if its law may step."""
        if not rows or not self.config.controller.takes_steps:
            return []
        log = self.shared.log
        strategy, step = int(log.strategy[rows - 1]), int(log.step[rows - 1])
        return [("held by", strategy_words(strategy, step)), ("steps", str(step))]

    def headline(self) -> str:
        """The end of the session in a few words."""
        words = {EndKind.FELL: "The robot fell", EndKind.ABORTED: "The law failed"}
        return words.get(self.end.kind, "The recording is full")

    def verdict(self) -> str:
        """Why the session is over, and what was at its limit before."""
        end = self.end
        if end.kind is EndKind.ABORTED:
            return f"Paused: {end.text}. Reset begins anew."
        if end.kind is not EndKind.FELL or end.time_s is None:
            return "The recording is full; Reset begins a new one."
        return f"The robot {end}{self._limits(end.time_s)}. Reset begins anew."

    def _limits(self, time_s: float) -> str:
        """What the law ran into during the second before a fall."""
        period = self.config.control_period_s
        last = min(round(time_s / period), self.shared.rows)
        status = self.shared.log.status[max(0, last - round(LAST_S / period)) : last]
        found = []
        for flag, text in (
            (ControlStatus.WRENCH_LIMITED, "the contacts could not give the wanted wrench"),
            (ControlStatus.TORQUE_LIMITED, "a torque was at its limit"),
            (ControlStatus.QP_FAILED, "the QP had no solution"),
        ):
            share = float(((status & int(flag)) != 0).mean()) if status.size else 0.0
            if share > 0.02:
                found.append(f"{text} for {100 * share:.0f} % of the last second")
        return "; " + ", and ".join(found) if found else ""
