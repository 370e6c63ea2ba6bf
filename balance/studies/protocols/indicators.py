"""What protocols measure: energy, impedance, sway, and how these count for a human.

The EUROBENCH testbed's (Monteleone et al. 2022) and RoboCup's formulas; docs/protocols.md has them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Segments of a medium human: mass in kg, height in m, how many.
_SEGMENTS = (
    (4.2, 1.679, 1), (1.1, 1.545, 1), (24.9, 1.308, 1), (2.4, 1.099, 1), (11.8, 0.983, 1),
    (2.0, 1.285, 2), (1.4, 1.027, 2), (0.5, 0.792, 2), (9.8, 0.750, 2), (3.8, 0.330, 2),
    (1.0, 0.028, 2),
)  # fmt: skip
HUMAN_MASS_KG = sum(mass * count for mass, _, count in _SEGMENTS)
HUMAN_COM_M = sum(mass * height * count for mass, height, count in _SEGMENTS) / HUMAN_MASS_KG
HUMAN_HALF_BASE_M = {"frontal": 0.111, "lateral": 0.1665}


@dataclass(frozen=True)
class Factors:
    """By what a robot's figures are divided so that they count as a medium human's."""

    force: float
    energy: float
    displacement: float


def factors(mass_kg: float, half_base_m: float, com_m: float, side: str) -> Factors:
    """The factors of a robot of this mass, half base and CoM height, ``frontal`` or ``lateral``.

    force: (m / m_h) (d / d_h) (h_h / h); energy: that which lifts the CoM over the edge,
    (m / m_h) (sqrt(d^2 + h^2) - h) / (sqrt(d_h^2 + h_h^2) - h_h); displacement: h / h_h.
    """
    human_m, human_half_m = HUMAN_COM_M, HUMAN_HALF_BASE_M[side]
    mass = mass_kg / HUMAN_MASS_KG
    lift = math.hypot(half_base_m, com_m) - com_m
    human_lift = math.hypot(human_half_m, human_m) - human_m
    return Factors(
        force=mass * (half_base_m / human_half_m) * (human_m / com_m),
        energy=mass * lift / human_lift,
        displacement=com_m / human_m,
    )


def absorbed(highest_J: float, return_J: float, friction_J: float) -> tuple[float, float]:
    """Energy that a robot took from a pendulum, and its share of what there was to take."""
    there = highest_J - friction_J
    taken = there - return_J
    return taken, taken / there if there > 0.0 else math.nan


@dataclass(frozen=True)
class Response:
    """How a point answers a force of one frequency: f = (k + i omega D) x, with k = K - I omega^2.

    At one frequency inertia and stiffness cannot be told apart.
    """

    omega: float
    stiffness: float
    damping: float


def response(way: Array, force: Array, dt: float, frequency_hz: float) -> Response:
    """Least squares of k x + D x' + c = f over rows of ``way`` and ``force``, ``dt`` apart."""
    speed = np.gradient(way, dt)
    inner = slice(1, -1)
    columns = np.column_stack([way, speed, np.ones_like(way)])[inner]
    stiffness, damping, _ = np.linalg.lstsq(columns, force[inner], rcond=None)[0]
    return Response(2.0 * math.pi * frequency_hz, float(stiffness), float(damping))


def impedance(responses: list[Response]) -> tuple[float, float, float]:
    """Inertia (kg), damping (N s/m), stiffness (N/m) of I x'' + D x' + K x = f over frequencies.

    Least squares of K - I omega^2 over the responses, of which two at least have other frequencies;
    NaN otherwise.
    """
    squares = np.array([one.omega**2 for one in responses])
    values = np.array([one.stiffness for one in responses])
    damping = float(np.mean([one.damping for one in responses])) if responses else math.nan
    if len(set(squares.tolist())) < 2:
        return math.nan, damping, math.nan
    columns = np.column_stack([-squares, np.ones_like(squares)])
    inertia, stiffness = np.linalg.lstsq(columns, values, rcond=None)[0]
    return float(inertia), damping, float(stiffness)


def half_peak_to_peak(values: Array) -> float:
    """Half of the difference of the largest and the least value."""
    return 0.5 * float(np.ptp(values)) if values.size else math.nan


def sway(com: Array, foot: Array, along: Array) -> Array:
    """Angle (n,), rad, of the line from ``foot`` (3,) to ``com`` (n, 3), tilted ``along``."""
    line = com - foot
    return np.asarray(np.arctan2(line @ along, line[:, 2]))


def recovery_time(angle: Array, time: Array, after: float, threshold: float) -> float:
    """Time (s) from ``after`` until the rate of an angle stays below ``threshold`` (rad/s).

    NaN if it never does.
    """
    rate = np.abs(np.gradient(angle, time))
    fast = np.flatnonzero(rate > threshold)
    if fast.size and fast[-1] == len(rate) - 1:
        return math.nan
    settled = float(time[fast[-1] + 1]) if fast.size else after
    return max(0.0, settled - after)


def rope_drop(length_m: float, pulled_m: float) -> float:
    """Height (m) from which a bottle on a rope falls: H = L - sqrt(L^2 - D^2)."""
    return length_m - math.sqrt(length_m**2 - pulled_m**2)


def robocup_score(
    drop_m: float, bottle_kg: float, hit_m: float, com_m: float, mass_kg: float
) -> float:
    """M = sqrt(H) / h_c * m_B / m_R * h_i / h_c."""
    return math.sqrt(drop_m) / com_m * bottle_kg / mass_kg * hit_m / com_m
