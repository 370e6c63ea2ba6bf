"""Virtual forces at points of the robot: springs, dampers and constant pulls that are not there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from pydantic import model_validator

from balance.config.schema import Strict
from balance.config.values import NonNegative, Vector3
from balance.control.parts.support import SupportView
from balance.dynamics.checks import frame_id
from balance.errors import FrameError
from balance.robots import Robot

Array = NDArray[np.float64]


class VirtualForceConfig(Strict):
    """A spring and a damper between a point of the robot and a target, or a constant force."""

    frame: str
    """Frame of the robot that it pulls at."""
    point_m: Vector3 = (0.0, 0.0, 0.0)
    """Where on the frame, in its axes."""
    target_m: Vector3 | None = None
    """Where the spring pulls it, in world axes; not given: its place in the nominal posture.
    Example: [0.3, -0.4, 1.1]."""
    stiffness: NonNegative | tuple[NonNegative, NonNegative, NonNegative] | None = None
    """Of the spring [N/m]: one number, or one for each axis. Example: 300."""
    damping: NonNegative | tuple[NonNegative, NonNegative, NonNegative] | None = None
    """Of the damper [N s/m]: one number, or one for each axis. Example: 30."""
    force_N: Vector3 | None = None
    """A constant force in place of the spring, in world axes. Example: [0, 0, 20]."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        springs = [key for key in ("stiffness", "damping") if getattr(self, key) is not None]
        if (self.force_N is None) == (not springs):
            raise ValueError(
                f"the virtual force at '{self.frame}' needs force_N, or stiffness and damping, "
                "and not both"
            )
        if self.target_m is not None and self.stiffness is None:
            raise ValueError(
                f"the virtual force at '{self.frame}' has a target_m, but no stiffness that would "
                "pull it there"
            )
        return self


class VirtualForces:
    """Forces F_v at points of the robot, and what they do to it; RobotDynamicsETH (3.115)."""

    def __init__(self, forces: Sequence[VirtualForceConfig], robot: Robot) -> None:
        model, data = robot.model, robot.model.createData()
        pin.forwardKinematics(model, data, robot.q_nominal)
        self._points: list[tuple[int, pin.SE3]] = []
        self._targets = np.zeros((len(forces), 3))
        self._stiffness, self._damping, self._pull = np.zeros((3, len(forces), 3))
        for i, force in enumerate(forces):
            try:
                frame = model.frames[frame_id(model, force.frame)]
            except FrameError as error:
                raise FrameError(f"'controller.virtual_forces.{i}': {error}") from None
            joint, at = frame.parentJoint, frame.placement.act(np.array(force.point_m))
            self._points.append((joint, pin.SE3(np.eye(3), at)))
            nominal = data.oMi[joint].act(at)
            self._targets[i] = nominal if force.target_m is None else force.target_m
            self._stiffness[i] = force.stiffness or 0.0
            self._damping[i] = force.damping or 0.0
            self._pull[i] = force.force_N or 0.0
        self._torques = np.zeros(model.nv - 6)

    def wrench(self, here: SupportView) -> Array:
        """Their sum at the CoM (6,), N and N m in world axes, at the state of ``here``.

        It also writes what :meth:`joint_torques` answers for that state.
        """
        total = np.zeros(6)
        self._torques[:] = 0.0
        axes = pin.LOCAL_WORLD_ALIGNED
        for i, (joint, at) in enumerate(self._points):
            J = pin.getFrameJacobian(here.model, here.data, joint, at, axes)[:3]
            place = here.data.oMi[joint].act(at.translation)
            force = self._stiffness[i] * (self._targets[i] - place) + self._pull[i]
            force -= self._damping[i] * J.dot(here.v)
            total[:3] += force
            total[3:] += pin.skew(place - here.com).dot(force)
            self._torques += force.dot(J[:, 6:])
        return total

    def joint_torques(self) -> Array:
        """sum J_bv^T F_v (nj,), N m: the Jacobians are relative to the base; (3.120)."""
        return self._torques
