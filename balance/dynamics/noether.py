"""The momentum map from the symmetry of the Lagrangian, Saccon2017 appendix A, (43)-(46).

Moving the whole robot by g in SE(3) takes (H, s) to (g H, s) and leaves the kinetic energy alone.
Noether's theorem then names what is conserved: for each twist xi of the world, the derivative of
the Lagrangian along the fibre, in the direction in which the symmetry moves the robot.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import (
    Array,
    check_floating_base,
    check_state,
    check_vector,
    symmetrise,
)


def group_action(model: pin.Model, q: ArrayLike, g: pin.SE3) -> Array:
    """(nq,) configuration (g H, s) of the robot carried by ``g``, shape unchanged (44)."""
    check_floating_base(model)
    q = check_vector("q", q, model.nq)
    base = model.jointPlacements[1] * pin.XYZQUATToSE3(q[:7])
    carried = q.copy()
    carried[:7] = pin.SE3ToXYZQUAT(model.jointPlacements[1].inverse() * g * base)
    return carried


def infinitesimal_generator(model: pin.Model, q: ArrayLike, xi: ArrayLike) -> Array:
    """(nv,) velocity (^B X_A xi, 0) of a robot that is carried by the world twist ``xi`` (45)."""
    check_floating_base(model)
    q, xi = check_vector("q", q, model.nq), check_vector("xi", xi, 6)
    base = model.jointPlacements[1] * pin.XYZQUATToSE3(q[:7])
    return np.concatenate([base.actInv(pin.Motion(xi)).vector, np.zeros(model.nv - 6)])


def fibre_derivative(
    model: pin.Model,
    q: ArrayLike,
    v: ArrayLike,
    direction: ArrayLike,
    data: pin.Data | None = None,
) -> float:
    """v^T M z: the derivative of the kinetic energy at ``v`` in the ``direction`` z, below (43)."""
    q, v = check_state(model, q, v)
    z = check_vector("direction", direction, model.nv)
    data = pin.Data(model) if data is None else data
    return float(v @ symmetrise(pin.crba(model, data, q)) @ z)


def noether_momentum(
    model: pin.Model, q: ArrayLike, v: ArrayLike, data: pin.Data | None = None
) -> Array:
    """(6,) momentum map: the fibre derivative along the six generators, Saccon2017 (43), (46).

    Equal to :func:`balance.dynamics.momentum_map` about the world origin (9), which carries the
    momentum L v + A ds of the base frame there instead.
    """
    data = pin.Data(model) if data is None else data
    generators = [infinitesimal_generator(model, q, xi) for xi in np.eye(6)]
    return np.array([fibre_derivative(model, q, v, z, data) for z in generators])
