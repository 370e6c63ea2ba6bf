"""The Coulomb problem: cones, Signorini's condition and maximum dissipation, on random contacts."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.simulation.plants.coulomb import CoulombSolver, coulomb_complementarity

Array = NDArray[np.float64]

FEASIBLE = 1e-8  # N s, m/s
COMPLEMENTARY = 1e-8  # N s times m/s


def random_contacts(rng: np.random.Generator) -> tuple[Array, Array]:
    """Delassus matrix and free velocity of 1 to 8 points on bodies that weigh 1 to 100 kg."""
    n = int(rng.integers(1, 9))
    J = rng.normal(size=(3 * n, int(rng.integers(3 * n, 40))))
    W = J @ J.T / J.shape[1] / 10.0 ** rng.uniform(0, 2)
    return W, rng.normal(size=3 * n)


@pytest.mark.parametrize("friction", [0.3, 0.8])
def test_impulses_meet_every_condition_of_coulomb_contact(friction: float) -> None:
    rng = np.random.default_rng(5)
    solver = CoulombSolver(pin.buildSampleModelManipulator(), 1e-9)
    kinds = np.zeros(3, dtype=int)
    for _ in range(100):
        W, g = random_contacts(rng)
        found = solver.solve(W, g, np.zeros(g.size), np.full(g.size // 3, friction))
        impulses = found.reshape(-1, 3)
        c = (W @ impulses.ravel() + g).reshape(-1, 3)
        slip, pull = np.linalg.norm(c[:, :2], axis=1), np.linalg.norm(impulses[:, :2], axis=1)
        assert (impulses[:, 2] > -FEASIBLE).all()
        assert (pull < friction * impulses[:, 2] + FEASIBLE).all()
        assert (c[:, 2] > -FEASIBLE).all()
        assert np.abs(impulses[:, 2] * c[:, 2]).max() < COMPLEMENTARY
        # A point that slides is braked with mu times the normal impulse, against its motion.
        power = (impulses[:, :2] * c[:, :2]).sum(axis=1)
        np.testing.assert_allclose(power, -friction * impulses[:, 2] * slip, atol=COMPLEMENTARY)
        assert solver.complementarity < COMPLEMENTARY
        touching = impulses[:, 2] > 1e-6
        kinds += [
            (~touching).sum(),
            (touching & (slip < 1e-6)).sum(),
            (slip[touching] > 1e-6).sum(),
        ]
    assert (kinds > 10).all(), "open, sticking and sliding contacts must all occur"


def test_residual_measures_a_wrong_answer() -> None:
    """One point pressed down at 1 m/s: the right impulse is 2 N s, and 1 N s leaves half."""
    W, g = 0.5 * np.eye(3), np.array([0.0, 0.0, -1.0])
    assert coulomb_complementarity(W, g, np.array([0.0, 0.0, 2.0]), 0.5) == 0.0
    assert coulomb_complementarity(W, g, np.array([0.0, 0.0, 1.0]), 0.5) == pytest.approx(0.5)
