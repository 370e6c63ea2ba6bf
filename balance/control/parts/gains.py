"""Gains as matrices, scaled to the robot at hand, and what they mean in physical terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import GainsConfig, OscillatorConfig, gain_matrix
from balance.robots import Robot

Array = NDArray[np.float64]


def gain_matrices(gains: GainsConfig, robot: Robot) -> tuple[Array, Array, Array, Array]:
    """K_P (N/m), K_D (1/s), K_R (N m) and D (1/s) as 3 x 3 matrices.

    An axis of inertia I that is to return like an oscillator of natural frequency omega and damping
    ratio zeta gets the stiffness I omega^2; its momentum is damped at the rate 2 zeta omega.  The
    inertia is the mass for the CoM, the diagonal of the locked inertia for the base's rotation.

    A robot of mass m and CoM height z falls with the time constant sqrt(z / g).  Gains designed for
    (m_0, z_0) keep their meaning on another robot when time is measured in that unit, length in z
    and mass in m: stiffness scales with m / z, damping rates with sqrt(1 / z) and rotational
    stiffness with m z; frequencies scale like damping rates, and damping ratios not at all.
    """
    mass = size = 1.0
    if gains.designed_for is not None:
        mass = robot.mass / gains.designed_for.mass_kg
        size = float(robot.com()[2]) / gains.designed_for.com_height_m
    rate = size**-0.5
    if gains.com is not None:
        K_P, K_D = _oscillator(gains.com, np.full(3, robot.mass), rate)
    else:
        K_P, K_D = mass / size * _given(gains.K_P), rate * _given(gains.K_D)
    if gains.rotation is not None:
        K_R, D = _oscillator(gains.rotation, rotational_inertia(robot), rate)
    else:
        K_R, D = mass * size * _given(gains.K_R), rate * _given(gains.D)
    return K_P, K_D, K_R, D


def _given(gain: Any) -> Array:
    assert gain is not None  # the schema asks for it where no oscillator is given
    return gain_matrix(gain)


def _oscillator(wanted: OscillatorConfig, inertia: Array, rate: float) -> tuple[Array, Array]:
    """Stiffness and damping rate, as matrices, of axes with these inertias."""
    omega = 2.0 * np.pi * rate * np.broadcast_to(np.array(wanted.frequency_hz), 3)
    return np.diag(inertia * omega**2), np.diag(2.0 * np.array(wanted.damping_ratio) * omega)


def rotational_inertia(robot: Robot) -> Array:
    """Diagonal (3,) of the locked inertia about the CoM in the nominal base axes, kg m^2."""
    model, data = robot.model, robot.model.createData()
    pin.ccrba(model, data, robot.q_nominal, np.zeros(model.nv))
    R_WB = pin.Quaternion(robot.q_nominal[3:7]).matrix()
    return np.diag(R_WB.T @ data.Ig.inertia @ R_WB).copy()


def velocity_gains(K_D: Array, D: Array, robot: Robot) -> tuple[Array, Array]:
    """Gains on velocities, N s/m and N m s/rad, from those on momenta, both in 1/s.

    With m the mass and I = S^2 the locked inertia about the CoM in the nominal posture they are
    m K_D and S D S: symmetric positive definite, and with the joints locked they slow the robot
    down at rates that are the eigenvalues of K_D and D, as K_D p and D l do.  (D I, which is what D
    on the momentum comes to, has those rates too but is not symmetric.)

    What faces S D S is the inertia of the base with its joints free, which is less than I.  On a
    robot with a light pelvis below a waist that yields (G1) the gains of Table 1 need a control
    rate of 2 kHz.
    """
    model, data = robot.model, robot.model.createData()
    pin.ccrba(model, data, robot.q_nominal, np.zeros(model.nv))
    moments, axes = np.linalg.eigh(data.Ig.inertia)
    S = (axes * np.sqrt(moments)) @ axes.T
    return robot.mass * K_D, S @ D @ S


@dataclass(frozen=True)
class PhysicalGains:
    """Gains in physical terms, CoM x, y, z and rotation x, y, z: Hz and damping ratios."""

    frequency_hz: tuple[float, ...]
    damping_ratio: tuple[float, ...]


def physical_gains(gains: GainsConfig, robot: Robot) -> PhysicalGains:
    """What gains mean on a robot, axis by axis: the inverse of the conversion above."""
    K_P, K_D, K_R, D = (np.diag(matrix) for matrix in gain_matrices(gains, robot))
    inertia = np.concatenate([np.full(3, robot.mass), rotational_inertia(robot)])
    omega = np.sqrt(np.concatenate([K_P, K_R]) / inertia)
    ratio = np.concatenate([K_D, D]) / (2.0 * omega)
    return PhysicalGains(tuple((omega / (2.0 * np.pi)).tolist()), tuple(ratio.tolist()))
