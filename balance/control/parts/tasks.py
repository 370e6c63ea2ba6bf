"""Tasks: what a law wants of the accelerations, each as linear rows on Pinocchio's dv/dt.

Bouyarmane2012 (36) and RobotDynamicsETH (3.110): a task asks for J dv/dt + dJ/dt v = target.  Every
error is measured as a force: accelerations of points times the robot's mass, angular accelerations
times its locked inertia, joint accelerations times the joint's own inertia.  So one unit of weight
means the same, a squared newton or newton metre, for all tasks and robots.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Self, final

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config.tasks import FrameTaskConfig
from balance.control.parts.feedback import Feedback
from balance.control.parts.setpoints import Desired, desired_angular_momentum_rate
from balance.control.parts.support import supporting_joints
from balance.control.parts.whole_body import BodyView
from balance.dynamics.checks import frame_id
from balance.dynamics.compiled import compiled
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
        write_com_rows(
            body.A, body.com, body.momentum, body.momentum_drift, body.mass, self.K_P, self.K_D,
            desired.com, desired.com_velocity, desired.com_acceleration, rows, values,
        )  # fmt: skip


@compiled
def write_com_rows(
    A: Array,
    com: Array,
    momentum: Array,
    momentum_drift: Array,
    mass: float,
    K_P: Array,
    K_D: Array,
    com_d: Array,
    velocity_d: Array,
    acceleration_d: Array,
    rows: Array,
    values: Array,
) -> None:
    """The first rows of A dv/dt + dA/dt v = dh/dt, with the wanted rate of the momentum."""
    rows[:] = A[:3]
    values[:] = K_P.dot(com_d - com) - K_D.dot(momentum[:3] - mass * velocity_d)
    values += mass * acceleration_d - momentum_drift[:3]


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
        write_base_rows(R_WB, inertia, body.v, rows, self._rates)
        values[:] = self._feedback.wrench(desired, body.com, self._rates, R_WB)[3:]
        if desired.moving:
            values += self.D_omega.dot(desired.angular_velocity)
            values += inertia.dot(desired.angular_acceleration)


@compiled
def write_base_rows(R_WB: Array, inertia: Array, v: Array, rows: Array, rates: Array) -> None:
    """I_l domega/dt as rows on dv/dt, and the base's angular velocity, last in ``rates`` (6,)."""
    rows[:, 3:6] = inertia.dot(R_WB)
    rates[3:] = R_WB.dot(v[3:6])


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
        values[:] = self._feedback.wrench(desired, body.com, body.momentum, body.R_WB)
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
        self._forward = np.zeros(self.size)

    @property
    def inertia(self) -> Array:
        """What a joint's acceleration counts (nj,), kg m^2."""
        return self._inertia

    @classmethod
    def merged(cls, tasks: Sequence[Self], scales: Sequence[Array]) -> Self:
        """One task whose squared error is, but for a constant, the sum of those of ``tasks``.

        ``scales`` (nj,) multiply the rows of each.  All have the same posture.
        """
        whole = copy(tasks[0])
        rows = [scale * task._inertia for task, scale in zip(tasks, scales, strict=True)]
        whole._inertia = np.sqrt(sum(row**2 for row in rows))
        shares = [r * s / whole._inertia for r, s in zip(rows, scales, strict=True)]
        together = list(zip(shares, tasks, strict=True))
        whole._stiffness = np.sum([share * task._stiffness for share, task in together], axis=0)
        whole._damping = np.sum([share * task._damping for share, task in together], axis=0)
        return whole

    def lead(self, joints: Array, rates: Array, accelerations: Array) -> None:
        """Have the joints go along with a posture that moves, (nj,) each."""
        self._nominal = joints
        self._forward = self._damping * rates + self._inertia * accelerations

    def prepare(self, rows: Array) -> None:
        rows[:] = 0.0
        rows.ravel()[6 :: rows.shape[1] + 1] = self._inertia  # on joint i in row i

    def write(self, body: BodyView, desired: Desired, rows: Array, values: Array) -> None:
        self.write_values(body, values)

    def write_values(self, body: BodyView, values: Array) -> None:
        """The right sides alone: the rows never change."""
        write_posture_values(
            self._nominal, self._stiffness, self._damping, self._forward, body.q, body.v, values
        )


@compiled
def write_posture_values(
    nominal: Array,
    stiffness: Array,
    damping: Array,
    forward: Array,
    q: Array,
    v: Array,
    values: Array,
) -> None:
    """Springs to the nominal angles and dampers, and what a moving posture feeds forward."""
    values[:] = stiffness * (nominal - q[7:]) - damping * v[6:] + forward
