"""Contradicting inequalities: found, irreducible, and named."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from balance.control.qp.diagnosis import conflict_sentence, smallest_conflict, violation


def feasible(C: np.ndarray, d: np.ndarray) -> bool:
    """An independent question to another algorithm: is there any x with C x >= d?"""
    if len(d) == 0:
        return True
    answer = linprog(
        np.zeros(C.shape[1]), A_ub=-C, b_ub=-d, bounds=(None, None), method="highs-ipm"
    )
    return bool(answer.status == 0)


def random_rows(seed: int, rows: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rows, n)), rng.uniform(-0.2, 1.0, rows)


@pytest.mark.parametrize("seed", range(40))
def test_a_conflict_is_a_contradiction_of_which_nothing_can_be_left_out(seed: int) -> None:
    C, d = random_rows(seed, rows=12, n=3)
    conflict = smallest_conflict(C, d)
    assert (conflict == []) == feasible(C, d)
    if conflict:
        assert not feasible(C[conflict], d[conflict])
        assert len(conflict) <= C.shape[1] + 1  # Helly's theorem
        for row in conflict:
            rest = [i for i in conflict if i != row]
            assert feasible(C[rest], d[rest])


def test_some_random_programs_are_feasible_and_some_are_not() -> None:
    verdicts = {smallest_conflict(*random_rows(seed, 12, 3)) == [] for seed in range(40)}
    assert verdicts == {True, False}


def test_the_smallest_of_all_conflicts_is_found_where_there_is_one_pair() -> None:
    C = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.0, 1.0]])
    d = np.array([2.0, -1.0, 0.0, -5.0, -9.0])  # x >= 2 and x <= 1
    pairs = [p for p in itertools.combinations(range(5), 2) if not feasible(C[[*p]], d[[*p]])]
    assert pairs == [(0, 1)] and smallest_conflict(C, d) == [0, 1]
    assert violation(C, d)[0] == pytest.approx(0.5)


def test_the_sentence_names_each_constraint_once() -> None:
    C, d = np.array([[1.0], [-1.0], [-2.0]]), np.array([2.0, -1.0, -9.0])
    names = ["left knee: torque at its lower limit", "left sole: CoP at its front edge", "other"]
    assert conflict_sentence(C, d, names) == (
        "these cannot be kept together: left knee: torque at its lower limit; "
        "left sole: CoP at its front edge"
    )
    assert conflict_sentence(C[:1], d[:1], names) == ""


def test_a_row_without_entries_is_a_conflict_of_its_own() -> None:
    C, d = np.array([[1.0], [0.0]]), np.array([0.0, 1.0])
    assert conflict_sentence(C, d, ["a", "b"]) == "b cannot be kept"
