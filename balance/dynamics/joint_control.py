"""Control in joint space: impedance, gravity compensation, inverse dynamics; RobotDynamicsETH 3.8.

Robots with a fixed base have a torque for each velocity.  A floating base has none on its first
six, so what the notes write for arms holds there on ``contacts`` that bear the base, through the
inverse dynamics of 3.10.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import (
    Array,
    check_fixed_base,
    check_vector,
    symmetrise,
    velocities_without_motor,
)
from balance.dynamics.constraints import Contact, contact_drift, contact_jacobian
from balance.dynamics.differential_kinematics import Task, prioritised_velocity
from balance.dynamics.floating_base_inverse_dynamics import floating_base_torques
from balance.errors import InputError


@dataclass(frozen=True, slots=True)
class JointReference:
    """Where the joints should be: configuration q* (nq,) and velocity (nv,), zero if not given.

    Of a floating base only the joints count; its own part of ``q`` may be anything valid.
    """

    q: ArrayLike
    v: ArrayLike | None = None


def gains_of_oscillator(frequency_hz: float, damping_ratio: float) -> tuple[float, float]:
    """k_p (1/s^2) and k_d (1/s) of (3.77) from omega = sqrt(k_p) and D = k_d / (2 sqrt(k_p)).

    RobotDynamicsETH (3.78)-(3.79).  3 Hz and D = 1 give 355 and 37.7; the notes round to 350 and
    37.
    """
    if not (frequency_hz > 0.0 and damping_ratio >= 0.0):
        raise InputError(
            f"a frequency of {frequency_hz:g} Hz and a damping ratio of {damping_ratio:g}; the "
            "first must be positive and the second not negative"
        )
    omega = 2.0 * np.pi * frequency_hz
    return float(omega**2), float(2.0 * damping_ratio * omega)


def oscillator_of_gains(k_p: float, k_d: float) -> tuple[float, float]:
    """Frequency in Hz and damping ratio of the gains of (3.77); RobotDynamicsETH (3.78)-(3.79)."""
    if not (k_p > 0.0 and k_d >= 0.0):
        raise InputError(f"k_p is {k_p:g} and k_d {k_d:g}; expected k_p > 0 and k_d >= 0")
    omega = float(np.sqrt(k_p))
    return omega / (2.0 * np.pi), k_d / (2.0 * omega)


def joint_feedback(
    model: pin.Model,
    q: ArrayLike,
    v: ArrayLike,
    reference: JointReference,
    k_p: ArrayLike,
    k_d: ArrayLike,
) -> Array:
    """k_p (q* - q) + k_d (dq* - dq), one entry per joint; RobotDynamicsETH (3.72), (3.77).

    With gains in N m/rad and N m s/rad these are the torques of joint impedance (3.72), with gains
    in 1/s^2 and 1/s the acceleration of (3.77).  Gains are one number, or one per joint.

    Differs: q* - q is the difference on the configuration manifold, which for joints that turn
    without end is the shortest way, and for others the plain difference.
    """
    first = velocities_without_motor(model)
    q, v = check_vector("q", q, model.nq), check_vector("v", v, model.nv)
    q_wanted = check_vector("q of the reference", reference.q, model.nq)
    still = np.zeros(model.nv)
    v_wanted = (
        still if reference.v is None else check_vector("v of the reference", reference.v, model.nv)
    )
    error = pin.difference(model, q, q_wanted)[first:]
    return _gains("k_p", k_p, error) * error + _gains("k_d", k_d, error) * (v_wanted - v)[first:]


def gravity_torques(model: pin.Model, q: ArrayLike, contacts: Sequence[Contact] = ()) -> Array:
    """g(q), the joint torques that hold the robot at rest; RobotDynamicsETH (3.73)-(3.74).

    A fixed base needs no ``contacts``.  On a floating base these are the least torques with which
    the contacts bear the weight, (3.99) with dv/dt = 0.
    """
    on_fixed_base = velocities_without_motor(model) == 0
    q = check_vector("q", q, model.nq)
    if on_fixed_base:
        _refuse_contacts(model, contacts)
        return np.array(pin.computeGeneralizedGravity(model, model.createData(), q))
    still = np.zeros(model.nv)
    return floating_base_torques(model, q, still, still, contacts).torques


def gravity_compensated_torques(
    model: pin.Model,
    q: ArrayLike,
    v: ArrayLike,
    reference: JointReference,
    k_p: ArrayLike,
    k_d: ArrayLike,
    contacts: Sequence[Contact] = (),
) -> Array:
    """tau = k_p (q* - q) + k_d (dq* - dq) + g(q); RobotDynamicsETH (3.74).

    Without the last term the joints come to rest off their reference by g / k_p (3.73).
    """
    return joint_feedback(model, q, v, reference, k_p, k_d) + gravity_torques(model, q, contacts)


def inverse_dynamics_torques(
    model: pin.Model,
    q: ArrayLike,
    v: ArrayLike,
    joint_acceleration: ArrayLike,
    contacts: Sequence[Contact] = (),
) -> Array:
    """tau = M ddq* + b + g, so that ddq = ddq*; RobotDynamicsETH (3.75)-(3.76).

    On a floating base ``joint_acceleration`` (nj,) is met as well as resting contacts allow, which
    is exactly for as many joints as they leave free: the base follows from them (2.260).
    """
    on_fixed_base = velocities_without_motor(model) == 0
    q, v = check_vector("q", q, model.nq), check_vector("v", v, model.nv)
    if on_fixed_base:
        _refuse_contacts(model, contacts)
        wanted = check_vector("joint_acceleration", joint_acceleration, model.nv)
        return np.array(pin.rnea(model, model.createData(), q, v, wanted))
    wanted = check_vector("joint_acceleration", joint_acceleration, model.nv - 6)
    select = np.eye(model.nv)[6:]
    at_rest = Task(contact_jacobian(model, q, contacts), -contact_drift(model, q, v, contacts))
    dv = prioritised_velocity([at_rest, Task(select, wanted)])
    return floating_base_torques(model, q, v, dv, contacts).torques


def inverse_dynamics_tasks(
    model: pin.Model, q: ArrayLike, v: ArrayLike, joint_acceleration: ArrayLike
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """(A_i, b_i) of example 3.10.1 on x = (ddq, tau); RobotDynamicsETH (3.113)-(3.114).

    The equation of motion first, the wanted acceleration second: prioritised least squares on them
    is inverse dynamics, with tau = M ddq* + b + g.  No contacts, so x has no forces.
    """
    check_fixed_base(model)
    q, v = check_vector("q", q, model.nq), check_vector("v", v, model.nv)
    wanted = check_vector("joint_acceleration", joint_acceleration, model.nv)
    M = symmetrise(pin.crba(model, model.createData(), q))
    h = np.array(pin.nonLinearEffects(model, model.createData(), q, v))
    one, nothing = np.eye(model.nv), np.zeros((model.nv, model.nv))
    return (np.hstack([M, -one]), -h), (np.hstack([one, nothing]), wanted)


def _gains(name: str, value: ArrayLike, error: Array) -> Array:
    gains = np.asarray(value, dtype=float)
    if gains.shape not in ((), error.shape) or not (np.isfinite(gains) & (gains >= 0.0)).all():
        raise InputError(
            f"{name} is {gains.tolist()}; expected one number or {len(error)}, none negative"
        )
    return gains


def _refuse_contacts(model: pin.Model, contacts: Sequence[Contact]) -> None:
    if contacts:
        raise InputError(
            f"model '{model.name}' has a fixed base, which needs no contacts to bear it; "
            "leave them out, or use operational_space_torques() to press on something"
        )
