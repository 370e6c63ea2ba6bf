"""A robot's own numbers: how far and how fast it leans, its moments, and how they are kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.recordings.verdict import MAX_TILT_RAD
from balance.robots import Robot, load_robot
from balance.robots.capability import AZIMUTHS, Capability, capability, kept
from balance.robots.capability.body import at_rest, level_directions
from balance.robots.capability.excursion import MOST_TILT_RAD, OVERLAP_M, largest_excursion
from balance.robots.capability.flywheel import (
    TOP_SPEED,
    momentum_bound,
    momentum_map,
    turning_axis,
)
from balance.robots.capability.moments import moment_rows, windowed_programme
from balance.robots.shapes.proximity import Proximity

Array = NDArray[np.float64]
SIDEWAYS = np.array([0.0, 1.0])


@pytest.fixture(scope="module")
def numbers(toro: Robot) -> Capability:
    return capability(toro)


@pytest.mark.parametrize("degrees", [0.0, 100.0])
def test_the_furthest_lean_is_a_posture_that_stands(toro: Robot, degrees: float) -> None:
    direction = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    found = largest_excursion(toro, direction)
    start = at_rest(toro, toro.q_nominal, toro.soles)
    body = at_rest(toro, found.q, toro.soles)
    for sole in toro.soles:
        moved = pin.log6(sole.pose(start.data).actInv(sole.pose(body.data))).vector
        assert np.abs(moved).max() < 5e-3  # m, rad
    assert np.abs((body.com - start.com)[:2]).max() < 5e-3
    assert 0.85 * start.com[2] < body.com[2] < start.com[2] + 5e-3
    assert (found.q[7:] < toro.model.upperPositionLimit[7:] + 0.02).all()
    assert (found.q[7:] > toro.model.lowerPositionLimit[7:] - 0.02).all()
    near = Proximity(toro).self_contacts(body.data)
    assert min((pair.distance for pair in near), default=0.0) > -OVERLAP_M - 1e-4


def test_no_lean_tilts_the_base_by_more_than_counts_as_a_fall(toro: Robot) -> None:
    assert MOST_TILT_RAD == MAX_TILT_RAD
    found = largest_excursion(toro, np.array([1.0, 0.0]))  # 81 degrees without that bound
    upwards = pin.Quaternion(found.q[3:7]).matrix()[2, 2]
    assert np.arccos(upwards) == pytest.approx(MAX_TILT_RAD, abs=0.02)


def test_a_lean_is_the_momentum_map_times_the_way_of_its_coordinates(toro: Robot) -> None:
    found, B = largest_excursion(toro, SIDEWAYS), momentum_map(toro)
    R = pin.Quaternion(toro.q_nominal[3:7]).matrix().T @ pin.Quaternion(found.q[3:7]).matrix()
    delta = np.append(pin.log3(R), (found.q - toro.q_nominal)[7:][B.free])
    np.testing.assert_allclose(found.turn, B.B @ delta, rtol=1e-12)
    assert found.value == pytest.approx(turning_axis(SIDEWAYS) @ found.turn, rel=1e-12)
    # Leaning to the left turns the base about -x, as a fall to the left does.
    assert pin.log3(R)[0] < -0.3


def test_no_motion_within_the_speeds_has_more_momentum_than_the_bound(toro: Robot) -> None:
    body, rng = at_rest(toro, toro.q_nominal, toro.soles), np.random.default_rng(5)
    still = np.linalg.svd(np.vstack([body.J, body.A[:3]]))[2][len(body.J) + 3 :]
    direction = np.array([0.8, 0.6])
    bound = momentum_bound(toro, direction)
    shares = []
    for weights in rng.normal(size=(300, len(still))):
        v = weights @ still
        v /= np.abs(v[6:] / toro.rated_speeds).max() / TOP_SPEED
        shares.append(turning_axis(direction) @ body.A[3:] @ v / bound)
    assert 0.1 < max(shares) < 1.0


def test_supports_of_moments_hold_for_whatever_the_programme_can_do(toro: Robot) -> None:
    programme = windowed_programme(toro, 0.08, friction=0.8)
    rows = moment_rows(programme, AZIMUTHS, 0.1, 0.2)
    rng = np.random.default_rng(2)
    for _ in range(10):
        goal = rng.normal(size=2) @ programme.p + rng.normal(size=2) @ programme.u
        unknowns = programme.most(goal)[1]
        p, u = programme.p @ unknowns, programme.u @ unknowns
        assert (rows.on_p @ p + rows.on_u @ u < rows.most + 1e-6).all()


def test_light_joints_cannot_be_turned_hard_for_long(toro: Robot) -> None:
    most = []
    for window in (0.02, 0.08, 0.3):
        programme = windowed_programme(toro, window, from_rest=True)
        most.append(programme.most(programme.u[0])[0])
    assert most[0] > 1.2 * most[1] > 1.2 * 1.5 * most[2]


def test_numbers_are_those_of_the_robot(toro: Robot, numbers: Capability) -> None:
    assert numbers.omega == pytest.approx(np.sqrt(9.81 / toro.com()[2]))
    lengths = numbers.mass * numbers.height
    reaches = [numbers.lean_reach(e) / lengths for e in level_directions(AZIMUTHS)]
    # Symmetric about the middle plane; 0.09 to 0.16 m is what one radian and the arms can give.
    np.testing.assert_allclose(reaches[1:4], reaches[:4:-1], rtol=0.05)
    assert 0.09 < min(reaches) < max(reaches) < 0.16
    assert (numbers.momentum > 20.0).all() and (numbers.momentum < 40.0).all()  # kg m^2/s
    weight = numbers.mass * numbers.gravity * numbers.height
    assert (numbers.driving / weight > 0.15).all() and (numbers.driving / weight < 0.4).all()


def test_numbers_are_read_back_exactly_and_what_is_broken_is_found_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    tree = {"a": 0.1, "b": [1.0 / 3.0, 2.0]}
    assert kept.kept(load_robot("solo12"), "something", lambda: tree) == tree
    (file,) = tmp_path.rglob("robots/*.json")
    other = load_robot("solo12")
    assert kept.kept(other, "something", dict) == tree
    file.write_text("{", encoding="utf-8")
    assert kept.kept(load_robot("solo12"), "something", lambda: {"b": 2}) == {"b": 2}
    assert json.loads(file.read_text(encoding="utf-8")) == {"b": 2}


def test_what_a_robot_can_do_belongs_to_its_limits_posture_and_contacts() -> None:
    robot = load_robot("solo12")
    first = kept.robot_digest(robot)
    assert kept.robot_digest(load_robot("solo12")) == first
    limits = np.array(robot.model.upperEffortLimit)
    limits[6:] *= 0.5
    robot.model.upperEffortLimit = limits
    assert kept.robot_digest(robot) != first
