"""Rotations that make charts fail: random ones, near the identity, near pi, near gimbal lock."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

_RANDOM = 20_000
_SPECIAL = 3_000


@pytest.fixture(scope="session")
def rotations() -> Array:
    """35,024 rotation matrices; distances to a singularity go from 0.1 down to 1e-17."""
    rng = np.random.default_rng(2024)
    axes = rng.normal(size=(_SPECIAL, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    distance = 10.0 ** rng.uniform(-17.0, -1.0, _SPECIAL)
    angles = rng.uniform(-np.pi, np.pi, (_SPECIAL, 3))
    near_middle = angles.copy()
    near_middle[:, 1] = np.pi / 2 - distance
    near_zero = angles.copy()
    near_zero[:, 1] = distance
    near_straight = angles.copy()
    near_straight[:, 1] = np.pi - distance
    groups = [
        Rotation.random(_RANDOM, rng=rng),
        Rotation.from_rotvec(axes * distance[:, None]),
        Rotation.from_rotvec(axes * (np.pi - distance)[:, None]),
        Rotation.from_euler("ZYX", near_middle),
        Rotation.from_euler("ZYZ", near_zero),
        Rotation.from_euler("ZXZ", near_straight),
        # The 24 rotations of a cube hit every singularity exactly.
        Rotation.create_group("O"),
    ]
    return np.concatenate([group.as_matrix() for group in groups])


@pytest.fixture(scope="session")
def random_rotations(rotations: Array) -> Array:
    """The part of ``rotations`` that is uniform over SO(3)."""
    return rotations[:_RANDOM]
