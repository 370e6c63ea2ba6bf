"""The right-invariant extended Kalman filter of a body that stands on feet.

Hartley, Ghaffari, Eustice and Grizzle, "Contact-aided invariant extended Kalman filtering for robot
state estimation", IJRR 2020.  The state is an element X of SE_{k+2}(3),

    R rotation, v velocity, p position of the body, d_i positions of the feet, in the world,

with biases of gyroscope and accelerometer.  The error is right-invariant, X_est X^-1 = exp(xi), so
its dynamics and the measurement of a foot do not depend on the estimate but through the biases:

    d xi_R = 0,  d xi_v = g x xi_R,  d xi_p = xi_v,  d xi_d = 0,     foot - body = xi_p - xi_d.

Differs: feet are flat, so they are anchors of orientation C_i as well as of position; their error
C_est C^T = exp(xi_C) is measured as xi_R - xi_C, and a standing robot's heading does not drift.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

Array = NDArray[np.float64]

ROTATION, VELOCITY, POSITION = slice(0, 3), slice(3, 6), slice(6, 9)
BODY = 9  # errors of the body come first, then the feet's (position, rotation), then biases


class InvariantFilter:
    """State and covariance; errors are ordered R, v, p, (d_i, C_i) of each foot, gyro, accel bias.

    World axes, SI units; ``gyro_noise`` and ``accel_noise`` are densities of white noise,
    rad/s/sqrt(Hz) and m/s^2/sqrt(Hz).
    """

    def __init__(self, pose: pin.SE3, feet: list[pin.SE3], gravity: Array) -> None:
        """Start at rest; ``feet`` are relative to the body.  The caller sets the covariance."""
        k = len(feet)
        self.rotation, self.position = pose.rotation.copy(), pose.translation.copy()
        self.velocity = np.zeros(3)
        self.feet = np.array([pose.act(foot.translation) for foot in feet])
        self.foot_rotations = np.array([pose.rotation @ foot.rotation for foot in feet])
        self.gyro_bias, self.accel_bias = np.zeros(3), np.zeros(3)
        self.gyro_noise = self.accel_noise = 0.0
        self.covariance = np.zeros((BODY + 6 * k + 6, BODY + 6 * k + 6))
        self._gravity = gravity
        n = len(self.covariance)
        self._gyro, self._accel = slice(n - 6, n - 3), slice(n - 3, n)
        # Rows of the state that the measurements of all feet are differences of: H = [I -I].
        self._plus = np.tile([6, 7, 8, 0, 1, 2], k)
        self._minus = np.arange(BODY, BODY + 6 * k)
        self._H = np.zeros((6 * k, n))
        self._H[np.arange(6 * k), self._plus] = 1.0
        self._H[np.arange(6 * k), self._minus] = -1.0
        self._drift = np.zeros((n, n))
        self._drift[VELOCITY, ROTATION] = pin.skew(gravity)
        self._drift[POSITION, VELOCITY] = np.eye(3)
        self._dt = 0.0
        # Filled anew in every step.
        self._noise, self._transition = np.zeros((n, 6)), np.eye(n)
        self._turn = np.zeros((6 * k, 6 * k))

    def anchor(self, stds: Array) -> None:
        """Take the feet to be where the body's pose has them, up to ``stds`` (6 k,) m and rad.

        In invariant errors that is xi_d = xi_p and xi_C = xi_R.
        """
        P = self.covariance
        P[self._minus] = P[self._plus]
        P[:, self._minus] = P[:, self._plus]
        P[self._minus, self._minus] += stds**2

    def propagate(self, gyro: Array, accel: Array, dt: float, foot_noise: Array) -> None:
        """Advance by ``dt`` with mean angular velocity and specific force (body axes).

        ``foot_noise`` (6 k,) are densities of the feet's velocities, m/s/sqrt(Hz) and
        rad/s/sqrt(Hz), in world axes.
        """
        self.rotation = self.rotation.dot(pin.exp3(dt * (gyro - self.gyro_bias)))
        acceleration = self.rotation.dot(accel - self.accel_bias) + self._gravity
        self.position = self.position + dt * self.velocity + 0.5 * dt * dt * acceleration
        self.velocity = self.velocity + dt * acceleration

        noise, transition = self._noise_map(), self._transition
        # exp(dt A) to second order; A consists of the drift and, in its last columns, -noise.
        if dt != self._dt:
            drift = dt * self._drift
            transition[:, :-6] = (np.eye(len(drift)) + drift + 0.5 * drift.dot(drift))[:, :-6]
            self._dt = dt
        transition[:-6, -6:] = -dt * (noise + 0.5 * dt * self._drift.dot(noise))[:-6]
        noise[:, :3] *= np.sqrt(dt) * self.gyro_noise
        noise[:, 3:] *= np.sqrt(dt) * self.accel_noise
        P = transition.dot(self.covariance).dot(transition.T) + noise.dot(noise.T)
        P[self._minus, self._minus] += dt * foot_noise**2
        self.covariance = P

    def _noise_map(self) -> Array:
        """Error from errors of gyroscope and accelerometer (n, 6): columns of X's adjoint."""
        R, noise = self.rotation, self._noise
        noise[ROTATION, :3] = noise[VELOCITY, 3:] = R
        noise[VELOCITY, :3] = pin.skew(self.velocity).dot(R)
        noise[POSITION, :3] = pin.skew(self.position).dot(R)
        for i, foot in enumerate(self.feet):
            start = BODY + 6 * i
            noise[start : start + 3, :3] = pin.skew(foot).dot(R)
        return noise

    def correct(self, feet: list[pin.SE3], noise: Array) -> None:
        """Use the feet's poses relative to the body, with covariance ``noise`` (6 k, 6 k).

        Its order is position, rotation of each foot, in the body's axes.
        """
        R = self.rotation
        innovation = np.concatenate(
            [
                part
                for foot, d, C in zip(feet, self.feet, self.foot_rotations, strict=True)
                for part in (
                    R.dot(foot.translation) - (d - self.position),
                    pin.log3(R.dot(foot.rotation).dot(C.T)),
                )
            ]
        )
        turn = self._turn
        for start in range(0, len(turn), 3):
            turn[start : start + 3, start : start + 3] = R
        PH = self.covariance.dot(self._H.T)
        S = self._H.dot(PH) + turn.dot(noise).dot(turn.T)
        gain = dposv(S, PH.T)[1].T
        self._take_off(gain.dot(innovation))
        P = self.covariance - gain.dot(PH.T)
        self.covariance = 0.5 * (P + P.T)

    def _take_off(self, error: Array) -> None:
        """X <- exp(-error) X, and the biases less theirs."""
        turn, left = pin.exp3(-error[ROTATION]), pin.Jexp3(error[ROTATION])
        self.rotation = turn.dot(self.rotation)
        self.velocity = turn.dot(self.velocity) - left.dot(error[VELOCITY])
        self.position = turn.dot(self.position) - left.dot(error[POSITION])
        for i in range(len(self.feet)):
            start = BODY + 6 * i
            self.feet[i] = turn.dot(self.feet[i]) - left.dot(error[start : start + 3])
            turn_foot = pin.exp3(-error[start + 3 : start + 6])
            self.foot_rotations[i] = turn_foot.dot(self.foot_rotations[i])
        self.gyro_bias = self.gyro_bias - error[self._gyro]
        self.accel_bias = self.accel_bias - error[self._accel]
