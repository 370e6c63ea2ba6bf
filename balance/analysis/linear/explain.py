"""Everything that the linear model says about an experiment, axis by axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from balance.analysis.linear.continuous import continuous_matrix
from balance.analysis.linear.loop import LinearLoop, linearise
from balance.analysis.linear.margins import (
    CriticalGain,
    Margins,
    axis_margins,
    critical_gains,
    delay_margin,
    gain_parts,
)
from balance.analysis.linear.modes import AXES, Mode, dominant_modes, is_stable, roots
from balance.analysis.linear.response import (
    Response,
    Saturation,
    Use,
    contact_forecast,
    push_response,
)
from balance.config import BalancingLawConfig, ExperimentConfig, section_of
from balance.config.user_code import shown_name
from balance.control.parts.gains import gain_matrices, physical_gains
from balance.recordings.metrics import settling_times

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

MOVED = 0.01  # of the largest error of its kind: an axis that moves less is not pushed
NEAR = 5.0  # a gain within this factor of its critical value deserves a warning
UNSTABLE_PERIODS = 10
RESTLESS = 1e-3  # m/s^2 or rad/s^2 of a robot that should stand still


@dataclass(frozen=True)
class AxisReport:
    """One axis: gains both ways, its dominant mode, margins, and the answer to the pushes."""

    name: str
    stiffness: float
    damping: float
    designed_hz: float
    designed_ratio: float
    mode: Mode
    margins: Margins
    peak: float
    settling_s: float | None
    pushed: bool


@dataclass(frozen=True)
class Explanation:
    """The linearised loop of an experiment in numbers."""

    robot: str
    law: str
    stable: bool
    roots: Complex
    continuous_roots: Complex
    axes: tuple[AxisReport, ...]
    critical: tuple[CriticalGain, ...]
    delay_s: float | None
    com_peak_m: float | None
    com_settling_s: float | None
    uses: tuple[Use, ...]
    saturation: Saturation | None
    warnings: tuple[str, ...]
    period_s: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON: complex roots become pairs."""
        tree = asdict(self)
        for key in ("roots", "continuous_roots"):
            tree[key] = [[float(s.real), float(s.imag)] for s in getattr(self, key)]
        for axis, one in zip(tree["axes"], self.axes, strict=True):
            axis["mode"] = {
                "s": [one.mode.s.real, one.mode.s.imag],
                "frequency_hz": one.mode.frequency_hz,
                "damping_ratio": one.mode.damping_ratio,
            }
        return tree


def explain(config: ExperimentConfig, robot_folders: Sequence[Path] = ()) -> Explanation:
    """Linearise the loop of an experiment and say what follows from it."""
    loop = linearise(config, robot_folders)
    parts = gain_parts(loop)
    critical, stable = critical_gains(loop, parts), is_stable(loop.A)
    # Of an unstable loop there is nothing to say but how it begins to grow.
    response = push_response(loop, None if stable else UNSTABLE_PERIODS * loop.period)
    uses, saturation = contact_forecast(loop, response)
    delay = delay_margin(loop) if stable else None
    com = np.linalg.norm(response.com_error, axis=1)
    pushed = bool(loop.pushes)
    return Explanation(
        robot=loop.robot.name,
        law=shown_name(config.controller.law),
        stable=stable,
        roots=roots(loop.A, loop.period),
        continuous_roots=np.linalg.eigvals(continuous_matrix(loop)).astype(complex),
        axes=tuple(_axes(loop, response, axis_margins(loop, parts))),
        critical=tuple(critical),
        delay_s=delay,
        com_peak_m=float(com.max()) if stable else None,
        com_settling_s=_settling(loop, response, com) if pushed and stable else None,
        uses=tuple(uses),
        saturation=saturation,
        warnings=tuple(_warnings(loop, config, stable, critical, delay, uses, saturation)),
        period_s=loop.period,
    )


def _axes(loop: LinearLoop, response: Response, margins: Sequence[Margins]) -> list[AxisReport]:
    gains = section_of(loop.experiment.config, BalancingLawConfig).gains
    robot = loop.experiment.modelled_robot
    K_P, K_D, K_R, D = gain_matrices(gains, robot)
    designed = physical_gains(gains, robot)
    errors = np.hstack([response.com_error, response.rotation_error])
    peaks = np.abs(errors).max(axis=0)
    reports = []
    for i, (name, mode) in enumerate(zip(AXES, dominant_modes(loop), strict=True)):
        kind = slice(0, 3) if i < 3 else slice(3, 6)
        moved = bool(peaks[i] > MOVED * max(float(peaks[kind].max()), 1e-9))
        stiffness, rate = (K_P, K_D) if i < 3 else (K_R, D)
        reports.append(
            AxisReport(
                name=name,
                stiffness=float(stiffness[i % 3, i % 3]),
                damping=float(rate[i % 3, i % 3]),
                designed_hz=designed.frequency_hz[i],
                designed_ratio=designed.damping_ratio[i],
                mode=mode,
                margins=margins[i],
                peak=float(peaks[i]),
                settling_s=_settling(loop, response, np.abs(errors[:, i])) if moved else None,
                pushed=moved,
            )
        )
    return reports


def _settling(loop: LinearLoop, response: Response, error: Array) -> float | None:
    start = max((push.start for push in loop.pushes), default=0.0)
    return settling_times(response.time, error, start)["10"]


def _warnings(
    loop: LinearLoop,
    config: ExperimentConfig,
    stable: bool,
    critical: Sequence[CriticalGain],
    delay_s: float | None,
    uses: Sequence[Use],
    saturation: Saturation | None,
) -> list[str]:
    rate = f"{1.0 / loop.period:g} Hz"
    found = []
    if not stable:
        found.append(f"the discrete loop at {rate} is unstable: these gains do not hold the robot")
    if loop.rest_error > RESTLESS:
        found.append(
            f"the posture is no equilibrium (it accelerates by {loop.rest_error:.2g} m/s^2 or "
            "rad/s^2): the linear model holds near it only for a moment"
        )
    for one in critical:
        name = f"{one.name}.{'xyz'[one.axis]} = {one.value:g}"
        if one.high is not None and one.high < NEAR * one.value:
            found.append(f"{name} is close to {one.high:.3g}, where the {rate} loop gets unstable")
        if one.low is not None and one.low * NEAR > one.value:
            found.append(f"{name} is close to {one.low:.3g}, below which the loop is unstable")
    if delay_s is not None and delay_s < 2.0 * loop.period:
        found.append(f"a delay of {1e3 * delay_s:.1f} ms in the torques makes the loop unstable")
    for use in uses if stable else ():
        if use.cop >= 1.0:
            found.append(f"the CoP leaves the {use.contact} ({use.cop:.2f} of the way to its edge)")
        if use.friction >= 1.0:
            found.append(f"the {use.contact} needs {use.friction:.2f} times the ground's friction")
    if stable and saturation is not None:
        found.append(
            f"the law cannot give the wrench it asks for from {saturation.first_s:.3f} s on "
            f"(up to {100 * saturation.share:.0f} % of the weight is missing; limits: "
            f"{', '.join(saturation.limits) or 'none named'}): this push is beyond the linear model"
        )
    if config.sensors is not None or not config.actuators.exact_at_low_speed:
        found.append("sensors and actuators are not part of the linear model")
    return found
