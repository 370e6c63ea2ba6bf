"""The search for the largest recovered impulse, on known answers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from balance.studies.search import CRITERIA, MAX_GAP, Probe, Settings, Trial, limit, search

Answer = Callable[[Probe], frozenset[str]]
TOLERANCE = 0.04
FRACTIONS = st.floats(0.05, 2.9)


def ask(answer: Answer, options: Settings) -> tuple[Trial, ...]:
    """Carry on the dialogue to its end."""
    dialogue = search(options)
    probe = next(dialogue)
    while True:
        try:
            probe = dialogue.send(answer(probe))
        except StopIteration as end:
            return tuple(end.value)


def thresholds(recovered: float, flat: float, upright: float) -> Answer:
    bounds = dict(zip(CRITERIA, (recovered, flat, upright), strict=True))
    return lambda probe: frozenset(name for name in CRITERIA if probe.impulse <= bounds[name])


@settings(deadline=None, derandomize=True, max_examples=300)
@given(FRACTIONS, FRACTIONS, FRACTIONS)
def test_each_limit_is_found_to_the_tolerance(a: float, b: float, c: float) -> None:
    flat, recovered, upright = sorted((a, b, c))
    trials = ask(thresholds(recovered, flat, upright), Settings(TOLERANCE))
    for name, true in zip(CRITERIA, (recovered, flat, upright), strict=True):
        found = limit(trials, name)
        assert found.high is not None
        assert found.value == found.low <= true < found.high
        assert found.high - found.low <= TOLERANCE


def test_a_direction_needs_at_most_twelve_runs_on_average() -> None:
    rng = np.random.default_rng(1)
    runs = []
    for _ in range(300):
        recovered = rng.uniform(0.3, 1.4)
        flat, upright = recovered * rng.uniform(0.6, 1.0), recovered * rng.uniform(1.0, 1.2)
        runs.append(len(ask(thresholds(recovered, flat, upright), Settings(TOLERANCE))))
    assert np.mean(runs) <= 12.0


def test_noise_costs_at_most_twelve_runs_and_misses_by_little() -> None:
    """Each seed has limits of its own, 2 % apart; the vote of three finds the middle."""
    rng = np.random.default_rng(2)
    runs, misses = [], []
    for _ in range(200):
        recovered = rng.uniform(0.4, 1.3)
        factors = 1.0 + 0.02 * rng.normal(size=3)
        scale = np.array([1.0, rng.uniform(0.8, 1.0), 1.0])

        def answer(probe: Probe, r: float = recovered, f=factors, s=scale) -> frozenset[str]:  # type: ignore[no-untyped-def]
            return thresholds(*(r * f[probe.seed] * s))(probe)

        trials = ask(answer, Settings(TOLERANCE, seeds=3))
        found = limit(trials, "recovered")
        runs.append(len(trials))
        misses.append(found.value - recovered * np.median(factors))
        assert found.low <= found.value
        assert found.high is None or found.value < found.high
    assert np.mean(runs) <= 12.0
    assert np.min(misses) >= -TOLERANCE and np.max(misses) <= 1e-12


def test_a_split_vote_widens_the_interval() -> None:
    """Seed 1 is weaker by 0.1: the majority stands, the interval shows the doubt."""
    weak = thresholds(0.8, 0.8, 0.8)
    strong = thresholds(0.9, 0.9, 0.9)
    trials = ask(lambda p: (weak if p.seed == 1 else strong)(p), Settings(TOLERANCE, seeds=3))
    found = limit(trials, "recovered")
    assert 0.9 - TOLERANCE <= found.value <= 0.9
    assert found.low < found.value


def test_a_hole_below_the_limit_is_the_limit() -> None:
    """Impulses from 0.56 to 0.95 fail although larger ones are recovered up to 1.1."""

    def answer(probe: Probe) -> frozenset[str]:
        recovered = probe.impulse <= 0.56 or 0.95 < probe.impulse <= 1.1
        return frozenset(CRITERIA) if recovered else frozenset()

    width = 0.95 - 0.56
    assert width > MAX_GAP * 1.1  # no hole of this width is overlooked
    found = limit(ask(answer, Settings(TOLERANCE)), "recovered")
    assert 0.56 - TOLERANCE <= found.value <= 0.56
    assert found.high is not None and found.high > 1.0  # where recovery ends for good


def test_recovery_beyond_a_failure_does_not_count() -> None:
    def answer(probe: Probe) -> frozenset[str]:
        return frozenset(CRITERIA) if probe.impulse <= 0.6 or probe.impulse > 0.95 else frozenset()

    found = limit(ask(answer, Settings(TOLERANCE, start=0.7)), "recovered")
    assert 0.6 - TOLERANCE <= found.value <= 0.6


def test_the_search_ends_at_the_largest_impulse_allowed() -> None:
    found = limit(ask(thresholds(9, 9, 9), Settings(TOLERANCE, largest=2.0)), "recovered")
    assert found.value == 2.0
    assert found.high is None


def test_a_robot_that_always_falls_has_no_limit() -> None:
    trials = ask(lambda probe: frozenset(), Settings(TOLERANCE))
    found = limit(trials, "recovered")
    assert (found.value, found.high) == (0.0, TOLERANCE)
    assert len(trials) <= 12
