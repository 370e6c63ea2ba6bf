"""Mechanisms whose centroidal frame is a function of the joints, the question of Saccon2017 VI.

Besides mechanisms with one joint (or one free variable, :mod:`.virtual_constraint`) two rules give
flat ones of any size.  Both are built here, with the counterexample that a small change makes.

- Balanced rotors: every link is round about a joint axis through its CoM, so that L and A are
  constant.  Then B_ij = a_i x a_j with a_i = J_i I^-1 e_i, which vanishes for all pairs only if all
  axes are parallel.  The three-link mechanism of section V with d = 0 is one.
- Sliders on one line through the CoM carry no angular momentum, so that the connection has no
  angular part.  Two lines are enough to turn.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.connection import check_one_dof_joints
from balance.dynamics.curvature import curvature
from balance.errors import InputError


def largest_curvature(
    model: pin.Model, shapes: int = 100, seed: int = 0, reach: float = 1.0
) -> float:
    """Largest angular part of B_ij, rad per rad^2 (or per m), over random shapes: 0 if flat.

    Joints are drawn from [-reach, reach].  A number above rounding refutes integrability; zero at
    random shapes confirms it, B being analytic in s.
    """
    check_one_dof_joints(model)
    if shapes < 1:
        raise InputError(f"shapes is {shapes}; at least one shape must be tried")
    rng = np.random.default_rng(seed)
    data = pin.Data(model)
    sizes = [
        np.abs(curvature(model, s, data)[..., 3:]).max(initial=0.0)
        for s in rng.uniform(-reach, reach, (shapes, model.nv - 6))
    ]
    return float(max(sizes))


def rotor_satellite(axes: ArrayLike, spin: float = 0.1) -> pin.Model:
    """A free box with one balanced rotor per row of ``axes`` (n, 3), each of ``spin`` kg m^2.

    The rotors' CoMs lie on their axes, away from the box's centre.
    """
    directions = np.atleast_2d(np.asarray(axes, dtype=float))
    if directions.shape[1] != 3 or (np.linalg.norm(directions, axis=1) == 0.0).any():
        raise InputError(f"axes have shape {directions.shape}; expected (n, 3) without zero rows")
    model, base = _free_box("rotor_satellite")
    for k, axis in enumerate(directions / np.linalg.norm(directions, axis=1)[:, None]):
        # Round about its axis, so that turning it moves no mass.
        inertia = 0.5 * spin * (np.eye(3) + np.outer(axis, axis))
        place = pin.SE3(np.eye(3), 0.4 * np.eye(3)[k % 3] * (1 + k // 3))
        kind = pin.JointModelRevoluteUnaligned(axis)
        joint = model.addJoint(base, kind, place, f"rotor{k + 1}")
        model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), inertia), pin.SE3.Identity())
    return model


def slider_satellite(directions: ArrayLike) -> pin.Model:
    """A free box with masses of 1 kg that slide from its centre along ``directions`` (n, 3)."""
    lines = np.atleast_2d(np.asarray(directions, dtype=float))
    if lines.shape[1] != 3 or (np.linalg.norm(lines, axis=1) == 0.0).any():
        raise InputError(f"directions have shape {lines.shape}; expected (n, 3) without zero rows")
    model, base = _free_box("slider_satellite")
    for k, axis in enumerate(lines / np.linalg.norm(lines, axis=1)[:, None]):
        kind = pin.JointModelPrismaticUnaligned(axis)
        joint = model.addJoint(base, kind, pin.SE3.Identity(), f"slider{k + 1}")
        mass = pin.Inertia(1.0, np.zeros(3), 0.01 * np.eye(3))
        model.appendBodyToJoint(joint, mass, pin.SE3.Identity())
    return model


def _free_box(name: str) -> tuple[pin.Model, int]:
    """A free-flying box of 4 kg, and the index of its joint."""
    model = pin.Model()
    model.name = name
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    model.appendBodyToJoint(base, pin.Inertia.FromBox(4.0, 0.3, 0.5, 0.7), pin.SE3.Identity())
    return model, base
