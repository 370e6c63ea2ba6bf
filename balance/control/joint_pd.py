"""A spring and a damper on every joint, with gravity and contact forces; RobotDynamicsETH 3.8."""

from __future__ import annotations

from typing import final

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import ExperimentConfig, WrenchLawConfig, section_of
from balance.config.laws import ImpedanceConfig
from balance.control.parts.posture_impedance import STANDING
from balance.control.parts.setpoints import Desired
from balance.control.parts.support import Support, SupportView, supporting_joints
from balance.control.parts.wrench_law import WrenchLaw
from balance.robots import Robot

Array = NDArray[np.float64]

WEAK = 1e-3  # of the largest singular value: where contacts hardly leave a setpoint any way


@final
class JointPDController(WrenchLaw):
    """Holds the posture, joint by joint, and knows of balance only where the weight goes.

    PD with gravity compensation (3.74), for a floating base that stands on contacts:

        tau = k_p (s* - s) + k_d (ds*/dt - ds/dt) + g_q(q) - sum_i J_iq^T w_i,

    with w_i the contact wrenches, in their cones, that bear the weight at the CoM.  The gains are
    those of an oscillator, (3.78)-(3.79), times the inertia that a joint moves: its own M_jj, or,
    if it bears a contact, that of the whole robot about its axis, shared among the contacts.  A
    setpoint of CoM and base moves the reference s* of the joints that bear contacts, to first
    order.

    Differs: an arm moves the same inertia always.  A foot that leaves the ground is so light that
    gains for the whole robot would shake it at a finite control rate; they are cut at what the
    free joint, of inertia I = 1 / (M^-1)_jj, can bear.
    """

    class Config(WrenchLawConfig):
        """Keys of `law: joint_pd`; its ``gains``, which hold CoM and base, play no part."""

        bearing: ImpedanceConfig = STANDING
        """Oscillator of the joints that bear a contact, for a CoM height of 1 m; its frequency goes
        with 1 / sqrt(height). `impedance` is that of the others."""

    def __init__(self, config: ExperimentConfig, robot: Robot) -> None:
        super().__init__(config, robot)
        wanted = section_of(config, self.Config).bearing
        self._weight = np.append(self.support.weight, np.zeros(3))
        self._gravity = self._weight / robot.mass
        self.posture.bear(robot, wanted)
        self._follow = _joints_of_setpoint(self.support)
        self._rest, self._desired = self.path.at(0.0), self.path.at(0.0)
        self._nominal = robot.q_nominal[7:].copy()
        self._drag = np.zeros(len(self._nominal))

    def wanted_wrench(self, here: SupportView, desired: Desired) -> Array:
        """The weight at the CoM."""
        if desired is not self._desired:
            self._aim(desired)
        return self._weight

    def rigid_acceleration(self, here: SupportView, total: Array) -> Array:
        """Gravity (6,): on all links it is the weight at the CoM, and A_q^T of it is g_q."""
        return self._gravity

    def torques(self, here: SupportView, wrenches: Array, total: Array) -> Array:
        """The sum above, less the dampers of contacts that bear little."""
        torques = super().torques(here, wrenches, total)
        torques += self._drag
        return torques

    def _aim(self, desired: Desired) -> None:
        """Write s* and k_d ds*/dt of a setpoint."""
        turn = pin.log3(desired.rotation @ self._rest.rotation.T)
        offset = np.append(desired.com - self._rest.com, turn)
        rate = np.append(desired.com_velocity, desired.angular_velocity)
        self.posture.nominal[:] = self._nominal + self._follow.dot(offset)
        self._drag[:] = self.posture.damping * self._follow.dot(rate)
        self._desired = desired


def _joints_of_setpoint(support: Support) -> Array:
    """(nj, 6) that moves CoM and base by a small way and turn, world axes, on contacts at rest.

    Only joints that bear a contact move, and they as little as possible.
    """
    robot, nv = support.robot, support.model.nv
    here = support.at(robot.q_nominal, np.zeros(nv))
    turned = np.zeros((3, nv))
    turned[:, 3:6] = here.R_WB
    rows = np.concatenate([here.J_c, here.A[:3] / here.mass, turned])
    moving = np.concatenate([np.arange(6), 6 + supporting_joints(robot)])
    follow = np.zeros((nv, 6))
    follow[moving] = np.linalg.pinv(rows[:, moving], rcond=WEAK)[:, -6:]
    return follow[6:]
