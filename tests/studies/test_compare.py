"""Comparisons: the same experiment for every law, one table, and nothing lost on the way."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from balance.config import LAWS, load_config
from balance.config.compare import CompareConfig, load_comparison
from balance.config.laws import BalancingLawConfig, WrenchLawConfig
from balance.config.paths import data_folder
from balance.config.sections import law_section
from balance.config.studies import find_study
from balance.errors import ConfigError
from balance.recordings.results import config_text
from balance.studies import session
from balance.studies.compare import Compare
from balance.studies.compare_table import compare_csv, table
from balance.studies.store import StudyFolder, StudyStoppedError
from balance.studies.workers import Result, Task, failed

LIMIT = 0.6  # of the ankle limit: what the pretended laws recover
SHIPPED = sorted((data_folder("configs") / "studies").glob("compare_*.yaml"))


@pytest.fixture
def file(tmp_path: Path, short: dict[str, Any]) -> Path:
    """Two laws and a variant on a short experiment, limits in two directions."""
    study = {
        "experiment": "toro_push",
        "set": short,
        "laws": [
            "momentum",
            {"law": "momentum", "name": "momentum, tracking", "set": {"tracking": True}},
            "ott2011",
        ],
        "limits": {"directions": {"azimuth_deg": [0.0, 90.0]}, "tolerance": 0.1},
    }
    path = tmp_path / "laws.yaml"
    path.write_text(yaml.safe_dump(study, sort_keys=False))
    return path


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recordings and figures are for other tests."""
    monkeypatch.setattr(Compare, "_recording", lambda *_: None)
    monkeypatch.setattr("balance.plots.style.save", lambda *_: None)


def compare_of(path: Path, limits: bool = True, **overrides: Any) -> Compare:
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    return Compare(load_comparison(path, dotted, limits), path.stem, str(path))


def pretend(compare: Compare, task: Task) -> Result:
    """Recorded runs recover; pushes of a search do so up to a limit."""
    columns = {"outcome": "recovered", "peak_com_error_m": 0.0123, "settling_time_s_10": None}
    if task.keep:
        return Result(columns)
    push = task.config["pushes"][0]
    assert compare.envelope is not None
    ankle = compare.envelope.searches[int(task.key.split(".")[0])].ankle_Ns
    outcome = "recovered" if push["impulse_Ns"] <= LIMIT * ankle else "fell"
    return Result({"outcome": outcome, "max_sole_lift_m": 0.0})


def carry_out(compare: Compare, folder: StudyFolder, most: int = 10_000) -> int:
    """Run at most some of the runs in this process; returns how many."""
    compare.resume(folder)
    count = 0
    while count < most and (task := compare.next_task()) is not None:
        row = compare.row(task, pretend(compare, task))
        folder.append(row)
        compare.take(row)
        count += 1
    return count


def opened(path: Path, compare: Compare) -> StudyFolder:
    return StudyFolder(path, compare.kind, compare.definition)


def test_laws_differ_in_their_controller_only(file: Path) -> None:
    compare = compare_of(file, limits=False)
    tasks = [compare.next_task() for _ in range(3)]
    assert compare.next_task() is None
    assert [task.key for task in tasks if task] == ["momentum", "momentum, tracking", "ott2011"]
    trees = [json.loads(json.dumps(task.config)) for task in tasks if task]
    laws = [tree.pop("controller") for tree in trees]
    assert trees[0] == trees[1] == trees[2]
    assert [law["law"] for law in laws] == ["momentum", "momentum", "ott2011"]
    assert [law.get("tracking") for law in laws] == [False, True, None]
    assert laws[0]["gains"] == laws[2]["gains"]


def test_every_known_law_is_compared_unless_some_are_named(short: dict[str, Any]) -> None:
    study = Compare(load_comparison("toro_push", {"duration_s": 1.0}), "toro_push", "toro_push")
    assert list(study.laws) == LAWS.ready()
    some = {"experiment": load_config("toro_push").model_dump(mode="json", exclude_none=True)}
    config = CompareConfig.model_validate({**some, "laws": ["ott2011"], "limits": None})
    assert list(Compare(config, "one", "one").laws) == ["ott2011"]


def test_keys_of_one_law_alone_stay_with_it(tmp_path: Path, short: dict[str, Any]) -> None:
    study = {
        "experiment": "toro_push",
        "set": {**short, "controller.law": "whole_body_qp", "controller.tasks": {"momentum": 1.0}},
        "laws": ["whole_body_qp", "hierarchical"],
    }
    path = tmp_path / "tasks.yaml"
    path.write_text(yaml.safe_dump(study))
    compare = compare_of(path, limits=False)
    whole_body, hierarchical = compare.next_task(), compare.next_task()
    assert whole_body is not None and hierarchical is not None
    assert whole_body.config["controller"]["tasks"] == {"momentum": 1.0}
    shared = set(BalancingLawConfig.model_fields) - {"gain_changes", "law"}
    theirs = {key: hierarchical.config["controller"].get(key) for key in shared}
    assert theirs == {key: whole_body.config["controller"].get(key) for key in shared}


def test_keys_of_the_wrench_laws_are_for_all_of_them() -> None:
    study = Compare(load_comparison("toro_damped"), "toro_damped", "toro_damped")
    sections = {name: study._controller(law) for name, law in study.laws.items()}
    kept = {name for name, section in sections.items() if section.get("contact_return") == 1.0}
    knowing = {
        law for law in LAWS.ready() if issubclass(law_section({"law": law}), WrenchLawConfig)
    }
    assert kept == knowing == {"momentum", "ott2011", "virtual_model", "joint_pd"}


@pytest.mark.usefixtures("no_figures")
def test_limits_are_fractions_of_the_ankle_limit(file: Path, tmp_path: Path) -> None:
    compare = compare_of(file)
    with opened(tmp_path / "out", compare) as folder:
        carry_out(compare, folder)
        compare.finish(folder)
    rows = list(csv.DictReader((tmp_path / "out" / "compare.csv").open()))
    assert [row["name"] for row in rows] == ["momentum", "momentum, tracking", "ott2011"]
    for row in rows:
        for side in ("front", "left"):
            found = float(row[f"limit_{side}_ankle_fraction"])
            assert LIMIT - 0.1 < found <= LIMIT
        assert row["outcome"] == "recovered" and float(row["peak_com_error_m"]) == 0.0123
    written = {entry.name for entry in (tmp_path / "out").iterdir()}
    assert {"compare.md", "runs.parquet", "limits.csv", "limits.parquet"} <= written


@pytest.mark.usefixtures("no_figures")
def test_an_interrupted_comparison_goes_on_and_repeats_nothing(file: Path, tmp_path: Path) -> None:
    whole = compare_of(file)
    with opened(tmp_path / "whole", whole) as folder:
        total = carry_out(whole, folder)
        expected = compare_csv(whole.results(folder.path))
    done = 0
    for most in (2, 5, 100):
        part = compare_of(file)
        with opened(tmp_path / "parts", part) as folder:
            done += carry_out(part, folder, most)
            found = compare_csv(part.results(folder.path))
            assert sum(part.counts.values()) == done
    assert done == total
    assert found == expected


@pytest.mark.usefixtures("no_figures")
def test_ctrl_c_leaves_the_table_as_it_stands(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(compare: Compare, folder: StudyFolder, *_: object) -> None:
        carry_out(compare, folder, most=2)
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "_run", interrupted)
    with pytest.raises(StudyStoppedError, match="interrupted; the 2 finished runs"):
        session.run_study(compare_of(file), tmp_path / "out")
    rows = list(csv.DictReader((tmp_path / "out" / "compare.csv").open()))
    assert [row["outcome"] for row in rows] == ["recovered", "recovered", ""]


@pytest.mark.usefixtures("no_figures")
def test_the_table_has_a_column_for_each_law_even_before_its_run(
    file: Path, tmp_path: Path
) -> None:
    compare = compare_of(file)
    with opened(tmp_path / "out", compare) as folder:
        carry_out(compare, folder, most=1)
    head, lines = table(compare.results(tmp_path / "out"))
    assert head == ["", "momentum", "momentum, tracking", "ott2011"]
    assert lines[0] == ["outcome", "recovered", "–", "–"]
    by_label = {line[0]: line[1:] for line in lines}
    assert by_label["CoM, largest error [mm]"] == ["12.3", "–", "–"]
    assert by_label["CoM, settling time, 10 % [s]"] == ["not settled", "–", "–"]
    assert sum(label.startswith("largest push to") for label in by_label) == 2
    assert all(len(line) == 4 for line in lines)


@pytest.mark.usefixtures("no_figures")
def test_a_run_that_crashes_is_an_error_in_its_column(file: Path, tmp_path: Path) -> None:
    compare = compare_of(file, limits=False)
    with opened(tmp_path / "out", compare) as folder:
        compare.resume(folder)
        task = compare.next_task()
        assert task is not None
        row = compare.row(task, Result(failed("ValueError at law.py:1: no")))
        folder.append(row)
        compare.take(row)
        compare.draw(folder.path)
    assert "momentum: error, ValueError at law.py:1: no" in (folder.path / "compare.md").read_text()
    first = next(csv.DictReader(io.StringIO(compare_csv(compare.results(folder.path)))))
    assert (first["outcome"], first["peak_com_error_m"]) == ("error", "")


def test_the_push_of_a_search_is_the_experiments_own(file: Path) -> None:
    """A pendulum has no given impulse: its place and duration become those of a half sine."""
    pendulum = load_config("toro_push").pushes[0].model_dump(mode="json")
    compare = compare_of(file, experiment__pushes=[pendulum], experiment__duration_s=3.0)
    assert compare.envelope is not None
    push = compare.envelope.config.experiment["pushes"][0]
    assert (push["type"], push["body"], push["duration_s"]) == ("half_sine", "hip", 0.02)
    assert push["time_s"] == 0.0


@pytest.mark.parametrize("path", SHIPPED, ids=[path.stem for path in SHIPPED])
def test_shipped_comparisons_hold_every_law_and_four_sides(path: Path) -> None:
    assert path.read_text().startswith("# ")
    compare = Compare(load_comparison(path), path.stem, str(path))
    assert sorted(compare.laws) == sorted(LAWS.ready())
    assert compare.envelope is not None
    sides = {one.heading.azimuth_deg for one in compare.envelope.searches}
    assert sides == {0.0, 90.0, 180.0, 270.0}


def test_three_comparisons_are_shipped() -> None:
    names = {"compare_toro", "compare_table", "compare_single_support"}
    assert names <= {path.stem for path in SHIPPED}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"laws": ["ott2011", "ott2011"]}, ["'ott2011' is compared twice", "another 'name'"]),
        ({"laws": [{"law": "ott2011", "name": "../x"}]}, ["laws.0.name", "'../x'"]),
        ({"laws": [{"law": "ott2011", "name": "1.2"}]}, ["laws.0.name", "'1.2'"]),
        ({"laws": [{"law": "ott2011", "set": {"tracking": True}}]}, ["'controller.tracking'"]),
        ({"experiment__pushes": []}, ["need a push to vary", "--no-limits"]),
        ({"experiment__controller__frictoin": 1}, ["unknown key 'controller.frictoin'"]),
        ({"limits__seeds": 2}, ["seeds = 2 must be odd"]),
        ({"limits__direction": {}}, ["unknown key 'limits.direction'", "directions"]),
        ({"law": []}, ["unknown key 'law'", "did you mean 'laws'?"]),
    ],
)
def test_bad_comparisons_are_one_clear_sentence(
    file: Path, changes: dict[str, Any], told: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        compare_of(file, **changes)
    message = str(caught.value)
    assert message.startswith(str(file)) and "\n" not in message
    for part in told:
        assert part in message


def test_an_unknown_law_is_told_with_the_known_ones(file: Path) -> None:
    with pytest.raises(ConfigError, match=r"'momentun' \(did you mean 'momentum'\?\)") as caught:
        compare_of(file, laws=["momentun"])
    assert str(caught.value).startswith(f"{file}: 'laws', ")
    assert all(f"\n  {law}: " in str(caught.value) for law in LAWS.ready())


def test_without_limits_no_push_is_needed(file: Path) -> None:
    assert compare_of(file, limits=False, experiment__pushes=[]).envelope is None


def test_a_comparison_is_no_experiment() -> None:
    with pytest.raises(ConfigError, match=r"'compare_toro' is a study .* balance compare comp"):
        load_config("compare_toro")
    with pytest.raises(ConfigError, match=r"compare_toro\.yaml' is a study .* balance compare /"):
        load_config(find_study("compare_toro"))


@pytest.mark.parametrize("spelled_out", [False, True])
def test_a_default_of_the_experiments_law_is_not_one_of_the_others(
    tmp_path: Path, spelled_out: bool
) -> None:
    """Not even where a file spells out all defaults, as that of a result does."""
    path: str | Path = "toro_side"
    if spelled_out:
        resolved = load_config("toro_side").model_copy(update={"provenance": {"balance": "0"}})
        path = tmp_path / "config.yaml"
        path.write_text(config_text(resolved), encoding="utf-8")
        assert "contact_damping" in path.read_text(encoding="utf-8")
    study = Compare(load_comparison(path, limits=False), "toro_side", "toro_side")
    found = {}
    while (task := study.next_task()) is not None:
        found[task.key] = task.config["controller"].get("contact_damping")
    for law in LAWS.ready():
        fields = law_section({"law": law}).model_fields
        own = fields["contact_damping"].default if "contact_damping" in fields else None
        assert found[law] == own
    assert len({own for own in found.values() if own is not None}) > 1
    assert study.config.experiment["controller"]["gains"]  # which the file does set
