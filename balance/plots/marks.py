"""What figures over time have in common: the time axis, pushes, shaded moments, the headline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from balance.config.user_code import shown_name
from balance.plots.style import (
    AXIS_COLOURS,
    AXIS_NAMES,
    CAPTION,
    LIMITED_COLOUR,
    LIMITED_TEXT_COLOUR,
    PUSH_COLOUR,
    PUSH_TEXT_COLOUR,
)
from balance.recordings.judging import judge
from balance.recordings.limiting import NO_ANSWER, limited_moments
from balance.recordings.recording import Recording
from balance.simulation.pushes import Push

Array = NDArray[np.float64]

SHADE_ALPHA = 0.2
LABEL_HEIGHTS = (0.55, 0.25)  # in turns, so that neighbours do not overlap; shares of the panel
LABELLED = 2  # constraints named in a span
LABEL_GAP = 0.04  # share of the time axis that a label takes


def headline(figure: Figure, recording: Recording) -> None:
    """Robot, law and outcome of a run in one line above the panels."""
    law = shown_name(recording.config.controller.law)
    text = f"{recording.robot.name}, {law} law: {outcome(recording)}"
    figure.suptitle(text, x=0.01, ha="left", parse_math=False)


def outcome(recording: Recording) -> str:
    """How a run ended, and when if early."""
    if recording.time.size == 0:
        return "nothing recorded"
    verdict = judge(recording)
    return verdict.outcome + ("" if verdict.time_s is None else f" at {verdict.time_s:.2f} s")


def end_time(recording: Recording) -> float:
    """End of the last recorded control period, or of the planned run if nothing was recorded, s."""
    if recording.time.size == 0:
        return recording.config.duration_s
    return float(recording.time[-1]) + recording.config.control_period_s


def time_axis(axes: Axes, recordings: Sequence[Recording], label: bool = True) -> None:
    """Limits that hold every run; ``label`` says whether this panel shows the times."""
    axes.set_xlim(0.0, max(end_time(recording) for recording in recordings))
    axes.tick_params(labelbottom=label)
    axes.set_xlabel("time [s]" if label else "")


def pushes_within(recordings: Sequence[Recording]) -> list[Push]:
    """The pushes that began before their run's end, in time; those that runs share count once."""
    found: dict[tuple[float, float, float], Push] = {}
    for recording in recordings:
        for push in recording.pushes:
            if push.start < end_time(recording):
                key = round(push.start, 6), round(push.end, 6), round(push.impulse, 6)
                found.setdefault(key, push)
    return [found[key] for key in sorted(found)]


def mark_pushes(axes: Axes, recordings: Sequence[Recording]) -> None:
    """A band over the time of each push; its edges keep even an instant visible."""
    spans = {(push.start, push.end) for push in pushes_within(recordings)}
    for start, end in sorted(spans):
        axes.axvspan(start, end, color=PUSH_COLOUR, alpha=0.45, lw=0.9, zorder=0.5, gid="push")


def label_pushes(axes: Axes, recordings: Sequence[Recording]) -> None:
    """Impulses along the pushes, on the side before them; neighbours share a label."""
    span = max(end_time(recording) for recording in recordings)
    groups: list[list[Push]] = []
    for push in pushes_within(recordings):
        if groups and push.start - groups[-1][-1].start < LABEL_GAP * span:
            groups[-1].append(push)
        else:
            groups.append([push])
    for group in groups:
        early = group[0].start < LABEL_GAP * span
        axes.annotate(
            _impulses(group),
            (group[-1].end if early else group[0].start, 1.0),
            (2.0 if early else -2.0, -1.0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="left" if early else "right",
            va="top",
            rotation=90,
            color=PUSH_TEXT_COLOUR,
            fontsize="small",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
            zorder=2.5,
            gid="push label",
        )


def push_handles(recordings: Sequence[Recording]) -> list[Patch]:
    """Legend entry of the pushes with their impulses; none if there was no push."""
    pushes = pushes_within(recordings)
    if not pushes:
        return []
    word = "push" if len(pushes) == 1 else "pushes"
    return [Patch(color=PUSH_COLOUR, alpha=0.45, label=f"{word} {_impulses(pushes)}")]


def _impulses(pushes: Sequence[Push]) -> str:
    low, high = min(push.impulse for push in pushes), max(push.impulse for push in pushes)
    if high - low < 0.005 * high:
        return f"{high:.3g} N s"
    return f"{low:.3g} to {high:.3g} N s"


def shade(axes: Axes, recording: Recording, where: NDArray[np.bool_]) -> None:
    """Shade the control periods for which ``where`` holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], where, [False]]).astype(int)))
    if edges.size == 0:
        return
    bounds = np.append(recording.time, end_time(recording))[edges].reshape(-1, 2)
    boxes = [[(a, 0.0), (a, 1.0), (b, 1.0), (b, 0.0)] for a, b in bounds]
    shading = PolyCollection(
        boxes,
        transform=axes.get_xaxis_transform(),
        color=LIMITED_COLOUR,
        alpha=SHADE_ALPHA,
        lw=0.3,
        zorder=0.2,
        gid="limited",
    )
    axes.add_collection(shading, autolim=False)


def label_limits(axes: Axes, recording: Recording, *about: str) -> None:
    """Write into each shaded span what stood in the way, of contacts or joints called ``about``.

    Where the law had no answer at all, that stands there too.  Spans that are too short for a label
    have only their shade.
    """
    prefixes = *(f"{name}: " for name in about), *NO_ANSWER
    span, labelled = end_time(recording), 0
    for moment in limited_moments(recording):
        names = [name for name in moment.names if name.startswith(prefixes)]
        if len(about) == 1:
            names = [name.removeprefix(prefixes[0]) for name in names]
        if not names or moment.end - moment.start < LABEL_GAP * span:
            continue
        early = moment.start < 0.5 * span
        height = LABEL_HEIGHTS[labelled % len(LABEL_HEIGHTS)]
        labelled += 1
        axes.annotate(
            "\n".join(names[:LABELLED]),
            (moment.start if early else moment.end, height),
            (2.0 if early else -2.0, 0.0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="left" if early else "right",
            va="center",
            color=LIMITED_TEXT_COLOUR,
            fontsize="x-small",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.7},
            zorder=4.5,
            gid="limit label",
        )


def shade_handle(label: str) -> Patch:
    """Legend entry of :func:`shade`."""
    return Patch(color=LIMITED_COLOUR, alpha=SHADE_ALPHA, lw=0.3, label=label)


def axis_handles() -> list[Line2D]:
    """Legend entries of the axes' colours."""
    return [
        Line2D([], [], color=colour, label=name)
        for name, colour in zip(AXIS_NAMES, AXIS_COLOURS, strict=True)
    ]


def cap(axes: Axes, values: Array, most: float) -> None:
    """Keep an axis of forces (N) within +-``most`` if ``values`` exceed it, and state their peak.

    An impact of a few milliseconds would otherwise flatten everything else.
    """
    values = values[np.isfinite(values)]
    if values.size and np.abs(values).max() > most:
        axes.set_ylim(max(-most, 1.05 * values.min()), min(most, 1.05 * values.max()))
        axes.set_title(f"peak {1e-3 * np.abs(values).max():.3g} kN", loc="right", **CAPTION)
