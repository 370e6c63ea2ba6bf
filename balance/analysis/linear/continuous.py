"""The same loop in continuous time, from the decoupled equations of motion with contacts.

Garofalo2015 (25) with the contacts as bilateral constraints,

    Lambda dxi/dt + gravity = (0, 0, tau - b dq/dt) + J_bar^T w,      J_bar dxi/dt = 0,

J_bar = J_c A_Q^-1, is differentiated about rest, where Gamma xi and the drift of the contacts, both
quadratic in velocities, have no part.  It is what the discrete loop becomes as its period vanishes.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.analysis.linear.loop import LinearLoop, differences
from balance.control import Controller
from balance.dynamics.decoupled import decoupled_dynamics
from balance.robots import Robot

Array = NDArray[np.float64]


def acceleration(robot: Robot, controller: Controller, damping: Array, q: Array, v: Array) -> Array:
    """dv/dt (nv,) in the state (q, v) near rest, with the contacts held and the law at work.

    ``damping`` (nj,) is the viscous friction of the joints, N m s/rad.
    """
    model = robot.model
    still = decoupled_dynamics(model, q, np.zeros(model.nv))
    J_bar = _contact_jacobian(robot, q) @ still.A_Q_inv
    drive = -still.gravity
    drive[6:] += controller.step(q, v, 0.0).torques - damping * v[6:]
    k = len(J_bar)
    system = np.block([[still.Lambda, -J_bar.T], [J_bar, np.zeros((k, k))]])
    # Contacts that hinder each other make the wrenches ambiguous, not the motion.
    solution = np.linalg.lstsq(system, np.concatenate([drive, np.zeros(k)]), rcond=1e-12)[0]
    return np.asarray(still.A_Q_inv @ solution[: model.nv])


def _contact_jacobian(robot: Robot, q: Array) -> Array:
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    return np.concatenate(
        [pin.getFrameJacobian(model, data, sole.frame_id, pin.LOCAL) for sole in robot.soles]
    )


def continuous_matrix(loop: LinearLoop) -> Array:
    """(2n, 2n) the matrix A_c of dx/dt = A_c x."""
    robot, controller, N = loop.robot, loop.experiment.controller, loop.N
    damping = loop.experiment.plant.joint_damping
    n = N.shape[1]

    def rate(x: Array) -> tuple[Array, Array]:
        q = pin.integrate(robot.model, robot.q_nominal, N @ x[:n])
        return N.T @ acceleration(robot, controller, damping, q, N @ x[n:]), np.empty(0)

    A_c = np.zeros((2 * n, 2 * n))
    A_c[:n, n:] = np.eye(n)
    A_c[n:] = differences(rate, 2 * n)[0]
    return A_c
