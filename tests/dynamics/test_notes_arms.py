"""The arms of the lecture notes: closed forms, and which directions they can move in."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from balance.dynamics.differential_kinematics import jacobian_rank
from balance.dynamics.kinematics import frame_placement, geometric_jacobian
from balance.dynamics.notes_arms import END, planar_arm, scara, scara_coordinates
from balance.errors import InputError

EXACT = 1e-14


def test_planar_arm_reaches_where_the_notes_say() -> None:
    """(2.141)-(2.142), for lengths that differ."""
    lengths, height = (0.7, 0.5, 0.2), 0.4
    arm, q = planar_arm(lengths, height), np.array([0.3, -1.1, 0.6])
    angles = np.cumsum(q)
    X = frame_placement(arm, q, END)
    expected = [np.sin(angles) @ lengths, 0.0, height + np.cos(angles) @ lengths]
    np.testing.assert_allclose(X.translation, expected, atol=EXACT)
    np.testing.assert_allclose(X.rotation, pin.exp3(np.array([0.0, q.sum(), 0.0])), atol=EXACT)


def test_scara_tool_is_at_its_four_coordinates() -> None:
    """Examples 2.8.1 and 2.8.4: q = (alpha, beta, gamma, zeta) and chi_o = (x, y, z, phi)."""
    arm, rng = scara(), np.random.default_rng(1)
    for q in rng.uniform(-2.0, 2.0, (20, 4)):
        X, chi = frame_placement(arm, q, END), scara_coordinates(q)
        np.testing.assert_allclose(X.translation, chi[:3], atol=EXACT)
        turned = pin.exp3(np.array([0.0, 0.0, chi[3]]))
        np.testing.assert_allclose(X.rotation, turned, atol=1e-13)


def test_scara_moves_in_four_directions_and_never_in_the_other_two() -> None:
    """Example 2.8.4: of the six rows x, y, z and the rotation about the vertical are its own."""
    arm = scara()
    own = geometric_jacobian(arm, np.array([0.2, 1.0, -0.4, 0.1]), END)
    assert jacobian_rank(own).rank == 4 and jacobian_rank(own).singular
    rank = jacobian_rank(own[[0, 1, 2, 5]])
    assert not rank.singular and rank.redundancy == 0
    np.testing.assert_allclose(own[3:5], 0.0, atol=EXACT)


def test_rank_test_tells_a_stretched_arm_and_a_redundant_one() -> None:
    """RobotDynamicsETH 2.9.1: singular if rank < m_0, redundant if rank < n."""
    arm = planar_arm()
    position = [0, 2]
    bent = jacobian_rank(geometric_jacobian(arm, np.array([0.2, 0.9, -0.4]), END)[position])
    assert (bent.rank, bent.singular, bent.redundancy) == (2, False, 1)
    assert 1.0 < bent.condition < 20.0
    stretched = jacobian_rank(geometric_jacobian(arm, np.zeros(3), END)[position])
    assert (stretched.rank, stretched.singular, stretched.redundancy) == (1, True, 2)
    assert stretched.condition == float("inf")


def test_wrong_lengths_are_named() -> None:
    with pytest.raises(InputError, match=r"lengths is \[1\.0, -1\.0\]; expected at least one"):
        planar_arm((1.0, -1.0))
    with pytest.raises(InputError, match="expected 2 lengths above 0"):
        scara((0.4, 0.3, 0.2))
    with pytest.raises(InputError, match=r"shape \(0, 3\)"):
        jacobian_rank(np.zeros((0, 3)))
