"""Rigid-body simulation with Pinocchio alone, in velocity-level steps.

One step of size dt takes velocities from v to v+ by

    (M + dt B) (v+ - v) = dt (tau - B v - b(q, v)) + sum J_p^T i_p + J_c^T lambda,
    q+ = q (+) dt v+,

with b the Coriolis, centrifugal and gravity terms, B the viscous joint friction, i_p the impulses
of pushes and lambda those of the contacts.  Joint friction is implicit, so a light wrist with much
friction stays stable.  How the contact impulses are found is the business of
:mod:`balance.plants.contact_models`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dtrtrs

from balance.config import Plant
from balance.dynamics.checks import frame_id
from balance.errors import ConfigError, known_names
from balance.plants.contact_models import Contacts
from balance.plants.interface import BodyImpulse
from balance.robots import Robot

Array = NDArray[np.float64]

LIMIT_YIELD_RAD = 0.01  # how far a joint's end stop gives way under the joint's largest torque


class PinocchioPlant:
    """The robot on level ground; ``q``, ``v`` and ``time`` are its true state."""

    def __init__(self, config: Plant, robot: Robot) -> None:
        self.robot, self.model, self.data = robot, robot.model, robot.model.createData()
        self.dt = config.step_s
        self.q, self.v, self.time = robot.q_nominal.copy(), np.zeros(self.model.nv), 0.0
        unlimited = np.full(self.model.nv - 6, np.inf)
        self._limits = robot.effort_limits if config.torque_limits else unlimited
        self._damping = np.zeros(self.model.nv)
        self._damping[6:] = joint_damping(config.joint_damping, robot)
        self._stops = _EndStops(robot)
        self._contacts = Contacts(robot, config)
        self._inertia = np.zeros((self.model.nv, self.model.nv), order="F")
        self._diagonal = np.arange(self.model.nv)
        self.contact_wrenches = np.zeros((len(robot.soles), 6))
        """Measured wrench of each sole in its own frame, mean over the last step (k, 6)."""
        self.contact_residual = 0.0
        """Complementarity residual of the last contact solve, N s times m/s."""

    def reset(self, q: Array, v: Array) -> None:
        """Start again at time zero from a state; nothing of the past is kept."""
        self.q, self.v, self.time = q.copy(), v.copy(), 0.0
        self._contacts.forget()
        self.contact_wrenches[:] = 0.0

    def step(self, torques: Array, impulses: Sequence[BodyImpulse] = ()) -> None:
        """Advance by one time step under joint torques (nj,) and pushes (N s)."""
        model, data, dt, q, v = self.model, self.data, self.dt, self.q, self.v
        pin.crba(model, data, q)
        bias = pin.nonLinearEffects(model, data, q, v)
        pin.computeJointJacobians(model, data, q)

        inertia = self._inertia
        inertia[:] = data.M
        damping, stop_torque = self._stops.apply(q, v, dt)
        damping = damping + self._damping
        inertia[self._diagonal, self._diagonal] += dt * damping
        force = -bias - self._damping * v
        force[6:] += np.minimum(np.maximum(torques, -self._limits), self._limits)
        force += stop_torque
        drive = dt * force
        for impulse in impulses:
            drive += self._generalised(impulse)

        factor, failed = dpotrf(inertia, overwrite_a=1)
        if failed:
            raise FloatingPointError("the mass matrix is not positive definite")
        v_free = v + _solve(factor, drive)
        self.v = self._contacts.resolve(model, data, factor, v_free, dt, self.contact_wrenches)
        self.contact_residual = self._contacts.residual
        self.q = pin.integrate(model, q, dt * self.v)
        self.time += dt

    def _generalised(self, impulse: BodyImpulse) -> Array:
        """J_p^T i: a push as generalised impulse (nv,)."""
        frame = self.model.frames[frame_id(self.model, impulse.body)]
        placement = frame.placement * pin.SE3(np.eye(3), impulse.point)
        rotation = self.data.oMi[frame.parentJoint].rotation @ placement.rotation
        J = pin.getFrameJacobian(
            self.model, self.data, frame.parentJoint, placement, pin.LOCAL_WORLD_ALIGNED
        )
        vector = rotation @ impulse.vector if impulse.in_body_axes else impulse.vector
        return np.asarray(vector @ J[:3])


class _EndStops:
    """Stiff implicit springs at the ends of the joints' ranges."""

    def __init__(self, robot: Robot) -> None:
        model = robot.model
        self._lower, self._upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
        self._stiffness = robot.effort_limits / LIMIT_YIELD_RAD
        inertia = np.diag(pin.crba(model, model.createData(), robot.q_nominal))[6:]
        self._damping = 2.0 * np.sqrt(self._stiffness * inertia)
        self._zero = np.zeros(model.nv)

    def apply(self, q: Array, v: Array, dt: float) -> tuple[Array, Array]:
        """Implicit damping (nv,) in N m s/rad and explicit force (nv,) of the stops in touch."""
        joints = q[7:]
        excess = np.minimum(joints - self._lower, 0.0) + np.maximum(joints - self._upper, 0.0)
        if not excess.any():
            return self._zero, self._zero
        touching = excess != 0.0
        damping, force = np.zeros_like(v), np.zeros_like(v)
        damping[6:] = touching * (self._damping + dt * self._stiffness)
        force[6:] = -self._stiffness * excess - damping[6:] * v[6:]
        return damping, force


def _solve(factor: Array, right: Array) -> Array:
    """(U^T U)^-1 right for an upper Cholesky factor U."""
    return np.asarray(dtrtrs(factor, dtrtrs(factor, right, trans=1)[0])[0])


def joint_damping(value: float | dict[str, float], robot: Robot) -> Array:
    names = robot.joint_names
    if not isinstance(value, dict):
        return np.full(len(names), float(value))
    for name in value:
        if name not in names:
            raise ConfigError(
                f"plant.joint_damping names a joint '{name}' that robot '{robot.name}' lacks"
                f"{known_names(name, names)}"
            )
    return np.array([value.get(name, 0.0) for name in names])
