"""The result of tuning as experiments: ``best.yaml``, and one file for each point of the front."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from balance.config import parse_config
from balance.config.dotted_keys import set_key
from balance.config.schema import dump_yaml
from balance.recordings.atomic_writes import write_atomically
from balance.studies.tuning.archive import front, score_of
from balance.studies.tuning.objectives import label

if TYPE_CHECKING:
    from balance.studies.tuning.study import Tuning

BEST = "best.yaml"


def write_configs(study: Tuning, folder: Path) -> list[str]:
    """Write ``best.yaml`` and, with several objectives, ``pareto/*.yaml``; returns their names."""
    names = [BEST]
    several = len(study.config.objectives) > 1
    best = "the most balanced Pareto point" if several else "the best"
    write_atomically(folder / BEST, config_text(study, study.best(), best).encode())
    if several:
        (folder / "pareto").mkdir(exist_ok=True)
        for old in (folder / "pareto").glob("trial_*.yaml"):
            old.unlink()
        for trial in front(study.archive.told()):
            name = f"pareto/trial_{trial.number}.yaml"
            write_atomically(folder / name, config_text(study, trial, "a Pareto point").encode())
            names.append(name)
    return names


def config_text(study: Tuning, trial: Any, kind: str) -> str:
    """The experiment with the values of a trial, headed by what it is tuned for and how well."""
    tree: dict[str, Any] = json.loads(json.dumps(study.config.experiment))
    for key, value in study.keys_of(trial.params).items():
        set_key(tree, key, value)
    code = parse_config(tree, f"trial {trial.number}").code
    tree |= {"code": code} if code else {}
    return _comment(study, trial, kind) + dump_yaml(tree)


def _comment(study: Tuning, trial: Any, kind: str) -> str:
    config, score = study.config, score_of(trial)
    pushes = ", ".join(f"'{case.name}'" for case in config.pushes)
    lines = [
        f"Trial {trial.number} of the study '{study.name}': {kind} of {len(study.archive.told())} "
        f"trials ({config.sampler.type}, seed {config.seed}).",
        f"Tuned for {', '.join(label(one) for one in config.objectives)}; pushes: {pushes}.",
    ]
    start = start_metrics(study)
    for name, value in score.metrics.items():
        before = f" (start: {start[name]:.4g})" if name in start else ""
        lines.append(f"{name}: {value:.4g}{before}")
    if score.ended:
        lines.append(f"It is no good: {score.ended}.")
    elif not score.feasible:
        lines.append("It does not keep all bounds; no trial did.")
    for key, value in study.keys_of(trial.params).items():
        lines.append(f"{key} = {value:g} (start: {study.present[key]:g})")
    lines.append("Run it with: balance run THIS_FILE")
    return "".join(f"# {line}\n" for line in lines)


def start_metrics(study: Tuning) -> dict[str, float]:
    """What the present values reached; empty if they were not tried, or fell."""
    asked = study.archive.asked()
    return dict(score_of(asked[0]).metrics) if study.config.start and asked else {}
