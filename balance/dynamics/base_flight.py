"""A motion integrated in the coordinates of any base, Traversaro2016 (18), (23)-(24), (42).

The configuration is the pose of the chosen base and the joint positions, the velocity is nu of
that base.  Which base is chosen changes every matrix of the equations, and nothing in the motion:
what differs between two bases is the error of the integration alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.base_frame import change_base, inverse_with_joints
from balance.dynamics.base_velocity import CENTROIDAL, MODEL_BASE, base_velocity
from balance.dynamics.checks import Array, check_state, check_vector
from balance.dynamics.free_flight import Flight
from balance.dynamics.noether import group_action
from balance.errors import InputError

Forces = Callable[[float, Array, Array], Array]
"""Generalised forces (nv,) for Pinocchio's v, as a function of t, q and v; gravity is extra."""


def fly_with_base(
    model: pin.Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    forces: Forces,
    duration: float,
    steps: int,
) -> Flight:
    """Integrate (23) for the base ``frame`` from the state (q, v) for ``duration`` seconds.

    ``frame`` is what :func:`balance.change_base` takes; ``forces(t, q, v)`` are joint torques and
    contact forces.  Runge and Kutta's fourth-order method after Munthe-Kaas, with the origin of the
    base as a point and its axes on SO(3).  ``centroidal`` has a velocity but no axes (39), so its
    positions are those of G[B] (42).
    """
    q, v = check_state(model, q, v)
    if not duration > 0.0 or steps < 1:
        raise InputError(f"a motion of {duration} s in {steps} steps; both must be positive")
    run = _Coordinates(model, frame, forces)
    x, nu = run.of(q, v)
    time = np.linspace(0.0, duration, steps + 1)
    dt = duration / steps
    states = [(q, v)]
    for t in time[:-1]:
        k1 = run.rates(t, x, np.zeros(model.nv), nu)
        k2 = run.rates(t + 0.5 * dt, x, 0.5 * dt * k1[0], nu + 0.5 * dt * k1[1])
        k3 = run.rates(t + 0.5 * dt, x, 0.5 * dt * k2[0], nu + 0.5 * dt * k2[1])
        k4 = run.rates(t + dt, x, dt * k3[0], nu + dt * k3[1])
        offset, change = (
            dt / 6.0 * (a + 2.0 * b + 2.0 * c + d)
            for a, b, c, d in zip(k1, k2, k3, k4, strict=True)
        )
        x, nu = x.moved(offset), nu + change
        states.append(run.state(x, nu))
    return Flight(time, np.array([q for q, _ in states]), np.array([v for _, v in states]))


@dataclass(frozen=True, slots=True)
class _Pose:
    """Origin and axes of the base in the world, and the joints in a q with a neutral base."""

    model: pin.Model
    origin: Array
    rotation: Array
    joints: Array

    def moved(self, offset: Array) -> _Pose:
        """The pose after ``offset`` (nv,): displacement and rotation vector in world axes."""
        step = np.concatenate([np.zeros(6), offset[6:]])
        joints = pin.integrate(self.model, self.joints, step)
        rotation = pin.exp3(offset[3:6]) @ self.rotation
        return _Pose(self.model, self.origin + offset[:3], rotation, joints)


class _Coordinates:
    """Position and velocity of a robot in the coordinates of one base, and back."""

    def __init__(self, model: pin.Model, frame: str, forces: Forces) -> None:
        self.model, self.frame, self.forces = model, frame, forces
        self.position_frame = f"G[{MODEL_BASE}]" if frame == CENTROIDAL else frame
        self.data = model.createData()
        self.still = np.zeros(model.nv)

    def of(self, q: Array, v: Array) -> tuple[_Pose, Array]:
        """Coordinates of a state of Pinocchio."""
        joints = np.concatenate([pin.neutral(self.model)[:7], q[7:]])
        origin, rotation = self._placement(q)
        nu = np.concatenate([self._jacobian(q, self.frame) @ v, v[6:]])
        return _Pose(self.model, origin, rotation, joints), nu

    def state(self, x: _Pose, nu: Array) -> tuple[Array, Array]:
        """Pinocchio's (q, v)."""
        q = self._configuration(x)
        return q, inverse_with_joints(self._jacobian(q, self.frame)) @ nu

    def rates(self, t: float, x: _Pose, offset: Array, nu: Array) -> tuple[Array, Array]:
        """Time derivatives of the offset from ``x`` and of nu, (23)."""
        q = self._configuration(x.moved(offset))
        S_inv = inverse_with_joints(self._jacobian(q, self.frame))
        v = S_inv @ nu
        velocity = nu.copy()
        if self.position_frame != self.frame:
            velocity[:6] = self._jacobian(q, self.position_frame) @ v
        # The offset is a rotation vector applied from the left.
        velocity[3:6] = pin.Jlog3(pin.exp3(-offset[3:6])) @ velocity[3:6]
        applied = check_vector("forces", self.forces(t, q, v), self.model.nv)
        at = change_base(self.model, q, v, self.frame, data=self.data)
        rate = np.linalg.solve(at.M, S_inv.T @ applied - at.C @ at.nu - at.G)
        return velocity, np.asarray(rate, dtype=np.float64)

    def _configuration(self, x: _Pose) -> Array:
        """(nq,) Pinocchio's q with the base where ``x`` has it, (18a) backwards."""
        origin, rotation = self._placement(x.joints)
        # Carry the robot as a whole from where its own base is neutral.
        R = x.rotation @ rotation.T
        return group_action(self.model, x.joints, pin.SE3(R, x.origin - R @ origin))

    def _placement(self, q: Array) -> tuple[Array, Array]:
        """Origin (3,) and axes (3, 3) of the base in the world."""
        at = base_velocity(self.model, self.data, q, self.still, self.position_frame)
        assert at.rotation is not None  # only the average velocity has no axes
        return at.origin, at.rotation

    def _jacobian(self, q: Array, frame: str) -> Array:
        """(6, nv) J with nu_base = J v for Pinocchio's v."""
        return base_velocity(self.model, self.data, q, self.still, frame).J
