"""How far the loop is from instability: gain, phase and delay margins, and critical gains.

The loop is opened at one axis at a time: its share dK of the feedback, what its two gains do, is
taken out, which is a rank-one part dK = u s v^T of K because an axis asks for one force or moment.
What is left and the axis's loop are

    A_o = A - B dK,       L(z) = -s v^T (z - A_o)^-1 B u,

and the closed loop is on the verge where L(e^{i omega T}) = -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from balance.analysis.linear.loop import LinearLoop, feedback, linearise
from balance.analysis.linear.modes import is_stable
from balance.config import BalancingLawConfig, ExperimentConfig, GainsConfig, section_of
from balance.control.parts.gains import gain_matrices

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

GAINS = ("K_P", "K_D", "K_R", "D")
LOWEST_HZ = 0.02
FREQUENCIES = 500
MOST, LEAST = 1e6, 1e-3  # factors on a gain between which the verge is looked for
SCAN, BISECTIONS = 12, 14


@dataclass(frozen=True)
class Margins:
    """Margins of one axis; None where the loop never gets to the verge.

    ``gain_up`` and ``gain_down`` are the factors on both gains of the axis at which the loop
    becomes unstable, ``phase_deg`` and ``delay_s`` the lag that its feedback may have on top, and
    ``modulus`` the smallest distance of L from -1, which is 1 / max |S|.
    """

    gain_up: float | None
    gain_down: float | None
    phase_deg: float | None
    delay_s: float | None
    modulus: float


@dataclass(frozen=True)
class CriticalGain:
    """The values of one gain between which the discrete loop is stable, the others as they are."""

    name: str
    axis: int
    value: float
    low: float | None
    high: float | None


Parts = dict[tuple[str, int], Array]


def axis_margins(loop: LinearLoop, parts: Parts) -> list[Margins]:
    """Margins of CoM x, y, z and rotation x, y, z."""
    return [_margins(loop, part) for part in _axis_parts(parts)]


def _axis_parts(parts: Parts) -> list[Array]:
    """What both gains of each axis contribute to K."""
    pairs = (("K_P", "K_D"), ("K_R", "D"))
    return [parts[position, i] + parts[rate, i] for position, rate in pairs for i in range(3)]


def gain_parts(loop: LinearLoop) -> Parts:
    """What each gain contributes to K (nj, 2n); K is affine in the gains."""
    config, experiment = loop.experiment.config, loop.experiment
    found = {}
    for name in GAINS:
        for i in range(3):
            doubled = with_gain(config, loop, name, i, 2.0)
            K = feedback(doubled, experiment.modelled_robot, loop.N)
            found[name, i] = K - loop.K
    return found


def with_gain(
    config: ExperimentConfig, loop: LinearLoop, name: str, axis: int, factor: float
) -> ExperimentConfig:
    """The experiment with one diagonal entry of a gain multiplied."""
    matrices = dict(
        zip(
            GAINS,
            gain_matrices(
                section_of(config, BalancingLawConfig).gains, loop.experiment.modelled_robot
            ),
            strict=True,
        )
    )
    matrices[name] = matrices[name].copy()
    matrices[name][axis, axis] *= factor
    values: dict[str, Any] = {k: tuple(map(tuple, m.tolist())) for k, m in matrices.items()}
    law = config.controller.model_copy(update={"gains": GainsConfig(**values)})
    return config.model_copy(update={"controller": law})


def critical_gains(loop: LinearLoop, parts: Parts) -> list[CriticalGain]:
    """For every gain the values at which the discrete loop, all else unchanged, gets unstable."""
    law = section_of(loop.experiment.config, BalancingLawConfig)
    gains = gain_matrices(law.gains, loop.experiment.modelled_robot)
    found = []
    for name, matrix in zip(GAINS, gains, strict=True):
        for i in range(3):
            value = float(matrix[i, i])
            up, down = _verges(loop.A, loop.B @ parts[name, i])
            found.append(
                CriticalGain(
                    name, i, value, None if down is None else down * value,
                    None if up is None else up * value,
                )
            )  # fmt: skip
    return found


def _verges(A: Array, part: Array) -> tuple[float | None, float | None]:
    """Factors above and below 1 on ``part`` of A at which the loop becomes unstable."""
    return _verge(A, part, MOST), _verge(A, part, LEAST)


def _verge(A: Array, part: Array, end: float) -> float | None:
    inside, outside = 1.0, None
    for factor in np.geomspace(1.0, end, SCAN + 1)[1:]:
        if not is_stable(A + (factor - 1.0) * part):
            outside = float(factor)
            break
        inside = float(factor)
    if outside is None:
        return None
    for _ in range(BISECTIONS):
        middle = float(np.sqrt(inside * outside))
        if is_stable(A + (middle - 1.0) * part):
            inside = middle
        else:
            outside = middle
    return inside


def frequencies(period: float) -> Array:
    """Angular frequencies (rad/s) from very low up to half the sampling rate."""
    return np.geomspace(2.0 * np.pi * LOWEST_HZ, np.pi / period, FREQUENCIES)


def axis_loop(loop: LinearLoop, part: Array) -> Complex:
    """L at :func:`frequencies`, for one axis's ``part`` of K."""
    u, s, vt = np.linalg.svd(part, full_matrices=False)
    open_loop = loop.A - loop.B @ part
    z = np.exp(1j * frequencies(loop.period) * loop.period)
    system = z[:, None, None] * np.eye(len(open_loop)) - open_loop
    state = np.linalg.solve(
        system, np.broadcast_to((loop.B @ u[:, 0])[:, None], (*system.shape[:2], 1))
    )
    return np.asarray(-s[0] * (vt[0] @ state)[:, 0])


def _margins(loop: LinearLoop, part: Array) -> Margins:
    L = axis_loop(loop, part)
    up, down = _verges(loop.A, loop.B @ part)
    lags = _lags(frequencies(loop.period), L[:, None])
    return Margins(
        gain_up=up,
        gain_down=down,
        phase_deg=float(np.degrees(min(min(a, 2.0 * np.pi - a) for _, a in lags)))
        if lags
        else None,
        delay_s=min(angle / omega for omega, angle in lags) if lags else None,
        modulus=float(np.abs(1.0 + L).min()),
    )


def _lags(omega: Array, loci: Complex) -> list[tuple[float, float]]:
    """Where loci (frequencies, n) cross the unit circle, and the angle (0 to 2 pi) to -1 there."""
    found = []
    size = np.abs(loci)
    for i, j in zip(*np.nonzero((size[:-1] - 1.0) * (size[1:] - 1.0) < 0.0), strict=True):
        share = (1.0 - size[i, j]) / (size[i + 1, j] - size[i, j])
        value = loci[i, j] + share * (loci[i + 1, j] - loci[i, j])
        at = omega[i] + share * (omega[i + 1] - omega[i])
        found.append((float(at), float(np.angle(-value) % (2.0 * np.pi))))
    return found


def delay_margin(loop: LinearLoop) -> float | None:
    """Delay (s) of all torques at once that the loop bears; None if it bears any.

    A delay turns all eigenvalues of the loop matrix -K (z - A_p)^-1 B alike, so the verge is where
    one of them, of size 1, is turned to -1.
    """
    omega = frequencies(loop.period)
    z = np.exp(1j * omega * loop.period)
    system = z[:, None, None] * np.eye(len(loop.A_p)) - loop.A_p
    loops = -loop.K @ np.linalg.solve(
        system, np.broadcast_to(loop.B, (*system.shape[:2], loop.B.shape[1]))
    )
    loci = np.linalg.eigvals(loops).astype(np.complex128)
    for i in range(1, len(loci)):  # the same branch in the same column
        distance = np.abs(loci[i - 1][:, None] - loci[i][None, :])
        loci[i] = loci[i][linear_sum_assignment(distance)[1]]
    lags = _lags(omega, loci)
    return min((angle / at for at, angle in lags), default=None)


def robustness_margin(config: ExperimentConfig, robot_folders: Sequence[Path] = ()) -> float:
    """The smallest modulus margin of the six axes; of an unstable loop, minus its growth per s."""
    loop = linearise(config, robot_folders)
    largest = float(np.abs(np.linalg.eigvals(loop.A)).max())
    if largest >= 1.0:
        return -float(np.log(largest) / loop.period)
    loops = (axis_loop(loop, part) for part in _axis_parts(gain_parts(loop)))
    return min(float(np.abs(1.0 + L).min()) for L in loops)
