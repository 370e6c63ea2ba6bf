"""Inverse differential kinematics: example 2.9.1, optimality, and priorities."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from balance.dynamics.constraints import Contact, contact_jacobian
from balance.dynamics.differential_kinematics import (
    Task,
    damped_inverse,
    equal_priority_velocity,
    null_space,
    prioritised_velocity,
    support_consistent_velocity,
    weighted_inverse,
)
from balance.dynamics.kinematics import geometric_jacobian
from balance.errors import InputError

EXACT = 1e-12
PRINTED = 6e-4  # the notes print three decimals

seeds = st.integers(0, 2**32 - 1)
some = settings(deadline=None, derandomize=True, max_examples=50)


class TestMultiTaskExample:
    """Example 2.9.1: the planar arm at q = (30, 60, 60) degrees."""

    J_E = 0.5 * np.array([[0.0, -np.sqrt(3.0), -np.sqrt(3.0)], [-4.0, -3.0, -1.0]])
    tracking = Task(J_E, np.ones(2))
    resting = Task(np.eye(3)[:2], np.zeros(2))

    def squared_errors(self, velocity: np.ndarray) -> list[float]:
        return [float(e @ e) for e in (t.error(velocity) for t in (self.tracking, self.resting))]

    def test_jacobian(self) -> None:
        """(2.211)."""
        sums = np.cumsum([np.pi / 6, np.pi / 3, np.pi / 3])
        rows = [np.cumsum(row[::-1])[::-1] for row in (np.cos(sums), -np.sin(sums))]
        np.testing.assert_allclose(self.J_E, rows, atol=EXACT)

    def test_single_task(self) -> None:
        """(2.212), (2.221), (2.222)."""
        velocity = prioritised_velocity([self.tracking])
        np.testing.assert_allclose(velocity, [0.069, -0.560, -0.595], atol=PRINTED)
        np.testing.assert_allclose(self.squared_errors(velocity), [0.0, 0.319], atol=PRINTED)

    def test_equal_priority(self) -> None:
        """(2.217)-(2.220)."""
        velocity = equal_priority_velocity([self.tracking, self.resting])
        np.testing.assert_allclose(velocity, [-0.133, -0.067, -1.132], atol=PRINTED)
        np.testing.assert_allclose(self.J_E @ velocity, [1.039, 0.933], atol=PRINTED)
        np.testing.assert_allclose(self.squared_errors(velocity), [0.0059, 0.0223], atol=1e-4)

    def test_priority_to_tracking(self) -> None:
        """(2.224)-(2.227)."""
        N = np.array([[1.0, -2.0, 2.0], [-2.0, 4.0, -4.0], [2.0, -4.0, 4.0]]) / 9.0
        np.testing.assert_allclose(null_space(self.J_E), N, atol=EXACT)
        velocity = prioritised_velocity([self.tracking, self.resting])
        np.testing.assert_allclose(velocity, [-0.169, -0.085, -1.070], atol=PRINTED)
        np.testing.assert_allclose(self.squared_errors(velocity), [0.0, 0.036], atol=PRINTED)


@some
@given(seed=seeds, damping=st.sampled_from([0.0, 0.1, 2.0]))
def test_damped_inverse_minimises_its_cost(seed: int, damping: float) -> None:
    """Against the normal equations of |w - J u|^2 + damping^2 |u|^2."""
    rng = np.random.default_rng(seed)
    J, w = rng.normal(size=(6, 4)), rng.normal(size=6)
    expected = np.linalg.solve(J.T @ J + damping**2 * np.eye(4), J.T @ w)
    np.testing.assert_allclose(damped_inverse(J, damping) @ w, expected, atol=1e-10)


def test_damped_inverse_stays_bounded_at_a_singularity() -> None:
    straight = np.diag([1.0, 1e-8])
    assert np.abs(damped_inverse(straight)).max() > 1e7
    assert np.abs(damped_inverse(straight, damping=0.1)).max() <= 1.0 / (2 * 0.1)


@some
@given(seed=seeds)
def test_weighted_inverse_is_that_of_the_notes_and_of_least_weighted_norm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tall, wide = rng.normal(size=(6, 4)), rng.normal(size=(3, 5))
    w_task, w_joint = rng.uniform(0.1, 10.0, 6), rng.uniform(0.1, 10.0, 5)
    W = np.diag(w_task)
    closed_form = np.linalg.solve(tall.T @ W @ tall, tall.T @ W)  # (2.202)
    np.testing.assert_allclose(weighted_inverse(tall, w_task), closed_form, atol=1e-10)
    W_inv = np.diag(1.0 / w_joint)
    least_norm = W_inv @ wide.T @ np.linalg.inv(wide @ W_inv @ wide.T)
    actual = weighted_inverse(wide, joint_weights=w_joint)
    np.testing.assert_allclose(actual, least_norm, atol=1e-8 * np.abs(least_norm).max())


@some
@given(seed=seeds, damping=st.sampled_from([0.0, 0.5]))
def test_lower_tasks_never_disturb_higher_ones(seed: int, damping: float) -> None:
    rng = np.random.default_rng(seed)
    tasks = [Task(rng.normal(size=(m, 8)), rng.normal(size=m)) for m in (3, 3, 4)]
    for level in (1, 2):
        above = prioritised_velocity(tasks[:level], damping)
        below = prioritised_velocity(tasks, damping)
        for task in tasks[:level]:
            np.testing.assert_allclose(task.error(below), task.error(above), atol=1e-10)


@some
@given(seed=seeds)
def test_each_task_is_as_good_as_those_above_allow(seed: int) -> None:
    """The residual of task i is orthogonal to everything that the null space above can do."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(1, 7))
    tasks = [
        Task(np.vstack([rng.normal(size=(2, 7)), shared]), rng.normal(size=3)),
        Task(np.vstack([rng.normal(size=(2, 7)), shared]), rng.normal(size=3)),
        Task(rng.normal(size=(5, 7)), rng.normal(size=5)),
    ]
    velocity = prioritised_velocity(tasks)
    assert np.abs(velocity).max() < 1e6
    above = np.zeros((0, 7))
    for task in tasks:
        gradient = null_space(above) @ task.J.T @ task.error(velocity)
        scale = 1.0 + np.abs(velocity).max()
        assert np.abs(gradient).max() < 1e-8 * scale
        above = np.vstack([above, task.J])


def test_repeated_task_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    task = Task(rng.normal(size=(3, 6)), rng.normal(size=3))
    opposite = Task(task.J, -task.velocity)
    once = prioritised_velocity([task])
    np.testing.assert_allclose(prioritised_velocity([task, opposite]), once, atol=EXACT)


@some
@given(seed=seeds)
def test_support_consistent_velocity_moves_the_hand_and_not_the_feet(seed: int) -> None:
    pin.seed(4)
    humanoid = pin.buildSampleModelHumanoidRandom(True)
    rng = np.random.default_rng(seed)
    q = pin.integrate(humanoid, pin.neutral(humanoid), rng.normal(size=humanoid.nv))
    feet = [Contact("lleg6_body", face=True), Contact("rleg6_body", face=True)]
    J_c = contact_jacobian(humanoid, q, feet)
    hand = Task(geometric_jacobian(humanoid, q, "rarm6_body"), rng.normal(size=6))
    velocity = support_consistent_velocity(J_c, hand)
    assert np.abs(J_c @ velocity).max() < 1e-10 * (1.0 + np.abs(velocity).max())
    np.testing.assert_allclose(hand.J @ velocity, hand.velocity, atol=1e-9)
    N_c = null_space(J_c)
    direct = N_c @ np.linalg.pinv(hand.J @ N_c) @ hand.velocity  # (2.260)
    np.testing.assert_allclose(velocity, direct, atol=1e-9 * (1.0 + np.abs(direct).max()))


def test_wrong_input_is_named() -> None:
    task = Task(np.eye(3), np.zeros(3))
    with pytest.raises(InputError, match=r"Jacobian of shape \(2, 3\) and a velocity of shape"):
        Task(np.zeros((2, 3)), np.zeros(3))
    with pytest.raises(InputError, match="not finite"):
        Task(np.full((1, 3), np.nan), np.zeros(1))
    with pytest.raises(InputError, match="list of tasks is empty"):
        prioritised_velocity([])
    with pytest.raises(InputError, match="3 and 4 columns"):
        equal_priority_velocity([task, Task(np.eye(4), np.zeros(4))])
    with pytest.raises(InputError, match="expected 1 positive numbers"):
        equal_priority_velocity([task], task_weights=[0.0])
    with pytest.raises(InputError, match=r"damping is -1\.0"):
        damped_inverse(np.eye(2), damping=-1.0)
    with pytest.raises(InputError, match=r"contact Jacobian has shape \(6, 4\)"):
        support_consistent_velocity(np.zeros((6, 4)), task)
