"""A limb in the air that is led along a path, for laws that otherwise ask for contact wrenches."""

from __future__ import annotations

from typing import final

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config.tasks import FrameTaskConfig
from balance.control.parts.frame_path import FrameTarget
from balance.control.parts.frame_task import PARTS
from balance.control.parts.inverse_dynamics import fading_least_squares
from balance.control.parts.support import SupportView
from balance.dynamics.checks import frame_id
from balance.robots import Robot

Array = NDArray[np.float64]


@final
class LimbTask:
    """A frame follows its target like a damped oscillator, by the joints before it alone:

        tau_l = M_ll ddq_l,    J_l ddq_l = dV_d/dt - 2 zeta omega (V - V_d) + omega^2 e - dJ/dt v,

    l the joints between base and frame, V the frame's velocity and e the way to its target, as in
    :class:`~balance.control.parts.frame_task.FrameTask`; what J_l leaves open accelerates as the
    posture asks.  Gravity is the law's own concern.

    That of the base is neglected: a wrench law knows how the whole accelerates, not how the base
    does, and while a limb moves both are slow.  What the limb pushes off from the contacts do not
    feel, since the law's wrenches are those of the whole robot.
    """

    def __init__(
        self, robot: Robot, task: FrameTaskConfig, frequency_hz: float, damping_ratio: float
    ) -> None:
        """``task`` says what of its frame follows, and how fast unless as the numbers say."""
        model = robot.model
        self.frame, self._part = frame_id(model, task.frame), PARTS[task.hold]
        joint = model.frames[self.frame].parentJoint
        self.joints = np.array([j - 2 for j in model.supports[joint] if j > 1], dtype=np.intp)
        """Indices of the limb's joints among the actuated ones."""
        self._columns = self.joints + 6
        self._block = np.ix_(self._columns, self._columns)
        self._omega = 2.0 * np.pi * (task.frequency_hz or frequency_hz)
        self._damping = 2.0 * (task.damping_ratio or damping_ratio) * self._omega
        self._data, self._still = model.createData(), np.zeros(model.nv)
        self._target: FrameTarget | None = None

    def lead(self, target: FrameTarget) -> None:
        """Take where the frame shall be."""
        self._target = target

    def wanted(self, here: SupportView) -> tuple[Array, Array]:
        """Rows (n, nv) and values (n,) of J dv/dt = wanted acceleration less dJ/dt v."""
        model, data, axes = here.model, self._data, pin.LOCAL_WORLD_ALIGNED
        pin.forwardKinematics(model, data, here.q, here.v, self._still)
        place = pin.updateFramePlacement(model, data, self.frame)
        frame = model.frames[self.frame]
        J = pin.getFrameJacobian(model, here.data, frame.parentJoint, frame.placement, axes)
        goal, target = self._target, -self._damping * J.dot(here.v)
        if goal is not None:
            error = np.empty(6)
            error[:3] = goal.position - place.translation
            error[3:] = pin.log3(goal.rotation @ place.rotation.T)
            target += self._omega**2 * error
            if goal.moving:
                target += self._damping * goal.velocity + goal.acceleration
        target -= pin.getFrameClassicalAcceleration(model, data, self.frame, axes).vector
        return J[self._part], target[self._part]

    def torques(self, here: SupportView, posture: Array) -> Array:
        """tau_l; ``posture`` (nj,) are the accelerations that the posture asks of all joints."""
        J, target = self.wanted(here)
        J_l, accelerations = J[:, self._columns], posture[self.joints]
        accelerations = accelerations + fading_least_squares(J_l, target - J_l.dot(accelerations))
        M = pin.crba(here.model, self._data, here.q)
        M_ll = np.triu(M[self._block])
        return np.asarray((M_ll + np.triu(M_ll, 1).T).dot(accelerations))
