"""Modes of the closed loop, and which of them an axis shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.analysis.linear.loop import LinearLoop
from balance.dynamics.checks import symmetrise

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

AXES = ("CoM x", "CoM y", "CoM z", "rotation x", "rotation y", "rotation z")


@dataclass(frozen=True)
class Mode:
    """A pair of roots, or a real one: s in 1/s, natural frequency in Hz, damping ratio."""

    s: complex

    @property
    def frequency_hz(self) -> float:
        """Undamped natural frequency."""
        return abs(self.s) / (2.0 * np.pi)

    @property
    def damping_ratio(self) -> float:
        """1 for a real root that decays; negative if the mode grows."""
        return -self.s.real / max(abs(self.s), 1e-12)


def roots(A: Array, period: float) -> Complex:
    """Eigenvalues of a discrete loop as those of a continuous one, log(z) / period, in 1/s."""
    z = np.linalg.eigvals(A).astype(complex)
    # A root at zero has died out within a period.
    return np.asarray(np.log(np.where(np.abs(z) < 1e-12, 1e-12, z)) / period)


def is_stable(A: Array) -> bool:
    """Whether every disturbance dies out."""
    return bool(np.abs(np.linalg.eigvals(A)).max() < 1.0)


def axis_rows(loop: LinearLoop) -> Array:
    """(6, 2n) the outputs CoM x, y, z and rotation x, y, z."""
    return np.vstack([loop.com, loop.rotation])


def dominant_modes(loop: LinearLoop) -> list[Mode]:
    """For each axis the mode that is strongest in its answer to a blow along that axis.

    The blow is a unit impulse, or angular impulse, on the axis's own coordinate; a mode's strength
    is the size of its residue in that coordinate.
    """
    z, V = np.linalg.eig(loop.A)
    s = np.log(np.where(np.abs(z) < 1e-12, 1e-12, z.astype(complex))) / loop.period
    model, data = loop.robot.model, loop.robot.model.createData()
    M = symmetrise(pin.crba(model, data, loop.robot.q_nominal))
    n = loop.N.shape[1]
    inertia = loop.N.T @ M @ loop.N
    found = []
    for row in axis_rows(loop):
        blow = np.concatenate([np.zeros(n), np.linalg.solve(inertia, row[:n])])
        residues = np.abs((row @ V) * np.linalg.solve(V, blow.astype(complex)))
        found.append(Mode(complex(s[int(np.argmax(residues))])))
    return found
