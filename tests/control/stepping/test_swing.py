"""The way of a swing foot: smooth, over the ground, and down at the speed that it shall have."""

from __future__ import annotations

import numpy as np
import pytest

from balance.control.stepping.swing import FASTEST, SwingPath

DT, TIME, LIFT, SPEED, LOWERING = 0.001, 0.25, 0.04, 0.1, 0.1
START = np.array([0.1, -0.2, 0.03])


def walked(goals: np.ndarray, time: float = TIME) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places, velocities and accelerations (n, 3) on a way to ``goals`` (n, 3), which may move."""
    path, rows = SwingPath(START, LIFT, SPEED, LOWERING), []
    for i, goal in enumerate(goals):
        path.advance(DT, goal, time - i * DT)
        rows.append(np.concatenate([path.place, path.velocity, path.acceleration]))
    return tuple(np.split(np.array(rows), 3, axis=1))  # type: ignore[return-value]


def test_it_lands_at_its_goal_at_rest_but_for_its_landing_speed() -> None:
    goal = START + np.array([0.5, 0.1, 0.02])
    places, velocities, _ = walked(np.tile(goal, (round(TIME / DT), 1)))
    np.testing.assert_allclose(places[-1], goal, rtol=0, atol=2e-3)
    # Nothing is aimed at in the last 4 ms, in which speeds fade.
    np.testing.assert_allclose(velocities[-1], [0, 0, -SPEED], rtol=0, atol=0.07)
    assert places[:, 2].max() == pytest.approx(START[2] + 0.02 + LIFT, abs=2e-3)


def test_velocities_are_the_derivatives_of_places_also_where_the_goal_moves() -> None:
    n = round(TIME / DT)
    goals = np.tile(START + np.array([0.4, 0.0, 0.0]), (n, 1))
    goals[n // 3 :, 1] += 0.1
    places, velocities, accelerations = walked(goals)
    rates = np.diff(places, axis=0) / DT
    np.testing.assert_allclose(rates, velocities[1:], rtol=0, atol=0.06)  # half a step away
    bends = np.diff(velocities, axis=0) / DT
    inner = slice(2, n - 40)
    calm = np.abs(np.diff(accelerations, axis=0)).max(axis=1)[inner] < 2.0  # no goal moved
    np.testing.assert_allclose(bends[inner][calm], accelerations[1:][inner][calm], rtol=0, atol=2.0)
    assert calm.mean() > 0.9


def test_a_foot_whose_landing_is_put_off_stays_up_until_it_goes_down() -> None:
    path, goal, heights = SwingPath(START, LIFT, SPEED, LOWERING), START + np.array([0.5, 0, 0]), []
    for _ in range(300):
        path.advance(DT, goal, 0.2)  # always as long away
        heights.append(path.place[2])
    assert min(heights[-100:]) > START[2] + 0.99 * LIFT
    for i in range(200):
        path.advance(DT, goal, 0.2 - i * DT)
    assert path.place[2] == pytest.approx(START[2], abs=2e-3)


def test_its_largest_speed_is_three_halves_of_the_mean() -> None:
    goal = START + np.array([0.5, 0.0, 0.0])
    _, velocities, _ = walked(np.tile(goal, (round(TIME / DT), 1)))
    assert velocities[:, 0].max() == pytest.approx(1.5 * 0.5 / TIME, rel=0.01)


def test_what_it_does_not_meet_it_seeks_further_down_the_faster_the_later() -> None:
    n = round(1.6 * TIME / DT)
    places, velocities, _ = walked(np.tile(START, (n, 1)))
    assert places[-1, 2] < START[2] - 0.01
    on_time = round(TIME / DT)
    assert velocities[on_time, 2] == pytest.approx(-SPEED, abs=0.02)
    late = velocities[on_time + 10 :, 2]
    assert (np.diff(late) <= 1e-9).all()
    assert velocities[-1, 2] == pytest.approx(-FASTEST * SPEED, abs=0.01)
    np.testing.assert_allclose(places[-1, :2], START[:2], rtol=0, atol=1e-3)
