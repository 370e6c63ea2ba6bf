"""A recovery envelope: in each direction the largest push that is recovered."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from balance.config import ExperimentConfig, parse_config
from balance.config.studies import EnvelopeConfig
from balance.errors import ConfigError, FileError
from balance.recordings.atomic_writes import write_atomically
from balance.recordings.settling import UntilSettled
from balance.robots import Robot
from balance.robots.stance import robot_of
from balance.studies.axes import Point, make_design
from balance.studies.cells import cell_source, check_cells, check_size, code_key
from balance.studies.directions import (
    Heading,
    ankle_impulse,
    from_angles,
    headings,
    recovery_impulse,
)
from balance.studies.limits import DirectionLimits, envelope_summary, write_limits
from balance.studies.search import CRITERIA, Probe, Settings, Trial, limit, search
from balance.studies.store import Row, StudyFolder
from balance.studies.table import write_table
from balance.studies.workers import Result, Task

FLAT_SOLES_M = 2e-3
EXPECTED_RUNS = 9  # in a direction, until the first ones have ended
LIMIT_STEPS = (1, 2)  # for which the recovery limit of a law that may step is found
MAX_ERRORS = 3  # a direction in which this many runs crash is given up


class DirectionSearch:
    """The search of one variant in one direction: a dialogue of probes and their outcomes."""

    def __init__(
        self,
        cell: int,
        variant: Point,
        robot: Robot,
        heading: Heading,
        settings: Settings,
        criteria: Sequence[str] = CRITERIA,
        recovery_Ns: Callable[[int], float | None] = lambda steps: None,
        steps: Sequence[int] = (),
    ) -> None:
        """``recovery_Ns(steps)`` is asked for the recovery limit, which takes a while, at the end.

        ``steps`` are the numbers of steps, beside none, for which it is.
        """
        self.cell, self.variant, self.heading = cell, variant, heading
        self.recovery_Ns, self.steps = recovery_Ns, steps
        self.ankle_Ns, self.mass_kg = ankle_impulse(robot, heading), robot.mass
        self.criteria = criteria
        self.trials: list[Trial] = []
        self.errors = 0
        self._dialogue: Generator[Probe, frozenset[str], object] = search(settings, criteria)
        self.probe: Probe | None = next(self._dialogue)

    def answer(self, row: Row) -> None:
        """Take the outcome of the probe, and find the next one."""
        assert self.probe is not None
        met = criteria_met(row)
        self.trials.append(Trial(self.probe, met, row.get("strategy")))
        self.errors += row["outcome"] == "error"
        try:
            self.probe = self._dialogue.send(met)
        except StopIteration:
            self.probe = None
        if self.errors >= MAX_ERRORS:
            self.probe = None

    def result(self) -> DirectionLimits:
        """What is known so far."""
        found = {name: limit(self.trials, name) for name in self.criteria} if self.trials else {}
        return DirectionLimits(
            variant=self.variant.inputs,
            azimuth_deg=self.heading.azimuth_deg,
            elevation_deg=self.heading.elevation_deg,
            ankle_limit_Ns=self.ankle_Ns,
            mass_kg=self.mass_kg,
            limits=found if self.errors < MAX_ERRORS else {},
            runs=len(self.trials),
            errors=self.errors,
            finished=self.probe is None,
            strategies=tuple(
                (trial.probe.impulse, trial.strategy)
                for trial in self.trials
                if trial.strategy and "recovered" in trial.met
            ),
        )

    def result_with_limits(self) -> DirectionLimits:
        """The result, with the recovery limits of the robot."""
        limits = {count: self.recovery_Ns(count) for count in self.steps}
        return replace(
            self.result(),
            recovery_limit_Ns=self.recovery_Ns(0),
            step_limits_Ns={count: most for count, most in limits.items() if most is not None},
        )


def criteria_met(row: Row) -> frozenset[str]:
    """Which criteria a run met; one without a result met none."""
    outcome = row["outcome"]
    met = set()
    if outcome in ("recovered", "upright"):
        met.add("upright")
    if outcome == "recovered":
        met.add("recovered")
        if row["max_sole_lift_m"] < FLAT_SOLES_M:
            met.add("flat")
    return frozenset(met)


class Envelope:
    """The searches of all variants and directions; each has one run at a time."""

    kind = "envelope"

    def __init__(
        self,
        config: EnvelopeConfig,
        name: str,
        source: str,
        robots: Sequence[Path] = (),
    ) -> None:
        """Check every variant; ``name`` is the title, ``source`` what errors call the study."""
        self.config, self.name, self._source = config, name, source
        self._robots = tuple(str(folder.resolve()) for folder in robots)
        self.design = make_design(config.axes, source)
        runs = len(self.design) * len(headings(config.directions)) * EXPECTED_RUNS * config.seeds
        check_size(config.experiment, self.design, source, robots, runs)
        self._code = check_cells(config.experiment, self.design, source, robots)
        settings = Settings(config.tolerance, config.start, config.largest, config.seeds)
        self.searches: list[DirectionSearch] = []
        self._first_robot: Robot | None = None
        for cell in range(len(self.design)):
            variant = self.design.cell(cell)
            self._add(cell, variant, settings, robots)
        self.counts: Counter[str] = Counter()
        self._ready = deque(range(len(self.searches)))
        self._folder: StudyFolder | None = None

    def _add(self, cell: int, variant: Point, settings: Settings, robots: Sequence[Path]) -> None:
        """The searches of one variant, in units of its robot's ankle limit."""
        source = cell_source(self._source, cell, variant.inputs)
        config = parse_config(self.config.experiment, source, variant.overrides)
        check_push(config, source)
        robot = robot_of(config, robots)
        self._first_robot = self._first_robot or robot
        for heading in headings(self.config.directions):
            limit_Ns = partial(recovery_impulse, robot, config, heading)
            self.searches.append(
                DirectionSearch(
                    cell,
                    variant,
                    robot,
                    heading,
                    settings,
                    self.config.criteria,
                    limit_Ns,
                    LIMIT_STEPS if config.controller.takes_steps else (),
                )
            )

    @property
    def definition(self) -> dict[str, Any]:
        """What makes two envelopes the same: all that their rows depend on."""
        config = self.config.model_dump(mode="json", exclude={"description"})
        return {**config, "robots": list(self._robots)} | code_key(self._code)

    def resume(self, folder: StudyFolder) -> None:
        """Take the rows that are finished already; the searches find theirs when asked."""
        self._folder = folder
        for row in folder.rows():
            self.counts[row["outcome"]] += 1

    def expected(self) -> int:
        """Runs done, and what the open searches will need if they are like the closed ones."""
        closed = [len(s.trials) for s in self.searches if s.probe is None]
        usual = sum(closed) / len(closed) if closed else EXPECTED_RUNS
        ahead = sum(max(1.0, usual - len(s.trials)) for s in self.searches if s.probe is not None)
        return sum(self.counts.values()) + round(ahead)

    def next_task(self) -> Task | None:
        """The next run of a search that waits for none."""
        while self._ready:
            index = self._ready.popleft()
            one = self.searches[index]
            while one.probe is not None:
                row = self._folder.get(_key(index, one)) if self._folder else None
                if row is None:
                    return self._task(index, one)
                self._check_row(row, one.probe)
                one.answer(row)
        return None

    def _check_row(self, row: Row, probe: Probe) -> None:
        """A finished run must be the one that the search asks for."""
        if row["push_ankle_fraction"] != probe.impulse:
            raise FileError(
                f"run {row['key']} in the study folder is not the one that this search asks for: "
                "another version of balance has written it; give --overwrite to start anew"
            )

    def _task(self, index: int, one: DirectionSearch) -> Task:
        assert one.probe is not None
        source = cell_source(self._source, one.cell, one.variant.inputs)
        base = parse_config(self.config.experiment, source, one.variant.overrides)
        overrides = {
            "pushes.0.direction": one.heading.vector,
            "pushes.0.impulse_Ns": one.probe.impulse * one.ankle_Ns,
            "seed": base.seed + one.probe.seed,
        }
        # From the study's own words, so that every seed draws its own numbers from ranges.
        config = parse_config(
            self.config.experiment, source, {**one.variant.overrides, **overrides}
        )
        return Task(
            key=_key(index, one),
            config=config.model_dump(mode="json", exclude_none=True),
            source=source,
            timeout_s=self.config.timeout_s,
            robots=self._robots,
            until=UntilSettled(),
        )

    def row(self, task: Task, result: Result) -> Row:
        """The row of a run: variant, direction, impulse, seed, and what it gave."""
        index, number = map(int, task.key.split("."))
        one = self.searches[index]
        assert one.probe is not None
        return {
            "key": task.key,
            "search": index,
            "run": number,
            **{f"input.{name}": value for name, value in one.variant.inputs.items()},
            "azimuth_deg": one.heading.azimuth_deg,
            "elevation_deg": one.heading.elevation_deg,
            "push_Ns": one.probe.impulse * one.ankle_Ns,
            "push_ankle_fraction": one.probe.impulse,
            "seed": task.config["seed"],
            **result.columns,
        }

    def take(self, row: Row) -> None:
        """Let the search that asked for a run go on."""
        self.counts[row["outcome"]] += 1
        self.searches[row["search"]].answer(row)
        self._ready.append(row["search"])

    def keys(self) -> list[str]:
        """Keys of the finished runs, search by search."""
        return [f"{i}.{n}" for i, one in enumerate(self.searches) for n in range(len(one.trials))]

    def results(self) -> list[DirectionLimits]:
        """The limits as they stand, variant by variant, direction by direction."""
        return [one.result() for one in self.searches]

    def results_with_limits(self) -> list[DirectionLimits]:
        """The results, each with the recovery limits of its robot."""
        return [one.result_with_limits() for one in self.searches]

    def draw(self, folder: Path, pdf: bool = False) -> None:
        """Write ``figure.png`` as it stands."""
        self._draw(self.results(), folder, pdf)

    def _draw(self, results: list[DirectionLimits], folder: Path, pdf: bool) -> None:
        from balance.plots.envelope import envelope_figure
        from balance.plots.style import save

        robot = self._first_robot
        assert robot is not None

        def ankle_Ns(azimuth_deg: float, elevation_deg: float) -> float:
            return ankle_impulse(robot, from_angles(azimuth_deg, elevation_deg))

        figure = envelope_figure(results, ankle_Ns, self.name, self.config.criteria)
        save(figure, folder, "figure", pdf)

    def finish(self, folder: StudyFolder, pdf: bool = False) -> None:
        """Write the limits, the table of all runs, the summary and the figure."""
        write_table(folder.path / "runs.parquet", lambda: folder.rows(self.keys()))
        results = self.results_with_limits()
        write_limits(folder.path, results)
        text = envelope_summary(self.config, self.name, results, self.counts, folder)
        write_atomically(folder.path / "summary.md", text.encode())
        self._draw(results, folder.path, pdf)


def _key(index: int, one: DirectionSearch) -> str:
    """A run is known by its search and its number there: a search asks in a fixed order."""
    return f"{index}.{len(one.trials)}"


def check_push(config: ExperimentConfig, source: str) -> None:
    """The first push must be one whose impulse and direction can be chosen."""
    if not config.pushes:
        raise ConfigError(f"{source}: an envelope needs a push to vary; 'pushes' is empty")
    push = config.pushes[0]
    if push.type not in ("impulse", "half_sine"):
        raise ConfigError(
            f"{source}: 'pushes.0.type' = '{push.type}': an envelope varies impulse_Ns, which only "
            "'impulse' and 'half_sine' have"
        )
    if push.axes != "world":
        raise ConfigError(
            f"{source}: 'pushes.0.axes' = '{push.axes}': the directions of an envelope are in "
            "world axes"
        )
