"""A protocol as a study: its runs on workers, each made durable, and the report at the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from balance.config import PROTOCOLS, parse_config
from balance.config.dotted_keys import set_key
from balance.config.registry import Found
from balance.config.schema import validate
from balance.config.sections import section_schema
from balance.config.user_code import FOREIGN, shown_name, told
from balance.errors import BalanceError, ConfigError
from balance.recordings.atomic_writes import write_atomically
from balance.recordings.settling import UntilSettled
from balance.robots import Robot
from balance.robots.robot import robot_files, robot_path
from balance.robots.stance import robot_of
from balance.studies.cells import code_key, look_up
from balance.studies.protocols.base import base_experiment
from balance.studies.protocols.interface import (
    Condition,
    Finding,
    Indicators,
    Level,
    ProtocolConfig,
)
from balance.studies.protocols.ladder import next_level
from balance.studies.protocols.report import report_table, rounded
from balance.studies.protocols.search import Search
from balance.studies.store import Row, StudyFolder
from balance.studies.summary import errors, outcomes, timing
from balance.studies.table import write_table
from balance.studies.workers import Result, Task

TIMEOUT_S = 3600.0
"""By the clock, so it must not be reached on a busy machine: a verdict is not to depend on that."""


@dataclass(frozen=True)
class Entrant:
    """A law that is put through the protocol, and the experiment it is in."""

    law: str
    protocol: Any
    experiment: Mapping[str, Any]
    code: Mapping[str, str]

    @property
    def label(self) -> str:
        """What tables call it."""
        return shown_name(self.law)


class ProtocolStudy:
    """All conditions of a protocol for one or more laws on one robot in one engine."""

    kind = "protocol"

    def __init__(
        self,
        name: str,
        robot: str,
        laws: Sequence[str | None],
        engine: str = "pinocchio",
        keys: Mapping[str, Any] | None = None,
        experiment: Mapping[str, Any] | None = None,
        config: str | None = None,
        robots: Sequence[Path] = (),
    ) -> None:
        """``keys`` are the protocol's, ``experiment`` dotted keys on top of the base experiment."""
        self.name, self.engine = name, engine
        self._asked = robot, robots
        found = PROTOCOLS.find(name, "protocol")
        tree: dict[str, Any] = {"protocol": name}
        for key, value in (keys or {}).items():
            set_key(tree, key, value)
        schema = section_schema(found.target, name, "protocol", ProtocolConfig)
        self.config = validate(schema, tree, f"protocol '{shown_name(name)}'")
        self._robots = tuple(str(folder.resolve()) for folder in robots)
        self._own = {} if found.code is None else {name: found.code.sha256}
        self.entrants: list[Entrant] = []
        for law in laws:
            base = base_experiment(robot, law, engine, config, robots)
            parsed = parse_config(base, f"protocol '{shown_name(name)}'", experiment)
            self.robot = robot_of(parsed, robots)
            protocol = _made(found, self.config, self.robot)
            full = {**base}
            for key, value in (experiment or {}).items():
                set_key(full, key, value)
            law_name = str(parsed.controller.law)
            self.entrants.append(Entrant(law_name, protocol, full, parsed.code or {}))
        self._make_searches(robots)
        self.counts: Counter[str] = Counter()
        self._folder: StudyFolder | None = None

    def _make_searches(self, robots: Sequence[Path]) -> None:
        self.searches: list[Search] = []
        self._of: list[Entrant] = []
        self._by_name: dict[tuple[int, str], Search] = {}
        for entrant in self.entrants:
            for condition in entrant.protocol.conditions():
                one = Search(len(self.searches), condition)
                self.searches.append(one)
                self._of.append(entrant)
                self._by_name[id(entrant), condition.name] = one
        for number in self._first_of_each():
            one, entrant = self.searches[number], self._of[number]
            overrides = entrant.protocol.experiment(one.condition, one.condition.levels[0], 0)
            name = self._source(number)
            look_up(parse_config(entrant.experiment, name, overrides), name, robots)

    def _first_of_each(self) -> Iterator[int]:
        seen = set()
        for number, entrant in enumerate(self._of):
            if id(entrant) not in seen:
                seen.add(id(entrant))
                yield number

    def _source(self, number: int) -> str:
        entrant, one = self._of[number], self.searches[number]
        return f"protocol '{shown_name(self.name)}', {entrant.label}, {one.condition.name}"

    @property
    def definition(self) -> dict[str, Any]:
        """What makes two of them the same: all that their rows depend on."""
        code = dict(self._own)
        for entrant in self.entrants:
            code |= entrant.code
        return {
            "protocol": self.name,
            "keys": self.config.model_dump(mode="json"),
            "experiments": [dict(entrant.experiment) for entrant in self.entrants],
            "robots": list(self._robots),
        } | code_key(code)

    def resume(self, folder: StudyFolder) -> None:
        """Take the rows that are finished already; searches find theirs when asked."""
        self._folder = folder
        for row in folder.rows():
            self.counts[row["outcome"]] += 1

    def expected(self) -> int:
        """Runs done, and a guess at what is left."""
        done = [one for one in self.searches if one.finished]
        runs = sum(len(rows) for one in done for rows in one.rows.values())
        usual = runs / len(done) if done else 4.0 * self.searches[0].condition.runs
        return sum(self.counts.values()) + round(usual * (len(self.searches) - len(done)))

    def next_task(self) -> Task | None:
        """The next run of a condition that waits for none."""
        for number, one in enumerate(self.searches):
            while not one.finished:
                if not one.waiting and not self._ask(one):
                    break
                if not one.waiting:
                    continue
                level, run = one.waiting.pop(0)
                if level in one.passed:
                    continue
                key = f"{number}.{level}.{run}"
                row = self._folder.get(key) if self._folder else None
                if row is None:
                    return self._task(key, number, level, run)
                self._note(one, row)
        return None

    def _ask(self, one: Search) -> bool:
        """Let a search say what it needs next; False if it must wait for runs or for another."""
        condition = one.condition
        if len(one.passed) < len(one.rows):
            return False
        if not condition.search:
            if one.begun:
                one.finished = True
            else:
                one.begin(range(len(condition.levels)))
            return True
        guess = condition.guess
        if condition.after is not None and not one.rows:
            before = self._named(one.number, condition.after)
            if not before.finished:
                return False
            guess = before.limit
        level = next_level(one.passed, len(condition.levels), guess)
        if level is None:
            one.finished = True
        else:
            one.begin([level])
        return True

    def _named(self, number: int, name: str) -> Search:
        """The condition of this name of the same law."""
        return self._by_name[id(self._of[number]), name]

    def _task(self, key: str, number: int, level: int, run: int) -> Task:
        entrant, condition = self._of[number], self.searches[number].condition
        overrides = entrant.protocol.experiment(condition, condition.levels[level], run)
        source = self._source(number)
        config = parse_config(entrant.experiment, source, overrides)
        return Task(
            key=key,
            config=config.model_dump(mode="json", exclude_none=True),
            source=source,
            timeout_s=TIMEOUT_S,
            robots=self._robots,
            until=UntilSettled(getattr(entrant.protocol, "at_least_s", 0.0)),
            protocol=self.name,
        )

    def row(self, task: Task, result: Result) -> Row:
        """The row of a run: law, condition, level, and what it gave."""
        number, level, run = map(int, task.key.split("."))
        condition = self.searches[number].condition
        return {
            "key": task.key,
            "law": self._of[number].label,
            "condition": condition.name,
            **{f"input.{key}": value for key, value in condition.facts.items()},
            "level": condition.levels[level],
            "run": run,
            "seed": task.config["seed"],
            **result.columns,
        }

    def take(self, row: Row) -> None:
        """Let the condition that asked for a run go on."""
        self.counts[row["outcome"]] += 1
        self._note(self.searches[int(row["key"].split(".")[0])], row)

    def _note(self, one: Search, row: Row) -> None:
        _, level, run = map(int, row["key"].split("."))
        one.note(level, run, row, self._of[one.number].protocol.passed)

    def findings(self, entrant: Entrant) -> list[Finding]:
        """What is known of the conditions of a law."""
        found = []
        for one, of in zip(self.searches, self._of, strict=True):
            if of is entrant:
                levels = [
                    Level(
                        index,
                        one.condition.levels[index],
                        tuple(one.rows[index][run] for run in sorted(one.rows[index])),
                        one.passed[index],
                    )
                    for index in sorted(one.passed)
                ]
                found.append(Finding(one.condition, tuple(levels)))
        return found

    def report(self) -> list[Indicators]:
        """The indicators of all laws, rounded so that a repetition gives the same text."""
        lines = []
        for entrant in self.entrants:
            for line in entrant.protocol.report(self.findings(entrant)):
                lines.append({"law": entrant.label, **{k: rounded(v) for k, v in line.items()}})
        return lines

    def changes(self, entrant: Entrant) -> dict[str, Any]:
        """Sections of an experiment, but for the law's, that are not those of the shipped one."""
        robot, robots = self._asked
        shipped = base_experiment(robot, entrant.law, self.engine, None, robots)
        own, keys = entrant.experiment, {*shipped, *entrant.experiment} - {"controller"}
        found = {key: own.get(key) for key in sorted(keys) if own.get(key) != shipped.get(key)}
        ours = robot_files().get(self.robot.name)
        if ours is not None and not robot_path(robot, robots).samefile(ours):
            found["robot"] = robot  # of the same name, from another file
        return found

    def draw(self, folder: Path, pdf: bool = False) -> None:
        """Nothing: there is no figure before the end."""

    def finish(self, folder: StudyFolder, pdf: bool = False) -> None:
        """Write the table of runs, the indicators and the summary."""
        keys = [
            f"{one.number}.{level}.{run}"
            for one in self.searches
            for level in sorted(one.rows)
            for run in sorted(one.rows[level])
        ]
        write_table(folder.path / "runs.parquet", lambda: folder.rows(keys))
        lines = self.report()
        text = json.dumps(lines, indent=1) + "\n"
        write_atomically(folder.path / "indicators.json", text.encode())
        title = f"# Protocol {shown_name(self.name)}: {self.robot.name}, {self.engine}"
        parts = [title, report_table(lines), outcomes(self.counts), *errors(folder)]
        parts.append(timing(folder))
        write_atomically(folder.path / "summary.md", ("\n\n".join(parts) + "\n").encode())


def _made(found: Found, config: ProtocolConfig, robot: Robot) -> Any:
    """The protocol; a user's own may raise anything."""
    if found.code is None:
        return found.target(config, robot)
    try:
        made = found.target(config, robot)
        conditions = list(made.conditions())
    except BalanceError:
        raise
    except FOREIGN as error:
        name = shown_name(found.name)
        raise ConfigError(
            f"protocol '{name}' cannot be made: {told(error, found.target)}"
        ) from None
    if not conditions or not all(isinstance(one, Condition) for one in conditions):
        raise ConfigError(
            f"protocol '{shown_name(found.name)}': its 'conditions' must be a list of Condition, "
            "with one at least (docs/extending.md)"
        )
    known: set[str] = set()
    for one in conditions:
        if one.name in known or (one.after is not None and one.after not in known):
            raise ConfigError(
                f"protocol '{shown_name(found.name)}': condition '{one.name}' must have a name of "
                "its own, and come after one that stands before it (docs/extending.md)"
            )
        known.add(one.name)
    return made
