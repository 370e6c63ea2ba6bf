"""The scoreboard: what an entry says, which are refused, who is tied, and that cells are frozen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from balance.config.paths import data_folder
from balance.errors import FileError
from balance.studies.protocols.balance_v1 import HASH, T_95, all_cells, score
from balance.studies.protocols.base import scattered
from balance.studies.protocols.scoreboard import (
    FORMAT,
    checksum,
    entry_tree,
    ranks,
    read_entries,
    read_entry,
    write_entry,
)
from balance.studies.protocols.scoreboard_page import page_text, write_page
from balance.studies.protocols.study import ProtocolStudy
from balance.studies.store import StudyFolder
from balance.studies.workers import Result

FOUR = ["clean hip 20 ms 0 deg", "clean hip 20 ms 90 deg", "disturbed hip 20 ms 0 deg"]


def entry(law: str, level: float, spread: float, robot: str = "toro", cells: int = 192) -> Any:
    names = [cell.name for cell in all_cells()][:cells]
    tree: dict[str, Any] = {
        "format": FORMAT, "protocol": "balance_v1", "protocol_hash": HASH, "law": law,
        "law_hash": "0" * 64, "robot": robot, "engine": "pinocchio",
        "versions": {"balance": "0.2.0"}, "controller": {}, "changes": {},
        "partial": cells < 192, "steps": 0, "recovery_share": 0.5,
        "cells": {name: [level - spread, level, level + spread] for name in names},
    }  # fmt: skip
    return {**tree, "checksum": checksum(tree)}


def test_version_1_is_frozen() -> None:
    """A change of anything that results depend on is a new version, not this one."""
    assert HASH == "e73cffc6b5c157899154286e8f8c4f05b8196cfac274ecc06b6cd65fbccd9933"
    cells = all_cells()
    assert len(cells) == len({cell.name for cell in cells}) == 16 * 2 * 3 * 2


def test_the_scatter_of_seeds_is_frozen_too() -> None:
    expected = [
        ([0.999954, 0.009562, 0.0], [0.0, -0.004604, -0.009181]),
        ([0.99963, 0.027206, 0.0], [0.0, 0.001143, 0.006018]),
        ([0.999572, -0.02926, 0.0], [0.0, -0.001951, 0.002026]),
    ]
    for seed, (direction, offset) in enumerate(expected):
        found = scattered(0, seed, (1.0, 0.0, 0.0))
        np.testing.assert_allclose(found[0], direction, atol=1e-6)
        np.testing.assert_allclose(found[1], offset, atol=1e-6)


def test_score_and_interval_are_those_of_student() -> None:
    rng = np.random.default_rng(3)
    limits = {f"cell {i}": rng.uniform(0.5, 1.5, 3).tolist() for i in range(20)}
    limits["cell 7"] = [0.1, 0.1, 0.1]
    found = score(limits)
    seeds = np.array(list(limits.values())).mean(axis=0)
    low, high = stats.t.interval(0.95, 2, seeds.mean(), stats.sem(seeds))
    assert found.mean == pytest.approx(seeds.mean())
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-3)
    assert found.weakest == "cell 7"
    assert found.least == pytest.approx(0.1)
    for count, t in T_95.items():
        assert t == pytest.approx(stats.t.ppf(0.975, count - 1), abs=5e-4)


def run_synthetic(tmp_path: Path, limits: dict[str, float]) -> tuple[ProtocolStudy, int]:
    """The protocol answered by a robot that recovers up to a limit in each cell."""
    study = ProtocolStudy("balance_v1", "toro", ["momentum"], keys={"cells": list(limits)})
    protocol = study.entrants[0].protocol
    runs = 0
    with StudyFolder(tmp_path / "study", study.kind, study.definition) as folder:
        study.resume(folder)
        while (task := study.next_task()) is not None:
            number = int(task.key.split(".")[0])
            cell = study.searches[number].condition.facts["cell"]
            one = next(c for c in all_cells() if c.name == cell)
            share = task.config["pushes"][0]["impulse_Ns"] / protocol.ankle_Ns(one)
            good = share <= limits[cell] + 1e-9
            columns = {"outcome": "recovered" if good else "fell", "error": None}
            row = study.row(task, Result(columns))
            folder.append(row)
            study.take(row)
            runs += 1
    return study, runs


def test_the_limits_of_cells_are_found_with_few_runs_and_written(tmp_path: Path) -> None:
    limits = dict(zip(FOUR, (0.75, 1.3, 0.7), strict=True))
    study, runs = run_synthetic(tmp_path, limits)
    tree = entry_tree(study, study.entrants[0])
    assert tree["cells"] == {name: [limits[name]] * 3 for name in limits}
    assert tree["partial"]
    assert runs <= 30
    entry = read_entry(write_entry(tree, tmp_path / "board"))
    assert entry.partial
    assert entry.scores["clean"].mean == pytest.approx((0.75 + 1.3) / 2)
    assert len(tree["law_hash"]) == 64
    assert tree["changes"] == {}
    assert tree["errors"] == 0
    assert 0.2 < tree["recovery_share"] < 1.5


def test_disturbed_runs_are_disturbed_and_seeds_differ(tmp_path: Path) -> None:
    study = ProtocolStudy("balance_v1", "toro", ["momentum"], keys={"cells": FOUR})
    protocol = study.entrants[0].protocol
    conditions = {one.name: one for one in protocol.conditions()}
    keys = [protocol.experiment(conditions[f"{FOUR[2]}, seed {seed}"], 0.5, 0) for seed in range(3)]
    assert [one["mismatch"]["mass_scale"] for one in keys] == [1.05, 0.95, 1.05]
    assert {one["plant.friction"] for one in keys} == {0.6}
    assert {one["state"] for one in keys} == {"estimated"}
    assert len({tuple(one["pushes"][0]["direction"]) for one in keys}) == 3


def test_entries_that_overlap_share_a_place_even_where_others_do_not(tmp_path: Path) -> None:
    """The middle one is tied with both of its neighbours, which are not tied with each other."""
    for law, level in (("a", 1.1), ("b", 1.0), ("c", 0.9)):
        write_entry(entry(law, level, 0.03), tmp_path)
    entries = read_entries(tmp_path)
    spans = [(one.scores["all"].low, one.scores["all"].high) for one in entries]
    assert spans[0][0] < spans[1][1]
    assert spans[1][0] < spans[2][1] < spans[0][0]
    assert ranks(entries) == ["1-2", "1-3", "2-3"]


def test_overlapping_intervals_tie_and_partial_entries_have_no_rank(tmp_path: Path) -> None:
    for law, level, spread in (("a", 1.0, 0.01), ("b", 0.98, 0.01), ("c", 0.7, 0.001)):
        write_entry(entry(law, level, spread), tmp_path)
    write_entry(entry("d", 1.9, 0.001, cells=5), tmp_path)
    entries = read_entries(tmp_path)
    assert [one.law for one in entries] == ["a", "b", "c", "d"]
    assert ranks(entries) == ["1-2", "1-2", "3", ""]


def test_an_entry_whose_experiment_was_changed_has_no_rank(tmp_path: Path) -> None:
    study = ProtocolStudy(
        "balance_v1", "toro", ["momentum"],
        experiment={"plant.joint_damping": 5.0, "controller.gains.K_P": [9e3, 9e3, 9e3]},
    )  # fmt: skip
    found = study.changes(study.entrants[0])
    assert list(found) == ["plant"]
    tree = {**entry("a", 1.0, 0.01), "changes": found}
    tree["checksum"] = checksum(tree)
    write_entry(tree, tmp_path)
    entries = read_entries(tmp_path)
    assert ranks(entries) == [""]
    assert "| plant changed | a |" in page_text(entries)


def test_a_robot_of_the_same_name_from_another_file_is_a_change(tmp_path: Path) -> None:
    file = tmp_path / "heavy.yaml"
    file.write_text((data_folder("robots") / "human.yaml").read_text())
    study = ProtocolStudy("balance_v1", str(file), ["momentum"])
    assert study.robot.name == "human"
    assert study.changes(study.entrants[0]) == {"robot": str(file)}


def test_an_entry_with_runs_that_have_no_result_has_no_rank(tmp_path: Path) -> None:
    tree = {**entry("a", 1.0, 0.01), "errors": 2}
    tree["checksum"] = checksum(tree)
    write_entry(tree, tmp_path)
    entries = read_entries(tmp_path)
    assert ranks(entries) == [""]
    assert "| 2 runs without a result | a |" in page_text(entries)


def test_an_edited_entry_is_refused(tmp_path: Path) -> None:
    path = write_entry(entry("a", 1.0, 0.01), tmp_path)
    path.write_text(path.read_text().replace('"law": "a"', '"law": "mine"'))
    with pytest.raises(FileError, match="was changed after it was written"):
        read_entries(tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"protocol_hash": "f" * 64}, "is of another protocol"),
        ({"format": 99}, "is no entry of the scoreboard"),
        ({"cells": {"moon": [1.0, 1.0, 1.0]}}, "has cells that balance_v1 does not"),
        ({"cells": {FOUR[0]: [1.0]}}, "cells without 3 limits from 0 to 3"),
        ({"cells": {FOUR[0]: [1.0, 1.0, 3.5]}}, "cells without 3 limits from 0 to 3"),
        ({"cells": {FOUR[0]: 1.0}}, "cells without 3 limits from 0 to 3"),
        ({"changes": None, "versions": "0.2"}, "not as an entry does: versions, changes"),
    ],
)
def test_a_foreign_entry_is_refused(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    tree = {**entry("a", 1.0, 0.01), **change}
    tree["checksum"] = checksum(tree)
    path = tmp_path / "x.json"
    path.write_text(json.dumps(tree))
    with pytest.raises(FileError, match=words):
        read_entry(path)


def test_a_file_that_is_no_entry_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[1, 2")
    with pytest.raises(FileError, match="is no entry of the scoreboard"):
        read_entries(tmp_path)
    with pytest.raises(FileError, match="there is no folder"):
        read_entries(tmp_path / "nowhere")


def test_the_page_is_the_same_when_it_is_made_again(tmp_path: Path) -> None:
    for law, robot in (("momentum", "toro"), ("my_laws.py:JointPD", "toro"), ("capture", "g1")):
        write_entry(entry(law, 1.0, 0.02, robot), tmp_path / "board")
    write_entry(entry("ott2011", 0.9, 0.02, "toro", 8), tmp_path / "board")
    first = tmp_path / "a" / "scoreboard.md"
    second = tmp_path / "b" / "scoreboard.md"
    entries = write_page(tmp_path / "board", first)
    write_page(tmp_path / "board", second)
    assert first.read_bytes() == second.read_bytes()
    text = page_text(entries)
    assert "## g1" in text
    assert "| 8 cells | ott2011" in text
    assert "| 1 | " in text
    for robot in ("toro", "g1"):
        name = f"scoreboard_{robot}.png"
        assert (first.parent / "figures" / name).read_bytes() == (
            second.parent / "figures" / name
        ).read_bytes()
