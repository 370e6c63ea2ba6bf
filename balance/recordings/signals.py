"""Every recorded signal, one entry each: the class :class:`Signals` is the table.

An entry drives the log that the loop fills, the recording, the columns of ``log.parquet``, what is
read back from them, the estimate of its size, and a table of the docs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from balance.config import ExperimentConfig
from balance.recordings.verdict import LOADED_N
from balance.robots import Robot
from balance.robots.contacts import centre_of_pressure
from balance.robots.surfaces import surface_label

if TYPE_CHECKING:
    from balance.recordings.derived import States

Array = NDArray[np.float64]
Columns = dict[str, str]
"""Names of columns of the log file, with their units."""

MOST_TOUCHES = 6  # of a control period that are recorded
XYZ = ("x", "y", "z")
WRENCH = {"fx": "N", "fy": "N", "fz": "N", "mx": "N m", "my": "N m", "mz": "N m"}


class Origin(StrEnum):
    """Where the numbers of a signal come from."""

    LOOP = "the loop"
    """Written in each control period."""
    STATES = "the states"
    """Derived when the run is over."""
    ESTIMATE = "the estimate"
    """Of the base, in runs that have one."""
    CONTACTS = "moving contacts"
    """Written in each control period of a run through phases, or of a law that may step."""
    PHASES = "the phases"
    """Written in each control period of a run that has them."""
    STEPS = "a law that may step"
    """Written in each control period of a run with one."""
    SIGNALS = "other signals"
    """Follows from them whenever it is asked for; in the file, but not read back."""


@dataclass(frozen=True)
class Signal:
    """A signal; ``shape`` is that of a row, in numbers and in names of a robot's sizes.

    ``take`` gives a row from what the loop knows when a law has answered, (t, q, v, output); the
    loop itself adds up a signal without one.  ``derive`` gives many rows from the states, or from
    the other signals.
    """

    text: str
    shape: tuple[str | int, ...]
    columns: Callable[[Robot], Columns]
    origin: Origin
    take: Callable[..., Any] | None = None
    derive: Callable[[Any], Any] | None = None
    dtype: Any = np.float64
    finite: bool = True
    name: str = ""
    place: int = field(default_factory=count().__next__)

    def row_shape(self, robot: Robot) -> tuple[int, ...]:
        """Shape of a row for a robot."""
        nv, soles = robot.model.nv, len(robot.soles)
        sizes = {"nq": robot.model.nq, "nv": nv, "joints": nv - 6, "soles": soles}
        return tuple(sizes[n] if isinstance(n, str) else n for n in self.shape)

    def row_size(self, robot: Robot) -> int:
        """Numbers in a row."""
        return math.prod(self.row_shape(robot))

    def __get__(self, signals: Signals | None, owner: type | None = None) -> Any:
        """The signal of a recording, if it follows from others and so is not an array of it."""
        return self if signals is None or self.derive is None else self.derive(signals)


def sole_labels(robot: Robot) -> list[str]:
    """Short names of the soles, as used in column names."""
    return [surface_label(sole.name) for sole in robot.soles]


def _one(name: str, unit: str) -> Callable[[Robot], Columns]:
    return lambda robot: {name: unit}


def _named(prefix: str, unit: str, names: Sequence[str] = XYZ) -> Columns:
    return {f"{prefix}_{name}": unit for name in names}


def _axes(**units: str) -> Callable[[Robot], Columns]:
    """Three columns for each vector."""
    return lambda robot: {
        name: unit for prefix in units for name, unit in _named(prefix, units[prefix]).items()
    }


def _per_sole(prefix: str, units: Columns) -> Callable[[Robot], Columns]:
    """The columns of ``units``, or of one without a name, for each sole."""
    return lambda robot: {
        "_".join(filter(None, (prefix, sole, name))): unit
        for sole in sole_labels(robot)
        for name, unit in units.items()
    }


def _positions(robot: Robot) -> Columns:
    base = _named("base_position", "m") | _named("base_quaternion", "1", (*XYZ, "w"))
    return base | _named("q", "rad", robot.joint_names)


def _velocities(robot: Robot) -> Columns:
    base = _named("base_velocity", "m/s") | _named("base_rate", "rad/s")
    return base | _named("v", "rad/s", robot.joint_names)


def _touches(robot: Robot) -> Columns:
    units = {"body": "number", "other": "number", **_named("at", "m"), **_named("force", "N"),
             "depth": "m"}  # fmt: skip
    return {
        f"touch_{index + 1}_{name}": unit
        for index in range(MOST_TOUCHES)
        for name, unit in units.items()
    }


def _loop(
    text: str,
    shape: tuple[str | int, ...],
    columns: Callable[[Robot], Columns],
    take: Callable[..., Any] | None = None,
    **more: Any,
) -> dict[str, Signal]:
    return {"signal": Signal(text, shape, columns, Origin.LOOP, take, **more)}


def _states(
    text: str,
    shape: tuple[str | int, ...],
    columns: Callable[[Robot], Columns],
    derive: Callable[[States], Any],
) -> dict[str, Signal]:
    return {"signal": Signal(text, shape, columns, Origin.STATES, derive=derive)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Signals:
    """All signals of a run, ``n`` rows each, in the order of the columns of the file.

    Row i holds the state at ``time[i]`` and what acted until the next row.  Vectors are in world
    axes, wrenches (force, moment) at the soles' centres in their own axes (of points without an
    area in those of ``ContactSurface.axes``, which stay with their plane), units SI.
    """

    time: Array = field(metadata=_loop(
        "time at the beginning of the control period", (), _one("time", "s"),
        lambda t, q, v, output: t,
    ))  # fmt: skip
    com_error: Array = field(metadata=_states(
        "CoM less its setpoint", (3,), _axes(com_error="m"), lambda states: states.com_error
    ))  # fmt: skip
    rotation_error: Array = field(metadata=_states(
        "rotation vector from the desired to the actual base, in the desired axes", (3,),
        _axes(rotation_error="rad"), lambda states: states.rotation_error,
    ))  # fmt: skip
    momentum: Array = field(metadata=_states(
        "linear momentum, and angular momentum about the CoM", (6,),
        _axes(linear_momentum="kg m/s", angular_momentum="kg m^2/s"),
        lambda states: states.momentum,
    ))  # fmt: skip
    push_force: Array = field(metadata=_loop(
        "sum of the pushes, mean over the period", (3,), _axes(push_force="N")
    ))  # fmt: skip
    status: NDArray[np.int64] = field(metadata=_loop(
        "flags of `ControlStatus`", (), _one("status", "flags"),
        lambda t, q, v, output: output.status, dtype=np.int64,
    ))  # fmt: skip
    shortfall: Array = field(metadata=_loop(
        "wanted less commanded wrench at the CoM", (6,),
        _axes(shortfall_force="N", shortfall_moment="N m"),
        lambda t, q, v, output: output.residual,
    ))  # fmt: skip
    # Without load there is no contact wrench to be finite: a run may end in an explosion; and a
    # law may command torques alone.
    wrenches: Array = field(metadata=_loop(
        "commanded wrench of each sole", ("soles", 6), _per_sole("wrench", WRENCH),
        lambda t, q, v, output: output.wrenches, finite=False,
    ))  # fmt: skip
    contact_wrenches: Array = field(metadata=_loop(
        "measured wrench of each sole, mean over the period", ("soles", 6),
        _per_sole("contact_wrench", WRENCH), finite=False,
    ))  # fmt: skip
    touches: Array = field(metadata=_loop(
        "strongest touches of bodies besides the soles: numbers of the two, place, force, depth",
        (MOST_TOUCHES, 9), _touches,
    ))  # fmt: skip
    cop = Signal(
        "measured centre of pressure in each sole's frame; NaN without load", ("soles", 2),
        _per_sole("cop", {"x": "m", "y": "m"}), Origin.SIGNALS,
        derive=lambda signals: centre_of_pressure(signals.contact_wrenches, LOADED_N),
    )  # fmt: skip
    sole_lift: Array = field(metadata=_states(
        "highest corner of each sole above its ground", ("soles",),
        _per_sole("sole_lift", {"": "m"}), lambda states: states.sole_motion[0],
    ))  # fmt: skip
    sole_slip: Array = field(metadata=_states(
        "way of each sole's centre along its ground from where it stood", ("soles",),
        _per_sole("sole_slip", {"": "m"}), lambda states: states.sole_motion[1],
    ))  # fmt: skip
    lowest_body: Array = field(metadata=_states(
        "height over the floor of the lowest body that carries no sole", (),
        _one("lowest_body", "m"), lambda states: states.lowest_body,
    ))  # fmt: skip
    penetration: Array = field(metadata=_states(
        "how deep a body is in the floor, and in another body", (2,),
        lambda robot: _named("penetration", "m", ("floor", "self")),
        lambda states: states.penetration,
    ))  # fmt: skip
    torques: Array = field(metadata=_loop(
        "commanded joint torques", ("joints",),
        lambda robot: _named("torque", "N m", robot.joint_names),
        lambda t, q, v, output: output.torques,
    ))  # fmt: skip
    q: Array = field(metadata=_loop(
        "base position, its quaternion, joint angles", ("nq",), _positions,
        lambda t, q, v, output: q,
    ))  # fmt: skip
    v: Array = field(metadata=_loop(
        "base velocity and rate in the base's axes, joint rates", ("nv",), _velocities,
        lambda t, q, v, output: v,
    ))  # fmt: skip
    bearing: Array | None = field(default=None, metadata={"signal": Signal(
        "what each sole is meant to do: 1 bear, 0 stay off, 0.5 take up or give off its load",
        ("soles",), _per_sole("bearing", {"": "share"}), Origin.CONTACTS,
        lambda t, q, v, output: output.bearing,
    )})  # fmt: skip
    phase: NDArray[np.int64] | None = field(default=None, metadata={"signal": Signal(
        "number of the phase, from 0 on", (), _one("phase", "number"), Origin.PHASES,
        lambda t, q, v, output: output.phase, dtype=np.int64,
    )})  # fmt: skip
    strategy: NDArray[np.int64] | None = field(default=None, metadata={"signal": Signal(
        "what holds the robot: 0 ankles, 1 hips, 2 steps", (), _one("strategy", "number"),
        Origin.STEPS, lambda t, q, v, output: output.footstep.strategy, dtype=np.int64,
    )})  # fmt: skip
    step: NDArray[np.int64] | None = field(default=None, metadata={"signal": Signal(
        "number of the step that is under way, or of the last one; 0 before any", (),
        _one("step", "number"), Origin.STEPS,
        lambda t, q, v, output: output.footstep.step, dtype=np.int64,
    )})  # fmt: skip
    swing: NDArray[np.int64] | None = field(default=None, metadata={"signal": Signal(
        "number of the sole that is, or is about to be, in the air; -1 without a step", (),
        _one("swing", "number"), Origin.STEPS,
        lambda t, q, v, output: output.footstep.swing, dtype=np.int64,
    )})  # fmt: skip
    landing: Array | None = field(default=None, metadata={"signal": Signal(
        "where the centre of that sole is planned to land, and its yaw; NaN without a step", (4,),
        lambda robot: _named("landing", "m") | {"landing_yaw": "rad"}, Origin.STEPS,
        lambda t, q, v, output: output.footstep.landing, finite=False,
    )})  # fmt: skip
    estimation: Array | None = field(default=None, metadata={"signal": Signal(
        "errors of the estimated base: position, rotation, velocity; and their standard deviations "
        "as the filter sees them", (18,),
        _axes(
            estimate_error_position="m", estimate_error_rotation="rad",
            estimate_error_velocity="m/s", estimate_std_position="m",
            estimate_std_rotation="rad", estimate_std_velocity="m/s",
        ), Origin.ESTIMATE,
    )})  # fmt: skip


def _table() -> tuple[Signal, ...]:
    arrays = [replace(f.metadata["signal"], name=f.name) for f in fields(Signals)]
    others = [
        replace(entry, name=name)
        for name, entry in vars(Signals).items()
        if isinstance(entry, Signal)
    ]
    return tuple(sorted([*arrays, *others], key=lambda signal: signal.place))


SIGNALS = _table()


def signals_of(*origins: Origin) -> tuple[Signal, ...]:
    """The signals that come from there."""
    return tuple(signal for signal in SIGNALS if signal.origin in origins)


def optional_origins(config: ExperimentConfig) -> frozenset[Origin]:
    """Where signals come from that only some runs have, of those that a run has."""
    steps, phases = config.controller.takes_steps, bool(config.phases)
    has = {
        Origin.ESTIMATE: config.state == "estimated",
        Origin.CONTACTS: steps or phases,
        Origin.PHASES: phases,
        Origin.STEPS: steps,
    }
    return frozenset(origin for origin, there in has.items() if there)


def stored_signals(config: ExperimentConfig) -> tuple[Signal, ...]:
    """The signals that the log file of a run has."""
    always = (Origin.LOOP, Origin.STATES, Origin.SIGNALS)
    return signals_of(*always, *optional_origins(config))


def loop_signals(config: ExperimentConfig) -> tuple[Signal, ...]:
    """The signals that the loop writes."""
    return signals_of(Origin.LOOP, *(optional_origins(config) - {Origin.ESTIMATE}))


def signals_table(robot: Robot) -> str:
    """The signals as a Markdown table, with the columns that a robot's log has."""
    lines = ["| attribute | row | unit | what | from | columns |", "|---|---|---|---|---|---|"]
    for signal in SIGNALS:
        columns = signal.columns(robot)
        shape = ", ".join(map(str, signal.shape)) or "1"
        units = ", ".join(dict.fromkeys(columns.values()))
        first, last = f"`{next(iter(columns))}`", f"`{list(columns)[-1]}`"
        names = first if len(columns) == 1 else f"{first} ... {last}"
        cells = f"`{signal.name}`", shape, units, signal.text, signal.origin.value, names
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
