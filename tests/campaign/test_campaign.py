"""Experiments that nobody chose keep the laws of physics, and those that once did not still do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from campaign.check import check, turn_of
from campaign.comparisons import mirrored
from campaign.draw import Drawn, draw, from_yaml
from campaign.invariants import complaints
from campaign.robots import varied
from campaign.shrink import shrink
from campaign.trial import ENGINES, run

SEED, COUNT, BATCH = 26, 200, 10
KEPT = sorted((Path(__file__).parent / "kept").glob("*.yaml"))


@pytest.mark.parametrize("first", range(0, COUNT, BATCH))
def test_drawn_experiments_break_no_law_of_physics(first: int) -> None:
    for index in range(first, first + BATCH):
        drawn = draw(SEED, index, short=True)
        if (turn := turn_of(index)) is not None:
            found = check(drawn, turn)["complaints"]
        else:
            found = [f"{e}: {what}" for e in ENGINES for what in complaints(run(drawn, e))]
        assert not found, f"experiment {index}: {found}\n{drawn.to_yaml()}"


@pytest.mark.parametrize("path", KEPT, ids=[path.stem for path in KEPT])
def test_what_once_failed_does_not_fail_again(path: Path) -> None:
    row = check(from_yaml(path.read_text(encoding="utf-8")), 0)
    assert row["complaints"] == []


def test_the_same_number_draws_the_same_experiment_and_yaml_keeps_it() -> None:
    for index in range(30):
        drawn = draw(SEED, index, short=True)
        assert draw(SEED, index, short=True) == drawn
        assert from_yaml(drawn.to_yaml()) == drawn
    assert draw(SEED, 1) != draw(SEED, 2)


@pytest.mark.parametrize("name", ["toro", "solo12"])
def test_a_larger_robot_stands_as_the_other_does(name: str) -> None:
    robot, larger = varied(name), varied(name, 1.2, 2.0)
    np.testing.assert_allclose(larger.com(), 1.2 * robot.com(), atol=1e-12)
    assert larger.mass == pytest.approx(2.0 * robot.mass)
    one, other = (np.array(of.model.inertias[2].inertia) for of in (robot, larger))
    np.testing.assert_allclose(other, 2.0 * 1.2**2 * one, rtol=1e-9, atol=1e-15)


def _pushed(**more: object) -> Drawn:
    push = {"type": "impulse", "body": "hip", "point_m": [0.0, 0.0, 0.0], "impulse_Ns": 5.0,
            "time_s": 0.05, "direction": [0.0, 1.0, 0.0]}  # fmt: skip
    tree = {
        "robot": "toro",
        "duration_s": 0.4,
        "control_period_s": 0.004,
        "plant": {"step_s": 0.004},
        "controller": {"law": "momentum"},
        "pushes": [push],
    }
    return Drawn({**tree, **more})


def test_a_mirror_turns_left_into_right_and_back() -> None:
    drawn = _pushed(faults=[{"type": "locked_joint", "joint": "left_knee", "time_s": 0.1}])
    image = mirrored(drawn)
    assert image is not None
    assert image.tree["faults"][0]["joint"] == "right_knee"
    assert image.tree["pushes"][0]["direction"] == [0.0, -1.0, 0.0]
    assert mirrored(image) == drawn


def test_what_is_no_part_of_a_failure_is_left_out() -> None:
    drawn = _pushed(seed=3, faults=[{"type": "locked_joint", "joint": "left_knee"}],
                    actuators={"lag_s": 0.001, "resolution_Nm": 0.1})  # fmt: skip
    found = shrink(drawn, lambda one: "lag_s" in one.tree.get("actuators", {}))
    assert found.tree["actuators"] == {"lag_s": 0.001}
    assert "faults" not in found.tree
    assert "seed" not in found.tree


@pytest.mark.parametrize("engine", ENGINES)
def test_a_witness_sees_what_is_wrong(engine: str) -> None:
    """Forces that are told wrong, a lost push and a false verdict are found."""
    found = run(_pushed(), engine)
    assert complaints(found) == []
    assert found.witness is not None and found.recording is not None
    seen = found.witness.seen
    seen.given = seen.given + 0.01 * seen.acted
    seen.unexplained, seen.friction, seen.cop, seen.beyond = 0.1, 0.01, 0.001, 0.1
    found.recording.push_force[:] *= 0.99
    found.recording.momentum[:] += 1e-3
    found.recording.contact_wrenches[-1] = 0.0
    names = {what.split(":")[0] for what in complaints(found)}
    assert {"momentum", "cones", "ranges", "pushes", "recorded_momentum"} <= names
    assert "recorded_wrenches" in names
