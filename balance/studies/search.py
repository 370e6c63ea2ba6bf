"""The largest impulse that is recovered: a search that expects noise and gaps.

Whether a push is recovered is not quite a monotone function of its size, and with noise it is not
even a function.  The limit is therefore the largest impulse that was recovered *below the first
that was not*; a push that happens to be recovered beyond a failure does not count.

All impulses here are fractions of the ankle limit.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise

CRITERIA = ("recovered", "flat", "upright")
"""Recovered; recovered on flat soles; standing at the end, however the soles moved."""

SHRINK, GROWTH = 0.7, 1.3  # from one bracketing impulse to the next
# Below the limit no gap between tried impulses is wider than this part of it, down to half of it.
MAX_GAP, GAPS_FROM = 1 / 3, 0.5


@dataclass(frozen=True)
class Probe:
    """An impulse to try; ``seed`` counts from 0."""

    impulse: float
    seed: int


@dataclass(frozen=True)
class Trial:
    """A probe and which of the criteria it met."""

    probe: Probe
    met: frozenset[str]
    strategy: str | None = None
    """What held the robot at most, of a law that may step."""


@dataclass(frozen=True)
class Limit:
    """The largest impulse that met a criterion.

    Every trial up to ``low`` met it and none from ``high`` on; ``high`` is None if the largest
    impulse tried met it too.  ``value`` lies between the two: without noise it is ``low``.
    """

    value: float
    low: float
    high: float | None


@dataclass(frozen=True)
class Settings:
    """Fractions of the ankle limit, and how many seeds vote on the ends of ``recovered``."""

    tolerance: float
    start: float = 1.0
    largest: float = 3.0
    seeds: int = 1


def search(
    settings: Settings, criteria: Sequence[str] = CRITERIA
) -> Generator[Probe, frozenset[str], tuple[Trial, ...]]:
    """Yields probes, is sent the criteria that each one met, and returns all trials.

    Criteria share their trials; a trial made for one may reopen another, so the search ends only
    when none has a question left.
    """
    trials: list[Trial] = []
    while True:
        questions = (_next_probe(trials, criterion, settings) for criterion in criteria)
        probe = next((probe for probe in questions if probe is not None), None)
        if probe is None:
            return tuple(trials)
        trials.append(Trial(probe, (yield probe)))


def _next_probe(trials: Sequence[Trial], criterion: str, settings: Settings) -> Probe | None:
    """The next question about one criterion: bracketing, bisection, then confirmation."""
    low, high = _bracket(trials, criterion)
    if high is None:
        if low >= settings.largest:
            return None
        return Probe(min(max(GROWTH * low, settings.start), settings.largest), 0)
    if low == 0.0:
        return (
            None if high <= settings.tolerance else Probe(max(SHRINK * high, settings.tolerance), 0)
        )
    if high - low > settings.tolerance:
        return Probe(0.5 * (low + high), 0)
    if criterion != CRITERIA[0]:
        # Only the first criterion is confirmed: the others live on its trials, and a direction
        # stays affordable.
        return None
    for end in (low, high):
        votes = _votes(trials, criterion, end)
        if max(votes.count(True), votes.count(False)) <= settings.seeds // 2:
            return Probe(end, len(votes))
    return _gap_probe(trials, low)


def _gap_probe(trials: Sequence[Trial], low: float) -> Probe | None:
    """The middle of the widest gap in the upper half below ``low``, if it is too wide."""
    tried = {trial.probe.impulse for trial in trials}
    edges = [GAPS_FROM * low, *sorted(x for x in tried if GAPS_FROM * low < x <= low)]
    below, above = max(pairwise(edges), key=lambda gap: gap[1] - gap[0])
    return Probe(0.5 * (below + above), 0) if above - below > MAX_GAP * low else None


def _votes(trials: Sequence[Trial], criterion: str, impulse: float) -> list[bool]:
    """Whether the criterion was met at ``impulse``, for each seed tried there."""
    return [criterion in trial.met for trial in trials if trial.probe.impulse == impulse]


def _bracket(trials: Sequence[Trial], criterion: str) -> tuple[float, float | None]:
    """The largest impulse that passes below the first that fails, and that first one.

    The majority decides; while votes are equal the first one stands.
    """
    low = 0.0
    for impulse in sorted({trial.probe.impulse for trial in trials}):
        votes = _votes(trials, criterion, impulse)
        balance = votes.count(True) - votes.count(False)
        if not (balance > 0 or (balance == 0 and votes[0])):
            return low, impulse
        low = impulse
    return low, None


def limit(trials: Sequence[Trial], criterion: str) -> Limit:
    """What the trials say about one criterion."""
    value, _ = _bracket(trials, criterion)
    failed = [trial.probe.impulse for trial in trials if criterion not in trial.met]
    passed = [trial.probe.impulse for trial in trials if criterion in trial.met]
    first_failure, last_success = min(failed, default=math.inf), max(passed, default=0.0)
    return Limit(
        value,
        low=max((x for x in passed if x < first_failure), default=0.0),
        high=min((x for x in failed if x > last_success), default=None),
    )
