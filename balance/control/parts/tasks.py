"""Tasks: what a law wants of the accelerations, each as linear rows on Pinocchio's dv/dt.

Bouyarmane2012 (36) and RobotDynamicsETH (3.110): a task asks for J dv/dt + dJ/dt v = target.  Every
error is measured as a force: accelerations of points times the robot's mass, angular accelerations
times its locked inertia, joint accelerations times the joint's own inertia.  So one unit of weight
means the same, a squared newton or newton metre, for all tasks and robots.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import final

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config.tasks import FrameTaskConfig
from balance.control.parts.feedback import Feedback
from balance.control.parts.setpoints import Desired, desired_angular_momentum_rate
from balance.control.parts.support import supporting_joints
from balance.control.parts.whole_body import BodyView
from balance.dynamics.checks import frame_id
from balance.robots import Robot

Array = NDArray[np.float64]


class Task(ABC):
    """``size`` rows, of which ``linear`` are forces and the others moments."""

    size: int
    linear: int = 0

    def prepare(self, rows: Array) -> None:
        """Fill those entries of ``rows`` (size, nv) that no state changes; zero by default."""
        rows[:] = 0.0

    @abstractmethod
    def write(self, body: BodyView, desired: Desired, rows: Array, values: Array) -> None:
        """Fill the rest of ``rows`` and ``values`` (size,) of rows @ dv/dt = values."""


@final
class ComTask(Task):
    """dp/dt = -K_P (x - x_d) - K_D (p - p_d) + m d2x_d/dt2, p the linear momentum, N."""

    size = linear = 3

    def __init__(self, K_P: Array, K_D: Array) -> None:
        self.K_P, self.K_D = K_P, K_D

    def write(self, body: BodyView, desired: Desired, rows: Array, values: Array) -> None:
        rows[:] = body.A[:3]
        values[:] = self.force(body, desired) - body.momentum_drift[:3]

    def force(self, body: BodyView, desired: Desired) -> Array:
        """Wanted rate of the linear momentum (3,), N; it is m times an acceleration of the CoM."""
        force = self.K_P.dot(desired.com - body.com)
        force -= self.K_D.dot(body.momentum[:3])
        if desired.moving:
            force += body.mass * (self.K_D.dot(desired.com_velocity) + desired.com_acceleration)
        return np.asarray(force)


@final
class BaseTask(Task):
    """I_l domega/dt = R_d tau_P - D_omega (omega - omega_d) + I_l domega_d/dt, N m.

    omega is that of the base, I_l the locked inertia about the CoM, and D_omega the gain on angular
    velocity that stands for D on angular momentum.  When the robot turns as one rigid body in its
    nominal posture, that momentum is I_l omega and the target is the one of the momentum law.
    """

    size = 3

    def __init__(self, K_R: Array, D_omega: Array) -> None:
        self.K_R, self.D_omega = K_R, D_omega
        none = np.zeros((3, 3))
        self._feedback, self._rates = Feedback(none, none, K_R, D_omega, none[0]), np.zeros(6)

    def write(self, body: BodyView, desired: Desired, rows: Array, values: Array) -> None:
        R_WB, inertia = body.R_WB, body.locked_inertia
        rows[:, 3:6] = inertia.dot(R_WB)
        self._rates[3:] = R_WB.dot(body.v[3:6])
        values[:] = self._feedback.wrench(desired, body.com, self._rates, body.q[3:7])[3:]
        if desired.moving:
            values += self.D_omega.dot(desired.angular_velocity)
            values += inertia.dot(desired.angular_acceleration)


@final
class MomentumTask(Task):
    """dh/dt = right side of Garofalo2015 (38) without the weight: force and torque at the CoM.

    The rate of a desired angular momentum is fed forward, as in the momentum law's tracking form.
    """

    size, linear = 6, 3

    def __init__(self, robot: Robot, K_P: Array, K_D: Array, K_R: Array, D: Array) -> None:
        self._data = robot.model.createData()
        self._feedback, self.K_D, self.D = Feedback(K_P, K_D, K_R, D, np.zeros(3)), K_D, D

    def write(self, body: BodyView, desired: Desired, rows: Array, values: Array) -> None:
        rows[:] = body.A
        values[:] = self._feedback.wrench(desired, body.com, body.momentum, body.q[3:7])
        values -= body.momentum_drift
        if desired.moving:
            speed, mass = desired.com_velocity, body.mass
            values[:3] += mass * (self.K_D.dot(speed) + desired.com_acceleration)
            values[3:] += self.D.dot(body.locked_inertia.dot(desired.angular_velocity))
            values[3:] += desired_angular_momentum_rate(self._data, body, desired)


@final
class PostureTask(Task):
    """d2s/dt2 = omega^2 (s_nominal - s) - 2 zeta omega ds/dt of every joint, times M_jj.

    Joints that bear a contact have to follow the other tasks: theirs counts ``BEARING_SHARE`` of
    the others' cost, enough to settle a motion that those tasks leave open, such as an elbow's
    swing about a hand that is held.
    """

    BEARING_SHARE = 1e-4

    def __init__(
        self,
        robot: Robot,
        frequency_hz: float,
        damping_ratio: float,
        frames: Iterable[FrameTaskConfig] = (),
    ) -> None:
        """``frames`` are other tasks, some of which the joints before them follow."""
        model = robot.model
        self.size = model.nv - 6
        self._inertia = np.diag(pin.crba(model, model.createData(), robot.q_nominal))[6:].copy()
        led = [frame_id(model, task.frame) for task in frames if task.joints_follow]
        self._inertia[supporting_joints(robot, led)] *= np.sqrt(self.BEARING_SHARE)
        self._nominal = robot.q_nominal[7:].copy()
        omega = 2.0 * np.pi * frequency_hz
        self._stiffness = omega**2 * self._inertia
        self._damping = 2.0 * damping_ratio * omega * self._inertia
        self._forward: Array | None = None

    def lead(self, joints: Array, rates: Array, accelerations: Array) -> None:
        """Have the joints go along with a posture that moves, (nj,) each."""
        self._nominal = joints
        self._forward = self._damping * rates + self._inertia * accelerations

    def prepare(self, rows: Array) -> None:
        rows[:] = 0.0
        rows.ravel()[6 :: rows.shape[1] + 1] = self._inertia  # on joint i in row i

    def write(self, body: BodyView, desired: Desired, rows: Array, values: Array) -> None:
        np.subtract(self._nominal, body.q[7:], out=values)
        values *= self._stiffness
        values -= self._damping * body.v[6:]
        if self._forward is not None:
            values += self._forward
