"""Saccon2017 as residuals, integrability: the constructive frame, the CoM's connection, section VI.

Oracles are central differences, Pinocchio's centroidal momentum, and the curvature on SE(3).
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin

from balance.analysis.theory.checks import (
    FINITE_DIFFERENCE_BOUND,
    CheckList,
    State,
    largest,
    relative_difference,
)
from balance.dynamics.checks import Array
from balance.dynamics.com_connection import com_connection, com_curvature
from balance.dynamics.connection import mechanical_connection
from balance.dynamics.curvature import curvature
from balance.dynamics.integrable_mechanisms import rotor_satellite, slider_satellite
from balance.dynamics.shape_frame import integrability_defect, shape_frame_derivative
from balance.dynamics.three_link import three_link
from balance.dynamics.virtual_constraint import constrained_curvature

_list = CheckList("Saccon2017")

FRAME_STATES = 1
"""States at which F(s) is built joint by joint."""
_MOVED_JOINTS = 2
"""Joints that move away from zero when F(s) is built; each is a path to integrate."""


@_list.add(
    "(21)-(23), d = 0", "F(s) satisfies (23) where flat", FINITE_DIFFERENCE_BOUND, FRAME_STATES
)
def flat_frame(_: pin.Model, state: State) -> float:
    """Right-trivialised differences of F(s) of the flat three-link mechanism against L^-1 A."""
    model, s, u = _three_link(0.0), state.v[:2], state.v[2:4]
    return relative_difference(
        shape_frame_derivative(model, s, u), mechanical_connection(model, s).connection @ u
    )


@_list.add(
    "(26)-(33)",
    "where curved, (23) fails by the curvature carried along the legs",
    FINITE_DIFFERENCE_BOUND,
    FRAME_STATES,
)
def curved_frame(model: pin.Model, state: State) -> float:
    """The robot itself, two of its joints moved; the others stay at zero."""
    nj = model.nv - 6
    moved = np.argsort(np.abs(state.v[6:]))[-_MOVED_JOINTS:]
    s, u = np.zeros(nj), np.zeros(nj)
    s[moved], u[moved] = np.clip(state.v[6:][moved], -0.5, 0.5), 1.0
    slope = shape_frame_derivative(model, s, u, step=1e-2, tolerance=1e-9)
    defect = u @ integrability_defect(model, s, tolerance=1e-6)
    return relative_difference(slope, mechanical_connection(model, s).connection @ u + defect)


@_list.add("VI", "about the CoM with the base's axes the connection has no linear part")
def com_frame_momentum(model: pin.Model, state: State) -> float:
    """diag(m E, I) times (CoM velocity, locked angular velocity) is Pinocchio's momentum."""
    s = _shape(model, state)
    terms = com_connection(model, s, state.data)
    R = np.asarray(state.base("B").rotation)
    v = state.v
    com_velocity = v[:3] + np.cross(v[3:6], terms.com) + terms.com_jacobian @ v[6:]
    locked = np.concatenate([com_velocity, v[3:6] + terms.connection @ v[6:]])
    momentum = terms.locked_inertia @ locked
    h = state.momentum.h
    return max(
        relative_difference(R @ momentum[:3], h[:3]), relative_difference(R @ momentum[3:], h[3:])
    )


@_list.add("VI, (20)", "about the CoM the curvature on SO(3) is the angular part of that on SE(3)")
def com_frame_curvature(model: pin.Model, state: State) -> float:
    s = _shape(model, state)
    found = com_curvature(model, s, state.data)
    return relative_difference(found, curvature(model, s, state.data)[..., 3:])


@_list.add("VI", "one free variable, or a virtual constraint with one, has no curvature")
def virtual_constraint(model: pin.Model, state: State) -> float:
    s, slope = _shape(model, state), state.v[6:, None]
    B = constrained_curvature(model, s, slope)
    scale = largest(curvature(model, s, state.data)) * float(state.v[6:] @ state.v[6:])
    return relative_difference(B, np.zeros_like(B), scale)


@_list.add("VI", "balanced rotors: B_ij = a_i x a_j, zero only for parallel axes")
def rotors(_: pin.Model, state: State) -> float:
    s, axes = state.v[:2], np.vstack([state.v[:3], state.v[3:6]])
    model = rotor_satellite(axes)
    a = mechanical_connection(model, s).connection[3:]
    crossed = relative_difference(curvature(model, s)[0, 1, 3:], np.cross(a[:, 0], a[:, 1]))
    parallel = curvature(rotor_satellite(axes[[0, 0]]), s)[0, 1]
    return max(crossed, relative_difference(parallel, np.zeros(6), largest(a) ** 2))


@_list.add("VI", "sliders on one line through the CoM do not turn the frame")
def sliders(_: pin.Model, state: State) -> float:
    model = slider_satellite(np.outer([1.0, -1.0, 2.0], state.v[:3]))
    s = np.resize(state.v, 3)
    B, a = curvature(model, s), mechanical_connection(model, s).connection
    return relative_difference(B[..., 3:], np.zeros_like(B[..., 3:]), largest(a))


_three_link = cache(three_link)


def _shape(model: pin.Model, state: State) -> Array:
    """(nj,) joint positions of the state, one number per joint."""
    return pin.difference(model, pin.neutral(model), state.q)[6:]


CHECKS = _list.checks
