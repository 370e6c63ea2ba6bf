"""Figures from recordings: one run, or several overlaid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from balance.errors import InputError, known_names
from balance.plots.com_momentum import com_momentum_figure
from balance.plots.contacts import contacts_figure
from balance.plots.estimation import estimation_figure
from balance.plots.overlay import com_momentum_overlay, contacts_overlay, torques_overlay
from balance.plots.phases import phases_figure
from balance.plots.postures import postures_figure
from balance.plots.style import png, save
from balance.plots.torques import torques_figure
from balance.recordings.recording import Recording
from balance.robots.objects import WorldObject
from balance.robots.sequence import PlannedPhase

__all__ = ["draw_overlay", "draw_postures", "draw_run", "figure"]

FIGURES = {
    "com_momentum": com_momentum_figure,
    "contacts": contacts_figure,
    "torques": torques_figure,
    "estimation": estimation_figure,
    "phases": phases_figure,
}


def _names(recording: Recording) -> list[str]:
    """The figures that a run has: only some have an estimated state, or phases."""
    needed = {"estimation": recording.estimation, "phases": recording.phase}
    return [name for name in FIGURES if name not in needed or needed[name] is not None]


def figure(recording: Recording, name: str) -> Figure:
    """A figure of a run by its name; a notebook shows it as it would be written."""
    names = _names(recording)
    if name not in names:
        raise InputError(f"this run has no figure '{name}'{known_names(name, names)}")
    drawn = FIGURES[name](recording)
    drawn._repr_png_ = lambda: png(drawn)  # type: ignore[attr-defined]
    return drawn


def draw_run(recording: Recording, folder: Path, pdf: bool = False) -> list[Path]:
    """Write com_momentum, contacts and torques of a run as PNG, and as PDF if asked.

    A run with an estimated state also gets ``estimation``, one with phases ``phases``.
    """
    return [
        path
        for name in _names(recording)
        for path in save(FIGURES[name](recording), folder, name, pdf)
    ]


def draw_overlay(
    recordings: Sequence[tuple[str, Recording]], folder: Path, pdf: bool = False
) -> list[Path]:
    """The figures of :func:`draw_run` with several runs, given with their labels, overlaid."""
    if not recordings:
        raise InputError("there is no run to draw; give at least one recording with its label")
    figures = {
        "com_momentum": com_momentum_overlay,
        "contacts": contacts_overlay,
        "torques": torques_overlay,
    }
    return [
        path for name, draw in figures.items() for path in save(draw(recordings), folder, name, pdf)
    ]


def draw_postures(
    phases: Sequence[PlannedPhase],
    objects: Mapping[str, WorldObject],
    folder: Path,
    pdf: bool = False,
) -> list[Path]:
    """The static postures of a sequence side by side, as ``postures``."""
    return save(postures_figure(phases, objects), folder, "postures", pdf)
