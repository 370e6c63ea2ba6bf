"""The largest level of a fixed ladder that is withstood, found with few levels tried.

From a first guess the search goes up or down by one, two, four ... rungs until it has one level
that is withstood below one that is not, and halves the gap between them.  Rungs that are not tried
are taken to be like their neighbours: the limit is the highest level withstood below the lowest
that was not, and a level that happens to be withstood beyond a failure does not count.
"""

from __future__ import annotations

from collections.abc import Mapping


def next_level(passed: Mapping[int, bool], count: int, guess: int) -> int | None:
    """The next rung to try of ``count``, given which were withstood; None when all is known."""
    guess = min(max(guess, 0), count - 1)
    if not passed:
        return guess
    low, high = bracket(passed, count)
    if high - low == 1:
        return None
    if high == count and not any(not good for good in passed.values()):
        return min(low + _stride(passed), count - 1)
    if low == -1:
        return max(high - _stride(passed), 0)
    return (low + high) // 2


def bracket(passed: Mapping[int, bool], count: int) -> tuple[int, int]:
    """The highest rung withstood (-1: none) below the lowest that was not (``count``: none)."""
    high = min((rung for rung, good in passed.items() if not good), default=count)
    low = max((rung for rung, good in passed.items() if good and rung < high), default=-1)
    return low, high


def _stride(passed: Mapping[int, bool]) -> int:
    """1, 2, 4 ...: twice as far with every level tried."""
    return int(2 ** (len(passed) - 1))
