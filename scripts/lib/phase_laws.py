"""Motions through stances under every law that goes through them, in both engines."""

import json
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from balance.config import load_config
from balance.errors import ConfigError
from balance.experiment import Experiment
from balance.recordings.judging import judge
from balance.recordings.verdict import Outcome

LAWS: dict[str, dict[str, object]] = {
    "quaternion form": {"law": "whole_body_qp", "form": "quaternion"},
    "hierarchical": {"law": "hierarchical"},
    "momentum": {"law": "momentum"},
    "ott2011": {"law": "ott2011"},
    "virtual_model": {"law": "virtual_model"},
}
COARSE = {"control_period_s": 0.004, "plant.step_s": 0.002}  # a hundred runs
REFUSED = "–"
Case = tuple[str, str, str]


def try_law(case: Case) -> str:
    """The largest error of the CoM in mm if a motion ended well under a law; else how it ended."""
    name, engine, law = case
    own = load_config(name).controller
    keys = LAWS[law] | {"gains": own.gains.model_dump(exclude_unset=True)}
    if keys["law"] == own.law and "tasks" in own.model_fields_set:
        keys["tasks"] = dict(own.tasks)
    try:
        recording = Experiment(
            load_config(name, {"plant.engine": engine, "controller": keys})
        ).run()
    except ConfigError as error:
        print(*case, error, flush=True)
        return REFUSED
    verdict = judge(recording)
    if verdict.outcome is not Outcome.RECOVERED:
        print(*case, verdict.outcome.value, verdict.text, flush=True)
        return verdict.outcome.value
    return f"{1e3 * recording.summary()['peak_com_error_m']:.0f}"


def try_laws(
    motions: Iterable[str], engines: Sequence[str], workers: int | None, kept: Path | None
) -> dict[Case, str]:
    """What became of each motion in each engine under each law; ``kept`` has what was tried."""
    lines = kept.read_text(encoding="utf-8").splitlines() if kept and kept.exists() else []
    found: dict[Case, str] = {tuple(case): end for case, end in map(json.loads, lines)}
    cases = [(name, engine, law) for law in LAWS for name in motions for engine in engines]
    left = [case for case in cases if case not in found]
    with ProcessPoolExecutor(workers) as pool:
        for case, end in zip(left, pool.map(try_law, left), strict=True):
            found[case] = end
            if kept is not None:
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([case, end]) + "\n")
    return found


def law_table(
    found: dict[Case, str], engines: Sequence[str]
) -> tuple[list[str], list[list[str]], str]:
    """Head, rows and note of a table with a row for each motion."""
    rows = []
    for name in dict.fromkeys(case[0] for case in found):
        ends = [[found[name, engine, law] for engine in engines] for law in LAWS]
        rows.append([f"`{name}`", *(" / ".join(dict.fromkeys(own)) for own in ends)])
    note = (
        "The largest error of the CoM in mm where a motion ends recovered, "
        f"{' / '.join(engines)}, one number if they agree; else how it ends. {REFUSED}: refused, "
        f"since more than soles bear. Laws have {1 / COARSE['control_period_s']:.0f} periods in a "
        "second."
    )
    return ["config", *LAWS], rows, note
