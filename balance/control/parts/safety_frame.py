"""The frame around every law: whatever comes in, a step answers with torques that are safe."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dnrm2

from balance.config import BalancingLawConfig
from balance.control.parts.fallback import NUMERICAL, Fallback
from balance.control.parts.guidance import Guidance
from balance.control.parts.output import ControlOutput, ControlStatus
from balance.control.qp import CertifiedSolver
from balance.dynamics.checks import is_within
from balance.robots import Robot

Array = NDArray[np.float64]

# While nothing is seen the last good torques go on for a while, then fade with a time constant:
# what holds a robot up is better than nothing, until it has moved too far for that.
HOLD_S, FADE_S = 0.2, 0.1
BELIEVABLE = 1e6  # size of an entry, SI units; a robot beyond it is a sensor that fails
UNIT_TOLERANCE = 1e-6  # of the quaternion's squared norm


class BalancingLaw(ABC):
    """A law whose ``step`` always answers: torques within limits, wrenches in cones, a status.

    A law says in :meth:`attempt` what it would do.  Where that fails, :class:`Fallback` answers.
    Nothing of a fault is kept: with the next good state the law is as if it had not been.
    """

    can_change_contacts = False
    """Whether it takes a :class:`Guidance`, so that it can go from stance to stance."""
    failure = ControlStatus.QP_FAILED
    """What the status says of a step in which the law has no answer."""

    def __init__(self, law: BalancingLawConfig, robot: Robot, solver: CertifiedSolver) -> None:
        """``solver`` is the one that the law uses: it tells when another had to help."""
        self.fallback = Fallback(law, robot)
        self.solver = solver
        self._good_torques = self.fallback.held.torques
        self._good_wrenches = self.fallback.held.wrenches
        self._blind_since: float | None = None
        self._explained = False

    @property
    @abstractmethod
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints that ``ControlOutput.active`` indexes."""

    @abstractmethod
    def attempt(self, q: Array, v: Array, t: float) -> ControlOutput | None:
        """The law's own answer to a finite state; None, or an arithmetic error, if it has none."""

    def guide(self, guidance: Guidance) -> None:
        """Take what a sequence of stances asks of the next step, if ``can_change_contacts``."""
        raise NotImplementedError

    def take_over(self, torques: Array, wrenches: Array) -> None:
        """Go on from the torques and wrenches of another law, should nothing be seen now."""
        self._good_torques, self._good_wrenches = torques, wrenches

    def conflict(self, q: Array, v: Array) -> str:
        """Why the law has no answer at a state, in words; empty if it cannot tell."""
        return ""

    def step(self, q: Array, v: Array, t: float) -> ControlOutput:
        """Torques for the measured configuration ``q``, velocity ``v`` and time ``t`` in s."""
        if not (believable(q, v) and math.isfinite(t)):
            return self._blind(v, t)
        x, y, z, w = q[3:7].tolist()
        norm = x * x + y * y + z * z + w * w
        if abs(norm - 1.0) > UNIT_TOLERANCE:
            if not 1e-6 < norm < 1e6:
                return self._blind(v, t)
            q = q.copy()
            q[3:7] /= math.sqrt(q[3:7].dot(q[3:7]))
        output = self._checked(q, v, t)
        if output is None:
            with np.errstate(all="ignore"):  # numbers out of hand are looked for in the answer
                output = self.fallback.answer(q, v)
            self._explain(output, q, v)
        self._blind_since = None
        self._good_torques, self._good_wrenches = output.torques, output.wrenches
        return output

    def _explain(self, output: ControlOutput, q: Array, v: Array) -> None:
        """Say why the law had no answer; where it first has none, for that takes time."""
        output.status = (output.status & ~ControlStatus.QP_FAILED) | self.failure
        if not self._explained:
            output.conflict, self._explained = self.conflict(q, v), True

    def _checked(self, q: Array, v: Array, t: float) -> ControlOutput | None:
        """The law's own answer if it is one: finite, and in the cones."""
        helped = self.solver.fallbacks
        try:
            output = self.attempt(q, v, t)
        except NUMERICAL:
            return None
        # The torques follow from the wrenches: what is not finite there shows here.
        if output is None or not math.isfinite(dnrm2(output.torques)):
            return None
        if len(output.active):
            contacts = self.fallback.contacts
            stacked = contacts.stacked(output.wrenches)
            inside = self.fallback.cones.inside(stacked)
            if inside is not stacked:
                output.wrenches = contacts.each(inside)
        if self.solver.fallbacks != helped:
            output.status |= ControlStatus.OTHER_SOLVER
        return output

    def _blind(self, v: Array, t: float) -> ControlOutput:
        """The last good torques, which fade to a brake on the joints whose rate is known."""
        since = t if self._blind_since is None else self._blind_since
        self._blind_since = since if math.isfinite(since) else None
        passed = t - since if math.isfinite(t - since) else 0.0
        share = math.exp(-max(0.0, passed - HOLD_S) / FADE_S)
        rates = np.where(np.abs(v[6:]) < BELIEVABLE, v[6:], 0.0)
        torques = share * self._good_torques - (1.0 - share) * self.fallback.damping * rates
        none = np.empty(0, dtype=np.intp)
        wrenches = self._good_wrenches.copy()
        cut = self.fallback.cut(torques)
        return ControlOutput(cut, wrenches, ControlStatus.BAD_STATE, none, np.zeros(6))


def believable(q: Array, v: Array) -> bool:
    """Whether a state is made of numbers that a robot can have."""
    # Lengths settle it for all but the largest.  BLAS's, unlike a product of NumPy's, never warn.
    return bool(dnrm2(q) < BELIEVABLE and dnrm2(v) < BELIEVABLE) or (
        is_within(q, BELIEVABLE) and is_within(v, BELIEVABLE)
    )
