"""What holds in every run, whatever law drove the robot: each function yields its complaints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin
from campaign.second_verdict import second_verdict
from campaign.trial import Run

from balance.config import ExperimentConfig
from balance.recordings.signals import SIGNALS

ROUNDING = 1e-9  # relative
MILLISECOND = 1e-3
# A contact is seen at the beginning of a step, and what bodies did within it comes a step later:
# these bounds are for a millisecond and go with the length of the step.
GIVEN_BACK = {"pinocchio": 0.05, "mujoco": 0.2}  # of what contacts gave and took
SMALL_J = {"pinocchio": 1e-3, "mujoco": 4e-3}  # energy that nobody asks for, for each kg
CONE = 1e-6  # of the normal force
EDGE_M = 1e-6
TORQUE = 1e-6  # of the limit
# Of the impulse on the base in a step; MuJoCo ends its search for contact forces before rounding.
UNEXPLAINED = {"pinocchio": 1e-9, "mujoco": 1e-5}
DEEPEST_M = 0.005  # up to LONG_S, and in proportion in longer steps
LONG_S = 0.002
YIELD_RAD = 0.02  # of an end stop


def complaints(run: Run) -> list[str]:
    """Everything that is wrong with a run, each as ``name: what``."""
    if run.recording is None:
        return [] if run.refusal.count("\n") == 0 else [f"refusal: {run.refusal}"]
    return [f"{check.__name__.strip('_')}: {what}" for check in CHECKS for what in check(run)]


def _ends(run: Run) -> Iterator[str]:
    assert run.recording is not None
    cause = str(run.recording.end.cause)
    if run.outcome == "aborted" and cause not in ("timed out",):
        yield f"aborted, {cause}: {run.recording.end.text}"


def _finite(run: Run) -> Iterator[str]:
    for signal in SIGNALS:
        values = getattr(run.recording, signal.name)
        if values is None or not signal.finite or signal.name == "cop":
            continue
        if not np.isfinite(values).all():
            yield f"{signal.name} is not finite"


def _time_stamps(run: Run) -> Iterator[str]:
    assert run.recording is not None
    time, period = run.recording.time, run.recording.config.control_period_s
    if not np.array_equal(time, np.arange(len(time)) * period):
        yield "times are not whole multiples of the control period"


def _momentum(run: Run) -> Iterator[str]:
    """Gravity, contacts, touches and pushes explain all momentum, of each step and of the run."""
    seen = _seen(run)
    if max(seen.unexplained, seen.untold) > UNEXPLAINED[run.engine]:
        yield (
            f"of an impulse on the base {seen.unexplained:.3g} is not explained, and of its moment "
            f"{seen.untold:.3g}"
        )
    if run.engine != "pinocchio":
        return  # its steps keep the equations of motion, and momentum to first order in the step
    error = float(np.abs(seen.gained - seen.given).max())
    if max(error, seen.linear, seen.angular) > ROUNDING * seen.acted:
        yield (
            f"{error:.3g} N s of {seen.acted:.3g} are not explained, of a step {seen.linear:.3g} "
            f"N s, {seen.angular:.3g} N m s"
        )


def _recorded_momentum(run: Run) -> Iterator[str]:
    """The recorded momentum is that of the recorded states, body by body."""
    assert run.recording is not None and run.experiment is not None
    model = run.experiment.robot.model
    data = model.createData()
    for row in np.linspace(0, len(run.recording.time) - 1, 5).astype(int):
        pin.forwardKinematics(model, data, run.recording.q[row], run.recording.v[row])
        total = np.zeros(3)
        for joint in range(1, model.njoints):
            at_com = pin.SE3(np.eye(3), model.inertias[joint].lever).actInv(data.v[joint])
            total += data.oMi[joint].rotation @ (model.inertias[joint].mass * at_com.linear)
        if np.abs(total - run.recording.momentum[row, :3]).max() > ROUNDING * (
            1 + np.abs(total).max()
        ):
            yield f"row {row}: {run.recording.momentum[row, :3]} is recorded, {total} it is"


def _pushes(run: Run) -> Iterator[str]:
    """What was recorded of pushes is what acted, and that is what was asked for."""
    assert run.recording is not None
    recorded = run.recording.push_force.sum(axis=0) * run.recording.config.control_period_s
    pushed, end = _seen(run).pushed, len(run.recording.time) * run.recording.config.control_period_s
    if np.abs(recorded - pushed).max() > 1e-6 * (1.0 + np.abs(pushed).max()):
        yield f"{recorded} N s are recorded, {pushed} N s acted"
    pushes = run.recording.pushes
    if any(push.in_body_axes for push in pushes):
        return
    asked = sum((push.delivered(end) * push.direction for push in pushes), np.zeros(3))
    if np.abs(asked - pushed).max() > ROUNDING * (1.0 + np.abs(pushed).max()):
        yield f"{asked} N s were asked for, {pushed} N s acted"


def _contact_energy(run: Run) -> Iterator[str]:
    """Contacts take energy; what springs give back is a small part of what they got."""
    seen, plant = _seen(run), _config(run).plant
    if plant.contact == "welded":
        return  # it pulls back what has drifted
    assert run.experiment is not None
    mass = run.experiment.robot.mass
    most = GIVEN_BACK[run.engine] * seen.exchanged + SMALL_J[run.engine] * mass
    most *= max(1.0, _milliseconds(run))
    if plant.contact == "soft":
        most += 0.5 * seen.load**2 / plant.soft.stiffness  # one corner may have borne it all
    if seen.created > most:
        yield f"{seen.created:.3g} J were given, {most:.3g} J are allowed"


def _cones(run: Run) -> Iterator[str]:
    if _config(run).plant.contact == "welded":
        return
    seen = _seen(run)
    if seen.pull > 1e-6:
        yield f"a contact pulls by {seen.pull:.3g} N"
    if seen.friction > CONE:
        yield f"a tangential force is {seen.friction:.3g} of the normal one above the cone"
    if seen.cop > EDGE_M:
        yield f"a centre of pressure is {1e3 * seen.cop:.3g} mm out of its surface"


def _torques(run: Run) -> Iterator[str]:
    assert run.recording is not None and run.experiment is not None
    robot, seen = run.experiment.robot, _seen(run)
    over = np.abs(run.recording.torques) - robot.effort_limits * (1 + ROUNDING)
    if over.max() > 0.0:
        yield f"commanded torques are above their limits by {over.max():.3g} N m"
    limit = float(robot.effort_limits[seen.torque_joint])
    if seen.torque > TORQUE * (limit + robot.mass):
        yield f"{robot.joint_names[seen.torque_joint]} got {seen.torque:.3g} N m more than it can"


def _speeds(run: Run) -> Iterator[str]:
    """Joints get no more than the speed-torque curve has."""
    seen = _seen(run)
    if seen.too_fast:
        yield f"{seen.too_fast} of {seen.steps} steps are beyond the speed-torque curve"


def _ranges(run: Run) -> Iterator[str]:
    assert run.experiment is not None
    seen, names = _seen(run), run.experiment.robot.joint_names
    if seen.beyond > YIELD_RAD:
        yield f"{names[seen.beyond_joint]} is {seen.beyond:.3g} rad beyond its range"


def _penetration(run: Run) -> Iterator[str]:
    """Bodies get no deeper than the bound and what their speed took them in within a step."""
    assert run.recording is not None
    seen = _seen(run)
    most = DEEPEST_M * max(1.0, _config(run).plant.step_s / LONG_S)
    for what, depth in seen.sunk.items():
        if depth > most:
            yield f"bodies are {1e3 * depth:.3g} mm deeper in {what} than a step takes them"
    collisions, deepest = _config(run).plant.collisions, run.recording.penetration.max(axis=0)
    if _config(run).plant.contact != "hard":  # feet may sink in
        deepest[0] = -run.recording.lowest_body.min()
    for what, kinds, depth in zip(
        ("the floor", "each other"), (("all", "ground"), ("all",)), deepest, strict=True
    ):
        if collisions in kinds and depth > most + seen.way.get(what, 0.0):
            yield f"bodies are {1e3 * depth:.3g} mm in {what}"


def _recorded_wrenches(run: Run) -> Iterator[str]:
    """The recorded wrenches are the means of those of the steps."""
    assert run.recording is not None and run.witness is not None
    substeps, rows = run.recording.config.n_substeps, len(run.recording.time)
    if run.recording.phase is not None or len(run.witness.wrenches) != rows * substeps:
        return
    means = np.array(run.witness.wrenches).reshape(rows, substeps, -1, 6).mean(axis=1)
    if not np.allclose(means, run.recording.contact_wrenches, rtol=1e-9, atol=1e-6, equal_nan=True):
        yield "they are not"


def _verdict(run: Run) -> Iterator[str]:
    assert run.recording is not None and run.experiment is not None
    if run.recording.phase is not None:
        return
    second, first = second_verdict(run.experiment, run.recording), run.outcome
    if run.recording.step is not None and run.recording.step.any():
        # Where a robot that stepped is to stand is the law's: only of falls there is a second word.
        second, first = ("fell" if what == "fell" else "not" for what in (second, first))
    if second != first:
        yield f"{first} it says, {second} it is"


def _summary(run: Run) -> Iterator[str]:
    """The summary agrees with the arrays on its plainest figures."""
    assert run.recording is not None
    summary = run.recording.summary()
    error = float(np.linalg.norm(run.recording.com_error, axis=1).max())
    if summary["outcome"] != "fell" and abs(summary["peak_com_error_m"] - error) > 1e-9:
        yield f"peak_com_error_m is {summary['peak_com_error_m']}, the log has {error}"


def measures(run: Run) -> dict[str, Any]:
    """How near a run came to the bounds, as figures of a row."""
    if run.recording is None:
        return {}
    seen, names = _seen(run), ("unexplained", "untold", "created", "exchanged", "load", "pull",
                               "friction", "cop", "torque", "beyond")  # fmt: skip
    found = {name: float(f"{getattr(seen, name):.3g}") for name in names}
    return found | {f"sunk in {what}": float(f"{d:.3g}") for what, d in seen.sunk.items()}


CHECKS = (
    _ends, _finite, _time_stamps, _momentum, _recorded_momentum, _pushes, _contact_energy, _cones,
    _torques, _speeds, _ranges, _penetration, _recorded_wrenches, _verdict, _summary,
)  # fmt: skip


def _seen(run: Run) -> Any:
    assert run.witness is not None
    return run.witness.seen


def _config(run: Run) -> ExperimentConfig:
    assert run.recording is not None
    return run.recording.config


def _milliseconds(run: Run) -> float:
    """Length of a step."""
    return float(_config(run).plant.step_s / MILLISECOND)
