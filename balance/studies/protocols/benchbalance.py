"""BenchBalance: short pushes at the upper body, at which the robot must not step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pinocchio as pin
from pydantic import Field

from balance.recordings.recording import Recording
from balance.robots import Robot
from balance.studies.protocols.base import place, scattered
from balance.studies.protocols.indicators import recovery_time, sway
from balance.studies.protocols.interface import Condition, Finding, Indicators, ProtocolConfig
from balance.studies.store import Row
from balance.studies.workers import INDICATOR

PUSH_S = 0.1  # when it begins
STILL_RAD_S = 0.02  # rate of the body's angle below which it has recovered
LOOK_EVERY = 5  # recorded rows
DIRECTIONS = {
    "forwards": (1.0, 0.0, 0.0),
    "backwards": (-1.0, 0.0, 0.0),
    "left": (0.0, 1.0, 0.0),
    "right": (0.0, -1.0, 0.0),
}

Share = Annotated[float, Field(ge=0.06, le=0.18)]
Duration = Annotated[float, Field(ge=0.2, le=0.5)]
Direction = Literal["forwards", "backwards", "left", "right"]


class BenchBalance:
    """Pushes of 6 to 18 % of the weight for 0.2 to 0.5 s at the upper body, without a step."""

    at_least_s = PUSH_S + 10.0
    """A recovery time is that of a sway far below what settles a verdict."""

    class Config(ProtocolConfig):
        """Keys of `benchbalance`."""

        directions: Annotated[tuple[Direction, ...], Field(min_length=1)] = ("forwards", "left")
        """Where the pushes go."""
        weight_shares: Annotated[tuple[Share, ...], Field(min_length=1)] = (0.06, 0.12, 0.18)
        """Force over the robot's weight, 0.06 to 0.18 [-]."""
        durations_s: Annotated[tuple[Duration, ...], Field(min_length=1)] = (0.2, 0.5)
        """How long a push lasts, 0.2 to 0.5 s."""
        pushes: Annotated[int, Field(ge=5, le=100)] = 5
        """Good pushes of each condition; one that is simulated is always good."""
        chest: str | None = None
        """Body that is pushed; known of robots that ship."""
        seed: Annotated[int, Field(ge=0)] = 0
        """Decides placements and noise."""

    def __init__(self, config: Config, robot: Robot) -> None:
        self.config, self.robot = config, robot
        self.body, self.above = place(robot, "chest", config.chest, "chest")

    def conditions(self) -> list[Condition]:
        """Every direction and duration; the levels are forces over the weight, all of them run."""
        return [
            Condition(
                f"{direction}, {duration:g} s",
                tuple(sorted(self.config.weight_shares)),
                self.config.pushes,
                {"direction": direction, "duration [s]": duration},
                search=False,
            )
            for direction in self.config.directions
            for duration in self.config.durations_s
        ]

    def experiment(self, condition: Condition, level: float, run: int) -> dict[str, Any]:
        """One push."""
        heading = DIRECTIONS[condition.facts["direction"]]
        direction, offset = scattered(self.config.seed, run, heading)
        push = {
            "type": "force",
            "body": self.body,
            "point_m": [offset[0], offset[1], offset[2] + self.above],
            "direction": direction,
            "time_s": PUSH_S,
            "force_N": level * self.robot.mass * 9.81,
            "duration_s": condition.facts["duration [s]"],
        }
        return {"seed": self.config.seed + run, "pushes": [push]}

    def passed(self, rows: Sequence[Row]) -> bool:
        """Whether the robot recovered every time without a step."""
        return all(row["outcome"] == "recovered" and not row.get("steps") for row in rows)

    @staticmethod
    def measure(recording: Recording) -> dict[str, Any]:
        """Largest change of the body's angle, rad, and the time until it rests, s."""
        robot, push = recording.robot, recording.pushes[0]
        model, data = robot.model, robot.model.createData()
        rows = slice(None, None, LOOK_EVERY)
        com = np.array([pin.centerOfMass(model, data, q).copy() for q in recording.q[rows]])
        pin.framesForwardKinematics(model, data, recording.q[0])
        along = push.direction
        if abs(along[0]) >= abs(along[1]):  # about the ankles' axis
            feet = [data.oMi[model.frames[sole.frame_id].parentJoint] for sole in robot.soles]
        else:
            feet = [sole.pose(data) for sole in robot.soles]
        foot = np.mean([pose.translation for pose in feet], axis=0)
        angle = sway(com, foot, along)
        time = recording.time[rows]
        return {
            "sway_rad": float(np.abs(angle - angle[0]).max()),
            "recovery_s": recovery_time(angle, time, push.end, STILL_RAD_S),
        }

    def report(self, findings: Sequence[Finding]) -> list[Indicators]:
        """Sway and recovery time of each condition, mean over its pushes."""
        lines = []
        for finding in findings:
            for level in finding.levels:
                line: Indicators = {
                    **finding.condition.facts,
                    "force / weight": level.value,
                    "force [N]": level.value * self.robot.mass * 9.81,
                    "pushes": len(level.rows),
                    "recovered without a step": sum(self.passed([row]) for row in level.rows),
                    "passed": "yes" if level.passed else "no",
                }
                good = [row for row in level.rows if self.passed([row])]
                turned = _mean(good, "sway_rad")
                line["body sway [deg]"] = None if turned is None else math.degrees(turned)
                line["recovery time [s]"] = _mean(good, "recovery_s")
                lines.append(line)
        return lines


def _mean(rows: Sequence[Row], name: str) -> float | None:
    values = [row[f"{INDICATOR}{name}"] for row in rows]
    known = [value for value in values if value is not None and math.isfinite(value)]
    return float(np.mean(known)) if known else None
