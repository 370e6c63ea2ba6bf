"""A comparison: every law on the same pushes, robot, plant and seed, and what each can recover."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from balance.config import LAWS, parse_config
from balance.config.axes import CasesAxisConfig
from balance.config.compare import CompareConfig, ComparedLawConfig
from balance.config.dotted_keys import set_key
from balance.config.sections import law_section, shared_keys
from balance.config.studies import EnvelopeConfig
from balance.config.user_code import shown_name
from balance.errors import ConfigError
from balance.recordings.atomic_writes import write_atomically
from balance.recordings.recording import Recording
from balance.recordings.results import load_recording
from balance.studies.axes import make_design
from balance.studies.cells import cell_source, check_cells, code_key
from balance.studies.compare_table import LawResult, compare_csv, compare_summary
from balance.studies.envelope import Envelope
from balance.studies.limits import write_limits
from balance.studies.store import Row, StudyFolder
from balance.studies.sweep import OUTCOMES
from balance.studies.table import write_table
from balance.studies.workers import Result, Task


class Compare:
    """One recorded run of each law, then the searches for their recovery limits."""

    kind = "compare"

    def __init__(
        self, config: CompareConfig, name: str, source: str, robots: Sequence[Path] = ()
    ) -> None:
        """Check every law; ``name`` is the title, ``source`` what errors call the study."""
        self.config, self.name, self._source = config, name, source
        self._robots = tuple(str(folder.resolve()) for folder in robots)
        parse_config(config.experiment, source)  # before keys that other laws lack are left out
        self.laws = {law.label: law for law in config.laws} or {
            law: ComparedLawConfig(law=law) for law in LAWS.ready(installed=False)
        }
        axis = CasesAxisConfig(
            type="cases",
            name="law",
            cases={name: {"controller": self._controller(law)} for name, law in self.laws.items()},
        )
        self.design = make_design([axis], source)
        self._code = check_cells(config.experiment, self.design, source, robots)
        self.envelope = self._envelope(axis, robots) if config.limits else None
        # One count of outcomes for both parts.
        self.counts: Counter[str] = self.envelope.counts if self.envelope else Counter()
        self._rows: dict[str, Row] = {}
        self._recordings: dict[str, Recording] = {}
        self._waiting = list(range(len(self.design)))

    def _controller(self, law: ComparedLawConfig) -> dict[str, Any]:
        """The experiment's controller section under another law.

        Keys that only the experiment's own law has are for that law alone; those that all wrench
        laws have are for all of these.
        """
        base = self.config.experiment["controller"]
        try:
            shared = base if base.get("law") == law.law else shared_controller(base, law.law)
        except ConfigError as error:
            raise ConfigError(f"{self._source}: 'laws', {error}") from None
        tree: dict[str, Any] = {**shared, "law": law.law}
        for key, value in law.set.items():
            set_key(tree, key, value)
        return tree

    def _envelope(self, axis: CasesAxisConfig, robots: Sequence[Path]) -> Envelope:
        """The searches: the experiment's first push, at once, in other sizes and directions."""
        limits = self.config.limits
        assert limits is not None
        cell = self.design.cell(0)
        config = parse_config(
            self.config.experiment, cell_source(self._source, 0, cell.inputs), cell.overrides
        )
        if not config.pushes:
            raise ConfigError(
                f"{self._source}: recovery limits need a push to vary, and 'pushes' is empty; add "
                "one, or leave the limits out with --no-limits"
            )
        push = config.pushes[0]
        tree: dict[str, Any] = push.model_dump(mode="json", exclude_none=True)
        if push.type not in ("impulse", "half_sine"):
            kept = ("body", "point_m", "direction", "axes", "duration_s")
            tree = {key: tree[key] for key in kept if key in tree} | {"type": "half_sine"}
        experiment = {
            **self.config.experiment,
            "pushes": [{**tree, "time_s": 0.0, "impulse_Ns": 1.0}],
        }
        study = EnvelopeConfig(
            experiment=experiment,
            timeout_s=self.config.timeout_s,
            axes=(axis,),
            directions=limits.directions,
            tolerance=limits.tolerance,
            start=limits.start,
            largest=limits.largest,
            seeds=limits.seeds,
            criteria=("recovered",),
        )
        return Envelope(study, self.name, f"{self._source}: limits", robots)

    @property
    def definition(self) -> dict[str, Any]:
        """What makes two comparisons the same: all that their rows depend on."""
        config = self.config.model_dump(mode="json", exclude={"description", "laws"})
        laws = {label: law.model_dump(mode="json") for label, law in self.laws.items()}
        return {**config, "laws": laws, "robots": list(self._robots)} | code_key(self._code)

    def resume(self, folder: StudyFolder) -> None:
        """Take the rows that are finished already."""
        if self.envelope:
            self.envelope.resume(folder)  # counts all outcomes, ours too
        else:
            self.counts.update(row["outcome"] for row in folder.rows())
        self._rows = {row["key"]: row for row in folder.rows(self.laws)}
        self._waiting = [i for i in self._waiting if self._label(i) not in self._rows]

    def _label(self, index: int) -> str:
        return str(self.design.cell(index).inputs["law"])

    def expected(self) -> int:
        """Number of runs, as far as the searches know it."""
        recorded = len(self.design)
        if self.envelope is None:
            return recorded
        return self.envelope.expected() + recorded - len(self._rows)

    def next_task(self) -> Task | None:
        """The recorded runs first, then those of the searches."""
        if self._waiting:
            return self._task(self._waiting.pop(0))
        return self.envelope.next_task() if self.envelope else None

    def _task(self, index: int) -> Task:
        cell = self.design.cell(index)
        source = cell_source(self._source, index, {"law": self._label(index)})
        config = parse_config(self.config.experiment, source, cell.overrides)
        return Task(
            key=self._label(index),
            config=config.model_dump(mode="json", exclude_none=True),
            source=source,
            timeout_s=self.config.timeout_s,
            robots=self._robots,
            keep=OUTCOMES,
        )

    def row(self, task: Task, result: Result) -> Row:
        """The row of a recorded run, or of one of a search."""
        if task.key not in self.laws:
            assert self.envelope is not None
            return self.envelope.row(task, result)
        seed = {"seed": task.config["seed"]}
        return {"key": task.key, "input.law": task.key, **seed, **result.columns}

    def take(self, row: Row) -> None:
        """Note a recorded run, or let a search go on."""
        if row["key"] in self.laws:
            self.counts[row["outcome"]] += 1
            self._rows[row["key"]] = row
        elif self.envelope:
            self.envelope.take(row)

    def results(self, folder: Path) -> list[LawResult]:
        """What is known of each law so far."""
        found = self.envelope.results() if self.envelope else []
        return [
            LawResult(
                label,
                shown_name(law.law),
                self._rows.get(label),
                self._recording(folder, label),
                tuple(one for one in found if one.variant["law"] == label),
            )
            for label, law in self.laws.items()
        ]

    def _recording(self, folder: Path, label: str) -> Recording | None:
        """The recorded run of a law, read once."""
        if self._rows.get(label, {}).get("outcome") not in OUTCOMES:
            return None
        if label not in self._recordings:
            robots = [Path(path) for path in self._robots]
            self._recordings[label] = load_recording(folder / "recordings" / label, robots)
        return self._recordings[label]

    def draw(self, folder: Path, pdf: bool = False) -> None:
        """Write ``compare.md``, ``compare.csv`` and ``compare.png`` as they stand."""
        from balance.plots.compare import compare_figure
        from balance.plots.style import save

        results = self.results(folder)
        write_atomically(folder / "compare.csv", compare_csv(results).encode())
        text = compare_summary(self.name, self.config, results)
        write_atomically(folder / "compare.md", text.encode())
        save(compare_figure(results, self.name), folder, "compare", pdf)

    def finish(self, folder: StudyFolder, pdf: bool = False) -> None:
        """Write the tables and the figure."""
        keys = [*self.laws, *(self.envelope.keys() if self.envelope else [])]
        write_table(folder.path / "runs.parquet", lambda: folder.rows(keys))
        if self.envelope:
            write_limits(folder.path, self.envelope.results())
        self.draw(folder.path, pdf)


def shared_controller(controller: Mapping[str, Any], law: str) -> dict[str, Any]:
    """The keys of a controller section that are those of another law too, by kind of law."""
    fields = shared_keys(law_section(controller), law_section({"law": law}))
    return {key: value for key, value in controller.items() if key in fields}
