"""A tuning study: trials handed out run by run, then the validation of the best one."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from balance.config import parse_config
from balance.config.tuning import STUDY_GOALS, TuneConfig
from balance.errors import FileError, Problems
from balance.recordings.atomic_writes import write_atomically
from balance.recordings.settling import UntilSettled
from balance.recordings.size import check_study_size
from balance.robots.stance import robot_of
from balance.studies.cells import code_key, look_up
from balance.studies.columns import check_metrics
from balance.studies.directions import headings
from balance.studies.store import Row, StudyFolder
from balance.studies.table import write_table
from balance.studies.tuning.archive import (
    Archive,
    balanced,
    discard,
    front,
    hope_of,
    open_storage,
    score_of,
)
from balance.studies.tuning.configs import write_configs
from balance.studies.tuning.dialogue import Dialogue
from balance.studies.tuning.objectives import SETTLING
from balance.studies.tuning.parameters import check_bounds, overrides, present_values, start_of
from balance.studies.tuning.trial import Metrics, Plan
from balance.studies.tuning.validation import Validation, check_envelope
from balance.studies.workers import Result, Task

OUTCOMES = ("recovered", "upright", "fell", "aborted")
OWNER_FILE = ".owner"
SEARCH_RUNS = 6  # of a direction of the held-out envelope, before any has ended


class Tuning:
    """All trials of a tuning study, and the validation that follows them."""

    kind = "tune"

    def __init__(
        self, config: TuneConfig, name: str, source: str, robots: Sequence[Path] = ()
    ) -> None:
        """Check everything; ``name`` is the title, ``source`` what errors call the study."""
        self.config, self.name, self._source = config, name, source
        self.robots = tuple(str(folder.resolve()) for folder in robots)
        self.present = present_values(config.experiment, config.parameters, source)
        if config.start:
            self.start = {p.key: start_of(p, self.present, source) for p in config.parameters}
        check_bounds(config.experiment, config.parameters, self.present, source)
        base = parse_config(config.experiment, source)
        self.robot = robot_of(base, robots)
        self.plan = Plan(config, self.robot, source)
        check_study_size(config.trials * len(self.plan.faced), 0, base, self.robot)
        self.code = dict(base.code or {})
        problems = Problems(source)
        for case in (*config.pushes, *config.validation.pushes):
            where = f"{source}: push '{case.name}'"
            with problems.at(where):
                faced = parse_config(config.experiment, where, case.set)
                self.code |= faced.code or {}
                look_up(faced, where, robots)
        with problems.at(source):
            metrics = [one.metric for one in (*config.objectives, *config.bounds)]
            check_metrics(metrics, base, source, [SETTLING, *STUDY_GOALS])
        problems.tell()
        check_envelope(config, source, robots)
        if config.storage:
            open_storage(config.storage)
        self.counts: Counter[str] = Counter()
        self.validation: Validation | None = None
        self._open: dict[str, Dialogue[Any]] = {}
        self._ready: deque[Dialogue[Any]] = deque()
        self._folder: StudyFolder | None = None

    @property
    def definition(self) -> dict[str, Any]:
        """What makes two studies the same; where its trials are stored does not, nor how many.

        A trial depends on earlier ones alone, so that a study goes on with a larger number.
        """
        config = self.config.model_dump(mode="json", exclude={"description", "storage", "trials"})
        return {**config, "robots": list(self.robots)} | code_key(self.code)

    @property
    def study_name(self) -> str:
        """Name of the study in a storage: commands that tune the same thing share it."""
        text = json.dumps(self.definition, sort_keys=True)
        return f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    def discard(self) -> None:
        """Delete the study from a storage outside of its folder."""
        if self.config.storage:
            discard(self.config.storage, self.study_name)

    def resume(self, folder: StudyFolder) -> None:
        """Open the archive; runs that are finished already are found when they are asked for."""
        self._folder = folder
        self.archive = Archive(self.config, self.study_name, folder.path, _owner(folder.path))
        for row in folder.rows():
            self.counts[row["outcome"]] += 1
        for index, trial in enumerate(self.archive.asked()):
            if not trial.state.is_finished():
                self._begin(index, trial)
        self._advance()

    def _begin(self, index: int, trial: Any) -> None:
        """Open the dialogue of a trial."""
        script = self.plan.script(self.keys_of(trial.params), hope_of(trial))
        self._add(Dialogue(str(index), script))

    def keys_of(self, params: Mapping[str, float]) -> dict[str, float]:
        """The keys of the experiment that a trial's parameters set."""
        return overrides(self.config.parameters, params, self.present)

    def _add(self, dialogue: Dialogue[Any]) -> None:
        self._open[dialogue.name] = dialogue
        self._ready.append(dialogue)

    def _advance(self) -> None:
        """Tell finished trials in order, ask for new ones, and at the end begin the validation."""
        while True:
            asked = self.archive.asked()
            told = sum(trial.state.is_finished() for trial in asked)
            others = len(self.archive.told()) - told if self.config.storage else 0
            wanted = len(asked) + others < self.config.trials
            if wanted and told >= self.archive.needed(len(asked)):
                start = self.start if self.config.start and not asked else None
                self._begin(len(asked), self.archive.ask(start))
            elif told < len(asked):
                found = self._open[str(told)].result
                if found is None:
                    return
                del self._open[str(told)]
                self.archive.tell(asked[told], self.plan.score(found, self._start(asked)))
            else:
                break
        if self.validation is None:
            self._validate()

    def _start(self, asked: Sequence[Any]) -> Metrics | None:
        """What the start reached, for bounds that refer to it; None if it fell or is not told."""
        if not self.config.start or not asked[0].state.is_finished():
            return None
        return dict(score_of(asked[0]).metrics) or None

    def best(self) -> Any:
        """The trial that goes into ``best.yaml``."""
        return balanced(front(self.archive.told()))

    def _validate(self) -> None:
        best = self.best()
        variants = {"start": {}, "tuned": self.keys_of(best.params)}
        self.validation = Validation(self.config, self.robot, variants, self._source, best.number)
        for dialogue in self.validation.dialogues():
            self._add(dialogue)

    def expected(self) -> int:
        """Runs done, and what open and future trials and the validation will need."""
        asked = self.archive.asked()
        finished = [trial for trial in asked if trial.state.is_finished()]
        done = sum(self.counts.values())
        usual: float = self.plan.usual_runs
        if finished and self.validation is None:
            usual = max(1.0, done / len(asked))
        ahead = usual * max(0, self.config.trials - len(finished))
        if self.validation is None:
            return round(done + ahead) + self._validation_runs
        left = (1 if one.pending else 0 for one in self.validation.runs)
        searching = (SEARCH_RUNS - one.asked for one in self.validation.searches if one.pending)
        return done + sum(left) + sum(max(1, n) for n in searching)

    @property
    def _validation_runs(self) -> int:
        validation = self.config.validation
        pushes = sum(max(1, len(case.seeds)) for case in validation.pushes)
        directions = headings(validation.envelope.directions) if validation.envelope else []
        return 2 * (1 + pushes + SEARCH_RUNS * len(directions))

    def next_task(self) -> Task | None:
        """The next run of a dialogue that waits for none."""
        while self._ready:
            one = self._ready.popleft()
            while one.pending is not None:
                row = self._folder.get(one.key) if self._folder else None
                if row is None:
                    return self._task(one)
                self._check_row(row, one)
                one.answer(row)
            self._advance()
        return None

    def _task(self, one: Dialogue[Any]) -> Task:
        run = one.pending
        assert run is not None
        source = f"{self._source}: {_title(one.name)}, push '{run.case}'"
        config = parse_config(self.config.experiment, source, run.overrides)
        return Task(
            key=one.key,
            config=config.model_dump(mode="json", exclude_none=True),
            source=source,
            timeout_s=self.config.timeout_s,
            robots=self.robots,
            keep=OUTCOMES if run.keep else (),
            margins=run.margins,
            until=UntilSettled(0.0 if run.searched else config.duration_s),
        )

    def _check_row(self, row: Row, one: Dialogue[Any]) -> None:
        """A finished run must be the one that the dialogue asks for."""
        assert one.pending is not None
        if row["inputs"] != _inputs(one.pending.overrides):
            raise FileError(
                f"run {row['key']} in the study folder is not the one that this study asks for: "
                "another version of balance or Optuna has written it; give --overwrite to start "
                "anew"
            )

    def row(self, task: Task, result: Result) -> Row:
        """The row of a run: whose it is, what it set, and what it gave."""
        name, _, number = task.key.rpartition(".")
        run = self._open[name].pending
        assert run is not None
        return {
            "key": task.key,
            "trial": name,
            "run": int(number),
            "push": run.case,
            **run.columns,
            "inputs": _inputs(run.overrides),
            "seed": task.config["seed"],
            **result.columns,
        }

    def take(self, row: Row) -> None:
        """Let the dialogue that asked for a run go on."""
        self.counts[row["outcome"]] += 1
        one = self._open[row["trial"]]
        one.answer(row)
        if one.pending is not None:
            self._ready.append(one)
        else:
            self._advance()

    def draw(self, folder: Path, pdf: bool = False) -> None:
        """Write ``history.png`` as it stands."""
        from balance.studies.tuning.figures import draw_history

        draw_history(self, folder, pdf)

    def finish(self, folder: StudyFolder, pdf: bool = False) -> None:
        """Write the tables, the tuned configs, the figures and the report."""
        from balance.studies.tuning.figures import draw_all
        from balance.studies.tuning.report import write_report

        write_table(folder.path / "runs.parquet", lambda: folder.rows())
        write_configs(self, folder.path)
        figures = draw_all(self, folder.path, pdf)
        write_report(self, folder, figures)


def _inputs(keys: Mapping[str, Any]) -> str:
    return json.dumps(keys, sort_keys=True)


def _title(name: str) -> str:
    return f"trial {name}" if name.isdigit() else name


def _owner(folder: Path) -> str:
    """Who asks for trials: a name that stays with the folder."""
    file = folder / OWNER_FILE
    if not file.exists():
        write_atomically(file, uuid.uuid4().hex.encode())
    return file.read_text(encoding="utf-8")
