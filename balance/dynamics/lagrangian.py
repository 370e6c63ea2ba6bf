"""Potential energy of weight and springs, and the Lagrangian; RobotDynamicsETH 3.4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector, frame_id, symmetrise
from balance.dynamics.kinematics import frame_placement, relative_jacobian
from balance.errors import InputError


@dataclass(frozen=True, slots=True)
class Spring:
    """A linear spring between the origins of two frames; RobotDynamicsETH (3.34).

    Attributes:
        from_frame, to_frame: names of the frames; ``"universe"`` is the world.
        stiffness: k, N/m.
        rest_length: d_0, m.
    """

    from_frame: str
    to_frame: str
    stiffness: float
    rest_length: float = 0.0

    def __post_init__(self) -> None:
        if not (self.stiffness >= 0.0 and self.rest_length >= 0.0):
            raise InputError(
                f"the spring between '{self.from_frame}' and '{self.to_frame}' has stiffness "
                f"{self.stiffness:g} N/m and rest length {self.rest_length:g} m; neither may be "
                "negative"
            )


def gravitational_energy(model: pin.Model, q: ArrayLike) -> float:
    """U_g = -sum r_Si^T m_i g e_g over the links, J; RobotDynamicsETH (3.32)-(3.33)."""
    data = model.createData()
    pin.forwardKinematics(model, data, check_vector("q", q, model.nq))
    weight = model.gravity.linear
    bodies = range(1, model.njoints)
    heights = (data.oMi[i].act(model.inertias[i].lever) @ weight for i in bodies)
    masses = (model.inertias[i].mass for i in bodies)
    return -float(sum(m * h for m, h in zip(masses, heights, strict=True)))


def spring_energy(model: pin.Model, q: ArrayLike, springs: Sequence[Spring]) -> float:
    """U_E = sum k (d(q) - d_0)^2 / 2, J; RobotDynamicsETH (3.34)."""
    lengths = (np.linalg.norm(_stretch(model, q, spring)) for spring in springs)
    energies = (
        0.5 * spring.stiffness * (length - spring.rest_length) ** 2
        for spring, length in zip(springs, lengths, strict=True)
    )
    return float(sum(energies))


def spring_torques(model: pin.Model, q: ArrayLike, springs: Sequence[Spring]) -> Array:
    """-dU_E/dq (nv,), the springs as generalised forces; the note below RobotDynamicsETH (3.34)."""
    total = np.zeros(model.nv)
    for spring in springs:
        stretch = _stretch(model, q, spring)
        length = float(np.linalg.norm(stretch))
        if length == 0.0:
            continue  # the ends meet: no direction to pull in
        J = relative_jacobian(model, q, spring.from_frame, spring.to_frame)[:3]
        pull = spring.stiffness * (length - spring.rest_length) / length
        total -= pull * (J.T @ stretch)
    return total


def potential_energy(model: pin.Model, q: ArrayLike, springs: Sequence[Spring] = ()) -> float:
    """U = U_g + U_E, J."""
    return gravitational_energy(model, q) + spring_energy(model, q, springs)


def lagrangian(
    model: pin.Model, q: ArrayLike, v: ArrayLike, springs: Sequence[Spring] = ()
) -> float:
    """L = T - U, J, whose Euler-Lagrange equation (3.27) is the motion; RobotDynamicsETH (3.26).

    T is v^T M v / 2 (3.31) with the rotors' part, ``model.armature``.
    """
    v = check_vector("v", v, model.nv)
    data = model.createData()
    M = symmetrise(pin.crba(model, data, check_vector("q", q, model.nq)))
    return 0.5 * float(v @ M @ v) - potential_energy(model, q, springs)


def _stretch(model: pin.Model, q: ArrayLike, spring: Spring) -> Array:
    """Vector (3,) from one end of the spring to the other, world axes."""
    for name in (spring.from_frame, spring.to_frame):
        frame_id(model, name)
    start, end = (
        frame_placement(model, q, name).translation for name in (spring.from_frame, spring.to_frame)
    )
    return np.asarray(end - start)
