"""Virtual model control: springs and dampers that are not there, RobotDynamicsETH 3.11."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self, final

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from pydantic import model_validator

from balance.config import ExperimentConfig, WrenchLawConfig, section_of
from balance.config.tasks import FrameTaskConfig
from balance.control.parts.feedback import Feedback
from balance.control.parts.gains import velocity_gains
from balance.control.parts.setpoints import Desired
from balance.control.parts.support import SupportView
from balance.control.parts.virtual_forces import VirtualForceConfig, VirtualForces
from balance.control.parts.wrench_law import WrenchLaw
from balance.errors import ConfigError
from balance.robots import Robot

Array = NDArray[np.float64]


@final
class VirtualModelController(WrenchLaw):
    """Joint torques that act on the robot as springs and dampers between base and world would.

    They hold a point P of the base, the one where the CoM lies in the nominal posture, and the
    base's orientation.  With F_v and tau_v the virtual force at P and torque, the wanted wrench of
    the contacts at the CoM x is, from (3.116) and (3.117),

        w_CoM = [m g e_z + F_v;  (x_P - x) x F_v + tau_v],
        F_v = -K_P (x_P - x_d) - K_D (dx_P/dt - dx_d/dt),
        tau_v = R_d tau_P - D (omega - omega_d),

    with gains on velocities from :func:`velocity_gains`, and the torques are (3.120).

    and ``virtual_forces`` add any number of others at other points, (3.115): each its force and
    moment to the wrench, and to the torques J_bvi^T F_vi, Jacobians relative to the base.

    Differs: the contact forces come from the wrench QP, which keeps them in their cones, and shares
    the load by what each contact can bear.  With ``contact_forces: pseudo_inverse`` they are the
    least in the sense of (3.119) wherever those lie in the cones.  They are wrenches, since soles
    are surfaces, and act on the robot: w_i = -F_ci.
    """

    can_change_contacts = True

    class Config(WrenchLawConfig):
        """Keys of `law: virtual_model`."""

        virtual_forces: tuple[VirtualForceConfig, ...] = ()
        """Springs, dampers and forces at points of the robot, beside the springs of `gains`."""
        hold_base: bool = True
        """Whether the springs of `gains` hold CoM and base; else the virtual forces act alone."""
        contact_forces: Literal["even", "pseudo_inverse"] = "even"
        """How contacts share the load: by what each can bear, or with the least forces."""

        @model_validator(mode="after")
        def _held(self) -> Self:
            if self.hold_base:
                return self
            if not any(force.stiffness for force in self.virtual_forces):
                raise ValueError(
                    "hold_base is false and no virtual_forces has a stiffness: nothing would hold "
                    "the robot; give one, or leave hold_base out"
                )
            if self.setpoints:
                raise ValueError(
                    "setpoints move the springs of the base, which hold_base = false takes away; "
                    "leave one of them out"
                )
            return self

    def __init__(self, config: ExperimentConfig, robot: Robot) -> None:
        law = section_of(config, self.Config)
        super().__init__(config, robot, plain_share=law.contact_forces == "pseudo_inverse")
        self._others = VirtualForces(law.virtual_forces, robot) if law.virtual_forces else None
        self._holds_base = law.hold_base
        self.K_D_velocity, self.D_omega = velocity_gains(self.K_D, self.D, robot)
        R_WB = pin.Quaternion(robot.q_nominal[3:7]).matrix()
        self._feedback = Feedback(self.K_P, self.K_D_velocity, self.K_R, self.D_omega, np.zeros(3))
        self._gravity = np.append(self.support.weight / robot.mass, np.zeros(3))
        self.p_BP = R_WB.T @ (robot.com() - robot.q_nominal[:3])
        # Velocity of P, angular velocity and p_BP, in base axes and in world axes.
        self._in_base, self._in_world = np.zeros((3, 3)), np.zeros((3, 3))
        self._in_base[2] = self.p_BP
        self._base_rates, self._rates = self._in_base.ravel()[:6], self._in_world.ravel()[:6]
        self._at_point = np.eye(6)
        self._at_point[:3, 3:] = -pin.skew(self.p_BP)

    def lead_limbs(self, limbs: Mapping[str, FrameTaskConfig]) -> None:
        """Have limbs that move follow tasks, in a sequence of stances."""
        if self._others is not None or not self._holds_base:
            raise ConfigError(
                "controller.virtual_forces pull at points of a stance that stays, and hold_base = "
                "false leaves the CoM to them; phases need the springs of gains alone"
            )
        super().lead_limbs(limbs)

    def wanted_wrench(self, here: SupportView, desired: Desired) -> Array:
        """What the contacts must bear to replace the virtual springs and dampers, at the CoM."""
        wanted = self._base_wrench(here, desired) if self._holds_base else np.zeros(6)
        if self._others is not None:
            wanted += self._others.wrench(here)
        wanted[:3] += self.support.weight
        return wanted

    def _base_wrench(self, here: SupportView, desired: Desired) -> Array:
        """Springs and dampers of the base, at the CoM."""
        q = here.q
        self._at_point.dot(here.v[:6], self._base_rates)
        self._in_base.dot(here.R_WB.T, self._in_world)
        point = q[:3] + self._in_world[2]
        wanted = self._feedback.wrench(desired, point, self._rates, here.R_WB)
        if desired.moving:
            wanted[:3] += self.K_D_velocity.dot(desired.com_velocity)
            wanted[3:] += self.D_omega.dot(desired.angular_velocity)
        wanted[3:] += pin.skew(point - here.com).dot(wanted[:3])
        return wanted

    def rigid_acceleration(self, here: SupportView, total: Array) -> Array:
        """Gravity (6,): tau = -sum_i J_bgi^T F_gi - sum_i J_bci^T w_i (3.120).

        The Jacobians are relative to the base.  That of P is zero, so its virtual force needs no
        torque of its own, and gravity at all links is the weight at the CoM.
        """
        return self._gravity

    def torques(self, here: SupportView, wrenches: Array, total: Array) -> Array:
        """(3.120), less the dampers of contacts that bear little."""
        torques = super().torques(here, wrenches, total)
        if self._others is not None:
            torques += self._others.joint_torques()
        return torques
