"""Where a foot shall land: the pendulum carries its capture point there, and legs reach it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from balance.control.stepping.planner import FootMotion, Landing, Pendulum, plan_landing
from balance.control.stepping.sizes import LONGER, OUTWARDS, StepSizes, step_sizes
from balance.robots import Robot

Array = NDArray[np.float64]

CAUGHT_M = 1e-6
TIMES = np.linspace(0.2, 0.5, 16)


@pytest.fixture(scope="module")
def sizes(toro: Robot) -> StepSizes:
    return step_sizes(toro)


def plan(
    sizes: StepSizes, speed: Array, swing: int, heading: float = 0.0, times: Array = TIMES
) -> Landing:
    """Of a robot that stands as it does nominally, turned by ``heading``, at a level speed."""
    c, s = np.cos(heading), np.sin(heading)
    R = np.array([[c, -s], [s, c]])
    feet = sizes.nominal @ R.T
    com = np.zeros(2)
    pendulum = Pendulum(com, com + R @ speed / sizes.omega)
    return plan_landing(
        sizes,
        pendulum,
        swing,
        feet[1 - swing],
        heading,
        FootMotion.resting(feet[swing]),
        times,
        before=0.03,
    )


@pytest.mark.parametrize("swing", [0, 1])
def test_the_pendulum_takes_its_capture_point_to_where_the_foot_lands(
    sizes: StepSizes, swing: int
) -> None:
    """Integrated numerically, x'' = omega^2 (x - p), with the planned CoP."""
    speed = np.array([0.45, 0.0])
    found = plan(sizes, speed, swing)
    assert found.missed == 0.0
    until = 0.03 + found.time + sizes.load

    def motion(_: float, state: Array) -> Array:
        return np.append(state[2:], sizes.omega**2 * (state[:2] - found.cop))

    start = np.append(np.zeros(2), speed)
    end = solve_ivp(motion, (0.0, until), start, rtol=1e-10, atol=1e-12).y[:, -1]
    xi = end[:2] + end[2:] / sizes.omega
    side = 1.0 if swing == 0 else -1.0
    expected = [LONGER * xi[0], xi[1] + side * OUTWARDS * sizes.leg]
    np.testing.assert_allclose(found.place, expected, rtol=0, atol=CAUGHT_M)


@pytest.mark.parametrize("azimuth_deg", range(0, 360, 15))
@pytest.mark.parametrize("speed", [0.3, 0.9, 3.0])
@pytest.mark.parametrize("swing", [0, 1])
def test_feet_land_within_reach_and_never_cross(
    sizes: StepSizes, azimuth_deg: float, speed: float, swing: int
) -> None:
    angle = np.radians(azimuth_deg)
    found = plan(sizes, speed * np.array([np.cos(angle), np.sin(angle)]), swing)
    way = found.place - sizes.nominal[1 - swing]
    apart = way[1] if swing == 0 else -way[1]
    assert abs(way[0]) <= sizes.fore + 1e-12
    assert sizes.narrow - 1e-12 <= apart <= sizes.wide + 1e-12
    assert (np.abs(found.cop - sizes.nominal[1 - swing]) <= sizes.half[1 - swing] + 1e-12).all()
    assert found.time >= TIMES[0]  # later than the last where drives need it


def test_a_turned_robot_plans_the_same_turned(sizes: StepSizes) -> None:
    speed, turn = np.array([0.5, 0.3]), 0.7
    straight, turned = plan(sizes, speed, 0), plan(sizes, speed, 0, heading=turn)
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    np.testing.assert_allclose(turned.place, R @ straight.place, rtol=0, atol=1e-12)
    np.testing.assert_allclose(turned.cop, R @ straight.cop, rtol=0, atol=1e-12)
    assert turned.time == pytest.approx(straight.time, abs=1e-12)


def test_mirrored_pushes_have_mirrored_plans(sizes: StepSizes) -> None:
    left = plan(sizes, np.array([0.4, 0.5]), 0)
    right = plan(sizes, np.array([0.4, -0.5]), 1)
    np.testing.assert_allclose(right.place, left.place * [1, -1], rtol=0, atol=1e-6)
    assert right.time == pytest.approx(left.time, abs=1e-6)


def test_a_harder_push_is_caught_farther(sizes: StepSizes) -> None:
    soft, hard = (plan(sizes, np.array([v, 0.0]), 0) for v in (0.3, 0.6))
    assert hard.place[0] > soft.place[0]


def test_what_cannot_be_reached_is_missed(sizes: StepSizes) -> None:
    assert plan(sizes, np.array([0.3, 0.0]), 0).missed == 0.0
    assert plan(sizes, np.array([3.0, 0.0]), 0).missed > 0.1
