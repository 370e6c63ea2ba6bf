"""``report.md`` of a tuning study, and ``table.md``: start and tuned values side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from balance.config.quantity import Shown
from balance.recordings.atomic_writes import write_atomically
from balance.recordings.summary import column, columns_shown
from balance.studies.store import Row, StudyFolder
from balance.studies.summary import Table, errors, markdown, outcomes, timing
from balance.studies.tuning.archive import front, score_of
from balance.studies.tuning.configs import start_metrics
from balance.studies.tuning.objectives import label
from balance.studies.tuning.validation import ITSELF, VARIANTS

if TYPE_CHECKING:
    from balance.studies.tuning.study import Tuning

CAPTIONS = {
    "history": "Trials in the order of asking",
    "importance": "How much each parameter matters",
    "slices": "The objective against each parameter",
    "pareto": "The Pareto front",
    "before_after": "The experiment before and after tuning",
    "held_out_envelope": "Largest recovered push in held-out directions",
}
MAX_FRONT = 30
HELD_OUT = ("settling_time_s_10", "peak_com_error_m")  # of every push that tuning never saw


def write_report(study: Tuning, folder: StudyFolder, figures: list[str]) -> None:
    """Write ``report.md`` and ``table.md``."""
    table = before_after(study)
    config = study.config
    told = study.archive.told()
    ended = sum(bool(score_of(trial).ended) for trial in told)
    parts = [
        f"# Tuning {study.name}",
        config.description.strip(),
        f"{len(told)} trials ({config.sampler.type}, seed {config.seed}), {ended} of them ended "
        f"early; `best.yaml` is trial {study.best().number}. {outcomes(study.counts)}.",
        "## What was asked for",
        _task(study),
        "## Before and after",
        table,
        markdown(*_values(study)),
        _front(study),
        "## Pushes that tuning never saw",
        _held_out(study),
        _limits(study),
        "## Figures",
        *(f"![{CAPTIONS[name]}]({name}.png)" for name in figures),
        *errors(folder),
        timing(folder),
    ]
    text = "\n\n".join(part for part in parts if part) + "\n"
    write_atomically(folder.path / "report.md", text.encode())
    write_atomically(folder.path / "table.md", f"{table}\n".encode())


def _task(study: Tuning) -> str:
    config = study.config
    lines = [
        f"- {'maximise' if one.maximised else 'minimise'} the {one.over} {one.metric}"
        for one in config.objectives
    ]
    for bound in config.bounds:
        word, value = ("at most", bound.at_most) if bound.at_most is not None else (
            "at least", bound.at_least)  # fmt: skip
        what = "what the start has" if value == "start" else f"{value:g}"
        lines.append(f"- keep the {bound.over} {bound.metric} {word} {what}")
    for case in config.pushes:
        seeds = f", seeds {list(case.seeds)}" if case.seeds else ""
        lines.append(f"- push '{case.name}', weight {case.weight:g}{seeds}")
    return "\n".join(lines)


def answer(study: Tuning) -> list[Table]:
    """What a study has found, to be printed at its end: the gains, and before and after."""
    return [_values(study), before_after_table(study)]


def before_after(study: Tuning) -> str:
    """The experiment itself before and after, as Markdown."""
    return markdown(*before_after_table(study))


def before_after_table(study: Tuning) -> Table:
    """The experiment itself, and the extremes of the held-out envelope, start and tuned."""
    assert study.validation is not None
    rows = {one.variant: one.row for one in study.validation.held_out if one.case == ITSELF}
    lines = [["outcome", *(str(rows[v]["outcome"]) for v in VARIANTS)]]
    for one in columns_shown(Shown.TUNING):
        lines.append([one.title, *(one.cell(rows[v].get(one.name)) for v in VARIANTS)])
    if study.validation.limits:
        found = [_limit_values(study, v) for v in VARIANTS]
        for name, pick in (("weakest", np.min), ("mean", np.mean)):
            lines.append(
                [f"held-out envelope, {name} [/ ankle limit]", *(f"{pick(x):.2f}" for x in found)]
            )
        kept = sum(tuned >= start for start, tuned in zip(*found, strict=True))
        lines.append(["held-out directions, no smaller", "", f"{kept} of {len(found[0])}"])
    return ("", *VARIANTS), lines


def _limit_values(study: Tuning, variant: str) -> list[float]:
    assert study.validation is not None
    found = [x for x in study.validation.limits if x.variant["gains"] == variant]
    return [x.limits["recovered"].value for x in found]


def _values(study: Tuning) -> Table:
    tuned = study.keys_of(study.best().params)
    bounds = {key: one for one in study.config.parameters for key in one.keys}
    rows = []
    for key, value in tuned.items():
        one, unit = bounds[key], " (factor)" if bounds[key].factor else ""
        rows.append(
            [key, f"{study.present[key]:g}", f"{value:g}", f"{one.low:g} to {one.high:g}{unit}"]
        )
    return ("key", "start", "tuned", "bounds"), rows


def _front(study: Tuning) -> str:
    if len(study.config.objectives) < 2:
        return ""
    labels = [label(one) for one in study.config.objectives]
    rows = [
        [
            f"`pareto/trial_{trial.number}.yaml`",
            *(f"{score_of(trial).metrics[x]:.4g}" for x in labels),
        ]
        for trial in front(study.archive.told())[:MAX_FRONT]
        if not score_of(trial).ended
    ]
    start = start_metrics(study)
    if start:
        rows.append(["start", *(f"{start[name]:.4g}" for name in labels)])
    return "The Pareto front:\n\n" + markdown(("", *labels), rows)


def _held_out(study: Tuning) -> str:
    """Every held-out push with the start's and the tuned values."""
    assert study.validation is not None
    found: dict[tuple[str, int], dict[str, Row]] = {}
    for run in study.validation.held_out:
        if run.case != ITSELF:
            found.setdefault((run.case, run.seed), {})[run.variant] = run.row
    if not found:
        return "None were asked for: add `validation.pushes` to the study."
    head = ["push", "seed"]
    told = [column(name) for name in HELD_OUT]
    for name in ("outcome", *(one.title for one in told)):
        head += [f"{name}, {variant}" for variant in VARIANTS]
    rows = []
    for (case, seed), by in found.items():
        row = [case, str(seed)]
        row += [str(by[v]["outcome"]) for v in VARIANTS]
        for one in told:
            row += [one.cell(by[v].get(one.name)) for v in VARIANTS]
        rows.append(row)
    return markdown(head, rows)


def _limits(study: Tuning) -> str:
    assert study.validation is not None
    by: dict[tuple[float, float], dict[str, Any]] = {}
    for found in study.validation.limits:
        direction = found.azimuth_deg, found.elevation_deg
        by.setdefault(direction, {})[found.variant["gains"]] = found
    if not by:
        return ""
    rows = []
    for (azimuth, elevation), pair in by.items():
        cells = [f"{azimuth:g}°" + (f", {elevation:g}° up" if elevation else "")]
        for variant in VARIANTS:
            limit, unit = pair[variant].limits["recovered"], pair[variant].ankle_limit_Ns
            cells += [f"{limit.value * unit:.1f}", f"{limit.value:.2f}"]
        rows.append(cells)
    head = ["direction"]
    for variant in VARIANTS:
        head += [f"{variant} [N s]", "/ ankle limit"]
    envelope = study.config.validation.envelope
    assert envelope is not None
    width = f"{100 * envelope.tolerance:g} %"
    return f"Largest recovered push, to {width} of the ankle limit:\n\n" + markdown(head, rows)
