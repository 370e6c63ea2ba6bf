"""What the figures of a tuning study are drawn from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from balance.studies.directions import ankle_impulse, from_angles
from balance.studies.tuning.archive import front, importances, score_of
from balance.studies.tuning.objectives import label, metric_column, title

if TYPE_CHECKING:
    from balance.plots.tuning import TrialData
    from balance.studies.tuning.study import Tuning


def trial_data(study: Tuning) -> TrialData | None:
    """All finished trials, by number; None before the first."""
    from balance.plots.tuning import TrialData

    config, trials = study.config, study.archive.told()
    if not trials:
        return None
    scores = [score_of(trial) for trial in trials]
    labels = [label(one) for one in config.objectives]
    values = [[score.metrics.get(name, np.nan) for name in labels] for score in scores]
    scales = [metric_column(one.metric).quantity.scale for one in config.objectives]
    index = {trial.number: i for i, trial in enumerate(trials)}
    first = study.archive.asked()[0].number
    return TrialData(
        title=f"{study.name}: {len(trials)} trials, {config.sampler.type}",
        parameters=tuple(one.key for one in config.parameters),
        logarithmic=tuple(one.log for one in config.parameters),
        objectives=tuple(title(one) for one in config.objectives),
        maximised=tuple(one.maximised for one in config.objectives),
        points=np.array([[t.params[one.key] for one in config.parameters] for t in trials]),
        values=np.array(values, dtype=float) * scales,
        feasible=np.array([score.feasible for score in scores]),
        front=np.array([index[trial.number] for trial in front(trials)], dtype=np.intp),
        best=index[study.best().number],
        start=index.get(first) if config.start else None,
    )


def draw_history(study: Tuning, folder: Path, pdf: bool = False) -> None:
    """Write ``history.png`` as it stands."""
    from balance.plots.style import save
    from balance.plots.tuning import history_figure

    data = trial_data(study)
    if data is not None:
        save(history_figure(data), folder, "history", pdf)


def draw_all(study: Tuning, folder: Path, pdf: bool = False) -> list[str]:
    """Write every figure of the report; returns their names."""
    from balance.plots.overlay import com_momentum_overlay
    from balance.plots.style import save
    from balance.plots.tuning import (
        history_figure,
        importance_figure,
        pareto_figure,
        slice_figure,
    )
    from balance.recordings.results import load_recording

    data = trial_data(study)
    assert data is not None
    figures: dict[str, Any] = {"history": history_figure(data)}
    shares = [importances(study.archive, i) for i in range(len(data.objectives))]
    if any(shares):
        figures["importance"] = importance_figure(data, shares)
    figures["slices"] = slice_figure(data)
    if len(data.objectives) > 1:
        figures["pareto"] = pareto_figure(data)
    runs = []
    assert study.validation is not None
    for variant, name in study.validation.names.items():
        recorded = folder / "recordings" / f"{name}-itself.0"
        if recorded.is_dir():
            robots = [Path(robot) for robot in study.robots]
            runs.append((variant, load_recording(recorded, robots)))
    if runs:
        figures["before_after"] = com_momentum_overlay(runs)
    envelope = _envelope(study)
    if envelope is not None:
        figures["held_out_envelope"] = envelope
    for name, figure in figures.items():
        save(figure, folder, name, pdf)
    return list(figures)


def _envelope(study: Tuning) -> Any:
    """The figure of the held-out envelope; None if there was none."""
    from balance.plots.envelope import envelope_figure
    from balance.studies.tuning.validation import ENVELOPE_CRITERIA

    results = study.validation.limits if study.validation else []
    if not results:
        return None

    def ankle_Ns(azimuth_deg: float, elevation_deg: float) -> float:
        return ankle_impulse(study.robot, from_angles(azimuth_deg, elevation_deg))

    title = f"{study.name}, held-out directions"
    return envelope_figure(results, ankle_Ns, title, ENVELOPE_CRITERIA)
