"""The identities of RobotDynamicsETH 2.2-2.5, rotations and positions, as residuals.

Every chart of the package is tried on the rotation of the base.  Near a singularity of a chart the
residuals stay small because they are relative to the terms that cancel.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from balance.analysis.theory.checks import CheckList, State, largest, relative_difference
from balance.dynamics.checks import Array
from balance.rotations import (
    CHARTS,
    POSITION_CHARTS,
    Chart,
    quaternion_from_matrix,
    quaternion_product,
    quaternion_rotate,
    quaternion_to_matrix,
    skew,
)

_list = CheckList("RobotDynamicsETH")


def _base(s: State) -> tuple[Array, Array]:
    """Rotation of the base, and its angular velocity in world axes."""
    pin.forwardKinematics(s.model, s.data, s.q)
    R = np.array(s.data.oMi[1].rotation)
    return R, R @ s.v[3:6]


def _rates(chart: Chart, R: Array, omega: Array) -> tuple[Array, Array, float]:
    """chi and dchi/dt of a turning frame, and the size of the rates."""
    chi = chart.from_matrix(R)
    E_inv = chart.inverse_rate_map(chi)
    return chi, E_inv @ omega, largest(np.abs(E_inv) @ np.abs(omega))


@_list.add("(2.10)-(2.17)", "E_P E_P^-1 = 1 in every position chart, at the origins of links")
def position_rates(model: pin.Model, s: State) -> float:
    worst = 0.0
    for chart in POSITION_CHARTS.values():
        for X in s.placements:
            chi = chart.from_cartesian(X.translation)
            E, E_inv = chart.rate_map(chi), chart.inverse_rate_map(chi)
            scale = largest(np.abs(E) @ np.abs(E_inv))
            worst = max(worst, relative_difference(E @ E_inv, np.eye(3), scale))
            back = relative_difference(chart.to_cartesian(chi), X.translation)
            worst = max(worst, back)
    return worst


@_list.add("(2.33)-(2.55)", "every chart gives back the rotation that its coordinates came from")
def charts_are_inverse(model: pin.Model, s: State) -> float:
    R, _ = _base(s)
    found = [chart.to_matrix(chart.from_matrix(R)) for chart in CHARTS.values()]
    return max(relative_difference(back, R) for back in found)


@_list.add("(2.57)-(2.69)", "products of quaternions are those of rotations, and turn vectors")
def quaternions(model: pin.Model, s: State) -> float:
    A, B = (X.rotation for X in s.placements[:2])
    a, b = quaternion_from_matrix(A), quaternion_from_matrix(B)
    return max(
        relative_difference(quaternion_to_matrix(quaternion_product(a, b)), A @ B),
        relative_difference(quaternion_rotate(a, s.v[:3]), A @ s.v[:3]),
    )


@_list.add("(2.72), (2.83)-(2.107)", "dR/dt from a chart's rates is [omega]x R, in every chart")
def rates_turn_the_frame(model: pin.Model, s: State) -> float:
    R, omega = _base(s)
    worst = 0.0
    for chart in CHARTS.values():
        chi, rates, size = _rates(chart, R, omega)
        partials = chart.partials(chi)
        R_dot = np.einsum("ijd,d->ij", partials, rates)
        scale = max(largest(omega), size * largest(partials))
        worst = max(worst, relative_difference(R_dot, skew(omega) @ R, scale))
    return worst


@_list.add("(2.82)", "omega = E(chi) dchi/dt in every chart")
def rate_maps(model: pin.Model, s: State) -> float:
    R, omega = _base(s)
    worst = 0.0
    for chart in CHARTS.values():
        chi, rates, size = _rates(chart, R, omega)
        E = chart.rate_map(chi)
        worst = max(worst, relative_difference(E @ rates, omega, size * largest(E)))
    return worst


CHECKS = _list.checks
