"""What a robot does when its law has no answer: a ladder of ever simpler ones.

1. ``RELAXED``: hold the weight and damp the motion, by the contact-wrench QP with weights so even
   that it is well conditioned whatever the contacts' poses are.
2. ``MINIMUM_WRENCH``: the contacts bear next to nothing; the joints go to their nominal posture.
3. ``DAMPED``: the joints are braked.  This needs a finite velocity and nothing else.

The other QP solver comes before all of these: see :class:`balance.control.qp.CertifiedSolver`.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg.blas import dnrm2

from balance.config import BalancingLawConfig
from balance.control.parts.distribution import make_distribution
from balance.control.parts.output import ControlOutput, ControlStatus
from balance.control.parts.support import Support
from balance.control.qp import QPStatus
from balance.robots import Robot
from balance.robots.contact_rows import ContactRows

Array = NDArray[np.float64]

NUMERICAL = (ArithmeticError, np.linalg.LinAlgError, ValueError, RuntimeError)
"""What libraries raise when numbers get out of hand."""

RELAXED_REGULARISATION = 1e-2
MAX_WEIGHTS = 1e3  # a contact force of more weights of the robot than this is no answer
CONE_TOLERANCE = 1e-9  # N or N m


class Cones:
    """The wrench cones of all contacts, and how to get into them."""

    def __init__(self, rows: Array, lower: Array, weight: float, contacts: ContactRows) -> None:
        """``rows`` @ w >= ``lower`` for the stacked wrenches w (r,); ``weight`` in N."""
        self.rows, self.lower = rows, lower
        self._most, self._contacts = MAX_WEIGHTS * weight, contacts
        # How much each row gains from one more newton of each contact's normal force.
        self._gain = rows[:, contacts.normal]

    def inside(self, wrenches: Array) -> Array:
        """Wrenches (r,) with just enough more normal force, or less of all, to be in the cones.

        A solver's rounding, or wrenches beyond all reason, are what is left to be mended here.
        """
        margins = self.rows.dot(wrenches) - self.lower
        inside = margins[margins.argmin()] >= -CONE_TOLERANCE
        if inside and dnrm2(wrenches) <= self._most:
            return wrenches
        largest = float(np.abs(wrenches).max())
        wrenches = wrenches * (self._most / largest if largest > self._most else 1.0)
        for contact in range(self._gain.shape[1]):
            gain = self._gain[:, contact]
            missing = self.lower - self.rows.dot(wrenches)
            rising = gain > 0.0
            normal = self._contacts.normal[contact]
            wrenches[normal] += max(0.0, float((missing[rising] / gain[rising]).max()))
            # Last, for a smaller wrench is in its cone as well, and a larger force may be too much.
            self._pull_down(wrenches, contact, gain < 0.0)
        return wrenches

    def _pull_down(self, wrenches: Array, contact: int, falling: NDArray[np.bool_]) -> None:
        """Scale a contact's wrench to its largest normal force; all other rows stay as they are."""
        if falling.any():
            own, normal = self._contacts.slices[contact], self._contacts.normal[contact]
            most, force = float(-self.lower[falling].max()), float(wrenches[normal])
            if force > most:
                wrenches[own] *= most / force

    def least(self) -> Array:
        """The wrenches (r,) with the least normal forces, nothing else."""
        return self.inside(np.zeros(self.rows.shape[1]))


class Fallback:
    """Answers that need ever less; each is within torque limits and wrench cones."""

    def __init__(self, law: BalancingLawConfig, robot: Robot) -> None:
        model = robot.model
        self.support, self._data = Support(robot), model.createData()
        relaxed = law.qp.model_copy(update={"regularisation": RELAXED_REGULARISATION})
        self._distribution = make_distribution(robot, law.contacts, relaxed)
        weight = float(np.linalg.norm(self.support.weight))
        self.contacts = self.support.rows
        self.cones = Cones(self._distribution.rows, self._distribution.lower, weight, self.contacts)
        self.limits, self._com = robot.effort_limits, robot.com()
        impedance = law.impedance or robot.impedance
        inertia = np.diag(pin.crba(model, model.createData(), robot.q_nominal))[6:].copy()
        self._omega = 2.0 * np.pi * impedance.frequency_hz
        self._rate = 2.0 * impedance.damping_ratio * self._omega
        self.stiffness, self.damping = self._omega**2 * inertia, self._rate * inertia
        self._posture = robot.q_nominal[7:].copy()
        self.held = self.answer(robot.q_nominal, np.zeros(model.nv))
        """What holds the nominal posture."""

    def bound(self, least: Array, most: Array) -> None:
        """Change the bounds of the contacts' normal forces (k,), N, of cones that have both."""
        self._distribution.bound(least, most)

    def answer(self, q: Array, v: Array) -> ControlOutput:
        """The first rung that bears; ``q`` and ``v`` are finite."""
        rungs = (
            (ControlStatus.RELAXED, self._relaxed),
            (ControlStatus.MINIMUM_WRENCH, self._minimum_wrench),
            (ControlStatus.DAMPED, self._damped),
        )
        for rung, solve in rungs:
            try:
                torques, wrenches = solve(q, v)
            except NUMERICAL:
                continue
            if np.isfinite(torques.sum() + wrenches.sum()):
                return self._output(torques, wrenches, ControlStatus.QP_FAILED | rung)
        status = ControlStatus.QP_FAILED | ControlStatus.DAMPED
        return self._output(np.zeros(len(self.limits)), self.cones.least(), status)

    def _output(self, torques: Array, wrenches: Array, status: ControlStatus) -> ControlOutput:
        cut = self.cut(torques)
        if (cut != torques).any():
            status |= ControlStatus.TORQUE_LIMITED
        none = np.empty(0, dtype=np.intp)
        return ControlOutput(cut, self.contacts.each(wrenches), status, none, np.zeros(6))

    def cut(self, torques: Array) -> Array:
        """Torques (nj,) cut at their limits."""
        return np.minimum(np.maximum(torques, -self.limits), self.limits)

    def _relaxed(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Hold the weight, damp momentum and joints: tau = g - sum_i J_iq^T w_i - B ds/dt."""
        here, omega, rate = self.support.at(q, v), self._omega, self._rate
        wanted = -rate * here.momentum
        wanted[:3] += self.support.weight - omega**2 * here.mass * (here.com - self._com)
        solution = self._distribution.solve(here.G, wanted)
        if solution.status is not QPStatus.SOLVED:
            raise ArithmeticError("the relaxed contact-wrench QP has no solution")
        wrenches = self.cones.inside(solution.stacked)
        gravity = pin.computeGeneralizedGravity(here.model, self._data, q)[6:]
        torques = gravity - here.joint_torques(wrenches) - self.damping * v[6:]
        return torques, wrenches

    def _minimum_wrench(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Next to nothing on the contacts; all joints are pulled to the nominal posture."""
        spring = self.stiffness * (self._posture - q[7:])
        return spring - self.damping * v[6:], self.cones.least()

    def _damped(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Brake the joints."""
        return -self.damping * v[6:], self.cones.least()
