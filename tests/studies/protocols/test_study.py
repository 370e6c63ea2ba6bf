"""A protocol as a study: what it asks for, what it makes of answers, and that it goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from balance.config import PROTOCOLS
from balance.errors import BalanceError, ConfigError
from balance.studies.protocols.dysturbance import largest_mean
from balance.studies.protocols.interface import few_falls
from balance.studies.protocols.study import ProtocolStudy
from balance.studies.store import Row, StudyFolder
from balance.studies.workers import INDICATOR, Result, Task, execute

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
FRONTAL = {"sides": ["frontal"]}


def answer(task: Task, limit: float) -> dict[str, Any]:
    """A run that falls above an energy, with figures that follow from it."""
    energy = task.config["pendulum"]["motion"]["energy_J"]
    return {
        "outcome": "recovered" if energy <= limit else "fell",
        "error": None,
        f"{INDICATOR}peak_force_N": 10.0 * energy,
        f"{INDICATOR}impulse_Ns": energy,
        f"{INDICATOR}return_J": 0.1 * energy,
        f"{INDICATOR}friction_J": 0.2 * energy,
        f"{INDICATOR}pad_J": 0.0,
    }


def run_all(study: ProtocolStudy, folder: StudyFolder, limit: float, most: int = 9999) -> int:
    """Answer the study's questions in place of workers; how many there were."""
    study.resume(folder)
    count = 0
    while count < most and (task := study.next_task()) is not None:
        row: Row = study.row(task, Result(answer(task, limit)))
        folder.append(row)
        study.take(row)
        count += 1
    return count


def make() -> ProtocolStudy:
    return ProtocolStudy("dysturbance_impulsive", "toro", ["momentum"], keys=FRONTAL)


def test_the_hardest_level_withstood_is_reported_raw_and_as_a_humans(tmp_path: Path) -> None:
    study = make()
    with StudyFolder(tmp_path / "a", study.kind, study.definition) as folder:
        count = run_all(study, folder, 15.0)
        study.finish(folder)
    (line,) = json.loads((tmp_path / "a" / "indicators.json").read_text())
    assert line["energy [J]"] == 15.0
    assert line["smallest level failed"] == 18.0
    assert count == line["runs"]
    assert count % 10 == 0
    assert line["peak force [N]"] == pytest.approx(150.0)
    assert line["absorbed [J]"] == pytest.approx(15.0 * 0.7)
    assert line["absorbed share"] == pytest.approx(0.7 / 0.8)
    factor = study.entrants[0].protocol.factors("frontal")
    assert line["peak force, human [N]"] == pytest.approx(150.0 / factor.force, rel=1e-4)


def test_of_several_conditions_the_smallest_level_that_failed_is_told(tmp_path: Path) -> None:
    study = ProtocolStudy("dysturbance_impulsive", "toro", ["momentum"])
    limits = {1.0: 15.0, 0.0: 4.0}  # by the direction's x: frontal, lateral
    with StudyFolder(tmp_path / "a", study.kind, study.definition) as folder:
        study.resume(folder)
        while (task := study.next_task()) is not None:
            limit = limits[round(abs(task.config["pendulum"]["direction"][0]))]
            row = study.row(task, Result(answer(task, limit)))
            folder.append(row)
            study.take(row)
    frontal, lateral, both = study.report()
    assert (frontal["smallest level failed"], lateral["smallest level failed"]) == (18.0, 5.0)
    assert both == {"law": "momentum", "side": "all", "smallest level failed": 5.0}


def answered_in_batches(stop: bool, size: int) -> tuple[ProtocolStudy, int]:
    """Runs asked for and answered so many at a time, the last one first; every third falls above
    10 J, and every run above 14 J."""
    keys = {**FRONTAL, "stop_failed": stop}
    study, count = ProtocolStudy("dysturbance_impulsive", "toro", ["momentum"], keys=keys), 0
    while True:
        tasks = [task for _ in range(size) if (task := study.next_task()) is not None]
        if not tasks:
            return study, count
        for task in reversed(tasks):
            energy, run = task.config["pendulum"]["motion"]["energy_J"], task.config["seed"]
            limit = 10.0 if run % 3 == 1 else 14.0
            study.take(study.row(task, Result(answer(task, limit if energy > 10.0 else 10.0))))
            count += 1


def test_a_level_that_has_failed_may_end_there_and_nothing_withstood_changes() -> None:
    (whole, all_runs), (short, runs) = (answered_in_batches(stop, 1) for stop in (False, True))
    (full,), (line,) = whole.report(), short.report()
    assert runs < all_runs
    assert (full["runs"], line["runs"]) == (all_runs, runs)
    changed = {key for key in full if full[key] != line[key]}
    assert changed <= {"runs", "falls there"}
    assert line["falls there"] == 3
    # Whatever was under way when a level failed, the report is the same.
    for size in (2, 5, 13):
        assert answered_in_batches(True, size)[0].report() == short.report()


def test_what_is_interrupted_goes_on_to_the_same_report(tmp_path: Path) -> None:
    whole = make()
    with StudyFolder(tmp_path / "whole", whole.kind, whole.definition) as folder:
        total = run_all(whole, folder, 15.0)
    first = make()
    with StudyFolder(tmp_path / "parts", first.kind, first.definition) as folder:
        done = run_all(first, folder, 15.0, most=17)
    second = make()
    with StudyFolder(tmp_path / "parts", second.kind, second.definition) as folder:
        assert run_all(second, folder, 15.0) == total - done
    assert second.report() == whole.report()


def test_a_pressing_force_is_a_mean_over_a_while() -> None:
    values = np.concatenate([np.full(300, 5.0), [900.0], np.full(100, 8.0), [0.0] * 20])
    expected = max(values[i : i + 100].mean() for i in range(len(values) - 99))
    assert largest_mean(values, 100) == pytest.approx(expected)
    assert largest_mean(values[:50], 100) == 0.0


def test_a_level_fails_at_thirty_percent_of_falls() -> None:
    rows = [{"outcome": "fell"}] * 2 + [{"outcome": "recovered"}] * 8
    assert few_falls(rows)
    assert not few_falls([{"outcome": "fell"}] * 3 + [{"outcome": "upright"}] * 7)


def test_runs_of_a_level_differ_and_levels_share_placements() -> None:
    study = make()
    protocol = study.entrants[0].protocol
    (condition,) = protocol.conditions()
    one = [protocol.experiment(condition, 5.0, run)["pendulum"] for run in range(10)]
    other = [protocol.experiment(condition, 8.0, run)["pendulum"] for run in range(10)]
    assert len({tuple(x["direction"]) for x in one}) == 10
    assert [x["point_m"] for x in one] == [x["point_m"] for x in other]


def test_a_run_on_a_worker_has_the_protocols_indicators() -> None:
    study = make()
    task = study.next_task()
    assert task is not None
    columns = execute(task).columns
    assert columns["outcome"] == "recovered"
    energy = task.config["pendulum"]["motion"]["energy_J"]
    spent = sum(columns[f"{INDICATOR}{n}_J"] for n in ("robot_work", "pad", "friction", "return"))
    assert spent == pytest.approx(energy, rel=0.01)
    assert columns[f"{INDICATOR}impulse_Ns"] > 5.0


@pytest.mark.parametrize("name", list(PROTOCOLS.ours))
def test_every_protocol_describes_itself_and_asks_for_valid_runs(name: str) -> None:
    assert PROTOCOLS.describe(name)
    study = ProtocolStudy(name, "toro", ["momentum"])
    assert study.next_task() is not None


@pytest.mark.parametrize(
    ("name", "robot", "keys", "words"),
    [
        ("dysturbance_impulsive", "toro", {"body": "chest"}, "no such body"),
        ("dysturbance_impulsive", "toro", {"levels_J": [250.0]}, "less than or equal to 200"),
        ("dysturbance_impulsive", "toro", {"runs": 5}, "greater than or equal to 10"),
        ("dysturbance_impulsive", "toro", {"body": "head"}, "holds|no pendulum|1.50"),
        ("dysturbance_sine_force", "toro", {"levels_N": [700.0]}, "less than or equal to 600"),
        ("dysturbance_sine_force", "toro", {"frequencies_hz": [3.0]}, "less than or equal to 2"),
        ("dysturbance_ramp_force", "toro", {"rates_N_s": [400.0]}, "less than or equal to 300"),
        ("benchbalance", "toro", {"weight_shares": [0.3]}, "less than or equal to 0.18"),
        ("benchbalance", "alexander", {}, "which body of robot 'alexander' is its chest"),
        ("robocup_standing", "toro", {"pulled": [0.8]}, "less than or equal to 0.75"),
        ("robocup_standing", "toro", {"bottle_kg": 4.0}, "a bottle has 3, 5 or 10 kg"),
        ("balance_v1", "toro", {"cells": ["moon *"]}, "names no cell"),
        ("balance_v1", "toro", {"chest": "head"}, "the chest of robot 'toro' is frozen"),
        ("no_such", "toro", {}, "'no_such'.* is unknown"),
    ],
)
def test_bad_input_is_told_in_a_sentence(
    name: str, robot: str, keys: dict[str, Any], words: str
) -> None:
    with pytest.raises(BalanceError, match=words):
        ProtocolStudy(name, robot, [None], keys=keys)


def test_a_protocol_from_a_file_runs_and_is_known_by_its_hash(tmp_path: Path) -> None:
    name = f"{EXAMPLES / 'my_protocols.py'}:Nudges"
    study = ProtocolStudy(name, "toro", ["momentum"], keys={"duration_s": 0.1})
    assert name in study.definition["code"]
    task = study.next_task()
    assert task is not None
    columns = execute(task).columns
    assert columns["outcome"] == "recovered"
    assert 0.0 < columns[f"{INDICATOR}way_m"] < 0.1
    with pytest.raises(ConfigError, match="unknown key 'speed'"):
        ProtocolStudy(name, "toro", ["momentum"], keys={"speed": 0.1})


def test_a_protocol_whose_code_fails_is_told_in_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "class Broken:\n    def __init__(self, config, robot):\n        1 / 0\n"
        "    def conditions(self):\n        return []\n"
        "class Empty(Broken):\n    def __init__(self, config, robot):\n        pass\n"
        "class NoProtocol:\n    pass\n"
        "from balance.studies.protocols.interface import Condition\n"
        "class Lost(Empty):\n    def conditions(self):\n"
        "        return [Condition('a', (1.0,), 1, after='b'), Condition('b', (1.0,), 1)]\n"
        "class Twice(Empty):\n    def conditions(self):\n"
        "        return [Condition('a', (1.0,), 1), Condition('a', (2.0,), 1)]\n"
    )
    for name, words in (
        ("Broken", "cannot be made: ZeroDivisionError in mine.py, line 3"),
        ("Empty", "must be a list of Condition"),
        ("Lost", "condition 'a' must have a name of its own, and come after"),
        ("Twice", "condition 'a' must have a name of its own, and come after"),
        ("NoProtocol", "has no method 'conditions'"),
    ):
        with pytest.raises(ConfigError, match=words):
            ProtocolStudy(f"{file}:{name}", "toro", ["momentum"])


def test_a_law_that_nobody_knows_is_told() -> None:
    with pytest.raises(ConfigError, match="'no_law'"):
        ProtocolStudy("benchbalance", "toro", ["no_law"])
