"""The mechanical connection and the locked velocity of a floating-base robot.

Saccon2017 (3), (9)-(18).  With the base velocity v in base axes and the joint rates ds, the
momentum about the base frame is L(s) v + A(s) ds.  The connection L^-1 A turns joint rates into
the base velocity with the same momentum.  Like the paper, Pinocchio puts linear parts first and
takes the free flyer's velocity in base axes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_floating_base, check_state, check_vector
from balance.dynamics.momentum import locked_inertia
from balance.errors import InputError


@dataclass(frozen=True, slots=True)
class MechanicalConnection:
    """The base rows of the mass matrix at a shape s, in base axes about the base origin."""

    L: Array
    """(6, 6) locked inertia: the inertia of the whole robot with its joints held (3)."""
    A: Array
    """(6, nj) momentum per joint rate with the base held (3)."""
    connection: Array
    """(6, nj) mechanical connection L^-1 A (18); column i is the A_i of (20)."""


@dataclass(frozen=True, slots=True)
class MomentumMap:
    """The total momentum of the robot in three frames, kg m/s then kg m^2/s."""

    base: Array
    """(6,) L v + A ds, base axes about the base origin (12)."""
    inertial: Array
    """(6,) world axes about the world origin: the momentum map of Noether's theorem (9)."""
    centroidal: Array
    """(6,) world axes about the CoM, as used in robotics (11)."""


@dataclass(frozen=True, slots=True)
class LockedVelocity:
    """The velocity of the robot, joints held, that has its momentum; m/s then rad/s."""

    base: Array
    """(6,) of the base, in base axes (13)."""
    inertial: Array
    """(6,) right-trivialised: of the point of the locked robot at the world origin (16)."""
    average: Array
    """(6,) at the CoM with world axes: CoM velocity and average angular velocity (14), (38)."""


def mechanical_connection(
    model: pin.Model, s: ArrayLike, data: pin.Data | None = None
) -> MechanicalConnection:
    """L, A and the connection L^-1 A at the joint positions ``s`` (nj,), Saccon2017 (3), (18).

    ``s`` holds one number per joint, in rad or m; a joint without limits, which has two
    coordinates in Pinocchio's q, is one angle here.  ``data`` is overwritten; without it a new
    one is made.

    Raises InputError for a fixed base, joints of several degrees of freedom or a wrong ``s``, and
    SingularityError if L cannot be inverted.
    """
    check_one_dof_joints(model)
    data = pin.Data(model) if data is None else data
    q = shape_configuration(model, check_vector("s", s, model.nv - 6))
    return connection_at(model, data, q)


def momentum_map(
    model: pin.Model, q: ArrayLike, v: ArrayLike, data: pin.Data | None = None
) -> MomentumMap:
    """The momentum about the base, the world origin and the CoM, Saccon2017 (9), (11), (12)."""
    q, v = check_state(model, q, v)
    data = pin.Data(model) if data is None else data
    terms = connection_at(model, data, q)
    X_WB, X_WG = _world_frames(model, data, q)
    base = terms.L @ v[:6] + terms.A @ v[6:]
    inertial = X_WB.act(pin.Force(base))
    return MomentumMap(base, inertial.vector, X_WG.actInv(inertial).vector)


def locked_velocity(
    model: pin.Model, q: ArrayLike, v: ArrayLike, data: pin.Data | None = None
) -> LockedVelocity:
    """Locked and average velocity at a state, Saccon2017 (13), (14), (16)."""
    q, v = check_state(model, q, v)
    data = pin.Data(model) if data is None else data
    terms = connection_at(model, data, q)
    X_WB, X_WG = _world_frames(model, data, q)
    base = v[:6] + terms.connection @ v[6:]
    inertial = X_WB.act(pin.Motion(base))
    return LockedVelocity(base, inertial.vector, X_WG.actInv(inertial).vector)


def connection_at(model: pin.Model, data: pin.Data, q: Array) -> MechanicalConnection:
    """The connection at the shape of ``q`` (nq,), whatever its base pose; ``q`` is not checked.

    ``data`` then holds the joint axes ``J``, the composite inertias ``oYcrb`` and the CoM
    ``com[0]`` in base axes about the base origin.
    """
    check_floating_base(model)
    q = q.copy()
    # With the base frame on the world frame, Pinocchio's world quantities are in base axes.
    q[:7] = pin.SE3ToXYZQUAT(model.jointPlacements[1].inverse())
    pin.ccrba(model, data, q, np.zeros(model.nv))
    locked_inertia(model, data)
    X_BG = pin.SE3(np.eye(3), data.com[0])
    L = data.oYcrb[1].matrix()
    A = X_BG.toDualActionMatrix() @ data.Ag[:, 6:]
    return MechanicalConnection(L, A, np.linalg.solve(L, A))


def shape_configuration(model: pin.Model, s: Array) -> Array:
    """(nq,) configuration with the joint positions ``s`` (nj,)."""
    return pin.integrate(model, pin.neutral(model), np.concatenate([np.zeros(6), s]))


def check_one_dof_joints(model: pin.Model) -> None:
    """Raise unless every joint but the free flyer has one degree of freedom and hangs from it."""
    check_floating_base(model)
    velocities = model.nvs.tolist()
    for joint in range(2, model.njoints):
        if velocities[joint] != 1:
            raise InputError(
                f"joint '{model.names[joint]}' of model '{model.name}' has {velocities[joint]} "
                "degrees of freedom, but the shape s needs joints of one; replace it by a series "
                "of revolute or prismatic joints"
            )


def _world_frames(model: pin.Model, data: pin.Data, q: Array) -> tuple[pin.SE3, pin.SE3]:
    """Placements in the world of the base, and of the CoM with world axes."""
    com = pin.centerOfMass(model, data, q)
    return data.oMi[1].copy(), pin.SE3(np.eye(3), com)
