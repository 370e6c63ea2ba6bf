"""Rigid contacts that hold more than they need to: forces that nothing but give would tell."""

from __future__ import annotations

import numpy as np
import pytest

from balance.simulation.plants.hard_contact import held_impulses


def delassus(rank: int, size: int, seed: int) -> np.ndarray:
    J = np.random.default_rng(seed).standard_normal((size, rank))
    return J @ J.T


@pytest.mark.parametrize("rank", [5, 8])
def test_held_impulses_are_the_least_that_do_it(rank: int) -> None:
    W = delassus(rank, 8, 1)
    change = W @ np.random.default_rng(2).standard_normal(8)
    impulses, failed = held_impulses(W, change)
    assert not failed
    assert np.abs(W @ impulses - change).max() < 1e-9
    assert np.allclose(impulses, np.linalg.pinv(W, rcond=1e-9) @ change, rtol=1e-6)


def test_what_held_surfaces_cannot_do_is_told() -> None:
    W = delassus(5, 8, 1)
    against = np.linalg.eigh(W)[1][:, 0]  # a motion that no impulse changes
    assert held_impulses(W, against)[1]
