"""One trial: the runs that judge a set of values, in an order that lets the hopeless end early."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from balance.config import parse_config
from balance.config.tuning import AggregateConfig, CaseConfig, TuneConfig
from balance.recordings.settling import UntilSettled, longest_run_s
from balance.robots import Robot
from balance.studies.directions import Heading, ankle_impulse, from_vector
from balance.studies.envelope import check_push, criteria_met
from balance.studies.search import Probe, Settings, Trial, limit, search
from balance.studies.tuning.dialogue import Run, Script
from balance.studies.tuning.objectives import (
    LINEAR,
    SEARCHED,
    Hope,
    Score,
    aggregate,
    fallen,
    label,
    metric_of,
    progress,
    scored,
)

Metrics = dict[str, float]
"""Aggregated metrics by their label."""


@dataclass(frozen=True)
class Reached:
    """A trial that stood through all its pushes; ``runs`` are its first objective's metrics."""

    metrics: Metrics
    runs: tuple[float, ...]


@dataclass(frozen=True)
class Faced:
    """A push to face with one seed: keys to set, weight in means, longest time of its run in s."""

    case: CaseConfig
    overrides: Mapping[str, Any]
    weight: float
    duration_s: float


@dataclass(frozen=True)
class Ladder:
    """A push whose largest recovered impulse is searched, along ``heading``."""

    case: CaseConfig
    heading: Heading
    ankle_Ns: float


class Plan:
    """What every trial of a study does with its values."""

    def __init__(self, config: TuneConfig, robot: Robot, source: str) -> None:
        self.config, self.source = config, source
        self.faced = [one for case in config.pushes for one in faced(config, case, source)]
        self.duration_s = max(one.duration_s for one in self.faced)
        wanted: list[AggregateConfig] = [*config.objectives, *config.bounds]
        self._wanted = list({label(one): one for one in wanted}.values())
        names = {one.metric for one in wanted}
        self.margins = LINEAR in names
        self.simulates = bool(names - {SEARCHED})
        self.ladders = (
            [_ladder(config, case, robot, source) for case in config.pushes]
            if SEARCHED in names
            else []
        )

    @property
    def usual_runs(self) -> int:
        """Runs of a trial that goes well; a search takes about six."""
        return (len(self.faced) if self.simulates else 0) + 6 * len(self.ladders)

    def script(self, values: Mapping[str, float], hope: Hope) -> Script[Score | Reached]:
        """The runs of a trial; a fall, or a cost beyond ``hope``, ends it with its score."""
        rows: list[dict[str, float]] = []
        for index, one in enumerate(self.faced if self.simulates else ()):
            row = yield Run(
                {**one.overrides, **values}, one.case.name, margins=self.margins and index == 0
            )
            survived = progress(row, one.duration_s)
            if survived is not None:
                share = (index + survived) / len(self.faced)
                why = f"{row['outcome']} in push '{one.case.name}'"
                return fallen(self.config.objectives, share, self.duration_s, why)
            rows.append(self._metrics(row, one, rows))
            bound = self._at_least(rows, hope)
            if bound > hope.cost and index + 1 < len(self.faced):
                return Score((bound,), ended=f"given up after push '{one.case.name}'")
        reached = yield from self._search(values)
        runs = tuple(row.get(self.config.objectives[0].metric, 0.0) for row in rows)
        return Reached(self._aggregated(rows, reached), runs)

    def score(self, found: Score | Reached, start: Metrics | None) -> Score:
        """The score of a trial, given what the start reached if it did not fall."""
        if isinstance(found, Score):
            return found
        return scored(
            self.config.objectives,
            self.config.bounds,
            found.metrics,
            found.runs,
            start,
            self.duration_s,
        )

    def _metrics(
        self, row: Mapping[str, Any], one: Faced, before: Sequence[dict[str, float]]
    ) -> dict[str, float]:
        """The metrics of a run; margins belong to the trial, and come with its first run."""
        found = {}
        for wanted in self._wanted:
            if wanted.metric == LINEAR and before:
                found[LINEAR] = before[0][LINEAR]
            elif wanted.metric != SEARCHED:
                found[wanted.metric] = metric_of(
                    wanted.metric, dict(row), one.duration_s, self.source
                )
        return found

    def _at_least(self, rows: Sequence[Mapping[str, float]], hope: Hope) -> float:
        """What a trial will cost if in the runs to come it equals the best so far."""
        one = self.config.objectives[0]
        if len(self.config.objectives) > 1 or one.maximised or not hope.least:
            return -math.inf
        values = [*(row[one.metric] for row in rows), *hope.least[len(rows) :]]
        return aggregate(one.over, False, values, [x.weight for x in self.faced])

    def _search(self, values: Mapping[str, float]) -> Script[list[float]]:
        """The largest recovered impulse of every push, as fractions of the ankle limit."""
        reached = []
        for ladder in self.ladders:

            def run(probe: Probe, ladder: Ladder = ladder) -> Run:
                keys = impulse_keys(ladder.heading, probe.impulse * ladder.ankle_Ns)
                columns = {"push_ankle_fraction": probe.impulse}
                case = f"{ladder.case.name}, searched"
                return Run({**ladder.case.set, **keys, **values}, case, columns, searched=True)

            trials = yield from searched(run, Settings(self.config.resolution), ("recovered",))
            reached.append(limit(trials, "recovered").value)
        return reached

    def _aggregated(self, rows: Sequence[Mapping[str, float]], reached: Sequence[float]) -> Metrics:
        found = {}
        for wanted in self._wanted:
            if wanted.metric == SEARCHED:
                values = list(reached)
                weights = [ladder.case.weight for ladder in self.ladders]
            else:
                values = [row[wanted.metric] for row in rows]
                weights = [one.weight for one in self.faced]
            maximised = getattr(wanted, "maximised", getattr(wanted, "at_least", None) is not None)
            found[label(wanted)] = aggregate(wanted.over, maximised, values, weights)
        return found


def faced(config: TuneConfig, case: CaseConfig, source: str) -> list[Faced]:
    """A push with each of its seeds, which share its weight."""
    base = parse_config(config.experiment, f"{source}: push '{case.name}'", case.set)
    seeds = case.seeds or (base.seed,)
    longest = longest_run_s(base, UntilSettled(base.duration_s))
    return [
        Faced(case, {**case.set, "seed": seed}, case.weight / len(seeds), longest) for seed in seeds
    ]


def _ladder(config: TuneConfig, case: CaseConfig, robot: Robot, source: str) -> Ladder:
    where = f"{source}: push '{case.name}'"
    base = parse_config(config.experiment, where, case.set)
    check_push(base, where)
    heading = from_vector(base.pushes[0].direction)
    return Ladder(case, heading, ankle_impulse(robot, heading))


def searched(
    run: Callable[[Probe], Run], settings: Settings, criteria: Sequence[str]
) -> Script[list[Trial]]:
    """The search of :mod:`balance.studies.search` as a script."""
    trials: list[Trial] = []
    dialogue = search(settings, criteria)
    probe = next(dialogue)
    while True:
        row = yield run(probe)
        trials.append(Trial(probe, criteria_met(row)))
        try:
            probe = dialogue.send(trials[-1].met)
        except StopIteration:
            return trials


def impulse_keys(heading: Heading, impulse_Ns: float) -> dict[str, Any]:
    """Keys that make the first push one of this impulse."""
    return {"pushes.0.direction": heading.vector, "pushes.0.impulse_Ns": impulse_Ns}
