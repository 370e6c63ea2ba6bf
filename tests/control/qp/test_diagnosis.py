"""Contradicting inequalities: found, irreducible, and named."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from balance.control.qp.diagnosis import Limit, conflict_sentence, smallest_conflict, violation


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
    limits = [Limit("torque limits", "left knee"), Limit("left sole", "CoP"), Limit("other", "row")]
    assert conflict_sentence(C, d, limits) == (
        "these cannot be kept together: torque limits (left knee); left sole (CoP)"
    )
    assert conflict_sentence(C[:1], d[:1], limits) == ""


def test_the_sentence_names_the_heaviest_of_thirty_limits_and_counts_the_others() -> None:
    """A simplex of 30 faces without a point inside: no face can be left out of the conflict.

    -x_i >= -1 for 29 coordinates and sum(x) >= 30.  In rows of unit length the last one weighs
    sqrt(29) times as much as each of the others.
    """
    n = 29
    C = np.vstack([-np.eye(n), np.ones(n)])
    d = np.append(-np.ones(n), n + 1.0)
    limits = [Limit("torque limits", f"joint {i}") for i in range(n)]
    sentence = conflict_sentence(C, d, [*limits, Limit("left sole", "normal force")])
    assert smallest_conflict(C, d) == list(range(n + 1))
    head, first, second = sentence.replace(": ", "; ", 1).split("; ")
    assert (head, first) == ("these cannot be kept together", "left sole (normal force)")
    assert second.startswith("torque limits (joint ") and second.endswith(", 25 more)")
    assert second.count("joint ") == 4


def test_a_row_without_entries_is_a_conflict_of_its_own() -> None:
    C, d = np.array([[1.0], [0.0]]), np.array([0.0, 1.0])
    assert conflict_sentence(C, d, [Limit("a", "x"), Limit("b", "y")]) == "b: y cannot be kept"
