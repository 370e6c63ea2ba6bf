"""Laws that ask for a wrench at the CoM, share it among the contacts and map it to torques."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dnrm2

from balance.config import ExperimentConfig, WrenchLawConfig, section_of
from balance.config.tasks import FrameTaskConfig
from balance.control.parts.contact_damping import ContactDamping, damped
from balance.control.parts.distribution import make_distribution
from balance.control.parts.gains import gain_matrices
from balance.control.parts.guidance import Guidance
from balance.control.parts.limb_task import LimbTask
from balance.control.parts.output import ControlOutput, ControlStatus
from balance.control.parts.posture_impedance import PostureImpedance, spring_torques
from balance.control.parts.safety_frame import BalancingLaw
from balance.control.parts.setpoints import Desired, Path, setpoint_path
from balance.control.parts.support import Support, SupportView
from balance.control.qp import QPStatus
from balance.dynamics.compiled import compiled
from balance.robots import Robot

Array = NDArray[np.float64]


class WrenchLaw(BalancingLaw):
    """The steps that such laws have in common; a law says which wrench, and which torques."""

    def __init__(
        self, config: ExperimentConfig, robot: Robot, *, plain_share: bool = False
    ) -> None:
        """``plain_share``: contacts share the load by the plain pseudo-inverse."""
        law = section_of(config, WrenchLawConfig)
        self.distribution = make_distribution(robot, law.contacts, law.qp, plain_share=plain_share)
        super().__init__(law, robot, self.distribution.solver)
        self.robot, self.support = robot, Support(robot)
        self.K_P, self.K_D, self.K_R, self.D = gain_matrices(law.gains, robot)
        impedance = law.impedance or robot.impedance
        self._pace = impedance.frequency_hz, impedance.damping_ratio
        self.posture = PostureImpedance(robot, *self._pace)
        self.contact_damping = ContactDamping(self.support, law.contact_damping, law.contact_return)
        self.path: Path = setpoint_path(law.setpoints, robot)
        self.limbs: dict[str, LimbTask] = {}
        self._limits = robot.effort_limits
        # The regularisation of the QP alone leaves some 1e-5 of the weight unmet.
        self._negligible = 1e-4 * float(np.linalg.norm(self.support.weight))

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the rows of the wrench cones."""
        return self.distribution.names

    def lead_limbs(self, limbs: Mapping[str, FrameTaskConfig]) -> None:
        """Have the joints of limbs that move follow tasks in place of the posture."""
        self.limbs = {name: LimbTask(self.robot, task, *self._pace) for name, task in limbs.items()}
        for limb in self.limbs.values():
            self.posture.leave(limb.joints)

    def guide(self, guidance: Guidance) -> None:
        """Take setpoint, posture, limbs and bounds of the contacts from a sequence of stances."""
        self.path = guidance
        self.posture.lead(guidance.joints, guidance.rates, guidance.accelerations)
        for name, target in guidance.limbs.items():
            self.limbs[name].lead(target)
        self.distribution.bound(guidance.least, guidance.most)
        self.fallback.bound(guidance.least, guidance.most)

    def attempt(self, q: Array, v: Array, t: float) -> ControlOutput | None:
        """Torques for a finite configuration ``q``, velocity ``v`` and time ``t`` in s."""
        # State and setpoint -> wanted wrench at the CoM -> contact wrenches -> joint torques.
        here, desired = self.support.at(q, v), self.path.at(t)
        wanted = self.wanted_wrench(here, desired)
        contacts = self.distribution.solve(here.G, wanted)
        if contacts.status is not QPStatus.SOLVED:
            return None
        torques = self.torques(here, contacts.stacked, contacts.total)

        status, residual = ControlStatus.OK, contacts.residual
        if len(contacts.active) and dnrm2(residual) > self._negligible:
            status = ControlStatus.WRENCH_LIMITED
        if largest_excess(torques, self._limits) > 0.0:
            status |= ControlStatus.TORQUE_LIMITED
            torques = np.minimum(np.maximum(torques, -self._limits), self._limits)
        return ControlOutput(torques, contacts.wrenches, status, contacts.active, residual)

    @abstractmethod
    def wanted_wrench(self, here: SupportView, desired: Desired) -> Array:
        """Wanted wrench at the CoM (6,), N and N m in world axes."""

    @abstractmethod
    def rigid_acceleration(self, here: SupportView, total: Array) -> Array:
        """a (6,), m/s^2 and 1/s^2: how the law takes contact wrenches to accelerate the whole.

        With wrenches of the sum ``total`` at the CoM the whole robot accelerates, and no contact
        drives the joints for that.  A law differs from another in what it takes into account of it.
        """

    def torques(self, here: SupportView, wrenches: Array, total: Array) -> Array:
        """All joint torques (nj,), of contact wrenches (r,) with the sum ``total`` at the CoM:

            tau = A_q^T a - sum_i J_iq^T w_i + posture + limbs,

        a the :meth:`rigid_acceleration`, and w_i less the dampers of contacts that bear little.
        """
        posture, damping = self.posture, self.contact_damping
        known = (
            posture.nominal, posture.stiffness, posture.damping, here.q, here.v,
            here.A_q_T, self.rigid_acceleration(here, total), here.J_c,
        )  # fmt: skip
        if damping.dampers_alone:
            torques = posture_and_damped(
                *known, wrenches, damping.loads, damping.firm, damping.dampers
            )
        else:
            torques = posture_and_contacts(*known, damping.driven(here, wrenches))
        if posture.moves:
            torques += posture.forward()
        if self.limbs:
            wanted = posture.acceleration(here.q[7:], here.v[6:])
            for limb in self.limbs.values():
                torques[limb.joints] += limb.torques(here, wanted)
        return torques


@compiled
def largest_excess(torques: Array, limits: Array) -> float:
    """By how much the torque farthest beyond its limit is so, N m; negative if none is."""
    excess = np.abs(torques) - limits
    return excess[excess.argmax()]


@compiled
def posture_and_contacts(
    nominal: Array,
    stiffness: Array,
    damping: Array,
    q: Array,
    v: Array,
    A_q_T: Array,
    acceleration: Array,
    J_c: Array,
    wrenches: Array,
) -> Array:
    """The posture's springs and dampers, A_q^T a and -J_q^T w (nj,)."""
    torques = spring_torques(nominal, q[7:], v[6:], stiffness, damping)
    torques += A_q_T.dot(acceleration)
    torques -= wrenches.dot(J_c)[6:]
    return torques


@compiled
def posture_and_damped(
    nominal: Array,
    stiffness: Array,
    damping: Array,
    q: Array,
    v: Array,
    A_q_T: Array,
    acceleration: Array,
    J_c: Array,
    wrenches: Array,
    loads: Array,
    firm: Array,
    dampers: Array,
) -> Array:
    """The same with the dampers of contacts that bear little."""
    driven = damped(wrenches, loads, firm, dampers, J_c, v)
    return posture_and_contacts(nominal, stiffness, damping, q, v, A_q_T, acceleration, J_c, driven)
