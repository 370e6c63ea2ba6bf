"""How a recording shows itself in a notebook and in pandas."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from balance.config.user_code import shown_name
from balance.errors import MissingExtraError
from balance.recordings.export.tables import signals_in, units_of
from balance.recordings.judging import judge
from balance.recordings.limiting import law_failures
from balance.recordings.recording import Recording

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

COLOURS = {"recovered": "#1a7f37", "upright": "#9a6700", "fell": "#cf222e", "aborted": "#cf222e"}
POINTS, WIDTH, HEIGHT = 120, 180, 28  # of a small curve: points, and pixels


def frame_of(recording: Recording) -> pd.DataFrame:
    """The columns of ``log.parquet`` over time, s; ``attrs["units"]`` has the unit of each.

    ``attrs`` also has ``robot``, ``law`` and ``outcome``.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError("pandas", "pandas") from None
    columns = {
        name: column
        for _, values, names in signals_in(recording)
        for name, column in zip(names, values.T, strict=True)
    }
    index = pd.Index(columns.pop("time"), name="time")
    frame = pd.DataFrame(columns, index=index)
    frame.attrs = {
        "units": units_of(recording),
        "robot": recording.robot.name,
        "law": shown_name(recording.config.controller.law),
        "outcome": judge(recording).outcome.value,
    }
    return frame


def headline(recording: Recording) -> str:
    """Robot, law and verdict in a line."""
    verdict = judge(recording)
    reason = f" ({verdict.text})" if verdict.text else ""
    when = "" if verdict.time_s is None else f" at {verdict.time_s:.2f} s"
    law = shown_name(recording.config.controller.law)
    failures = law_failures(recording)
    note = f"; {failures}" if failures else ""
    return f"{recording.robot.name}, law {law}: {verdict.outcome.value}{when}{reason}{note}"


def text_of(recording: Recording) -> str:
    """What a recording is, in a line."""
    rows, period = recording.time.size, 1e3 * recording.config.control_period_s
    return f"<Recording of {headline(recording)}; {rows} rows of {period:g} ms>"


def html_of(recording: Recording) -> str:
    """The verdict, and the course and the largest value of what matters most."""
    colour = COLOURS[judge(recording).outcome.value]
    lines = "".join(
        f'<tr><td style="text-align:left">{escape(label)}</td><td>{sparkline(values)}</td>'
        f"<td>{_largest(values)} {escape(unit)}</td></tr>"
        for label, unit, values in _curves(recording)
    )
    pushes = ", ".join(
        f"{push.impulse:.3g} N s on {push.body} at {push.start:.3g} s" for push in recording.pushes
    )
    return (
        f'<div><b style="color:{colour}">{escape(headline(recording))}</b>'
        f"<br>{escape(pushes) or 'no push'}"
        '<table><thead><tr><th style="text-align:left">quantity</th><th>over time</th>'
        f"<th>largest</th></tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _curves(recording: Recording) -> list[tuple[str, str, Array]]:
    """Label, unit and values over time of what the notebook shows."""
    limits = recording.robot.effort_limits
    return [
        ("CoM, distance from its setpoint", "mm", 1e3 * _length(recording.com_error)),
        ("base, rotation", "rad", _length(recording.rotation_error)),
        ("linear momentum", "kg m/s", _length(recording.momentum[:, :3])),
        ("push force", "N", _length(recording.push_force)),
        ("load of the soles", "N", recording.contact_wrenches[:, :, 2].sum(axis=1)),
        ("torque over its limit", "%", 100.0 * (np.abs(recording.torques) / limits).max(axis=1)),
    ]


def _length(vectors: Array) -> Array:
    return np.asarray(np.linalg.norm(vectors, axis=1))


def _largest(values: Array) -> str:
    finite = values[np.isfinite(values)]
    return f"{finite.max():.4g}" if finite.size else "–"


def sparkline(values: Array) -> str:
    """A small curve as SVG: the largest value of each of ``POINTS`` stretches of time."""
    finite = np.where(np.isfinite(values), values, 0.0)
    if not finite.size:
        return ""
    parts = np.array_split(finite, min(POINTS, finite.size))
    tops = np.array([part[np.argmax(np.abs(part))] for part in parts])
    low, high = min(float(tops.min()), 0.0), max(float(tops.max()), 0.0)
    x = np.linspace(1.0, WIDTH - 1.0, tops.size)
    y = HEIGHT - 2.0 - (HEIGHT - 4.0) * (tops - low) / ((high - low) or 1.0)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img"><polyline points="{points}" '
        'fill="none" stroke="#0072B2" stroke-width="1.2"/></svg>'
    )


def figure_of(recording: Recording, name: str) -> Any:
    """A figure of the room of plots, which is looked up by name: it stands below recordings."""
    from importlib import import_module

    return import_module("balance.plots").figure(recording, name)
