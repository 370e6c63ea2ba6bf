"""What contacts may bear while they open and close."""

from __future__ import annotations

import numpy as np

from balance.control.phases.loads import EMPTY_N, RAMP_S, LoadBounds, PlannedWrenches

WEIGHT, LEAST, FULL = 700.0, 10.0, 14000.0


def bounds() -> LoadBounds:
    loads = LoadBounds(2, LEAST, WEIGHT, FULL)
    loads.free(0)
    return loads


def test_a_free_contact_has_the_laws_own_bounds_and_one_that_is_off_none_to_speak_of() -> None:
    least, most = bounds().at(3.0)
    assert least[0] == LEAST
    assert most[0] == FULL and most[1] == EMPTY_N and least[1] < EMPTY_N


def test_load_is_taken_off_from_what_a_contact_bears_without_a_jump() -> None:
    loads = bounds()
    loads.unload(0, 1.0, 350.0)
    times = 1.0 + np.linspace(0.0, RAMP_S, 401)
    most = np.array([loads.at(time)[1][0] for time in times])
    assert most[0] == 350.0 and most[-1] == EMPTY_N
    assert (np.diff(most) <= 0.0).all() and np.abs(np.diff(most)).max() < 0.01 * 350.0
    assert not loads.is_off(0, 1.0 + 0.5 * RAMP_S) and loads.is_off(0, 1.0 + 1.01 * RAMP_S)
    assert all(least <= most for least, most in zip(*loads.at(1.2), strict=True))


def test_load_is_put_on_from_nothing_and_the_bound_goes_when_it_holds_nothing_back() -> None:
    loads = bounds()
    loads.close(1, 2.0)
    assert loads.at(2.0)[1][1] == EMPTY_N and loads.changing(2.0 + 0.9 * RAMP_S)[1]
    assert loads.at(2.0 + 0.999 * RAMP_S)[1][1] < WEIGHT
    after = 2.0 + 1.01 * RAMP_S
    assert loads.at(after)[1][1] == FULL and not loads.changing(after)[1]


def test_a_contact_that_opens_bears_nothing_from_then_on() -> None:
    loads = bounds()
    loads.open(0)
    assert loads.at(0.0)[1][0] == EMPTY_N


def test_a_contact_that_bears_the_least_goes_on_from_there_when_its_load_is_taken_off() -> None:
    loads = bounds()
    loads.unload(0, 1.0, LEAST)
    least = np.array([loads.at(1.0 + time)[0][0] for time in np.linspace(0.0, RAMP_S, 401)])
    assert LEAST - least[0] <= 0.1 * LEAST
    assert (np.diff(least) <= 0.0).all() and np.abs(np.diff(least)).max() < 0.01 * LEAST


def test_planned_wrenches_go_on_from_where_they_are_to_those_of_the_next_posture() -> None:
    rng = np.random.default_rng(5)
    first, second, third = rng.normal(size=(3, 2, 6))
    planned = PlannedWrenches(first)
    planned.go(1.0, second, 2.0)
    assert (planned.at(1.0) == first).all() and np.allclose(planned.at(2.0), (first + second) / 2)
    halfway = planned.at(2.4)
    planned.go(2.4, third, 1.0)
    assert np.allclose(planned.at(2.4), halfway, atol=0.0) and np.allclose(planned.at(9.0), third)
