"""Figures from recordings: one run, or several overlaid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from balance.errors import InputError
from balance.plots.com_momentum import com_momentum_figure
from balance.plots.contacts import contacts_figure
from balance.plots.estimation import estimation_figure
from balance.plots.overlay import com_momentum_overlay, contacts_overlay, torques_overlay
from balance.plots.postures import postures_figure
from balance.plots.style import save
from balance.plots.torques import torques_figure
from balance.recordings.recording import Recording
from balance.robots.objects import WorldObject
from balance.robots.sequence import PlannedPhase

__all__ = ["draw_overlay", "draw_postures", "draw_run"]


def draw_run(recording: Recording, folder: Path, pdf: bool = False) -> list[Path]:
    """Write com_momentum, contacts and torques of a run as PNG, and as PDF if asked.

    A run with an estimated state also gets ``estimation``.
    """
    figures = {
        "com_momentum": com_momentum_figure,
        "contacts": contacts_figure,
        "torques": torques_figure,
    }
    if recording.estimation is not None:
        figures["estimation"] = estimation_figure
    return [
        path for name, draw in figures.items() for path in save(draw(recording), folder, name, pdf)
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
