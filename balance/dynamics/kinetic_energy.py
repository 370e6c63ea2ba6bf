"""The kinetic energy as a sum of three: linear momentum, angular momentum, joint motion."""

from __future__ import annotations

from dataclasses import dataclass

from balance.dynamics.decoupled import DecoupledDynamics


@dataclass(frozen=True, slots=True)
class KineticEnergy:
    """The three parts of Garofalo2015 (34), J."""

    linear: float
    """p^T p / (2 m), of the motion of the CoM."""
    angular: float
    """l^T Lambda_l l / 2, of the average rotation about the CoM."""
    joints: float
    """dq^T Lambda_q dq / 2, of the motion that carries no momentum."""

    @property
    def total(self) -> float:
        """Kinetic energy of the robot."""
        return self.linear + self.angular + self.joints


def kinetic_energy(dynamics: DecoupledDynamics) -> KineticEnergy:
    """The kinetic energy at the state of ``dynamics``, Garofalo2015 (34)."""
    p, l, dq = dynamics.xi[:3], dynamics.xi[3:6], dynamics.xi[6:]  # noqa: E741 the paper's letter
    return KineticEnergy(
        linear=0.5 * float(p @ dynamics.Lambda_p @ p),
        angular=0.5 * float(l @ dynamics.Lambda_l @ l),
        joints=0.5 * float(dq @ dynamics.Lambda_q @ dq),
    )
