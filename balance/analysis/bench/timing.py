"""Timing of calls on the same states, one after the other: a busy machine hits them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.simulation.undisturbed import no_garbage_collection

Array = NDArray[np.float64]
Call = Callable[[int], object]


@dataclass(frozen=True)
class Timing:
    """Times of a call in microseconds.

    ``median`` and ``p99`` are over states, each with the best of all rounds: what the code itself
    takes, and how much that depends on the state.  ``raw_p99`` is over all states and rounds, with
    whatever else the machine did meanwhile.
    """

    median: float
    p99: float
    raw_p99: float

    @classmethod
    def of(cls, times: Array) -> Timing:
        """From times (rounds, states) in seconds."""
        best = 1e6 * times.min(axis=0)
        return cls(
            float(np.median(best)),
            float(np.percentile(best, 99)),
            float(1e6 * np.percentile(times, 99)),
        )


def time_calls(calls: Mapping[str, Call], states: int, rounds: int) -> dict[str, Timing]:
    """Times of calls that take the number of a state."""
    all_times = times_of_calls(calls, states, rounds)
    return {name: Timing.of(of_call) for name, of_call in all_times.items()}


def times_of_calls(calls: Mapping[str, Call], states: int, rounds: int) -> dict[str, Array]:
    """All of them (rounds, states), in seconds."""
    clock = time.perf_counter
    times = {name: np.empty((rounds, states)) for name in calls}
    with no_garbage_collection():
        for round_ in range(rounds):
            for state in range(states):
                for name, call in calls.items():
                    began = clock()
                    call(state)
                    times[name][round_, state] = clock() - began
    return times


def growth_exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """p of the best fit time = c size^p, by least squares of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
