"""The search on a ladder: it finds what trying every rung finds, with few tries."""

from __future__ import annotations

import pytest

from balance.studies.protocols.ladder import bracket, next_level


def searched(limit: int, count: int, guess: int) -> tuple[int, int]:
    """The rung found and how many were tried, if all up to ``limit`` are withstood."""
    passed: dict[int, bool] = {}
    while (rung := next_level(passed, count, guess)) is not None:
        assert rung not in passed
        passed[rung] = rung <= limit
    return bracket(passed, count)[0], len(passed)


@pytest.mark.parametrize("guess", [0, 3, 9, 14, 30])
@pytest.mark.parametrize("limit", range(-1, 15))
def test_every_limit_is_found_from_every_guess(limit: int, guess: int) -> None:
    found, tries = searched(limit, 15, guess)
    assert found == limit
    assert tries <= 8


def test_a_good_guess_takes_two_tries() -> None:
    assert searched(20, 60, 20) == (20, 2)
    assert searched(20, 60, 21) == (20, 2)


def test_a_success_beyond_a_failure_does_not_count() -> None:
    assert bracket({3: True, 5: False, 8: True}, 10) == (3, 5)
