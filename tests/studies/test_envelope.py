"""Envelopes: searches that can be resumed, and their tables."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml

from balance.config.schema import validate
from balance.config.studies import DirectionsConfig, EnvelopeConfig, load_study
from balance.errors import ConfigError, FileError
from balance.recordings.metrics import ankle_limit
from balance.robots import Robot, load_robot
from balance.studies.axes import Point
from balance.studies.directions import from_angles, headings
from balance.studies.envelope import MAX_ERRORS, DirectionSearch, Envelope, criteria_met
from balance.studies.limits import limit_row, limits_table, strategy_ranges
from balance.studies.search import Settings
from balance.studies.store import StudyFolder
from balance.studies.workers import Result, Task, execute, failed

PUSH = {"type": "impulse", "direction": [1, 0, 0], "time_s": 0.02, "impulse_Ns": 1.0}
FORCE = {"type": "force", "direction": [1, 0, 0], "time_s": 0.0, "force_N": 1.0, "duration_s": 0.01}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two variants in four directions."""
    cases = {"hip": {"pushes.0.body": "hip"}, "chest": {"pushes.0.body": "trunk"}}
    study = {
        "experiment": "toro_push",
        "set": {"duration_s": 0.3, "pushes": [PUSH]},
        "axes": [{"type": "cases", "name": "pushed at", "cases": cases}],
        "directions": {"count": 4},
    }
    path = tmp_path / "envelope.yaml"
    path.write_text(yaml.safe_dump(study, sort_keys=False))
    return path


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save the time that figures take."""
    monkeypatch.setattr(Envelope, "draw", lambda *_: None)


def envelope_of(path: Path, **overrides: Any) -> Envelope:
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    return Envelope(load_study(EnvelopeConfig, path, dotted), path.stem, str(path))


def pretend(task: Task) -> Result:
    """Pushes of up to 16 N s are recovered, up to 12 on flat soles, up to 20 upright."""
    impulse = task.config["pushes"][0]["impulse_Ns"]
    outcome = "recovered" if impulse <= 16 else "upright" if impulse <= 20 else "fell"
    lift = 0.001 if impulse <= 12 else 0.01
    return Result({"outcome": outcome, "max_sole_lift_m": lift})


def carry_out(envelope: Envelope, folder: StudyFolder, most: int = 10_000) -> int:
    """Run at most some of the runs in this process, the latest first; returns how many."""
    envelope.resume(folder)
    waiting: list[Task] = []
    count = 0
    while count < most:
        while (task := envelope.next_task()) is not None:
            waiting.append(task)
        if not waiting:
            break
        task = waiting.pop()
        row = envelope.row(task, pretend(task))
        folder.append(row)
        envelope.take(row)
        count += 1
    return count


def test_directions_go_round_from_x_to_y() -> None:
    config = validate(DirectionsConfig, {"count": 4, "elevation_deg": [0.0, 30.0]}, "test")
    found = headings(config)
    level = [(1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0)]
    assert [heading.vector for heading in found[:4]] == level
    assert found[5].vector == pytest.approx((0.0, math.sqrt(0.75), 0.5))
    vectors = validate(DirectionsConfig, {"vectors": [[0.0, -3.0, 3.0]]}, "test")
    (oblique,) = headings(vectors)
    assert (oblique.azimuth_deg, oblique.elevation_deg) == pytest.approx((270.0, 45.0))
    assert np.linalg.norm(oblique.vector) == pytest.approx(1.0)


def test_one_criterion_alone_takes_fewer_runs(file: Path, tmp_path: Path) -> None:
    counts, found = [], []
    for name, chosen in (("all", {}), ("one", {"criteria": ["recovered"]})):
        envelope = envelope_of(file, **chosen)
        with StudyFolder(tmp_path / name, envelope.kind, envelope.definition) as folder:
            counts.append(carry_out(envelope, folder))
            envelope.finish(folder)
        found.append({one.azimuth_deg: one.limits["recovered"].low for one in envelope.results()})
    assert counts[1] < counts[0]
    assert found[1] == pytest.approx(found[0], abs=0.04)
    assert "flat soles" not in (tmp_path / "one" / "summary.md").read_text()
    with pytest.raises(ConfigError, match="'criteria'"):
        envelope_of(file, criteria=[])


def test_every_limit_is_found_and_told_in_three_units(
    file: Path, tmp_path: Path, toro: Robot
) -> None:
    envelope = envelope_of(file)
    out = tmp_path / "out"
    with StudyFolder(out, envelope.kind, envelope.definition) as folder:
        carry_out(envelope, folder)
        envelope.finish(folder)
    rows = pq.read_table(out / "limits.parquet").to_pylist()
    assert [(r["input.pushed at"], r["azimuth_deg"]) for r in rows] == [
        (body, a) for body in ("hip", "chest") for a in (0.0, 90.0, 180.0, 270.0)
    ]
    for row in rows:
        angle = math.radians(row["azimuth_deg"])
        ankle = ankle_limit(toro, np.array([math.cos(angle), math.sin(angle), 0.0]))
        assert row["ankle_limit_Ns"] == pytest.approx(ankle, rel=1e-9)
        for name, true in (("recovered", 16.0), ("flat", 12.0), ("upright", 20.0)):
            assert 0 <= true - row[f"{name}_Ns"] <= 0.04 * ankle
            assert row[f"{name}_low_Ns"] == row[f"{name}_Ns"] <= true < row[f"{name}_high_Ns"]
            assert row[f"{name}_m_s"] == pytest.approx(row[f"{name}_Ns"] / toro.mass)
            assert row[f"{name}_ankle_fraction"] == pytest.approx(row[f"{name}_Ns"] / ankle)
    with open(out / "limits.csv", newline="") as text:
        first = next(csv.DictReader(text))
    assert float(first["recovered_Ns"]) == rows[0]["recovered_Ns"]
    assert len(pq.read_table(out / "runs.parquet")) == sum(row["runs"] for row in rows)
    assert np.mean([row["runs"] for row in rows]) <= 12
    summary = (out / "summary.md").read_text()
    assert "## chest" in summary and "flat soles [N s]" in summary
    assert (out / "figure.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("no_figures")
def test_a_disturbed_envelope_gives_the_same_tables(file: Path, tmp_path: Path) -> None:
    tables = []
    for pieces in ((10_000,), (3, 1, 20, 10_000)):
        out = tmp_path / f"{len(pieces)}"
        for most in pieces:
            envelope = envelope_of(file)
            with StudyFolder(out, envelope.kind, envelope.definition) as folder:
                before = len(folder)
                assert carry_out(envelope, folder, most) == len(folder) - before
                if most == 10_000:
                    envelope.finish(folder)
        tables.append([pq.read_table(out / f"{n}.parquet") for n in ("limits", "runs")])
    assert tables[0] == tables[1]


def test_rows_of_another_search_are_refused(file: Path, tmp_path: Path) -> None:
    envelope = envelope_of(file)
    with StudyFolder(tmp_path / "out", envelope.kind, envelope.definition) as folder:
        task = envelope.next_task()
        assert task is not None
        row = envelope.row(task, pretend(task))
        folder.append({**row, "push_ankle_fraction": 0.9})
        envelope = envelope_of(file)
        envelope.resume(folder)
        with pytest.raises(FileError, match=r"run 0.0 .* is not the one that this search asks for"):
            envelope.next_task()


def test_the_push_of_a_run_is_the_one_asked_for(file: Path, toro: Robot) -> None:
    envelope = envelope_of(file, directions={"azimuth_deg": [90.0], "elevation_deg": [60.0]})
    task = envelope.next_task()
    assert task is not None
    row = envelope.row(task, execute(task))
    sideways = ankle_limit(toro, np.array([0.0, 1.0, 0.0]))
    assert row["impulse_Ns"] == pytest.approx(sideways / math.cos(math.radians(60.0)))
    assert row["ankle_limit_fraction"] == pytest.approx(1.0)  # of the horizontal part
    assert row["push_ankle_fraction"] == 1.0


@pytest.mark.usefixtures("no_figures")
def test_seeds_of_a_vote_follow_that_of_the_experiment(file: Path, tmp_path: Path) -> None:
    envelope = envelope_of(file, seeds=3, experiment__seed=40)
    with StudyFolder(tmp_path / "out", envelope.kind, envelope.definition) as folder:
        carry_out(envelope, folder)
        envelope.finish(folder)
        assert {row["seed"] for row in folder.rows()} == {40, 41}  # all agree: two are a majority
    assert "vote of 3 seeds" in (tmp_path / "out" / "summary.md").read_text()


def test_the_tables_of_a_law_that_steps_say_what_held_it_and_the_limits_with_steps() -> None:
    heading, robot = from_angles(0.0, 0.0), load_robot("toro")
    one = DirectionSearch(
        0, Point({}, {}), robot, heading, Settings(0.2), ("recovered",), lambda n: 40.0 + n, (1, 2)
    )
    while one.probe is not None:
        size = one.probe.impulse
        outcome = "recovered" if size < 1.5 else "fell"
        words = "ankles" if size < 0.9 else "hips" if size < 1.2 else "1 step"
        one.answer({"outcome": outcome, "max_sole_lift_m": 0.0, "strategy": words})
    found = one.result_with_limits()
    assert found.recovery_limit_Ns == 40.0 and found.step_limits_Ns == {1: 41.0, 2: 42.0}
    assert all(size < 1.5 for size, _ in found.strategies)
    best = max(size for size, _ in found.strategies)
    assert strategy_ranges(found).endswith(f"1 step {best:.2f}")
    head, (row,) = limits_table([found], ("recovered",), noisy=False)
    cells = dict(zip(head, row, strict=True))
    assert cells["with 2 steps"] == f"{42.0 / found.ankle_limit_Ns:.2f}"
    assert cells["held by, up to"] == strategy_ranges(found)
    assert limit_row(found)["recovery_limit_1_steps_Ns"] == 41.0


def test_flat_soles_need_a_recovery_and_less_than_two_millimetres() -> None:
    def met(outcome: str, lift: float) -> set[str]:
        return set(criteria_met({"outcome": outcome, "max_sole_lift_m": lift}))

    assert met("recovered", 0.0019) == {"recovered", "flat", "upright"}
    assert met("recovered", 0.0021) == {"recovered", "upright"}
    assert met("upright", 0.0) == {"upright"}
    assert met("fell", 0.0) == met("aborted", 0.0) == set()
    assert criteria_met({"outcome": "error", "error": "crashed"}) == set()


@pytest.mark.usefixtures("no_figures")
def test_a_direction_that_keeps_crashing_is_given_up(file: Path, tmp_path: Path) -> None:
    envelope = envelope_of(file, directions={"azimuth_deg": [0.0]}, axes=[])
    with StudyFolder(tmp_path / "out", envelope.kind, envelope.definition) as folder:
        envelope.resume(folder)
        while (task := envelope.next_task()) is not None:
            row = envelope.row(task, Result(failed("it broke")))
            folder.append(row)
            envelope.take(row)
        assert len(folder) == MAX_ERRORS
        envelope.finish(folder)
    (row,) = pq.read_table(tmp_path / "out" / "limits.parquet").to_pylist()
    assert row["recovered_Ns"] is None and row["errors"] == MAX_ERRORS
    assert "it broke" in (tmp_path / "out" / "summary.md").read_text()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"experiment__pushes": []}, "an envelope needs a push to vary; 'pushes' is empty"),
        ({"experiment__pushes": [FORCE]}, "'pushes.0.type' = 'force'"),
        ({"experiment__pushes": [{**PUSH, "axes": "body"}]}, "are in world axes"),
        ({"directions": {}}, "give one of count, azimuth_deg and vectors; given: none"),
        ({"directions": {"count": 4, "azimuth_deg": [1.0]}}, "given: count, azimuth_deg"),
        ({"directions": {"count": 0}}, "greater than or equal to 1"),
        ({"directions": {"azimuth_deg": []}}, "at least 1"),
        ({"directions": {"vectors": [[0.0, 0.1, 1.0]]}}, "is steeper than 80 degrees"),
        ({"seeds": 2}, "seeds = 2 must be odd"),
        ({"tolerance": 0.3, "start": 0.2}, "must be in this order"),
    ],
)
def test_bad_envelopes_are_one_clear_sentence(
    file: Path, changes: dict[str, Any], sentence: str
) -> None:
    changes = {"axes": [], **changes}
    with pytest.raises(ConfigError) as caught:
        envelope_of(file, **changes)
    assert sentence in str(caught.value)
    assert str(caught.value).startswith(str(file))


def test_a_limit_does_not_depend_on_the_configured_duration(file: Path, tmp_path: Path) -> None:
    """At half a second the robot still sways, at twelve it has long been at rest."""
    search = {"start": 0.3, "largest": 0.3, "tolerance": 0.3, "criteria": ["recovered"]}
    found = []
    for duration in (0.5, 12.0):
        changes = {"axes": [], "directions": {"count": 1}, "experiment__duration_s": duration}
        envelope = envelope_of(file, **changes, **search)
        task = envelope.next_task()
        assert task is not None
        row = envelope.row(task, execute(task))
        envelope.take(row)
        assert envelope.next_task() is None
        found.append((row["outcome"], row["simulated_s"], envelope.results()[0].limits))
    assert found[0] == found[1]
    assert found[0][0] == "recovered" and found[0][1] > 0.5
