"""Base pose and velocity of a robot from its encoders, inertial unit and foot sensors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config.sensors import EstimatorConfig, SensorsConfig
from balance.robots import Robot
from balance.robots.contacts import ContactSurface
from balance.simulation.estimation.invariant_filter import (
    POSITION,
    ROTATION,
    VELOCITY,
    InvariantFilter,
)

Array = NDArray[np.float64]

LOADED_SHARE = (0.02, 0.10)  # of the robot's weight: where trust in a foot begins, and is full
TRUSTED_MARGIN_M = 0.003  # distance of the centre of pressure from the sole's edge
FLYING = 1.0  # m/s/sqrt(Hz) and rad/s/sqrt(Hz), noise of a foot that does not stand
START_POSITION_M = 1e-4
START_HEADING_RAD = 1e-4
START_VELOCITY = 0.01  # m/s
LEAST_GYRO_NOISE = 1e-5  # rad/s/sqrt(Hz); also a perfect sensor is integrated in steps
LEAST_ACCEL_NOISE = 1e-3  # m/s^2/sqrt(Hz)
LEAST_ENCODER_STD = 1e-6  # rad


class BaseEstimator:
    """The estimate of the base; the soles of ``robot`` are its anchors.

    ``robot`` is the model that the control law uses: what it does not know, neither does the
    estimate.  It starts where the nominal posture has the base.
    """

    def __init__(
        self,
        robot: Robot,
        assumed: EstimatorConfig,
        sensors: SensorsConfig,
        placement: pin.SE3,
        period: float,
    ) -> None:
        """``placement`` is that of the inertial unit in the base; ``period`` is in s."""
        self._period, self._assumed = period, assumed
        self._action_BI, self._X_IB = placement.toActionMatrix(), placement.inverse()
        self._kinematics = LegKinematics(robot, self._X_IB)
        self._weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
        self._soles = robot.soles
        resolution = sensors.encoder_resolution_rad / math.sqrt(12.0)
        std = math.hypot(sensors.encoder_noise_rad, resolution)
        self._encoder_variance = max(std, LEAST_ENCODER_STD) ** 2
        floor = np.array([assumed.kinematics_m] * 3 + [assumed.kinematics_rad] * 3) ** 2
        self._kinematics_variance = np.diag(np.tile(floor, len(robot.soles)))
        self._drift = np.array([assumed.foot_drift_m] * 3 + [assumed.foot_drift_rad] * 3)
        # A body may turn about a point on which it stands.
        self._turning = np.array([[0.0] * 3 + [float(not s.has_area)] * 3 for s in robot.soles])

        pose = pin.XYZQUATToSE3(robot.q_nominal[:7]) * placement
        feet, _ = self._kinematics.at(robot.q_nominal[7:])
        self.filter = InvariantFilter(pose, feet, np.array(robot.model.gravity.linear))
        self.filter.gyro_noise = max(sensors.imu.gyro_noise, LEAST_GYRO_NOISE)
        self.filter.accel_noise = max(sensors.imu.accel_noise, LEAST_ACCEL_NOISE)
        P = self.filter.covariance
        tilt = assumed.tilt_rad
        P[ROTATION, ROTATION] = np.diag([tilt, tilt, START_HEADING_RAD]) ** 2
        P[VELOCITY, VELOCITY] = START_VELOCITY**2 * np.eye(3)
        P[POSITION, POSITION] = START_POSITION_M**2 * np.eye(3)
        P[-6:-3, -6:-3] = sensors.imu.gyro_bias**2 * np.eye(3)
        P[-3:, -3:] = sensors.imu.accel_bias**2 * np.eye(3)
        self.filter.anchor(np.sqrt(np.diag(self._kinematics_variance)))
        self._started = False

    def update(
        self,
        joints: Array,
        gyro: Array,
        accel: Array,
        wrenches: Array,
        bearing: Array | None = None,
    ) -> tuple[Array, Array]:
        """Base pose (7,) and velocity (6,), linear first, base axes, from one reading.

        Joint angles (nj,) rad; angular velocity and specific force in the unit's axes; wrenches of
        the soles (k, 6), of which those with ``bearing`` (k,) zero are meant to be off the ground.
        """
        feet, J = self._kinematics.at(joints)
        if self._started:
            noise = self.foot_noise(wrenches, bearing)
            self.filter.propagate(gyro, accel, self._period, noise)
        self._started = True
        noise = self._encoder_variance * J.dot(J.T) + self._kinematics_variance
        self.filter.correct(feet, noise)
        return self._base(gyro)

    def foot_noise(self, wrenches: Array, bearing: Array | None = None) -> Array:
        """Noise (6 k,) of the anchors' motion, m/s/sqrt(Hz) and rad/s/sqrt(Hz), under wrenches.

        What is meant to be off the ground is no anchor, whatever it grazes or its sensor reads.
        """
        trust = np.array(
            [
                foot_trust(w, s, self._weight)
                for w, s in zip(wrenches.tolist(), self._soles, strict=True)
            ]
        )
        if bearing is not None:
            trust[bearing == 0.0] = 0.0
        loose = np.maximum(1.0 - trust[:, None], self._turning)
        return np.asarray(FLYING * loose + self._drift).ravel()

    def _base(self, gyro: Array) -> tuple[Array, Array]:
        X_WI = pin.SE3(self.filter.rotation, self.filter.position)
        pose = X_WI * self._X_IB
        velocity = np.concatenate(
            [self.filter.rotation.T.dot(self.filter.velocity), gyro - self.filter.gyro_bias]
        )
        return pin.SE3ToXYZQUAT(pose), np.asarray(self._action_BI.dot(velocity))

    def spread(self) -> Array:
        """What :func:`balance.simulation.estimation.errors.plain_stds` needs, in one row (87,)."""
        f = self.filter
        return np.concatenate([f.position, f.velocity, f.covariance[:9, :9].ravel()])


class LegKinematics:
    """Poses of the soles relative to the inertial unit, and how the joints move them."""

    def __init__(self, robot: Robot, X_IB: pin.SE3) -> None:
        self._model, self._data = robot.model, robot.model.createData()
        self._X_IB = X_IB
        frames = [robot.model.frames[sole.frame_id] for sole in robot.soles]
        self._places = [
            (frame.parentJoint, frame.placement * sole.placement)
            for frame, sole in zip(frames, robot.soles, strict=True)
        ]
        self._q = pin.neutral(robot.model)
        self._J = np.zeros((6 * len(robot.soles), robot.model.nv - 6))
        self._turn = np.kron(np.eye(2), X_IB.rotation)

    def at(self, joints: Array) -> tuple[list[pin.SE3], Array]:
        """Poses X_IS, and the Jacobian (6 k, nj) of their positions and rotations, unit's axes."""
        model, data = self._model, self._data
        self._q[7:] = joints
        pin.computeJointJacobians(model, data, self._q)
        poses = []
        for i, (joint, X_JS) in enumerate(self._places):
            poses.append(self._X_IB * data.oMi[joint] * X_JS)
            J = pin.getFrameJacobian(model, data, joint, X_JS, pin.LOCAL_WORLD_ALIGNED)
            self._J[6 * i : 6 * i + 6] = self._turn.dot(J[:, 6:])
        return poses, self._J


def foot_trust(wrench: Array | Sequence[float], sole: ContactSurface, weight: float) -> float:
    """How far a sole with a measured wrench stands still: 1 flat and loaded, 0 in the air.

    A sole that tips has its centre of pressure at an edge; points without an area have none.
    """
    low, high = LOADED_SHARE
    load = (wrench[2] / weight - low) / (high - low)
    if load <= 0.0:
        return 0.0
    if not sole.has_area:
        return min(load, 1.0)
    x, y = -wrench[4] / wrench[2], wrench[3] / wrench[2]
    margin = -float(sole.edges.dot([x, y, 1.0]).max()) / TRUSTED_MARGIN_M
    return min(load, 1.0) * min(max(margin, 0.0), 1.0)
