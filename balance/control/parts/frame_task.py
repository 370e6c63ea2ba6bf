"""A frame of the robot that holds its place or follows a path; RobotDynamicsETH (3.90), (3.110)."""

from __future__ import annotations

from typing import final

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config.tasks import FrameTaskConfig
from balance.control.parts.frame_path import FramePath, FrameTarget
from balance.control.parts.setpoints import Desired
from balance.control.parts.tasks import Task
from balance.control.parts.whole_body import BodyView
from balance.dynamics.checks import frame_id
from balance.errors import ConfigError, FrameError
from balance.robots import Robot

Array = NDArray[np.float64]

FAR_M, FAR_RAD = 0.05, 0.2  # from a moving target: a frame that is farther has missed it
PARTS = {"position": slice(0, 3), "orientation": slice(3, 6), "pose": slice(0, 6)}


@final
class FrameTask(Task):
    """A frame returns to its target like a damped oscillator, and moves along with it:

        dV/dt = dV_d/dt - 2 zeta omega (V - V_d) + omega^2 e,

    V the velocity of the frame, linear and angular, and e the way to the target, the rotation
    vector of R_d R^T for its orientation, all in world axes.
    """

    def __init__(
        self,
        robot: Robot,
        name: str,
        task: FrameTaskConfig,
        frequency_hz: float,
        damping_ratio: float,
    ) -> None:
        try:
            self.frame = frame_id(robot.model, task.frame)
        except FrameError as error:
            raise FrameError(f"'controller.frames.{name}': {error}") from None
        self.name, self._part = name, PARTS[task.hold]
        self.size = 6 if task.hold == "pose" else 3
        self.linear = 0 if task.hold == "orientation" else 3
        data = robot.model.createData()
        pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
        self.path = FramePath(data.oMf[self.frame], task.path)
        _check_reach(robot, name, self.frame, self.path)
        self._moves = bool(task.path)
        self._target = self.path.at(0.0)
        self._far = np.repeat([FAR_M, FAR_RAD], 3)[self._part]
        self.is_near = True
        """Whether the frame was near its moving target at the last state."""
        self._omega = 2.0 * np.pi * (task.frequency_hz or frequency_hz)
        self._damping = 2.0 * (task.damping_ratio or damping_ratio) * self._omega

    def aim(self, time: float) -> None:
        """Take the target at ``time`` in s."""
        if self._moves:
            self._target = self.path.at(time)

    def lead(self, target: FrameTarget) -> None:
        """Take a target that somebody else moves."""
        self._target = target

    def write(self, body: BodyView, desired: Desired, rows: Array, values: Array) -> None:
        model, data, axes = body.model, body.data, pin.LOCAL_WORLD_ALIGNED
        goal = self._target
        here = pin.updateFramePlacement(model, data, self.frame)
        J = pin.getFrameJacobian(model, data, self.frame, axes)
        error = np.empty(6)
        error[:3] = goal.position - here.translation
        error[3:] = pin.log3(goal.rotation @ here.rotation.T)
        velocity = J.dot(body.v)
        target = self._omega**2 * error - self._damping * velocity
        if goal.moving:
            target += self._damping * goal.velocity + goal.acceleration
        if self._moves:
            self.is_near = bool((np.abs(error[self._part]) < self._far).all())
        # dJ/dt v: what the frame's origin, and the frame, accelerate by as it is.
        frame = model.frames[self.frame]
        drift = frame.placement.actInv(body.acceleration(frame.parentJoint))
        target[:3] -= here.rotation.dot(drift.linear) + pin.skew(velocity[3:]).dot(velocity[:3])
        target[3:] -= here.rotation.dot(drift.angular)
        inertia = np.zeros((6, 6))
        inertia[:3, :3] = body.mass * np.eye(3)
        inertia[3:, 3:] = body.locked_inertia
        rows[:] = inertia.dot(J)[self._part]
        values[:] = inertia.dot(target)[self._part]


def _check_reach(robot: Robot, name: str, frame: int, path: FramePath) -> None:
    """Refuse a target that is farther from a contact than the links between are long."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    for sole in robot.soles:
        length = _chain_length(robot.model, frame, sole.frame_id)
        length += float(np.linalg.norm(sole.placement.translation))
        for place in path.places:
            distance = float(np.linalg.norm(place - sole.pose(data).translation))
            if distance > length:
                raise ConfigError(
                    f"'controller.frames.{name}.path' leads to {np.round(place, 3).tolist()} m, "
                    f"{distance:.3g} m from the contact '{sole.name}', but robot '{robot.name}' is "
                    f"at most {length:.3g} m long between them; choose a nearer target"
                )


def _chain_length(model: pin.Model, one: int, other: int) -> float:
    """Length (m) of the links between two frames, stretched out; infinite if a joint slides."""
    frames = model.frames[one], model.frames[other]
    chains = [set(model.supports[frame.parentJoint]) for frame in frames]
    between = chains[0] ^ chains[1]
    root = max(chains[0] & chains[1])
    length = sum(float(np.linalg.norm(frame.placement.translation)) for frame in frames)
    for joint in between:
        if model.joints[joint].nq != model.joints[joint].nv or "P" in _kind(model, joint):
            return np.inf
        length += float(np.linalg.norm(model.jointPlacements[joint].translation))
    # Where both chains leave the same body the way between their first joints is one link.
    return length if root else np.inf


def _kind(model: pin.Model, joint: int) -> str:
    return str(model.joints[joint].shortname()).removeprefix("JointModel")
